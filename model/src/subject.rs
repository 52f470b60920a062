//! What is checked: the kernel as it is, or with one fault put in.

use crate::coverage::Mark;
use crate::scopes::{Model, Scope};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::policy::Compaction;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Events, Input, Policy, Refusal, State, decide_along};

/// A kernel to be held against the claims. The real one does what
/// [`decide`](orchestrion_kernel::decide) does: every step of an exploration is held against it (C-62).
#[derive(Clone, Debug)]
pub struct Subject {
    /// The policy that the claims are read under.
    pub policy: Policy,
    /// The policy that decides; the same, but in a mutant whose threshold or bound is off.
    pub deciding: Policy,
    /// The rows of the table, in order of precedence; none where a mutant lost one.
    pub rows: Vec<Option<&'static Transition>>,
    /// A row whose guard is read the wrong way round, by its place.
    pub negated: Option<usize>,
    /// What happens to a batch of events before it is written; given the state before it.
    pub spoil_events: Option<fn(&State, &mut Events)>,
    /// What happens to the running request after a batch was written; given the state before it.
    pub spoil_request: Option<fn(&State, &mut Request)>,
}

impl Subject {
    /// The kernel as it is.
    #[must_use]
    pub fn real(policy: Policy) -> Self {
        Self {
            deciding: policy.clone(),
            policy,
            rows: TRANSITIONS.iter().map(Some).collect(),
            negated: None,
            spoil_events: None,
            spoil_request: None,
        }
    }

    /// The same in a model, whose conversations are too short for the policy's own limits of compaction and of contexts: where
    /// they matter, the scope's take their place, and its name is added to the policy's. Whatever a mutant's limit is off by, it
    /// is off by here.
    #[must_use]
    pub fn within(mut self, model: Model, scope: &Scope) -> Self {
        let Some(limits) = model.compaction(scope) else { return self };
        let (mutant, right) = (self.deciding.clone(), self.policy.clone());
        let off = |limit: u32, number: fn(&Policy) -> u32| {
            limit.saturating_add(number(&mutant)).saturating_sub(number(&right))
        };
        self.deciding.compaction = Compaction {
            from_items: off(limits.from_items, |policy| policy.compaction.from_items),
            from_tokens: off(limits.from_tokens, |policy| policy.compaction.from_tokens),
            cluster_items: off(limits.cluster_items, |policy| policy.compaction.cluster_items),
        };
        self.deciding.contexts.budget = off(scope.context_tokens, |policy| policy.contexts.budget);
        self.policy.compaction = limits;
        self.policy.contexts.budget = scope.context_tokens;
        (self.policy.contexts.reserved, self.deciding.contexts.reserved) = (0, 0);
        self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
        self
    }

    /// What an input means in a state.
    ///
    /// # Errors
    /// As the kernel: a [`Refusal`] if the input is not expected.
    pub fn decide(&self, state: &State, input: &Input) -> Result<Events, Refusal> {
        self.decide_seen(state, input, &mut |_| ())
    }

    /// The same; `seen` is told which rows and guards were tried on the way, and how they came out.
    ///
    /// # Errors
    /// As the kernel: a [`Refusal`] if the input is not expected.
    pub fn decide_seen(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Mark),
    ) -> Result<Events, Refusal> {
        let mut events = decide_along(&self.deciding, state, input, || self.choose(state, input, seen))?;
        if let Some(spoil) = self.spoil_events {
            spoil(state, &mut events);
        }
        Ok(events)
    }

    /// The first row that fits and whose guard holds.
    fn choose(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Mark),
    ) -> Option<&'static Transition> {
        let (phase, trigger) = (state.control.phase(), input.trigger());
        let rows = self.rows.iter().enumerate().filter_map(|(place, row)| row.map(|row| (place, row)));
        for (place, row) in rows.filter(|(_, row)| row.fits(&self.deciding, phase, trigger)) {
            let holds = row.when.holds(&self.deciding, state, input) != (self.negated == Some(place));
            if holds {
                seen(Mark::Row(place));
                return Some(row);
            }
            seen(Mark::Guard(place));
        }
        None
    }

    /// Writes a batch.
    #[must_use]
    pub fn apply(&self, before: &State, events: &[Event]) -> State {
        let mut after = before.clone();
        events.iter().for_each(|event| after.apply(event));
        if let (Some(spoil), Some(request)) = (self.spoil_request, after.control.request_mut()) {
            spoil(before, request);
        }
        after
    }
}
