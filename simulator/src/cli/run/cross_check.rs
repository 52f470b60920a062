//! Report of `run --cross-check`.

use crate::cli::exit_status::ExitStatus;
use crate::cli::test_report::{Diagnostic, Location, rules};
use miette::Result;
use orchestrion_report::text::count;
use orchestrion_selection::{CheckedContext, CrossCheck};
use std::fmt::Display;
use std::path::Path;

/// Returns the status of a cross-check.
pub(super) const fn status(checked: &CrossCheck) -> ExitStatus {
    if !checked.differences.is_empty() {
        ExitStatus::Failure
    } else if !checked.unsolved.is_empty() {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}

/// Prints the summary, and each context that differs or was not solved.
pub(super) fn report(
    checked: &CrossCheck,
    file: &str,
    quiet: bool,
    mut print: impl FnMut(String) -> Result<()>,
) -> Result<()> {
    if !quiet {
        print(format!("  cross-check: {}", summary(checked)))?;
    }
    for difference in &checked.differences {
        print(format!("{file}: context DIFFERS: {}", context_text(difference)))?;
    }
    for unsolved in &checked.unsolved {
        print(format!("{file}: context not cross-checked: {}", context_text(unsolved)))?;
    }
    Ok(())
}

/// Returns what differs, and what was not cross-checked, as diagnostics of a scenario.
pub(super) fn diagnostics(checked: &CrossCheck, scenario: &Path) -> Vec<Diagnostic> {
    let place = || Location::of_file(scenario);
    let differences = checked.differences.iter().map(|one| {
        let message = format!("context differs: {}", context_text(one));
        Diagnostic::error(&rules::CONTEXT, message, place()).at_step(one.step)
    });
    let unsolved = checked.unsolved.iter().map(|one| {
        let message = format!("context not cross-checked: {}", context_text(one));
        Diagnostic::warning(&rules::CONTEXT, message, place()).at_step(one.step)
    });
    differences.chain(unsolved).collect()
}

fn summary(checked: &CrossCheck) -> String {
    let CrossCheck { contexts, equal, within_bound, differences, unsolved } = checked;
    let contexts_text = count(*contexts, "context");
    if equal == contexts {
        return format!("{contexts_text}, all equal");
    }
    let mut parts = vec![contexts_text, format!("{equal} equal")];
    for (number, label) in [
        (*within_bound, "not proven optimal, with the optimum within the bound"),
        (differences.len(), "different"),
        (unsolved.len(), "not cross-checked"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {label}"));
        }
    }
    parts.join(", ")
}

fn context_text(context: &CheckedContext<impl Display>) -> String {
    let CheckedContext { step, call, operation, result } = context;
    format!("step {step}, call {call} of {}: {result}", operation.module())
}

#[cfg(test)]
mod tests {
    use super::{report, status};
    use crate::cli::exit_status::ExitStatus;
    use orchestrion_kernel::module::Operation;
    use orchestrion_kernel::{CallId, ItemId};
    use orchestrion_selection::{CheckedContext, CrossCheck, Difference, ILP_ENGINE, IlpError};

    fn printed(checked: &CrossCheck) -> String {
        let mut lines = String::new();
        report(checked, "a.yaml", false, |line| {
            lines.push_str(&line);
            lines.push('\n');
            Ok(())
        })
        .unwrap();
        lines
    }

    fn context<T>(step: u64, result: T) -> CheckedContext<T> {
        CheckedContext { step, call: CallId::new(4), operation: Operation::DraftPlan, result }
    }

    #[test]
    fn equal_contexts_are_counted() {
        let checked = CrossCheck { contexts: 15, equal: 15, ..CrossCheck::default() };
        assert_eq!(printed(&checked), "  cross-check: 15 contexts, all equal\n");
        assert_eq!(status(&checked), ExitStatus::Success);
    }

    #[test]
    fn difference_names_step_call_utilities_and_items() {
        let difference = Difference::Selection {
            recorded_utility: 5,
            optimal_utility: 9,
            recorded_tokens: 7,
            optimal_tokens: 8,
            only_recorded: vec![ItemId::new(3)],
            only_optimal: vec![ItemId::new(1), ItemId::new(2)],
        };
        let checked = CrossCheck {
            contexts: 3,
            equal: 1,
            differences: vec![context(9, difference)],
            unsolved: vec![context(11, IlpError::Unproven)],
            ..CrossCheck::default()
        };
        insta::assert_snapshot!(printed(&checked).replace(ILP_ENGINE, "ENGINE"), @r"
          cross-check: 3 contexts, 1 equal, 1 different, 1 not cross-checked
        a.yaml: context DIFFERS: step 9, call 4 of planner: expected the optimum with utility 9 in 8 tokens, found utility 5 in 7 tokens; missing items: 1, 2; superfluous items: 3
        a.yaml: context not cross-checked: step 11, call 4 of planner: ENGINE does not report its solution as optimal
        ");
        assert_eq!(status(&checked), ExitStatus::Failure);
    }

    #[test]
    fn unsolved_context_is_incomplete() {
        let unsolved = vec![context(11, IlpError::TimeLimit)];
        let checked = CrossCheck { contexts: 2, within_bound: 1, unsolved, ..CrossCheck::default() };
        assert_eq!(status(&checked), ExitStatus::Incomplete);
        assert!(
            printed(&checked).contains("0 equal, 1 not proven optimal, with the optimum within the bound")
        );
    }
}
