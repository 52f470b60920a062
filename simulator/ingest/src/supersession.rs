//! Supersession that no field states (003 supersession rules, "detection"): the interface of a detector.

use crate::conversation::TurnRecord;
use crate::stems::Stems;
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Rank, SupersessionRule};

/// An asserted text with its source.
#[derive(Clone, Copy, Debug)]
pub struct Assertion<'a> {
    /// The key.
    pub key: &'a str,
    /// The text.
    pub text: &'a str,
    /// The stems of the text.
    pub stems: &'a Stems,
    /// The name of the person that the text names as its source, if any.
    pub speaker: Option<&'a str>,
    /// The rank of the source.
    pub rank: Rank,
}

/// A fact of the semantic state.
#[derive(Clone, Copy, Debug)]
pub struct KnownFact<'a> {
    /// The id.
    pub id: ItemId,
    /// The assertion.
    pub assertion: Assertion<'a>,
    /// Whether the fact is valid.
    pub is_valid: bool,
    /// Whether the fact is valid and the session user may read it.
    pub is_readable: bool,
    /// Whether the fact was written in this session.
    pub is_from_session: bool,
    /// The number of turns before the write.
    pub turns_before: usize,
}

/// A detected supersession.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedSupersession {
    /// The superseded item.
    pub superseded: ItemId,
    /// The rule.
    pub rule: SupersessionRule,
    /// The rank that the text cites, if any.
    pub cited_rank: Option<Rank>,
}

/// Detects supersessions in texts.
pub trait SupersessionDetector {
    /// Returns the facts that turns supersede, with the indexes of the turns. Receives all facts and turns so far, and is called
    /// before a context is built: the write of a fact may follow the turn that states or supersedes it.
    fn detect_in_conversation(
        &self,
        facts: &[KnownFact<'_>],
        turns: &[TurnRecord],
    ) -> Vec<(usize, DetectedSupersession)>;

    /// Returns the valid fact that a new fact without a reference supersedes.
    fn detect_for_fact(&self, new: &Assertion<'_>, valid: &[KnownFact<'_>]) -> Option<DetectedSupersession>;

    /// Returns the current signal that a new signal supersedes.
    fn detect_for_signal(
        &self,
        new: &Assertion<'_>,
        current: &[(ItemId, Assertion<'_>)],
    ) -> Option<DetectedSupersession>;
}
