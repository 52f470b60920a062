//! The product that is explored: the kernel's state and the history that trace claims read.

use crate::adversary::Adversary;
use crate::contracts;
use crate::scopes::{Model, Scope};
use orchestrion_kernel::claims::{CLAIMS, Check, Claim, History, broken_by_step};
use orchestrion_kernel::{ConversationId, Input, Policy, State, decide};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Mutex, PoisonError};

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// The kernel's state, in canonical names.
    pub state: State,
    /// What happened so far in the running request.
    pub history: History,
    /// The claims that the step to here broke, one bit each. The next step starts afresh, so a broken claim
    /// is seen where it breaks and does not double what is behind it.
    pub broken: u64,
}

/// The kernel and its adversary: a labelled transition system.
#[derive(Debug)]
pub struct KernelModel {
    policy: Policy,
    adversary: Adversary,
    /// The claims that say something under the policy, one bit each; the others would only multiply products.
    speaking: u64,
    /// 64-bit digests of the states seen, to count them apart from products; two that collide count once.
    states: Mutex<HashSet<u64>>,
}

impl KernelModel {
    /// The model of a policy.
    #[must_use]
    pub fn new(policy: Policy, model: Model, scope: &Scope) -> Self {
        let adversary = Adversary::new(&policy, model, scope);
        let speaks = |claim: &Claim| (claim.not_under)(&policy).is_none();
        let speaking = CLAIMS.iter().enumerate().filter(|(_, claim)| speaks(claim)).map(|(i, _)| bit(i));
        let speaking = speaking.fold(0, |all, one| all | one);
        Self { policy, adversary, speaking, states: Mutex::default() }
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// How many different kernel states were seen so far.
    pub fn states_seen(&self) -> usize {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The product in which nothing has happened.
    #[must_use]
    pub fn start(&self) -> Product {
        let product = Product { state: fresh(), history: History::default(), broken: 0 };
        self.see(&product.state);
        product
    }

    /// Every input that is worth trying.
    #[must_use]
    pub fn inputs(&self, product: &Product) -> Vec<Input> {
        self.adversary.inputs(&product.state)
    }

    /// The product after an input; none if the input is refused, for a refused input is no step.
    #[must_use]
    pub fn step(&self, before: &Product, input: &Input) -> Option<Product> {
        let events = decide(&self.policy, &before.state, input).ok()?;
        let mut state = before.state.clone();
        events.iter().for_each(|event| state.apply(event));
        let mut history = before.history.clone();
        let mut broken = 0;
        for claim in broken_by_step(&self.policy, &before.state, &events, &state, &mut history) {
            broken |= bit(claim);
        }
        for (i, claim) in CLAIMS.iter().enumerate() {
            if let Check::Contract(contract) = claim.check
                && !contracts::holds_in_step(contract, &self.policy, &before.state, input, &events, &state)
            {
                broken |= bit(i);
            }
        }
        state.canon();
        self.see(&state);
        Some(Product { state, history, broken: broken & self.speaking })
    }

    /// Whether a claim holds in this product.
    #[must_use]
    pub fn holds(&self, claim: usize, product: &Product) -> bool {
        product.broken & bit(claim) == 0
            && match CLAIMS.get(claim).map(|claim| claim.check) {
                Some(Check::State(holds)) => holds(&self.policy, &product.state),
                Some(Check::Contract(contract)) => {
                    contracts::holds_in_state(contract, &self.policy, &product.state)
                }
                _ => true,
            }
    }

    fn see(&self, state: &State) {
        let digest = BuildHasherDefault::<DefaultHasher>::default().hash_one(state);
        self.states.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
    }
}

/// A conversation in which nothing has happened.
#[must_use]
pub fn fresh() -> State {
    State::new(ConversationId::new("model"))
}

/// An input as it reads in a state with other names: an answer answers the call that is live there.
#[must_use]
pub fn rename(input: &Input, state: &State) -> Input {
    let live = state.control.waiting().map(|call| call.id);
    match (input.clone(), live) {
        (Input::Reply { report, .. }, Some(call)) => Input::Reply { call, report },
        (Input::CallFailed { failure, .. }, Some(call)) => Input::CallFailed { call, failure },
        (input, _) => input,
    }
}

const fn bit(claim: usize) -> u64 {
    1 << claim
}

// The bits of `Product::broken`.
const _: () = assert!(CLAIMS.len() <= 64, "more claims than bits");
