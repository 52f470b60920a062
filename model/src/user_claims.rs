//! The claims of a project in the models: the kernel and its adversary, with the monitors of these claims.
//!
//! A product of its own, so that the exploration of the built-in claims neither grows nor changes. A claim about what must follow
//! is decided where its window ends: that a request ends is a built-in claim.

use crate::actors::fairness_class;
use crate::adversary::Adversary;
use crate::check::{Counterexample, ReachResult};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{Model, Scope};
use orchestrion_claims::Actor;
use orchestrion_explorer::{FairModel, ModelError, ObservationSet, Options, Progress, Termination};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{CallId, Input, State};
use orchestrion_user_claims::{Finding, MonitorStates, Monitors, UserClaim};

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitoredState {
    /// The kernel's state, in canonical ids.
    state: Box<State>,
    monitors: MonitorStates,
}

/// The kernel, its adversary and the monitors.
#[derive(Debug)]
pub struct MonitoredModel {
    subject: KernelUnderTest,
    adversary: Adversary,
    monitors: Monitors,
}

/// The result of one claim in one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserClaimResult {
    /// Whether an event occurred that can decide the claim.
    pub premise_reached: bool,
    /// A shortest path to a violation.
    pub counterexample: Option<Counterexample>,
    /// A shortest path to a call that the claim forbids, or would forbid in its shadow mode.
    pub forbids: Option<Counterexample>,
    /// A shortest path to a forbidden call whose failure no transition handles.
    pub halts: Option<Counterexample>,
}

/// One explored model.
#[derive(Clone, Debug)]
pub struct MonitoredRun {
    /// The name of the model.
    pub model: &'static str,
    /// The number of distinct products of state, request and monitors.
    pub products: usize,
    /// The largest distance of a product from the initial state, in steps.
    pub depth: usize,
    /// How the exploration ended.
    pub ended: Termination,
    /// The result of each claim, in their order.
    pub found: Vec<UserClaimResult>,
}

/// A path in one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPath {
    /// The model.
    pub model: &'static str,
    /// The path.
    pub counterexample: Box<Counterexample>,
}

/// The result of one claim over all models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedUserClaim {
    /// The verdict.
    pub verdict: UserClaimVerdict,
    /// A shortest path to a call that the claim forbids, or would forbid in its shadow mode.
    pub forbids: Option<FoundPath>,
}

/// The verdict on one claim over all models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserClaimVerdict {
    /// No reachable step of any model violates the claim.
    Holds,
    /// The claim fails. This is a shortest counterexample.
    Fails(FoundPath),
    /// No transition handles the failure of a call that the claim forbids, so that the conversation halts. This is a shortest path.
    Halts(FoundPath),
    /// No event of any model can decide the claim.
    Vacuous,
    /// No explored step violates the claim, and an exploration hit a resource limit.
    Inconclusive,
}

impl UserClaimVerdict {
    /// The name of the verdict.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails(_) | Self::Halts(_) => "fails",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl MonitoredModel {
    /// Builds the model of a kernel.
    #[must_use]
    pub fn new(subject: KernelUnderTest, model: Model, scope: &Scope, claims: &[UserClaim]) -> Self {
        let subject = subject.with_scope(model, scope);
        let adversary = Adversary::new(&subject.policy, model, scope);
        Self { subject, adversary, monitors: Monitors::new(claims) }
    }

    fn take(
        &self,
        before: &MonitoredState,
        input: &Input,
        mut found: impl FnMut(Finding),
    ) -> Option<MonitoredState> {
        let events = self.subject.decide(&before.state, input).ok()?;
        let mut after = MonitoredState {
            state: Box::new(self.subject.apply(&before.state, &events)),
            monitors: before.monitors.clone(),
        };
        for event in &events {
            self.monitors.step(&mut after.monitors, &self.subject.policy, event, &mut found);
        }
        after.state.canonicalize();
        after.monitors.canonicalize();
        Some(after)
    }
}

impl stateright::Model for MonitoredModel {
    type State = MonitoredState;
    type Action = Input;

    fn init_states(&self) -> Vec<MonitoredState> {
        vec![MonitoredState { state: Box::new(initial_state()), monitors: self.monitors.start() }]
    }

    fn actions(&self, state: &MonitoredState, actions: &mut Vec<Input>) {
        let forbidden: Vec<CallId> = state.monitors.forbidden_calls().collect();
        let inputs = self.adversary.inputs(&state.state);
        actions.extend(inputs.into_iter().filter(|input| forbidden.is_empty() || is_open(input, &forbidden)));
        // The runtime answers such a call itself, before anything else happens to it.
        actions.extend(forbidden.into_iter().map(fails_as_forbidden));
    }

    fn next_state(&self, state: &MonitoredState, input: Input) -> Option<MonitoredState> {
        self.take(state, &input, |_| {})
    }
}

impl FairModel for MonitoredModel {
    /// The kinds of observations, each for every claim.
    fn observation_count(&self) -> usize {
        Seen::ALL.len() * self.monitors.claims().len()
    }

    fn step(
        &self,
        state: &MonitoredState,
        input: Input,
        observations: &mut ObservationSet,
    ) -> Option<MonitoredState> {
        let count = self.monitors.claims().len();
        let after = self.take(state, &input, |finding| match finding {
            Finding::Violated(claim, _) => observations.insert(Seen::Violated.at(claim, count)),
            Finding::Premise(claim) => observations.insert(Seen::Premise.at(claim, count)),
            Finding::Forbidden(claim, _) => observations.insert(Seen::Forbids.at(claim, count)),
        })?;
        for call in after.monitors.forbidden_calls() {
            if !self.subject.accepts(&after.state, &fails_as_forbidden(call)) {
                let claims = after.monitors.forbidden_by(call).iter();
                claims.for_each(|claim| observations.insert(Seen::Halts.at(claim, count)));
            }
        }
        Some(after)
    }

    fn fairness_class(&self, state: &MonitoredState, input: &Input) -> u8 {
        let answered = state.state.control().answered_call(input);
        fairness_class(Actor::for_input(input, answered.map(|call| call.operation)))
    }

    fn heap_bytes(&self, _: &MonitoredState) -> usize {
        // As for the product of the catalogue's claims, and a few bytes for each monitor.
        1024 + 64 * self.monitors.claims().len()
    }
}

/// What a step shows about a claim.
#[derive(Clone, Copy, Debug)]
enum Seen {
    /// It is violated.
    Violated,
    /// An event can decide it.
    Premise,
    /// It forbids a call, or would.
    Forbids,
    /// The kernel refuses the failure of a call that it forbids.
    Halts,
}

impl Seen {
    const ALL: [Self; 4] = [Self::Violated, Self::Premise, Self::Forbids, Self::Halts];

    /// The observation of a claim, of this many claims.
    const fn at(self, claim: usize, count: usize) -> usize {
        self as usize * count + claim
    }
}

/// The input with which the runtime answers a call that a claim forbids.
const fn fails_as_forbidden(call: CallId) -> Input {
    Input::CallFailed { call, failure: Failure::Forbidden }
}

/// Whether an input can occur while calls are pending that were not made: it neither answers one of them nor hands it off.
fn is_open(input: &Input, forbidden: &[CallId]) -> bool {
    match input {
        Input::Reply { call, .. } | Input::CallFailed { call, .. } => !forbidden.contains(call),
        Input::Network(_) => false,
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Step
        | Input::Cancel
        | Input::Write(_)
        | Input::Tick
        | Input::Resume => true,
    }
}

/// Explores one model of a kernel until an event violates a claim: a shortest path to a predicate that the claim excludes
/// ([`UserClaim::never`]).
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn reach_violation(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    claim: &UserClaim,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ReachResult, ModelError> {
    let mut stop_at = ObservationSet::empty(Seen::ALL.len());
    stop_at.insert(Seen::Violated.at(0, 1));
    let options = Options { stop_at, ..options.clone() };
    let claims = std::slice::from_ref(claim);
    let run = explore_user_claims(subject, model, scope, claims, &options, progress)?;
    let path = run.found.into_iter().next().and_then(|found| found.counterexample);
    Ok(ReachResult { model: run.model, products: run.products, depth: run.depth, ended: run.ended, path })
}

/// Explores one model of a kernel with the monitors of these claims. `progress` is called at most ten times a second.
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn explore_user_claims(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    claims: &[UserClaim],
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<MonitoredRun, ModelError> {
    let monitored = MonitoredModel::new(subject.clone(), model, scope, claims);
    let exploration = orchestrion_explorer::explore(&monitored, options, progress)?;
    let path_to = |seen: Seen, claim: usize| match exploration.witness(seen.at(claim, claims.len())) {
        Some(witness) => {
            let inputs = exploration.path_to_witness(&monitored, witness)?.into_actions();
            Ok(Some(Counterexample::of(&monitored.subject, &inputs, None).0))
        }
        None => Ok(None),
    };
    let found = (0..claims.len()).map(|claim| {
        Ok(UserClaimResult {
            premise_reached: exploration.witness(Seen::Premise.at(claim, claims.len())).is_some(),
            counterexample: path_to(Seen::Violated, claim)?,
            forbids: path_to(Seen::Forbids, claim)?,
            halts: path_to(Seen::Halts, claim)?,
        })
    });
    Ok(MonitoredRun {
        model: model.name,
        products: exploration.states(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        found: found.collect::<Result<_, ModelError>>()?,
    })
}

/// Merges the runs of one policy, claim by claim.
#[must_use]
pub fn merge_user_verdicts(claims: &[UserClaim], runs: &[MonitoredRun]) -> Vec<MergedUserClaim> {
    let merged = |claim: usize| {
        let found = || runs.iter().filter_map(|run| Some((run, run.found.get(claim)?)));
        let shortest = |path_of: fn(&UserClaimResult) -> Option<&Counterexample>| {
            let paths = found().filter_map(|(run, found)| Some((run.model, path_of(found)?)));
            let (model, path) = paths.min_by_key(|(_, path)| path.inputs.len())?;
            Some(FoundPath { model, counterexample: Box::new(path.clone()) })
        };
        let fails = shortest(|found| found.counterexample.as_ref());
        let halts = shortest(|found| found.halts.as_ref());
        let verdict = match (fails, halts) {
            (Some(path), _) => UserClaimVerdict::Fails(path),
            (None, Some(path)) => UserClaimVerdict::Halts(path),
            (None, None) if runs.iter().any(|run| !matches!(run.ended, Termination::Exhausted)) => {
                UserClaimVerdict::Inconclusive
            }
            (None, None) if found().any(|(_, found)| found.premise_reached) => UserClaimVerdict::Holds,
            (None, None) => UserClaimVerdict::Vacuous,
        };
        MergedUserClaim { verdict, forbids: shortest(|found| found.forbids.as_ref()) }
    };
    (0..claims.len()).map(merged).collect()
}
