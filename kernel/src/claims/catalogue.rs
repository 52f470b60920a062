//! The catalogue of claims.
//!
//! Every claim has a premise, a state in which it has something to say, so that no claim passes only because
//! nothing ever came near it. `r` is the running request; *ends* means that control comes to a state in which
//! no request runs.

use super::{Check, Claim, Contract, Fairness, History, Party};
use crate::control::phase::Phase;
use crate::control::table::leads_on;
use crate::control::{consensus, elo};
use crate::event::{Cause, Decision, Event, Label, TaskEnd};
use crate::ids::{RequestId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Key, Status, Variant};
use crate::module::{Ask, Failure, Kind, Module, Report, Role, Store};
use crate::policy::{Bound, Policy};
use crate::state::{Request, Started, State};

use Check::{LeadsTo, Reaction, Step, Trace};

mod compaction;
mod contexts;
mod findings;
mod kernel;
mod knowledge;
mod layers;
mod order;
mod records;
mod situation;
mod turns;

/// Every claim, in the order in which reports list them.
pub const CLAIMS: &[Claim] = &joined();

const PARTS: [&[Claim]; 10] = [
    findings::FINDINGS,
    order::ORDER,
    knowledge::KNOWLEDGE,
    layers::LAYERS,
    compaction::COMPACTION,
    situation::SITUATION,
    contexts::CONTEXTS,
    records::RECORDS,
    turns::TURNS,
    kernel::KERNEL,
];

/// The parts, one behind the other. Nothing of this is left at run time.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn joined() -> [Claim; counted()] {
    let mut all = [CLAIM; counted()];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut i = 0;
        while i < PARTS[part].len() {
            all[at] = PARTS[part][i];
            i += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn counted() -> usize {
    let (mut part, mut claims) = (0, 0);
    while part < PARTS.len() {
        claims += PARTS[part].len();
        part += 1;
    }
    claims
}

/// What most claims share: no finding, something to say in every state and under every policy. One that forgets its check
/// fails everywhere.
const CLAIM: Claim = Claim {
    id: "",
    clause: "",
    statement: "",
    formula: "",
    finding: None,
    check: Check::State(|_, _| false),
    premise: |_, _| true,
    not_under: |_| None,
};

/// *Fair*: the kernel goes on, every call is answered or times out, and crashes are finitely many (design §2). Nothing is
/// asked of the user, and nothing of success.
const FAIR: &[Fairness] = &[
    Fairness::Weak(Party::Kernel),
    Fairness::Weak(Party::Module(Module::IdentityGuard)),
    Fairness::Weak(Party::Module(Module::Memory)),
    Fairness::Weak(Party::Module(Module::Summarizer)),
    Fairness::Weak(Party::Module(Module::Classifier)),
    Fairness::Weak(Party::Module(Module::Planner)),
    Fairness::Weak(Party::Module(Module::Debater(Role::Analyst))),
    Fairness::Weak(Party::Module(Module::Debater(Role::Solution))),
    Fairness::Weak(Party::Module(Module::Debater(Role::Critic))),
    Fairness::Weak(Party::Module(Module::Debater(Role::Security))),
    Fairness::Weak(Party::Module(Module::Debater(Role::Optimizer))),
    Fairness::Weak(Party::Module(Module::Approver)),
    Fairness::Weak(Party::Module(Module::Executor)),
    Fairness::Weak(Party::Module(Module::Store(Store::Local))),
    Fairness::Weak(Party::Module(Module::Store(Store::Cloud))),
    Fairness::Weak(Party::Module(Module::Auditor)),
    Fairness::Finitely(Party::Crash),
];

fn of_request(state: &State, holds: impl Fn(&Request) -> bool) -> bool {
    state.control.request().is_some_and(holds)
}

fn running(_: &Policy, state: &State) -> bool {
    state.control.request().is_some()
}

fn decided(state: &State, is: impl Fn(Label) -> bool) -> bool {
    of_request(state, |request| request.decisions.iter().any(|decision| is(decision.label)))
}

fn has_ended(_: &Policy, state: &State) -> bool {
    state.control.phase().is_rest() && state.control.next_request() > RequestId::FIRST
}

/// Whether the plan has been revised: some other revision came before it, and is still spoken of.
fn revised(state: &State) -> bool {
    of_request(state, |request| request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST))
}

/// The status that a task's subtask is to have after an event that ends the task, or undoes it.
fn ends_task(before: &State, event: &Event) -> Option<(Status, TaskId)> {
    match (before.control.waiting()?.ask, event) {
        (Ask::RunTask { task, .. }, Event::ToolResult { report: Report::Exit { code: 0, .. }, .. }) => {
            Some((Status::Done, task))
        }
        (
            Ask::RunTask { task, .. },
            Event::ToolResult { .. } | Event::CallFailed { .. } | Event::Cancelled,
        ) => Some((Status::Failed, task)),
        (Ask::UndoTask { task }, Event::ToolResult { report: Report::Exit { code: 0, .. }, .. }) => {
            Some((Status::Failed, task))
        }
        _ => None,
    }
}

fn runs(event: &Event) -> bool {
    matches!(event, Event::ToolCall { ask: Ask::RunTask { .. }, .. })
}

fn ends(past: &History, event: &Event) -> bool {
    past.running && matches!(event, Event::Moved { row } if row.row().to.is_rest())
}

fn redebates(past: &History, event: &Event) -> bool {
    past.phase == Some(Phase::MultiPassCheck)
        && matches!(event, Event::Moved { row } if matches!(row.row().to, Phase::Round(_)))
}
