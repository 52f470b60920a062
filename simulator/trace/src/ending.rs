//! How the requests of a conversation end.

use crate::{Reader, TraceError};
use orchestrion_kernel::event::{Conclusion, DecisionLabel};
use orchestrion_kernel::{Event, RequestId};
use std::fmt;
use std::io::BufRead;

/// The ending of a request: the label of its latest decision, and its conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEnding {
    /// The request.
    pub request: RequestId,
    /// The label of its latest decision, if the debate decided.
    pub label: Option<DecisionLabel>,
    /// Its conclusion, if it concluded.
    pub conclusion: Option<Conclusion>,
}

impl fmt::Display for RequestEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Some(label) => write!(f, "{label}, ")?,
            None => f.write_str("no decision, ")?,
        }
        match &self.conclusion {
            Some(Conclusion { kind, cause }) => write!(f, "{kind}: {cause}"),
            None => f.write_str("no conclusion"),
        }
    }
}

/// Folds events to the endings of their requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndingFold(Vec<RequestEnding>);

impl EndingFold {
    /// Applies the batch of a step.
    pub(crate) fn apply(&mut self, events: &[Event]) {
        for event in events {
            if let Event::UserMsg { request, .. } = event {
                self.0.push(RequestEnding { request: *request, label: None, conclusion: None });
            }
            let Some(last) = self.0.last_mut() else { continue };
            if let Event::Decided { decision } = event {
                last.label = Some(decision.label);
            }
            if let Event::Concluded { conclusion } = event {
                last.conclusion = Some(*conclusion);
            }
        }
    }

    /// Returns the endings, in the order of the requests.
    pub(crate) fn finish(self) -> Vec<RequestEnding> {
        self.0
    }
}

/// Returns the recorded endings of a trace.
///
/// # Errors
/// [`TraceError`] if a line cannot be read.
pub fn endings<R: BufRead>(mut reader: Reader<R>) -> Result<Vec<RequestEnding>, TraceError> {
    let mut fold = EndingFold::default();
    reader.try_for_each(|step| step.map(|step| fold.apply(&step.events)))?;
    Ok(fold.finish())
}
