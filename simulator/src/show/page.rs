//! The page: a narrow column of step numbers, one of who speaks, what is said, and the row at the right.
//!
//! ```text
//!     n  who             what                                                                     row
//! ```
//! Every text goes through [`Line`], and there it is made harmless; escapes are written here alone.

use super::text::{break_at, columns, harmless, shorten};
use anstyle::{AnsiColor, Effects};
use std::fmt::Display;
use std::io;

/// Whether escapes may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No escapes.
    #[default]
    Plain,
    /// ANSI colours.
    Colour,
}

/// What a piece of text is, from which its colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    /// What the eye may skip.
    Faint,
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

impl Ink {
    fn style(self) -> anstyle::Style {
        let style = anstyle::Style::new();
        let colour = |colour: AnsiColor| style.fg_color(Some(colour.into()));
        match self {
            Self::Text => style,
            Self::Faint => style.effects(Effects::DIMMED),
            Self::Who => colour(AnsiColor::Cyan),
            Self::Heading => style.effects(Effects::BOLD),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Warn => colour(AnsiColor::Yellow),
        }
    }
}

/// The whole width.
pub(super) const WIDTH: usize = 100;
/// Where who speaks stands.
const WHO_AT: usize = 7;
/// Where what is said stands.
pub(super) const TEXT_AT: usize = WHO_AT + 17;
/// How wide it may be.
pub(super) const TEXT_WIDTH: usize = WIDTH - TEXT_AT - 5;

/// One line, in pieces of different ink.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pieces: Vec<(Ink, String)>,
    columns: usize,
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
        Self::new().ink(Ink::Faint, text)
    }

    pub(super) fn and(self, text: impl Display) -> Self {
        self.ink(Ink::Text, text)
    }

    pub(super) fn ink(mut self, ink: Ink, text: impl Display) -> Self {
        let text = harmless(&text.to_string());
        self.columns += columns(&text);
        self.pieces.push((ink, text));
        self
    }

    /// The first words of a text, in quotes, up to the end of the line.
    pub(super) fn quote(self, text: &str) -> Self {
        self.quote_within(text, TEXT_WIDTH)
    }

    /// The first words of a text, in quotes, up to a column; nothing if there is no text.
    pub(super) fn quote_within(self, text: &str, column: usize) -> Self {
        if text.trim().is_empty() {
            return self.ink(Ink::Faint, "(no text)");
        }
        let room = column.saturating_sub(self.columns + 2).max(8);
        self.and(format_args!("\"{}\"", shorten(text, room)))
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
    fn wrapped(&self, first_max: usize, columns_max: usize) -> Vec<Self> {
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
        self.pieces.iter().flat_map(|(_, text)| text.chars())
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (mut line, mut after) = (Self::new(), Self::new());
        let mut left = at;
        for (ink, text) in self.pieces {
            let (head, tail) = text.split_at(left.min(text.len()));
            left -= head.len();
            let tail = if after.columns == 0 { tail.trim_start() } else { tail };
            for (part, text) in [(&mut line, head), (&mut after, tail)] {
                if !text.is_empty() {
                    part.columns += columns(text);
                    part.pieces.push((ink, text.to_string()));
                }
            }
        }
        (line, after)
    }
}

/// Where the timeline is written.
pub(super) struct Page<'a> {
    out: &'a mut dyn io::Write,
    style: Style,
}

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, style: Style) -> Self {
        Self { out, style }
    }

    /// A line of a step: its number and its row stand only at the first one.
    pub(super) fn step(&mut self, n: u64, who: Line, said: Line, row: &str) -> io::Result<()> {
        self.entry(&format!("{n:>5}  "), who, said, row)
    }

    /// A further line of a step.
    pub(super) fn more(&mut self, who: &str, said: Line) -> io::Result<()> {
        self.entry(&" ".repeat(WHO_AT), Line::new().ink(Ink::Faint, who), said, "")
    }

    fn entry(&mut self, number: &str, who: Line, said: Line, row: &str) -> io::Result<()> {
        let mut lines = said.wrapped(TEXT_WIDTH, TEXT_WIDTH).into_iter();
        let first = lines.next().unwrap_or_default();
        let head = Line::new().ink(Ink::Faint, number).join(who).to(TEXT_AT).join(first);
        if row.is_empty() {
            self.line(head)?;
        } else {
            self.line(head.to(WIDTH - row.len()).ink(Ink::Faint, row))?;
        }
        for line in lines {
            self.line(Line::new().to(TEXT_AT).join(line))?;
        }
        Ok(())
    }

    /// A heading that parts the page.
    pub(super) fn heading(&mut self, title: Line) -> io::Result<()> {
        let head = Line::new().ink(Ink::Faint, "━━ ").join(title).and(" ");
        let fill = "━".repeat(WIDTH.saturating_sub(head.columns));
        self.line(head.ink(Ink::Faint, fill))
    }

    /// A heading within a request.
    pub(super) fn region(&mut self, title: &str) -> io::Result<()> {
        self.line(Line::new())?;
        self.line(Line::new().to(WHO_AT).ink(Ink::Heading, title))
    }

    /// A paragraph over the whole width, further lines indented.
    pub(super) fn paragraph(&mut self, line: Line, indent: usize) -> io::Result<()> {
        for (i, part) in line.wrapped(WIDTH, WIDTH - indent).into_iter().enumerate() {
            let indent = if i == 0 { Line::new() } else { Line::new().to(indent) };
            self.line(indent.join(part))?;
        }
        Ok(())
    }

    /// One line as it is, without the spaces at its end.
    pub(super) fn line(&mut self, mut line: Line) -> io::Result<()> {
        while let Some((_, text)) = line.pieces.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            line.pieces.pop();
        }
        for (ink, text) in &line.pieces {
            let ink = if text.trim().is_empty() { Ink::Text } else { *ink };
            match (self.style, ink) {
                (Style::Plain, _) | (_, Ink::Text) => self.out.write_all(text.as_bytes())?,
                (Style::Colour, ink) => {
                    let style = ink.style();
                    write!(self.out, "{style}{text}{style:#}")?;
                }
            }
        }
        self.out.write_all(b"\n")
    }
}
