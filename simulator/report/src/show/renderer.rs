//! What is told of a trace, in lines of different ink, and where it can be written: on a terminal, or into a web page.
//!
//! Every text goes through [`Line`], and there it is made harmless.

use super::step_view::StepView;
use super::text::{break_at, columns, sanitize, shorten};
use std::fmt::Display;
use std::io;

/// Where a trace is told: the timeline step by step, or one step in full.
pub(super) trait Renderer {
    /// A line of a step: its number and its row stand only at the first one.
    fn step(&mut self, scene: &StepView<'_>, who: Line, said: Line, row: &str) -> io::Result<()>;
    /// What the user asks, as the line of a step.
    fn asked(&mut self, scene: &StepView<'_>, who: Line, text: &str, row: &str) -> io::Result<()>;
    /// A further line of a step.
    fn more(&mut self, who: &str, said: Line) -> io::Result<()>;
    /// What the user reads, under a step.
    fn answer(&mut self, scene: &StepView<'_>, text: &str) -> io::Result<()>;
    /// A heading that parts the page.
    fn heading(&mut self, title: Line) -> io::Result<()>;
    /// A heading within a request.
    fn region(&mut self, title: &str) -> io::Result<()>;
    /// A paragraph over the whole width, further lines indented.
    fn paragraph(&mut self, line: Line, indent: usize) -> io::Result<()>;
    /// Some room.
    fn gap(&mut self) -> io::Result<()>;
    /// A line about one step under a name; without one, under that of the line before.
    fn section(&mut self, name: &str, line: Line) -> io::Result<()>;
    /// An event of the step.
    fn event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()>;
    /// Whether what stands whole elsewhere is shortened.
    fn shortens(&self) -> bool;
    /// A property of the state.
    fn property(&mut self, section: &str, name: &str, line: Line) -> io::Result<()>;
    /// A task under what was said.
    fn task(&mut self, line: Line) -> io::Result<()>;
    /// A text under what was said before, whole.
    fn whole(&mut self, text: &str) -> io::Result<()>;
}

/// What a piece of text is, from which its colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    Text,
    /// What the eye may skip.
    Dim,
    /// Who speaks.
    Who,
    Heading,
    /// In favour, or well ended.
    Good,
    /// Against, or failed.
    Bad,
    /// Worth a look.
    Warn,
}

/// How wide what is said may be on a terminal, to which quotes are shortened.
pub(super) const TEXT_WIDTH: usize = 71;

/// One line, in pieces of different ink.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pieces: Vec<Piece>,
    columns: usize,
}

/// Some words of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) ink: TextStyle,
    pub(super) text: String,
    /// What it is the beginning of, where there is more room.
    pub(super) whole: Option<String>,
}

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// A line of plain text.
    pub(super) fn text(text: impl Display) -> Self {
        Self::new().and(text)
    }

    /// A line that the eye may skip.
    pub(super) fn faint(text: impl Display) -> Self {
        Self::new().ink(TextStyle::Dim, text)
    }

    pub(super) fn and(self, text: impl Display) -> Self {
        self.ink(TextStyle::Text, text)
    }

    pub(super) fn ink(self, ink: TextStyle, text: impl Display) -> Self {
        let text = sanitize(&text.to_string());
        self.push(Piece { ink, text, whole: None })
    }

    fn push(mut self, piece: Piece) -> Self {
        self.columns += columns(&piece.text);
        self.pieces.push(piece);
        self
    }

    /// What the line is made of.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The first words of a text, on so many columns at most.
    pub(super) fn first(self, ink: TextStyle, text: &str, columns_max: usize) -> Self {
        self.beginning(ink, "", text, columns_max)
    }

    fn beginning(self, ink: TextStyle, quote: &str, text: &str, columns_max: usize) -> Self {
        let short = format!("{quote}{}{quote}", shorten(text, columns_max));
        let whole = format!("{quote}{}{quote}", sanitize(text.trim()));
        let whole = (whole != short).then_some(whole);
        self.push(Piece { ink, text: short, whole })
    }

    /// The first words of a text, in quotes, up to the end of the line.
    pub(super) fn quote(self, text: &str) -> Self {
        self.quote_within(text, TEXT_WIDTH)
    }

    /// The first words of a text, in quotes, up to a column; nothing if there is no text.
    pub(super) fn quote_within(self, text: &str, column: usize) -> Self {
        if text.trim().is_empty() {
            return self.ink(TextStyle::Dim, "(no text)");
        }
        let room = column.saturating_sub(self.columns + 2).max(8);
        self.beginning(TextStyle::Text, "\"", text, room)
    }

    /// Spaces up to a column, and at least one.
    pub(super) fn to(self, column: usize) -> Self {
        let spaces = column.saturating_sub(self.columns).max(usize::from(self.columns > 0));
        self.and(" ".repeat(spaces))
    }

    /// Appends another line.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self.columns += other.columns;
        self
    }

    /// The line in lines of at most so many columns: the first one, and those that follow.
    pub(super) fn wrapped(&self, first_max: usize, columns_max: usize) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut rest = self.clone();
        while let Some(at) = break_at(rest.chars(), if lines.is_empty() { first_max } else { columns_max }) {
            let (line, after) = rest.split(at);
            lines.push(line);
            rest = after;
        }
        lines.push(rest);
        lines
    }

    fn chars(&self) -> impl Iterator<Item = char> {
        self.pieces.iter().flat_map(|piece| piece.text.chars())
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (mut line, mut after) = (Self::new(), Self::new());
        let mut left = at;
        for Piece { ink, text, .. } in self.pieces {
            let (head, tail) = text.split_at(left.min(text.len()));
            left -= head.len();
            let tail = if after.columns == 0 { tail.trim_start() } else { tail };
            if !head.is_empty() {
                line = line.push(Piece { ink, text: head.to_string(), whole: None });
            }
            if !tail.is_empty() {
                after = after.push(Piece { ink, text: tail.to_string(), whole: None });
            }
        }
        (line, after)
    }

    /// The line without the spaces at its end.
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

    /// How many columns it takes.
    pub(super) const fn columns(&self) -> usize {
        self.columns
    }
}
