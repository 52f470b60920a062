//! Text as a terminal may get it: harmless, and of a known width.
//!
//! Whatever a module, a user or a file says may hold escape sequences, overrides of the writing direction or
//! invisible characters. Here they become visible signs; nothing else of this program writes such text.

use unicode_width::UnicodeWidthChar;

/// How many characters without width may follow each other before a text is cut.
const MARKS_PER_COLUMN_MAX: usize = 8;

/// Adds one character in its harmless form and gives the columns it takes.
fn push(out: &mut String, c: char) -> usize {
    let before = out.len();
    match c {
        '\n' => out.push('⏎'),
        '\t' => out.push(' '),
        '\u{7f}' => out.push('␡'),
        // The control pictures stand in the order of the control characters.
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀')),
        c if is_hidden(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => {
            out.push(c);
            return c.width().unwrap_or(0);
        }
    }
    out.get(before..).map_or(0, |added| added.chars().count())
}

/// Whether a character acts on the terminal or on the order of the text, or is not seen at all.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'             // C1: eight-bit escape sequences
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'       // line separators and overrides of direction
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'     // tags: text that nobody sees
    )
}

/// The text on one line, whole, with everything in it visible.
pub fn sanitize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut out, c);
    }
    out
}

/// The columns that a harmless text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The first words of a text, on one line of at most so many columns.
pub(super) fn shorten(text: &str, columns_max: usize) -> String {
    let mut out = String::new();
    let (mut used, mut fitting) = (0, 0);
    for (i, c) in text.trim().chars().enumerate() {
        used += push(&mut out, c);
        if used < columns_max {
            fitting = out.len();
        }
        if used > columns_max || i > MARKS_PER_COLUMN_MAX * columns_max {
            out.truncate(fitting);
            // A whole word is worth a few columns.
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

/// The text in lines of at most so many columns, its own line breaks and indents kept.
pub fn wrap(text: &str, columns_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        let mut rest = sanitize(paragraph.strip_suffix('\r').unwrap_or(paragraph));
        while let Some(at) = break_at(rest.chars(), columns_max) {
            let (line, after) = rest.split_at(at);
            lines.push(line.trim_end().to_string());
            rest = after.trim_start().to_string();
        }
        lines.push(rest);
    }
    lines
}

/// Where a text must be broken to fit, in bytes: after the last space that fits, else where it is full.
pub(super) fn break_at(text: impl Iterator<Item = char>, columns_max: usize) -> Option<usize> {
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

/// A number from 0 to 1 as a bar of ten columns.
pub(super) fn bar(millionths: u32) -> String {
    let halves = (millionths / 50_000).min(20);
    (0..10)
        .map(|cell| match halves.saturating_sub(cell * 2) {
            0 => '·',
            1 => '▌',
            _ => '█',
        })
        .collect()
}

/// A count and its noun: "1 task", "3 tasks".
pub(super) fn count(number: usize, noun: &str) -> String {
    format!(
        "{number} {noun}{}",
        if number == 1 {
            ""
        } else if noun.ends_with('s') {
            "es"
        } else {
            "s"
        }
    )
}

/// A number with commas between its thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in its two largest units: "350ms", "12.3s", "3m25s", "2h03m", "4d01h".
pub(super) fn duration(ms: u64) -> String {
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
    fn times_stand_in_their_two_largest_units() {
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
    fn nothing_in_a_text_acts_on_the_terminal() {
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
    fn shortened_texts_fit() {
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
    fn wrapped_lines_fit_and_lose_no_word() {
        let text = "A text of some words,\n  indented, with averyveryverylongword at its end";
        let lines = wrap(text, 12);
        assert_eq!(
            lines,
            ["A text of", "some words,", "  indented,", "with", "averyveryver", "ylongword at", "its end"]
        );
    }

    #[test]
    fn bars_grow_by_half_columns() {
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
