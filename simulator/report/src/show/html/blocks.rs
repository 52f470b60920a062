//! A renderer that collects blocks for a page, and the markup of lines and texts.

use super::super::renderer::{Line, Piece, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::charts::{bar, thousandths_of_text};
use crate::text::wrap;
use maud::{Markup, Render, html};
use std::io;

/// The most characters of one text in the page.
const TEXT_CHARS_MAX: usize = 4_000;
/// Longer texts are folded.
const UNFOLDED_CHARS_MAX: usize = 600;
/// The visible beginning of a folded text.
const FOLDED_CHARS: usize = 240;

/// One call of the renderer.
#[derive(Clone, Debug)]
pub(super) enum PageBlock {
    Step { actor: Line, line: Line },
    Message { actor: Line, text: FullText },
    Line { label: String, line: Line },
    Answer(FullText),
    Heading(Line),
    Region(String),
    Paragraph(Line),
    Section { name: String, line: Line },
    Event { section: String, name: String, line: Line },
    Property { name: String, line: Line },
    Task(Line),
    Text(FullText),
}

/// The calls of the renderer, in order.
#[derive(Debug, Default)]
pub(super) struct PageBlocks(pub(super) Vec<PageBlock>);

impl PageBlocks {
    fn push(&mut self, block: PageBlock) -> io::Result<()> {
        self.0.push(block);
        Ok(())
    }
}

impl Renderer for PageBlocks {
    fn write_step(&mut self, _: &StepView<'_>, actor: Line, line: Line, _transition: &str) -> io::Result<()> {
        self.push(PageBlock::Step { actor, line })
    }
    fn write_message(
        &mut self,
        _: &StepView<'_>,
        actor: Line,
        text: &str,
        _transition: &str,
    ) -> io::Result<()> {
        self.push(PageBlock::Message { actor, text: FullText::new(text) })
    }
    fn write_line(&mut self, label: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Line { label: label.to_string(), line })
    }
    fn write_answer(&mut self, _: &StepView<'_>, text: &str) -> io::Result<()> {
        self.push(PageBlock::Answer(FullText::new(text)))
    }
    fn write_heading(&mut self, title: Line) -> io::Result<()> {
        self.push(PageBlock::Heading(title))
    }
    fn write_region(&mut self, title: &str) -> io::Result<()> {
        self.push(PageBlock::Region(title.to_string()))
    }
    fn write_paragraph(&mut self, line: Line, _indent: usize) -> io::Result<()> {
        self.push(PageBlock::Paragraph(line))
    }
    fn write_blank(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn write_section(&mut self, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Section { name: name.to_string(), line })
    }
    fn write_event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Event { section: section.to_string(), name: name.to_string(), line })
    }
    fn write_property(&mut self, _section: &str, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Property { name: name.to_string(), line })
    }
    fn write_task(&mut self, line: Line) -> io::Result<()> {
        self.push(PageBlock::Task(line))
    }
    fn write_text(&mut self, text: &str) -> io::Result<()> {
        self.push(PageBlock::Text(FullText::new(text)))
    }
}

/// A sanitized text with its line breaks, up to the maximum length.
#[derive(Clone, Debug)]
pub(super) struct FullText(String);

impl FullText {
    pub(super) fn new(text: &str) -> Self {
        Self(truncate(&wrap(text, usize::MAX).join("\n")))
    }
}

impl Render for FullText {
    fn render(&self) -> Markup {
        let Self(text) = self;
        html! {
            @if text.is_empty() {
                p.full-text.faint { "(no text)" }
            } @else if text.chars().count() <= UNFOLDED_CHARS_MAX {
                p.full-text { (text) }
            } @else {
                details.folded {
                    summary { (text.chars().take(FOLDED_CHARS).collect::<String>()) "…" }
                    p.full-text { (text) }
                }
            }
        }
    }
}

fn truncate(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_string(),
        Some((at, _)) => {
            let (start, rest) = text.split_at(at);
            format!("{start}… ({} more characters in the trace)", rest.chars().count())
        }
    }
}

/// Returns the full text of a piece, up to the maximum length.
pub(super) fn piece_text(piece: &Piece) -> String {
    truncate(piece.full_text())
}

impl Render for Line {
    fn render(&self) -> Markup {
        html! {
            @for piece in self.pieces() {
                @let text = piece_text(piece);
                @if let Some(thousandths) = thousandths_of_text(&text) {
                    (bar(thousandths, class(piece.style)))
                } @else if piece.style == TextStyle::Text {
                    (text)
                } @else {
                    span.(class(piece.style)) { (text) }
                }
            }
        }
    }
}

/// Returns the CSS class of a style.
pub(super) const fn class(style: TextStyle) -> &'static str {
    match style {
        TextStyle::Text => "",
        TextStyle::Dim => "faint",
        TextStyle::Actor => "actor",
        TextStyle::Heading => "strong",
        TextStyle::Good => "good",
        TextStyle::Bad => "bad",
        TextStyle::Warn => "warn",
    }
}

/// Returns a link to a step of the timeline.
pub(super) fn step_link(n: u64) -> Markup {
    html! { a href={ "#s" (n) } { (n) } }
}
