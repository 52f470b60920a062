//! Two compared traces as a case for other tools.

use super::report::sentence;
use super::{Compared, SIDES};
use crate::cli::differences::{changed_text, difference_text, endings_text, network_texts, setting_text};
use crate::cli::output::quoted;
use crate::cli::test_report::{CaseVerdict, Diagnostic, Location, Rule, TestCase, rules};
use orchestrion_report::text::count;
use orchestrion_scenario::policy_file::changed_settings;
use orchestrion_trace::diff::{Cause, CauseKind};

impl Compared<'_> {
    /// Returns the case: what differs is at its step in B.
    pub(super) fn case(&self) -> TestCase {
        let [a, b] = self.files;
        let mut diagnostics = Vec::new();
        if let Some(cause) = &self.diff.cause {
            diagnostics.push(self.cause(cause));
        }
        for (name, [of_a, of_b]) in self.header_differences() {
            let message = format!("{name}: A {of_a}, B {of_b}");
            diagnostics.push(Diagnostic::error(&rules::CHANGED_HEADER, message, Location::of_step(b, 0)));
        }
        for (file, error) in self.files.into_iter().zip(&self.diff.errors) {
            diagnostics.extend(error.as_ref().map(|error| Diagnostic::of_trace_error(file, error)));
        }
        TestCase {
            suite: "diff".to_owned(),
            name: format!("{} and {}", a.display(), b.display()),
            verdict: CaseVerdict::from(self.status()),
            diagnostics,
        }
    }

    fn cause(&self, cause: &Cause) -> Diagnostic {
        let (diff, file) = (&self.diff, self.files[1]);
        let mut parts = vec![sentence(cause.kind).to_owned()];
        parts.extend(cause.difference.as_ref().map(|difference| difference_text(difference, SIDES)));
        parts.extend(network_texts(cause.networks.as_deref(), SIDES));
        let settings = changed_settings(&diff.headers[0].policy, &diff.headers[1].policy);
        parts.extend(settings.iter().map(|setting| format!("policy {}", setting_text(setting, SIDES))));
        parts.extend(
            cause.decision.as_ref().map(|decision| format!("path {}", changed_text(decision, SIDES))),
        );
        if !diff.changes.is_empty() {
            let [of_a, of_b] = diff.endings.each_ref();
            parts.push(format!("{} changed", count(diff.changes.len(), "step")));
            parts.push(format!("ending {}", endings_text(of_a, of_b, SIDES)));
        }
        let step = cause.steps[1];
        let location = Location::of_step(file, step.unwrap_or_default());
        let diagnostic = Diagnostic::error(&rule(cause.kind), parts.join("; "), location);
        match step {
            None => diagnostic,
            Some(step) => {
                let help = format!("see: orchestrion show {} --step {step}", quoted(file));
                diagnostic.with_help(help).at_step(step)
            }
        }
    }
}

const fn rule(kind: CauseKind) -> Rule {
    match kind {
        CauseKind::Input | CauseKind::Time => rules::CHANGED_INPUT,
        CauseKind::Policy | CauseKind::Kernel | CauseKind::Recording => rules::CHANGED_DECISION,
        CauseKind::UnusedPolicy => rules::CHANGED_POLICY,
    }
}
