//! Events as letters: two events with the same letter do the same to every claim.
//!
//! A lint explores the machine once, keeps the letters of each step, and then explores products of the graph with monitors of several
//! sets of claims. Claims that forbid calls are judged as statements: a run that violates one is left out.

use crate::claim::UserClaim;
use crate::claim_set::ClaimSet;
use crate::enforcement::Enforcement;
use crate::event_kind::EventKind;
use crate::fields::Moment;
use crate::monitor::{MonitorState, Step};
use crate::request::Request;
use crate::value::KeptValue;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Event, Policy};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher as _;

/// What the events so far say about the running request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventFold(Request);

impl EventFold {
    /// Numbers the pending calls 1, 2, 3 …, as a canonical state of the kernel does.
    pub fn canonicalize(&mut self) {
        self.0.canonicalize();
    }
}

/// What the monitor of one claim keeps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimState(MonitorState);

/// A letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LetterId(u32);

/// What a letter does to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterStep {
    /// The claim is violated.
    pub is_violated: bool,
    /// The event can decide the claim.
    pub is_premise: bool,
}

/// What the claims read of an event, claim by claim. One that reads nothing is left out.
type Signature = Vec<(usize, Vec<KeptValue>)>;

/// One event of each letter.
#[derive(Debug)]
struct Letter {
    event: Event,
    operation: Option<Operation>,
    request: Request,
    concerned: ClaimSet,
}

/// An event that was read, and the request after it.
#[derive(Debug)]
struct KnownEvent {
    event: Event,
    operation: Option<Operation>,
    request: Request,
    letter: Option<LetterId>,
}

/// The letters that were read so far.
#[derive(Debug)]
pub struct Letters {
    claims: Vec<UserClaim>,
    letters: Vec<Letter>,
    by_signature: FxHashMap<Signature, LetterId>,
    /// Most events of an exploration occur many times. By a hash of the event and the request.
    known: FxHashMap<u64, Vec<KnownEvent>>,
}

impl Letters {
    /// Creates the letters of these claims.
    #[must_use]
    pub fn new(claims: &[UserClaim]) -> Self {
        let judged = |claim: &UserClaim| UserClaim { enforcement: Enforcement::None, ..claim.clone() };
        let claims = claims.iter().map(judged).collect();
        Self { claims, letters: Vec::new(), by_signature: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// The claims, in their order.
    #[must_use]
    pub fn claims(&self) -> &[UserClaim] {
        &self.claims
    }

    /// Takes an event. Returns its letter; `None` if no claim reads anything of it.
    pub fn read(&mut self, fold: &mut EventFold, policy: &Policy, event: &Event) -> Option<LetterId> {
        let request = &mut fold.0;
        let operation = request.operation(event);
        request.apply(policy, event, operation);
        let hash = FxBuildHasher.hash_one((event, &*request));
        let is_same = |known: &&KnownEvent| {
            known.event == *event && known.operation == operation && known.request == *request
        };
        if let Some(known) = self.known.get(&hash).and_then(|known| known.iter().find(is_same)) {
            return known.letter;
        }
        let (event, request) = (event.clone(), request.clone());
        let letter = self.letter_of(&event, operation, &request);
        self.known.entry(hash).or_default().push(KnownEvent { event, operation, request, letter });
        letter
    }

    /// The letter of an event that was not read before; `request` is the one after it.
    fn letter_of(
        &mut self,
        event: &Event,
        operation: Option<Operation>,
        request: &Request,
    ) -> Option<LetterId> {
        let (kind, moment) = (EventKind::of(event), Moment { event, operation, request });
        let mut signature = Signature::new();
        let mut concerned = ClaimSet::default();
        for (position, claim) in self.claims.iter().enumerate() {
            if let Some(read) = claim.reads(kind, &moment) {
                signature.push((position, read));
                concerned.insert(position);
            }
        }
        if signature.is_empty() {
            return None;
        }
        let next = LetterId(u32::try_from(self.letters.len()).unwrap_or(u32::MAX));
        let letter = *self.by_signature.entry(signature).or_insert(next);
        if letter == next {
            let (event, request) = (event.clone(), request.clone());
            self.letters.push(Letter { event, operation, request, concerned });
        }
        Some(letter)
    }

    /// The state of a claim before any event.
    #[must_use]
    pub fn start(&self, claim: usize) -> Option<ClaimState> {
        self.claims.get(claim).map(|claim| ClaimState(MonitorState::new(claim)))
    }

    /// The claims that read something of a letter.
    #[must_use]
    pub fn concerned(&self, letter: LetterId) -> ClaimSet {
        self.letters.get(letter.0 as usize).map_or_else(ClaimSet::default, |letter| letter.concerned)
    }

    /// Steps a claim over a letter.
    pub fn step(&self, claim: usize, state: &mut ClaimState, letter: LetterId) -> LetterStep {
        let (Some(claim), Some(letter)) = (self.claims.get(claim), self.letters.get(letter.0 as usize))
        else {
            return LetterStep { is_violated: false, is_premise: false };
        };
        let Letter { event, operation, request, .. } = letter;
        let moment = Moment { event, operation: *operation, request };
        let Step { violated, is_premise } = state.0.step(claim, EventKind::of(event), &moment);
        LetterStep { is_violated: violated.is_some(), is_premise }
    }
}
