//! The rank table: titles, roles and systems with their ranks (003 rule 3, decision 0028).

use crate::item::Rank;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// The ranks of titles, roles and systems. Names are compared without ASCII case.
///
/// ```
/// use orchestrion_kernel::item::Rank;
/// use orchestrion_kernel::policy::RankTable;
///
/// let table = RankTable::built_in();
/// assert_eq!(table.get("CFO"), Some(Rank::Executive));
/// assert_eq!(table.get("wizard"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "BTreeMap<String, Rank>", into = "BTreeMap<String, Rank>"))]
pub struct RankTable(BTreeMap<String, Rank>);

/// The names of [`RankTable::built_in`]: 003's hierarchy and the design's, with their sources.
const BUILT_IN: [(&str, Rank); 18] = [
    ("policy", Rank::Policy),
    ("system", Rank::Policy),
    ("finance_system", Rank::Policy),
    ("hr_system", Rank::Policy),
    ("executive", Rank::Executive),
    ("ceo", Rank::Executive),
    ("cfo", Rank::Executive),
    ("coo", Rank::Executive),
    ("cto", Rank::Executive),
    ("admin", Rank::Executive),
    ("manager", Rank::Manager),
    ("director", Rank::Manager),
    ("employee", Rank::Employee),
    ("peer", Rank::Employee),
    ("guest", Rank::Guest),
    ("subordinate", Rank::Guest),
    ("intern", Rank::Guest),
    ("unverified", Rank::Unverified),
];

impl RankTable {
    /// Returns the table of the built-in policies.
    #[must_use]
    pub fn built_in() -> Self {
        BUILT_IN.into_iter().map(|(name, rank)| (name.to_owned(), rank)).collect()
    }

    /// Returns the rank of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Rank> {
        self.0.get(&name.to_ascii_lowercase()).copied()
    }

    /// Sets the rank of a name.
    pub fn insert(&mut self, name: &str, rank: Rank) {
        self.0.insert(name.to_ascii_lowercase(), rank);
    }

    /// Returns the names, in lower case and in order, with their ranks.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Rank)> {
        self.0.iter().map(|(name, rank)| (name.as_str(), *rank))
    }
}

impl FromIterator<(String, Rank)> for RankTable {
    fn from_iter<T: IntoIterator<Item = (String, Rank)>>(entries: T) -> Self {
        let mut table = Self::default();
        entries.into_iter().for_each(|(name, rank)| table.insert(&name, rank));
        table
    }
}

impl From<BTreeMap<String, Rank>> for RankTable {
    fn from(entries: BTreeMap<String, Rank>) -> Self {
        entries.into_iter().collect()
    }
}

impl From<RankTable> for BTreeMap<String, Rank> {
    fn from(table: RankTable) -> Self {
        table.0
    }
}
