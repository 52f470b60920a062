//! A recorded trace as a timeline that a person reads, one step of it in full, or all of it as a page for a browser.
//!
//! It goes through the trace once and folds the state along the way; nothing of what was read is kept but a
//! short summary of the running request. Deliberately absent: judging whether the trace is what this kernel
//! would decide. That is replay's.

mod claims;
mod detail;
mod html;
mod phrases;
mod plans;
mod provenance;
mod reasons;
mod renderer;
mod step_view;
mod terminal;
mod text;
mod timeline;

pub use html::{HtmlPage, PAGE_BEGINS, html};
pub use provenance::provenance;
pub use terminal::Style;
pub use text::sanitize;
pub use text::{grouped, wrap};

use orchestrion_kernel::State;
use orchestrion_trace::{Reader, TraceError};
use std::fmt;
use std::io::{self, BufRead};
use step_view::{Before, StepView};
use terminal::Terminal;

/// What is to be seen of a trace, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Only this step, in full; without it, the whole timeline.
    pub at: Option<u64>,
    /// With or without colours.
    pub style: Style,
}

/// What was read to show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShowSummary {
    /// Steps, the refused ones included.
    pub steps: u64,
    /// Requests that were started.
    pub requests: u64,
    /// Inputs that were refused.
    pub refused: u64,
}

/// Why a trace was not shown to its end.
#[derive(Debug)]
pub enum ShowError {
    /// It could not be read further. What stood above was shown.
    Trace(TraceError),
    /// The page could not be written.
    Io(io::Error),
    /// The trace has no such step.
    NoSuchStep {
        /// The step that was asked for.
        at: u64,
        /// How many steps there are.
        steps: u64,
    },
    /// The trace knows no such item.
    NoSuchItem {
        /// The item that was asked for.
        item: u64,
        /// The highest number of an item that there is.
        items: u64,
    },
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The file's own words may stand in it.
            Self::Trace(error) => f.write_str(&sanitize(&error.to_string())),
            Self::Io(error) => write!(f, "the timeline cannot be written: {error}"),
            Self::NoSuchItem { item, items: 0 } => {
                write!(f, "no item {item}: nothing becomes known in the trace")
            }
            Self::NoSuchItem { item, items } => {
                write!(
                    f,
                    "no item {item}: expected a number from 1 to {items}, as they stand in [] in a step"
                )
            }
            Self::NoSuchStep { at, steps: 0 } => {
                write!(f, "no step {at}: the trace has no steps, only a header")
            }
            Self::NoSuchStep { at, steps } => {
                let steps_noun = text::count(usize::try_from(*steps).unwrap_or(usize::MAX), "step");
                write!(f, "no step {at}: the trace has {steps_noun}; expected a number from 1 to {steps}")
            }
        }
    }
}

impl std::error::Error for ShowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Trace(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::NoSuchStep { .. } | Self::NoSuchItem { .. } => None,
        }
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Shows a trace, line by line as it is read.
///
/// # Errors
/// [`ShowError`] if the trace cannot be read to its end, has no step [`View::at`], or `out` fails.
pub fn show<R: BufRead>(
    reader: Reader<R>,
    view: &View,
    out: &mut impl io::Write,
) -> Result<ShowSummary, ShowError> {
    let header = reader.header().clone();
    let mut page = Terminal::new(out, view.style);
    let mut state = State::new(header.conversation.clone());
    let mut shown = ShowSummary::default();
    let mut timeline = timeline::Timeline::default();
    let mut first_ms = None;
    if view.at.is_none() {
        timeline::header(&mut page, &header)?;
    }
    for step in reader {
        let step = match step {
            Ok(step) => step,
            Err(error) => {
                // What could be read is shown with its end, and then what is wrong with the rest.
                if view.at.is_none() {
                    timeline.end(&mut page, &header.policy, &state, &shown)?;
                }
                return Err(ShowError::Trace(error));
            }
        };
        let first_ms = *first_ms.get_or_insert(step.at_ms);
        let before = Before::of(&state);
        step.events.iter().for_each(|event| state.apply(event));
        shown.count(&step);
        let scene =
            StepView { policy: &header.policy, step: &step, first_ms, before: &before, after: &state };
        match view.at {
            None => timeline.step(&mut page, &scene)?,
            Some(at) if at == step.n => {
                detail::step(&mut page, &header, &scene)?;
                return Ok(shown);
            }
            Some(_) => {}
        }
    }
    match view.at {
        None => timeline.end(&mut page, &header.policy, &state, &shown)?,
        Some(at) => return Err(ShowError::NoSuchStep { at, steps: shown.steps }),
    }
    Ok(shown)
}

impl ShowSummary {
    fn count(&mut self, step: &orchestrion_trace::Step) {
        let asks =
            |event: &orchestrion_kernel::Event| matches!(event, orchestrion_kernel::Event::UserMsg { .. });
        self.steps += 1;
        self.requests += u64::from(step.events.iter().any(asks));
        self.refused += u64::from(step.refused.is_some());
    }
}
