//! Texts that the reports of `context` share.

use crate::cli::exit_status::ExitStatus;
use anstyle::{AnsiColor, Style};
use miette::miette;
use orchestrion_optimizer::SolveStatus;
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_selection::{NamedProblem, SolveError};

/// Returns id and key of an item, sanitized.
pub(super) fn item_name(problem: &NamedProblem, item: usize) -> String {
    let parts = [problem.ids.get(item).map(ToString::to_string), problem.keys.get(item).cloned()];
    sanitize(&parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Returns the names of the first `count_max` items and the number of the others. Headings have no name.
pub(super) fn item_names(problem: &NamedProblem, items: &[usize], count_max: usize) -> String {
    let items: Vec<usize> = items.iter().copied().filter(|item| *item < problem.ids.len()).collect();
    let mut names: Vec<String> = items.iter().take(count_max).map(|item| item_name(problem, *item)).collect();
    if items.len() > count_max {
        names.push(format!("and {} more", grouped((items.len() - count_max) as u64)));
    }
    names.join(", ")
}

/// Formats a number of tokens.
pub(super) fn tokens(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "token" } else { "tokens" })
}

/// Formats a fraction in percent with two decimals, rounded down.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// Returns the name of a status in JSON.
pub(super) const fn status_name(status: SolveStatus) -> &'static str {
    match status {
        SolveStatus::Optimal => "optimal",
        SolveStatus::Bounded => "bounded",
    }
}

/// Returns the exit status of a search.
pub(super) const fn search_status(hit_limit: bool) -> ExitStatus {
    if hit_limit { ExitStatus::Incomplete } else { ExitStatus::Success }
}

/// Returns green for a good result, and yellow for others.
pub(super) const fn style(is_good: bool) -> Style {
    let color = if is_good { AnsiColor::Green } else { AnsiColor::Yellow };
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// Adds a help text to an error of a solver.
pub(super) fn solve_error(error: SolveError) -> miette::Report {
    let help = match &error {
        SolveError::Ilp(_) => "omit --solver ilp, to use the native solver",
        SolveError::Unsound { .. } | SolveError::NotFeasible(_) => {
            "this is a bug of orchestrion; please report it with the problem"
        }
    };
    miette!(help = help, "{error}")
}
