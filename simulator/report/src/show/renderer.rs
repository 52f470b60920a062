//! The output interface of reports, and its styled lines. A renderer writes them to a terminal or into a web page.
//!
//! Every text passes through [`Line`], which sanitizes it.

use super::step_view::StepView;
use crate::text::{columns, line_break, sanitize, shorten};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io;

/// Output of a timeline or of one step in full.
pub(super) trait Renderer {
    /// Writes the first line of a step: number, actor, text and transition id.
    fn write_step(
        &mut self,
        view: &StepView<'_>,
        actor: Line,
        text: Line,
        transition: &str,
    ) -> io::Result<()>;
    /// Writes the message of a user as the first line of a step.
    fn write_message(
        &mut self,
        view: &StepView<'_>,
        actor: Line,
        text: &str,
        transition: &str,
    ) -> io::Result<()>;
    /// Writes a further line of a step.
    fn write_line(&mut self, label: &str, line: Line) -> io::Result<()>;
    /// Writes the final answer below its step.
    fn write_answer(&mut self, view: &StepView<'_>, text: &str) -> io::Result<()>;
    /// Writes the heading of a session, a request or a step.
    fn write_heading(&mut self, title: Line) -> io::Result<()>;
    /// Writes a heading within a request.
    fn write_region(&mut self, title: &str) -> io::Result<()>;
    /// Writes a paragraph over the whole width; its continuation lines are indented.
    fn write_paragraph(&mut self, line: Line, indent: usize) -> io::Result<()>;
    /// Writes an empty line.
    fn write_blank(&mut self) -> io::Result<()>;
    /// Writes a line of a named section of one step. An empty name continues the previous section.
    fn write_section(&mut self, name: &str, line: Line) -> io::Result<()>;
    /// Writes an event of the step.
    fn write_event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()>;
    /// Writes a property of the state. An empty name continues the previous property.
    fn write_property(&mut self, section: &str, name: &str, line: Line) -> io::Result<()>;
    /// Writes a task of a reply.
    fn write_task(&mut self, line: Line) -> io::Result<()>;
    /// Writes a text in full, with its line breaks.
    fn write_text(&mut self, text: &str) -> io::Result<()>;
}

/// The role of a text in a line; determines its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    Text,
    /// Secondary information.
    Dim,
    /// The name of a user, module or item.
    Actor,
    Heading,
    /// Approval or success.
    Good,
    /// Objection or failure.
    Bad,
    /// Needs the reader's attention.
    Warn,
}

/// How a piece of a line adapts to the width of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Fixed,
    /// Takes the columns that the other pieces leave.
    Rest,
    /// The same, in quotes.
    QuotedRest,
    /// Takes a percentage of the columns to its right, and is padded to it.
    Share(usize),
}

/// A line with less room for its elastic piece continues it on a second line; a table row does not.
const REST_COLUMNS_MIN: usize = 24;
/// Narrower lines have no padded cells.
const CELL_LINE_COLUMNS_MIN: usize = 48;

/// One logical line of styled pieces. [`Line::wrapped`] fits it to a width.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pieces: Vec<Piece>,
    /// The indent of continuation lines.
    indent: usize,
}

/// A part of a line with one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) style: TextStyle,
    pub(super) text: String,
    /// The full text, if `text` is shortened.
    full: Option<String>,
    fit: Fit,
}

impl Piece {
    fn fixed(style: TextStyle, text: String) -> Self {
        Self { style, text, full: None, fit: Fit::Fixed }
    }

    /// Returns the text without any shortening.
    pub(super) fn full_text(&self) -> &str {
        self.full.as_ref().unwrap_or(&self.text)
    }

    /// Returns a fixed piece of at most `columns` columns.
    fn fitted(&self, columns: usize) -> Self {
        let text = match self.fit {
            Fit::Fixed => self.text.clone(),
            Fit::Rest | Fit::Share(_) => shorten(&self.text, columns.max(8)),
            Fit::QuotedRest => {
                let quoted = self.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                let columns = columns.saturating_sub(2).max(8);
                format!("\"{}\"", shorten(quoted.unwrap_or(&self.text), columns))
            }
        };
        Self::fixed(self.style, text)
    }
}

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Returns a line of plain text.
    pub(super) fn text(text: impl Display) -> Self {
        Self::new().and(text)
    }

    /// Returns a line of secondary text.
    pub(super) fn dim(text: impl Display) -> Self {
        Self::new().styled(TextStyle::Dim, text)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Appends plain text.
    pub(super) fn and(self, text: impl Display) -> Self {
        self.styled(TextStyle::Text, text)
    }

    /// Appends styled text.
    pub(super) fn styled(self, style: TextStyle, text: impl Display) -> Self {
        self.push(Piece::fixed(style, sanitize(&text.to_string())))
    }

    /// Appends a text, shortened to at most `columns_max` columns.
    pub(super) fn shortened(self, style: TextStyle, text: &str, columns_max: usize) -> Self {
        let short = shorten(text, columns_max);
        let full = Some(sanitize(text.trim())).filter(|full| *full != short);
        self.push(Piece { full, ..Piece::fixed(style, short) })
    }

    /// Appends a text, shortened to the columns that the rest of the line leaves.
    pub(super) fn rest(self, style: TextStyle, text: &str) -> Self {
        self.push(Piece { fit: Fit::Rest, ..Piece::fixed(style, sanitize(text.trim())) })
    }

    /// Appends a text in quotes, shortened to the columns that the rest of the line leaves.
    pub(super) fn quote(self, text: &str) -> Self {
        if text.trim().is_empty() {
            return self.styled(TextStyle::Dim, "(no text)");
        }
        let quoted = format!("\"{}\"", sanitize(text.trim()));
        self.push(Piece { fit: Fit::QuotedRest, ..Piece::fixed(TextStyle::Text, quoted) })
    }

    /// Appends a table cell that takes a percentage of the columns.
    pub(super) fn cell(self, style: TextStyle, text: &str, percent: usize) -> Self {
        self.push(Piece { fit: Fit::Share(percent), ..Piece::fixed(style, sanitize(text.trim())) })
    }

    /// Appends spaces up to a column, and at least one.
    pub(super) fn pad_to(self, column: usize) -> Self {
        let used = self.columns();
        let spaces = column.saturating_sub(used).max(usize::from(used > 0));
        self.and(" ".repeat(spaces))
    }

    /// Appends another line.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self.indent += other.indent;
        self
    }

    /// Sets the indent of continuation lines.
    pub(super) const fn with_indent(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the columns of the unfitted line.
    pub(super) fn columns(&self) -> usize {
        self.pieces.iter().map(|piece| columns(&piece.text)).sum()
    }

    /// Returns lines of at most `first_max` columns for the first one and `columns_max` for each continuation.
    pub(super) fn wrapped(&self, first_max: usize, columns_max: usize) -> Vec<Self> {
        let fitted = self.fitted(first_max);
        let Some(mut at) = line_break(fitted.chars(), first_max) else { return vec![fitted] };
        let continuation_max = columns_max.saturating_sub(self.indent).max(1);
        let mut rest: VecDeque<(TextStyle, &str)> =
            fitted.pieces.iter().map(|piece| (piece.style, piece.text.as_str())).collect();
        let mut lines = vec![take(&mut rest, at)];
        loop {
            skip_spaces(&mut rest);
            let line = Self::new().indented(self.indent);
            let chars = rest.iter().flat_map(|(_, text)| text.chars());
            at = match line_break(chars, continuation_max) {
                Some(at) => at,
                None => {
                    lines.push(line.join(take(&mut rest, usize::MAX)));
                    return lines;
                }
            };
            lines.push(line.join(take(&mut rest, at)));
        }
    }

    /// Returns the line without trailing spaces.
    pub(super) fn trimmed(mut self) -> Self {
        while let Some(piece) = self.pieces.last_mut() {
            piece.text.truncate(piece.text.trim_end().len());
            if !piece.text.is_empty() {
                break;
            }
            self.pieces.pop();
        }
        self
    }

    fn push(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    fn indented(self, columns: usize) -> Self {
        if columns == 0 { self } else { self.and(" ".repeat(columns)) }
    }

    /// Returns the line with its elastic pieces shortened to a width.
    fn fitted(&self, columns_max: usize) -> Self {
        let is_fixed = |piece: &&Piece| piece.fit == Fit::Fixed;
        let fixed: usize = self.pieces.iter().filter(is_fixed).map(|piece| columns(&piece.text)).sum();
        let mut left = columns_max.saturating_sub(fixed);
        let is_row = columns_max >= CELL_LINE_COLUMNS_MIN
            && self.pieces.iter().any(|piece| matches!(piece.fit, Fit::Share(_)));
        let mut line = Self::new().with_indent(self.indent);
        for piece in &self.pieces {
            line = match piece.fit {
                Fit::Fixed => line.push(piece.clone()),
                Fit::Share(percent) if is_row => {
                    let start = line.columns();
                    let share = columns_max.saturating_sub(start) * percent / 100;
                    left = left.saturating_sub(share);
                    let column = start + share;
                    line.push(piece.fitted(share)).pad_to(column)
                }
                Fit::Share(_) => line.push(piece.fitted(2 * columns_max)),
                Fit::Rest | Fit::QuotedRest if left < REST_COLUMNS_MIN && !is_row => {
                    line.push(piece.fitted(left + columns_max * 3 / 4))
                }
                Fit::Rest | Fit::QuotedRest => line.push(piece.fitted(left)),
            };
        }
        line
    }

    fn chars(&self) -> impl Iterator<Item = char> {
        self.pieces.iter().flat_map(|piece| piece.text.chars())
    }
}

/// Removes the first `len_bytes` bytes of the texts and returns them as a line.
fn take(texts: &mut VecDeque<(TextStyle, &str)>, len_bytes: usize) -> Line {
    let mut line = Line::new();
    let mut left = len_bytes;
    while let Some((style, text)) = texts.pop_front() {
        let (head, tail) = text.split_at(left.min(text.len()));
        left -= head.len();
        if !head.is_empty() {
            line = line.push(Piece::fixed(style, head.to_owned()));
        }
        if !tail.is_empty() {
            texts.push_front((style, tail));
            break;
        }
    }
    line
}

/// Removes the spaces at the start of the texts.
fn skip_spaces(texts: &mut VecDeque<(TextStyle, &str)>) {
    while let Some((style, text)) = texts.pop_front() {
        let text = text.trim_start();
        if !text.is_empty() {
            texts.push_front((style, text));
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines as plain text.
    fn wrap(line: &Line, columns_max: usize) -> Vec<String> {
        let text = |line: &Line| line.pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
        line.wrapped(columns_max, columns_max).iter().map(|line| text(line).trim_end().to_string()).collect()
    }

    #[test]
    fn quote_takes_remaining_columns() {
        let line = Line::text("PRO ").quote("one two three four five six").and(" end");
        assert_eq!(wrap(&line, 80), ["PRO \"one two three four five six\" end"]);
        assert_eq!(wrap(&line, 34), ["PRO \"one two three four…\" end"]);
        assert_eq!(wrap(&line, 20), ["PRO \"one two three", "four five…\" end"]);
    }

    #[test]
    fn cells_align_in_wide_lines_only() {
        let row = |text: &str| Line::text("1 ").cell(TextStyle::Text, text, 50).and(" pure").with_indent(2);
        assert_eq!(wrap(&row("push"), 62), ["1 push                           pure"]);
        assert_eq!(wrap(&row("push"), 20), ["1 push pure"]);
        assert_eq!(wrap(&row("push the image"), 12), ["1 push the", "  image pure"]);
    }
}
