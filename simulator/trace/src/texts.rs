//! Text references: a long text is stored once and referenced afterwards.
//!
//! Encoding works on the bytes of a serialized step. A *text* is a JSON string that is a value, not a key, and has at
//! least [`TEXT_BYTES_MIN`] bytes with its quotes and escapes. The first occurrence stays in the line and receives the next
//! number, from 0. A later occurrence becomes `{"$text":N}`. Both sides keep the same window of the most recent texts:
//! at most [`WINDOW_TEXTS_MAX`] texts and [`WINDOW_BYTES_MAX`] bytes, oldest removed first. A text outside the window is
//! stored again under a new number.

use memchr::{Memchr, memchr_iter};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

/// The shortest text that is referenced: one byte more than a quoted digest, which never repeats.
const TEXT_BYTES_MIN: usize = 35;

/// Limit of the window in texts.
const WINDOW_TEXTS_MAX: usize = 1024;

/// Limit of the window in bytes. A longer text receives no number.
const WINDOW_BYTES_MAX: usize = 4 << 20;

const REFERENCE_KEY: &str = "\"$text\"";

/// The most recent texts, each with its quotes and escapes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "StoredWindow", into = "StoredWindow")]
pub(super) struct TextWindow {
    texts: VecDeque<Arc<str>>,
    /// The number of the oldest text in the window.
    oldest: u64,
    len_bytes: usize,
}

/// A window in a snapshot.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredWindow {
    oldest: u64,
    texts: Vec<String>,
}

impl From<TextWindow> for StoredWindow {
    fn from(TextWindow { texts, oldest, .. }: TextWindow) -> Self {
        Self { oldest, texts: texts.iter().map(ToString::to_string).collect() }
    }
}

impl From<StoredWindow> for TextWindow {
    fn from(StoredWindow { oldest, texts }: StoredWindow) -> Self {
        let len_bytes = texts.iter().map(String::len).sum();
        Self { texts: texts.into_iter().map(Arc::from).collect(), oldest, len_bytes }
    }
}

impl TextWindow {
    fn get(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number.checked_sub(self.oldest)?).ok()?;
        self.texts.get(index).map(|text| &**text)
    }

    /// The number of the next text.
    fn next(&self) -> u64 {
        self.oldest + self.texts.len() as u64
    }

    fn push(&mut self, text: Arc<str>) {
        self.len_bytes += text.len();
        self.texts.push_back(text);
    }

    /// Removes the oldest text if the window exceeds a limit. Returns it with its number.
    fn pop_excess(&mut self) -> Option<(u64, Arc<str>)> {
        if self.texts.len() <= WINDOW_TEXTS_MAX && self.len_bytes <= WINDOW_BYTES_MAX {
            return None;
        }
        let text = self.texts.pop_front()?;
        let number = self.oldest;
        self.oldest += 1;
        self.len_bytes -= text.len();
        Some((number, text))
    }

    /// Appends the line to `out` with every reference replaced by its text, and adds the new texts to the window.
    pub(super) fn expand(
        &mut self,
        line: &str,
        len_bytes_max: usize,
        out: &mut String,
    ) -> Result<(), ReferenceError> {
        let mut copied = 0;
        for string in JsonStrings::new(line) {
            if string.is_text() {
                self.push(string.text.into());
                while self.pop_excess().is_some() {}
            } else if let Some((len, number)) = parse_reference(line, &string)? {
                let text = self.get(number).ok_or_else(|| ReferenceError {
                    found: number.to_string(),
                    expected: match self.texts.len() {
                        0 => "a text before its reference".to_owned(),
                        _ => format!("a number from {} to {}", self.oldest, self.next() - 1),
                    },
                })?;
                out.push_str(&line[copied..string.start - 1]);
                out.push_str(text);
                copied = string.start - 1 + len;
            }
            if out.len() > len_bytes_max {
                return Err(ReferenceError {
                    found: "more".to_owned(),
                    expected: format!("at most {len_bytes_max} bytes after expansion"),
                });
            }
        }
        out.push_str(&line[copied..]);
        Ok(())
    }
}

/// Replaces repeated texts by references.
#[derive(Debug, Default)]
pub(super) struct TextEncoder {
    window: TextWindow,
    /// The number of each text in the window. A tree, because a hash map with many removals doubles its size once.
    numbers: BTreeMap<Arc<str>, u64>,
}

impl TextEncoder {
    pub(super) const fn window(&self) -> &TextWindow {
        &self.window
    }

    /// Appends the line to `out` with every text in the window replaced by a reference, and adds the other texts to the
    /// window.
    pub(super) fn encode(&mut self, line: &str, out: &mut String) {
        let mut copied = 0;
        for string in JsonStrings::new(line).filter(JsonString::is_text) {
            match self.numbers.get(string.text) {
                Some(number) => {
                    out.push_str(&line[copied..string.start]);
                    // Writing to a string does not fail.
                    let _ = write!(out, "{{{REFERENCE_KEY}:{number}}}");
                    copied = string.start + string.text.len();
                }
                None => self.insert(string.text.into()),
            }
        }
        out.push_str(&line[copied..]);
    }

    fn insert(&mut self, text: Arc<str>) {
        self.numbers.insert(Arc::clone(&text), self.window.next());
        self.window.push(text);
        while let Some((number, text)) = self.window.pop_excess() {
            // A trace of another writer may store a text twice; the later number stays.
            if self.numbers.get(&text) == Some(&number) {
                self.numbers.remove(&text);
            }
        }
    }
}

impl From<TextWindow> for TextEncoder {
    fn from(window: TextWindow) -> Self {
        let numbers = window.texts.iter().cloned().zip(window.oldest..).collect();
        Self { window, numbers }
    }
}

/// A reference that is malformed or refers to no text in the window.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReferenceError {
    pub(super) found: String,
    pub(super) expected: String,
}

/// A JSON string within a line.
pub(super) struct JsonString<'a> {
    /// The byte offset of the opening quote.
    pub(super) start: usize,
    /// The string with its quotes.
    pub(super) text: &'a str,
    pub(super) is_key: bool,
}

impl JsonString<'_> {
    fn is_text(&self) -> bool {
        !self.is_key && (TEXT_BYTES_MIN..=WINDOW_BYTES_MAX).contains(&self.text.len())
    }
}

/// Iterates over the strings of a JSON value. Stops at a string without an end.
pub(super) struct JsonStrings<'a> {
    line: &'a str,
    quotes: Memchr<'a>,
}

impl<'a> JsonStrings<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, quotes: memchr_iter(b'"', line.as_bytes()) }
    }
}

impl<'a> Iterator for JsonStrings<'a> {
    type Item = JsonString<'a>;

    fn next(&mut self) -> Option<JsonString<'a>> {
        let start = self.quotes.next()?;
        let bytes = self.line.as_bytes();
        let is_end = |quote: &usize| {
            let escapes = bytes[start + 1..*quote].iter().rev().take_while(|byte| **byte == b'\\');
            escapes.count() % 2 == 0
        };
        let end = self.quotes.find(is_end)? + 1;
        let is_key = self.line[end..].trim_ascii_start().starts_with(':');
        Some(JsonString { start, text: &self.line[start..end], is_key })
    }
}

/// The length in bytes of the reference that this key begins, from its brace on, and the number of the text. `None` for
/// another key. A key `$text` with a string or an object belongs to the content: keys of summary updates and of tool
/// arguments are free.
fn parse_reference(line: &str, key: &JsonString<'_>) -> Result<Option<(usize, u64)>, ReferenceError> {
    if !key.is_key || key.text != REFERENCE_KEY {
        return Ok(None);
    }
    let rest = &line[key.start + key.text.len()..];
    let value = rest.trim_ascii_start().strip_prefix(':').unwrap_or(rest).trim_ascii_start();
    if value.starts_with(['"', '{']) {
        return Ok(None);
    }
    let opens = line[..key.start].ends_with('{');
    let digits = rest.strip_prefix(':').and_then(|value| Some(value.split_once('}')?.0)).unwrap_or_default();
    match digits.parse::<u64>() {
        Ok(number) if opens && number.to_string() == digits => {
            Ok(Some((1 + REFERENCE_KEY.len() + 1 + digits.len() + 1, number)))
        }
        _ => Err(ReferenceError {
            found: format!("`{}`", value.chars().take(20).collect::<String>().escape_debug()),
            expected: "`{\"$text\":N}`".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "\"the nightly reports move to a new queue\"";

    fn expand(window: &mut TextWindow, line: &str) -> Result<String, ReferenceError> {
        let mut out = String::new();
        window.expand(line, 1 << 20, &mut out).map(|()| out)
    }

    fn encode(encoder: &mut TextEncoder, line: &str) -> String {
        let mut out = String::new();
        encoder.encode(line, &mut out);
        out
    }

    #[test]
    fn repeated_text_is_stored_once() {
        let (mut encoder, mut window) = (TextEncoder::default(), TextWindow::default());
        let escaped = r#""a \"quoted\" text that ends in a backslash \\""#;
        let lines = [
            (format!("{{\"a\":{LONG},\"b\":[{LONG}]}}"), format!("{{\"a\":{LONG},\"b\":[{{\"$text\":0}}]}}")),
            (format!("{{{LONG}:{LONG}}}"), format!("{{{LONG}:{{\"$text\":0}}}}")),
            (format!("[{escaped},\"short\",\"short\"]"), format!("[{escaped},\"short\",\"short\"]")),
            (format!("[{LONG},{escaped}]"), "[{\"$text\":0},{\"$text\":1}]".to_owned()),
        ];
        for (line, encoded) in lines {
            assert_eq!(encode(&mut encoder, &line), encoded);
            assert_eq!(expand(&mut window, &encoded), Ok(line));
        }
    }

    #[test]
    fn window_is_bounded_and_survives_resume() {
        let (mut encoder, mut window) = (TextEncoder::default(), TextWindow::default());
        let text = |n: usize| format!("\"a text of more than thirty-four bytes, number {n}\"");
        let huge = format!("\"{}\"", "x".repeat(WINDOW_BYTES_MAX / 3));
        for n in 0..3 * WINDOW_TEXTS_MAX {
            let line = match n % 500 {
                499 => format!("[{huge},{n}]"),
                _ => format!("[{},{},{}]", text(n), text(n), text(n / 3)),
            };
            let encoded = encode(&mut encoder, &line);
            let mut out = String::new();
            window.expand(&encoded, 1 << 30, &mut out).unwrap();
            assert_eq!(out, line);
            assert!(window.texts.len() <= WINDOW_TEXTS_MAX && window.len_bytes <= WINDOW_BYTES_MAX);
            assert!(encoder.numbers.len() == window.texts.len());
            if n % 700 == 0 {
                encoder = TextEncoder::from(window.clone());
            }
        }
        assert!(window.oldest > 1000);
    }

    #[test]
    fn malformed_and_dangling_references_are_errors() {
        let bad = [
            "{\"$text\":0}",
            "{\"$text\":1",
            "{\"$text\":01}",
            "{\"$text\":-1}",
            "{\"$text\": 0}",
            "{\"$text\":0,\"a\":1}",
            "{\"a\":1,\"$text\":0}",
            "{\"$text\":null}",
            "{\"$text\":99999999999999999999}",
        ];
        for line in bad {
            assert!(expand(&mut TextWindow::default(), line).is_err(), "{line}");
        }
        let content = "{\"$text\":\"of a tool\",\"b\":{\"$text\":{\"c\":\"$text\"}}}";
        assert_eq!(expand(&mut TextWindow::default(), content), Ok(content.to_owned()));
    }

    #[test]
    fn expansion_is_limited() {
        let text = format!("\"{}\"", "x".repeat(100_000));
        let line = format!("[{text}{}]", ",{\"$text\":0}".repeat(20));
        assert!(expand(&mut TextWindow::default(), &line).is_err());
    }
}
