//! The base events of a trace with their texts: 000's trace τ, a word of Σ_B.

use super::View;
use super::detail::events::{self, ItemText};
use super::error::ShowError;
use super::renderer::{Line, Renderer, TextStyle};
use super::terminal::Terminal;
use crate::text::{count, grouped};
use orchestrion_kernel::module::{Failure, Module};
use orchestrion_kernel::{CallId, ItemId};
use orchestrion_text::StandardContexts;
use orchestrion_trace::base::{BaseEventKind, BaseProjection, StepBaseEvent, TextBaseEvent, Unconfirmed};
use orchestrion_trace::{Reader, TraceError};
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// Counts of base events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseSummary {
    counts: BTreeMap<BaseEventKind, u64>,
    /// Calls that were not made.
    pub not_made: u64,
    /// Texts of calls that the trace does not confirm.
    pub unconfirmed: u64,
}

impl BaseSummary {
    /// Counts an event.
    pub fn add(&mut self, event: &TextBaseEvent<'_>) {
        *self.counts.entry(event.kind()).or_default() += 1;
        if let TextBaseEvent::ToolCall { not_made, unconfirmed, .. } = event {
            self.not_made += u64::from(not_made.is_some());
            self.unconfirmed += u64::from(unconfirmed.is_some());
        }
    }

    /// Returns the number of all base events, and of each kind.
    #[must_use]
    pub fn sentence(&self) -> String {
        let of = |kind: BaseEventKind| {
            format!("{} {}", grouped(self.counts.get(&kind).copied().unwrap_or_default()), kind.name())
        };
        let total = self.counts.values().sum();
        let noun = if total == 1 { "event" } else { "events" };
        format!("{} base {noun}: {}", grouped(total), BaseEventKind::ALL.map(of).join(", "))
    }
}

/// Writes the base events of a trace, or those of the step [`View::step`] with their full texts.
///
/// # Errors
/// [`ShowError`] if the trace is not readable to its end, has no step [`View::step`], or `out` fails.
pub fn show_base<R: BufRead>(
    reader: Reader<R>,
    view: &View,
    out: &mut impl io::Write,
) -> Result<BaseSummary, ShowError> {
    let mut out = Terminal::new(out, view.style);
    let projection = BaseProjection::new(&reader, &StandardContexts).map_err(ShowError::Trace)?;
    match view.step {
        Some(step) => show_step(reader, projection, step, &mut out),
        None => show_all(reader, projection, &mut out),
    }
}

fn show_all<R: BufRead>(
    mut reader: Reader<R>,
    mut projection: BaseProjection,
    out: &mut Terminal<'_>,
) -> Result<BaseSummary, ShowError> {
    out.write_heading(heading(&reader, "Base events"))?;
    let mut summary = BaseSummary::default();
    let result: Result<(), ShowError> = reader.try_for_each(|step| {
        for StepBaseEvent { step, event } in projection.project(&step.map_err(ShowError::Trace)?) {
            summary.add(&event);
            out.write_base_event(step, event.kind().name(), describe(&event, ItemText::Short))?;
        }
        Ok(())
    });
    match &result {
        Ok(()) => write_summary(out, &summary, None)?,
        // The readable part of a damaged trace gets its summary, too.
        Err(ShowError::Trace(error)) => write_summary(out, &summary, Some(error))?,
        Err(
            ShowError::Io(_)
            | ShowError::NoSuchStep { .. }
            | ShowError::NoSuchItem { .. }
            | ShowError::NoSuchKey { .. },
        ) => {}
    }
    result.map(|()| summary)
}

fn show_step<R: BufRead>(
    reader: Reader<R>,
    mut projection: BaseProjection,
    found: u64,
    out: &mut Terminal<'_>,
) -> Result<BaseSummary, ShowError> {
    let mut steps = 0;
    let heading = heading(&reader, &format!("Base events of step {found}"));
    for step in reader {
        let step = step.map_err(ShowError::Trace)?;
        steps = step.n;
        if step.n != found {
            projection.skip(&step);
            continue;
        }
        out.write_heading(heading)?;
        let mut summary = BaseSummary::default();
        for StepBaseEvent { step, event } in projection.project(&step) {
            summary.add(&event);
            out.write_base_event(step, event.kind().name(), describe(&event, ItemText::Full))?;
            if let Some(text) = full_text(&event) {
                out.write_text(text)?;
            }
        }
        write_counts(out, &summary)?;
        return Ok(summary);
    }
    Err(ShowError::NoSuchStep { found, steps })
}

fn heading<R: BufRead>(reader: &Reader<R>, title: &str) -> Line {
    let header = reader.header();
    let rest = format!(" of conversation {}, policy {}", header.conversation, header.policy.name);
    Line::new().styled(TextStyle::Heading, title).and(rest)
}

/// Returns a base event in one line. With [`ItemText::Full`], texts other than those of items follow on lines of their own.
fn describe(event: &TextBaseEvent<'_>, length: ItemText) -> Line {
    match event {
        TextBaseEvent::UserMsg { user, text } => {
            with_text(Line::new().styled(TextStyle::Actor, user), text.as_str(), length)
        }
        TextBaseEvent::ToolCall { module, call, text, not_made, unconfirmed } => {
            let line = call_line(*call, "to", *module);
            let line = match unconfirmed {
                None => line,
                Some(reason) => line.and(" ").styled(TextStyle::Warn, self::unconfirmed(*reason)),
            };
            match not_made {
                None => with_text(line, text, length),
                Some(error) => line.and("  ").styled(TextStyle::Warn, format_args!("not made: {error}")),
            }
        }
        TextBaseEvent::ToolResult { module, call, text, failure } => {
            let line = call_line(*call, "of", *module);
            match failure {
                // JSON needs no quotes.
                None if length == ItemText::Short => line.and("  ").rest(TextStyle::Text, text),
                None => line,
                Some(failure) => line.and("  ").join(failure_line(*failure)),
            }
        }
        TextBaseEvent::AddItem { item, deps } | TextBaseEvent::UpdateItem { item, deps } => {
            events::item(item, deps, length)
        }
        TextBaseEvent::ForgetItems { ids } => Line::text(id_list(ids)),
        TextBaseEvent::FinalAnswer { text } => with_text(Line::new(), text.as_str(), length),
    }
}

fn call_line(call: CallId, preposition: &str, module: Module) -> Line {
    Line::text(format_args!("call {call} {preposition} ")).styled(TextStyle::Actor, module)
}

fn failure_line(failure: Failure) -> Line {
    Line::new().styled(TextStyle::Bad, format_args!("failed: {failure}"))
}

/// Appends a text that the line shows itself, shortened to the rest of the line.
fn with_text(line: Line, text: &str, length: ItemText) -> Line {
    let gap = if line.is_empty() { "" } else { "  " };
    match length {
        ItemText::Short => line.and(gap).quote(text),
        ItemText::Full if text.trim().is_empty() => line.and(gap).quote(text),
        ItemText::Full => line,
    }
}

/// Returns the text that a line of full length does not contain.
fn full_text<'a>(event: &'a TextBaseEvent<'_>) -> Option<&'a str> {
    let text = match event {
        TextBaseEvent::UserMsg { text, .. } | TextBaseEvent::FinalAnswer { text } => text.as_str(),
        TextBaseEvent::ToolCall { text, .. } | TextBaseEvent::ToolResult { text, .. } => text,
        TextBaseEvent::AddItem { .. }
        | TextBaseEvent::UpdateItem { .. }
        | TextBaseEvent::ForgetItems { .. } => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

fn unconfirmed(reason: Unconfirmed) -> &'static str {
    match reason {
        Unconfirmed::DigestDiffers => "(not the recorded text)",
        Unconfirmed::NotRecorded => "(not recorded)",
    }
}

fn id_list(ids: &[ItemId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("[{id}]")).collect();
    ids.join(" ")
}

fn write_summary(
    out: &mut Terminal<'_>,
    summary: &BaseSummary,
    unread: Option<&TraceError>,
) -> io::Result<()> {
    write_counts(out, summary)?;
    let log = if unread.is_some() { "the valid part of the log" } else { "the log" };
    let word = format!(
        "The projection of {log} keeps its base events, in its order. It is a word of Σ_B (000 §3.2). \
         The table shortens long texts; --base --step N shows the full texts of a step."
    );
    out.write_paragraph(Line::dim(word), 0)
}

fn write_counts(out: &mut Terminal<'_>, summary: &BaseSummary) -> io::Result<()> {
    out.write_blank()?;
    out.write_paragraph(Line::text(summary.sentence()), 2)?;
    let mut note = |number: u64, text: &str| {
        if number == 0 {
            return Ok(());
        }
        let number = count(usize::try_from(number).unwrap_or(usize::MAX), "call");
        out.write_paragraph(Line::new().styled(TextStyle::Warn, format_args!("{number} {text}")), 2)
    };
    note(summary.not_made, "not made, because no context fits the budget")?;
    note(
        summary.unconfirmed,
        "with an unconfirmed text: this version builds it, and the trace records another digest or none",
    )
}
