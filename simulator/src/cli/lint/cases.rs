//! The results of `lint` as cases for other tools: one for each rule and machine.

use super::verdict::{LintedMachine, Verdict};
use crate::cli::test_report::{CaseVerdict, Diagnostic, Level, Location, Rule, TestCase};
use orchestrion_lint::{LintDiagnostic, LintResult};
use std::path::Path;

pub(super) fn of_machine(linted: &LintedMachine) -> impl Iterator<Item = TestCase> {
    let suite = linted.title();
    linted.results.iter().map(move |result| TestCase {
        suite: suite.clone(),
        name: result.rule.name.to_owned(),
        verdict: match Verdict::from_result(result) {
            Verdict::Holds | Verdict::Warning => CaseVerdict::Passed,
            Verdict::Fails => CaseVerdict::Failed,
            Verdict::NotApplicable => CaseVerdict::Skipped,
        },
        diagnostics: result.diagnostics.iter().map(|one| diagnostic(&linted.file, result, one)).collect(),
    })
}

fn diagnostic(file: &Path, result: &LintResult, one: &LintDiagnostic) -> Diagnostic {
    let rule = Rule::new(result.rule.name, result.rule.statement);
    let location = match one.locations.first() {
        None => Location::of_file(file),
        Some(place) => {
            Location { line: Some(place.line), column: Some(place.column), ..Location::of_file(file) }
        }
    };
    let level = if result.is_failure && !one.is_doubt { Level::Error } else { Level::Warning };
    Diagnostic {
        level,
        ..Diagnostic::error(&rule, one.message.clone(), location).with_help(one.help.clone())
    }
}
