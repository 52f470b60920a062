//! Damage of single bytes: every byte of a journal changes, and the host continues on what is left.

use crate::disk::Disk;
use crate::ledger::Ledger;
use crate::plan::Plan;
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

    /// Changes a byte, and lets the host continue.
    ///
    /// # Errors
    /// The violation, as a sentence.
    pub fn run_damaged(&self, at: usize, damage: Damage) -> Result<Outcome, String> {
        let (plan, _) = Plan::new(self.seed);
        let mut plan = plan.with_faults(Vec::new());
        (plan.is_journal_form, plan.has_acknowledged_step) = (true, self.has_acknowledged_step);
        let disk = Disk::with_damage(self.seed, &self.content, damage.apply(&self.content, at));
        run_plan(self.seed, &disk, plan, self.ledger.clone())
    }
}
