//! One of the two traces.

use super::alignment::Key;
use super::plain_step::PlainStep;
use crate::error::{TraceError, TraceErrorKind};
use crate::format::{Form, Header, Step};
use crate::read::Reader;
use std::io::BufRead;
use std::ops::Deref;

/// A step with its plain form.
pub(super) struct ReadStep {
    step: Step,
    pub(super) plain: PlainStep,
}

impl Deref for ReadStep {
    type Target = Step;

    fn deref(&self) -> &Step {
        &self.step
    }
}

/// The keys of steps, in order.
#[derive(Default)]
pub(super) struct StepKeys {
    /// Of inputs and decisions.
    pub(super) exact: Vec<Key>,
    /// Of the kinds of inputs.
    pub(super) kinds: Vec<Key>,
}

/// A trace that is read step by step.
pub(super) struct Side<R> {
    reader: Reader<R>,
    /// The next step, if it was read.
    next: Option<ReadStep>,
    /// The number of steps that were read.
    pub(super) steps: u64,
    /// Whether the last line was read.
    has_ended: bool,
    /// The error that ended reading.
    pub(super) error: Option<TraceError>,
}

impl<R: BufRead> Side<R> {
    pub(super) const fn new(reader: Reader<R>) -> Self {
        Self { reader, next: None, steps: 0, has_ended: false, error: None }
    }

    pub(super) const fn header(&self) -> &Header {
        self.reader.header()
    }

    /// Returns the next step; `None` after the last one, or after an error.
    pub(super) fn next(&mut self) -> Option<ReadStep> {
        self.peek();
        self.next.take()
    }

    pub(super) fn peek(&mut self) -> Option<&ReadStep> {
        if self.next.is_none() && !self.has_ended {
            let step = self.reader.next();
            self.has_ended = step.is_none();
            self.keep(step);
        }
        self.next.as_ref()
    }

    /// Returns the keys of all further steps.
    pub(super) fn read_keys(&mut self) -> StepKeys {
        let mut keys = StepKeys::default();
        while let Some(step) = self.next() {
            keys.exact.push(step.plain.key);
            keys.kinds.push(step.plain.kind);
        }
        keys
    }

    /// Moves to the next line. Returns whether it is a step.
    fn advance(&mut self) -> bool {
        let is_step = self.reader.advance().unwrap_or_else(|error| {
            self.error = Some(error);
            false
        });
        self.has_ended |= !is_step;
        is_step
    }

    /// Parses the latest line.
    fn parse(&mut self) {
        let step = self.reader.step_of_trace();
        self.keep(Some(step));
    }

    fn keep(&mut self, step: Option<Result<Step, TraceError>>) {
        let step = step.transpose().and_then(|step| {
            let malformed = |error: serde_json::Error| TraceErrorKind::Malformed(error.to_string());
            let read = |step| PlainStep::new(&step).map(|plain| ReadStep { step, plain });
            step.map(read).transpose().map_err(|error| self.reader.error(malformed(error)))
        });
        match step {
            Ok(step) => {
                self.steps += u64::from(step.is_some());
                self.next = step;
            }
            Err(error) => {
                self.error = Some(error);
                self.has_ended = true;
            }
        }
    }
}

/// Skips the steps at the start that have equal bytes in both traces. Returns their number. Only one of two equal lines is parsed: both can
/// be malformed. A journal stores no events, so its steps are not skipped.
pub(super) fn skip_equal_steps<A: BufRead, B: BufRead>(a: &mut Side<A>, b: &mut Side<B>) -> u64 {
    if a.header().form() == Form::Journal || b.header().form() == Form::Journal {
        return 0;
    }
    for equal in 0.. {
        let (of_a, of_b) = (a.advance(), b.advance());
        if of_a && of_b && a.reader.text() == b.reader.text() && a.reader.step_of_trace().is_ok() {
            a.steps += 1;
            b.steps += 1;
            continue;
        }
        if of_a {
            a.parse();
        }
        if of_b {
            b.parse();
        }
        return equal;
    }
    0
}
