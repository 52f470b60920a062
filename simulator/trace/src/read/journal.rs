//! The steps of a journal: their events are decided again, and compared with their digest.

use super::Reader;
use crate::erased;
use crate::error::{TraceError, TraceErrorKind};
use crate::events_digest::EventsDigest;
use crate::format::{JournalStep, Step};
use orchestrion_kernel::{State, Timestamp, decide};
use std::io::BufRead;

impl<R: BufRead> Reader<R> {
    pub(super) fn decide_step(&self, state: &State) -> Result<Step, TraceError> {
        let JournalStep {
            n,
            at_ms,
            note,
            idempotency,
            possible_loss,
            input,
            events: recorded,
            refused,
            context: context_digest,
        } = self.journal_step()?;
        if refused.is_some() {
            return Ok(Step {
                n,
                at_ms,
                note,
                idempotency,
                possible_loss,
                input,
                events: Vec::new(),
                refused,
                context: None,
                context_digest,
            });
        }
        let differ = |expected: String| {
            let found = recorded.as_ref().map_or("no events".to_owned(), |events| events.digest.clone());
            self.error(TraceErrorKind::EventsDiffer { found, expected })
        };
        let events = decide(&self.header.policy, state, Timestamp::from_millis(at_ms), &input)
            .map_err(|refusal| differ(format!("a refusal: {refusal}")))?;
        let decided =
            EventsDigest::of_step(&events, &mut Vec::new()).map_err(|error| self.malformed(&error))?;
        if decided != recorded && self.erased_texts() == 0 {
            return Err(differ(decided.map_or("no events".to_owned(), |events| events.digest)));
        }
        Ok(Step {
            n,
            at_ms,
            note,
            idempotency,
            possible_loss,
            input,
            events,
            refused,
            context: None,
            context_digest,
        })
    }

    /// Parses the latest step of a journal.
    pub(crate) fn journal_step(&self) -> Result<JournalStep, TraceError> {
        let step: JournalStep = self.parse(parse_journal_step)?;
        if step.idempotency.is_some() && erased::has_erased_key(self.stored_line()) {
            let reason = "expected an idempotency key, which is never erased, found an erased one".to_owned();
            return Err(self.error(TraceErrorKind::ErasedText(reason)));
        }
        self.check_number(step.n).map(|()| step)
    }
}

// Not generic over the input, as the others.
fn parse_journal_step(text: &str) -> serde_json::Result<JournalStep> {
    serde_json::from_str(text)
}
