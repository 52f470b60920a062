//! The page on a terminal: a narrow column of step numbers, one of who speaks, what is said, and the row at the right.
//!
//! ```text
//!     n  who             what                                                              time   row
//! ```
//! Escapes are written here alone.

use super::renderer::{Line, Renderer, TEXT_WIDTH, TextStyle};
use super::step_view::StepView;
use super::text::{count, wrap};
use anstyle::{AnsiColor, Effects};
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

impl TextStyle {
    fn style(self) -> anstyle::Style {
        let style = anstyle::Style::new();
        let colour = |colour: AnsiColor| style.fg_color(Some(colour.into()));
        match self {
            Self::Text => style,
            Self::Dim => style.effects(Effects::DIMMED),
            Self::Who => colour(AnsiColor::Cyan),
            Self::Heading => style.effects(Effects::BOLD),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Warn => colour(AnsiColor::Yellow),
        }
    }
}

/// The whole width.
const WIDTH: usize = 100;
/// Where who speaks stands.
const WHO_AT: usize = 7;
/// Where what is said stands.
const TEXT_AT: usize = WHO_AT + 17;
/// Where the words about one step stand.
const DETAIL_AT: usize = 14;
/// Where those about an event of it stand.
const EVENT_AT: usize = DETAIL_AT + 19;
/// Where those about a property of the state stand.
const PROPERTY_AT: usize = DETAIL_AT + 12;
/// The most lines of a text of the user's.
const ASKED_LINES_MAX: usize = 4;
/// The most lines of a final answer.
const ANSWER_LINES_MAX: usize = 8;

// The room that the row takes at the right.
const _: () = assert!(TEXT_AT + TEXT_WIDTH + 5 == WIDTH);

/// A page of lines.
pub(super) struct Terminal<'a> {
    out: &'a mut dyn io::Write,
    style: Style,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, style: Style) -> Self {
        Self { out, style }
    }

    fn entry(&mut self, number: &str, who: Line, said: &Line, right: &str) -> io::Result<()> {
        let room = TEXT_WIDTH.min(WIDTH - TEXT_AT - 1 - right.len());
        let mut lines = said.wrapped(room, TEXT_WIDTH).into_iter();
        let first = lines.next().unwrap_or_default();
        let head = Line::new().ink(TextStyle::Dim, number).join(who).to(TEXT_AT).join(first);
        if right.is_empty() {
            self.line(head)?;
        } else {
            self.line(head.to(WIDTH - right.len()).ink(TextStyle::Dim, right))?;
        }
        for line in lines {
            self.line(Line::new().to(TEXT_AT).join(line))?;
        }
        Ok(())
    }

    /// One line as it is, without the spaces at its end.
    fn line(&mut self, line: Line) -> io::Result<()> {
        for piece in line.trimmed().pieces() {
            let ink = if piece.text.trim().is_empty() { TextStyle::Text } else { piece.ink };
            match (self.style, ink) {
                (Style::Plain, _) | (_, TextStyle::Text) => self.out.write_all(piece.text.as_bytes())?,
                (Style::Colour, ink) => {
                    let style = ink.style();
                    write!(self.out, "{style}{}{style:#}", piece.text)?;
                }
            }
        }
        self.out.write_all(b"\n")
    }
}

impl Renderer for Terminal<'_> {
    fn step(&mut self, scene: &StepView<'_>, who: Line, said: Line, row: &str) -> io::Result<()> {
        let right = match scene.since_first() {
            Some(time) => format!("{time} {row:>4}"),
            None => row.to_string(),
        };
        self.entry(&format!("{:>5}  ", scene.step.n), who, &said, &right)
    }

    fn asked(&mut self, scene: &StepView<'_>, who: Line, text: &str, row: &str) -> io::Result<()> {
        let mut lines = wrap(text, TEXT_WIDTH).into_iter();
        self.step(scene, who, Line::text(lines.next().unwrap_or_default()), row)?;
        let hidden = lines.len().saturating_sub(ASKED_LINES_MAX - 1);
        for line in lines.take(ASKED_LINES_MAX - 1) {
            self.more("", Line::text(line))?;
        }
        if hidden > 0 {
            self.more("", Line::faint(format_args!("… and {}", count(hidden, "more line"))))?;
        }
        Ok(())
    }

    fn more(&mut self, who: &str, said: Line) -> io::Result<()> {
        self.entry(&" ".repeat(WHO_AT), Line::faint(who), &said, "")
    }

    fn answer(&mut self, scene: &StepView<'_>, text: &str) -> io::Result<()> {
        let lines = wrap(text, TEXT_WIDTH - 2);
        for line in lines.iter().take(ANSWER_LINES_MAX) {
            self.more("", Line::faint("│ ").and(line))?;
        }
        let hidden = lines.len().saturating_sub(ANSWER_LINES_MAX);
        if hidden > 0 {
            let more = format!("… and {}; --at {} shows all", count(hidden, "more line"), scene.step.n);
            self.more("", Line::faint(more))?;
        }
        Ok(())
    }

    fn heading(&mut self, title: Line) -> io::Result<()> {
        let head = Line::faint("━━ ").join(title).and(" ");
        let fill = "━".repeat(WIDTH.saturating_sub(head.columns()));
        self.line(head.ink(TextStyle::Dim, fill))
    }

    fn region(&mut self, title: &str) -> io::Result<()> {
        self.gap()?;
        self.line(Line::new().to(WHO_AT).ink(TextStyle::Heading, title))
    }

    fn paragraph(&mut self, line: Line, indent: usize) -> io::Result<()> {
        for (i, part) in line.wrapped(WIDTH, WIDTH - indent).into_iter().enumerate() {
            let indent = if i == 0 { Line::new() } else { Line::new().to(indent) };
            self.line(indent.join(part))?;
        }
        Ok(())
    }

    fn gap(&mut self) -> io::Result<()> {
        self.line(Line::new())
    }

    fn section(&mut self, name: &str, line: Line) -> io::Result<()> {
        self.paragraph(Line::faint(name).to(DETAIL_AT).join(line), DETAIL_AT)
    }

    fn event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        let head = Line::faint(section).to(DETAIL_AT).ink(TextStyle::Heading, name).to(EVENT_AT);
        self.paragraph(head.join(line), EVENT_AT)
    }

    fn shortens(&self) -> bool {
        true
    }

    fn property(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        let head = Line::faint(section).to(DETAIL_AT).ink(TextStyle::Dim, name).to(PROPERTY_AT);
        self.paragraph(head.join(line), PROPERTY_AT)
    }

    fn task(&mut self, line: Line) -> io::Result<()> {
        self.paragraph(Line::new().to(DETAIL_AT).join(line), DETAIL_AT + 4)
    }

    fn whole(&mut self, text: &str) -> io::Result<()> {
        for line in wrap(text, WIDTH - DETAIL_AT - 2) {
            self.line(Line::new().to(DETAIL_AT).ink(TextStyle::Dim, "│ ").and(line))?;
        }
        Ok(())
    }
}
