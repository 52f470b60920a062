//! Errors in files: a message, labels at source locations, and a help text.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceSpan};
use std::sync::Arc;

/// The reason why a file cannot be read. Miette prints it with its source excerpt and help.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error(transparent)]
#[diagnostic(transparent)]
pub struct ReadError(Box<ErrorReport>);

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
struct ErrorReport {
    message: String,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: Option<String>,
    #[source_code]
    file: Option<NamedSource<Arc<str>>>,
}

impl ReadError {
    /// Creates an error about a whole file.
    pub fn for_file(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(message.into(), Vec::new(), help.into(), None)
    }

    /// Creates an error at labels in a source.
    pub(super) fn new(
        message: String,
        labels: Vec<LabeledSpan>,
        help: String,
        file: Option<NamedSource<Arc<str>>>,
    ) -> Self {
        let help = Some(help).filter(|help| !help.is_empty());
        Self(Box::new(ErrorReport { message, labels, help, file }))
    }

    /// The help text.
    #[must_use]
    pub fn help_text(&self) -> &str {
        self.0.help.as_deref().unwrap_or_default()
    }
}

/// Removes the middle of a long text, or of a message that quotes one.
pub(super) fn shorten(text: &str) -> String {
    const BEGIN: usize = 200;
    const END: usize = 60;
    let chars: Vec<char> = text.chars().collect();
    match (chars.get(..BEGIN), chars.len().checked_sub(END).filter(|end| *end > BEGIN)) {
        (Some(begin), Some(end)) => begin.iter().chain(&['…']).chain(chars.iter().skip(end)).collect(),
        _ => text.to_owned(),
    }
}

/// An error at locations of a file that is not known yet.
#[derive(Clone, Debug, Default)]
pub struct LabeledError {
    pub(super) message: String,
    pub(super) help: String,
    pub(super) labels: Vec<(SourceSpan, String)>,
}

/// Separates the parts of an error that is encoded in the text of a serde error.
const SEPARATOR: char = '\u{1}';

impl LabeledError {
    /// Creates an error without labels.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into(), labels: Vec::new() }
    }

    /// Adds a label at a location, if the location is known.
    #[must_use]
    pub fn with_label(mut self, span: impl Into<Option<SourceSpan>>, label: impl Into<String>) -> Self {
        if let Some(span) = span.into() {
            self.labels.push((span, label.into()));
        }
        self
    }

    /// Converts the error into an error about a whole file, without labels.
    #[must_use]
    pub fn into_file_error(self) -> ReadError {
        ReadError::for_file(self.message, self.help)
    }

    pub(super) const fn has_label(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Converts the error into a serde error, which carries only text. Keeps the first label.
    pub fn into_serde_error<E: serde::de::Error>(self) -> E {
        let (span, label) = self.labels.into_iter().next().unzip();
        let (start, len) = span.map_or((usize::MAX, 0), |span| (span.offset(), span.len()));
        let label = label.unwrap_or_default();
        let (message, help) = (self.message, self.help);
        E::custom(format_args!(
            "{SEPARATOR}{start}{SEPARATOR}{len}{SEPARATOR}{label}{SEPARATOR}{help}{SEPARATOR}{message}"
        ))
    }

    /// Returns the message and the help of an error from the text of a serde error; the text itself if no error is encoded in it.
    #[must_use]
    pub fn serde_message(text: &str) -> String {
        Self::from_serde_message(text)
            .map_or_else(|| text.to_owned(), |Self { message, help, .. }| format!("{message}; {help}"))
    }

    /// Decodes an error from the text of a serde error.
    pub(super) fn from_serde_message(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(SEPARATOR)?.splitn(5, SEPARATOR);
        let start: usize = parts.next()?.parse().ok()?;
        let len: usize = parts.next()?.parse().ok()?;
        let (label, help, message) = (parts.next()?, parts.next()?, parts.next()?);
        let span = (start != usize::MAX).then(|| SourceSpan::new(start.into(), len));
        Some(Self::new(message, help).with_label(span, label))
    }
}

/// Returns a suggestion for a misspelled word, as the start of a help text; empty if no word is similar.
pub fn suggest_nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    words
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= 1.max(known.len() / 3))
        .min()
        .map_or_else(String::new, |(_, known)| format!("did you mean `{known}`? "))
}
