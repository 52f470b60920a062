//! What is told, kept until it is written as markup, and how lines become markup.

use super::super::renderer::{Line, Piece, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::wrap;
use maud::{Markup, Render, html};
use std::io;

/// The most characters of one text. Who needs more of it has the trace.
const TEXT_CHARS_MAX: usize = 4_000;
/// A text longer than this is opened on demand.
const OPEN_CHARS_MAX: usize = 600;
/// What of such a text is seen before.
const BEGINNING_CHARS: usize = 240;

/// One thing that was told.
#[derive(Clone, Debug)]
pub(super) enum PageBlock {
    Step { who: Line, said: Line },
    Asked { who: Line, text: FullText },
    More { who: String, said: Line },
    Answer(FullText),
    Heading(Line),
    Region(String),
    Paragraph(Line),
    Section { name: String, line: Line },
    Event { section: String, name: String, line: Line },
    Property { name: String, line: Line },
    Task(Line),
    Whole(FullText),
}

/// Everything that was told, in order.
#[derive(Debug, Default)]
pub(super) struct Notes(pub(super) Vec<PageBlock>);

impl Notes {
    fn push(&mut self, told: PageBlock) -> io::Result<()> {
        self.0.push(told);
        Ok(())
    }
}

impl Renderer for Notes {
    fn step(&mut self, _: &StepView<'_>, who: Line, said: Line, _row: &str) -> io::Result<()> {
        self.push(PageBlock::Step { who, said })
    }
    fn asked(&mut self, _: &StepView<'_>, who: Line, text: &str, _row: &str) -> io::Result<()> {
        self.push(PageBlock::Asked { who, text: FullText::new(text) })
    }
    fn more(&mut self, who: &str, said: Line) -> io::Result<()> {
        self.push(PageBlock::More { who: who.to_string(), said })
    }
    fn answer(&mut self, _: &StepView<'_>, text: &str) -> io::Result<()> {
        self.push(PageBlock::Answer(FullText::new(text)))
    }
    fn heading(&mut self, title: Line) -> io::Result<()> {
        self.push(PageBlock::Heading(title))
    }
    fn region(&mut self, title: &str) -> io::Result<()> {
        self.push(PageBlock::Region(title.to_string()))
    }
    fn paragraph(&mut self, line: Line, _indent: usize) -> io::Result<()> {
        self.push(PageBlock::Paragraph(line))
    }
    fn gap(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn section(&mut self, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Section { name: name.to_string(), line })
    }
    fn event(&mut self, section: &str, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Event { section: section.to_string(), name: name.to_string(), line })
    }
    fn shortens(&self) -> bool {
        false
    }
    fn property(&mut self, _section: &str, name: &str, line: Line) -> io::Result<()> {
        self.push(PageBlock::Property { name: name.to_string(), line })
    }
    fn task(&mut self, line: Line) -> io::Result<()> {
        self.push(PageBlock::Task(line))
    }
    fn whole(&mut self, text: &str) -> io::Result<()> {
        self.push(PageBlock::Whole(FullText::new(text)))
    }
}

/// A text with its own line breaks, harmless, and cut off where nobody reads on.
#[derive(Clone, Debug)]
pub(super) struct FullText(String);

impl FullText {
    pub(super) fn new(text: &str) -> Self {
        Self(cut(&wrap(text, usize::MAX).join("\n")))
    }
}

impl Render for FullText {
    fn render(&self) -> Markup {
        let Self(text) = self;
        html! {
            @if text.is_empty() {
                p.whole.faint { "(no text)" }
            } @else if text.chars().count() <= OPEN_CHARS_MAX {
                p.whole { (text) }
            } @else {
                details.long {
                    summary { (text.chars().take(BEGINNING_CHARS).collect::<String>()) "…" }
                    p.whole { (text) }
                }
            }
        }
    }
}

/// A text as far as it is shown.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_string(),
        Some((at, _)) => {
            let (shown, rest) = text.split_at(at);
            format!("{shown}… ({} more characters stand in the trace)", rest.chars().count())
        }
    }
}

/// The words of a piece where there is room for them.
pub(super) fn words(piece: &Piece) -> String {
    cut(piece.whole.as_ref().unwrap_or(&piece.text))
}

impl Render for Line {
    fn render(&self) -> Markup {
        html! {
            @for piece in self.pieces() {
                @let text = words(piece);
                @if is_bar(&text) {
                    span.bar.(class(piece.ink)) aria-hidden="true" { (text) }
                } @else if piece.ink == TextStyle::Text {
                    (text)
                } @else {
                    span.(class(piece.ink)) { (text) }
                }
            }
        }
    }
}

/// A bar says once more what the figures beside it say.
fn is_bar(text: &str) -> bool {
    text.chars().count() == 10 && text.chars().all(|c| matches!(c, '█' | '▌' | '·'))
}

/// How the style sheet names an ink.
pub(super) const fn class(ink: TextStyle) -> &'static str {
    match ink {
        TextStyle::Text => "",
        TextStyle::Dim => "faint",
        TextStyle::Who => "who",
        TextStyle::Heading => "strong",
        TextStyle::Good => "good",
        TextStyle::Bad => "bad",
        TextStyle::Warn => "warn",
    }
}
