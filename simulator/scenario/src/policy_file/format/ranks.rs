//! The rank table of a policy file.

use super::names::EnumName;
use super::{Section, Setting};
use crate::policy_file::write::quoted;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::policy::RankTable;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The ranks of titles, roles and systems by name, without case. They are added to those of the extended policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RanksFile(pub BTreeMap<String, EnumName<Rank>>);

impl Section<RankTable> for RanksFile {
    fn apply(&self, ranks: &mut RankTable) {
        self.0.iter().for_each(|(title, rank)| ranks.insert(title, rank.0));
    }

    fn settings(ranks: &RankTable) -> Vec<Setting> {
        let setting = |(title, rank): (&str, Rank)| Setting {
            path: if is_plain(title) { title.to_owned() } else { quoted(title) },
            value: rank.name().to_owned(),
            meaning: "rank of this title, role or system".to_owned(),
        };
        ranks.iter().map(setting).collect()
    }
}

/// Whether a title needs no quotes as a key.
fn is_plain(title: &str) -> bool {
    title.starts_with(|first: char| first.is_ascii_alphabetic())
        && title.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&title)
}
