//! Claims about transitions: earlier events justify every phase that control enters.

use super::prelude::*;
use crate::history::SinceTransition;

/// Whether a transition into one of the selected phases is justified. Other transitions are.
fn transition_is_justified(
    past: &History,
    event: &Event,
    to: impl Fn(Phase) -> bool,
    reason: impl Fn(Phase, Phase) -> bool,
) -> bool {
    // A request begins in Idle.
    match (event, past.phase.unwrap_or(Phase::Idle)) {
        (Event::Transitioned { row }, from) if to(row.transition().to) && row.transition().to != from => {
            reason(from, row.transition().to)
        }
        _ => true,
    }
}

/// Whether the latest input is the failure of such a call.
fn is_failed_call(news: &SinceTransition, by: impl Fn(Operation) -> bool) -> bool {
    news.failed_call.is_some_and(|(ask, _)| by(ask))
}

/// Whether the approver approved a plan whose facts changed.
fn is_outdated_approval(past: &History) -> bool {
    past.since_transition.replied == Some(Operation::Approve)
        && past.approved
        && past.review == ReviewStatus::Outdated
}

/// Whether the number of repairs reached the policy's bound.
fn repairs_exhausted(policy: &Policy, past: &History) -> bool {
    matches!(policy.bounds.repairs, Bound::AtMost(most) if past.repairs >= most)
}

pub(super) const TURNS: &[Claim] = &[
    Claim {
        id: "C-70",
        clause: "004-1.4",
        statement: "Preparation follows its order: identity, compaction if due, context, classification, \
                    plan. Each step needs the reply of the step before.",
        formula: "□ (transition to s ⇒ the calls before s have replies)",
        check: TraceInvariant(|_, past, event| {
            let prepares = |to| {
                matches!(
                    to,
                    Phase::IdentityVerified
                        | Phase::Compacting
                        | Phase::LoadingContext
                        | Phase::Classifying
                        | Phase::Planning
                ) || to == Phase::Round(Role::Analyst)
            };
            transition_is_justified(past, event, prepares, |from, to| match to {
                Phase::IdentityVerified => {
                    past.since_transition.replied == Some(Operation::VerifyIdentity) && past.verified
                }
                Phase::LoadingContext => matches!(from, Phase::IdentityVerified | Phase::Compacting),
                Phase::Compacting => from == Phase::IdentityVerified,
                Phase::Classifying => past.since_transition.replied == Some(Operation::LoadContext),
                Phase::Planning => past.since_transition.replied == Some(Operation::Classify),
                _ => {
                    past.since_transition.replied == Some(Operation::DraftPlan)
                        && past.since_transition.plan_adopted
                }
            })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Planning),
        ..CLAIM
    },
    Claim {
        id: "C-71",
        clause: "004-1.16",
        statement: "A pass is evaluated, and additional debaters argue, only after every role argued and Security \
                    reviewed the Optimizer's revision, if the policy requires it.",
        formula: "□ (judged(pass) ∨ additional rounds(pass) ⇒ argued(Optimizer, pass)) ∧ □ (review ⇒ a new revision)",
        check: TraceInvariant(|policy, past, event| {
            let argued = Some(Operation::Argue(Role::Optimizer));
            transition_is_justified(
                past,
                event,
                |to| matches!(to, Phase::MultiPassCheck | Phase::AdditionalRounds | Phase::PlanReview),
                |from, to| match (from, to) {
                    (Phase::Round(Role::Optimizer), Phase::MultiPassCheck | Phase::AdditionalRounds) => {
                        past.since_transition.replied == argued
                            && !(policy.rules.cleared_revisions && past.since_transition.plan_adopted)
                    }
                    (Phase::PlanReview, Phase::MultiPassCheck | Phase::AdditionalRounds) => {
                        past.since_transition.replied == Some(Operation::ReviewRevision)
                    }
                    (Phase::AdditionalRounds, Phase::MultiPassCheck) => {
                        matches!(past.since_transition.replied, Some(Operation::ArgueAdditional { .. }))
                    }
                    (_, to) => {
                        to == Phase::PlanReview
                            && past.since_transition.replied == argued
                            && past.since_transition.plan_adopted
                    }
                },
            )
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::MultiPassCheck),
        ..CLAIM
    },
    Claim {
        id: "C-72",
        clause: "004-1.17",
        statement: "A debate ends at the re-debate threshold, at the bound on passes, or with a veto. \
                    Aggregation then scores, rates and decides in this order.",
        formula: "□ (aggregate ⇒ score ≥ redebate_below ∨ pass = bounds.passes ∨ veto) ∧ order of the aggregation engine",
        check: TraceInvariant(|policy, past, event| {
            let engine = |to| {
                matches!(
                    to,
                    Phase::Aggregating
                        | Phase::CalculatingConsensus
                        | Phase::EloDuels
                        | Phase::ResolvingDecision
                )
            };
            transition_is_justified(past, event, engine, |from, to| match to {
                Phase::Aggregating => {
                    from == Phase::MultiPassCheck
                        && ((past.since_transition.consensus_scored && !past.below_redebate_threshold)
                            || past.pass >= policy.bounds.passes
                            || past.vetoed)
                }
                Phase::CalculatingConsensus => from == Phase::Aggregating,
                Phase::EloDuels => {
                    from == Phase::CalculatingConsensus && past.since_transition.consensus_scored
                }
                _ if from == Phase::PlanApproval => is_outdated_approval(past),
                _ => from == Phase::EloDuels && past.since_transition.ratings_updated,
            })
        }),
        premise: Premise::State(|policy, state| {
            state.control().phase() == Phase::MultiPassCheck
                && of_request(state, |request| request.debate.pass == policy.bounds.passes)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-73",
        clause: "004-3.1",
        statement: "A plan is blocked only if it was vetoed or rejected, it was outdated when no pass was \
                    left, an argument is missing, or the approver did not agree.",
        formula: "□ (blocked(r) ⇒ decision ∈ {VETO, REJECT} ∨ decision = OUTDATED ∧ pass = bounds.passes \
                  ∨ an argument is missing ∨ ¬approved)",
        check: TraceInvariant(|policy, past, event| {
            transition_is_justified(
                past,
                event,
                |to| to == Phase::Blocked,
                |_, _| {
                    let judges = |ask: Operation| {
                        matches!(
                            ask,
                            Operation::Argue(_)
                                | Operation::ArgueAdditional { .. }
                                | Operation::ReviewRevision
                                | Operation::Approve
                        )
                    };
                    past.since_transition.decision_label.is_some_and(|label| match label {
                        DecisionLabel::Vetoed | DecisionLabel::Rejected => true,
                        DecisionLabel::Outdated => past.pass >= policy.bounds.passes,
                        DecisionLabel::ConsensusReached | DecisionLabel::ProceedBelowThreshold => false,
                    }) || is_failed_call(&past.since_transition, judges)
                        || (past.since_transition.replied == Some(Operation::Approve) && !past.approved)
                },
            )
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Blocked),
        ..CLAIM
    },
    Claim {
        id: "C-74",
        clause: "004-1.27",
        statement: "A run succeeds if every required task succeeded and the results of its members became one, and \
                    fails otherwise. It is judged only after it ended and was reported.",
        formula: "□ (judge ⇒ no task runs or is ready ∧ reported) ∧ □ (success(r) ⇔ every required task succeeded ∧ aggregated)",
        check: TraceInvariant(|_, past, event| {
            let judged = |to| matches!(to, Phase::AssertingOutcomes | Phase::Success | Phase::Failure);
            let over = || past.pending.is_empty() && past.next_task().is_none();
            transition_is_justified(past, event, judged, |from, to| match to {
                Phase::AssertingOutcomes => {
                    from == Phase::RunningTasks && over() && past.since_transition.execution_reported
                }
                Phase::Success => from == Phase::AssertingOutcomes && past.succeeded,
                _ => from == Phase::AssertingOutcomes && !past.succeeded,
            })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::AssertingOutcomes),
        ..CLAIM
    },
    Claim {
        id: "C-75",
        clause: "004-1.29",
        statement: "A repair starts only after a failed run and within the bound. A repaired plan, and a \
                    running one whose facts changed, is reviewed and scored.",
        formula: "□ (repair ⇒ failed(run) ∧ repairs < bounds.repairs) ∧ □ (review, score, approval ⇒ a repaired or outdated plan)",
        check: TraceInvariant(|policy, past, event| {
            let repairs = |to| {
                matches!(
                    to,
                    Phase::SelfHealingActive
                        | Phase::RepairReview
                        | Phase::RepairScoring
                        | Phase::RepairApproval
                )
            };
            transition_is_justified(past, event, repairs, |from, to| match to {
                Phase::SelfHealingActive => from == Phase::Failure && !repairs_exhausted(policy, past),
                Phase::RepairReview if from == Phase::RunningTasks => {
                    past.since_transition.decision_label == Some(DecisionLabel::Outdated)
                }
                Phase::RepairReview => {
                    past.since_transition.replied == Some(Operation::Diagnose)
                        && past.since_transition.plan_adopted
                }
                Phase::RepairScoring if from == Phase::RepairApproval => is_outdated_approval(past),
                Phase::RepairScoring => {
                    from == Phase::RepairReview
                        && past.since_transition.replied == Some(Operation::ReviewRevision)
                }
                _ => from == Phase::RepairScoring && past.meets_proceed_threshold && policy.rules.approver,
            })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::SelfHealingActive),
        ..CLAIM
    },
    Claim {
        id: "C-76",
        clause: "004-2.7",
        statement: "A run is rolled back only if no repair is left or found, the reviewed plan is not \
                    cleared or outdated again, a task was lost, or the user cancels.",
        formula: "□ (rollback(r) ⇒ repairs spent ∨ no repair ∨ plan not cleared ∨ outdated(plan) ∨ lost(t) ∨ cancelled(r))",
        check: TraceInvariant(|policy, past, event| {
            transition_is_justified(
                past,
                event,
                |to| to == Phase::RollbackActive,
                |from, _| {
                    let news = &past.since_transition;
                    let asked = |ask| match ask {
                        Operation::RunTask { .. } => past.task_lost,
                        ask => matches!(
                            ask,
                            Operation::Diagnose | Operation::ReviewRevision | Operation::Approve
                        ),
                    };
                    news.cancelled
                        || is_failed_call(news, asked)
                        || match from {
                            Phase::RunningTasks => past.task_lost,
                            Phase::Failure => repairs_exhausted(policy, past),
                            Phase::SelfHealingActive => {
                                news.replied == Some(Operation::Diagnose) && !news.plan_adopted
                            }
                            Phase::RepairScoring => {
                                past.vetoed
                                    || !past.meets_proceed_threshold
                                    || news.decision_label == Some(DecisionLabel::Outdated)
                            }
                            Phase::RepairApproval => {
                                news.replied == Some(Operation::Approve) && !past.approved
                            }
                            _ => false,
                        }
                },
            )
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RollbackActive),
        ..CLAIM
    },
    Claim {
        id: "C-77",
        clause: "004-1.34",
        statement: "A request is stored only if it succeeded, was blocked, rolled back or cancelled, or \
                    its preparation failed.",
        formula: "□ (store(r) ⇒ success ∨ blocked ∨ rolled back ∨ cancelled ∨ a failed call in preparation)",
        check: TraceInvariant(|_, past, event| {
            transition_is_justified(
                past,
                event,
                |to| to == Phase::StoringMemory,
                |from, _| {
                    let prepares = |ask| {
                        matches!(ask, Operation::LoadContext | Operation::Classify | Operation::DraftPlan)
                    };
                    matches!(from, Phase::Success | Phase::Blocked | Phase::RollbackActive)
                        || past.since_transition.cancelled
                        || is_failed_call(&past.since_transition, prepares)
                },
            )
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::StoringMemory),
        ..CLAIM
    },
    Claim {
        id: "C-78",
        clause: "004-1.35",
        statement: "A verified request is audited after each store replied or failed. An unverified \
                    request is audited when it is refused.",
        formula: "□ (audit(r) ⇒ both stores called ∨ ¬verified(r))",
        check: TraceInvariant(|_, past, event| {
            transition_is_justified(
                past,
                event,
                |to| to == Phase::Auditing,
                |from, _| match from {
                    Phase::StoringMemory => past.stores_called == (true, true),
                    from => from == Phase::VerifyingIdentity && !past.verified,
                },
            )
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Auditing),
        ..CLAIM
    },
    Claim {
        id: "C-79",
        clause: "004-1.36",
        statement: "A request ends only when its audit record was delivered or may not be delivered again. \
                    As drawn, it also ends where it halts.",
        formula: "□ (ended(r) ⇒ delivered(audit(r)) ∨ deliveries = bounds.audit_attempts ∨ halted)",
        check: TraceInvariant(|policy, past, event| {
            !ends_request(past, event)
                || match past.phase {
                    Some(Phase::Auditing) => {
                        past.since_transition.replied == Some(Operation::DeliverAudit)
                            || (past.audit_failed && past.audit_attempts >= policy.bounds.audit_attempts)
                    }
                    from => from == Some(Phase::VerifyingIdentity) && !policy.rules.audited_abort,
                }
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Auditing),
        ..CLAIM
    },
    Claim {
        id: "C-80",
        clause: "004-1.36",
        statement: "The cause of a conclusion agrees with the events, and the audit record has the same \
                    conclusion.",
        formula: "□ (concluded(r) = c ⇒ c happened) ∧ □ (audit(r).cause = concluded(r))",
        check: TraceInvariant(|policy, past, event| match event {
            Event::Concluded { conclusion: ending } => cause_matches_history(policy, past, ending.cause),
            Event::AuditRecorded { record } => past.conclusion == Some(record.conclusion),
            Event::MemoryRecorded { .. } => past.conclusion.is_some(),
            _ => true,
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.conclusion.is_some())),
        ..CLAIM
    },
    Claim {
        id: "C-81",
        clause: "004-1.24",
        statement: "Tasks start in the order of the plan, those with a higher priority first. Each starts once in a \
                    run, after the tasks that it depends on succeeded, with the effect that it declares. A failed \
                    validation and a failed attempt repeat tasks.",
        formula: "□ (run(t) ⇒ t is the first task of the highest priority that did not start ∧ every dependency of t succeeded, or an \
                  attempt of t failed)",
        check: TraceInvariant(|_, past, event| match event {
            Event::ToolCall { operation, .. } if past.since_transition.failed_attempt.is_some() => {
                past.since_transition.failed_attempt == Some(*operation)
            }
            Event::ToolCall { operation: Operation::RunTask { task, effect }, .. } => {
                past.next_task().is_some_and(|next| next.task == *task && next.effect == *effect)
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::RunningTasks
                && of_request(state, |request| !request.outcomes.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-82",
        clause: "000-4.4",
        statement: "The user can cancel while a request runs. A cancel does not interrupt a rollback, a \
                    store or an audit.",
        formula: "□ (running(r) ⇒ decide(o, cancel) is no refusal, and cancels unless r is undone, stored or audited)",
        check: ResponseInvariant(|_, decide, state| {
            let phase = state.control().phase();
            let too_late = matches!(phase, Phase::RollbackActive | Phase::StoringMemory | Phase::Auditing);
            state.control().request().is_none()
                || decide(state, &Input::Cancel)
                    .is_ok_and(|events| events.contains(&Event::Cancelled) != too_late)
        }),
        premise: Premise::State(running),
        not_applicable: |policy| (!policy.rules.cancel).then_some("the policy has no cancel"),
        ..CLAIM
    },
    Claim {
        id: "C-83",
        clause: "000-1.3",
        statement: "In Idle, a session can start if none is open, and can end otherwise.",
        formula: "□ (Idle ⇒ (session ⇒ end accepted) ∧ (¬session ⇒ start accepted))",
        check: AcceptanceInvariant(|_, accepts, state| {
            let input = match state.control().session() {
                Some(_) => Input::SessionEnd,
                None => Input::session_start(orchestrion_kernel::ids::UserId::new("u")),
            };
            state.control().phase() != Phase::Idle || accepts(state, &input)
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Idle && state.control().session().is_some()
        }),
        ..CLAIM
    },
];

/// Whether the cause of a conclusion agrees with the latest events.
fn cause_matches_history(policy: &Policy, past: &History, cause: Cause) -> bool {
    let news = &past.since_transition;
    match cause {
        Cause::Completed => past.succeeded,
        Cause::IdentityMismatch => news.replied == Some(Operation::VerifyIdentity) && !past.verified,
        Cause::CallFailed(module, failure) => {
            let lost = (Module::Executor, Failure::OutcomeUnknown);
            match news.failed_call {
                _ if past.task_lost => (module, failure) == lost,
                failed => failed.is_some_and(|(ask, how)| ask.module() == module && how == failure),
            }
        }
        Cause::Vetoed => news.decision_label == Some(DecisionLabel::Vetoed),
        Cause::Rejected => news.decision_label == Some(DecisionLabel::Rejected),
        Cause::NoRepair => news.replied == Some(Operation::Diagnose) && !news.plan_adopted,
        Cause::RepairsExhausted => repairs_exhausted(policy, past),
        Cause::PlanNotCleared => {
            past.phase == Some(Phase::RepairScoring) && (past.vetoed || !past.meets_proceed_threshold)
        }
        Cause::PlanOutdated => news.decision_label == Some(DecisionLabel::Outdated),
        Cause::NotApproved => news.replied == Some(Operation::Approve) && !past.approved,
        Cause::Cancelled => news.cancelled,
    }
}
