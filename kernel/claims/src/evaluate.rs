//! Evaluates claims: in a step, and in a state.

use crate::claim_set::ClaimSet;
use crate::context_view::ContextView;
use crate::reference::trust::ExpectedNodes;
use crate::reference::writes::{Items, items_after};
use crate::semantic_view::{SemanticStep, SemanticView};
use crate::sent_call::{EmittedCall, emitted_call, is_sent};
use crate::{Accepts, CLAIMS, Claim, ClaimCheck, Decide, History, SentCall, by_kind};
use alloc::borrow::Cow;
use orchestrion_kernel::checker::input_time;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::input::Input;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// The claims that hold, or whose premise does.
fn holding<F: Copy>(claims: &[(usize, F)], holds: impl Fn(F) -> bool) -> ClaimSet {
    claims.iter().filter(|(_, claim)| holds(*claim)).map(|(at, _)| *at).collect()
}

/// The claims that do not hold.
fn violated<F: Copy>(claims: &[(usize, F)], holds: impl Fn(F) -> bool) -> ClaimSet {
    holding(claims, |claim| !holds(claim))
}

/// Returns the claims about the semantic state that a step violates.
#[must_use]
pub fn semantic_step_violations(policy: &Policy, step: &SemanticStep<'_>) -> ClaimSet {
    violated(by_kind::SEMANTIC_STEP, |holds| holds(policy, step.before(), step.events(), step.after()))
}

/// Returns the claims about the semantic state that a state violates.
#[must_use]
pub fn semantic_violations(policy: &Policy, view: &SemanticView<'_>) -> ClaimSet {
    violated(by_kind::SEMANTIC, |holds| holds(policy, view))
}

/// Returns the claims whose premise is about the semantic state, and holds.
#[must_use]
pub fn semantic_premises(policy: &Policy, view: &SemanticView<'_>) -> ClaimSet {
    holding(by_kind::SEMANTIC_PREMISE, |holds| holds(policy, view))
}

/// Returns the claims about its events alone that a step violates.
#[must_use]
pub fn batch_violations(events: &[Event]) -> ClaimSet {
    violated(by_kind::BATCH, |holds| holds(events))
}

/// Returns the claims that the context of a call violates. A context that cannot be built is `None` and violates all of them.
#[must_use]
pub fn context_violations(view: &ContextView<'_>, sent: Option<&SentCall>) -> ClaimSet {
    violated(by_kind::CONTEXT, |holds| sent.is_some_and(|sent| holds(view, sent)))
}

/// Returns the claims whose premise is about a pending call with a context, and holds for this one.
#[must_use]
pub fn context_premises(view: &ContextView<'_>) -> ClaimSet {
    holding(by_kind::CONTEXT_PREMISE, |holds| holds(view))
}

/// Returns the claims that a step violates, without those that [`semantic_step_violations`], [`input_violations`],
/// [`batch_violations`], [`context_violations`] and [`budget_violations`] return. Applies the events to the history.
pub fn other_step_violations(
    policy: &Policy,
    before: &State,
    events: &[Event],
    after: &State,
    history: &mut History,
) -> ClaimSet {
    let mut all = ClaimSet::default();
    for event in events {
        all = all.union(violated(by_kind::TRACE, |holds| holds(policy, history, event)));
        history.observe(policy, event);
    }
    all.union(network_event_violations(policy, before, events))
        .union(node_violations(before, events, after))
        .union(violated(by_kind::STEP, |holds| holds(policy, before, events, after)))
        .union(history_violations(policy, history, after))
}

/// Returns the claims about the input of a step that the step violates.
#[must_use]
pub fn input_violations(
    policy: &Policy,
    before: &State,
    input: &Input,
    events: &[Event],
    after: &State,
) -> ClaimSet {
    violated(by_kind::INPUT, |holds| holds(policy, before, input, events, after))
}

/// Returns the claims about the budgets of calls that a step violates.
#[must_use]
pub fn budget_violations(
    policy: &Policy,
    before: &State,
    events: &[Event],
    emitted: Option<&EmittedCall>,
) -> ClaimSet {
    violated(by_kind::BUDGET, |holds| holds(policy, before, events, emitted))
}

/// Returns the claims between the history and the state that both violate.
#[must_use]
pub fn history_violations(policy: &Policy, history: &History, state: &State) -> ClaimSet {
    violated(by_kind::HISTORY, |holds| holds(policy, history, state))
}

/// Returns the claims that an event about the network violates, in the state before it.
fn network_event_violations(policy: &Policy, before: &State, events: &[Event]) -> ClaimSet {
    let mut all = ClaimSet::default();
    let Some(last) = events.iter().rposition(|event| matches!(event, Event::Network(_))) else { return all };
    let mut state = Cow::Borrowed(before);
    for (at, event) in events.iter().enumerate().take(last.saturating_add(1)) {
        if let Event::Network(event) = event {
            all = all.union(violated(by_kind::NETWORK_EVENT, |holds| holds(policy, &state, event)));
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
    violated(by_kind::WRITE, |holds| holds(expected.as_ref(), found.as_ref()))
}

/// Returns the claims that a node violates after a step.
fn node_violations(before: &State, events: &[Event], after: &State) -> ClaimSet {
    let Some((expected, network)) = ExpectedNodes::after_batch(before, events, after) else {
        return ClaimSet::default();
    };
    violated(by_kind::NODE, |holds| expected.all_match(network, holds))
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
    let mut of_context = ClaimSet::default();
    let emitted = emitted_call(events, after).map(|call| {
        let view = ContextView::new(policy, after, call.operation);
        if is_sent(&call) {
            let sent = SentCall::new(policy, after, call.operation);
            of_context = context_violations(&view, sent.as_ref().ok());
        }
        EmittedCall { call, required_tokens: view.required_tokens() }
    });
    other_step_violations(policy, before, events, after, history)
        .union(of_context)
        .union(input_violations(policy, before, input, events, after))
        .union(budget_violations(policy, before, events, emitted.as_ref()))
        .union(semantic_step_violations(policy, &SemanticStep::new(before, events, after)))
        .union(batch_violations(events))
        .union(write_violations(policy, before, input, Some(events)))
        .iter()
}

/// Returns the claims that a state violates, as positions in [`CLAIMS`].
pub fn state_violations<'a>(policy: &'a Policy, state: &'a State) -> impl Iterator<Item = usize> + use<'a> {
    let decide = move |state: &State, input: &Input| {
        orchestrion_kernel::decide(policy, state, input_time(state, input), input)
    };
    let accepts = move |state: &State, input: &Input| {
        orchestrion_kernel::checker::accepts(policy, state, input_time(state, input), input)
    };
    let is_violated =
        move |(_, claim): &(usize, &Claim)| !claim.check.holds_in_state(policy, &decide, &accepts, state);
    CLAIMS.iter().enumerate().filter(is_violated).map(|(at, _)| at)
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
            | Self::InputInvariant(_)
            | Self::SemanticStepInvariant(_)
            | Self::BatchInvariant(_)
            | Self::NetworkEventInvariant(_)
            | Self::NodeInvariant(_)
            | Self::WriteInvariant(_)
            | Self::BudgetInvariant(_)
            | Self::ContextInvariant(_)
            | Self::TraceInvariant(_)
            | Self::HistoryConsistency(_)
            | Self::Contract(_)
            | Self::LeadsTo { .. } => true,
        }
    }
}
