//! A replayed trace as a case for other tools.

use super::TraceResult;
use super::report::ReplayedTrace;
use crate::cli::differences::{changed_text, difference_text, endings_text, setting_text};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::quoted;
use crate::cli::test_report::{Diagnostic, Location, Rule, TestCase, rules};
use orchestrion_report::text::count;
use orchestrion_scenario::policy_file::changed_settings;
use orchestrion_trace::replay::Replay;
use orchestrion_user_claims::UserClaim;
use std::path::Path;

/// Returns the case of a trace. An update has no case.
pub(super) fn of_trace(
    path: &Path,
    result: &TraceResult,
    status: ExitStatus,
    claims: &[UserClaim],
) -> TestCase {
    let diagnostics = match result {
        TraceResult::Unreadable(error) => {
            vec![Diagnostic::error(&rules::INVALID_FILE, error.as_str(), Location::of_file(path))]
        }
        TraceResult::Replayed(replayed, verdicts) => {
            let of_replay = diagnostics(path, replayed);
            of_replay.into_iter().chain(verdicts.diagnostics(claims, path)).collect()
        }
        TraceResult::Compared(_) => Vec::new(),
    };
    TestCase::of_file("replay", path, status, diagnostics)
}

fn diagnostics(
    path: &Path,
    ReplayedTrace { replay, recorded, policy, endings }: &ReplayedTrace,
) -> Vec<Diagnostic> {
    let sides = super::report::REPLAY;
    let mut found = Vec::new();
    if let Some(difference) = &replay.difference {
        let mut message = difference_text(difference, sides);
        for setting in changed_settings(recorded, policy) {
            message.push_str(&format!("; policy {}", setting_text(&setting, sides)));
        }
        if let Some(changed) = &replay.changed {
            message.push_str(&format!("; path {}", changed_text(changed, sides)));
        }
        if let Some(Ok(current)) = endings.as_ref().map(|endings| endings.current.as_ref()) {
            let recorded = endings.as_ref().map_or(&[][..], |endings| &endings.recorded);
            message.push_str(&format!("; ending {}", endings_text(recorded, current, sides)));
        }
        found.push(at_step(path, &rules::CHANGED_DECISION, message, difference.step));
    }
    if let Some(difference) = &replay.text_difference {
        found.push(at_step(path, &rules::CHANGED_TEXT, difference_text(difference, sides), difference.step));
    }
    let Replay { erased_texts, unverified_steps, .. } = replay;
    if *unverified_steps > 0 {
        let (texts, steps) = (count(*erased_texts, "erased text"), count(*unverified_steps, "step"));
        let message = format!("{texts}; not verified: {steps}");
        found.push(Diagnostic::warning(&rules::ERASED_TEXT, message, Location::of_file(path)));
    }
    if let Some(error) = &replay.read_error {
        found.push(Diagnostic::of_trace_error(path, error));
    }
    found
}

fn at_step(path: &Path, rule: &Rule, message: String, step: u64) -> Diagnostic {
    let help = format!("see: orchestrion show {} --step {step}", quoted(path));
    Diagnostic::error(rule, message, Location::of_step(path, step)).with_help(help).at_step(step)
}
