//! The claims of a project in the models: the kernel and its adversary, with the monitors of these claims.
//!
//! A product of its own, so that the exploration of the built-in claims neither grows nor changes. A claim about what must follow
//! is decided where its window ends: that a request ends is a built-in claim.

use crate::actors::fairness_class;
use crate::adversary::Adversary;
use crate::check::Counterexample;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{Model, Scope};
use orchestrion_claims::Actor;
use orchestrion_explorer::{FairModel, ModelError, ObservationSet, Options, Progress, Termination};
use orchestrion_kernel::{Input, State};
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
pub struct MonitoredModel<'c> {
    subject: KernelUnderTest,
    adversary: Adversary,
    monitors: Monitors<'c>,
}

/// The result of one claim in one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserClaimResult {
    /// Whether an event occurred that can decide the claim.
    pub premise_reached: bool,
    /// A shortest path to a violation.
    pub counterexample: Option<Counterexample>,
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

/// The verdict on one claim over all models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserClaimVerdict {
    /// No reachable step of any model violates the claim.
    Holds,
    /// The claim fails. This is a shortest counterexample.
    Fails {
        /// The model.
        model: &'static str,
        /// The counterexample.
        counterexample: Box<Counterexample>,
    },
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
            Self::Fails { .. } => "fails",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl<'c> MonitoredModel<'c> {
    /// Builds the model of a kernel.
    #[must_use]
    pub fn new(subject: KernelUnderTest, model: Model, scope: &Scope, claims: &'c [UserClaim]) -> Self {
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

impl stateright::Model for MonitoredModel<'_> {
    type State = MonitoredState;
    type Action = Input;

    fn init_states(&self) -> Vec<MonitoredState> {
        vec![MonitoredState { state: Box::new(initial_state()), monitors: self.monitors.start() }]
    }

    fn actions(&self, state: &MonitoredState, actions: &mut Vec<Input>) {
        actions.extend(self.adversary.inputs(&state.state));
    }

    fn next_state(&self, state: &MonitoredState, input: Input) -> Option<MonitoredState> {
        self.take(state, &input, |_| {})
    }
}

impl FairModel for MonitoredModel<'_> {
    /// For each claim whether it is violated, then for each whether an event can decide it.
    fn observation_count(&self) -> usize {
        2 * self.monitors.claims().len()
    }

    fn step(
        &self,
        state: &MonitoredState,
        input: Input,
        observations: &mut ObservationSet,
    ) -> Option<MonitoredState> {
        let count = self.monitors.claims().len();
        self.take(state, &input, |finding| match finding {
            Finding::Violated(claim, _) => observations.insert(claim),
            Finding::Premise(claim) => observations.insert(count + claim),
        })
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
    let found = (0..claims.len()).map(|claim| {
        let counterexample = match exploration.witness(claim) {
            Some(witness) => {
                let inputs = exploration.path_to_witness(&monitored, witness)?.into_actions();
                Some(Counterexample::of(&monitored.subject, &inputs, None).0)
            }
            None => None,
        };
        let premise_reached = exploration.witness(claims.len() + claim).is_some();
        Ok(UserClaimResult { premise_reached, counterexample })
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
pub fn merge_user_verdicts(claims: &[UserClaim], runs: &[MonitoredRun]) -> Vec<UserClaimVerdict> {
    let verdict = |claim: usize| {
        let found = || runs.iter().filter_map(|run| Some((run, run.found.get(claim)?)));
        let shortest = found()
            .filter_map(|(run, found)| Some((run.model, found.counterexample.as_ref()?)))
            .min_by_key(|(_, counterexample)| counterexample.inputs.len());
        match shortest {
            Some((model, counterexample)) => {
                UserClaimVerdict::Fails { model, counterexample: Box::new(counterexample.clone()) }
            }
            None if runs.iter().any(|run| !matches!(run.ended, Termination::Exhausted)) => {
                UserClaimVerdict::Inconclusive
            }
            None if found().any(|(_, found)| found.premise_reached) => UserClaimVerdict::Holds,
            None => UserClaimVerdict::Vacuous,
        }
    };
    (0..claims.len()).map(verdict).collect()
}
