//! The judges: `check`, the kernel's tests, the oracle and the golden traces, and how their output is read.

use crate::program::Run;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The tests of the package `orchestrion-tests` that compare the kernel with an independent implementation of the clauses.
pub const ORACLE: [&str; 9] = [
    "oracle::",
    "oracle_goldens::",
    "properties::",
    "knowledge::",
    "network::",
    "network_conversation::",
    "network_rules::",
    "convergence::",
    "situation::",
];

/// What a judge found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Nothing.
    Nothing,
    /// These claims or tests fail.
    Failures(Vec<String>),
    /// The run ended without a result: the kernel panics, or breaks a rule that the judge relies on.
    Stopped(String),
    /// Nothing, up to the limit of time or memory.
    TookTooLong,
}

impl Finding {
    /// The finding of a run that ended with these failures.
    fn from_failures(names: Vec<String>) -> Self {
        if names.is_empty() { Self::Nothing } else { Self::Failures(names) }
    }

    /// Whether the judge detected the fault.
    #[must_use]
    pub const fn is_detected(&self) -> bool {
        match self {
            Self::Failures(_) | Self::Stopped(_) => true,
            Self::Nothing | Self::TookTooLong => false,
        }
    }
}

/// Who judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// All claims, on all models.
    Check,
    /// The tests of the kernel.
    KernelTests,
    /// The tests that compare the kernel with an independent implementation of the clauses.
    Oracle,
    /// `replay` of the golden traces.
    GoldenTraces,
}

impl Judge {
    /// All judges, in the order of the table's columns.
    pub const ALL: [Self; 4] = [Self::Check, Self::KernelTests, Self::Oracle, Self::GoldenTraces];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::KernelTests => "kernel tests",
            Self::Oracle => "oracle",
            Self::GoldenTraces => "golden traces",
        }
    }

    /// What Cargo builds for this judge.
    pub(crate) const fn build_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Check | Self::GoldenTraces => &["build", "-p", "orchestrion", "--bin", "orchestrion"],
            Self::KernelTests => {
                &["test", "--no-run", "-p", "orchestrion-kernel", "-p", "orchestrion-optimizer"]
            }
            Self::Oracle => &["test", "--no-run", "-p", "orchestrion-tests", "--test", "integration"],
        }
    }
}

/// What `check` found, by its report in JSON, apart from the claims that fail without a fault.
#[must_use]
pub fn check_finding(run: &Run, expected: &BTreeSet<String>) -> Finding {
    let Ok(report) = serde_json::from_str::<CheckReport>(&run.stdout) else {
        return Finding::Stopped(run.reason());
    };
    let failing = report
        .claims
        .into_iter()
        .filter(|claim| ["fails", "not_inductive"].contains(&claim.verdict.as_str()))
        .filter(|claim| !expected.contains(&claim.id));
    match Finding::from_failures(failing.map(|claim| claim.id).collect()) {
        Finding::Nothing if report.runs.iter().any(|run| run.limit_reached.is_some()) => Finding::TookTooLong,
        found => found,
    }
}

/// What a program of tests found.
#[must_use]
pub fn test_finding(run: &Run) -> Finding {
    match (run.succeeded, run.failed_tests()) {
        (true, _) => Finding::Nothing,
        (false, failed) if failed.is_empty() => Finding::Stopped(run.reason()),
        (false, failed) => Finding::Failures(failed),
    }
}

/// What `replay` found, by its report in JSON: the trace that differs.
#[must_use]
pub fn replay_finding(run: &Run) -> Finding {
    let Ok(report) = serde_json::from_str::<ReplayReport>(&run.stdout) else {
        return Finding::Stopped(run.reason());
    };
    let different = report.cases.into_iter().filter(|case| case.verdict != "passed");
    Finding::from_failures(different.map(|case| case.name).collect())
}

/// What is read of the report of `replay`.
#[derive(Deserialize)]
struct ReplayReport {
    cases: Vec<ReplayedTrace>,
}

#[derive(Deserialize)]
struct ReplayedTrace {
    name: String,
    verdict: String,
}

/// What is read of the report of `check`.
#[derive(Deserialize)]
pub(crate) struct CheckReport {
    pub(crate) runs: Vec<ReportedRun>,
    claims: Vec<ReportedClaim>,
}

#[derive(Deserialize)]
pub(crate) struct ReportedRun {
    pub(crate) model: String,
    limit_reached: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ReportedClaim {
    id: String,
    verdict: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a report of one model, with the verdict of one claim.
    fn found(verdict: &str, limit: &str, expected: &[&str]) -> Finding {
        let stdout = format!(
            r#"{{"runs":[{{"model":"debate","limit_reached":{limit}}}],"claims":[{{"id":"C-01","verdict":"{verdict}"}}]}}"#
        );
        let expected = expected.iter().map(|id| (*id).to_owned()).collect();
        check_finding(&Run { succeeded: verdict == "holds", stdout, stderr: String::new() }, &expected)
    }

    #[test]
    fn check_at_its_limit_reports_failed_claims() {
        let failed = Finding::Failures(vec!["C-01".to_owned()]);
        let limit = r#"{"resource":"time"}"#;
        assert_eq!(found("fails", limit, &[]), failed);
        assert_eq!(found("fails", "null", &[]), failed);
        assert_eq!(found("not_inductive", "null", &[]), failed);
        assert_eq!(found("inconclusive", limit, &[]), Finding::TookTooLong);
        assert_eq!(found("fails", limit, &["C-01"]), Finding::TookTooLong);
        assert_eq!(found("fails", "null", &["C-01"]), Finding::Nothing);
        assert_eq!(found("holds", "null", &[]), Finding::Nothing);
    }

    #[test]
    fn replay_without_report_stopped() {
        let found = |stdout: &str| {
            let (stdout, stderr) = (stdout.to_owned(), "thread 'main' panicked at x.rs\nreason\n".to_owned());
            replay_finding(&Run { succeeded: false, stdout, stderr })
        };
        let report = |verdict| format!(r#"{{"cases":[{{"name":"veto.ndjson","verdict":"{verdict}"}}]}}"#);
        assert_eq!(found(&report("passed")), Finding::Nothing);
        assert_eq!(found(&report("failed")), Finding::Failures(vec!["veto.ndjson".to_owned()]));
        assert_eq!(found(""), Finding::Stopped("reason".to_owned()));
    }
}
