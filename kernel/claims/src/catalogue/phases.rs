//! Claims about phases: what the events before have established while control is in a phase. With them the claims about transitions
//! are inductive (decision 0048).

use super::phase_tables::{DebatePart, awaits, debate_part, pending_calls};
use super::prelude::*;
use ClaimCheck::HistoryConsistency;
use orchestrion_kernel::event::{StoreStatus, StoreStatuses};
use orchestrion_kernel::module::Stance;

/// Nothing is stored.
const NOTHING_STORED: StoreStatuses =
    StoreStatuses { local: StoreStatus::Missing, cloud: StoreStatus::Missing };

pub(super) const PHASES: &[Claim] = &[
    Claim {
        id: "C-213",
        clause: "004-2.9",
        statement: "A request is prepared, debated, run and stored only while both identity locks match. Before the identity \
                    guard replied, they do not.",
        formula: "□ (phase(r) ∉ {VerifyingIdentity, Auditing} ⇒ verified(r)) ∧ □ (VerifyingIdentity ⇒ ¬verified(r))",
        check: HistoryConsistency(|_, past, _| match past.phase {
            None | Some(Phase::Auditing | Phase::Idle | Phase::Done | Phase::Aborted) => true,
            Some(Phase::VerifyingIdentity) => !past.verified,
            Some(_) => past.verified,
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.verified)),
        ..CLAIM
    },
    Claim {
        id: "C-214",
        clause: "004-1.1",
        statement: "A phase waits for the reply that its clause names, and for no other: for one call, for tasks while a plan \
                    runs, for a compensation or none during a rollback, and for no call where the kernel takes a step.",
        formula: "□ (pending(r) = calls of phase(r))",
        check: HistoryConsistency(|_, past, _| {
            let (pending, Some(phase)) = (past.pending.as_slice(), past.phase) else { return true };
            pending_calls(phase).contains(&pending.len())
                && pending.iter().all(|(_, operation)| awaits(phase, *operation))
        }),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-215",
        clause: "004-2.11",
        statement: "No round precedes the plan. The role that argues is that of the round that control entered last, in one of the \
                    passes that the policy allows. A pass is reviewed and judged after the Optimizer's round. Additional \
                    debaters argue in the policy's order after the review, and all of them before the pass is judged.",
        formula: "□ (before the debate: no round) ∧ □ (Round(k) ⇒ round(r) = k) ∧ □ (review ∨ judged ⇒ round(r) = Optimizer) \
                  ∧ □ (1 ≤ pass ≤ bounds.passes) ∧ □ (Round(k) ∨ review ⇒ no d argued) ∧ □ (judged ⇒ every d argued)",
        check: HistoryConsistency(|policy, past, _| {
            let is_counted = (1..=policy.bounds.passes).contains(&past.pass);
            let (argued, debaters) = (past.additional.len(), policy.additional_debaters.len());
            let follows_optimizer = past.round == Some(Role::Optimizer) && is_counted;
            let is_next = || {
                let debater = u32::try_from(argued).unwrap_or(u32::MAX);
                let asked =
                    |(_, operation): &(_, Operation)| *operation == Operation::ArgueAdditional { debater };
                argued < debaters && past.pending.iter().all(asked)
            };
            let Some(phase) = past.phase else { return true };
            match debate_part(phase) {
                DebatePart::Before => past.round.is_none() && past.pass == 0,
                DebatePart::Round(role) => past.round == Some(role) && is_counted && argued == 0,
                DebatePart::Review => follows_optimizer && argued == 0,
                DebatePart::Additional => follows_optimizer && is_next(),
                DebatePart::Judged => follows_optimizer && argued == debaters,
                DebatePart::Outside => true,
            }
        }),
        premise: Premise::State(|_, state| debate_part(state.control().phase()).follows_rounds()),
        ..CLAIM
    },
    Claim {
        id: "C-216",
        clause: "004-1.15",
        statement: "From the Optimizer's round on, Security's argument of the pass is about the current revision, unless the \
                    Optimizer's revision is under review. An aggregated pass has a consensus on it that follows this argument.",
        formula: "□ (judged(pass) ⇒ Security argued on rev) ∧ □ (aggregated(pass) ⇒ scored(rev) after review(rev))",
        check: HistoryConsistency(|_, past, _| {
            let is_scored = past.revision_cleared == Some(past.meets_proceed_threshold)
                && matches!(past.review, ReviewStatus::Scored | ReviewStatus::Outdated);
            let needs_score = matches!(
                past.phase,
                Some(
                    Phase::Aggregating
                        | Phase::CalculatingConsensus
                        | Phase::EloDuels
                        | Phase::ResolvingDecision
                )
            );
            let needs_argument = matches!(
                past.phase,
                Some(
                    Phase::Round(Role::Optimizer)
                        | Phase::AdditionalRounds
                        | Phase::MultiPassCheck
                        | Phase::RepairScoring
                )
            );
            (!needs_score || is_scored) && (past.security.is_some() || !needs_score && !needs_argument)
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Aggregating),
        not_applicable: |policy| {
            (!policy.rules.cleared_revisions).then_some("the policy does not review the Optimizer's revision")
        },
        ..CLAIM
    },
    Claim {
        id: "C-217",
        clause: "004-3.3",
        statement: "While a plan runs, it is cleared: Security argued on it and never vetoed, its consensus is at or above the \
                    proceed threshold and follows this argument, and the latest decision lets it run and names the objection. \
                    The same holds, but for the approval, while the approver is asked, if the policy has one.",
        formula: "□ (RunningTasks ⇒ reviewed(rev) ∧ ¬vetoed(r) ∧ score(rev) ≥ proceed_from ∧ decision(rev) = PROCEED ∧ approved(rev))",
        check: HistoryConsistency(|policy, past, _| {
            let asks = matches!(past.phase, Some(Phase::PlanApproval | Phase::RepairApproval));
            let runs = past.phase == Some(Phase::RunningTasks);
            (!asks && !runs || is_cleared(past))
                && (!asks || policy.rules.approver)
                && (!runs || past.approved || !policy.rules.approver)
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks),
        not_applicable: |policy| {
            let rules = &policy.rules;
            let is_strict =
                rules.cleared_revisions && rules.sticky_veto && rules.current_facts && rules.named_objections;
            (!is_strict).then_some("the policy lets a plan run that is not cleared")
        },
        ..CLAIM
    },
    Claim {
        id: "C-218",
        clause: "004-1.22",
        statement: "Each objection of Security to a plan that ran is named by a decision of the request.",
        formula: "□ (ran(rev) ∧ Security CON on rev ⇒ some decision(r) names it)",
        check: HistoryConsistency(|_, past, _| {
            let is_named =
                |objection| past.decisions.iter().any(|decision| decision.objection == Some(objection));
            past.overridden_objections.iter().all(|objection| is_named(*objection))
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::RunningTasks
                && of_request(state, |request| {
                    request.debate.latest.security.is_some_and(|argument| argument.stance == Stance::Con)
                })
        }),
        not_applicable: |policy| {
            let is_named = policy.rules.named_objections && policy.rules.cleared_revisions;
            (!is_named).then_some("decisions of the policy name no objection")
        },
        ..CLAIM
    },
    Claim {
        id: "C-219",
        clause: "000-4.4",
        statement: "A cancelled request is only undone, stored and audited.",
        formula: "□ (cancelled(r) ⇒ phase(r) ∈ {RollbackActive, StoringMemory, Auditing})",
        check: HistoryConsistency(|_, past, _| {
            !past.cancelled
                || matches!(past.phase, Some(Phase::RollbackActive | Phase::StoringMemory | Phase::Auditing))
        }),
        premise: Premise::State(was_cancelled),
        not_applicable: |policy| (!policy.rules.cancel).then_some("the policy has no cancel"),
        ..CLAIM
    },
    Claim {
        id: "C-220",
        clause: "decision 0015",
        statement: "After a crash lost a task, its run only waits for the tasks beside it. Then the request is undone, stored and \
                    audited.",
        formula: "□ (lost(t) ⇒ RunningTasks ∧ outcome(t) = unknown ∨ phase(r) ∈ {RollbackActive, StoringMemory, Auditing})",
        check: HistoryConsistency(|_, past, _| {
            let lost = TaskOutcome::NoResult(Failure::OutcomeUnknown);
            !past.task_lost
                || match past.phase {
                    Some(Phase::RunningTasks) => past.outcomes.iter().any(|ended| ended.outcome == lost),
                    phase => matches!(
                        phase,
                        Some(
                            Phase::RollbackActive
                                | Phase::RollbackComplete
                                | Phase::StoringMemory
                                | Phase::Auditing
                        )
                    ),
                }
        }),
        premise: Premise::State(has_lost_task),
        not_applicable: |policy| {
            (!policy.rules.error_rows).then_some("the policy has no transitions for failed calls")
        },
        ..CLAIM
    },
    Claim {
        id: "C-221",
        clause: "004-2.15",
        statement: "During a rollback the pending compensation is that of the latest effect that can still be undone. Without a \
                    pending one, no such effect is left.",
        formula: "□ (RollbackActive ⇒ pending(undo(t)) ⇔ t is the latest start that stands)",
        check: HistoryConsistency(|_, past, _| {
            let undone = past.pending.first().and_then(|(_, operation)| match operation {
                Operation::UndoTask { task } => Some(task),
                _ => None,
            });
            past.phase != Some(Phase::RollbackActive) || undone == past.undoable.last()
        }),
        premise: Premise::State(|_, state| {
            let undoes = |call: &Call| matches!(call.operation, Operation::UndoTask { .. });
            state.control().pending_calls().iter().any(undoes)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-222",
        clause: "004-1.34",
        statement: "A request has a conclusion from the phase on in which it succeeded, was blocked, is undone or stored, or is \
                    refused, and none before. Its kind agrees with the events.",
        formula: "□ (phase(r) ∈ {Success, Blocked, RollbackActive, StoringMemory, Auditing} ⇔ concluded(r)) ∧ □ (kind(r) = what happened to r)",
        check: HistoryConsistency(|_, past, _| {
            let is_concluding = matches!(
                past.phase,
                Some(
                    Phase::Success
                        | Phase::Blocked
                        | Phase::RollbackActive
                        | Phase::RollbackComplete
                        | Phase::StoringMemory
                        | Phase::Auditing
                )
            );
            let runs =
                matches!(past.phase, Some(Phase::RunningTasks | Phase::AssertingOutcomes | Phase::Failure));
            match past.conclusion {
                _ if past.phase.is_none() => true,
                Some(conclusion) => is_concluding && conclusion.kind == past.kind(),
                None => !is_concluding && !past.blocked && !past.rolled_back && (runs || !past.succeeded),
            }
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.conclusion.is_some())),
        ..CLAIM
    },
    Claim {
        id: "C-223",
        clause: "004-2.16",
        statement: "No record precedes the end of a request. While the stores are called, one memory record is written, the local \
                    store is called before the cloud store, and no audit record is written. While the audit record is delivered, it is the \
                    only one, both stores were called if the request is verified, and the delivery is one of those allowed.",
        formula: "□ (before the end: no record) ∧ □ (StoringMemory ⇒ 1 memory record ∧ local before cloud) ∧ □ (Auditing ⇒ 1 audit record)",
        check: HistoryConsistency(|policy, past, _| {
            let is_called = |store: Store| {
                past.pending.iter().all(|(_, operation)| {
                    matches!(operation, Operation::StoreMemory { store: called, .. } if *called == store)
                })
            };
            let is_unanswered = past.final_answers == 0 && !past.undelivered;
            is_unanswered
                && match past.phase {
                    None | Some(Phase::Idle | Phase::Done | Phase::Aborted) => true,
                    Some(Phase::StoringMemory) => {
                        past.memory_records == 1
                            && past.audit_records == 0
                            && past.audit_attempts == 0
                            && match past.stores_called {
                                (true, false) => is_called(Store::Local),
                                (true, true) => is_called(Store::Cloud),
                                (false, _) => false,
                            }
                    }
                    Some(Phase::Auditing) => {
                        let records = u8::from(past.verified);
                        past.audit_records == 1
                            && (1..=policy.bounds.audit_attempts).contains(&past.audit_attempts)
                            && past.memory_records == records
                            && past.stores_called == (past.verified, past.verified)
                    }
                    Some(_) => {
                        past.memory_records == 0
                            && past.audit_records == 0
                            && past.audit_attempts == 0
                            && past.stores_called == (false, false)
                            && past.store_statuses == NOTHING_STORED
                    }
                }
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::StoringMemory),
        ..CLAIM
    },
    Claim {
        id: "C-224",
        clause: "004-1.24",
        statement: "A task that runs is one of the plan, runs once, and has not ended in this run.",
        formula: "□ (pending(run(t)) ⇒ t ∈ plan(r) ∧ t has no outcome ∧ no other call runs t)",
        check: HistoryConsistency(|_, past, _| {
            let running = past.pending.iter().filter_map(|(call, operation)| match operation {
                Operation::RunTask { task, .. } => Some((call, *task)),
                _ => None,
            });
            running.clone().all(|(call, task)| {
                past.tasks_planned.iter().any(|planned| planned.task == task)
                    && past.outcomes.iter().all(|ended| ended.task != task)
                    && running.clone().all(|(other, twin)| other == call || twin != task)
            })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks),
        ..CLAIM
    },
    Claim {
        id: "C-225",
        clause: "004-2.3",
        statement: "A plan exists from the debate on until the request is undone, blocked or stored. While it is debated, reviewed \
                    or approved, a task of it can start.",
        formula: "□ (phase(r) in the debate, the aggregation or the execution ⇒ plan(r)) ∧ □ (debated ∨ reviewed ∨ approved ⇒ some t is ready)",
        check: HistoryConsistency(|_, past, _| {
            let is_planned = !past.tasks_planned.is_empty();
            match past.phase {
                Some(
                    Phase::RunningTasks
                    | Phase::AssertingOutcomes
                    | Phase::Failure
                    | Phase::SelfHealingActive,
                ) => is_planned,
                Some(
                    Phase::PlanApproval
                    | Phase::RepairReview
                    | Phase::RepairScoring
                    | Phase::RepairApproval
                    | Phase::Round(_),
                ) => past.next_task().is_some(),
                phase => {
                    let follows_rounds = phase.map(debate_part).is_some_and(DebatePart::follows_rounds);
                    !follows_rounds || past.next_task().is_some()
                }
            }
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.plan.is_some())),
        ..CLAIM
    },
];

/// Whether the plan may run, but for the approval.
fn is_cleared(past: &History) -> bool {
    past.security.is_some()
        && !past.vetoed
        && past.revision_cleared == Some(true)
        && past.meets_proceed_threshold
        && matches!(past.review, ReviewStatus::Scored | ReviewStatus::Outdated)
        && past.revision_proceeds
        && past.decision().is_some_and(|decision| decision.objection == past.objection())
}
