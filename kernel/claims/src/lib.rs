//! Claims: the properties of the kernel, written once and checked by the model checker, by scenario runs and by replay.
//!
//! [`CLAIMS`] is the single list. State and step claims read states. Trace claims read events and the [`History`] that folds them,
//! so that they do not depend on the kernel's own state.

#![no_std]

extern crate alloc;

mod by_kind;
pub mod catalogue;
mod claim_set;
mod context_question;
mod context_view;
mod evaluate;
pub mod history;
mod reference;
mod semantic_view;
mod sent_call;

pub use catalogue::{CLAIMS, has_unproven_context, is_unproven_context};
pub use claim_set::ClaimSet;
pub use context_question::ContextQuestion;
pub use context_view::ContextView;
pub use evaluate::{
    batch_violations, budget_violations, context_premises, context_violations, history_violations,
    input_violations, other_step_violations, semantic_premises, semantic_step_violations,
    semantic_violations, state_violations, step_violations, write_violations,
};
pub use history::History;
pub use reference::writes::Items;
pub use semantic_view::{SemanticStep, SemanticView};
pub use sent_call::{EmittedCall, SentCall, emitted_call, is_sent, waiting_operations};

use orchestrion_kernel::event::{Event, Events};
use orchestrion_kernel::input::Input;
use orchestrion_kernel::module::{Module, Operation};
use orchestrion_kernel::network::{NetworkEvent, Node};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::refusal::Refusal;
use orchestrion_kernel::state::{NetworkState, State};

/// A property of every run, and its check.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The identifier, such as `C-06`.
    pub id: &'static str,
    /// The source clause, or the decision record.
    pub clause: &'static str,
    /// The property as a sentence.
    pub statement: &'static str,
    /// The property as a formula.
    pub formula: &'static str,
    /// The finding of the design, such as `F6`.
    pub finding: Option<&'static str>,
    /// The transition that shows the finding, where other defects violate the claim too: a counterexample of the finding takes it
    /// in its cycle or, without a cycle, in its last step.
    pub finding_row: Option<&'static str>,
    /// The check.
    pub check: ClaimCheck,
    /// Whether the claim applies in a state. If no such state is reached, the claim is vacuous.
    pub premise: Premise,
    /// Whether the claim is about the optimum of contexts: a context that is not proven optimal leaves it inconclusive.
    pub needs_proven_contexts: bool,
    /// Why the claim is not applicable under a policy, if it is not.
    pub not_applicable: fn(&Policy) -> Option<&'static str>,
}

/// The premise of a claim.
#[derive(Clone, Copy, Debug)]
pub enum Premise {
    /// About a state.
    State(fn(&Policy, &State) -> bool),
    /// About the semantic state.
    Semantic(fn(&Policy, &SemanticView<'_>) -> bool),
    /// About a pending call that was sent with a context.
    Context(fn(&ContextView<'_>) -> bool),
    /// About a state with a network.
    Network(fn(&State, &NetworkState) -> bool),
}

impl Premise {
    /// Returns whether the premise holds in a state.
    #[must_use]
    pub fn holds(&self, policy: &Policy, state: &State) -> bool {
        match self {
            Self::State(holds) => holds(policy, state),
            Self::Semantic(holds) => holds(policy, &SemanticView::new(state)),
            Self::Context(holds) => {
                waiting_operations(state).any(|operation| holds(&ContextView::new(policy, state, operation)))
            }
            Self::Network(holds) => state.network().is_some_and(|network| holds(state, network)),
        }
    }
}

/// The check of a claim. A claim has the kind that reads least: a model checker evaluates it once for each value of what it reads.
#[derive(Clone, Copy, Debug)]
pub enum ClaimCheck {
    /// Holds in every state.
    StateInvariant(fn(&Policy, &State) -> bool),
    /// Holds for the semantic state of every state.
    SemanticInvariant(fn(&Policy, &SemanticView<'_>) -> bool),
    /// Holds in every state for the response of `decide` to some input. The caller passes the `decide` under test.
    ResponseInvariant(fn(&Policy, &Decide<'_>, &State) -> bool),
    /// Holds in every state for the inputs that `decide` accepts.
    AcceptanceInvariant(fn(&Policy, &Accepts<'_>, &State) -> bool),
    /// Holds in every state with a network.
    NetworkInvariant(fn(&State, &NetworkState) -> bool),
    /// Holds in every step, given the states before and after it.
    StepInvariant(fn(&Policy, &State, &[Event], &State) -> bool),
    /// Holds in every step, given the views of the semantic states before and after it, and the events about what a view contains.
    SemanticStepInvariant(fn(&Policy, &SemanticView<'_>, &[&Event], &SemanticView<'_>) -> bool),
    /// Holds in every step, given the state before it, the input, the events and the state after it.
    InputInvariant(fn(&Policy, &State, &Input, &[Event], &State) -> bool),
    /// Holds for the events of every step alone.
    BatchInvariant(fn(&[Event]) -> bool),
    /// Holds at every event about the network, given the state before this event.
    NetworkEventInvariant(fn(&Policy, &State, &NetworkEvent) -> bool),
    /// Holds after every step for each node of the network, given the node that the events lead to by the reference of
    /// 001 §10.2, and the node itself.
    NodeInvariant(fn(&Node, &Node) -> bool),
    /// Holds for every write, given the items after it by the reference of 003-6 and the items after it; none of a refused write.
    WriteInvariant(fn(Option<&Items>, Option<&Items>) -> bool),
    /// Holds in every step, given the state before it and the call with a context that it emits.
    BudgetInvariant(fn(&Policy, &State, &[Event], Option<&EmittedCall>) -> bool),
    /// Holds for every call that is sent with a context, given the context by the reference, and the call.
    ContextInvariant(fn(&ContextView<'_>, &SentCall) -> bool),
    /// Holds at every event, given the history of the request before it.
    TraceInvariant(fn(&Policy, &History, &Event) -> bool),
    /// Holds after every step between the history and the kernel's state.
    HistoryConsistency(StatePredicate),
    /// A contract of `decide` and `apply` themselves, checked by the model checker.
    Contract(Contract),
    /// Leads-to: in every fair run, each trigger is followed by a response. Only an explorer with fairness can check it.
    LeadsTo {
        /// The trigger.
        from: StatePredicate,
        /// The response.
        to: StatePredicate,
        /// The fairness assumptions.
        under: &'static [Fairness],
    },
}

/// `decide` under one policy.
pub type Decide<'a> = dyn Fn(&State, &Input) -> Result<Events, Refusal> + 'a;

/// Whether `decide` accepts an input under one policy.
pub type Accepts<'a> = dyn Fn(&State, &Input) -> bool + 'a;

/// A predicate on the history and the state.
pub type StatePredicate = fn(&Policy, &History, &State) -> bool;

/// The actor of a step. A fairness class belongs to an actor, never to a single call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The kernel takes an internal step.
    Kernel,
    /// A module replies, or its deadline passes.
    Module(Module),
    /// The user sends a message or cancels; no fairness applies.
    User,
    /// The runtime resumes after a crash.
    Crash,
}

/// A fairness assumption of a liveness claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fairness {
    /// An actor that is enabled forever acts infinitely often.
    Weak(Actor),
    /// An actor that is enabled infinitely often acts infinitely often.
    Strong(Actor),
    /// The actor acts only finitely often.
    FinitelyOften(Actor),
}

impl Actor {
    /// Returns the actor of an input, given the pending operation.
    #[must_use]
    pub const fn for_input(input: &Input, waiting: Option<Operation>) -> Self {
        match (input, waiting) {
            (Input::Step, _) => Self::Kernel,
            (Input::Reply { .. } | Input::CallFailed { .. }, Some(ask)) => Self::Module(ask.module()),
            (Input::Resume, _) => Self::Crash,
            _ => Self::User,
        }
    }
}

/// A contract of `decide` and `apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// A refused input does not change the state, and the refusal has a message.
    RefusalPreservesState,
    /// A reply to another call, a reply of the wrong kind and a message of another user have their own refusals. Outside Idle, a message is
    /// unexpected.
    RefusesMismatchedReply,
    /// A well-typed reply to the pending call is accepted.
    AcceptsExpectedReply,
    /// Every phase accepts or refuses every trigger. An accepted input takes one transition, or is a resume.
    Total,
    /// The same state and input give the same events.
    Deterministic,
    /// An input at the next expiry is decided as a tick, and then the input.
    PassesTimeFirst,
    /// Applying the decoded events gives the same state as applying the events.
    ReplaysFromLog,
}

impl ClaimCheck {
    /// Returns the kind of the claim.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::StateInvariant(_)
            | Self::SemanticInvariant(_)
            | Self::NetworkInvariant(_)
            | Self::ResponseInvariant(_)
            | Self::AcceptanceInvariant(_) => "state",
            Self::StepInvariant(_)
            | Self::InputInvariant(_)
            | Self::SemanticStepInvariant(_)
            | Self::BatchInvariant(_)
            | Self::NetworkEventInvariant(_)
            | Self::NodeInvariant(_)
            | Self::WriteInvariant(_)
            | Self::BudgetInvariant(_) => "step",
            Self::ContextInvariant(_) => "context",
            Self::TraceInvariant(_) => "trace",
            Self::HistoryConsistency(_) => "memory",
            Self::Contract(_) => "contract",
            Self::LeadsTo { .. } => "liveness",
        }
    }
}
