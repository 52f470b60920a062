//! A journal that was read and is not opened yet. The caller checks its state first, so a refusal changes no journal.

use crate::conversation::Conversation;
use crate::error::OpenError;
use crate::journal::Journal;
use crate::journaled::JournaledConversation;
use crate::recovery::{RecoveredJournal, recover};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{Input, State};
use orchestrion_trace::{Header, PossibleLoss, Reader, StepMetadata};
use std::io;

/// A conversation whose journal was read, and not changed.
#[derive(Debug)]
#[must_use]
pub struct RecoveredConversation<J> {
    journal: J,
    recovered: RecoveredJournal,
    acknowledged_step: Option<u64>,
}

impl<J: Journal> RecoveredConversation<J> {
    /// Reads the journal. One that ends before the acknowledged step is refused.
    pub(crate) fn read(
        mut journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
        acknowledged_step: Option<u64>,
    ) -> Result<Self, OpenError> {
        contexts.check_policy(&header.policy)?;
        let recovered = recover(&mut journal, header, contexts)?;
        let steps = recovered.recorder.steps();
        if let Some(acknowledged) = acknowledged_step.filter(|acknowledged| *acknowledged > steps) {
            return Err(OpenError::Shorter { journal: journal.name(), acknowledged, steps });
        }
        Ok(Self { journal, recovered, acknowledged_step })
    }

    /// The current state.
    pub const fn state(&self) -> &State {
        self.recovered.recorder.state()
    }

    /// The number of recorded steps, including refused inputs.
    pub const fn steps(&self) -> u64 {
        self.recovered.recorder.steps()
    }

    /// Reads the input that created the network. `None` if no step of the journal did: the conversation has no network, or the journal
    /// continues a segment that has it.
    ///
    /// # Errors
    /// [`OpenError::Io`] or [`OpenError::Trace`].
    pub fn read_created_network(&mut self) -> Result<Option<NetworkInput>, OpenError> {
        if self.state().network().is_none() {
            return Ok(None);
        }
        let name = self.journal.name();
        let input = self.journal.read().map_err(|error| OpenError::Io { journal: name.clone(), error })?;
        let mut reader = Reader::new_segment(input, &name)?;
        let mut fold = reader.start()?.clone();
        while fold.state().network().is_none() && reader.advance()? {
            let step = reader.step(fold.state())?;
            fold.apply(step.n, &step.events);
            if let Input::Network(network) = step.input
                && fold.state().network().is_some()
            {
                return Ok(Some(*network));
            }
        }
        Ok(None)
    }

    /// Opens the conversation: truncates a torn tail, and records what may be lost.
    ///
    /// # Errors
    /// [`OpenError::Io`].
    pub fn open(self) -> Result<Conversation<J>, OpenError> {
        self.open_journaled().map(Conversation::from_journaled)
    }

    pub(crate) fn open_journaled(self) -> Result<JournaledConversation<J>, OpenError> {
        let Self { mut journal, mut recovered, acknowledged_step } = self;
        let name = journal.name();
        let unreadable = |error| OpenError::Io { journal: name.clone(), error };
        let has_torn_tail = recovered.truncated_tail.is_some();
        // A snapshot beside an empty journal was taken of steps that are lost.
        let has_steps = recovered.valid_bytes > 0 || recovered.snapshot_error.is_some();
        let found = if acknowledged_step.is_none() && has_steps {
            // A journal that lost whole lines does not show it.
            Some(PossibleLoss::Steps)
        } else {
            has_torn_tail.then_some(PossibleLoss::Call)
        };
        let recorded = recovered.recorder.possible_loss();
        let recovers_first = found.or(recorded).is_some();
        // Each torn tail is replaced. A journal of which no line is left is a new one, in which nothing can be stated.
        let is_stated = found <= recorded && !has_torn_tail;
        match found.filter(|_| has_steps && !is_stated) {
            Some(loss) => record_loss(&mut journal, &mut recovered, loss).map_err(unreadable)?,
            // Afterwards everything that was read is durable.
            None if recovered.valid_bytes > 0 || has_torn_tail => {
                journal.truncate(recovered.valid_bytes).map_err(unreadable)?;
            }
            None => {}
        }
        Ok(JournaledConversation::from_recovered(journal, recovered, recovers_first))
    }
}

/// Records what may be lost in a step, which replaces a torn tail, so that a later process knows it, too. Its input is a tick at the time of
/// the latest step, which is refused because nothing expires.
fn record_loss(
    journal: &mut impl Journal,
    recovered: &mut RecoveredJournal,
    loss: PossibleLoss,
) -> io::Result<()> {
    let RecoveredJournal { recorder, valid_bytes, truncated_tail, .. } = recovered;
    let note = match truncated_tail {
        Some(tail) => tail.to_string(),
        None => "opened without an acknowledged step: steps before this one may be lost".to_owned(),
    };
    let metadata = StepMetadata {
        note: Some(note),
        possible_loss: Some(loss),
        ..StepMetadata::at(recorder.state().now())
    };
    let _refused = recorder.submit(&Input::Tick, &metadata)?;
    // The first lines of a new journal follow with its first commit.
    if *valid_bytes == 0 {
        return journal.truncate(0);
    }
    let lines = std::mem::take(recorder.output());
    journal.replace_tail(*valid_bytes, &lines)?;
    *valid_bytes += lines.len() as u64;
    Ok(())
}
