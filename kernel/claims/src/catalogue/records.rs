//! Claims about reports and records: they agree with the events of the request.

use super::prelude::*;
use crate::reference::debate::{expected_ratings, is_consensus, objects};
use alloc::vec::Vec;
use orchestrion_kernel::ids::TraceId;

pub(super) const RECORDS: &[Claim] = &[
    Claim {
        id: "C-40",
        clause: "004-1.25",
        statement: "An execution report states the outcome of each task of the plan. A task that did not \
                    run depends on one that did not succeed, has no node in its ensemble, or follows a member that \
                    cannot be routed.",
        formula: "□ (report(t) = reply(t)) ∧ □ (NotRun(t) ⇒ some dependency of t did not succeed ∨ left out(t) ∨ unroutable)",
        check: TraceInvariant(|_, past, event| match event {
            Event::ExecutionReported { tasks, .. } => {
                let ran = tasks.iter().filter(|task| task.outcome != TaskOutcome::NotRun);
                let mut ran: Vec<_> = ran.copied().collect();
                ran.sort_unstable_by_key(|task| task.task);
                tasks.iter().map(|task| task.task).eq(past.tasks_planned.iter().map(|planned| planned.task))
                    && past.outcomes.iter().filter(|ended| ended.outcome != TaskOutcome::NotRun).eq(&ran)
                    && tasks.iter().zip(&past.tasks_planned).all(|(task, planned)| {
                        task.outcome != TaskOutcome::NotRun
                            || past.is_left_out(task.task)
                            || past.workflow.unroutable.is_some()
                            || planned.depends_on.iter().any(|task| !past.is_satisfied(*task))
                    })
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Failure),
        ..CLAIM
    },
    Claim {
        id: "C-41",
        clause: "004-1.20",
        statement: "The consensus is computed from the latest arguments and the ratings that memory \
                    returned.",
        formula: "□ (scored(r) = consensus(latest arguments, ratings))",
        check: TraceInvariant(|policy, past, event| match event {
            Event::ConsensusScored { score, .. } => {
                is_consensus(*score, policy, &past.ratings, &past.latest, &past.additional)
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.debate.scored.is_some())),
        ..CLAIM
    },
    Claim {
        id: "C-42",
        clause: "004-3.2",
        statement: "A plan is rejected only below the proceed threshold.",
        formula: "□ (decision(r) = REJECT ⇒ score(r) < proceed_from)",
        check: TraceInvariant(|policy, _, event| match event {
            Event::Decided { decision } if decision.label == DecisionLabel::Rejected => {
                decision.score < policy.thresholds.proceed_from
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| decided(state, |label| label == DecisionLabel::Rejected)),
        ..CLAIM
    },
    Claim {
        id: "C-43",
        clause: "004-3.5",
        statement: "A score, a veto, a decision and a report refer to the current revision of the plan.",
        formula: "□ (scored(rev) ∨ vetoed(rev) ∨ decided(rev) ∨ reported(rev) ⇒ rev is the plan)",
        check: StepInvariant(|_, before, events, _| {
            let plan = before.control().request().and_then(|request| request.plan.as_ref());
            let standing = plan.map(|plan| plan.revision);
            events.iter().all(|event| match event {
                Event::ConsensusScored { revision, .. }
                | Event::VetoRaised { revision }
                | Event::ExecutionReported { revision, .. } => Some(*revision) == standing,
                Event::Decided { decision } => Some(decision.revision) == standing,
                _ => true,
            })
        }),
        premise: Premise::State(|_, state| revised(state)),
        ..CLAIM
    },
    Claim {
        id: "C-44",
        clause: "004-1.35",
        statement: "The conclusion, the memory record and the audit record agree with the events: outcome, \
                    blocked, rolled back or aborted.",
        formula: "□ (kind(r) = what happened to r)",
        check: TraceInvariant(|_, past, event| match event {
            Event::MemoryRecorded { record } => record.kind == past.kind(),
            Event::ToolCall { operation: Operation::StoreMemory { kind, .. }, .. } => *kind == past.kind(),
            Event::AuditRecorded { record } => record.conclusion.kind == past.kind(),
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Auditing
                && of_request(state, |request| {
                    request.conclusion.is_some_and(|ending| ending.kind == ConclusionKind::Blocked)
                })
        }),
        not_applicable: |policy| {
            (!policy.rules.typed_kinds).then_some("the policy stores every conclusion kind alike")
        },
        ..CLAIM
    },
    Claim {
        id: "C-45",
        clause: "004-1.36",
        statement: "The records and the final answer name their request and its user.",
        formula: "□ (memory record ∨ audit record ∨ final answer ⇒ trace id of r ∧ user of r)",
        check: StepInvariant(|_, before, events, _| {
            let control = before.control();
            let trace = control
                .request()
                .map(|request| TraceId { conversation: control.conversation().clone(), request: request.id });
            events.iter().all(|event| match event {
                Event::MemoryRecorded { record } => Some(&record.trace) == trace.as_ref(),
                Event::AuditRecorded { record } => {
                    Some(&record.trace) == trace.as_ref() && Some(&record.user) == control.session()
                }
                Event::FinalAnswer { trace: named, .. } => Some(named) == trace.as_ref(),
                _ => true,
            })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Auditing),
        ..CLAIM
    },
    Claim {
        id: "C-46",
        clause: "004-1.35",
        statement: "The audit record lists every decision.",
        formula: "□ (decision(r) = d ⇒ audit(r) lists d)",
        check: TraceInvariant(|_, past, event| match event {
            Event::AuditRecorded { record } => {
                let alike = |(recorded, heard): (&Decision, &Decision)| {
                    Decision { revision: heard.revision, ..*recorded } == *heard
                };
                record.decisions.len() == past.decisions.len()
                    && record.decisions.iter().zip(&past.decisions).all(alike)
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| of_request(state, |request| !request.decisions.is_empty())),
        ..CLAIM
    },
    Claim {
        id: "C-47",
        clause: "004-1.35",
        statement: "Audit deliveries never exceed their bound. A final answer after a failed delivery says \
                    so.",
        formula: "□ (deliveries(r) ≤ bounds.audit_attempts) ∧ □ (final_answer(r) ∧ last delivery failed ⇒ AuditUndelivered)",
        check: TraceInvariant(|policy, past, event| match event {
            Event::ToolCall { operation: Operation::DeliverAudit, .. } => {
                past.audit_attempts < policy.bounds.audit_attempts
            }
            Event::FinalAnswer { .. } => past.audit_failed == past.undelivered,
            _ => true,
        }),
        premise: Premise::State(|policy, state| {
            of_request(state, |request| request.audit_attempts == policy.bounds.audit_attempts)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-48",
        clause: "004-1.21",
        statement: "The stored ratings are those that memory returned, updated by the duels over the \
                    arguments.",
        formula: "□ (rated(r) = elo(ratings, latest arguments)) ∧ □ (stored ratings = rated(r) if anything was decided)",
        check: TraceInvariant(|policy, past, event| match event {
            Event::RatingsUpdated { ratings } => {
                let vetoed = if policy.rules.sticky_veto {
                    past.vetoed
                } else {
                    past.latest.security.is_some_and(|a| objects(&a, policy.thresholds.veto_from))
                };
                let proceeds = past.meets_proceed_threshold && !vetoed;
                *ratings == expected_ratings(policy, &past.ratings, &past.latest, proceeds)
            }
            Event::MemoryRecorded { record } => {
                record.ratings == past.ratings_after.filter(|_| !past.decisions.is_empty())
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.ratings_after.is_some())),
        ..CLAIM
    },
    Claim {
        id: "C-49",
        clause: "004-2.8",
        statement: "Both stores receive the same memory record, which was written before.",
        formula: "□ (remember(store, r) ⇒ exactly one earlier memorized(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::MemoryRecorded { .. } => past.memory_records == 0,
            Event::ToolCall { operation: Operation::StoreMemory { .. }, .. } => past.memory_records == 1,
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::StoringMemory),
        ..CLAIM
    },
];
