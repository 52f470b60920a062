//! Report of `context explain`.

use crate::cli::context::text::{item_name, item_names, style, tokens};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, text_width, write_hanging, write_summary};
use anstyle::Style;
use orchestrion_optimizer::Solution;
use orchestrion_report::text::{grouped, sanitize, wrap};
use orchestrion_selection::{
    Alternative, ExclusionReason, Explanation, NamedProblem, NextImprovement, Reason, RequiredBudget,
};
use std::io::{self, Write};

/// Items named in one text; more are counted.
const NAMES_MAX: usize = 8;

/// Explanations of the solution of a problem.
pub(super) struct ExplainReport<'a> {
    pub(super) problem: &'a NamedProblem,
    pub(super) explanations: Vec<Explanation>,
    /// Whether each explanation has several lines.
    pub(super) is_detailed: bool,
    pub(super) next_improvement: Option<NextImprovement>,
    pub(super) solution: &'a Solution,
    pub(super) hit_limit: bool,
}

impl ExplainReport<'_> {
    /// Returns the utility gained by one more token: none, unless the next improvement is there.
    pub(super) fn next_token_utility(&self) -> u64 {
        let next = self.next_improvement.filter(|next| next.budget == self.problem.problem.budget() + 1);
        next.map_or(0, |next| next.utility.saturating_sub(self.solution.selection.utility))
    }

    pub(super) fn write(
        &self,
        style: ReportStyle,
        status: ExitStatus,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.is_detailed {
            self.explanations.iter().try_for_each(|item| self.write_detailed(item, style.width, out))?;
        } else {
            self.write_lines(style.width, out)?;
        }
        if !style.quiet {
            self.write_budgets(style.width, out)?;
        }
        self.write_last_line(status, style.width, out)
    }

    /// Writes one line per item; reasons have lines of their own where the width is too small.
    fn write_lines(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        const REASON_MIN: usize = 24;
        const NUMBERS: usize = 34;
        let columns = self.explanations.iter().map(|item| self.item_name(item).chars().count());
        let name_width = columns.max().unwrap_or_default().min(width / 3);
        let beside = name_width + NUMBERS;
        let is_wide = beside + REASON_MIN <= width;
        let column = if is_wide { beside } else { 7 };
        for explanation in &self.explanations {
            let candidate = &self.problem.problem.candidates()[explanation.item];
            let (word, style) = verdict(&explanation.reason);
            let (utility, cost) = (grouped(candidate.utility), grouped(candidate.cost));
            let mut names = wrap(&self.item_name(explanation), name_width).into_iter();
            let name = names.next().unwrap_or_default();
            write!(out, "  {style}{word:<3}{style:#}  {name:<name_width$}  {utility:>11} {cost:>9}  ")?;
            let mut reasons = wrap(&self.reason(explanation), text_width(width, column)).into_iter();
            if is_wide {
                write!(out, "{}", reasons.next().unwrap_or_default())?;
            }
            writeln!(out)?;
            names.try_for_each(|name| writeln!(out, "       {name}"))?;
            reasons.try_for_each(|line| writeln!(out, "{:column$}{line}", ""))?;
        }
        writeln!(out)
    }

    fn write_detailed(
        &self,
        explanation: &Explanation,
        width: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        const COLUMN: usize = 14;
        let candidate = &self.problem.problem.candidates()[explanation.item];
        let (word, style) = verdict(&explanation.reason);
        let (utility, cost) = (grouped(candidate.utility), tokens(candidate.cost));
        let text = format!(": {word}, utility {utility}, {cost}");
        write_summary(style.bold(), &self.item_name(explanation), &text, width, out)?;
        write_hanging(COLUMN, "  reason", &self.reason(explanation), width, out)?;
        if let Some(alternative) = &explanation.alternative {
            let label = match explanation.reason {
                Reason::Selected { .. } => "  without it",
                Reason::Excluded(_) => "  with it",
            };
            write_hanging(COLUMN, label, &self.alternative(alternative), width, out)?;
        }
        if let Some(budget) = explanation.required_budget {
            write_hanging(COLUMN, "  budget", &self.required_budget(budget), width, out)?;
        }
        writeln!(out)
    }

    fn required_budget(&self, required: RequiredBudget) -> String {
        let budget = self.problem.problem.budget();
        let text = |at: u64| format!("{}, {} more than now", tokens(at), grouped(at.saturating_sub(budget)));
        match required {
            RequiredBudget::Selected(at) => format!("first selected at {}", text(at)),
            RequiredBudget::Tied(at) if at == budget => {
                "part of a tied selection; the tie-break prefers another one".to_owned()
            }
            RequiredBudget::Tied(at) => {
                format!("at {}, part of a tied selection; the tie-break prefers another one", text(at))
            }
            RequiredBudget::AtLeast(at) => format!("not selected below {}; search limit reached", text(at)),
        }
    }

    fn alternative(&self, alternative: &Alternative) -> String {
        let loss = self.solution.selection.utility.saturating_sub(alternative.utility);
        let loss = if loss == 0 { "tied".to_owned() } else { format!("{} less", grouped(loss)) };
        let mut text = format!("utility {}, {loss}", grouped(alternative.utility));
        if alternative.bound > alternative.utility {
            text.push_str(&format!("; not proven: utility at most {}", grouped(alternative.bound)));
        }
        for (items, label) in [(&alternative.removed, "removed"), (&alternative.added, "added")] {
            if !items.is_empty() {
                text.push_str(&format!("; {label}: {}", item_names(self.problem, items, NAMES_MAX)));
            }
        }
        text
    }

    /// Writes what other budgets change.
    fn write_budgets(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let text = format!("one more token: {} more utility", grouped(self.next_token_utility()));
        write_hanging(0, "", &text, width, out)?;
        let text = match self.next_improvement {
            None if self.hit_limit => "next improvement: none found".to_owned(),
            None => "next improvement: none at any budget".to_owned(),
            Some(NextImprovement { budget_min, budget, utility, bound }) => format!(
                "next improvement: at budget {}{}, {}{} more utility for {} more",
                if budget_min < budget { format!("{} to ", grouped(budget_min)) } else { String::new() },
                grouped(budget),
                if utility < bound { "at least " } else { "" },
                grouped(utility.saturating_sub(self.solution.selection.utility)),
                tokens(budget - self.problem.problem.budget())
            ),
        };
        write_hanging(0, "", &text, width, out)?;
        writeln!(out)
    }

    fn write_last_line(&self, status: ExitStatus, width: usize, out: &mut impl Write) -> io::Result<()> {
        let selection = &self.solution.selection;
        let word = if self.hit_limit { "INCOMPLETE" } else { "EXPLAINED" };
        let text = format!(
            ": {} of {} items, utility {}, cost {} of {}. exit {}",
            grouped(self.problem.names(&selection.selected).len() as u64),
            grouped(self.problem.ids.len() as u64),
            grouped(selection.utility),
            grouped(selection.cost),
            tokens(self.problem.problem.budget()),
            status.code()
        );
        write_summary(style(!self.hit_limit).bold(), word, &text, width, out)
    }

    fn item_name(&self, explanation: &Explanation) -> String {
        item_name(self.problem, explanation.item)
    }

    fn reason(&self, Explanation { item, reason, .. }: &Explanation) -> String {
        match reason {
            Reason::Selected { is_pinned, dependents } => {
                let pinned = is_pinned.then(|| "pinned".to_owned());
                let required = (!dependents.is_empty())
                    .then(|| format!("required by {}", item_names(self.problem, dependents, NAMES_MAX)));
                let has_utility = self.problem.problem.candidates()[*item].utility > 0;
                let utility = has_utility.then(|| "for its utility".to_owned());
                let group = self.problem.groups[*item].as_ref();
                let group = group.map(|group| format!("in group {}", sanitize(&group.to_string())));
                let reasons: Vec<String> = [pinned, required, utility, group].into_iter().flatten().collect();
                if reasons.is_empty() { "by the tie-break".to_owned() } else { reasons.join("; ") }
            }
            Reason::Excluded(ExclusionReason::Forbidden) => "forbidden".to_owned(),
            Reason::Excluded(ExclusionReason::DependsOnForbidden(other)) => {
                format!("depends on {}, which is forbidden", item_name(self.problem, *other))
            }
            Reason::Excluded(ExclusionReason::OverBudget { cost }) => format!(
                "over budget: {} with its dependencies and the pinned items, budget {}",
                tokens(*cost),
                grouped(self.problem.problem.budget())
            ),
            Reason::Excluded(ExclusionReason::Outweighed { cost, utility }) => {
                let (utility, cost) = (grouped(*utility), tokens(*cost));
                format!("outweighed: would add utility {utility} for {cost}")
            }
        }
    }
}

fn verdict(reason: &Reason) -> (&'static str, Style) {
    match reason {
        Reason::Selected { .. } => ("in", style(true)),
        Reason::Excluded(_) => ("out", style(false)),
    }
}
