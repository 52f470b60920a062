//! The kinds of injected faults, and how often each was injected.

use std::collections::BTreeMap;
use std::fmt;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A read fails.
    ReadError,
    /// A write fails after a part.
    WriteError,
    /// The disk is full: this write fails after a part, and all further ones.
    DiskFull,
    /// A write writes a part and reports it.
    ShortWrite,
    /// A sync fails. What it did not write is in memory only, and no later sync writes it.
    SyncError,
    /// A page is written to the place of another one, and the sync succeeds.
    MisdirectedWrite,
    /// A sync succeeds, and its lines are lost.
    LostSync,
    /// The end of the journal is missing, at the end of a line or within one.
    LostTail,
    /// A byte or a page of the disk changes.
    CorruptedAtRest,
    /// A read returns a wrong byte once.
    CorruptedRead,
    /// The process ends between two operations, or within one.
    ProcessCrash,
    /// The machine ends: unsynced pages are lost in part, in any order.
    MachineCrash,
    /// A second process opens the journal.
    SecondProcess,
    /// The process stands still, holds its lock, and continues later; meanwhile a second process opens the journal.
    PausedProcess,
    /// The clock jumps forward.
    ClockForward,
    /// The clock jumps backward.
    ClockBackward,
    /// The host sends an input again.
    RepeatedInput,
    /// The host sends another input under a used key.
    ReusedKey,
    /// The host does not see an acknowledgement.
    LostAcknowledgement,
    /// The host replies after the deadline.
    LateReply,
    /// The host replies twice.
    RepeatedReply,
    /// The host replies to a call that was never made.
    UnknownCall,
    /// The host replies with another report than the expected one.
    MalformedReply,
    /// The host does not reply.
    MissingReply,
    /// The host closes its end.
    Disconnection,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 25] = [
        Self::ReadError,
        Self::WriteError,
        Self::DiskFull,
        Self::ShortWrite,
        Self::SyncError,
        Self::MisdirectedWrite,
        Self::LostSync,
        Self::LostTail,
        Self::CorruptedAtRest,
        Self::CorruptedRead,
        Self::ProcessCrash,
        Self::MachineCrash,
        Self::SecondProcess,
        Self::PausedProcess,
        Self::ClockForward,
        Self::ClockBackward,
        Self::RepeatedInput,
        Self::ReusedKey,
        Self::LostAcknowledgement,
        Self::LateReply,
        Self::RepeatedReply,
        Self::UnknownCall,
        Self::MalformedReply,
        Self::MissingReply,
        Self::Disconnection,
    ];
}

/// How often each kind was injected.
#[derive(Clone, Debug, Default)]
pub struct FaultCounts(BTreeMap<FaultKind, u64>);

impl FaultCounts {
    /// The number of faults of this kind.
    #[must_use]
    pub fn get(&self, kind: FaultKind) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// The kinds that were never injected.
    #[must_use]
    pub fn missing(&self) -> Vec<FaultKind> {
        FaultKind::ALL.into_iter().filter(|kind| self.get(*kind) == 0).collect()
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(*kind).or_default() += count;
        }
    }

    pub(crate) fn add(&mut self, kind: FaultKind) {
        *self.0.entry(kind).or_default() += 1;
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> =
            FaultKind::ALL.iter().map(|kind| format!("{kind:?} {}", self.get(*kind))).collect();
        f.write_str(&all.join(", "))
    }
}
