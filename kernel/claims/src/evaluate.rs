//! Evaluates claims: in a step, and in a state.

use crate::claim_set::ClaimSet;
use crate::context_question::ContextQuestion;
use crate::reference::trust::ExpectedNodes;
use crate::reference::writes::{Items, items_after};
use crate::semantic_view::{SemanticStep, SemanticView};
use crate::{Accepts, CLAIMS, ClaimCheck, Decide, History, Premise, SentCall};
use alloc::borrow::Cow;
use orchestrion_kernel::checker::input_time;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::input::Input;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// The positions in [`CLAIMS`] of the claims of each kind, so that an evaluation visits no others.
mod positions {
    use crate::{CLAIMS, ClaimCheck, Premise};

    macro_rules! positions {
        ($($name:ident: |$claim:ident| $is:expr;)*) => {$(
            pub(super) const $name: &[usize] = {
                const COUNT: usize = {
                    let (mut at, mut count) = (0, 0);
                    while at < CLAIMS.len() {
                        let $claim = &CLAIMS[at];
                        if $is {
                            count += 1;
                        }
                        at += 1;
                    }
                    count
                };
                const ALL: [usize; COUNT] = {
                    let (mut all, mut at, mut count) = ([0; COUNT], 0, 0);
                    while at < CLAIMS.len() {
                        let $claim = &CLAIMS[at];
                        if $is {
                            all[count] = at;
                            count += 1;
                        }
                        at += 1;
                    }
                    all
                };
                &ALL
            };
        )*};
    }

    positions! {
        TRACE: |claim| matches!(claim.check, ClaimCheck::TraceInvariant(_));
        STEP: |claim| matches!(
            claim.check,
            ClaimCheck::StepInvariant(_) | ClaimCheck::HistoryConsistency(_)
        );
        HISTORY: |claim| matches!(claim.check, ClaimCheck::HistoryConsistency(_));
        CONTEXT: |claim| matches!(claim.check, ClaimCheck::ContextInvariant(_));
        CONTEXT_PREMISE: |claim| matches!(claim.premise, Premise::Context(_));
        SEMANTIC_STEP: |claim| matches!(claim.check, ClaimCheck::SemanticStepInvariant(_));
        BATCH: |claim| matches!(claim.check, ClaimCheck::BatchInvariant(_));
        NETWORK_EVENT: |claim| matches!(claim.check, ClaimCheck::NetworkEventInvariant(_));
        WRITE: |claim| matches!(claim.check, ClaimCheck::WriteInvariant(_));
        NODE: |claim| matches!(claim.check, ClaimCheck::NodeInvariant(_));
        STATE: |claim| matches!(
            claim.check,
            ClaimCheck::StateInvariant(_)
                | ClaimCheck::NetworkInvariant(_)
                | ClaimCheck::ResponseInvariant(_)
                | ClaimCheck::AcceptanceInvariant(_)
        );
        SEMANTIC: |claim| matches!(claim.check, ClaimCheck::SemanticInvariant(_));
        SEMANTIC_PREMISE: |claim| matches!(claim.premise, Premise::Semantic(_));
    }
}

fn violated(positions: &[usize], holds: impl Fn(&ClaimCheck) -> bool) -> ClaimSet {
    let is_violated = |at: &usize| CLAIMS.get(*at).is_some_and(|claim| !holds(&claim.check));
    positions.iter().copied().filter(is_violated).collect()
}

/// Returns the claims about the semantic state that a step violates.
#[must_use]
pub fn semantic_step_violations(policy: &Policy, step: &SemanticStep<'_>) -> ClaimSet {
    violated(positions::SEMANTIC_STEP, |check| match check {
        ClaimCheck::SemanticStepInvariant(holds) => holds(policy, step.before(), step.events(), step.after()),
        _ => true,
    })
}

/// Returns the claims about the semantic state that a state violates.
#[must_use]
pub fn semantic_violations(policy: &Policy, view: &SemanticView<'_>) -> ClaimSet {
    violated(positions::SEMANTIC, |check| match check {
        ClaimCheck::SemanticInvariant(holds) => holds(policy, view),
        _ => true,
    })
}

/// Returns the claims whose premise is about the semantic state, and holds.
#[must_use]
pub fn semantic_premises(policy: &Policy, view: &SemanticView<'_>) -> ClaimSet {
    let holds = |at: &usize| {
        CLAIMS.get(*at).is_some_and(|claim| match claim.premise {
            Premise::Semantic(holds) => holds(policy, view),
            Premise::State(_) | Premise::Context(_) | Premise::Network(_) => false,
        })
    };
    positions::SEMANTIC_PREMISE.iter().copied().filter(holds).collect()
}

/// Returns the claims about its events alone that a step violates.
#[must_use]
pub fn batch_violations(events: &[Event]) -> ClaimSet {
    violated(positions::BATCH, |check| match check {
        ClaimCheck::BatchInvariant(holds) => holds(events),
        _ => true,
    })
}

/// Returns the claims that the context of a call violates, in the state after the step that sends the call. A context that cannot be
/// built is `None` and violates all of them.
#[must_use]
pub fn context_violations(policy: &Policy, after: &State, sent: Option<&SentCall>) -> ClaimSet {
    violated(positions::CONTEXT, |check| match check {
        ClaimCheck::ContextInvariant(holds) => sent.is_some_and(|sent| holds(policy, after, sent)),
        _ => true,
    })
}

/// Returns the claims whose premise is about a pending call with a context, and holds for this one.
#[must_use]
pub fn context_premises(policy: &Policy, question: &ContextQuestion) -> ClaimSet {
    let holds = |at: &usize| {
        CLAIMS.get(*at).is_some_and(|claim| match claim.premise {
            Premise::Context(holds) => holds(policy, question.state(), question.operation()),
            Premise::State(_) | Premise::Semantic(_) | Premise::Network(_) => false,
        })
    };
    positions::CONTEXT_PREMISE.iter().copied().filter(holds).collect()
}

/// Returns the claims that a step violates, without those that [`semantic_step_violations`], [`batch_violations`] and
/// [`context_violations`] return. Applies the events to the history.
pub fn other_step_violations(
    policy: &Policy,
    before: &State,
    events: &[Event],
    after: &State,
    history: &mut History,
) -> ClaimSet {
    let mut all = ClaimSet::default();
    for event in events {
        all = all.union(violated(positions::TRACE, |check| match check {
            ClaimCheck::TraceInvariant(holds) => holds(policy, history, event),
            _ => true,
        }));
        history.observe(policy, event);
    }
    all = all
        .union(network_event_violations(policy, before, events))
        .union(node_violations(before, events, after));
    all.union(violated(positions::STEP, |check| match check {
        ClaimCheck::StepInvariant(holds) => holds(policy, before, events, after),
        ClaimCheck::HistoryConsistency(holds) => holds(policy, history, after),
        _ => true,
    }))
}

/// Returns the claims between the history and the state that both violate.
#[must_use]
pub fn history_violations(policy: &Policy, history: &History, state: &State) -> ClaimSet {
    violated(positions::HISTORY, |check| match check {
        ClaimCheck::HistoryConsistency(holds) => holds(policy, history, state),
        _ => true,
    })
}

/// Returns the claims that an event about the network violates, in the state before it.
fn network_event_violations(policy: &Policy, before: &State, events: &[Event]) -> ClaimSet {
    let mut all = ClaimSet::default();
    let Some(last) = events.iter().rposition(|event| matches!(event, Event::Network(_))) else { return all };
    let mut state = Cow::Borrowed(before);
    for (at, event) in events.iter().enumerate().take(last.saturating_add(1)) {
        if let Event::Network(event) = event {
            all = all.union(violated(positions::NETWORK_EVENT, |check| match check {
                ClaimCheck::NetworkEventInvariant(holds) => holds(policy, &state, event),
                _ => true,
            }));
        }
        if at < last {
            state.to_mut().apply(event);
        }
    }
    all
}

/// Returns the claims that the response to a write violates; none for other inputs. `None` is a write that is refused before time passes.
///
/// The items that leave by the passage of time and by the capacity of the session are the subject of other claims.
#[must_use]
pub fn write_violations(
    policy: &Policy,
    before: &State,
    input: &Input,
    events: Option<&[Event]>,
) -> ClaimSet {
    let Input::Write(write) = input else { return ClaimSet::default() };
    let (mut semantic, mut now) = (before.semantic().clone(), before.now());
    let mut excess: &[ItemId] = &[];
    for event in events.into_iter().flatten() {
        match event {
            Event::TimeAdvanced { now: time } => now = *time,
            Event::ForgetItems { cause: ForgetCause::Expiry, .. } => semantic.apply(event),
            Event::ForgetItems { ids, cause: ForgetCause::Capacity } => excess = ids,
            _ => {}
        }
    }
    let mut expected = items_after(policy, &SemanticView::new(before).at(&semantic, now), write);
    if let Some(items) = &mut expected {
        items.retain(|id, _| !excess.contains(id));
        items.values_mut().for_each(|entry| entry.deps.retain(|dep| !excess.contains(dep)));
    }
    let found = events.map(|events| {
        events.iter().for_each(|event| semantic.apply(event));
        semantic.entries().map(|entry| (entry.item.id, entry.clone())).collect::<Items>()
    });
    violated(positions::WRITE, |check| match check {
        ClaimCheck::WriteInvariant(holds) => holds(expected.as_ref(), found.as_ref()),
        _ => true,
    })
}

/// Returns the claims that a node violates after a step.
fn node_violations(before: &State, events: &[Event], after: &State) -> ClaimSet {
    let Some((expected, network)) = ExpectedNodes::after_batch(before, events, after) else {
        return ClaimSet::default();
    };
    violated(positions::NODE, |check| match check {
        ClaimCheck::NodeInvariant(holds) => expected.all_match(network, holds),
        _ => true,
    })
}

/// Returns the claims that a step violates, as positions in [`CLAIMS`]. Applies the events to the history.
pub fn step_violations(
    policy: &Policy,
    before: &State,
    input: &Input,
    events: &[Event],
    after: &State,
    history: &mut History,
) -> impl Iterator<Item = usize> + use<> {
    let sent = SentCall::of_step(policy, events, after);
    let of_context =
        sent.map_or_else(ClaimSet::default, |sent| context_violations(policy, after, sent.as_ref().ok()));
    let others = other_step_violations(policy, before, events, after, history).union(of_context);
    let semantic = semantic_step_violations(policy, &SemanticStep::new(before, events, after));
    let of_write = write_violations(policy, before, input, Some(events));
    semantic.union(batch_violations(events)).union(others).union(of_write).iter()
}

/// Returns the claims that a state violates, as positions in [`CLAIMS`].
pub fn state_violations<'a>(policy: &'a Policy, state: &'a State) -> impl Iterator<Item = usize> + use<'a> {
    let decide = |state: &State, input: &Input| {
        orchestrion_kernel::decide(policy, state, input_time(state, input), input)
    };
    let accepts = |state: &State, input: &Input| {
        orchestrion_kernel::checker::accepts(policy, state, input_time(state, input), input)
    };
    let others = violated(positions::STATE, |check| check.holds_in_state(policy, &decide, &accepts, state));
    semantic_violations(policy, &SemanticView::new(state)).union(others).iter()
}

impl ClaimCheck {
    /// Returns whether a claim about single states holds in this one. Claims of other kinds hold.
    #[must_use]
    pub fn holds_in_state(
        &self,
        policy: &Policy,
        decide: &Decide<'_>,
        accepts: &Accepts<'_>,
        state: &State,
    ) -> bool {
        match self {
            Self::StateInvariant(holds) => holds(policy, state),
            Self::SemanticInvariant(holds) => holds(policy, &SemanticView::new(state)),
            Self::NetworkInvariant(holds) => state.network().is_none_or(|network| holds(state, network)),
            Self::ResponseInvariant(holds) => holds(policy, decide, state),
            Self::AcceptanceInvariant(holds) => holds(policy, accepts, state),
            Self::StepInvariant(_)
            | Self::SemanticStepInvariant(_)
            | Self::BatchInvariant(_)
            | Self::NetworkEventInvariant(_)
            | Self::NodeInvariant(_)
            | Self::WriteInvariant(_)
            | Self::ContextInvariant(_)
            | Self::TraceInvariant(_)
            | Self::HistoryConsistency(_)
            | Self::Contract(_)
            | Self::LeadsTo { .. } => true,
        }
    }
}
