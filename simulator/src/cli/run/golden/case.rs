//! How a golden trace compares with a run, as a diagnostic for other tools.

use super::Verdict;
use crate::cli::differences::{
    GOLDEN, changed_text, difference_text, endings_text, network_texts, setting_text,
};
use crate::cli::output::quoted;
use crate::cli::test_report::{Diagnostic, Location, rules};
use orchestrion_scenario::policy_file::changed_settings;
use orchestrion_trace::{ComparedPart, ComparedStep, Comparison};
use std::path::Path;

/// Returns why a golden trace is not that of the run; `None` if it is.
pub(super) fn diagnostic(scenario: &Path, golden: &Path, verdict: &Verdict) -> Option<Diagnostic> {
    let accept = format!("keep the new run: orchestrion run --accept {}", quoted(scenario));
    match verdict {
        Verdict::Equal | Verdict::NotKept => None,
        Verdict::Missing => {
            let message = format!("no golden trace: expected {}", golden.display());
            Some(
                Diagnostic::error(&rules::MISSING_GOLDEN, message, Location::of_file(scenario))
                    .with_help(accept),
            )
        }
        Verdict::Unreadable(error) => Some(Diagnostic::of_trace_error(golden, error)),
        Verdict::Changed(comparison) => Some(changed(golden, comparison).with_help(accept)),
    }
}

fn changed(golden: &Path, comparison: &Comparison) -> Diagnostic {
    let settings = changed_settings(&comparison.golden.policy, &comparison.current.policy);
    let settings: Vec<String> =
        settings.iter().map(|setting| format!("policy {}", setting_text(setting, GOLDEN))).collect();
    let Some(ComparedStep { part, difference, networks }) = &comparison.first else {
        let message = format!("no decision changed; {}", settings.join("; "));
        return Diagnostic::error(&rules::CHANGED_POLICY, message, Location::of_step(golden, 0));
    };
    let rule = match part {
        ComparedPart::Input => rules::CHANGED_INPUT,
        ComparedPart::Decision => rules::CHANGED_DECISION,
        ComparedPart::Text => rules::CHANGED_TEXT,
    };
    let mut parts = vec![difference_text(difference, GOLDEN)];
    parts.extend(network_texts(networks.as_deref(), GOLDEN));
    parts.extend(settings);
    if let Some(changed) = &comparison.decision {
        parts.push(format!("path {}", changed_text(changed, GOLDEN)));
    }
    let endings = endings_text(&comparison.golden_endings, &comparison.current_endings, GOLDEN);
    parts.push(format!("ending {endings}"));
    Diagnostic::error(&rule, parts.join("; "), Location::of_step(golden, difference.step))
        .at_step(difference.step)
}
