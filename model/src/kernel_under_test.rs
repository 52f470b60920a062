//! The kernel under test: unmodified, or with one fault.

use crate::adversary::{contexts, situation};
use crate::coverage::Observation;
use crate::scopes::{Model, Scope};
use orchestrion_claims::SentCall;
use orchestrion_kernel::checker::{accepts_with_row, decide_with_row, input_time};
use orchestrion_kernel::context::{ContextError, Selected, Selector};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::item::Item;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::network::TrustPolicy;
use orchestrion_kernel::policy::CompactionPolicy;
use orchestrion_kernel::selection::{Candidate, Problem, Selection};
use orchestrion_kernel::state::{NetworkState, Request};
use orchestrion_kernel::{Event, Events, Input, ItemId, Policy, Refusal, State, Timestamp};
use orchestrion_optimizer::ExactSelector;

/// Changes an item and its dependencies before a context is built from them.
pub type ReadMutation = fn(&State, &mut Item, &mut Vec<ItemId>);

/// Changes the budget and the candidates of a selection problem before it is solved.
pub type ProblemMutation = fn(&mut u64, &mut Vec<Candidate>);

/// Changes a batch of events before it is applied, given the state before it.
pub type EventMutation = fn(&State, &mut Events);

/// Changes the state that a decision reads.
pub type ViewMutation = fn(&mut State);

/// Changes the constants of the trust network.
pub type TrustPolicyMutation = fn(&mut TrustPolicy);

/// Changes the network after a batch was applied, given the state and the batch before.
pub type NetworkMutation = fn(&State, &[Event], &mut NetworkState);

/// A kernel under test. The unmodified one does what [`decide`](orchestrion_kernel::decide) does; every step of an
/// exploration checks this (C-62).
#[derive(Clone, Debug)]
pub struct KernelUnderTest {
    /// The policy that claims read.
    pub policy: Policy,
    /// The policy that decides. It differs only in a mutant with a changed threshold or bound.
    pub decide_policy: Policy,
    /// The rows of the table in order of precedence; `None` for a removed row.
    pub rows: Vec<Option<&'static Transition>>,
    /// The position of the row whose guard is negated.
    pub negated: Option<usize>,
    /// Changes a batch of events before it is applied, given the state before it.
    pub mutate_events: Option<EventMutation>,
    /// Changes the running request after a batch was applied, given the state before it.
    pub mutate_request: Option<fn(&State, &mut Request)>,
    /// Changes the state that a decision reads; the batch is applied to the unmodified one.
    pub mutate_view: Option<ViewMutation>,
    /// Changes the trust policy that decides and is applied. Claims read the unmodified one.
    pub mutate_trust_policy: Option<TrustPolicyMutation>,
    /// Changes the network after a batch was applied.
    pub mutate_network: Option<NetworkMutation>,
    /// Changes every item that a context is built from.
    pub mutate_read: Option<ReadMutation>,
    /// Changes the selection problem of a context.
    pub mutate_problem: Option<ProblemMutation>,
}

impl KernelUnderTest {
    /// The unmodified kernel.
    #[must_use]
    pub fn unmodified(policy: Policy) -> Self {
        Self {
            decide_policy: policy.clone(),
            policy,
            rows: TRANSITIONS.iter().map(Some).collect(),
            negated: None,
            mutate_events: None,
            mutate_request: None,
            mutate_view: None,
            mutate_trust_policy: None,
            mutate_network: None,
            mutate_read: None,
            mutate_problem: None,
        }
    }

    /// The same kernel with the limits of a scope. Conversations of a model are too short for the policy's own limits
    /// of compaction and contexts. The name of the scope is appended to the policy's. A mutant's offset applies to the
    /// scope's limits.
    #[must_use]
    pub fn with_scope(mut self, model: Model, scope: &Scope) -> Self {
        let (mutant, right) = (self.decide_policy.clone(), self.policy.clone());
        let off = |limit: u32, number: fn(&Policy) -> u32| {
            limit.saturating_add(number(&mutant)).saturating_sub(number(&right))
        };
        // A policy that runs one task at a time does so at every scope.
        if let Some(tasks) = model.parallel_tasks(scope).filter(|_| right.bounds.parallel_tasks > 1) {
            self.decide_policy.bounds.parallel_tasks = off(tasks, |policy| policy.bounds.parallel_tasks);
            self.policy.bounds.parallel_tasks = tasks;
            self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
        }
        if model.free.contexts || model.free.situation {
            for policy in [&mut self.policy, &mut self.decide_policy] {
                if model.free.contexts {
                    contexts::limit(&mut policy.contexts);
                    policy.compaction = contexts::COMPACTION;
                } else {
                    situation::limit(policy);
                }
            }
            if model.free.contexts {
                self.policy.contexts.budget_tokens = contexts::BUDGET_TOKENS;
                self.decide_policy.contexts.budget_tokens =
                    off(contexts::BUDGET_TOKENS, |policy| policy.contexts.budget_tokens);
            }
            self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
            return self;
        }
        if let Some(method) = model.elo() {
            (self.policy.elo, self.decide_policy.elo) = (method, method);
            self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
        }
        let Some(limits) = model.compaction(scope) else { return self };
        self.decide_policy.compaction = CompactionPolicy {
            from_items: off(limits.from_items, |policy| policy.compaction.from_items),
            from_tokens: off(limits.from_tokens, |policy| policy.compaction.from_tokens),
            cluster_items: off(limits.cluster_items, |policy| policy.compaction.cluster_items),
            session_items_max: off(limits.session_items_max, |policy| policy.compaction.session_items_max),
        };
        self.decide_policy.contexts.budget_tokens =
            off(scope.bounds.context_tokens, |policy| policy.contexts.budget_tokens);
        self.policy.compaction = limits;
        self.policy.contexts.budget_tokens = scope.bounds.context_tokens;
        // A budget of a few lines counts their texts, not the details that every line of a fact has.
        (self.policy.contexts.provenance, self.decide_policy.contexts.provenance) = (false, false);
        (self.policy.contexts.reserved_tokens, self.decide_policy.contexts.reserved_tokens) = (0, 0);
        self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
        self
    }

    /// Decides an input in a state, at the time of [`input_time`].
    ///
    /// # Errors
    ///
    /// A [`Refusal`] as the kernel.
    pub fn decide(&self, state: &State, input: &Input) -> Result<Events, Refusal> {
        self.decide_observed(state, input, &mut |_| ())
    }

    /// Decides as [`Self::decide`] does, and reports the rows and guards that were tried with their results.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] as the kernel.
    pub fn decide_observed(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Observation),
    ) -> Result<Events, Refusal> {
        self.decide_at(state, input_time(state, input), input, seen)
    }

    /// Decides an input at this time, as [`Self::decide_observed`] does.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] as the kernel.
    pub fn decide_at(
        &self,
        state: &State,
        now: Timestamp,
        input: &Input,
        seen: &mut impl FnMut(Observation),
    ) -> Result<Events, Refusal> {
        let view = self.mutated_view(state);
        let read = view.as_ref().unwrap_or(state);
        let mut events = decide_with_row(&self.decide_policy, read, now, input, |state| {
            self.select_row(state, input, seen)
        })?;
        if let Some(spoil) = self.mutate_events {
            spoil(state, &mut events);
        }
        Ok(events)
    }

    /// The state that a decision reads, if a fault changes it.
    fn mutated_view(&self, state: &State) -> Option<State> {
        if self.mutate_view.is_none() && self.mutate_trust_policy.is_none() {
            return None;
        }
        let mut view = state.clone();
        if let Some(mutate) = self.mutate_view {
            mutate(&mut view);
        }
        if let (Some(mutate), Some(network)) = (self.mutate_trust_policy, view.network_mut()) {
            mutate(network.policy_mut());
        }
        Some(view)
    }

    /// Whether the kernel accepts an input, at the time of [`input_time`].
    #[must_use]
    pub fn accepts(&self, state: &State, input: &Input) -> bool {
        let view = self.mutated_view(state);
        let read = view.as_ref().unwrap_or(state);
        accepts_with_row(&self.decide_policy, read, input_time(state, input), input, |state| {
            self.select_row(state, input, &mut |_| ())
        })
    }

    /// The first enabled row whose guard holds.
    fn select_row(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Observation),
    ) -> Option<&'static Transition> {
        let (phase, trigger) = (state.control().phase(), input.trigger());
        let rows = self.rows.iter().enumerate().filter_map(|(place, row)| row.map(|row| (place, row)));
        for (place, row) in rows.filter(|(_, row)| row.is_enabled(&self.decide_policy, phase, trigger)) {
            let holds =
                row.when.is_satisfied(&self.decide_policy, state, input) != (self.negated == Some(place));
            if holds {
                seen(Observation::Row(place));
                return Some(row);
            }
            seen(Observation::Guard(place));
        }
        None
    }

    /// Whether contexts are built from the state and the problem as they are.
    #[must_use]
    pub const fn builds_contexts_unchanged(&self) -> bool {
        self.mutate_read.is_none() && self.mutate_problem.is_none()
    }

    /// Builds the context of a call, as [`SentCall::build`] does.
    ///
    /// # Errors
    ///
    /// A [`ContextError`] as the kernel.
    pub fn build_context(&self, after: &State, operation: Operation) -> Result<SentCall, ContextError> {
        let mutated = self.mutate_read.map(|mutate| mutated_items(after, mutate));
        let read = mutated.as_ref().unwrap_or(after);
        let selector = SelectorUnderTest {
            exact: ExactSelector::from_policy(&self.decide_policy),
            mutate: self.mutate_problem,
        };
        SentCall::build(&self.decide_policy, read, operation, &selector)
    }

    /// Applies a batch.
    #[must_use]
    pub fn apply(&self, before: &State, events: &[Event]) -> State {
        let mut after = before.clone();
        if let Some(mutate) = self.mutate_trust_policy
            && let Some(network) = after.network_mut()
        {
            let policy = *network.policy();
            mutate(network.policy_mut());
            events.iter().for_each(|event| after.apply(event));
            after.network_mut().into_iter().for_each(|network| *network.policy_mut() = policy);
        } else {
            events.iter().for_each(|event| after.apply(event));
        }
        if let (Some(mutate), Some(network)) = (self.mutate_network, after.network_mut()) {
            mutate(before, events, network);
        }
        if let (Some(spoil), Some(request)) = (self.mutate_request, after.control_mut().request_mut()) {
            spoil(before, request);
        }
        after
    }
}

/// A state with changed items.
fn mutated_items(state: &State, mutate: ReadMutation) -> State {
    let mut mutated = state.clone();
    for entry in state.semantic().entries() {
        let (mut item, mut deps) = (entry.item.clone(), entry.deps.clone());
        mutate(state, &mut item, &mut deps);
        if (&item, &deps) != (&entry.item, &entry.deps) {
            mutated.apply(&Event::UpdateItem { item, deps });
        }
    }
    mutated
}

/// The exact selector, or one that solves a changed problem.
struct SelectorUnderTest {
    exact: ExactSelector,
    mutate: Option<ProblemMutation>,
}

impl Selector for SelectorUnderTest {
    fn select(&self, problem: &Problem) -> Selected {
        let changed = self.mutate.and_then(|mutate| {
            let (mut budget, mut candidates) = (problem.budget(), problem.candidates().to_vec());
            mutate(&mut budget, &mut candidates);
            Problem::new(budget, candidates).ok()
        });
        let Some(changed) = changed else { return self.exact.select(problem) };
        let Selected { selection: Selection { selected, .. }, status } = self.exact.select(&changed);
        let sum = |of: fn(&Candidate) -> u64| {
            selected.iter().filter_map(|at| problem.candidates().get(*at)).map(of).sum()
        };
        let (utility, cost) = (sum(|candidate| candidate.utility), sum(|candidate| candidate.cost));
        Selected { selection: Selection { utility, cost, selected }, status }
    }
}
