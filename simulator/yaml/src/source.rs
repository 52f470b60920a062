//! The text of a file.

use super::deserializer::NodeDeserializer;
use super::error::{LabeledError, ReadError, shorten};
use super::limits::{EXCERPT_LINE_BYTES_MAX, FileLimits};
use super::node::{Node, Value};
use super::syntax_error::syntax_error;
use miette::{LabeledSpan, NamedSource, SourceSpan};
use orchestrion_files::limits::NESTING_MAX;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;

/// A named text. Clones share the text.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    limits: FileLimits,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_within(path, FileLimits::default())
    }

    /// Reads a file within limits of its own.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read_within(path: &Path, limits: FileLimits) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            ReadError::for_file(
                format!("{name}: unreadable file: {error}"),
                "check the path and the permissions of the file",
            )
        };
        let bytes_max = u64::try_from(limits.bytes_max).unwrap_or(u64::MAX);
        match orchestrion_files::read(path, bytes_max) {
            Ok(bytes) => Self::from_bytes_within(&name, bytes, limits),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Err(limits.too_large(&name)),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Creates a source from bytes.
    ///
    /// # Errors
    /// The bytes are too many, or not UTF-8; the error has the position.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ReadError> {
        Self::from_bytes_within(name, bytes, FileLimits::default())
    }

    fn from_bytes_within(name: &str, bytes: Vec<u8>, limits: FileLimits) -> Result<Self, ReadError> {
        match String::from_utf8(bytes) {
            Ok(text) => Self::from_text_within(name, &text, limits),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = Self { name: name.into(), text: lossy.into(), limits };
                let error = LabeledError::new(
                    format!("invalid encoding: expected UTF-8 text, found other bytes at byte {start}"),
                    "save the file as UTF-8",
                );
                let here = SourceSpan::new(start.into(), char::REPLACEMENT_CHARACTER.len_utf8());
                Err(ReadError::in_source(&source, error.with_label(here, "not UTF-8 from here")))
            }
        }
    }

    /// Creates a source from a text.
    ///
    /// # Errors
    /// The text is too large.
    pub fn from_text(name: &str, text: &str) -> Result<Self, ReadError> {
        Self::from_text_within(name, text, FileLimits::default())
    }

    /// Creates a source from a text within limits of its own.
    ///
    /// # Errors
    /// The text is too large.
    pub fn from_text_within(name: &str, text: &str, limits: FileLimits) -> Result<Self, ReadError> {
        if text.len() > limits.bytes_max {
            return Err(limits.too_large(name));
        }
        // A byte order mark would shift every location.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Self { name: name.into(), text: text.into(), limits })
    }

    /// Parses the text as YAML.
    ///
    /// # Errors
    /// [`ReadError`] with its location.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        let values_max = self.limits.values_max;
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: NESTING_MAX,
                max_anchors: 0,
                max_aliases: 0,
                max_nodes: values_max,
                // A value is one event or, as a mapping or a list, two; the document has a few of its own.
                max_events: values_max.saturating_mul(2).saturating_add(100),
            },
            merge_keys: serde_saphyr::MergeKeyPolicy::AsOrdinary,
            strict_booleans: true,
            reject_unsupported_tags: true,
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::PassThrough,
            with_snippet: false,
        };
        let node: Node = serde_saphyr::from_str_with_options(&self.text, options)
            .map_err(|error| ReadError::in_source(self, syntax_error(&error, &self.text, self.limits)))?;
        if let Value::Nothing = node.value {
            let error = LabeledError::new(
                "expected a mapping, found an empty file",
                "`orchestrion export schema --schema FORMAT` prints the keys of each format of a file",
            );
            let end = SourceSpan::new(self.text.len().into(), 0);
            return Err(ReadError::in_source(self, error.with_label(end, "end of file")));
        }
        T::deserialize(NodeDeserializer::new(&node, &self.text))
            .map_err(|error| ReadError::in_source(self, error.into_labeled()))
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line of a byte offset, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count().saturating_add(1)
    }

    /// Returns the location of a byte offset as `FILE:LINE:COLUMN`, counted from 1.
    pub(crate) fn location(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or("");
        let column = before.rsplit('\n').next().unwrap_or("").chars().count().saturating_add(1);
        format!("{}:{}:{column}", self.name, self.line(offset))
    }

    /// Whether the excerpt around a byte offset would contain an overlong line.
    pub(crate) fn has_long_line_near(&self, offset: usize) -> bool {
        let line = self.line(offset);
        let excerpt = self.text.lines().skip(line.saturating_sub(2)).take(3);
        excerpt.into_iter().any(|line| line.len() > EXCERPT_LINE_BYTES_MAX)
    }

    /// Returns the first characters at a location.
    pub(crate) fn excerpt(&self, span: SourceSpan) -> String {
        const CHARS: usize = 40;
        let line = self.text.get(span.offset()..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let prefix: String = line.chars().take(CHARS).collect();
        let ellipsis = if line.chars().nth(CHARS).is_some() { "…" } else { "" };
        format!("{}{ellipsis}", prefix.escape_debug())
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn named(&self) -> NamedSource<Arc<str>> {
        NamedSource::new(&*self.name, self.sanitized_text())
    }

    /// Replaces control characters, which would act on a terminal. Each replacement has the same length in bytes, so locations
    /// stay valid.
    fn sanitized_text(&self) -> Arc<str> {
        let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
        if !self.text.contains(is_control) {
            return Arc::clone(&self.text);
        }
        let sanitized = self.text.chars().map(|character| match character.len_utf8() {
            _ if !is_control(character) => character,
            1 => '?',
            _ => '¿',
        });
        sanitized.collect::<String>().into()
    }

    /// Adjusts a span for display: it lies within the text and is not empty if its line has content. The span of a block mapping
    /// or list becomes its first line.
    pub(crate) fn visible_span(&self, span: SourceSpan) -> SourceSpan {
        let mut start = span.offset().min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start = start.saturating_sub(1);
        }
        let rest = self.text.get(start..).unwrap_or("");
        if span.is_empty() {
            let line = rest.lines().next().unwrap_or("").trim_end();
            if !line.is_empty() {
                return SourceSpan::new(start.into(), line.len());
            }
            // The line is empty: show the last character before it.
            let last = self.text.get(..start).unwrap_or("").trim_end().char_indices().next_back();
            let (start, len) = last.map_or((start, 0), |(start, last)| (start, last.len_utf8()));
            return SourceSpan::new(start.into(), len);
        }
        let mut len = span.len().min(rest.len());
        while !rest.is_char_boundary(len) {
            len = len.saturating_sub(1);
        }
        let len = rest.get(..len).unwrap_or("").trim_end().len();
        SourceSpan::new(start.into(), len)
    }
}

impl ReadError {
    /// Creates an error at locations in a file.
    pub fn in_source(source: &Source, error: LabeledError) -> Self {
        let first = error.labels.first().map(|(span, _)| source.visible_span(*span));
        if let Some(first) = first.filter(|first| source.has_long_line_near(first.offset())) {
            let message = format!(
                "{}: {}, at `{}`",
                source.location(first.offset()),
                shorten(&error.message),
                source.excerpt(first)
            );
            return Self::for_file(message, error.help);
        }
        let labels = error.labels.into_iter().map(|(span, label)| {
            LabeledSpan::new_with_span(
                Some(label).filter(|label| !label.is_empty()),
                source.visible_span(span),
            )
        });
        Self::new(error.message, labels.collect(), error.help, Some(source.named()))
    }
}
