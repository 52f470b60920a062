//! The text of a file, read within bounds.

use super::error::{LabeledError, ReadError};
use miette::{NamedSource, SourceSpan};
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The most bytes that a scenario or policy file may have: 1 MiB.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// Of a longer line only the beginning of the place is told.
const DRAWN_BYTES_MAX: usize = 1000;

/// A named text. Cloning it copies pointers.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

impl Source {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            ReadError::for_file(
                format!("{name} could not be read: {error}"),
                "check that the path is right, and that it is a file which you may read",
            )
        };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let limit = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::from_bytes(&name, bytes)
    }

    /// A file's bytes. They are checked before they are parsed: the parser would not say where they go wrong.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ReadError> {
        match String::from_utf8(bytes) {
            Ok(text) => Self::from_text(name, &text),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = Self { name: name.into(), text: lossy.into() };
                let fault = LabeledError::new(
                    format!("expected UTF-8 text, found bytes that are none (at byte {start})"),
                    "save the file as UTF-8",
                );
                let here = SourceSpan::new(start.into(), char::REPLACEMENT_CHARACTER.len_utf8());
                Err(ReadError::in_source(&source, fault.at(here, "not UTF-8 from here")))
            }
        }
    }

    /// A text that is not, or no longer, in a file.
    pub fn from_text(name: &str, text: &str) -> Result<Self, ReadError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(ReadError::for_file(
                format!("{name} is too large: expected at most {FILE_BYTES_MAX} bytes (1 MiB)"),
                "split it into several files",
            ));
        }
        // A byte order mark is no part of the text, and would shift every place in it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Self { name: name.into(), text: text.into() })
    }

    /// Reads the text as YAML.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_anchors: 0, max_aliases: 0 },
            merge_keys: serde_saphyr::MergeKeyPolicy::AsOrdinary,
            strict_booleans: true,
            reject_unsupported_tags: true,
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::PassThrough,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(&self.text, options)
            .map_err(|error| ReadError::in_source(self, super::explain::explain(&error, &self.text)))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line that a byte stands in, from 1.
    pub fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count().saturating_add(1)
    }

    /// The place of a byte: the file, the line and the column, both from 1.
    pub(super) fn place(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or("");
        let column = before.rsplit('\n').next().unwrap_or("").chars().count().saturating_add(1);
        format!("{}:{}:{column}", self.name, self.line(offset))
    }

    /// Whether a line that would be drawn around this byte is too long for that.
    pub(super) fn is_wide_around(&self, offset: usize) -> bool {
        let line = self.line(offset);
        let drawn = self.text.lines().skip(line.saturating_sub(2)).take(3);
        drawn.into_iter().any(|line| line.len() > DRAWN_BYTES_MAX)
    }

    /// The first characters of a place.
    pub(super) fn beginning(&self, span: SourceSpan) -> String {
        const CHARS: usize = 40;
        let line = self.text.get(span.offset()..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let begins: String = line.chars().take(CHARS).collect();
        let cut = if line.chars().nth(CHARS).is_some() { "…" } else { "" };
        format!("{}{cut}", begins.escape_debug())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn named(&self) -> NamedSource<Arc<str>> {
        NamedSource::new(&*self.name, self.harmless())
    }

    /// The text without characters that would act on the terminal that it is drawn on. What stands for one of
    /// them is as long in bytes, so that every place stays.
    fn harmless(&self) -> Arc<str> {
        let acts = |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
        if !self.text.contains(acts) {
            return Arc::clone(&self.text);
        }
        let shown = self.text.chars().map(|character| match character.len_utf8() {
            _ if !acts(character) => character,
            1 => '?',
            _ => '¿',
        });
        shown.collect::<String>().into()
    }

    /// A place that can be seen and drawn: within the text, and not empty where a line has something to show.
    /// A block mapping or list has a beginning only; its first line stands for it.
    pub(super) fn visible(&self, span: SourceSpan) -> SourceSpan {
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
            // Nothing to show here: the last thing before it is where a reader looks.
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
