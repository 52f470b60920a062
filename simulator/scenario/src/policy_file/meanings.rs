//! The meanings of rules, as comments of policy files and descriptions of the schema.

use orchestrion_kernel::policy::Rule;

/// Returns the meaning of a rule, with the findings that it closes.
pub(super) fn rule_meaning(rule: Rule) -> String {
    let meaning = match rule {
        Rule::AuditedAbort => "audit an identity mismatch and give a final answer, instead of halting",
        Rule::RollbackEnds => "store and audit a complete rollback, instead of ending in a dead end",
        Rule::StickyVeto => "a veto in any pass holds; otherwise the latest argument of Security decides",
        Rule::VetoEndsDebate => "a veto ends the debate; otherwise all passes are used",
        Rule::NamedObjections => {
            "the decision and the audit name the Security objection to the plan that runs"
        }
        Rule::BelowThresholdLabel => "label a plan that proceeds below the redebate threshold",
        Rule::ClearedRevisions => "run only a revision that Security reviewed and the consensus scored",
        Rule::CurrentFacts => {
            "run a plan only while no fact of its request was superseded since Security reviewed it; otherwise debate or review it again, or block it"
        }
        Rule::RecordedStores => "the audit contains the status of each store",
        Rule::TypedKinds => "store the conclusion kind of blocked, rolled back and aborted requests",
        Rule::ErrorRows => "each failed call has a transition",
        Rule::EffectsLedger => "the audit lists every started effect",
        Rule::NextRequest => "accept the next request after the audit",
        Rule::Cancel => "the user can cancel a request",
        Rule::Approver => "call an approver before a plan runs",
        Rule::Compaction => "summarize clusters of items when the state exceeds the compaction limits",
        Rule::CompactedConstraints => "summarize constraints, too",
        Rule::RepointedDependents => {
            "dependents of summarized items depend on the summary; otherwise they lose the dependency"
        }
    };
    match rule.findings() {
        "" => meaning.to_owned(),
        findings => format!("{meaning} (closes {})", findings.replace(' ', ", ")),
    }
}
