//! The account for programs.

use super::ExplainReport;
use crate::cli::context::status_name;
use orchestrion_optimizer::SolveStatus;
use orchestrion_selection::{
    ExclusionReason, Explainer, Explanation, Id, NextImprovement, Reason, RequiredBudget,
};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Report<'a> {
    status: &'static str,
    budget: u64,
    utility: u64,
    cost: u64,
    bound: u64,
    /// The utility that one more token would bring.
    next_token: u64,
    /// The smallest budget that has more utility.
    next_step: Option<Step>,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Step {
    budget: u64,
    utility: u64,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a Id<'static>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    chosen: bool,
    utility: u64,
    cost: u64,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a Id<'static>>,
    needed_by: Vec<&'a Id<'static>>,
    /// The forbidden one that it is, or needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    forbidden: Option<&'a Id<'static>>,
    /// What it costs with all it needs and all that is pinned, if that is over the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<u64>,
    /// What is not chosen of it and of what it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    /// The best choice without it, if it is chosen; with it, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    otherwise: Option<Otherwise<'a>>,
    /// The smallest budget at which it is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Wanted>,
}

#[derive(Serialize)]
struct Missing {
    cost: u64,
    utility: u64,
}

#[derive(Serialize)]
struct Otherwise<'a> {
    utility: u64,
    loses: Vec<&'a Id<'static>>,
    gains: Vec<&'a Id<'static>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Chosen(u64),
    Tied(u64),
    NotBelow(u64),
}

impl ExplainReport<'_> {
    pub(super) fn json(&self, account: &Explainer<'_>, out: &mut impl Write) -> io::Result<()> {
        let selection = &account.answer.selection;
        let report = Report {
            status: status_name(if account.is_cut { SolveStatus::Bounded } else { SolveStatus::Optimal }),
            budget: self.named.problem.budget(),
            utility: selection.utility,
            cost: selection.cost,
            bound: account.answer.bound,
            next_token: self.next_token,
            next_step: self.raise.map(|NextImprovement { budget, utility }| Step { budget, utility }),
            items: self.items.iter().map(|explained| self.item(explained)).collect(),
        };
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)
    }

    fn item<'a>(&'a self, explained: &'a Explanation) -> Item<'a> {
        let candidate = &self.named.problem.candidates()[explained.item];
        let mut item = Item {
            id: &self.named.ids[explained.item],
            key: self.named.keys.get(explained.item).map(String::as_str),
            chosen: matches!(explained.reason, Reason::In { .. }),
            utility: candidate.utility,
            cost: candidate.cost,
            reason: reason(&explained.reason),
            group: self.named.groups[explained.item].as_ref(),
            needed_by: Vec::new(),
            forbidden: None,
            needs: None,
            missing: None,
            otherwise: explained.otherwise.as_ref().map(|change| Otherwise {
                utility: change.utility,
                loses: self.named.names(&change.loses),
                gains: self.named.names(&change.gains),
            }),
            budget: explained.budget.map(|budget| match budget {
                RequiredBudget::Chosen(at) => Wanted::Chosen(at),
                RequiredBudget::Tied(at) => Wanted::Tied(at),
                RequiredBudget::NotBelow(at) => Wanted::NotBelow(at),
            }),
        };
        match &explained.reason {
            Reason::In { needed_by, .. } => item.needed_by = self.named.names(needed_by),
            Reason::Out(ExclusionReason::Forbidden) => item.forbidden = Some(item.id),
            Reason::Out(ExclusionReason::NeedsForbidden(other)) => {
                item.forbidden = self.named.ids.get(*other)
            }
            Reason::Out(ExclusionReason::OverBudget { needs }) => item.needs = Some(*needs),
            Reason::Out(ExclusionReason::Outweighed { cost, utility }) => {
                item.missing = Some(Missing { cost: *cost, utility: *utility });
            }
        }
        item
    }
}

const fn reason(reason: &Reason) -> &'static str {
    match reason {
        Reason::In { is_pinned: true, .. } => "pinned",
        Reason::In { .. } => "chosen",
        Reason::Out(ExclusionReason::Forbidden) => "forbidden",
        Reason::Out(ExclusionReason::NeedsForbidden(_)) => "needs_forbidden",
        Reason::Out(ExclusionReason::OverBudget { .. }) => "over_budget",
        Reason::Out(ExclusionReason::Outweighed { .. }) => "outweighed",
    }
}
