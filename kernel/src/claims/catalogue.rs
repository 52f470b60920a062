//! The catalogue of claims.
//!
//! Every claim has a premise, a state in which it has something to say, so that no claim passes only because
//! nothing ever came near it. `r` is the running request; *ends* means that control comes to a state in which
//! no request runs.

use super::{Check, Claim, Contract, History};
use crate::control::phase::Phase;
use crate::control::table::leads_on;
use crate::control::{consensus, elo};
use crate::decide::decide;
use crate::event::{Decision, EffectEnd, Event, Label, TaskEnd};
use crate::ids::{RequestId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Key, Status, Variant};
use crate::module::{Ask, Failure, Kind, Report, Role};
use crate::plan::EffectKind;
use crate::policy::{Bound, Policy};
use crate::state::{Request, Started, State};

use Check::{Liveness, Step, Trace};

/// Every claim, in the order in which reports list them.
pub const CLAIMS: &[Claim] = &[
    // ── the findings of the design ───────────────────────────────────────────────────────────────────
    Claim {
        id: "C-01",
        clause: "004-1.36",
        statement: "Every request that ends was audited exactly once before.",
        formula: "□ (ended(r) ⇒ exactly one earlier audit(r))",
        finding: Some("F1"),
        check: Trace(|_, past, event| !ends(past, event) || past.audits == 1),
        premise: has_ended,
        ..CLAIM
    },
    Claim {
        id: "C-02",
        clause: "004-1.32",
        statement: "A rollback that ends is stored as rolled back and audited, and is no dead end.",
        formula: "□ (rollback ends ⇒ stored(r) = rolled back ∧ audit(r)) ∧ no dead end in RollbackActive",
        finding: Some("F2"),
        check: Trace(|policy, past, event| match event {
            _ if !past.rolled_back => true,
            Event::Moved { row } if !leads_on(policy, row.row().to) => false,
            Event::ToolCall { ask: Ask::Remember { kind, .. }, .. } => *kind == Kind::RolledBack,
            event => !ends(past, event) || (past.audits == 1 && past.stores_asked == (true, true)),
        }),
        premise: |_, state| state.control.phase() == Phase::RollbackActive,
        ..CLAIM
    },
    Claim {
        id: "C-03",
        clause: "004-1.29",
        statement: "If every call is answered or times out, every request that starts ends.",
        formula: "fair ⇒ □ (started(r) ⇒ ◇ ended(r))",
        finding: Some("F3"),
        check: Liveness,
        ..CLAIM
    },
    Claim {
        id: "C-04",
        clause: "004-1.32",
        statement: "If every call is answered or times out, every request that starts is audited or aborted.",
        formula: "fair ⇒ □ (started(r) ⇒ ◇ (audit(r) ∨ aborted(r)))",
        finding: Some("F4"),
        check: Liveness,
        ..CLAIM
    },
    Claim {
        id: "C-05",
        clause: "004-1.32",
        statement: "If every call is answered or times out, every task that ran is listed in an audit.",
        formula: "fair ⇒ □ (ran(t, r) ⇒ ◇ (audit(r) lists t))",
        finding: Some("F5"),
        check: Liveness,
        ..CLAIM
    },
    Claim {
        id: "C-06",
        clause: "004-3.1",
        statement: "A plan that was vetoed in any pass never runs.",
        formula: "□ (vetoed(r) ⇒ □ ¬run(r))",
        finding: Some("F6"),
        check: Trace(|_, past, event| !(runs(event) && past.vetoed)),
        premise: |_, state| of_request(state, |request| request.debate.vetoed),
        ..CLAIM
    },
    Claim {
        id: "C-07",
        clause: "004-1.22",
        statement: "If a plan runs to which Security objected, the decision and the audit name the objection.",
        formula: "□ (run(r, rev) ∧ Security CON on rev ⇒ decision(r) and audit(r) name it)",
        finding: Some("F7"),
        check: Trace(|_, past, event| match event {
            event if runs(event) => match past.objection() {
                Some(objection) => past.decision().is_some_and(|d| d.objection == Some(objection)),
                None => true,
            },
            Event::Audited { record } => {
                past.ran_over.iter().all(|over| record.decisions.iter().any(|d| d.objection == Some(*over)))
            }
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::RunningTasks
                && of_request(state, |request| request.objection().is_some())
        },
        ..CLAIM
    },
    Claim {
        id: "C-08",
        clause: "004-1.22",
        statement: "Consensus is called reached only at or above the line.",
        formula: "□ (label(r) = ConsensusReached ⇒ score(r) ≥ redebate_below)",
        finding: Some("F8"),
        check: Trace(|policy, _, event| match event {
            Event::Decided { decision } if decision.label == Label::ConsensusReached => {
                decision.score >= policy.thresholds.redebate_below
            }
            _ => true,
        }),
        premise: |_, state| decided(state, |label| label == Label::ConsensusReached),
        ..CLAIM
    },
    Claim {
        id: "C-09",
        clause: "004-1.15",
        statement: "Security's latest report is on the very revision that runs, and is no veto.",
        formula: "□ (running(rev) ⇒ Security's latest report is on rev ∧ no veto)",
        finding: Some("F9"),
        check: Trace(|policy, past, event| {
            !runs(event)
                || past.security.is_some_and(|report| !report.objects_from(policy.thresholds.veto_from))
        }),
        premise: |_, state| {
            state.control.phase() == Phase::RunningTasks
                && of_request(state, |request| {
                    request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST)
                })
        },
        ..CLAIM
    },
    Claim {
        id: "C-10",
        clause: "004-1.30",
        statement: "The revision that runs was scored by the consensus, at or above the line to proceed.",
        formula: "□ (running(rev) ⇒ score(rev) ≥ proceed_from)",
        finding: Some("F10"),
        check: Trace(|_, past, event| !runs(event) || past.cleared == Some(true)),
        premise: |_, state| {
            state.control.phase() == Phase::RunningTasks
                && of_request(state, |request| {
                    request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST)
                })
        },
        ..CLAIM
    },
    Claim {
        id: "C-11",
        clause: "004-1.16",
        statement: "After a veto no further pass is debated.",
        formula: "□ (vetoed(r) ⇒ no further pass)",
        finding: Some("F11"),
        check: Trace(|_, past, event| !(past.vetoed && redebates(past, event))),
        premise: |_, state| {
            state.control.phase() == Phase::MultiPassCheck
                && of_request(state, |request| request.debate.vetoed)
        },
        ..CLAIM
    },
    Claim {
        id: "C-12",
        clause: "004-2.16",
        statement: "The audit says of each store what it holds.",
        formula: "□ (ended(r) ⇒ for each store: holds(store, r) = audit(r).stores(store))",
        finding: Some("F12"),
        check: Trace(|_, past, event| match event {
            Event::Audited { record } => record.stores == past.holdings,
            _ => true,
        }),
        premise: |_, state| {
            use crate::event::Holding;
            state.control.phase() == Phase::Auditing
                && of_request(state, |request| request.holdings.local != request.holdings.cloud)
                && of_request(state, |request| request.holdings.local != Holding::Held)
        },
        ..CLAIM
    },
    Claim {
        id: "C-13",
        clause: "004-1.34",
        statement: "Only a request that succeeded is stored as an outcome.",
        formula: "□ (stored(r) = outcome ⇒ success(r))",
        finding: Some("F13"),
        check: Trace(|_, past, event| match event {
            Event::ToolCall { ask: Ask::Remember { kind: Kind::Outcome, .. }, .. } => {
                past.kind() == Kind::Outcome
            }
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::StoringMemory
                && of_request(state, |request| request.ending.is_some_and(|e| e.kind != Kind::Outcome))
        },
        ..CLAIM
    },
    Claim {
        id: "C-14",
        clause: "004-1.1",
        statement: "Every call that is waited for may fail in any way, and only Idle is a place to stay.",
        formula: "□ (waiting(call) ⇒ error, timeout, malformed, no candidates have a row) ∧ no dead end but Idle",
        finding: Some("F14"),
        check: Check::State(|policy, state| {
            let phase = state.control.phase();
            let goes_on = match state.control.waiting() {
                Some(_) => leads_on(policy, phase),
                None => decide(policy, state, &Input::Step).is_ok(),
            };
            (phase == Phase::Idle || goes_on)
                && state.control.waiting().is_none_or(|call| {
                    let failed = |failure| Input::CallFailed { call: call.id, failure };
                    Failure::ALL.into_iter().all(|failure| decide(policy, state, &failed(failure)).is_ok())
                })
        }),
        premise: |_, state| state.control.waiting().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-15",
        clause: "004-1.35",
        statement: "The audit lists every started effect, as kept, undone or undo failed.",
        formula: "□ (ended(r) ∧ effects(r) ≠ ∅ ⇒ audit(r) lists each with what became of it)",
        finding: Some("F15"),
        check: Trace(|_, past, event| match event {
            Event::Audited { record } => record.tasks == past.tasks,
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::Auditing
                && of_request(state, |request| !request.ledger.is_empty())
        },
        ..CLAIM
    },
    Claim {
        id: "C-16",
        clause: "004-1.36",
        statement: "A request that ends leaves control in Idle, where the next message is accepted.",
        formula: "□ (ended(r) ⇒ Idle ∧ the next message is accepted)",
        finding: Some("F16"),
        check: Check::State(|policy, state| {
            let message =
                |user: &crate::ids::UserId| Input::UserMessage { user: user.clone(), text: Text::from("?") };
            !state.control.phase().is_rest()
                || (state.control.phase() == Phase::Idle
                    && state
                        .control
                        .session()
                        .is_none_or(|user| decide(policy, state, &message(user)).is_ok()))
        }),
        premise: has_ended,
        ..CLAIM
    },
    // ── order ────────────────────────────────────────────────────────────────────────────────────────
    Claim {
        id: "C-20",
        clause: "004-2.9",
        statement: "Nobody but the identity guard is asked before both locks match; of an unverified request only the audit goes out.",
        formula: "□ (call(m) ∧ m ∉ {identity guard, auditor} ⇒ verified(r))",
        check: Trace(|_, past, event| match event {
            Event::ToolCall { ask: Ask::VerifyIdentity | Ask::DeliverAudit, .. } => true,
            Event::ToolCall { .. } => past.verified,
            _ => true,
        }),
        premise: |_, state| state.control.phase() == Phase::IdentityVerified,
        ..CLAIM
    },
    Claim {
        id: "C-21",
        clause: "004-2.11",
        statement: "Rounds come in their order: Analyst to Optimizer, later passes from Solution on, no more passes than allowed.",
        formula: "□ (round(k) ⇒ previous round is k − 1, or k = 2 after round 5) ∧ passes ≤ bound",
        check: Trace(|policy, past, event| match event {
            Event::Moved { row } => match row.row().to {
                Phase::Round(Role::Analyst) => past.round.is_none(),
                Phase::Round(Role::Solution) => match past.round {
                    Some(Role::Optimizer) => past.pass < policy.bounds.passes,
                    round => round == Some(Role::Analyst),
                },
                Phase::Round(Role::Critic) => past.round == Some(Role::Solution),
                Phase::Round(Role::Security) => past.round == Some(Role::Critic),
                Phase::Round(Role::Optimizer) => past.round == Some(Role::Security),
                _ => true,
            },
            _ => true,
        }),
        premise: |policy, state| of_request(state, |request| request.debate.pass == policy.bounds.passes),
        ..CLAIM
    },
    Claim {
        id: "C-22",
        clause: "004-2.4",
        statement: "The debate is taken up again only while the consensus lies below the line.",
        formula: "□ (re-debate ⇒ score < redebate_below)",
        check: Trace(|_, past, event| !redebates(past, event) || past.below_line),
        premise: |policy, state| {
            state.control.phase() == Phase::Aggregating
                && of_request(state, |request| (2..policy.bounds.passes).contains(&request.debate.pass))
        },
        ..CLAIM
    },
    Claim {
        id: "C-23",
        clause: "004-3.3",
        statement: "Nothing runs without a decision to proceed.",
        formula: "□ (run(r) ⇒ earlier decision(r) = PROCEED)",
        check: Trace(|_, past, event| !runs(event) || past.decision().is_some_and(|d| d.label.proceeds())),
        premise: |_, state| decided(state, |label| !label.proceeds()),
        ..CLAIM
    },
    Claim {
        id: "C-24",
        clause: "004-3.2",
        statement: "Nothing runs on a consensus below the line to proceed.",
        formula: "□ (run(r) ⇒ latest score(r) ≥ proceed_from)",
        check: Trace(|_, past, event| !runs(event) || past.enough),
        premise: |_, state| decided(state, |label| label == Label::Rejected),
        ..CLAIM
    },
    Claim {
        id: "C-25",
        clause: "004-1.29",
        statement: "Repairs never exceed the policy's bound.",
        formula: "□ (repairs(r) ≤ bounds.repairs)",
        check: Trace(|policy, past, event| match (event, policy.bounds.repairs) {
            (Event::ToolCall { ask: Ask::Diagnose, .. }, Bound::AtMost(most)) => past.repairs <= most,
            _ => true,
        }),
        premise: |policy, state| match policy.bounds.repairs {
            Bound::AtMost(most) => of_request(state, |request| request.repairs == most),
            Bound::Unbounded => true,
        },
        not_under: |policy| match policy.bounds.repairs {
            Bound::AtMost(_) => None,
            Bound::Unbounded => Some("the policy sets no bound on repairs"),
        },
        ..CLAIM
    },
    Claim {
        id: "C-26",
        clause: "004-2.15",
        statement: "A rollback undoes each started effect that declares a compensation exactly once, the latest first.",
        formula: "□ (undo(t) ⇒ t is the latest start that stands) ∧ □ (rollback ends ⇒ none stands)",
        check: Trace(|_, past, event| match event {
            Event::ToolCall { ask: Ask::UndoTask { task }, .. } => past.undoable.last() == Some(task),
            Event::Moved { row } if past.phase == Some(Phase::RollbackActive) => {
                row.row().to == Phase::RollbackActive || past.undoable.is_empty()
            }
            _ => true,
        }),
        premise: |_, state| {
            matches!(state.control.waiting(), Some(call) if matches!(call.ask, Ask::UndoTask { .. }))
                && of_request(state, |request| undoable(request) > 1)
        },
        ..CLAIM
    },
    Claim {
        id: "C-27",
        clause: "004-1.35",
        statement: "A verified user is answered only after both stores were asked and the audit was written.",
        formula: "□ (answer(r) ⇒ audit(r) ∧ (verified(r) ⇒ both stores asked))",
        check: Trace(|_, past, event| match event {
            Event::FinalAnswer { .. } => {
                past.audits == 1 && (!past.verified || past.stores_asked == (true, true))
            }
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::Auditing && of_request(state, |request| request.verified)
        },
        ..CLAIM
    },
    Claim {
        id: "C-28",
        clause: "004-1.36",
        statement: "A request is answered once, at its end; only a halt leaves it unanswered.",
        formula: "□ (ended(r) ∧ ¬aborted(r) ⇒ exactly one answer(r))",
        check: Trace(|_, past, event| match event {
            Event::FinalAnswer { .. } => past.answers == 0,
            Event::Moved { row } if ends(past, event) => row.row().to == Phase::Aborted || past.answers == 1,
            _ => true,
        }),
        premise: |_, state| state.control.phase() == Phase::Auditing,
        ..CLAIM
    },
    Claim {
        id: "C-29",
        clause: "000-4.4",
        statement: "After the user cancelled, no task is started.",
        formula: "□ (cancelled(r) ⇒ □ ¬run(r))",
        check: Trace(|_, past, event| !(past.cancelled && runs(event))),
        premise: |_, state| {
            use crate::event::Cause;
            of_request(state, |request| request.ending.is_some_and(|ending| ending.cause == Cause::Cancelled))
        },
        not_under: |policy| (!policy.rules.cancel).then_some("the policy has no cancel"),
        ..CLAIM
    },
    // ── the semantic state ───────────────────────────────────────────────────────────────────────────
    Claim {
        id: "C-30",
        clause: "000-2.9",
        statement: "Every dependency leads to an item of the state.",
        formula: "□ (∀ x ∈ I: deps(id(x)) ⊆ { id(y) | y ∈ I })",
        check: Check::State(|_, state| state.semantic.is_closed()),
        premise: |_, state| state.semantic.entries().any(|entry| !entry.deps.is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-31",
        clause: "000-4.9",
        statement: "The semantic state changes only by AddItem, UpdateItem and ForgetItems.",
        formula: "□ (no such event in σ ⇒ S' = S)",
        check: Step(|_, before, events, after| {
            let semantic = |event: &Event| {
                matches!(event, Event::AddItem { .. } | Event::UpdateItem { .. } | Event::ForgetItems { .. })
            };
            events.iter().any(semantic) || before.semantic == after.semantic
        }),
        premise: |_, state| !state.semantic.is_empty(),
        ..CLAIM
    },
    Claim {
        id: "C-32",
        clause: "000-2.3",
        statement: "A subtask is in progress exactly while its task runs.",
        formula: "□ (status(t) = InProgress ⇔ running(t))",
        check: Check::State(|_, state| {
            let running = match (state.control.waiting().map(|call| call.ask), state.control.request()) {
                (Some(Ask::RunTask { task, .. }), Some(request)) => Some(Key::Task(request.id, task)),
                _ => None,
            };
            let subtasks = state.semantic.entries().map(|entry| &entry.item);
            let in_progress = subtasks.filter(|item| item.variant == Variant::Subtask(Status::InProgress));
            in_progress.map(|item| &item.key).eq(running.iter())
        }),
        premise: |_, state| state.control.phase() == Phase::RunningTasks,
        ..CLAIM
    },
    Claim {
        id: "C-33",
        clause: "000-2.3",
        statement: "A task that ended leaves its subtask done or failed, and one that was undone leaves it failed.",
        formula: "□ (exit(t) = 0 ⇒ Done) ∧ □ (exit(t) ≠ 0 ∨ no answer ∨ cancelled ∨ undone(t) ⇒ Failed)",
        check: Step(|_, before, events, after| {
            let Some((status, task)) = events.iter().find_map(|event| ends_task(before, event)) else {
                return true;
            };
            let Some(request) = before.control.request() else { return false };
            let subtask = after.semantic.find(&Key::Task(request.id, task));
            subtask.is_some_and(|entry| entry.item.variant == Variant::Subtask(status))
        }),
        premise: |_, state| state.control.phase() == Phase::RollbackActive,
        ..CLAIM
    },
    Claim {
        id: "C-34",
        clause: "000-2.9",
        statement: "What a task gave rests on the task.",
        formula: "□ (output(t) ∈ I ⇒ deps(output(t)) = {t})",
        check: Check::State(|_, state| {
            state.semantic.entries().all(|entry| match &entry.item.key {
                Key::Output(request, task) => {
                    let subtask = state.semantic.find(&Key::Task(*request, *task)).map(|entry| entry.item.id);
                    entry.deps.iter().copied().eq(subtask)
                }
                _ => true,
            })
        }),
        premise: |_, state| state.semantic.entries().any(|entry| matches!(entry.item.key, Key::Output(..))),
        ..CLAIM
    },
    Claim {
        id: "C-35",
        clause: "004-2.9",
        statement: "Nothing becomes known before the identity is verified.",
        formula: "□ (AddItem ∨ UpdateItem ⇒ verified(r))",
        check: Trace(|_, past, event| match event {
            Event::AddItem { .. } | Event::UpdateItem { .. } => past.verified,
            _ => true,
        }),
        premise: |_, state| state.control.phase() == Phase::VerifyingIdentity,
        ..CLAIM
    },
    Claim {
        id: "C-36",
        clause: "000-2.11",
        statement: "When a session ends, its working set is forgotten.",
        formula: "□ (session ends ⇒ what does not persist ∉ I)",
        check: Step(|_, _, events, after| {
            !events.contains(&Event::SessionEnded) || after.semantic.working_set().is_empty()
        }),
        premise: |_, state| state.control.session().is_none() && !state.semantic.is_empty(),
        not_under: |policy| {
            (!policy.rules.next_request).then_some("under the policy no session ends after a request")
        },
        ..CLAIM
    },
    // ── what is reported and recorded ────────────────────────────────────────────────────────────────
    Claim {
        id: "C-40",
        clause: "004-1.25",
        statement: "An execution report says of each task of the plan what was answered; what was not run comes after a failure.",
        formula: "□ (report(t) = answer(t)) ∧ □ (NotRun(t) ⇒ an earlier task failed)",
        check: Trace(|_, past, event| match event {
            Event::ExecutionReported { tasks, .. } => {
                let ran = past.outcomes.len();
                tasks.iter().map(|task| task.task).eq(past.planned.iter().copied())
                    && tasks.iter().take(ran).eq(&past.outcomes)
                    && tasks.iter().skip(ran).all(|task| task.ended == TaskEnd::NotRun)
                    && (tasks.len() == ran
                        || past.outcomes.last().is_some_and(|last| last.ended != TaskEnd::Succeeded))
            }
            _ => true,
        }),
        premise: |_, state| state.control.phase() == Phase::SelfHealingActive,
        ..CLAIM
    },
    Claim {
        id: "C-41",
        clause: "004-1.20",
        statement: "The consensus is that of the latest arguments and the ratings that memory gave.",
        formula: "□ (scored(r) = consensus(latest arguments, ratings))",
        check: Trace(|policy, past, event| match event {
            Event::ConsensusScored { score, .. } => {
                *score == consensus::of_debate(policy, &past.ratings, &past.latest)
            }
            _ => true,
        }),
        premise: |_, state| of_request(state, |request| request.debate.scored.is_some()),
        ..CLAIM
    },
    Claim {
        id: "C-42",
        clause: "004-3.2",
        statement: "A plan is rejected only below the line to proceed.",
        formula: "□ (decision(r) = REJECT ⇒ score(r) < proceed_from)",
        check: Trace(|policy, _, event| match event {
            Event::Decided { decision } if decision.label == Label::Rejected => {
                decision.score < policy.thresholds.proceed_from
            }
            _ => true,
        }),
        premise: |_, state| decided(state, |label| label == Label::Rejected),
        ..CLAIM
    },
    Claim {
        id: "C-43",
        clause: "004-3.5",
        statement: "What is scored, vetoed, decided or reported is the plan as it stands.",
        formula: "□ (scored(rev) ∨ vetoed(rev) ∨ decided(rev) ∨ reported(rev) ⇒ rev is the plan)",
        check: Step(|_, before, events, _| {
            let plan = before.control.request().and_then(|request| request.plan.as_ref());
            let standing = plan.map(|plan| plan.revision);
            events.iter().all(|event| match event {
                Event::ConsensusScored { revision, .. }
                | Event::VetoRaised { revision }
                | Event::ExecutionReported { revision, .. } => Some(*revision) == standing,
                Event::Decided { decision } => Some(decision.revision) == standing,
                _ => true,
            })
        }),
        premise: |_, state| {
            of_request(state, |request| {
                request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST)
            })
        },
        ..CLAIM
    },
    Claim {
        id: "C-44",
        clause: "004-1.35",
        statement: "A request is concluded, stored and audited as what happened: outcome, blocked, rolled back or aborted.",
        formula: "□ (kind(r) = what happened to r)",
        check: Trace(|_, past, event| match event {
            Event::Memorized { record } => record.kind == past.kind(),
            Event::ToolCall { ask: Ask::Remember { kind, .. }, .. } => *kind == past.kind(),
            Event::Audited { record } => record.ending.kind == past.kind(),
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::Auditing
                && of_request(state, |request| {
                    request.ending.is_some_and(|ending| ending.kind == Kind::Blocked)
                })
        },
        not_under: |policy| (!policy.rules.typed_kinds).then_some("the policy stores every kind alike"),
        ..CLAIM
    },
    Claim {
        id: "C-45",
        clause: "004-1.36",
        statement: "Records and the answer name the request and the user that they are about.",
        formula: "□ (memorized ∨ audited ∨ answered ⇒ trace id of r ∧ user of r)",
        check: Step(|_, before, events, _| {
            let control = &before.control;
            let trace = control.request().map(|request| control.trace(request.id));
            events.iter().all(|event| match event {
                Event::Memorized { record } => Some(&record.trace) == trace.as_ref(),
                Event::Audited { record } => {
                    Some(&record.trace) == trace.as_ref() && Some(&record.user) == control.session()
                }
                Event::FinalAnswer { trace: named, .. } => Some(named) == trace.as_ref(),
                _ => true,
            })
        }),
        premise: |_, state| state.control.phase() == Phase::Auditing,
        ..CLAIM
    },
    Claim {
        id: "C-46",
        clause: "004-1.35",
        statement: "The audit lists every decision.",
        formula: "□ (decision(r) = d ⇒ audit(r) lists d)",
        check: Trace(|_, past, event| match event {
            Event::Audited { record } => {
                let alike = |(told, heard): (&Decision, &Decision)| {
                    Decision { revision: heard.revision, ..*told } == *heard
                };
                record.decisions.len() == past.decisions.len()
                    && record.decisions.iter().zip(&past.decisions).all(alike)
            }
            _ => true,
        }),
        premise: |_, state| of_request(state, |request| !request.decisions.is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-47",
        clause: "004-1.35",
        statement: "The audit sink is tried no more often than allowed, and an answer after a failed try says so.",
        formula: "□ (tries(r) ≤ bounds.audit_attempts) ∧ □ (answer(r) ∧ last try failed ⇒ told undelivered)",
        check: Trace(|policy, past, event| match event {
            Event::ToolCall { ask: Ask::DeliverAudit, .. } => {
                past.audit_attempts < policy.bounds.audit_attempts
            }
            Event::FinalAnswer { .. } => past.audit_failed == past.undelivered,
            _ => true,
        }),
        premise: |policy, state| {
            of_request(state, |request| request.audit_attempts == policy.bounds.audit_attempts)
        },
        ..CLAIM
    },
    Claim {
        id: "C-48",
        clause: "004-1.21",
        statement: "The ratings that are stored are those that memory gave, moved by the duels over the arguments heard.",
        formula: "□ (rated(r) = elo(ratings, latest arguments)) ∧ □ (stored ratings = rated(r) if anything was decided)",
        check: Trace(|policy, past, event| match event {
            Event::RatingsUpdated { ratings } => {
                let latest = &past.latest;
                let heard = Role::ALL
                    .into_iter()
                    .filter_map(|role| latest.get(role).map(|argument| (role, argument)));
                *ratings == elo::incremental(&policy.thresholds, &past.ratings, heard)
            }
            Event::Memorized { record } => {
                record.ratings == past.rated.filter(|_| !past.decisions.is_empty())
            }
            _ => true,
        }),
        premise: |_, state| of_request(state, |request| request.ratings_after.is_some()),
        ..CLAIM
    },
    // ── the kernel itself ────────────────────────────────────────────────────────────────────────────
    Claim {
        id: "C-60",
        clause: "000-4.10",
        statement: "A refused input changes nothing and is refused with a sentence.",
        formula: "decide(o, i) = refusal ⇒ o' = o ∧ σ = ε",
        check: Check::Contract(Contract::RefusalChangesNothing),
        ..CLAIM
    },
    Claim {
        id: "C-61",
        clause: "000-4.6",
        statement: "Every state takes every trigger along one row, or refuses it.",
        formula: "∀ o, i: decide(o, i) is one row's batch or a refusal",
        check: Check::Contract(Contract::Total),
        ..CLAIM
    },
    Claim {
        id: "C-62",
        clause: "000-4.10",
        statement: "The same input in the same state gives the same events.",
        formula: "∀ o, i: decide(o, i) = decide(o, i)",
        check: Check::Contract(Contract::Deterministic),
        ..CLAIM
    },
    Claim {
        id: "C-63",
        clause: "000-4.8",
        statement: "The state is the fold of its log: decoding the encoded events and applying them gives it.",
        formula: "fold(decode(encode(σ))) = apply(σ)",
        check: Check::Contract(Contract::FoldsFromLog),
        ..CLAIM
    },
    Claim {
        id: "C-64",
        clause: "000-4.4",
        statement: "An answer to another call, an answer of another kind, and a stranger are refused as what they are.",
        formula: "call(i) ≠ waiting(o) ⇒ decide(o, i) = WrongCall; likewise WrongReport, WrongUser",
        check: Check::Contract(Contract::RefusesWhatDoesNotFit),
        premise: |_, state| state.control.waiting().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-65",
        clause: "000-4.3",
        statement: "The kernel waits for exactly what was asked and not answered, and stands where it moved to.",
        formula: "□ (waiting(o) = asked(τ)) ∧ □ (phase(o) = last move(τ))",
        check: Check::Memory(|past, state| {
            past.asked == state.control.waiting().map(|call| call.ask)
                && (!past.running || past.phase == Some(state.control.phase()))
        }),
        premise: |_, state| state.control.waiting().is_some(),
        ..CLAIM
    },
];

/// What most claims share: no finding, something to say in every state and under every policy.
const CLAIM: Claim = Claim {
    id: "",
    clause: "",
    statement: "",
    formula: "",
    finding: None,
    check: Liveness,
    premise: |_, _| true,
    not_under: |_| None,
};

fn of_request(state: &State, holds: impl Fn(&Request) -> bool) -> bool {
    state.control.request().is_some_and(holds)
}

fn decided(state: &State, is: impl Fn(Label) -> bool) -> bool {
    of_request(state, |request| request.decisions.iter().any(|decision| is(decision.label)))
}

fn has_ended(_: &Policy, state: &State) -> bool {
    state.control.phase().is_rest() && state.control.next_request() > RequestId::FIRST
}

fn undoable(request: &Request) -> usize {
    let standing =
        |started: &&Started| started.effect == EffectKind::Undoable && started.end == EffectEnd::Kept;
    request.ledger.iter().filter(standing).count()
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
