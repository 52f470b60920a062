//! Claims about order: which call precedes which, and when tasks run and requests end.

use super::prelude::*;
use crate::reference::plans::task as find_task;
use orchestrion_kernel::event::EffectOutcome;
use orchestrion_kernel::plan::EffectKind;

pub(super) const ORDER: &[Claim] = &[
    Claim {
        id: "C-18",
        clause: "decision 0015",
        statement: "After a crash lost a task, no task starts.",
        formula: "□ (lost(t) ⇒ □ ¬run(r))",
        check: TraceInvariant(|_, past, event| !(past.task_lost && starts_task(event))),
        premise: Premise::State(has_lost_task),
        not_applicable: |policy| {
            (!policy.rules.error_rows).then_some("the policy has no transitions for failed calls")
        },
        ..CLAIM
    },
    Claim {
        id: "C-19",
        clause: "decision 0013",
        statement: "If the policy has an approver, only an approved revision runs.",
        formula: "□ (running(rev) ⇒ approved(rev))",
        check: TraceInvariant(|_, past, event| !starts_task(event) || past.approved),
        premise: Premise::State(|_, state| state.control().phase() == Phase::PlanApproval),
        not_applicable: |policy| (!policy.rules.approver).then_some("the policy has no approver"),
        ..CLAIM
    },
    Claim {
        id: "C-115",
        clause: "decision 0039",
        statement: "In each pass every additional debater argues once, in the policy's order, before the pass is \
                    evaluated.",
        formula: "□ (call(d) ⇒ d = the number of additional arguments of the pass) ∧ □ (judged(pass) ⇒ every d argued)",
        check: TraceInvariant(|policy, past, event| {
            let argued = past.additional.len();
            match event {
                Event::ToolCall { operation: Operation::ArgueAdditional { debater }, .. } => {
                    usize::try_from(*debater) == Ok(argued) && argued < policy.additional_debaters.len()
                }
                Event::Transitioned { row } if row.transition().to == Phase::MultiPassCheck => {
                    argued == policy.additional_debaters.len()
                }
                _ => true,
            }
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::AdditionalRounds),
        not_applicable: |policy| {
            policy.additional_debaters.is_empty().then_some("the policy has no additional debaters")
        },
        ..CLAIM
    },
    Claim {
        id: "C-20",
        clause: "004-2.9",
        statement: "Until both locks match, only the identity guard is called. For an unverified request, \
                    only the audit record is delivered.",
        formula: "□ (call(m) ∧ m ∉ {identity guard, auditor} ⇒ verified(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::ToolCall { operation: Operation::VerifyIdentity | Operation::DeliverAudit, .. } => true,
            Event::ToolCall { .. } => past.verified,
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::IdentityVerified),
        ..CLAIM
    },
    Claim {
        id: "C-21",
        clause: "004-2.11",
        statement: "The rounds follow the order Analyst to Optimizer. Later passes start at Solution. The \
                    number of passes is bounded.",
        formula: "□ (round(k) ⇒ previous round is k − 1, or k = 2 after round 5) ∧ passes ≤ bound",
        check: TraceInvariant(|policy, past, event| match event {
            Event::Transitioned { row } => match row.transition().to {
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
        premise: Premise::State(|policy, state| {
            of_request(state, |request| request.debate.pass == policy.bounds.passes)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-22",
        clause: "004-2.4",
        statement: "Another pass starts only while the consensus is below the re-debate threshold, or after \
                    the plan was found outdated.",
        formula: "□ (re-debate ⇒ score < redebate_below ∨ decision(r) = OUTDATED)",
        check: TraceInvariant(|_, past, event| {
            let is_outdated = past.since_transition.decision_label == Some(DecisionLabel::Outdated);
            !starts_another_pass(past, event) || past.below_redebate_threshold || is_outdated
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.debate.pass > 1)),
        not_applicable: |policy| (policy.bounds.passes < 2).then_some("the policy allows one pass"),
        ..CLAIM
    },
    Claim {
        id: "C-23",
        clause: "004-3.3",
        statement: "No task starts without a decision to proceed.",
        formula: "□ (run(r) ⇒ earlier decision(r) = PROCEED)",
        check: TraceInvariant(|_, past, event| {
            !starts_task(event) || past.decision().is_some_and(|d| is_proceed(d.label))
        }),
        premise: Premise::State(|_, state| decided(state, |label| !is_proceed(label))),
        ..CLAIM
    },
    Claim {
        id: "C-24",
        clause: "004-3.2",
        statement: "No task starts with a consensus below the proceed threshold.",
        formula: "□ (run(r) ⇒ latest score(r) ≥ proceed_from)",
        check: TraceInvariant(|_, past, event| !starts_task(event) || past.meets_proceed_threshold),
        premise: Premise::State(|_, state| decided(state, |label| label == DecisionLabel::Rejected)),
        ..CLAIM
    },
    Claim {
        id: "C-25",
        clause: "004-1.29",
        statement: "The number of repairs never exceeds the policy's bound.",
        formula: "□ (repairs(r) ≤ bounds.repairs)",
        check: TraceInvariant(|policy, past, event| match (event, policy.bounds.repairs) {
            (Event::ToolCall { operation: Operation::Diagnose, .. }, Bound::AtMost(most)) => {
                past.repairs <= most
            }
            _ => true,
        }),
        premise: Premise::State(|policy, state| match policy.bounds.repairs {
            Bound::AtMost(most) => of_request(state, |request| request.repairs == most),
            Bound::Unbounded => true,
        }),
        not_applicable: |policy| match policy.bounds.repairs {
            Bound::AtMost(_) => None,
            Bound::Unbounded => Some("the policy sets no bound on repairs"),
        },
        ..CLAIM
    },
    Claim {
        id: "C-26",
        clause: "004-2.15",
        statement: "A rollback undoes each started effect with a compensation exactly once, the latest \
                    first.",
        formula: "□ (undo(t) ⇒ t is the latest start that stands) ∧ □ (rollback ends ⇒ none stands)",
        check: TraceInvariant(|_, past, event| match event {
            Event::ToolCall { operation: Operation::UndoTask { task }, .. } => {
                past.undoable.last() == Some(task)
            }
            Event::Transitioned { row } if past.phase == Some(Phase::RollbackActive) => {
                row.transition().to == Phase::RollbackActive || past.undoable.is_empty()
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            let undoes = |call: &Call| matches!(call.operation, Operation::UndoTask { .. });
            state.control().pending_calls().iter().any(undoes)
                && of_request(state, |request| {
                    let stands = |started: &&StartedTask| {
                        started.effect == EffectKind::Undoable && started.outcome == EffectOutcome::Kept
                    };
                    request.ledger.iter().filter(stands).count() > 1
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-27",
        clause: "004-1.35",
        statement: "A verified user receives the final answer only after both stores were called and the \
                    audit record was written.",
        formula: "□ (final_answer(r) ⇒ audit(r) ∧ (verified(r) ⇒ both stores called))",
        check: TraceInvariant(|_, past, event| match event {
            Event::FinalAnswer { .. } => {
                past.audit_records == 1 && (!past.verified || past.stores_called == (true, true))
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Auditing && of_request(state, |request| request.verified)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-28",
        clause: "004-1.36",
        statement: "A request has one final answer, at its end. Only a halt leaves it without one.",
        formula: "□ (ended(r) ∧ ¬aborted(r) ⇒ exactly one final_answer(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::FinalAnswer { .. } => past.final_answers == 0,
            Event::Transitioned { row } if ends_request(past, event) => {
                row.transition().to == Phase::Aborted || past.final_answers == 1
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Auditing),
        ..CLAIM
    },
    Claim {
        id: "C-29",
        clause: "000-4.4",
        statement: "After a cancel, no task starts.",
        formula: "□ (cancelled(r) ⇒ □ ¬run(r))",
        check: TraceInvariant(|_, past, event| !(past.cancelled && starts_task(event))),
        premise: Premise::State(was_cancelled),
        not_applicable: |policy| (!policy.rules.cancel).then_some("the policy has no cancel"),
        ..CLAIM
    },
    Claim {
        id: "C-116",
        clause: "decision 0040",
        statement: "Several calls are pending only while tasks run, and at most as many as the policy allows.",
        formula: "□ (|pending| > 1 ⇒ every pending call runs a task ∧ |pending| ≤ bounds.parallel_tasks)",
        check: ClaimCheck::StateInvariant(|policy, state| {
            let pending = state.control().pending_calls();
            pending.len() < 2
                || pending.iter().all(|call| matches!(call.operation, Operation::RunTask { .. }))
                    && u32::try_from(pending.len()).is_ok_and(|tasks| tasks <= policy.bounds.parallel_tasks)
        }),
        premise: Premise::State(|policy, state| {
            u32::try_from(state.control().pending_calls().len()) == Ok(policy.bounds.parallel_tasks)
        }),
        not_applicable: is_sequential,
        ..CLAIM
    },
    Claim {
        id: "C-117",
        clause: "decision 0040",
        statement: "A run ends only after each running task ended or was cancelled.",
        formula: "□ (RunningTasks ends ⇒ pending = ∅)",
        check: TraceInvariant(|_, past, event| match event {
            Event::Transitioned { row } if past.phase == Some(Phase::RunningTasks) => {
                row.transition().to == Phase::RunningTasks || past.pending.is_empty()
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().pending_calls().len() > 1),
        not_applicable: is_sequential,
        ..CLAIM
    },
    Claim {
        id: "C-233",
        clause: "004-1.30",
        statement: "A task starts as the current plan declares it, also one that an earlier plan declared otherwise.",
        formula: "□ (ToolCall(RunTask(t)) ∈ σ ⇒ version'(t) = plan'(t))",
        check: StepInvariant(|_, _, events, after| {
            events.iter().all(|event| match event {
                Event::ToolCall { operation: Operation::RunTask { task, .. }, .. } => {
                    of_request(after, |request| {
                        let declared =
                            request.plan.as_ref().and_then(|revised| find_task(&revised.plan, *task));
                        let mut started = request.ledger.iter().filter(|started| started.task == *task);
                        started.next().is_some_and(|started| started.version.as_ref() == declared)
                    })
                }
                _ => true,
            })
        }),
        // The plan names a task of an earlier run.
        premise: Premise::State(|_, state| {
            of_request(state, |request| {
                let is_planned = |started: &StartedTask| {
                    request.plan.as_ref().is_some_and(|plan| find_task(&plan.plan, started.task).is_some())
                };
                request.outcomes.is_empty() && request.ledger.iter().any(is_planned)
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-118",
        clause: "decision 0040",
        statement: "A task starts beside the running ones as soon as the tasks that it depends on succeeded, up to the \
                    policy's bound. No task starts after the outcome of a task is unknown, or while the plan is outdated.",
        formula: "□ (task runs ⇒ (step accepted ⇔ a task is ready ∧ |pending| < bounds.parallel_tasks ∧ ¬unknown ∧ ¬outdated))",
        check: AcceptanceInvariant(|policy, accepts, state| {
            let (pending, Some(request)) = (state.control().pending_calls(), state.control().request())
            else {
                return true;
            };
            let is_outdated = policy.rules.current_facts && request.debate.outdated;
            let expected = u32::try_from(pending.len())
                .is_ok_and(|tasks| tasks < policy.bounds.parallel_tasks)
                && !is_outdated
                && !has_lost_outcome(request)
                && has_ready_task(request, pending);
            state.control().phase() != Phase::RunningTasks
                || pending.is_empty()
                || accepts(state, &Input::Step) == expected
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| {
                let pending = state.control().pending_calls();
                !pending.is_empty() && !request.outcomes.is_empty() && has_ready_task(request, pending)
            })
        }),
        not_applicable: is_sequential,
        ..CLAIM
    },
    Claim {
        id: "C-235",
        clause: "000-4.5",
        statement: "While a call is pending, the kernel takes no step of its own, unless tasks run.",
        formula: "□ (pending ≠ ∅ ∧ step accepted ⇒ RunningTasks)",
        check: AcceptanceInvariant(|_, accepts, state| {
            state.control().pending_calls().is_empty()
                || state.control().phase() == Phase::RunningTasks
                || !accepts(state, &Input::Step)
        }),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-110",
        clause: "003-2.18",
        statement: "A plan is found outdated only if a fact in the scope of the request was superseded since \
                    Security's review. Then it is debated again, reviewed again, blocked or rolled back.",
        formula: "□ (decision(r) = OUTDATED ⇒ a fact that r reads was superseded since review(r), and next comes a pass, a review, \
                  a block or a rollback)",
        check: TraceInvariant(|_, past, event| match event {
            Event::Decided { decision } if decision.label == DecisionLabel::Outdated => {
                past.review == ReviewStatus::Outdated
            }
            Event::Transitioned { row }
                if past.since_transition.decision_label == Some(DecisionLabel::Outdated) =>
            {
                matches!(
                    row.transition().to,
                    Phase::Round(Role::Solution)
                        | Phase::RepairReview
                        | Phase::Blocked
                        | Phase::RollbackActive
                )
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| decided(state, |label| label == DecisionLabel::Outdated)),
        not_applicable: |policy| {
            (!policy.rules.current_facts).then_some("the policy does not review outdated plans")
        },
        ..CLAIM
    },
];

const fn is_proceed(label: DecisionLabel) -> bool {
    matches!(label, DecisionLabel::ConsensusReached | DecisionLabel::ProceedBelowThreshold)
}

/// Why claims about tasks that run in parallel do not apply.
pub(super) fn is_sequential(policy: &Policy) -> Option<&'static str> {
    (policy.bounds.parallel_tasks < 2).then_some("the policy runs one task at a time")
}

/// Whether a task of the plan did not start in this run, while the tasks that it depends on succeeded: those that it declares, else
/// the task before it.
/// A member also counts as succeeded once the results of the members became one. If a member could not be routed, no task is ready.
fn has_ready_task(request: &Request, pending: &[Call]) -> bool {
    if request.workflow.is_unroutable {
        return false;
    }
    let tasks = request.plan.as_ref().map_or(&[][..], |plan| plan.plan.tasks());
    let has_started = |task: TaskId| {
        pending.iter().any(|call| call.operation.task() == Some(task))
            || request.outcomes.iter().any(|ended| ended.task == task)
    };
    let is_member = |task: &TaskId| {
        tasks.iter().any(|other| other.id == *task && other.depends_on.as_deref() == Some(&[]))
    };
    let succeeded = |task: &TaskId| {
        request.workflow.is_aggregated == Some(true) && is_member(task)
            || request
                .outcomes
                .iter()
                .any(|ended| ended.task == *task && ended.outcome == TaskOutcome::Succeeded)
    };
    let mut before: Option<TaskId> = None;
    let mut is_ready = false;
    for task in tasks {
        let may_start = match &task.depends_on {
            Some(dependencies) => dependencies.iter().all(succeeded),
            None => before.iter().all(succeeded),
        };
        is_ready |= may_start && !has_started(task.id);
        before = Some(task.id);
    }
    is_ready
}
