//! Writes a policy as a file with all settings, each with its unit and meaning.

use super::format::{
    BoundsFile, CompactionFile, ContextsFile, ThresholdsFile, WeightsFile, WritesFile, format_override,
};
use super::meanings::rule_meaning;
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::{
    Bound, Bounds, CompactionPolicy, ContextPolicy, Rule, Thresholds, Weights, WritePolicy,
};
use std::fmt::Write as _;

/// Writes a policy file with all settings. It parses to the same policy even if the built-in policies change.
#[must_use]
pub fn write(policy: &Policy) -> String {
    write_values(&policy.name, values(policy))
}

/// Writes a policy file with this name and these settings, by path.
pub(super) fn write_values(name: &str, values: Vec<(String, String)>) -> String {
    let mut text = format!("name: {}\n", quoted(name));
    let mut section = "";
    for (path, value) in values {
        let Some((section_of_path, key)) = path.split_once('.') else {
            let _ = write!(text, "\n# {ELO_MEANING}\n{path}: {value}\n");
            continue;
        };
        if section_of_path != section {
            section = SECTIONS.into_iter().find(|known| *known == section_of_path).unwrap_or("");
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{section}:\n");
        }
        let _ = write!(text, "  # {}\n  {key}: {value}\n", meaning(section, key));
    }
    text
}

/// The meaning of the setting `elo`.
const ELO_MEANING: &str =
    "rating method after a debate: incremental (fixed steps) or standard (each PRO role duels each CON role)";

const SECTIONS: [&str; 8] =
    ["thresholds", "bounds", "weights", "writes", "compaction", "contexts", "module_overrides", "rules"];

/// Returns every setting by path, with its serialized value.
pub(super) fn values(policy: &Policy) -> Vec<(String, String)> {
    let Policy { name: _, thresholds, bounds, weights, elo, writes, compaction, contexts, rules } = policy;
    let ContextPolicy { budget_tokens, reserved_tokens, tokenizer, recency, relevance, module_overrides } =
        contexts;
    let CompactionPolicy { from_items, from_tokens, cluster_items } = compaction;
    let WritePolicy { constraint_from, organizational_from } = writes;
    let Thresholds { redebate_below, proceed_from, veto_from, objection_from, critique_above } = thresholds;
    let Bounds { passes, repairs, audit_attempts } = bounds;
    let Weights { analyst, solution, critic, security, optimizer } = weights;
    let repairs = match repairs {
        Bound::AtMost(most) => most.to_string(),
        Bound::Unbounded => "unbounded".to_owned(),
    };
    let mut values = vec![
        ("elo".to_owned(), elo.name().to_owned()),
        ("thresholds.redebate_below".to_owned(), redebate_below.to_string()),
        ("thresholds.proceed_from".to_owned(), proceed_from.to_string()),
        ("thresholds.veto_from".to_owned(), veto_from.to_string()),
        ("thresholds.objection_from".to_owned(), objection_from.to_string()),
        ("thresholds.critique_above".to_owned(), critique_above.to_string()),
        ("bounds.passes".to_owned(), passes.to_string()),
        ("bounds.repairs".to_owned(), repairs),
        ("bounds.audit_attempts".to_owned(), audit_attempts.to_string()),
        ("weights.analyst".to_owned(), analyst.to_string()),
        ("weights.solution".to_owned(), solution.to_string()),
        ("weights.critic".to_owned(), critic.to_string()),
        ("weights.security".to_owned(), security.to_string()),
        ("weights.optimizer".to_owned(), optimizer.to_string()),
        ("writes.constraint_from".to_owned(), constraint_from.to_string()),
        ("writes.organizational_from".to_owned(), organizational_from.to_string()),
        ("compaction.from_items".to_owned(), from_items.to_string()),
        ("compaction.from_tokens".to_owned(), from_tokens.to_string()),
        ("compaction.cluster_items".to_owned(), cluster_items.to_string()),
        ("contexts.budget_tokens".to_owned(), budget_tokens.to_string()),
        ("contexts.reserved_tokens".to_owned(), reserved_tokens.to_string()),
        ("contexts.tokenizer".to_owned(), tokenizer.name().to_owned()),
        ("contexts.recency".to_owned(), recency.to_string()),
        ("contexts.relevance".to_owned(), relevance.to_string()),
    ];
    values.extend(
        module_overrides
            .iter()
            .map(|policy| (format!("module_overrides.{}", policy.module.name()), format_override(policy))),
    );
    values.extend(
        Rule::ALL.iter().map(|rule| (format!("rules.{}", rule.name()), rules.has(*rule).to_string())),
    );
    values
}

fn meaning(section: &str, key: &str) -> String {
    let find = |meanings: &[(&str, &str)]| {
        meanings.iter().find(|(name, _)| *name == key).map(|(_, meaning)| (*meaning).to_owned())
    };
    match section {
        "thresholds" => find(ThresholdsFile::MEANINGS),
        "bounds" => find(BoundsFile::MEANINGS),
        "weights" => find(WeightsFile::MEANINGS),
        "writes" => find(WritesFile::MEANINGS),
        "compaction" => find(CompactionFile::MEANINGS),
        "contexts" => find(ContextsFile::MEANINGS),
        "module_overrides" => Some("context settings of this module".to_owned()),
        _ => Rule::ALL.iter().find(|rule| rule.name() == key).map(|rule| rule_meaning(*rule)),
    }
    .unwrap_or_default()
}

/// Returns the text as a YAML string in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            plain @ (' '..='~'
            | '\u{a1}'..='\u{d7ff}'
            | '\u{e000}'..='\u{fefe}'
            | '\u{10000}'..='\u{10fffd}')
                if !matches!(plain, '\u{2028}' | '\u{2029}') =>
            {
                out.push(plain);
            }
            other => {
                let _ = write!(out, "\\U{:08x}", u32::from(other));
            }
        }
    }
    out.push('"');
    out
}
