//! The verdicts of `check` as cases for other tools: one for each claim and policy, and one for each expired waiver.

use super::result::{CheckedClaim, PolicyResult, WaiverStatus};
use crate::cli::output::quoted;
use crate::cli::test_report::{CaseVerdict, Diagnostic, Location, Rule, TestCase, rules};
use orchestrion_model::check::Verdict;
use orchestrion_project::Waiver;
use std::path::{Path, PathBuf};

/// Returns the cases of all policies, in the order of the report. `policy_files` is where each policy is stated.
pub(super) fn of_check(
    policy_files: &[PathBuf],
    results: &[PolicyResult],
    waivers: &[(&Waiver, WaiverStatus)],
) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (result, source) in results.iter().zip(policy_files) {
        let suite = &result.policy.name;
        cases.extend(result.claims.iter().map(|claim| of_claim(suite, source, result, claim)));
        cases.extend(result.user_claims.iter().map(|claim| claim.case(suite)));
    }
    let is_expired = |(_, status): &&(&Waiver, WaiverStatus)| *status == WaiverStatus::Expired;
    cases.extend(waivers.iter().filter(is_expired).map(|(waiver, _)| of_waiver(waiver)));
    cases
}

fn of_claim(suite: &str, source: &Path, result: &PolicyResult, checked: &CheckedClaim) -> TestCase {
    let claim = checked.claim;
    let rule =
        Rule { id: claim.id.into(), requirement: format!("{} ({})", claim.statement, claim.clause).into() };
    let diagnostic = |message: String| Diagnostic::error(&rule, message, Location::of_file(source));
    let (verdict, found) = match &checked.verdict {
        Verdict::Holds => (CaseVerdict::Passed, None),
        Verdict::Fails { run, counterexample } => {
            let model = result.runs.get(*run).map_or("a model", |run| run.model);
            let steps = counterexample.inputs.len();
            let message = format!("fails under {suite}: shortest counterexample, {steps} steps in {model}");
            let show = checked
                .evidence
                .as_ref()
                .map(|saved| format!("see: orchestrion show {} --step {steps}", quoted(&saved.trace)));
            let found = diagnostic(message).at_step(steps as u64);
            (CaseVerdict::Failed, Some(Diagnostic { help: show, ..found }))
        }
        Verdict::NotInductive { counterexample } => {
            let message = format!(
                "not inductive under {suite}: a step from a well-formed state of {} violates it",
                counterexample.enumeration
            );
            (CaseVerdict::Failed, Some(diagnostic(message)))
        }
        Verdict::Vacuous => {
            let found = diagnostic(format!("vacuous under {suite}: no run reaches its premise"));
            (CaseVerdict::Incomplete, Some(found.into_warning()))
        }
        Verdict::Inconclusive => {
            let found = diagnostic(format!("inconclusive under {suite}: the search hit a limit"));
            (CaseVerdict::Incomplete, Some(found.into_warning()))
        }
        Verdict::NotChecked(reason) => {
            return TestCase::skipped(suite, claim.id, &rule, &format!("not checked: {reason}"), source);
        }
    };
    match &checked.waiver {
        _ if checked.is_not_in_model => {
            TestCase::skipped(suite, claim.id, &rule, "no chosen model reaches its premise", source)
        }
        Some(waiver) => {
            let reason = format!("waived until {}: {}", waiver.until, waiver.reason);
            TestCase::skipped(suite, claim.id, &rule, &reason, source)
        }
        None => {
            let diagnostics = found.into_iter().collect();
            TestCase { suite: suite.to_owned(), name: claim.id.to_owned(), verdict, diagnostics }
        }
    }
}

fn of_waiver(waiver: &Waiver) -> TestCase {
    let message = format!("the waiver of {} expired on {}: {}", waiver.claim, waiver.until, waiver.reason);
    let found = Diagnostic::warning(&rules::EXPIRED_WAIVER, message, Location::of_place(&waiver.location));
    TestCase {
        suite: "waivers".to_owned(),
        name: format!("{} until {}", waiver.claim, waiver.until),
        verdict: CaseVerdict::Incomplete,
        diagnostics: vec![found.with_help("correct the claim's cause, or set a later day")],
    }
}
