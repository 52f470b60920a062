//! Writes a policy as a file that says everything, each setting with its unit or meaning.

use super::format::{
    BoundsFile, CompactionFile, ContextsFile, ELO_MEANING, ThresholdsFile, WeightsFile, WritesFile, written,
};
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::{
    Bound, Bounds, CompactionPolicy, ContextPolicy, Rule, Thresholds, Weights, WritePolicy,
};
use std::fmt::Write as _;

/// The policy as a policy file. It sets everything, so that it reads back as the same policy whatever the
/// built-in ones will once be.
#[must_use]
pub fn write(policy: &Policy) -> String {
    write_values(&policy.name, values(policy))
}

/// A policy file of this name with these settings, by their paths.
pub(super) fn write_values(name: &str, values: Vec<(String, String)>) -> String {
    let mut text = format!("name: {}\n", quoted(name));
    let mut section = "";
    for (path, value) in values {
        let Some((of, key)) = path.split_once('.') else {
            let _ = write!(text, "\n# {}\n{path}: {value}\n", ELO_MEANING);
            continue;
        };
        if of != section {
            section = SECTIONS.into_iter().find(|known| *known == of).unwrap_or("");
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{of}:\n");
        }
        let _ = write!(text, "  # {}\n  {key}: {value}\n", meaning(section, key));
    }
    text
}

const SECTIONS: [&str; 8] =
    ["thresholds", "bounds", "weights", "writes", "compaction", "contexts", "views", "rules"];

/// Every setting by its path, with its value as it is written.
pub(super) fn values(policy: &Policy) -> Vec<(String, String)> {
    let Policy { name: _, thresholds, bounds, weights, elo, writes, compaction, contexts, rules } = policy;
    let ContextPolicy {
        budget_tokens: budget,
        reserved_tokens: reserved,
        tokenizer,
        recency,
        relevance,
        module_overrides: views,
    } = contexts;
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
        ("contexts.budget".to_owned(), budget.to_string()),
        ("contexts.reserved".to_owned(), reserved.to_string()),
        ("contexts.tokenizer".to_owned(), tokenizer.name().to_owned()),
        ("contexts.recency".to_owned(), recency.to_string()),
        ("contexts.relevance".to_owned(), relevance.to_string()),
    ];
    values.extend(views.iter().map(|view| (format!("views.{}", view.module.name()), written(view))));
    values.extend(
        Rule::ALL.iter().map(|rule| (format!("rules.{}", rule.name()), rules.has(*rule).to_string())),
    );
    values
}

fn meaning(section: &str, key: &str) -> String {
    let of = |meanings: &[(&str, &str)]| {
        meanings.iter().find(|(name, _)| *name == key).map(|(_, meaning)| (*meaning).to_owned())
    };
    match section {
        "thresholds" => of(ThresholdsFile::MEANINGS),
        "bounds" => of(BoundsFile::MEANINGS),
        "weights" => of(WeightsFile::MEANINGS),
        "writes" => of(WritesFile::MEANINGS),
        "compaction" => of(CompactionFile::MEANINGS),
        "contexts" => of(ContextsFile::MEANINGS),
        "views" => Some("what this module is shown differently".to_owned()),
        _ => Rule::ALL.iter().find(|rule| rule.name() == key).map(|rule| rule_meaning(*rule)),
    }
    .unwrap_or_default()
}

/// What a rule means, and the findings that it closes.
pub(super) fn rule_meaning(rule: Rule) -> String {
    let meaning = match rule {
        Rule::AuditedAbort => "an identity mismatch is audited and answered instead of halting",
        Rule::RollbackEnds => "a complete rollback is stored and audited instead of being a dead end",
        Rule::StickyVeto => "a veto in any pass holds; otherwise Security's latest argument decides",
        Rule::VetoEndsDebate => "a veto ends the debate instead of leaving it to spend its passes",
        Rule::NamedObjections => "the decision and the audit name Security's objection to the plan that runs",
        Rule::BelowThresholdLabel => "proceeding below the line has a label of its own",
        Rule::ClearedRevisions => "only a revision that Security read last and the consensus scored may run",
        Rule::RecordedStores => "the audit says what each store really holds",
        Rule::TypedKinds => "blocked, rolled back and aborted requests are stored as such",
        Rule::ErrorRows => "a call that gives no answer has a row",
        Rule::EffectsLedger => "the audit lists every started effect",
        Rule::NextRequest => "after the audit the next request is accepted",
        Rule::Cancel => "the user may cancel",
        Rule::Approver => "an approver is asked before a plan runs",
        Rule::Compaction => "when what is known has grown, several items are summarized in one",
        Rule::CompactedConstraints => "constraints are summarized as well",
        Rule::RepointedDependents => {
            "what rested on items that were summarized rests on the summary, and not on nothing"
        }
    };
    match rule.findings() {
        "" => meaning.to_owned(),
        findings => format!("{meaning} (closes {})", findings.replace(' ', ", ")),
    }
}

/// A text in double quotes, as YAML reads them.
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
