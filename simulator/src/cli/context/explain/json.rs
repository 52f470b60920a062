//! Report of `context explain` as JSON.

use super::report::ExplainReport;
use crate::cli::context::text::status_name;
use orchestrion_optimizer::SolveStatus;
use orchestrion_selection::{ExclusionReason, Explanation, Id, NextImprovement, Reason, RequiredBudget};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Report<'a> {
    status: &'static str,
    budget: u64,
    utility: u64,
    cost: u64,
    bound: u64,
    /// Utility gained by one more token.
    next_token_utility: u64,
    /// The smallest budget with more utility.
    next_improvement: Option<Improvement>,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Improvement {
    budget: u64,
    utility: u64,
    /// No budget below this one has more utility.
    budget_min: u64,
    /// Upper bound of the utility.
    bound: u64,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a Id<'static>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    selected: bool,
    utility: u64,
    cost: u64,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a Id<'static>>,
    /// Selected items that depend on it.
    dependents: Vec<&'a Id<'static>>,
    /// The forbidden item: itself, or one that it depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    forbidden: Option<&'a Id<'static>>,
    /// The cost with its dependencies and the pinned items, if that exceeds the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    required_cost: Option<u64>,
    /// The unselected part of its closure.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    /// The solution without it, if it is selected; with it, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    alternative: Option<AlternativeReport<'a>>,
    /// The smallest budget at which it is selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    required_budget: Option<BudgetReport>,
}

#[derive(Serialize)]
struct Missing {
    cost: u64,
    utility: u64,
}

#[derive(Serialize)]
struct AlternativeReport<'a> {
    utility: u64,
    /// Upper bound of the utility.
    bound: u64,
    removed: Vec<&'a Id<'static>>,
    added: Vec<&'a Id<'static>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum BudgetReport {
    Selected(u64),
    Tied(u64),
    AtLeast(u64),
}

pub(super) fn write(report: &ExplainReport<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let (solution, problem) = (report.solution, report.problem);
    let status = if report.hit_limit { SolveStatus::Bounded } else { SolveStatus::Optimal };
    let improvement = |NextImprovement { budget_min, budget, utility, bound }| Improvement {
        budget,
        utility,
        budget_min,
        bound,
    };
    let json = Report {
        status: status_name(status),
        budget: problem.problem.budget(),
        utility: solution.selection.utility,
        cost: solution.selection.cost,
        bound: solution.bound,
        next_token_utility: report.next_token_utility(),
        next_improvement: report.next_improvement.map(improvement),
        items: report.explanations.iter().map(|explanation| item(report, explanation)).collect(),
    };
    serde_json::to_writer(&mut *out, &json)?;
    writeln!(out)
}

fn item<'a>(report: &'a ExplainReport<'_>, explanation: &'a Explanation) -> Item<'a> {
    let problem = report.problem;
    let candidate = &problem.problem.candidates()[explanation.item];
    let mut item = Item {
        id: &problem.ids[explanation.item],
        key: problem.keys.get(explanation.item).map(String::as_str),
        selected: matches!(explanation.reason, Reason::Selected { .. }),
        utility: candidate.utility,
        cost: candidate.cost,
        reason: reason_name(&explanation.reason),
        group: problem.groups[explanation.item].as_ref(),
        dependents: Vec::new(),
        forbidden: None,
        required_cost: None,
        missing: None,
        alternative: explanation.alternative.as_ref().map(|alternative| AlternativeReport {
            utility: alternative.utility,
            bound: alternative.bound,
            removed: problem.names(&alternative.removed),
            added: problem.names(&alternative.added),
        }),
        required_budget: explanation.required_budget.map(|budget| match budget {
            RequiredBudget::Selected(at) => BudgetReport::Selected(at),
            RequiredBudget::Tied(at) => BudgetReport::Tied(at),
            RequiredBudget::AtLeast(at) => BudgetReport::AtLeast(at),
        }),
    };
    match &explanation.reason {
        Reason::Selected { dependents, .. } => item.dependents = problem.names(dependents),
        Reason::Excluded(ExclusionReason::Forbidden) => item.forbidden = Some(item.id),
        Reason::Excluded(ExclusionReason::DependsOnForbidden(other)) => {
            item.forbidden = problem.ids.get(*other);
        }
        Reason::Excluded(ExclusionReason::OverBudget { cost }) => item.required_cost = Some(*cost),
        Reason::Excluded(ExclusionReason::Outweighed { cost, utility }) => {
            item.missing = Some(Missing { cost: *cost, utility: *utility });
        }
    }
    item
}

const fn reason_name(reason: &Reason) -> &'static str {
    match reason {
        Reason::Selected { is_pinned: true, .. } => "pinned",
        Reason::Selected { is_pinned: false, .. } => "selected",
        Reason::Excluded(ExclusionReason::Forbidden) => "forbidden",
        Reason::Excluded(ExclusionReason::DependsOnForbidden(_)) => "depends_on_forbidden",
        Reason::Excluded(ExclusionReason::OverBudget { .. }) => "over_budget",
        Reason::Excluded(ExclusionReason::Outweighed { .. }) => "outweighed",
    }
}
