//! Traces for readers: a timeline of all steps, one step in full, the history of one item or key, the base events, or an HTML
//! page.
//!
//! Each report reads the trace once and folds the state. Memory holds the state and a summary of the current request, not
//! the steps. Deliberately absent: replay, that is, whether this kernel would decide the same.

mod base_events;
mod claims;
mod description;
mod detail;
mod error;
mod fold;
mod html;
mod item_history;
mod key_history;
mod network;
mod network_activity;
mod phrases;
mod plans;
mod reasons;
mod renderer;
mod step_view;
mod terminal;
mod timeline;

pub use base_events::{BaseSummary, show_base};
pub use description::{StepDescription, describe};
pub use error::ShowError;
pub use fold::ShowSummary;
pub use html::{HtmlPage, PAGE_PREFIX, ProjectClaim, html};
pub use item_history::item_history;
pub use key_history::key_history;
pub use terminal::Style;

use fold::StateFold;
use orchestrion_trace::Reader;
use std::io::{self, BufRead};
use terminal::Terminal;
use timeline::Timeline;

/// The part of a trace to show, and its style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Shows this step in full, instead of the timeline of all steps.
    pub step: Option<u64>,
    /// Colors and width.
    pub style: Style,
}

/// Writes a trace, step by step as it is read.
///
/// # Errors
/// [`ShowError`] if the trace is not readable to its end, has no step [`View::step`], or `out` fails.
pub fn show<R: BufRead>(
    reader: Reader<R>,
    view: &View,
    out: &mut impl io::Write,
) -> Result<ShowSummary, ShowError> {
    let mut out = Terminal::new(out, view.style);
    match view.step {
        Some(n) => show_step(reader, n, &mut out),
        None => show_timeline(reader, &mut out),
    }
}

fn show_timeline<R: BufRead>(
    mut reader: Reader<R>,
    out: &mut Terminal<'_>,
) -> Result<ShowSummary, ShowError> {
    let header = reader.header().clone();
    let mut fold = StateFold::new(&header);
    let mut timeline = Timeline::default();
    timeline::write_header(out, &header)?;
    let result = reader.try_for_each(|step| {
        fold.step(&header.policy, &step.map_err(ShowError::Trace)?, |view| timeline.write_step(out, view))?;
        Ok(())
    });
    // The readable part of a damaged trace gets its summary, too.
    if matches!(result, Ok(()) | Err(ShowError::Trace(_))) {
        fold.network.write(out)?;
        timeline::write_end(out, &header.policy, fold.conversation.state(), &fold.summary)?;
    }
    result.map(|()| fold.summary)
}

fn show_step<R: BufRead>(
    reader: Reader<R>,
    found: u64,
    out: &mut Terminal<'_>,
) -> Result<ShowSummary, ShowError> {
    let header = reader.header().clone();
    let mut fold = StateFold::new(&header);
    for step in reader {
        let step = step.map_err(ShowError::Trace)?;
        let is_found = step.n == found;
        fold.step(&header.policy, &step, |view| {
            if is_found { detail::write_step(out, &header, view) } else { Ok(()) }
        })?;
        if is_found {
            return Ok(fold.summary);
        }
    }
    Err(ShowError::NoSuchStep { found, steps: fold.summary.steps })
}
