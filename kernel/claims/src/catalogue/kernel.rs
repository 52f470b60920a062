//! Claims about the kernel itself: `decide`, `apply`, and the state of the request.

use super::prelude::*;
use crate::reference::plans::{has_effect, task_record};
use crate::reference::reading::expires_at;

pub(super) const KERNEL: &[Claim] = &[
    Claim {
        id: "C-60",
        clause: "000-4.10",
        statement: "A refused input does not change the state, and the refusal has a message.",
        formula: "decide(o, i) = refusal ⇒ o' = o ∧ σ = ε",
        check: ClaimCheck::Contract(Contract::RefusalPreservesState),
        ..CLAIM
    },
    Claim {
        id: "C-61",
        clause: "000-4.6",
        statement: "Every phase takes each trigger by one transition or refuses it. A resume, an input about the \
                    network and a repeated attempt take no transition.",
        formula: "∀ o, i: decide(o, i) is one row's batch, ⟨resumed⟩, a batch about the network or a refusal",
        check: ClaimCheck::Contract(Contract::Total),
        ..CLAIM
    },
    Claim {
        id: "C-62",
        clause: "000-4.10",
        statement: "The same input in the same state gives the same events.",
        formula: "∀ o, i: decide(o, i) = decide(o, i)",
        check: ClaimCheck::Contract(Contract::Deterministic),
        ..CLAIM
    },
    Claim {
        id: "C-63",
        clause: "000-4.8",
        statement: "The state is the fold of its log, also after the events were encoded and decoded.",
        formula: "fold(decode(encode(σ))) = apply(σ)",
        check: ClaimCheck::Contract(Contract::ReplaysFromLog),
        ..CLAIM
    },
    Claim {
        id: "C-238",
        clause: "003-4.5",
        statement: "Time passes before an input is decided: at the next expiry, the events are those of a tick, and then those of the \
                    input in the state after it.",
        formula: "i ≠ tick ∧ t = min { expires_at(x) > now(o) } ⇒ decide(o, t, i) = σ · decide(apply(o, σ), t, i) with σ = decide(o, t, \
                  tick), or the same refusal",
        check: ClaimCheck::Contract(Contract::PassesTimeFirst),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| expires_at(&entry.item).is_some_and(|at| at > state.now()))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-64",
        clause: "000-4.4",
        statement: "The kernel refuses a reply to another call, a reply of the wrong kind, a message of another user, an input that needs \
                    a session while none is open, the creation of a second network, and a node that is in the network already, each with its \
                    own refusal. Outside Idle, every message and every start and end of a session is unexpected.",
        formula: "call(i) ∉ pending(o) ⇒ decide(o, i) = WrongCall; likewise WrongReport, WrongUser, NoSession, AlreadyCreated, \
                  DuplicateNode; phase(o) ≠ Idle ⇒ decide(o, i) = UnexpectedInput for a message and a start or an end of the session",
        check: ClaimCheck::Contract(Contract::RefusesMismatchedReply),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-65",
        clause: "000-4.3",
        statement: "The pending calls and the phase are those that the events determine.",
        formula: "□ (pending(o) = open calls(τ)) ∧ □ (phase(o) = last transition(τ))",
        check: ClaimCheck::HistoryConsistency(|_, past, state| {
            let pending = state.control().pending_calls().iter().map(|call| (call.id, call.operation));
            pending.eq(past.pending.iter().copied())
                && (!past.running || past.phase == Some(state.control().phase()))
        }),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-240",
        clause: "000-1.7",
        statement: "Calls and requests are numbered in order: a new one has the next number, and nothing else changes the next number.",
        formula: "□ (ToolCall(c) ∈ σ ⇒ c = next_call) ∧ □ (UserMsg(r) ∈ σ ⇒ r = next_request) ∧ \
                  □ (next' = next + the number of new ones in σ)",
        check: StepInvariant(|_, before, events, after| {
            let (mut call, mut request) = (before.control().next_call(), before.control().next_request());
            let are_next = events.iter().all(|event| match event {
                Event::ToolCall { call: new, .. } => core::mem::replace(&mut call, new.next()) == *new,
                Event::UserMsg { request: new, .. } => core::mem::replace(&mut request, new.next()) == *new,
                _ => true,
            });
            are_next && after.control().next_call() == call && after.control().next_request() == request
        }),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-66",
        clause: "decision 0015",
        statement: "A resume is accepted if and only if a request runs, and does not change the state.",
        formula: "decide(o, resume) = ⟨resumed⟩ ∧ o' = o if a request runs, else a refusal",
        check: ResponseInvariant(|_, decide, state| match decide(state, &Input::Resume) {
            Ok(events) => {
                let mut after = state.clone();
                events.iter().for_each(|event| after.apply(event));
                events == [Event::Resumed] && after == *state && state.control().request().is_some()
            }
            Err(_) => state.control().request().is_none(),
        }),
        premise: Premise::State(|_, state| {
            state.control().pending_calls().iter().any(|call| has_effect(call.operation))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-67",
        clause: "000-4.3",
        statement: "The kernel accepts every well-typed reply to a pending call.",
        formula: "call(i) ∈ pending(o) ∧ reply_to(i) ⇒ decide(o, i) ≠ UnexpectedInput",
        check: ClaimCheck::Contract(Contract::AcceptsExpectedReply),
        premise: Premise::State(is_pending),
        ..CLAIM
    },
    Claim {
        id: "C-68",
        clause: "000-4.4",
        statement: "No batch contains the same event twice.",
        formula: "□ (no event of σ is there twice)",
        check: BatchInvariant(|events| {
            events
                .iter()
                .enumerate()
                .all(|(i, event)| !events.iter().skip(i.saturating_add(1)).any(|other| other == event))
        }),
        premise: Premise::Semantic(|_, state| !state.semantic().is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-69",
        clause: "000-4.8",
        statement: "The kernel's record of a request equals the fold of the request's events.",
        formula: "□ (o.request = fold of the events of r)",
        check: ClaimCheck::HistoryConsistency(|_, past, state| {
            of_request(state, |request| agrees_with_history(past, request)) || !past.running
        }),
        premise: Premise::State(|_, state| of_request(state, |request| !request.outcomes.is_empty())),
        ..CLAIM
    },
];

/// Whether the state of a request agrees with its history. Ids that only increase are not compared.
fn agrees_with_history(past: &History, request: &Request) -> bool {
    let debate = &request.debate;
    let revision = request.plan.as_ref().map(|plan| plan.revision);
    let tasks = request.plan.iter().flat_map(|plan| plan.plan.tasks());
    let tasks = tasks.map(|task| (task.id, task.effect.kind()));
    let alike =
        |(kept, heard): (&Decision, &Decision)| Decision { revision: heard.revision, ..*kept } == *heard;
    let validations = request.workflow.validations.iter().map(|failed| (failed.task, failed.count));
    // The state may drop what belongs to a finished run.
    let running = matches!(past.phase, Some(Phase::RunningTasks | Phase::AssertingOutcomes));
    request.verified == past.verified
        && (past.memory_records > 0 || request.ratings == past.ratings)
        && request.ratings_after == past.ratings_after
        && request.repairs == past.repairs
        && request.audit_attempts == past.audit_attempts
        && debate.latest == past.latest
        && debate.additional == past.additional
        && debate.vetoed == past.vetoed
        && debate.outdated == (past.review == ReviewStatus::Outdated)
        && (past.memory_records > 0 || request.scope == past.scope)
        && debate.pass == past.pass
        && (debate.security_reviewed.is_some() && debate.security_reviewed == revision)
            == past.security.is_some()
        && tasks.eq(past.tasks_planned.iter().map(|planned| (planned.task, planned.effect)))
        && (!running
            || request.outcomes.iter().eq(&past.outcomes)
                && validations.eq(past.workflow.validations.iter().copied())
                && request.workflow.assigned == past.workflow.assigned
                && request.workflow.is_aggregated == past.workflow.is_aggregated)
        && request.ledger.iter().map(task_record).eq(past.task_records.iter().copied())
        && request.decisions.len() == past.decisions.len()
        && request.decisions.iter().zip(&past.decisions).all(alike)
        && request.store_statuses == past.store_statuses
        && request.conclusion == past.conclusion
}
