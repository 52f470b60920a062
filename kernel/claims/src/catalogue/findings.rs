//! Claims about the findings F1 to F16 and F18 of the design. `as-drawn` violates each of them.

use super::prelude::*;
use crate::reference::debate::objects;
use crate::reference::table::has_successor;
use orchestrion_kernel::score::Score;

pub(super) const FINDINGS: &[Claim] = &[
    Claim {
        id: "C-01",
        clause: "004-1.36",
        statement: "Every request that ends has exactly one earlier audit record.",
        formula: "□ (ended(r) ⇒ exactly one earlier audit(r))",
        finding: Some("F1"),
        check: TraceInvariant(|_, past, event| !ends_request(past, event) || past.audit_records == 1),
        premise: Premise::State(has_ended),
        ..CLAIM
    },
    Claim {
        id: "C-02",
        clause: "004-1.32",
        statement: "A rollback that ends is stored as rolled back and audited. RollbackActive is no dead \
                    end.",
        formula: "□ (rollback ends ⇒ stored(r) = rolled back ∧ audit(r)) ∧ no dead end in RollbackActive",
        finding: Some("F2"),
        check: TraceInvariant(|policy, past, event| match event {
            _ if !past.rolled_back => true,
            Event::Transitioned { row } if !has_successor(policy, row.transition().to) => false,
            Event::ToolCall { operation: Operation::StoreMemory { kind, .. }, .. } => {
                *kind == ConclusionKind::RolledBack
            }
            event => {
                !ends_request(past, event) || (past.audit_records == 1 && past.stores_called == (true, true))
            }
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RollbackActive),
        ..CLAIM
    },
    Claim {
        id: "C-03",
        clause: "004-1.29",
        statement: "If every call gets a reply or times out, every request that starts ends.",
        formula: "fair ⇒ □ (started(r) ⇒ ◇ ended(r))",
        finding: Some("F3"),
        finding_row: Some("T26"),
        check: LeadsTo {
            from: |_, past, _| past.running,
            to: |_, _, state| is_quiescent(state.control().phase()),
            under: FAIR,
        },
        premise: Premise::State(running),
        ..CLAIM
    },
    Claim {
        id: "C-04",
        clause: "004-1.32",
        statement: "If every call gets a reply or times out, every request that starts is audited or \
                    aborted.",
        formula: "fair ⇒ □ (started(r) ⇒ ◇ (audit(r) ∨ aborted(r)))",
        finding: Some("F4"),
        finding_row: Some("T26"),
        check: LeadsTo {
            from: |_, past, _| past.running,
            to: |_, past, state| past.audit_records > 0 || state.control().phase() == Phase::Aborted,
            under: FAIR,
        },
        premise: Premise::State(running),
        ..CLAIM
    },
    Claim {
        id: "C-05",
        clause: "004-1.32",
        statement: "If every call gets a reply or times out, an audit record lists every task that ran.",
        formula: "fair ⇒ □ (ran(t, r) ⇒ ◇ (audit(r) lists t))",
        finding: Some("F5"),
        finding_row: Some("T26"),
        check: LeadsTo {
            from: |_, past, _| !past.task_records.is_empty() && past.audit_records == 0,
            to: |_, past, _| past.audit_records > 0,
            under: FAIR,
        },
        premise: Premise::State(|_, state| of_request(state, |request| !request.ledger.is_empty())),
        ..CLAIM
    },
    Claim {
        id: "C-06",
        clause: "004-3.1",
        statement: "A plan that is vetoed in any pass never runs.",
        formula: "□ (vetoed(r) ⇒ □ ¬run(r))",
        finding: Some("F6"),
        check: TraceInvariant(|_, past, event| !(starts_task(event) && past.vetoed)),
        premise: Premise::State(|_, state| of_request(state, |request| request.debate.vetoed)),
        ..CLAIM
    },
    Claim {
        id: "C-07",
        clause: "004-1.22",
        statement: "If a plan runs despite Security's objection, the decision and the audit record name \
                    the objection.",
        formula: "□ (run(r, rev) ∧ Security CON on rev ⇒ decision(r) and audit(r) name it)",
        finding: Some("F7"),
        check: TraceInvariant(|_, past, event| match event {
            event if starts_task(event) => match past.objection() {
                Some(objection) => past.decision().is_some_and(|d| d.objection == Some(objection)),
                None => true,
            },
            Event::AuditRecorded { record } => past
                .overridden_objections
                .iter()
                .all(|over| record.decisions.iter().any(|d| d.objection == Some(*over))),
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::RunningTasks
                && of_request(state, |request| {
                    request.debate.latest.security.is_some_and(|a| objects(&a, Score::ZERO))
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-08",
        clause: "004-1.22",
        statement: "The label ConsensusReached requires a score at or above the re-debate threshold.",
        formula: "□ (label(r) = ConsensusReached ⇒ score(r) ≥ redebate_below)",
        finding: Some("F8"),
        check: TraceInvariant(|policy, _, event| match event {
            Event::Decided { decision } if decision.label == DecisionLabel::ConsensusReached => {
                decision.score >= policy.thresholds.redebate_below
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| decided(state, |label| label == DecisionLabel::ConsensusReached)),
        ..CLAIM
    },
    Claim {
        id: "C-09",
        clause: "004-1.15",
        statement: "Security's latest report is about the running revision, and is no veto.",
        formula: "□ (running(rev) ⇒ Security's latest report is on rev ∧ no veto)",
        finding: Some("F9"),
        check: TraceInvariant(|policy, past, event| {
            !starts_task(event)
                || past.security.is_some_and(|report| !objects(&report, policy.thresholds.veto_from))
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks && revised(state)),
        ..CLAIM
    },
    Claim {
        id: "C-10",
        clause: "004-1.30",
        statement: "The running revision has a consensus score at or above the proceed threshold.",
        formula: "□ (running(rev) ⇒ score(rev) ≥ proceed_from)",
        finding: Some("F10"),
        check: TraceInvariant(|_, past, event| !starts_task(event) || past.revision_cleared == Some(true)),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks && revised(state)),
        ..CLAIM
    },
    Claim {
        id: "C-11",
        clause: "004-1.16",
        statement: "After a veto, no further pass starts.",
        formula: "□ (vetoed(r) ⇒ no further pass)",
        finding: Some("F11"),
        check: TraceInvariant(|_, past, event| !(past.vetoed && starts_another_pass(past, event))),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::MultiPassCheck
                && of_request(state, |request| request.debate.vetoed)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-12",
        clause: "004-2.16",
        statement: "The audit record states the status of each store correctly.",
        formula: "□ (ended(r) ⇒ for each store: holds(store, r) = audit(r).stores(store))",
        finding: Some("F12"),
        check: TraceInvariant(|_, past, event| match event {
            Event::AuditRecorded { record } => record.stores == past.store_statuses,
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            use orchestrion_kernel::event::StoreStatus;
            state.control().phase() == Phase::Auditing
                && of_request(state, |request| request.store_statuses.local != request.store_statuses.cloud)
                && of_request(state, |request| request.store_statuses.local != StoreStatus::Held)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-13",
        clause: "004-1.34",
        statement: "Only a request that succeeded is stored as an outcome.",
        formula: "□ (stored(r) = outcome ⇒ success(r))",
        finding: Some("F13"),
        check: TraceInvariant(|_, past, event| match event {
            Event::ToolCall {
                operation: Operation::StoreMemory { kind: ConclusionKind::Outcome, .. },
                ..
            } => past.kind() == ConclusionKind::Outcome,
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::StoringMemory
                && of_request(state, |request| {
                    request.conclusion.is_some_and(|e| e.kind != ConclusionKind::Outcome)
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-14",
        clause: "004-1.1",
        statement: "Every pending call has a transition for each failure. Only Idle has no successor \
                    without user input.",
        formula: "□ (pending(call) ⇒ every failure has a row) ∧ no dead end but Idle",
        finding: Some("F14"),
        check: AcceptanceInvariant(|_, accepts, state| {
            let taken = |input: Input| accepts(state, &input);
            let may_fail = |call: &Call| {
                let mut failures = Failure::ALL.into_iter();
                failures.all(|failure| taken(Input::CallFailed { call: call.id, failure }))
            };
            match state.control().pending_calls() {
                [] => state.control().phase() == Phase::Idle || taken(Input::Step),
                pending => pending.iter().all(may_fail),
            }
        }),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-15",
        clause: "004-1.35",
        statement: "The audit record lists every started effect as kept, undone or undo failed.",
        formula: "□ (ended(r) ∧ effects(r) ≠ ∅ ⇒ audit(r) lists each with what became of it)",
        finding: Some("F15"),
        check: TraceInvariant(|_, past, event| match event {
            Event::AuditRecorded { record } => record.tasks == past.task_records,
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Auditing
                && of_request(state, |request| !request.ledger.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-16",
        clause: "004-1.36",
        statement: "A request that ends leaves control in Idle, which accepts the next message.",
        formula: "□ (ended(r) ⇒ Idle ∧ the next message is accepted)",
        finding: Some("F16"),
        finding_row: Some("T34"),
        check: AcceptanceInvariant(|_, accepts, state| {
            let message =
                |user: &orchestrion_kernel::ids::UserId| Input::user_message(user.clone(), Text::from("?"));
            !is_quiescent(state.control().phase())
                || (state.control().phase() == Phase::Idle
                    && state.control().session().is_none_or(|user| accepts(state, &message(user))))
        }),
        premise: Premise::State(has_ended),
        ..CLAIM
    },
    Claim {
        id: "C-109",
        clause: "003-2.18",
        statement: "After a fact in the scope of the request is superseded, no task starts until Security has \
                    reviewed the plan again and the consensus was scored again.",
        formula: "□ (run(t, r) ⇒ scored(r) after review(r) ∧ no fact that r reads was superseded since review(r))",
        finding: Some("F18"),
        check: TraceInvariant(|_, past, event| !starts_task(event) || past.review == ReviewStatus::Scored),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::RunningTasks
                && of_request(state, |request| request.debate.outdated)
        }),
        ..CLAIM
    },
];
