//! Terminal output: step number, actor, text, and the transition id at the right edge.
//!
//! ```text
//!     n  actor           text                                                              time   row
//! ```
//! Only this file writes escape sequences.

use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use crate::text::{count, wrap};
use anstyle::{AnsiColor, Effects};
use std::io;

/// Colors and width of terminal output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Write ANSI colors.
    pub colors: bool,
    /// Display columns of a line. Lines with unbreakable words may exceed it; less than 60 counts as 60.
    pub columns: usize,
}

impl Default for Style {
    /// No colors and 100 columns, as for files.
    fn default() -> Self {
        Self { colors: false, columns: 100 }
    }
}

impl TextStyle {
    fn ansi(self) -> anstyle::Style {
        let style = anstyle::Style::new();
        let color = |color: AnsiColor| style.fg_color(Some(color.into()));
        match self {
            Self::Text => style,
            Self::Dim => style.effects(Effects::DIMMED),
            Self::Actor => color(AnsiColor::Cyan),
            Self::Heading => style.effects(Effects::BOLD),
            Self::Good => color(AnsiColor::Green),
            Self::Bad => color(AnsiColor::Red),
            Self::Warn => color(AnsiColor::Yellow),
        }
    }
}

const COLUMNS_MIN: usize = 60;
/// Narrower output indents the continuation of events less.
const WIDE_COLUMNS_MIN: usize = 80;
/// The column of the actor.
const ACTOR_AT: usize = 7;
/// The column of the text.
const TEXT_AT: usize = ACTOR_AT + 17;
/// The column of the text of a base event.
const BASE_TEXT_AT: usize = ACTOR_AT + 13;
/// The columns of the transition id, with the space before it.
const TRANSITION_COLUMNS: usize = 5;
/// The column of the sections of one step.
const SECTION_AT: usize = 14;
/// The column of the text of an event.
const EVENT_AT: usize = SECTION_AT + 19;
/// The column of the value of a property.
const PROPERTY_AT: usize = SECTION_AT + 12;
/// The most lines of a user message.
const MESSAGE_LINES_MAX: usize = 4;
/// The most lines of a final answer.
const ANSWER_LINES_MAX: usize = 8;

/// A renderer for terminals and text files.
pub(super) struct Terminal<'a> {
    out: &'a mut dyn io::Write,
    colors: bool,
    columns: usize,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, style: Style) -> Self {
        Self { out, colors: style.colors, columns: style.columns.max(COLUMNS_MIN) }
    }

    /// The columns between the actor and the transition id.
    const fn text_columns(&self) -> usize {
        self.columns - TEXT_AT - TRANSITION_COLUMNS
    }

    /// Writes a base event: step number, name, and text.
    pub(super) fn write_base_event(&mut self, step: u64, name: &str, line: Line) -> io::Result<()> {
        let number = Line::dim(format_args!("{step:>5}  "));
        let head = number.styled(TextStyle::Heading, name).pad_to(BASE_TEXT_AT);
        self.write_paragraph(head.join(line), BASE_TEXT_AT)
    }

    fn write_entry(&mut self, number: &str, actor: Line, text: &Line, right: &str) -> io::Result<()> {
        let columns = self.text_columns();
        let first_columns = columns.min(self.columns - TEXT_AT - 1 - right.len());
        let mut lines = text.wrapped(first_columns, columns).into_iter();
        let first = lines.next().unwrap_or_default();
        let head = Line::new().styled(TextStyle::Dim, number).join(actor).pad_to(TEXT_AT).join(first);
        if right.is_empty() {
            self.write(head)?;
        } else {
            self.write(head.pad_to(self.columns - right.len()).styled(TextStyle::Dim, right))?;
        }
        for line in lines {
            self.write(Line::new().pad_to(TEXT_AT).join(line))?;
        }
        Ok(())
    }

    /// Writes one fitted line without trailing spaces.
    fn write(&mut self, line: Line) -> io::Result<()> {
        for piece in line.trimmed().pieces() {
            if !self.colors || piece.style == TextStyle::Text || piece.text.trim().is_empty() {
                self.out.write_all(piece.text.as_bytes())?;
            } else {
                let ansi = piece.style.ansi();
                write!(self.out, "{ansi}{}{ansi:#}", piece.text)?;
            }
        }
        self.out.write_all(b"\n")
    }
}

impl Renderer for Terminal<'_> {
    fn write_step(
        &mut self,
        view: &StepView<'_>,
        actor: Line,
        text: Line,
        transition: &str,
    ) -> io::Result<()> {
        let right = match view.elapsed() {
            Some(time) => format!("{time} {transition:>4}"),
            None => transition.to_string(),
        };
        self.write_entry(&format!("{:>5}  ", view.step.n), actor, &text, &right)
    }

    fn write_message(
        &mut self,
        view: &StepView<'_>,
        actor: Line,
        text: &str,
        transition: &str,
    ) -> io::Result<()> {
        let mut lines = wrap(text, self.text_columns()).into_iter();
        self.write_step(view, actor, Line::text(lines.next().unwrap_or_default()), transition)?;
        let omitted = lines.len().saturating_sub(MESSAGE_LINES_MAX - 1);
        for line in lines.take(MESSAGE_LINES_MAX - 1) {
            self.write_line("", Line::text(line))?;
        }
        if omitted > 0 {
            self.write_line("", Line::dim(format_args!("… {}", count(omitted, "more line"))))?;
        }
        Ok(())
    }

    fn write_line(&mut self, label: &str, line: Line) -> io::Result<()> {
        self.write_entry(&" ".repeat(ACTOR_AT), Line::dim(label), &line, "")
    }

    fn write_answer(&mut self, view: &StepView<'_>, text: &str) -> io::Result<()> {
        let lines = wrap(text, self.text_columns() - 2);
        for line in lines.iter().take(ANSWER_LINES_MAX) {
            self.write_line("", Line::dim("│ ").and(line))?;
        }
        let omitted = lines.len().saturating_sub(ANSWER_LINES_MAX);
        if omitted > 0 {
            let hint = format!("… {}; --step {} shows all", count(omitted, "more line"), view.step.n);
            self.write_line("", Line::dim(hint))?;
        }
        Ok(())
    }

    fn write_heading(&mut self, title: Line) -> io::Result<()> {
        let mut lines = Line::dim("━━ ").join(title).and(" ").wrapped(self.columns, self.columns);
        let last = lines.pop().unwrap_or_default();
        lines.into_iter().try_for_each(|line| self.write(line))?;
        let fill = "━".repeat(self.columns.saturating_sub(last.columns()));
        self.write(last.styled(TextStyle::Dim, fill))
    }

    fn write_region(&mut self, title: &str) -> io::Result<()> {
        self.write_blank()?;
        self.write(Line::new().pad_to(ACTOR_AT).styled(TextStyle::Heading, title))
    }

    fn write_paragraph(&mut self, line: Line, indent: usize) -> io::Result<()> {
        for (i, part) in line.wrapped(self.columns, self.columns - indent).into_iter().enumerate() {
            let indent = if i == 0 { Line::new() } else { Line::new().pad_to(indent) };
            self.write(indent.join(part))?;
        }
        Ok(())
    }

    fn write_blank(&mut self) -> io::Result<()> {
        self.write(Line::new())
    }

    fn write_section(&mut self, name: &str, line: Line) -> io::Result<()> {
        self.write_paragraph(Line::dim(name).pad_to(SECTION_AT).join(line), SECTION_AT)
    }

    fn write_event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        let head = Line::dim(section).pad_to(SECTION_AT).styled(TextStyle::Heading, name).pad_to(EVENT_AT);
        let indent = if self.columns < WIDE_COLUMNS_MIN { SECTION_AT + 4 } else { EVENT_AT };
        self.write_paragraph(head.join(line), indent)
    }

    fn write_property(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        let head = Line::dim(section).pad_to(SECTION_AT).styled(TextStyle::Dim, name).pad_to(PROPERTY_AT);
        self.write_paragraph(head.join(line), PROPERTY_AT + 2)
    }

    fn write_task(&mut self, line: Line) -> io::Result<()> {
        self.write_paragraph(Line::new().pad_to(SECTION_AT).join(line), SECTION_AT + 4)
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        for line in wrap(text, self.columns - SECTION_AT - 2) {
            self.write(Line::new().pad_to(SECTION_AT).styled(TextStyle::Dim, "│ ").and(line))?;
        }
        Ok(())
    }
}
