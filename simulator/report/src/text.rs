//! Text that is safe to print on a terminal, with a known display width.
//!
//! Texts of modules, users and files may contain escape sequences, bidirectional overrides or invisible characters.
//! [`sanitize`] replaces each of them with a visible symbol, and [`escape_json`] escapes them in JSON. All other functions of
//! this module except [`shell_word`] return sanitized text.

use std::fmt;
use unicode_width::UnicodeWidthChar;

/// The most zero-width characters for each column of a shortened text.
const ZERO_WIDTH_PER_COLUMN_MAX: usize = 8;

/// Returns the text on one line, with every control and invisible character replaced by a visible symbol.
///
/// ```
/// assert_eq!(orchestrion_report::text::sanitize("a\u{1b}[31m\nb"), "a␛[31m⏎b");
/// ```
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push_sanitized(&mut out, c);
    }
    out
}

/// Returns the text with each of its lines sanitized, and a newline after each.
#[must_use]
pub fn sanitize_lines(text: &str) -> String {
    text.lines().map(|line| sanitize(line) + "\n").collect()
}

/// Returns JSON with the same value, in which every character that [`sanitize`] replaces is escaped.
///
/// ```
/// assert_eq!(orchestrion_report::text::escape_json("\"a\u{9b}31m\""), "\"a\\u009b31m\"");
/// ```
#[must_use]
pub fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside its strings, JSON consists of printable characters and line breaks.
        if c == '\u{7f}' || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns a file name as one word of a shell, for the commands that reports suggest. It is not sanitized: the command must name the
/// file.
///
/// ```
/// use orchestrion_report::text::shell_word;
///
/// assert_eq!(shell_word("a-b.ndjson"), "a-b.ndjson");
/// assert_eq!(shell_word("it's; rm"), "'it'\\''s; rm'");
/// ```
#[must_use]
pub fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

/// Returns the sanitized text in lines of at most `columns_max` display columns; keeps its line breaks and indents.
///
/// A line breaks after a space, or within a word that is longer than a line.
#[must_use]
pub fn wrap(text: &str, columns_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        let sanitized = sanitize(paragraph.strip_suffix('\r').unwrap_or(paragraph));
        let mut rest = sanitized.as_str();
        while let Some(at) = line_break(rest.chars(), columns_max) {
            let (line, after) = rest.split_at(at);
            lines.push(line.trim_end().to_string());
            rest = after.trim_start();
        }
        lines.push(rest.to_string());
    }
    lines
}

/// Returns a number with commas between its thousands: "12,345".
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Appends the sanitized form of a character and returns its display columns.
fn push_sanitized(out: &mut String, c: char) -> usize {
    let start = out.len();
    match c {
        '\n' => out.push('⏎'),
        '\t' => out.push(' '),
        '\u{7f}' => out.push('␡'),
        // Unicode lists the control pictures in the order of the control characters.
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀')),
        c if is_invisible(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => {
            out.push(c);
            return c.width().unwrap_or(0);
        }
    }
    out.get(start..).map_or(0, |added| added.chars().count())
}

/// Checks whether a character controls the terminal, changes the text direction, or is invisible.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'             // C1: eight-bit escape sequences
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'       // line separators and bidirectional overrides
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'     // tag characters
    )
}

/// Returns the display columns of a sanitized text.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns the beginning of a text on one line of at most `columns_max` columns; an ellipsis marks the cut.
pub(crate) fn shorten(text: &str, columns_max: usize) -> String {
    let mut out = String::new();
    let (mut used, mut fitting) = (0, 0);
    for (i, c) in text.trim().chars().enumerate() {
        used += push_sanitized(&mut out, c);
        if used < columns_max {
            fitting = out.len();
        }
        if used > columns_max || i > ZERO_WIDTH_PER_COLUMN_MAX * columns_max {
            out.truncate(fitting);
            // Cutting at a word boundary may cost up to a quarter of the columns.
            if let Some(space) = out.rfind(' ').filter(|space| *space > fitting / 4 * 3) {
                out.truncate(space);
            }
            out.truncate(out.trim_end().len());
            out.push('…');
            break;
        }
    }
    out
}

/// Returns the byte offset at which a text must break to fit: after the last space that fits, else within a word.
pub(crate) fn line_break(text: impl Iterator<Item = char>, columns_max: usize) -> Option<usize> {
    let (mut at, mut used, mut space) = (0, 0, None);
    for c in text {
        used += c.width().unwrap_or(0);
        if used > columns_max && at > 0 {
            return Some(if c == ' ' { at } else { space.unwrap_or(at) });
        }
        at += c.len_utf8();
        if c == ' ' && used > columns_max / 3 {
            space = Some(at);
        }
    }
    None
}

/// Returns a number of millionths as a bar of ten columns.
pub(crate) fn bar(millionths: u32) -> String {
    let halves = (millionths / 50_000).min(20);
    (0..10)
        .map(|cell| match halves.saturating_sub(cell * 2) {
            0 => '·',
            1 => '▌',
            _ => '█',
        })
        .collect()
}

/// Returns a number and its noun: "1 task", "3 tasks".
#[must_use]
pub fn count<N: fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = match noun {
        _ if number == N::from(1) => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {noun}{plural}")
}

/// Returns a duration in its two largest units: "350ms", "12.3s", "3m25s", "2h03m", "4d01h".
#[must_use]
pub fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms}ms"),
        1..60 => format!("{s}.{}s", ms / 100 % 10),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        3600..86_400 => format!("{}h{:02}m", s / 3600, s / 60 % 60),
        _ => format!("{}d{:02}h", s / 86_400, s / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_uses_two_largest_units() {
        for (ms, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_000, "1.0s"),
            (59_999, "59.9s"),
            (60_000, "1m00s"),
            (3_599_000, "59m59s"),
            (3_600_000, "1h00m"),
            (86_399_000, "23h59m"),
            (90_000_000, "1d01h"),
        ] {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn sanitize_replaces_control_characters() {
        for (text, expected) in [
            ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("\u{9b}31m", "⟨U+009B⟩31m"),
            ("a\r\nb\tc\x07\x7f", "a␍⏎b c␇␡"),
            ("abc\u{202e}fed", "abc⟨U+202E⟩fed"),
            ("\u{e0041}", "⟨U+E0041⟩"),
            ("naïve 漢字 ✓", "naïve 漢字 ✓"),
        ] {
            assert_eq!(sanitize(text), expected);
            assert!(!sanitize(text).chars().any(|c| c.is_control()));
        }
    }

    #[test]
    fn escaped_json_has_same_value() {
        for text in ["\x1b[31m\x7f\u{9b}2J", "abc\u{202e}fed", "\u{e0041}\u{feff}", "naïve \"漢字\" \\ ✓\n"]
        {
            let json = serde_json::to_string(text).unwrap();
            let escaped = escape_json(&json);
            assert_eq!(sanitize(&escaped), escaped);
            assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }

    #[test]
    fn shorten_respects_display_width() {
        for (text, width, expected) in [
            ("short", 10, "short"),
            ("exactly ten", 11, "exactly ten"),
            ("one word and more", 14, "one word and…"),
            ("unbreakablelongword", 8, "unbreak…"),
            ("漢字漢字漢字", 5, "漢字…"),
            ("\x1b\x1b\x1b\x1b", 3, "␛␛…"),
        ] {
            assert_eq!(shorten(text, width), expected);
            assert!(columns(&shorten(text, width)) <= width);
        }
        assert!(shorten(&"e\u{301}\u{301}".repeat(100_000), 5).chars().count() < 50);
    }

    #[test]
    fn wrap_keeps_every_word() {
        let text = "A text of some words,\n  indented, with averyveryverylongword at its end";
        let lines = wrap(text, 12);
        assert_eq!(
            lines,
            ["A text of", "some words,", "  indented,", "with", "averyveryver", "ylongword at", "its end"]
        );
    }

    #[test]
    fn bar_has_half_column_steps() {
        for (millionths, expected) in [
            (0, "··········"),
            (49_999, "··········"),
            (50_000, "▌·········"),
            (950_000, "█████████▌"),
            (1_000_000, "██████████"),
        ] {
            assert_eq!(bar(millionths), expected);
        }
    }
}
