//! Every rule of `hardened` is necessary: without it, exactly the findings that it closes reappear.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use orchestrion_claims::CLAIMS;
use orchestrion_explorer::Options;
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::Rule;
use orchestrion_model::check::{explore, merge_verdicts};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{Model, Scope};

/// The rule, the model, and the findings that reappear without the rule. Some findings depend on others: no request
/// follows a halt, and a store with one kind cannot contain a rollback.
const REINTRODUCED: [(Rule, &str, &[&str]); 13] = [
    (Rule::AuditedAbort, "lifecycle", &["F1", "F14", "F16"]),
    (Rule::RollbackEnds, "execution", &["F2", "F14"]),
    (Rule::StickyVeto, "debate", &["F6", "F11"]),
    (Rule::VetoEndsDebate, "debate", &["F11"]),
    (Rule::NamedObjections, "execution", &["F7"]),
    (Rule::BelowThresholdLabel, "debate", &["F8"]),
    (Rule::ClearedRevisions, "execution", &["F9", "F10"]),
    (Rule::CurrentFacts, "facts", &["F18"]),
    (Rule::RecordedStores, "lifecycle", &["F12"]),
    (Rule::TypedKinds, "lifecycle", &["F2", "F13"]),
    (Rule::ErrorRows, "lifecycle", &["F14"]),
    (Rule::EffectsLedger, "lifecycle", &["F15"]),
    (Rule::NextRequest, "lifecycle", &["F2", "F14", "F16"]),
];

#[test]
fn disabling_rule_reintroduces_findings() {
    for (rule, model, findings) in REINTRODUCED {
        let mut policy = Policy::hardened();
        policy.name = format!("without {}", rule.name());
        policy.rules.set(rule, false);
        // Rules that depend on this rule are disabled with it.
        if matches!(rule, Rule::ErrorRows | Rule::NextRequest) {
            policy.rules.error_rows = false;
            policy.bounds.audit_attempts = 1;
        }
        policy.rules.cancel &= rule != Rule::RollbackEnds;
        policy.rules.current_facts &= rule != Rule::ClearedRevisions;
        assert_eq!(policy.validate(), Ok(()), "{}", policy.name);
        let (Some(model), Some(scope)) = (Model::from_name(model), Scope::by_name("tiny")) else {
            panic!("unknown model {model} or scope tiny")
        };
        let run = explore(
            &KernelUnderTest::unmodified(policy.clone()),
            model,
            &scope,
            &Options::default(),
            &mut |_| (),
        );
        let verdicts = merge_verdicts(&policy, &[run.unwrap_or_else(|error| panic!("{error}"))]);
        let failing = CLAIMS.iter().zip(&verdicts).filter(|(_, verdict)| verdict.as_str() == "fails");
        let failing: Vec<&str> = failing.map(|(claim, _)| claim.finding.unwrap_or(claim.id)).collect();
        assert_eq!(failing, findings, "{}", policy.name);
        assert!(rule.findings().split(' ').any(|closed| findings.contains(&closed)), "{}", rule.name());
    }
}

/// The table above omits only rules that close no finding.
#[test]
fn every_finding_rule_is_tested() {
    for rule in Rule::ALL {
        let tried = REINTRODUCED.iter().any(|(tried, _, _)| tried == rule);
        assert_eq!(tried, !rule.findings().is_empty(), "{}", rule.name());
    }
}
