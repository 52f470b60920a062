//! Damage of single bytes: every byte of a journal changes, and the host continues on what is left.

use crate::disk::{Disk, PlannedFault};
use crate::fault::FaultKind;
use crate::ledger::Ledger;
use crate::oracle::last_line_start;
use crate::plan::{PassesStep, Plan};
use crate::run::{Outcome, Run, run_plan};

/// A change of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit changes.
    FlippedBit,
    /// Another byte replaces it.
    ReplacedByte,
    /// It is missing.
    DeletedByte,
}

impl Damage {
    /// All changes.
    pub const ALL: [Self; 3] = [Self::FlippedBit, Self::ReplacedByte, Self::DeletedByte];

    fn apply(self, journal: &[u8], at: usize) -> Vec<u8> {
        let mut found = journal.to_vec();
        match self {
            // The bit and the byte depend on the place, so that all of them occur.
            Self::FlippedBit => found[at] ^= 1 << (at % 8),
            Self::ReplacedByte => {
                let bytes = [0, b'\n', b'"', b'}', 0xFF, found[at] ^ 0x20];
                let byte = bytes[at / 3 % bytes.len()];
                found[at] = if byte == found[at] { b'#' } else { byte };
            }
            Self::DeletedByte => {
                found.remove(at);
            }
        }
        found
    }
}

/// What is left of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TornLine {
    /// So many bytes of its start.
    Cut {
        /// The bytes.
        bytes: usize,
    },
    /// Everything but so many bytes of its start, with other lines after it: the page before them was never written.
    LostStart {
        /// The bytes.
        bytes: usize,
    },
}

/// The journal of an open conversation without faults, with the records of its host.
#[derive(Debug)]
pub struct IntactJournal {
    seed: u64,
    content: Vec<u8>,
    ledger: Ledger,
    has_acknowledged_step: bool,
}

impl IntactJournal {
    /// Runs the inputs of a seed without faults until the host has executed so many effects: the last line emits the call of the latest
    /// one. `has_acknowledged_step`: whether the host passes its latest
    /// step when the journal is opened.
    ///
    /// # Errors
    /// The violation, as a sentence.
    pub fn new(seed: u64, effects: usize, has_acknowledged_step: bool) -> Result<Self, String> {
        let (plan, inputs) = Plan::new(seed);
        let mut plan = plan.with_faults(vec![Vec::new()]);
        (plan.is_journal_form, plan.ends_at_effect) = (true, Some(effects));
        let disk = Disk::new(seed);
        let mut run = Run::new(seed, &disk, plan, Ledger { inputs, ..Ledger::default() });
        run.run_process(false)?;
        let ledger = run.into_ledger();
        Ok(Self { seed, content: disk.content(), ledger, has_acknowledged_step })
    }

    /// The number of its bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.content.len()
    }

    /// The number of effects that its host executed.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.ledger.effects.len()
    }

    /// Tears the last line of the journal on the disk of a seed, so that the call of the latest effect is lost. The host did not store the step of this call. Its first processes
    /// meet one fault each: at this operation, or a later one that permits it.
    ///
    /// # Errors
    /// The violation, as a sentence.
    pub fn run_torn(
        &self,
        disk_seed: u64,
        torn: TornLine,
        faults: &[(FaultKind, u64)],
    ) -> Result<Outcome, String> {
        let start = last_line_start(&self.content);
        let mut found = self.content.clone();
        match torn {
            TornLine::Cut { bytes } => found.truncate(start + bytes),
            TornLine::LostStart { bytes } => {
                found[start..][..bytes].fill(0);
                found.extend_from_slice(&b"{}\n".repeat(200));
            }
        }
        let (plan, _) = Plan::new(self.seed);
        let planned = |&(kind, operation_from): &_| vec![PlannedFault { operation_from, kind }];
        let mut plan = plan.with_faults(faults.iter().map(planned).collect());
        (plan.is_journal_form, plan.passes_step) = (true, PassesStep::Always);
        let mut ledger = self.ledger.clone();
        let call = ledger.effects.values().map(|effect| effect.step).max().unwrap_or(0);
        ledger.step = ledger.step.min(call.saturating_sub(1));
        let disk = Disk::with_damage(disk_seed, &self.content, found);
        run_plan(self.seed, &disk, plan, ledger)
    }

    /// Changes a byte, and lets the host continue.
    ///
    /// # Errors
    /// The violation, as a sentence.
    pub fn run_damaged(&self, at: usize, damage: Damage) -> Result<Outcome, String> {
        let (plan, _) = Plan::new(self.seed);
        let mut plan = plan.with_faults(Vec::new());
        (plan.is_journal_form, plan.passes_step) =
            (true, if self.has_acknowledged_step { PassesStep::Always } else { PassesStep::Never });
        let disk = Disk::with_damage(self.seed, &self.content, damage.apply(&self.content, at));
        run_plan(self.seed, &disk, plan, self.ledger.clone())
    }
}
