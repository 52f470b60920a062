//! Claims on the kernel itself: `decide`, `apply`, and what the kernel remembers.

use super::*;

pub(super) const KERNEL: &[Claim] = &[
    Claim {
        id: "C-60",
        clause: "000-4.10",
        statement: "A refused input changes nothing and is refused with a sentence.",
        formula: "decide(o, i) = refusal ⇒ o' = o ∧ σ = ε",
        check: ClaimCheck::Contract(Contract::RefusalPreservesState),
        ..CLAIM
    },
    Claim {
        id: "C-61",
        clause: "000-4.6",
        statement: "Every state takes every trigger along one row, or refuses it; a resume takes none.",
        formula: "∀ o, i: decide(o, i) is one row's batch, ⟨resumed⟩ or a refusal",
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
        statement: "The state is the fold of its log: decoding the encoded events and applying them gives it.",
        formula: "fold(decode(encode(σ))) = apply(σ)",
        check: ClaimCheck::Contract(Contract::ReplaysFromLog),
        ..CLAIM
    },
    Claim {
        id: "C-64",
        clause: "000-4.4",
        statement: "An answer to another call, an answer of another kind, and a stranger are refused as what they are.",
        formula: "call(i) ≠ waiting(o) ⇒ decide(o, i) = WrongCall; likewise WrongReport, WrongUser",
        check: ClaimCheck::Contract(Contract::RefusesMismatchedReply),
        premise: |_, state| state.control.pending_call().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-65",
        clause: "000-4.3",
        statement: "The kernel waits for exactly what was asked and not answered, and stands where it moved to.",
        formula: "□ (waiting(o) = asked(τ)) ∧ □ (phase(o) = last move(τ))",
        check: ClaimCheck::HistoryConsistency(|past, state| {
            past.pending_operation == state.control.pending_call().map(|call| call.operation)
                && (!past.running || past.phase == Some(state.control.phase()))
        }),
        premise: |_, state| state.control.pending_call().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-66",
        clause: "decision 0015",
        statement: "A resume is accepted while a request runs, and then only, and changes nothing.",
        formula: "decide(o, resume) = ⟨resumed⟩ ∧ o' = o if a request runs, else a refusal",
        check: ResponseInvariant(|decide, state| match decide(state, &Input::Resume) {
            Ok(events) => {
                let mut after = state.clone();
                events.iter().for_each(|event| after.apply(event));
                events == [Event::Resumed] && after == *state && state.control.request().is_some()
            }
            Err(_) => state.control.request().is_none(),
        }),
        premise: |_, state| state.control.pending_call().is_some_and(|call| call.operation.is_effectful()),
        ..CLAIM
    },
    Claim {
        id: "C-67",
        clause: "000-4.3",
        statement: "Whatever answers the call that is waited for is taken: no answer leaves the kernel without a way on.",
        formula: "answers(i, waiting(o)) ⇒ decide(o, i) ≠ NotExpected",
        check: ClaimCheck::Contract(Contract::AcceptsExpectedReply),
        premise: |_, state| state.control.pending_call().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-68",
        clause: "000-4.4",
        statement: "A step says nothing twice.",
        formula: "□ (no event of σ is there twice)",
        check: StepInvariant(|_, _, events, _| {
            events
                .iter()
                .enumerate()
                .all(|(i, event)| !events.iter().skip(i.saturating_add(1)).any(|other| other == event))
        }),
        premise: |_, state| !state.semantic.is_empty(),
        ..CLAIM
    },
    Claim {
        id: "C-69",
        clause: "000-4.8",
        statement: "What the kernel remembers of a request is what its events told.",
        formula: "□ (o.request = what σ told of r)",
        check: ClaimCheck::HistoryConsistency(|past, state| {
            of_request(state, |request| remembers(past, request)) || !past.running
        }),
        premise: |_, state| of_request(state, |request| !request.outcomes.is_empty()),
        ..CLAIM
    },
];

/// Whether a request is remembered as its events told of it; names that only count up are left out.
fn remembers(past: &History, request: &Request) -> bool {
    let debate = &request.debate;
    let revision = request.plan.as_ref().map(|plan| plan.revision);
    let tasks = request.plan.iter().flat_map(|plan| plan.plan.tasks());
    let tasks = tasks.map(|task| (task.id, task.effect.kind()));
    let alike =
        |(kept, heard): (&Decision, &Decision)| Decision { revision: heard.revision, ..*kept } == *heard;
    // The outcomes of a run that is over may be forgotten.
    let running = matches!(past.phase, Some(Phase::RunningTasks | Phase::AssertingOutcomes));
    request.verified == past.verified
        && (past.memory_records > 0 || request.ratings == past.ratings)
        && request.ratings_after == past.ratings_after
        && request.repairs == past.repairs
        && request.audit_attempts == past.audit_attempts
        && debate.latest == past.latest
        && debate.vetoed == past.vetoed
        && debate.pass == past.pass
        && (debate.security_reviewed.is_some() && debate.security_reviewed == revision)
            == past.security.is_some()
        && tasks.eq(past.planned.iter().copied())
        && (!running || request.outcomes.iter().eq(past.outcomes.iter().map(|outcome| &outcome.outcome)))
        && request.ledger.iter().map(StartedTask::record).eq(past.tasks.iter().copied())
        && request.decisions.len() == past.decisions.len()
        && request.decisions.iter().zip(&past.decisions).all(alike)
        && request.store_statuses == past.holdings
        && request.conclusion == past.ending
}
