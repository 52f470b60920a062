//! What a seed decides before a run: the inputs of the host, the kinds of faults, and the faults of each process.

use crate::disk::PlannedFault;
use crate::fault::FaultKind;
use crate::ledger::{Content, PlannedInput};
use crate::random::{Random, Stream};
use std::collections::BTreeSet;

/// The conditions of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    random: Random,
    enabled: BTreeSet<FaultKind>,
    /// The faults of the next processes, the next one last, instead of random ones.
    given_faults: Option<Vec<Vec<PlannedFault>>>,
    /// The processes with faults. The last one after them has none.
    pub(crate) processes: u32,
    /// When the host passes the largest step that it stored to the next process.
    pub(crate) passes_step: PassesStep,
    /// Whether the journal contains digests of events.
    pub(crate) is_journal_form: bool,
    /// The process ends when the host has executed so many effects.
    pub(crate) ends_at_effect: Option<usize>,
    /// Replies arrive after so many whole seconds or fewer, so that some arrive together; `None`: at any time.
    pub(crate) reply_seconds: Option<u64>,
    /// The keys that the host used for another content, too.
    pub(crate) reused_keys: BTreeSet<String>,
}

/// When a host passes the largest step that was acknowledged to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassesStep {
    Never,
    /// To some processes: others are opened by a tool that has no stored step.
    Sometimes,
    Always,
}

/// The faults that leave a journal damaged: few seeds have them, because many of these end early.
const DAMAGES: [FaultKind; 4] =
    [FaultKind::MisdirectedWrite, FaultKind::LostSync, FaultKind::LostTail, FaultKind::CorruptedAtRest];

/// The faults of the operations of a process.
pub const OPERATION_FAULTS: [FaultKind; 10] = [
    FaultKind::ReadError,
    FaultKind::WriteError,
    FaultKind::DiskFull,
    FaultKind::ShortWrite,
    FaultKind::SyncError,
    FaultKind::MisdirectedWrite,
    FaultKind::LostSync,
    FaultKind::CorruptedRead,
    FaultKind::ProcessCrash,
    FaultKind::MachineCrash,
];

impl Plan {
    /// Returns the plan of a seed, and the inputs of its host.
    pub(crate) fn new(seed: u64) -> (Self, Vec<PlannedInput>) {
        let mut random = Random::new(seed, Stream::Plan);
        let has_damage = random.one_in(4);
        let mut enabled: BTreeSet<FaultKind> = FaultKind::ALL
            .into_iter()
            .filter(|kind| match kind {
                kind if DAMAGES.contains(kind) => has_damage && random.one_in(2),
                FaultKind::LostTail => random.one_in(4),
                _ => random.one_in(2),
            })
            .collect();
        let has_snapshots = random.one_in(30);
        let inputs = plan_inputs(&mut random, has_snapshots);
        if has_snapshots {
            // What a snapshot covers can be lost, or the snapshot.
            enabled.extend([FaultKind::LostTail, FaultKind::CorruptedAtRest]);
        }
        let plan = Self {
            enabled,
            given_faults: None,
            processes: 1 + random.below(6) as u32,
            passes_step: [PassesStep::Never, PassesStep::Sometimes, PassesStep::Always][random.index(3)],
            is_journal_form: !random.one_in(4),
            ends_at_effect: None,
            reply_seconds: random.one_in(2).then_some(3),
            reused_keys: BTreeSet::new(),
            random,
        };
        (plan, inputs)
    }

    /// The plan of the same inputs with these faults of its first processes only.
    pub(crate) fn with_faults(self, faults: Vec<Vec<PlannedFault>>) -> Self {
        let processes = faults.len() as u32;
        let enabled = BTreeSet::new();
        Self { enabled, processes, given_faults: Some(faults.into_iter().rev().collect()), ..self }
    }

    pub(crate) fn is_enabled(&self, kind: FaultKind) -> bool {
        self.enabled.contains(&kind)
    }

    /// The faults of the next process.
    pub(crate) fn next_faults(&mut self) -> Vec<PlannedFault> {
        if let Some(given) = &mut self.given_faults {
            return given.pop().unwrap_or_default();
        }
        let mut faults = Vec::new();
        for kind in OPERATION_FAULTS {
            if self.is_enabled(kind) && self.random.one_in(2) {
                // Opening takes few operations, and a request some dozens.
                let range = [8, 40, 120][self.random.index(3)];
                faults.push(PlannedFault { operation_from: self.random.below(range), kind });
            }
        }
        faults
    }

    /// Whether the host passes a step to the next process.
    pub(crate) fn passes_step(&mut self) -> bool {
        match self.passes_step {
            PassesStep::Never => false,
            PassesStep::Sometimes => self.random.one_in(2),
            PassesStep::Always => true,
        }
    }

    /// Whether the machine restarts between two processes.
    pub(crate) fn restarts_machine(&mut self) -> bool {
        self.is_enabled(FaultKind::MachineCrash) && self.random.one_in(2)
    }

    /// Whether the end of the journal is lost after a process; always if the process ended in an effect.
    pub(crate) fn loses_tail(&mut self, is_after_effect: bool) -> bool {
        self.is_enabled(FaultKind::LostTail) && (is_after_effect || self.random.one_in(3))
    }

    /// Whether the disk changes between two processes.
    pub(crate) fn is_corrupted(&mut self) -> bool {
        self.is_enabled(FaultKind::CorruptedAtRest) && self.random.one_in(2)
    }
}

fn plan_inputs(random: &mut Random, has_snapshots: bool) -> Vec<PlannedInput> {
    let requests = 1 + random.below(3);
    let others = random.below(7) + if has_snapshots { 3 } else { 0 };
    // Large signals let the runtime take snapshots.
    let padding = if has_snapshots { 300_000 } else { 0 };
    let mut inputs = Vec::new();
    for number in 0..requests + others {
        let content = match random.below(6) {
            _ if number < requests => Content::Request(format!("order {number} {}", random.below(1000))),
            0 => Content::Cancel,
            1 | 2 => {
                let expires_at = 1_767_225_600_000 + random.below(400_000);
                Content::Working(format!("note {number}"), expires_at)
            }
            _ => Content::Signal(format!("state {number}{}", ".".repeat(padding))),
        };
        // A cancel without a key could cancel another request than the intended one.
        let has_key = !random.one_in(5) || matches!(content, Content::Cancel);
        let key = has_key.then(|| format!("key-{number}"));
        inputs.push(PlannedInput { key, content, sent: 0, acknowledgement: None });
    }
    inputs
}
