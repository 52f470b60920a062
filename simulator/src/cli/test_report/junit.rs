//! The report as XML of JUnit: one test suite for each policy, machine or command, one test case for each case.

use super::{CaseVerdict, Diagnostic, TestReport};
use orchestrion_report::text::sanitize_lines;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

pub(super) fn write(report: &TestReport, out: &mut impl Write) -> io::Result<()> {
    let mut suites: Vec<TestSuite> = Vec::new();
    for case in &report.cases {
        let mut test = TestCase::new(case.name.as_str(), status(case));
        test.set_classname(case.suite.as_str());
        if suites.last().is_none_or(|suite| suite.name.as_str() != case.suite) {
            suites.push(TestSuite::new(case.suite.as_str()));
        }
        if let Some(suite) = suites.last_mut() {
            suite.add_test_case(test);
        }
    }
    let mut junit = Report::new(format!("orchestrion {}", report.command));
    junit.add_test_suites(suites);
    let xml = junit.to_string().map_err(io::Error::other)?;
    // The library removes control characters; invisible ones remain.
    out.write_all(sanitize_lines(&xml).as_bytes())
}

fn status(case: &super::TestCase) -> TestCaseStatus {
    let kind = match case.verdict {
        CaseVerdict::Passed => return TestCaseStatus::success(),
        CaseVerdict::Skipped => {
            let mut skipped = TestCaseStatus::skipped();
            if let Some(diagnostic) = case.diagnostics.first() {
                skipped.set_message(diagnostic.message.as_str());
            }
            return skipped;
        }
        CaseVerdict::Failed => NonSuccessKind::Failure,
        CaseVerdict::Incomplete | CaseVerdict::Error => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    if let Some(first) = case.diagnostics.first() {
        status.set_type(first.rule.id.as_ref()).set_message(first.message.as_str());
    }
    let texts: Vec<String> = case.diagnostics.iter().map(text).collect();
    status.set_description(texts.join("\n\n"));
    status
}

fn text(diagnostic: &Diagnostic) -> String {
    let Diagnostic { rule, message, help, location, .. } = diagnostic;
    let mut text = format!("{location}: {}: {message}", rule.id);
    if let Some(help) = help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    text
}
