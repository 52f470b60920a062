//! JSON Schemas of the reports that commands print with `--format json`.

use super::test_report::TestReport;
use super::{check, compare, diff, explore, lint, run};
use schemars::schema_for;
use serde_json::Value;

/// Of `check --format json`, without an option that selects another report than that of claims.
#[must_use]
pub fn check() -> Value {
    titled(schema_for!(check::json::Report<'_>), "Orchestrion check report")
}

/// Of `lint --format json`.
#[must_use]
pub fn lint() -> Value {
    titled(schema_for!(lint::json::Report<'_>), "Orchestrion lint report")
}

/// Of `lint --format json` for a file of claims.
#[must_use]
pub fn claim_lint() -> Value {
    titled(schema_for!(lint::claims::LintReport<'_>), "Orchestrion report of a lint of claims")
}

/// Of `compare --format json`.
#[must_use]
pub fn compare() -> Value {
    titled(schema_for!(compare::json::Report<'_>), "Orchestrion report of a comparison of policies")
}

/// Of `diff --format json`.
#[must_use]
pub fn diff() -> Value {
    titled(schema_for!(diff::json::Report<'_>), "Orchestrion diff report")
}

/// Of `explore run --format json` and `explore merge --format json`.
#[must_use]
pub fn experiment() -> Value {
    titled(schema_for!(explore::JsonReport<'_>), "Orchestrion experiment report")
}

/// Of `explore exact --format json`.
#[must_use]
pub fn exact() -> Value {
    titled(schema_for!(explore::ExactReport<'_>), "Orchestrion report of exact values")
}

/// Of `run --runs --format json`.
#[must_use]
pub fn runs() -> Value {
    titled(schema_for!(run::runs::Report<'_>), "Orchestrion report of runs")
}

/// Of `run --format json` and `replay --format json`; also of `check` and `diff`, if a file cannot be read.
#[must_use]
pub fn test() -> Value {
    titled(schema_for!(TestReport), "Orchestrion test report")
}

fn titled(mut schema: schemars::Schema, title: &str) -> Value {
    schema.insert("title".into(), title.into());
    schema.to_value()
}
