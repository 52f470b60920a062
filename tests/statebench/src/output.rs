//! Standard output and standard error, without terminal control characters.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes text to standard output. A closed pipe, as `head` leaves it, is not an error.
///
/// # Errors
/// Any other I/O error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(escape_controls(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a message as one or more lines to standard error.
pub(crate) fn print_error(message: &impl Display) {
    eprintln!("{}", escape_controls(&message.to_string()));
}

/// Returns the text with every invisible or control character, except a line break, in a visible form.
fn escape_controls(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !is_invisible(c) {
            visible.push(c);
        } else {
            visible.extend(c.escape_unicode());
        }
    }
    visible
}

/// Whether a character controls the terminal or the text direction, or has no glyph.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_escapes_control_characters() {
        assert_eq!(escape_controls("a\u{1b}[2J\u{202e}b\n"), "a\\u{1b}[2J\\u{202e}b\n");
    }
}
