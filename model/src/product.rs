//! The product that is explored: the kernel's state and the history that trace claims read.

use crate::actors::{fairness, fairness_class};
use crate::adversary::Adversary;
use crate::context_verdict::{EmittedVerdict, WaitingVerdict};
use crate::contracts;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::responses::Responses;
use crate::scopes::{Model, Scope};
use crate::statistics::PremiseCounts;
use crate::transition_counts::{TransitionCounter, TransitionCounts};
use crate::verdict_cache::VerdictCache;
use orchestrion_claims::{
    Actor, CLAIMS, Claim, ClaimCheck, ClaimSet, ContextQuestion, EmittedCall, History, Premise, SemanticStep,
    SemanticView, StatePredicate, batch_violations, budget_violations, emitted_call, history_violations,
    input_violations, is_sent, other_step_violations, semantic_premises, semantic_step_violations,
    semantic_violations, waiting_operations, write_violations,
};
use orchestrion_explorer::liveness::{LivenessKind, LivenessProperty};
use orchestrion_explorer::{FairModel, ObservationSet, fingerprint};
use orchestrion_kernel::digest::digest;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::network::{HandoffReceipt, NetworkInput};
use orchestrion_kernel::{CallId, ConversationId, Input, State};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A state of the model.
///
/// The large parts are boxed: the explorer moves a product several times before it stores it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Product {
    /// The kernel's state, in canonical ids.
    pub state: Box<State>,
    /// The history of the running request.
    pub history: Box<History>,
    /// The claims that the last step violated. The next step starts with none, so a violation is observed where it occurs
    /// and does not double the states behind it.
    pub violated: ClaimSet,
}

/// The kernel and its adversary: a labelled transition system.
#[derive(Debug)]
pub struct KernelModel {
    subject: KernelUnderTest,
    adversary: Adversary,
    /// The claims that are applicable under the policy. The others would only multiply products.
    applicable: ClaimSet,
    /// The applicable claims that are checked in each state as a whole.
    state_claims: ClaimSet,
    /// The applicable claims whose premise is about the state as a whole.
    state_premises: ClaimSet,
    /// The applicable liveness claims, in the order of [`CLAIMS`].
    liveness_properties: Vec<LivenessProperty>,
    /// The trigger and the response of each liveness property.
    leads_to: Vec<(StatePredicate, StatePredicate)>,
    /// The 64-bit digests of kernel states, to count them apart from products. Two that collide count once.
    states: Mutex<HashSet<u64>>,
    /// The number of these states in which the context of the pending call is not proven optimal.
    unproven_contexts: AtomicUsize,
    /// Whether a batch of events round-trips through its encoding, and the claims that it alone violates.
    batches: VerdictCache<(bool, ClaimSet)>,
    /// The contexts of calls that steps emit.
    emitted_contexts: VerdictCache<EmittedVerdict>,
    /// The contexts of pending calls.
    waiting_contexts: VerdictCache<WaitingVerdict>,
    /// The claims about the semantic state that steps violate.
    semantic_steps: VerdictCache<ClaimSet>,
    /// The claims about the semantic state that states violate, and the premises that hold.
    semantic_states: VerdictCache<(ClaimSet, ClaimSet)>,
    /// The sum of the digests of all steps, if requested. Kernels with the same behavior have the same sum.
    digest: Option<AtomicU64>,
    /// Whether the frontier is packed.
    packs: bool,
    /// States and steps by phase, if requested.
    tally: Option<Mutex<TransitionCounter>>,
    /// The states in which premises hold, if requested.
    premise_counts: Option<Mutex<PremiseCounts>>,
}

impl KernelModel {
    /// Builds the model of a kernel.
    #[must_use]
    pub fn new(subject: KernelUnderTest, model: Model, scope: &Scope) -> Self {
        let subject = subject.with_scope(model, scope);
        let adversary = Adversary::new(&subject.policy, model, scope);
        let is_applicable = |claim: &Claim| (claim.not_applicable)(&subject.policy).is_none();
        let select = |is: &dyn Fn(&Claim) -> bool| -> ClaimSet {
            (0..CLAIMS.len()).filter(|claim| is_applicable(&CLAIMS[*claim]) && is(&CLAIMS[*claim])).collect()
        };
        let applicable = select(&|_| true);
        let state_claims = select(&|claim| {
            matches!(
                claim.check,
                ClaimCheck::StateInvariant(_)
                    | ClaimCheck::NetworkInvariant(_)
                    | ClaimCheck::ResponseInvariant(_)
                    | ClaimCheck::AcceptanceInvariant(_)
            )
        });
        let state_premises =
            select(&|claim| !matches!(claim.premise, Premise::Semantic(_) | Premise::Context(_)));
        let (mut liveness_properties, mut leads_to) = (Vec::new(), Vec::new());
        for claim in CLAIMS.iter().filter(|claim| is_applicable(claim)) {
            if let ClaimCheck::LeadsTo { from, to, under } = claim.check {
                liveness_properties.push(LivenessProperty {
                    name: claim.id,
                    kind: LivenessKind::LeadsTo,
                    fairness: fairness(under),
                });
                leads_to.push((from, to));
            }
        }
        let (digest, tally, premise_counts, packs) = (None, None, None, false);
        Self {
            subject,
            adversary,
            applicable,
            state_claims,
            state_premises,
            liveness_properties,
            leads_to,
            states: Mutex::default(),
            unproven_contexts: AtomicUsize::new(0),
            batches: VerdictCache::default(),
            emitted_contexts: VerdictCache::default(),
            waiting_contexts: VerdictCache::default(),
            semantic_steps: VerdictCache::default(),
            semantic_states: VerdictCache::default(),
            digest,
            packs,
            tally,
            premise_counts,
        }
    }

    /// The same model for mutants: it computes a digest of its behavior, does not count states, and does not check the
    /// contracts on steps, which are about code that no mutant changes.
    #[must_use]
    pub fn with_digest(subject: KernelUnderTest, model: Model, scope: &Scope) -> Self {
        Self { digest: Some(AtomicU64::new(0)), ..Self::new(subject, model, scope) }
    }

    /// The same model with a packed frontier, or without. Packing takes far less memory and somewhat more time.
    #[must_use]
    pub fn with_packing(self, packs: bool) -> Self {
        Self { packs, ..self }
    }

    /// The same model, which counts states and steps by phase.
    #[must_use]
    pub fn with_counts(subject: KernelUnderTest, model: Model, scope: &Scope) -> Self {
        Self { tally: Some(Mutex::default()), ..Self::new(subject, model, scope) }
    }

    /// The same model, which counts the states in which premises hold.
    pub(crate) fn with_premise_counts(subject: KernelUnderTest, model: Model, scope: &Scope) -> Self {
        Self { premise_counts: Some(Mutex::default()), ..Self::new(subject, model, scope) }
    }

    /// The states in which premises hold; empty unless requested.
    pub(crate) fn into_premise_counts(self) -> PremiseCounts {
        let counts = self.premise_counts.unwrap_or_default();
        counts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts so far; empty unless requested.
    #[must_use]
    pub fn tally(&self) -> TransitionCounts {
        let tally = self.tally.as_ref().map(|tally| tally.lock().unwrap_or_else(PoisonError::into_inner));
        tally.map_or_else(TransitionCounts::default, |tally| tally.counts.clone())
    }

    /// The digest of every step so far, in any order; 0 unless requested.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest.as_ref().map_or(0, |digest| digest.load(Ordering::Relaxed))
    }

    /// The kernel under test.
    #[must_use]
    pub const fn subject(&self) -> &KernelUnderTest {
        &self.subject
    }

    /// The number of distinct kernel states so far.
    pub fn states_seen(&self) -> usize {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The number of distinct kernel states so far in which the context of the pending call is not proven optimal.
    pub fn unproven_contexts(&self) -> usize {
        self.unproven_contexts.load(Ordering::Relaxed)
    }

    /// The liveness property of an applicable claim, with its number.
    #[must_use]
    pub fn liveness_property(&self, claim: usize) -> Option<(usize, &LivenessProperty)> {
        let id = CLAIMS.get(claim)?.id;
        self.liveness_properties.iter().enumerate().find(|(_, property)| property.name == id)
    }

    /// The claims of a set that are applicable under the policy.
    #[must_use]
    pub fn applicable(&self, claims: ClaimSet) -> ClaimSet {
        claims.intersection(self.applicable)
    }

    /// The initial product.
    #[must_use]
    pub fn start(&self) -> Product {
        Product { state: Box::new(initial_state()), history: Box::default(), violated: ClaimSet::default() }
    }

    /// Every input to try.
    #[must_use]
    pub fn inputs(&self, product: &Product) -> Vec<Input> {
        self.adversary.inputs(&product.state)
    }

    /// Returns the product after an input, or `None` if the input is refused: a refused input is no step. `observed`
    /// receives the observations of the step.
    #[must_use]
    pub fn step(
        &self,
        before: &Product,
        input: &Input,
        mut seen: impl FnMut(Observation),
    ) -> Option<Product> {
        let events = match self.subject.decide_observed(&before.state, input, &mut seen) {
            Ok(events) => events,
            Err(refusal) => {
                write_violations(&self.subject.policy, &before.state, input, None)
                    .intersection(self.applicable)
                    .iter()
                    .for_each(|claim| seen(Observation::Violation(claim)));
                contracts::check_refusal_contract(input, &refusal, seen);
                return None;
            }
        };
        seen(Observation::of_input(input));
        if let Some(tally) = &self.tally {
            let step = fingerprint(&(before, input));
            tally.lock().unwrap_or_else(PoisonError::into_inner).step(step, &before.state, &events);
        }
        let mut state = Box::new(self.subject.apply(&before.state, &events));
        let mut history = before.history.clone();
        let emitted =
            emitted_call(&events, &state).map(|call| (call, self.emitted_verdict(&state, call.operation)));
        let sent = emitted.filter(|(call, _)| is_sent(call)).map(|(_, verdict)| verdict);
        let of_context = sent.map_or_else(ClaimSet::default, |sent| sent.violated);
        let emitted =
            emitted.map(|(call, verdict)| EmittedCall { call, required_tokens: verdict.required_tokens });
        let of_budget = budget_violations(&self.subject.policy, &before.state, &events, emitted.as_ref());
        let others =
            other_step_violations(&self.subject.policy, &before.state, &events, &state, &mut history);
        let checks_contracts = self.digest.is_none();
        let (round_trips, of_batch) = self.batches.get_or_compute(digest(&events), || {
            (!checks_contracts || contracts::is_round_trip(&events), batch_violations(&events))
        });
        let of_semantics = self.semantic_step_violations(&SemanticStep::new(&before.state, &events, &state));
        let of_write = write_violations(&self.subject.policy, &before.state, input, Some(&events));
        let of_input = input_violations(&self.subject.policy, &before.state, input, &events, &state);
        let mut violated = others
            .union(of_batch)
            .union(of_semantics)
            .union(of_context)
            .union(of_budget)
            .union(of_write)
            .union(of_input);
        if checks_contracts {
            contracts::check_step_contracts(
                &self.subject,
                &before.state,
                input,
                &events,
                || round_trips,
                |observation| {
                    if let Observation::Violation(claim) = observation {
                        violated.insert(claim);
                    }
                },
            );
        }
        state.canonicalize();
        history.canonicalize();
        if let Some(digest) = &self.digest {
            let context = sent.map(|sent| sent.fingerprint);
            let step = (before, input, &events, &state, &history, context);
            digest.fetch_add(fingerprint(&step), Ordering::Relaxed);
        }
        let after = Product { state, history, violated: violated.intersection(self.applicable) };
        if let Some(counts) = &self.premise_counts {
            let premises = self.premises(before).union(self.premises(&after));
            counts.lock().unwrap_or_else(PoisonError::into_inner).sample(before, premises);
        }
        Some(after)
    }

    /// The product after an input without the violations of the step, or `None` if the input is refused. Cheaper than [`Self::step`].
    pub(crate) fn successor(&self, before: &Product, input: &Input) -> Option<Product> {
        let events = self.subject.decide(&before.state, input).ok()?;
        let mut state = Box::new(self.subject.apply(&before.state, &events));
        let mut history = before.history.clone();
        other_step_violations(&self.subject.policy, &before.state, &events, &state, &mut history);
        state.canonicalize();
        history.canonicalize();
        Some(Product { state, history, violated: ClaimSet::default() })
    }

    /// Counts the state of a product and records its observations: violated claims, premises, the phase, refusals. Violations and
    /// premises that occurred before are skipped.
    pub(crate) fn observe_state(
        &self,
        product: &Product,
        seen: &ObservationSet,
        mut show: impl FnMut(Observation),
    ) {
        let waiting: Vec<WaitingVerdict> = self.waiting_verdicts(&product.state).collect();
        if self.digest.is_none() {
            self.count(&product.state, &waiting);
        }
        let is_new = |observation: Observation| !seen.contains(observation.index());
        show(Observation::Phase(product.state.control().phase()));
        let (violated, premises) = self.semantic_verdicts(&product.state);
        let violated = product.violated.union(violated).intersection(self.applicable);
        violated.iter().for_each(|claim| show(Observation::Violation(claim)));
        self.part_premises(premises, &waiting).iter().for_each(|claim| show(Observation::Premise(claim)));
        if let Some(counts) = &self.premise_counts {
            counts.lock().unwrap_or_else(PoisonError::into_inner).count(self.premises(product));
        }
        let responses = Responses::new(&self.subject, &product.state);
        contracts::check_responses(&responses, &mut show);
        for claim in self.state_claims.iter() {
            if is_new(Observation::Violation(claim)) && !self.satisfies(claim, product, &responses) {
                show(Observation::Violation(claim));
            }
        }
        for claim in self.state_premises.iter() {
            if is_new(Observation::Premise(claim)) && self.has_premise(claim, product) {
                show(Observation::Premise(claim));
            }
        }
    }

    /// The claims about a state that a product violates, with those about its history, and the premises that hold.
    pub(crate) fn state_verdicts(&self, product: &Product) -> (ClaimSet, ClaimSet) {
        let (mut violated, _) = self.semantic_verdicts(&product.state);
        violated = violated.union(history_violations(&self.subject.policy, &product.history, &product.state));
        let responses = Responses::new(&self.subject, &product.state);
        contracts::check_responses(&responses, |observation| {
            if let Observation::Violation(claim) = observation {
                violated.insert(claim);
            }
        });
        let of_state = self.state_claims.iter().filter(|claim| !self.satisfies(*claim, product, &responses));
        (violated.union(of_state.collect()).intersection(self.applicable), self.premises(product))
    }

    /// The claims whose premise is about the semantic state or a context, and holds.
    fn part_premises(&self, of_semantics: ClaimSet, waiting: &[WaitingVerdict]) -> ClaimSet {
        let of_contexts = waiting.iter().map(|waiting| waiting.premises);
        of_contexts.fold(of_semantics, ClaimSet::union).intersection(self.applicable)
    }

    /// The claims whose premise holds.
    pub(crate) fn premises(&self, product: &Product) -> ClaimSet {
        let of_state = self.state_premises.iter().filter(|claim| self.has_premise(*claim, product));
        let (_, of_semantics) = self.semantic_verdicts(&product.state);
        let waiting: Vec<WaitingVerdict> = self.waiting_verdicts(&product.state).collect();
        self.part_premises(of_semantics, &waiting).union(of_state.collect())
    }

    /// Whether the claim holds in this product, contracts included.
    #[must_use]
    pub fn holds(&self, claim: usize, product: &Product) -> bool {
        let responses = Responses::new(&self.subject, &product.state);
        let mut holds = self.satisfies(claim, product, &responses);
        if let Some(ClaimCheck::Contract(_)) = CLAIMS.get(claim).map(|claim| claim.check) {
            contracts::check_responses(&responses, |observation| {
                holds &= observation != Observation::Violation(claim)
            });
        }
        holds
    }

    /// Whether the claim's premise holds in this product.
    #[must_use]
    pub fn has_premise(&self, claim: usize, product: &Product) -> bool {
        CLAIMS.get(claim).is_some_and(|claim| claim.premise.holds(&self.subject.policy, &product.state))
    }

    /// Whether the claim holds without the contracts, which are checked all at once.
    fn satisfies(&self, claim: usize, product: &Product, responses: &Responses<'_>) -> bool {
        let Self { subject, .. } = self;
        !product.violated.contains(claim)
            && CLAIMS.get(claim).is_none_or(|claim| {
                claim.check.holds_in_state(
                    &subject.policy,
                    &|state: &State, input: &Input| responses.decide(state, input),
                    &|state: &State, input: &Input| subject.accepts(state, input),
                    &product.state,
                )
            })
    }

    /// The verdict on the context of a call that a step emits. A fault in contexts may read the whole state.
    fn emitted_verdict(&self, after: &State, operation: Operation) -> EmittedVerdict {
        if !self.subject.builds_contexts_unchanged() {
            return EmittedVerdict::of_state(&self.subject, after, operation);
        }
        let question = ContextQuestion::new(after, operation);
        self.emitted_contexts.get_or_compute(digest(&question), || {
            EmittedVerdict::of_question(&self.subject, &question, after)
        })
    }

    /// The verdicts on the pending calls with a context.
    fn waiting_verdicts(&self, state: &State) -> impl Iterator<Item = WaitingVerdict> {
        waiting_operations(state).map(|operation| {
            let question = ContextQuestion::new(state, operation);
            self.waiting_contexts.get_or_compute(digest(&question), || {
                WaitingVerdict::of_question(&self.subject.policy, &question)
            })
        })
    }

    /// The claims about the semantic state that a step violates.
    fn semantic_step_violations(&self, step: &SemanticStep<'_>) -> ClaimSet {
        let compute = || semantic_step_violations(&self.subject.policy, step);
        self.semantic_steps.get_or_compute(digest(step), compute)
    }

    /// The claims about the semantic state that a state violates, and the premises about it that hold.
    pub(crate) fn semantic_verdicts(&self, state: &State) -> (ClaimSet, ClaimSet) {
        let (policy, view) = (&self.subject.policy, SemanticView::new(state));
        self.semantic_states.get_or_compute(digest(&view), || {
            (semantic_violations(policy, &view), semantic_premises(policy, &view))
        })
    }

    fn count(&self, state: &State, waiting: &[WaitingVerdict]) {
        let digest = fingerprint(state);
        let is_new = self.states.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
        if is_new && waiting.iter().any(|waiting| waiting.is_unproven) {
            self.unproven_contexts.fetch_add(1, Ordering::Relaxed);
        }
        if let (true, Some(tally)) = (is_new, &self.tally) {
            tally.lock().unwrap_or_else(PoisonError::into_inner).state(state);
        }
    }

    fn holds_at(&self, predicate: StatePredicate, product: &Product) -> bool {
        predicate(&self.subject.policy, &product.history, &product.state)
    }
}

impl FairModel for KernelModel {
    fn observation_count(&self) -> usize {
        OBSERVATION_COUNT
    }

    fn step(&self, product: &Product, input: Input, observations: &mut ObservationSet) -> Option<Product> {
        self.step(product, &input, |observation| observations.insert(observation.index()))
    }

    fn observe(&self, product: &Product, seen: &ObservationSet, observations: &mut ObservationSet) {
        self.observe_state(product, seen, |observation| observations.insert(observation.index()));
    }

    fn fairness_class(&self, product: &Product, input: &Input) -> u8 {
        let answered = product.state.control().answered_call(input);
        fairness_class(Actor::for_input(input, answered.map(|call| call.operation)))
    }

    fn pack(&self, product: &Product, into: &mut Vec<u8>) -> bool {
        // A product always has an encoding. Without one, `unpack` would return `None`, which the explorer reports.
        self.packs && postcard::to_io(product, into).is_ok()
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Product> {
        postcard::from_bytes(bytes).ok()
    }

    fn liveness_properties(&self) -> &[LivenessProperty] {
        &self.liveness_properties
    }

    fn is_triggered(&self, property: usize, product: &Product) -> bool {
        self.leads_to.get(property).is_some_and(|(from, _)| self.holds_at(*from, product))
    }

    fn is_satisfied(&self, property: usize, product: &Product) -> bool {
        self.leads_to.get(property).is_some_and(|(_, to)| self.holds_at(*to, product))
    }

    fn heap_bytes(&self, _: &Product) -> usize {
        // The semantic state shares its maps with earlier states, except for what one or two steps wrote. Then there
        // are a few lists.
        1024
    }

    /// The number of states whose context is not proven optimal, and the digests of all kernel states.
    fn save_counts(&self, into: &mut Vec<u8>) {
        into.extend((self.unproven_contexts() as u64).to_le_bytes());
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.iter().for_each(|digest| into.extend(digest.to_le_bytes()));
    }

    fn restore_counts(&self, bytes: &[u8]) -> bool {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let Some((unproven, digests)) = numbers.split_first() else { return false };
        let Ok(unproven) = usize::try_from(u64::from_le_bytes(*unproven)) else { return false };
        self.unproven_contexts.store(unproven, Ordering::Relaxed);
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.extend(digests.iter().map(|digest| u64::from_le_bytes(*digest)));
        rest.is_empty() && unproven <= states.len()
    }

    fn model_bytes(&self) -> usize {
        // A set reserves room for eight entries for every seven, and one byte more for each.
        let room = self.states.lock().unwrap_or_else(PoisonError::into_inner).capacity();
        room / 7 * 8 * (size_of::<u64>() + 1)
            + self.batches.bytes()
            + self.emitted_contexts.bytes()
            + self.waiting_contexts.bytes()
            + self.semantic_steps.bytes()
            + self.semantic_states.bytes()
    }
}

/// A new conversation.
#[must_use]
pub fn initial_state() -> State {
    State::new(ConversationId::new("model"))
}

/// An input of a canonical state in a state with other ids. A canonical state numbers its pending calls 1, 2, 3 …
#[must_use]
pub fn rename_ids(input: &Input, state: &State) -> Input {
    let renamed = |canonical: CallId| {
        let at = usize::try_from(canonical.number().saturating_sub(1)).ok();
        at.and_then(|at| state.control().pending_calls().get(at)).map_or(canonical, |call| call.id)
    };
    match input.clone() {
        Input::Reply { call, report, summary_update, action, interaction } => {
            Input::Reply { call: renamed(call), report, summary_update, action, interaction }
        }
        Input::CallFailed { call, failure } => Input::CallFailed { call: renamed(call), failure },
        Input::Network(input) => Input::Network(match *input {
            NetworkInput::Handoff(receipt) => {
                Box::new(NetworkInput::Handoff(HandoffReceipt { call: renamed(receipt.call), ..receipt }))
            }
            _ => input,
        }),
        input => input,
    }
}
