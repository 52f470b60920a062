//! Checking: explore every model, hold every claim against everything reached, and say what was found.

use crate::product::{KernelModel, Product, fresh, rename};
use crate::scopes::{Model, Scope};
use orchestrion_kernel::claims::{CLAIMS, Check, Claim};
use orchestrion_kernel::{Input, Policy, State, decide};
use stateright::{Checker, Expectation, HasDiscoveries, Property};
use std::time::Duration;

/// Inputs that are tried in one model before its exploration is given up, unless somebody says otherwise.
pub const LIMIT: usize = 5_000_000;

/// One explored model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The model's name.
    pub model: &'static str,
    /// The scope's name.
    pub scope: &'static str,
    /// The policy's name.
    pub policy: String,
    /// Different kernel states.
    pub states: usize,
    /// Different products of state and history; less than twice as many.
    pub products: usize,
    /// Whether everything was explored; otherwise the limit came first.
    pub complete: bool,
    /// What each claim came to, in the order of [`CLAIMS`].
    pub found: Vec<Found>,
}

/// What one run found out about one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The claim's premise was reached.
    pub premise_reached: bool,
    /// A shortest way to break it, as inputs to a fresh conversation.
    pub counterexample: Option<Vec<Input>>,
}

/// What all runs together say of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In every state reached in every run.
    Holds,
    /// Not: here is a shortest way to break it.
    Fails {
        /// The position of the run that found it.
        run: usize,
        /// The inputs, to a fresh conversation.
        inputs: Vec<Input>,
    },
    /// No run came where it has something to say.
    Vacuous,
    /// No run broke it, but one was cut short.
    Inconclusive,
    /// It was not checked, and why.
    NotChecked(&'static str),
}

impl Verdict {
    /// The verdict in one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails { .. } => "fails",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
            Self::NotChecked(_) => "not_checked",
        }
    }
}

/// Explores one model, trying at most `limit` inputs in all. `progress` is told, now and then, how many products
/// were reached.
pub fn explore(
    policy: &Policy,
    model: Model,
    scope: &Scope,
    limit: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Run {
    use stateright::Model as _;
    // One thread: then the first way found to a state is a shortest one, and the same in every run.
    let checker = KernelModel::new(policy.clone(), model, scope)
        .checker()
        .threads(1)
        .finish_when(HasDiscoveries::All)
        .target_state_count(limit)
        .spawn_bfs();
    // A search that was cut short passes silently; only the count tells.
    while !checker.is_done() && checker.state_count() < limit {
        std::thread::sleep(Duration::from_millis(20));
        progress(checker.unique_state_count());
    }
    let way = |property: &'static str| checker.discovery(property).map(stateright::Path::into_actions);
    let found = CLAIMS.iter().zip(PREMISE_NAMES).map(|(claim, premise)| Found {
        premise_reached: way(premise).is_some(),
        counterexample: way(claim.id).map(|inputs| on_raw_names(policy, &inputs)),
    });
    let found = found.collect();
    Run {
        model: model.name,
        scope: scope.name,
        policy: policy.name.clone(),
        states: checker.model().states_seen(),
        products: checker.unique_state_count(),
        complete: checker.state_count() < limit,
        found,
    }
}

/// Puts the runs of one policy together, claim by claim, in the order of [`CLAIMS`].
#[must_use]
pub fn verdicts(policy: &Policy, runs: &[Run]) -> Vec<Verdict> {
    let of_claim = |(i, claim): (usize, &Claim)| {
        if let Check::Liveness = claim.check {
            return Verdict::NotChecked("liveness: needs an explorer that knows fairness");
        }
        if let Some(why) = (claim.not_under)(policy) {
            return Verdict::NotChecked(why);
        }
        let found =
            || runs.iter().enumerate().filter_map(|(run, r)| r.found.get(i).map(|found| (run, found)));
        let shortest = found()
            .filter_map(|(run, found)| found.counterexample.as_ref().map(|inputs| (run, inputs)))
            .min_by_key(|(_, inputs)| inputs.len());
        match shortest {
            Some((run, inputs)) => Verdict::Fails { run, inputs: inputs.clone() },
            None if runs.iter().any(|run| !run.complete) => Verdict::Inconclusive,
            None if found().any(|(_, found)| found.premise_reached) => Verdict::Holds,
            None => Verdict::Vacuous,
        }
    };
    CLAIMS.iter().enumerate().map(of_claim).collect()
}

/// A counterexample in canonical names, as inputs that a fresh conversation takes one after the other.
fn on_raw_names(policy: &Policy, inputs: &[Input]) -> Vec<Input> {
    let mut state: State = fresh();
    let mut raw = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = rename(input, &state);
        if let Ok(events) = decide(policy, &state, &input) {
            events.iter().for_each(|event| state.apply(event));
        }
        raw.push(input);
    }
    raw
}

impl stateright::Model for KernelModel {
    type State = Product;
    type Action = Input;

    fn init_states(&self) -> Vec<Product> {
        vec![self.start()]
    }

    fn actions(&self, product: &Product, actions: &mut Vec<Input>) {
        actions.extend(self.inputs(product));
    }

    fn next_state(&self, product: &Product, input: Input) -> Option<Product> {
        self.step(product, &input)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let claims = CLAIMS.iter().zip(HOLDS).map(|(claim, condition)| Property {
            expectation: Expectation::Always,
            name: claim.id,
            condition: *condition,
        });
        let premises = CLAIMS.iter().zip(PREMISE_NAMES.iter().zip(PREMISES)).map(|(_, (name, condition))| {
            Property { expectation: Expectation::Sometimes, name, condition: *condition }
        });
        // The search stops once every property is settled. This one never is, so it goes to the end.
        let to_the_end = Property::<Self>::sometimes("explored to the end", |_, _| false);
        claims.chain(premises).chain([to_the_end]).collect()
    }
}

/// stateright's conditions are plain functions that know neither claim nor premise: one for each position.
macro_rules! by_position {
    ($($i:literal)*) => {
        const HOLDS: &[fn(&KernelModel, &Product) -> bool] = &[$(holds::<$i>),*];
        const PREMISES: &[fn(&KernelModel, &Product) -> bool] = &[$(premise::<$i>),*];
        const PREMISE_NAMES: &[&str] = &[$(concat!("premise ", $i)),*];
    };
}

by_position! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

const _: () = assert!(CLAIMS.len() <= HOLDS.len(), "more claims than positions");

fn holds<const I: usize>(model: &KernelModel, product: &Product) -> bool {
    model.holds(I, product)
}

fn premise<const I: usize>(model: &KernelModel, product: &Product) -> bool {
    CLAIMS.get(I).is_some_and(|claim| (claim.premise)(model.policy(), &product.state))
}
