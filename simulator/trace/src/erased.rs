//! Erased texts: the chain of a journal covers each text by its digest, so a text can be removed while the chain stays valid.
//!
//! A text here is a JSON string that is a value, not a key, and that is not empty. Erased, it is `{"$erased":["<digest>",N]}`: the
//! digest and the number of the bytes between its quotes. The chain covers a line as if each of its texts was erased. A reader
//! replaces an erased text by a placeholder that depends on its digest, so equal texts stay equal, and that has N bytes where
//! the digest leaves room, so budgets stay the same.

use crate::digest::{HEX_LEN, digest};
use crate::texts::JsonStrings;
use memchr::memmem;
use std::fmt::Write;

/// The start of an erased text. Quotes within texts are escaped, so no text contains it.
const START: &str = "{\"$erased\":[\"";

const PLACEHOLDER: &str = "erased-";

/// Appends the line to `out` with these texts erased. The predicate receives a text between its quotes, as the line stores it.
pub(crate) fn erase(line: &str, out: &mut String, mut is_erased: impl FnMut(&str) -> bool) {
    let mut copied = 0;
    for string in JsonStrings::new(line).filter(|string| !string.is_key) {
        let text = &string.text[1..string.text.len() - 1];
        let is_marker = line[..=string.start].ends_with(START);
        if is_marker || text.is_empty() || !is_erased(text) {
            continue;
        }
        out.push_str(&line[copied..string.start]);
        // Writing to a string does not fail.
        let _ = write!(out, "{START}{}\",{}]}}", digest(text.as_bytes()), text.len());
        copied = string.start + string.text.len();
    }
    out.push_str(&line[copied..]);
}

/// Appends what the chain covers of a line.
pub(crate) fn cover(line: &str, out: &mut String) {
    erase(line, out, |_| true);
}

/// Appends the line to `out` with a placeholder for each erased text. Returns their number, or an error as a sentence.
pub(crate) fn fill_placeholders(line: &str, out: &mut String, len_bytes_max: usize) -> Result<u64, String> {
    let (mut copied, mut erased) = (0, 0);
    for start in memmem::find_iter(line.as_bytes(), START) {
        let marker = &line[start + START.len()..];
        let Some((digest, len_bytes, end)) = parse(marker) else {
            return Err(format!("expected the digest and the length of an erased text, found `{START}`"));
        };
        out.push_str(&line[copied..start]);
        let shown_bytes = PLACEHOLDER.len() + HEX_LEN;
        if out.len().saturating_add(len_bytes) > len_bytes_max {
            return Err(format!("expected at most {len_bytes_max} bytes with erased texts, found more"));
        }
        out.extend(["\"", PLACEHOLDER, digest, &".".repeat(len_bytes.saturating_sub(shown_bytes)), "\""]);
        copied = start + START.len() + end;
        erased += 1;
    }
    out.push_str(&line[copied..]);
    Ok(erased)
}

/// Whether an idempotency key of a step is erased, or its digest. Quotes within texts are escaped, so the first `"input":` is the key.
pub(crate) fn has_erased_key(line: &str) -> bool {
    let before_input = line.split_once("\"input\":").map_or(line, |(before, _)| before);
    before_input.split_once("\"idempotency\":").is_some_and(|(_, idempotency)| idempotency.contains(START))
}

/// Returns the digest and the length of an erased text, and the bytes of the marker after its start.
fn parse(marker: &str) -> Option<(&str, usize, usize)> {
    let (digest, rest) = marker.split_at_checked(HEX_LEN)?;
    let (number, _) = rest.strip_prefix("\",")?.split_once("]}")?;
    let is_hex = digest.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
    let len_bytes: usize = number.parse().ok()?;
    let end = HEX_LEN + 2 + number.len() + 2;
    (is_hex && len_bytes.to_string() == number).then_some((digest, len_bytes, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"n":1,"input":{"a":"ada","b":["Straße \"7\"",""],"c d":"x"},"chain":1}"#;

    fn written(line: &str, write: impl FnOnce(&str, &mut String)) -> String {
        let mut out = String::new();
        write(line, &mut out);
        out
    }

    #[test]
    fn chain_covers_erased_and_kept_texts_alike() {
        let covered = written(LINE, cover);
        assert!(!covered.contains("ada") && !covered.contains("Straße") && covered.contains("\"\""));
        for kept in ["ada", "x", "none"] {
            let partly = written(LINE, |line, out| erase(line, out, |text| text != kept));
            assert_eq!(partly.contains(kept), kept != "none");
            assert_eq!(written(&partly, cover), covered);
        }
    }

    #[test]
    fn placeholders_preserve_equality_and_length() {
        let long = "a text of more bytes than a placeholder has without padding";
        let line = format!("[\"{long}\",\"b\",\"{long}\",\"c\"]");
        let erased = written(&line, |line, out| erase(line, out, |text| text != "c"));
        let mut out = String::new();
        assert_eq!(fill_placeholders(&erased, &mut out, 1 << 20), Ok(3));
        let texts: Vec<String> = serde_json::from_str(&out).unwrap();
        assert_eq!(texts[0], texts[2]);
        assert_ne!(texts[0], texts[1]);
        assert_eq!((texts[0].len(), texts[1].len(), texts[3].as_str()), (long.len(), 39, "c"));
    }

    #[test]
    fn malformed_markers_are_errors() {
        let digest = "0".repeat(HEX_LEN);
        let fill = |line: &str| fill_placeholders(line, &mut String::new(), 1000);
        assert_eq!(fill(&format!("{START}{digest}\",7]}}")), Ok(1));
        for marker in [
            format!("{START}{digest}\",07]}}"),
            format!("{START}{digest}\",-7]}}"),
            format!("{START}{digest}\",99999]}}"),
            format!("{START}{digest}\"]}}"),
            format!("{START}{}\",7]}}", "G".repeat(HEX_LEN)),
            format!("{START}ß"),
        ] {
            assert!(fill(&marker).is_err(), "{marker}");
        }
    }
}
