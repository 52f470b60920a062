//! Single steps in the words of the timeline, for reports that compare traces.

use super::detail::events::name;
use super::renderer::{Line, Renderer};
use super::step_view::StepView;
use super::timeline::Timeline;
use orchestrion_trace::{ConversationFold, Reader, TraceError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

/// A step in the words of the timeline.
#[derive(Clone, Debug, Default)]
pub struct StepDescription {
    actor: Line,
    text: Line,
    /// The id of the transition; empty without one.
    pub transition: String,
    /// The names of the events, in order.
    pub events: Vec<&'static str>,
}

impl StepDescription {
    /// Returns who acts, or what happens.
    #[must_use]
    pub fn actor(&self) -> String {
        plain(&self.actor)
    }

    /// Returns the text in full.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.pieces().iter().map(|piece| piece.full_text()).collect()
    }

    /// Returns the text as lines of at most this width, with its quotations shortened.
    #[must_use]
    pub fn lines(&self, columns_max: usize) -> Vec<String> {
        let lines = self.text.wrapped(columns_max, columns_max);
        lines.iter().map(|line| plain(line).trim_end().to_owned()).collect()
    }
}

fn plain(line: &Line) -> String {
    line.pieces().iter().map(|piece| piece.text.as_str()).collect()
}

/// Describes steps of a trace, by their numbers. Reads no further than the last of them.
///
/// # Errors
/// [`TraceError`] if a line cannot be read.
pub fn describe<R: BufRead>(
    reader: Reader<R>,
    steps: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, StepDescription>, TraceError> {
    let policy = reader.header().policy.clone();
    let mut fold = ConversationFold::new(reader.header().conversation.clone());
    let mut described = BTreeMap::new();
    let Some(last) = steps.last() else { return Ok(described) };
    for step in reader {
        let step = step?;
        if steps.contains(&step.n) {
            let before = fold.state().clone();
            fold.apply(step.n, &step.events);
            let (after, facts) = (fold.state(), fold.facts());
            let facts =
                facts.filter(|facts| before.control().request().is_some() || facts.first_step == step.n);
            let first_ms = step.at_ms;
            let view = StepView { policy: &policy, step: &step, first_ms, before: &before, after, facts };
            let mut first = FirstEntry::default();
            // Writing to memory does not fail.
            let _: io::Result<()> = Timeline::default().write_step(&mut first, &view);
            let events = step.events.iter().map(name).collect();
            described.insert(step.n, StepDescription { events, ..first.0.unwrap_or_default() });
        } else {
            fold.apply(step.n, &step.events);
        }
        if step.n >= *last {
            break;
        }
    }
    Ok(described)
}

/// Keeps the first entry of a step.
#[derive(Default)]
struct FirstEntry(Option<StepDescription>);

impl Renderer for FirstEntry {
    fn write_step(&mut self, _: &StepView<'_>, actor: Line, text: Line, transition: &str) -> io::Result<()> {
        let transition = transition.to_owned();
        self.0.get_or_insert(StepDescription { actor, text, transition, events: Vec::new() });
        Ok(())
    }

    fn write_message(
        &mut self,
        view: &StepView<'_>,
        actor: Line,
        text: &str,
        transition: &str,
    ) -> io::Result<()> {
        self.write_step(view, actor, Line::new().quote(text), transition)
    }

    fn write_line(&mut self, _: &str, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_answer(&mut self, _: &StepView<'_>, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn write_heading(&mut self, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_region(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn write_paragraph(&mut self, _: Line, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_blank(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn write_section(&mut self, _: &str, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_event(&mut self, _: &str, _: &str, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_property(&mut self, _: &str, _: &str, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_task(&mut self, _: Line) -> io::Result<()> {
        Ok(())
    }

    fn write_text(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}
