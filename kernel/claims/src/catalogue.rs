//! The catalogue of claims.
//!
//! Every claim has a premise: a state in which it applies. A claim whose premise is never reached is vacuous. In the formulas,
//! `r` is the running request, and it *ends* when control enters a phase in which no request runs.

use super::{Actor, Claim, ClaimCheck, Contract, Fairness, History};
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::has_successor;
use orchestrion_kernel::control::{consensus, elo};
use orchestrion_kernel::event::{Cause, Decision, DecisionLabel, Event, TaskOutcome};
use orchestrion_kernel::ids::{RequestId, Revision, TaskId, Text};
use orchestrion_kernel::input::Input;
use orchestrion_kernel::item::{ItemKey, ItemKind, SubtaskStatus};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Operation, Report, Role, Store};
use orchestrion_kernel::policy::{Bound, Policy};
use orchestrion_kernel::state::{Request, StartedTask, State};

use ClaimCheck::{LeadsTo, ResponseInvariant, StepInvariant, TraceInvariant};

mod compaction;
mod contexts;
mod findings;
mod kernel;
mod knowledge;
mod layers;
mod ordering;
mod records;
mod situation;
mod transitions;

/// Every claim, in the order in which reports list them.
pub const CLAIMS: &[Claim] = &concat_claims();

const PARTS: [&[Claim]; 10] = [
    findings::FINDINGS,
    ordering::ORDER,
    knowledge::KNOWLEDGE,
    layers::LAYERS,
    compaction::COMPACTION,
    situation::SITUATION,
    contexts::CONTEXTS,
    records::RECORDS,
    transitions::TURNS,
    kernel::KERNEL,
];

/// Concatenates the parts at compile time.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn concat_claims() -> [Claim; claim_count()] {
    let mut all = [CLAIM; claim_count()];
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
const fn claim_count() -> usize {
    let (mut part, mut claims) = (0, 0);
    while part < PARTS.len() {
        claims += PARTS[part].len();
        part += 1;
    }
    claims
}

/// Defaults: no finding, a premise that always holds, and every policy. A claim without a check fails everywhere.
const CLAIM: Claim = Claim {
    id: "",
    clause: "",
    statement: "",
    formula: "",
    finding: None,
    check: ClaimCheck::StateInvariant(|_, _| false),
    premise: |_, _| true,
    not_applicable: |_| None,
};

/// The fairness assumptions: the kernel takes its steps, every call gets a reply or times out, and crashes are finitely many. The
/// user is not obliged to act, and no module is obliged to succeed.
const FAIR: &[Fairness] = &[
    Fairness::Weak(Actor::Kernel),
    Fairness::Weak(Actor::Module(Module::IdentityGuard)),
    Fairness::Weak(Actor::Module(Module::Memory)),
    Fairness::Weak(Actor::Module(Module::Summarizer)),
    Fairness::Weak(Actor::Module(Module::Classifier)),
    Fairness::Weak(Actor::Module(Module::Planner)),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Analyst))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Solution))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Critic))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Security))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Optimizer))),
    Fairness::Weak(Actor::Module(Module::Approver)),
    Fairness::Weak(Actor::Module(Module::Executor)),
    Fairness::Weak(Actor::Module(Module::Store(Store::Local))),
    Fairness::Weak(Actor::Module(Module::Store(Store::Cloud))),
    Fairness::Weak(Actor::Module(Module::Auditor)),
    Fairness::FinitelyOften(Actor::Crash),
];

fn of_request(state: &State, holds: impl Fn(&Request) -> bool) -> bool {
    state.control().request().is_some_and(holds)
}

fn running(_: &Policy, state: &State) -> bool {
    state.control().request().is_some()
}

fn decided(state: &State, is: impl Fn(DecisionLabel) -> bool) -> bool {
    of_request(state, |request| request.decisions.iter().any(|decision| is(decision.label)))
}

fn has_ended(_: &Policy, state: &State) -> bool {
    state.control().phase().is_quiescent() && state.control().next_request() > RequestId::FIRST
}

/// Whether the plan is a later revision than the first.
fn revised(state: &State) -> bool {
    of_request(state, |request| request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST))
}

/// The expected status of a subtask after an event that ends or undoes its task.
fn ends_task(before: &State, event: &Event) -> Option<(SubtaskStatus, TaskId)> {
    match (before.control().pending_call()?.operation, event) {
        (Operation::RunTask { task, .. }, Event::ToolResult { report: Report::Exit { code: 0, .. }, .. }) => {
            Some((SubtaskStatus::Done, task))
        }
        (
            Operation::RunTask { task, .. },
            Event::ToolResult { .. } | Event::CallFailed { .. } | Event::Cancelled,
        ) => Some((SubtaskStatus::Failed, task)),
        (Operation::UndoTask { task }, Event::ToolResult { report: Report::Exit { code: 0, .. }, .. }) => {
            Some((SubtaskStatus::Failed, task))
        }
        _ => None,
    }
}

fn starts_task(event: &Event) -> bool {
    matches!(event, Event::ToolCall { operation: Operation::RunTask { .. }, .. })
}

fn ends_request(past: &History, event: &Event) -> bool {
    past.running && matches!(event, Event::Transitioned { row } if row.transition().to.is_quiescent())
}

fn starts_another_pass(past: &History, event: &Event) -> bool {
    past.phase == Some(Phase::MultiPassCheck)
        && matches!(event, Event::Transitioned { row } if matches!(row.transition().to, Phase::Round(_)))
}
