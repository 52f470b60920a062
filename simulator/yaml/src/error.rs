//! What is wrong in a file, ready to be drawn: a sentence, the places, and what to do.

use super::source::Source;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use std::fmt;
use std::sync::Arc;

/// A file that could not be read. Reads as a sentence; drawn by miette with its places and a help.
pub struct ReadError(Box<ErrorReport>);

struct ErrorReport {
    message: String,
    labels: Vec<LabeledSpan>,
    help: String,
    source: Option<NamedSource<Arc<str>>>,
}

impl ReadError {
    /// Something wrong with a file as a whole, or one that could not even be opened.
    pub fn for_file(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Box::new(ErrorReport {
            message: message.into(),
            labels: Vec::new(),
            help: help.into(),
            source: None,
        }))
    }

    /// Something wrong in a file.
    pub fn in_source(source: &Source, fault: LabeledError) -> Self {
        let first = fault.labels.first().map(|(span, _)| source.visible(*span));
        if let Some(first) = first.filter(|first| source.is_wide_around(first.offset())) {
            let message = format!(
                "{}: {}, at `{}`",
                source.place(first.offset()),
                shortened(&fault.message),
                source.beginning(first)
            );
            return Self::for_file(message, fault.help);
        }
        let labels = fault.labels.into_iter().map(|(span, label)| {
            LabeledSpan::new_with_span(Some(label).filter(|label| !label.is_empty()), source.visible(span))
        });
        Self(Box::new(ErrorReport {
            message: fault.message,
            labels: labels.collect(),
            help: fault.help,
            source: Some(source.named()),
        }))
    }

    /// What to do about it.
    #[must_use]
    pub fn help_text(&self) -> &str {
        &self.0.help
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadError")
            .field("message", &self.0.message)
            .field("labels", &self.0.labels)
            .field("help", &self.0.help)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for ReadError {}

impl Diagnostic for ReadError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.0.help.is_empty()).then(|| Box::new(&self.0.help) as Box<dyn fmt::Display + 'a>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.0.labels.is_empty())
            .then(|| Box::new(self.0.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}

/// A sentence without its middle, if it quotes so much of a long line that nobody would read it.
fn shortened(sentence: &str) -> String {
    const BEGIN: usize = 200;
    const END: usize = 60;
    let chars: Vec<char> = sentence.chars().collect();
    match (chars.get(..BEGIN), chars.len().checked_sub(END).filter(|end| *end > BEGIN)) {
        (Some(begin), Some(end)) => begin.iter().chain(&['…']).chain(chars.iter().skip(end)).collect(),
        _ => sentence.to_owned(),
    }
}

/// What is wrong at some places of one file, before it is known which file that is.
#[derive(Clone, Debug, Default)]
pub struct LabeledError {
    message: String,
    help: String,
    labels: Vec<(SourceSpan, String)>,
}

/// Between the parts of a fault that travels as the text of a serde error.
const MARK: char = '\u{1}';

impl LabeledError {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into(), labels: Vec::new() }
    }

    /// Adds a place, if it is known.
    #[must_use]
    pub fn at(mut self, span: impl Into<Option<SourceSpan>>, label: impl Into<String>) -> Self {
        if let Some(span) = span.into() {
            self.labels.push((span, label.into()));
        }
        self
    }

    pub(super) const fn has_place(&self) -> bool {
        !self.labels.is_empty()
    }

    /// The fault as an error of whatever is being read. Such an error can carry nothing but a text, so the
    /// parts travel in it; only the first place does.
    pub fn into_serde_error<E: serde::de::Error>(self) -> E {
        let (span, label) = self.labels.into_iter().next().unzip();
        let (start, len) = span.map_or((usize::MAX, 0), |span| (span.offset(), span.len()));
        let label = label.unwrap_or_default();
        let (message, help) = (self.message, self.help);
        E::custom(format_args!("{MARK}{start}{MARK}{len}{MARK}{label}{MARK}{help}{MARK}{message}"))
    }

    /// The fault that was raised as this text.
    pub(super) fn from_serde_message(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(MARK)?.splitn(5, MARK);
        let start: usize = parts.next()?.parse().ok()?;
        let len: usize = parts.next()?.parse().ok()?;
        let (label, help, message) = (parts.next()?, parts.next()?, parts.next()?);
        let span = (start != usize::MAX).then(|| SourceSpan::new(start.into(), len));
        Some(Self::new(message, help).at(span, label))
    }
}

/// The word of a list that was probably meant, as the start of a help; empty if none is near.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    words
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= 1.max(known.len() / 3))
        .min()
        .map_or_else(String::new, |(_, known)| format!("did you mean `{known}`? "))
}
