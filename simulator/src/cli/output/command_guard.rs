//! Output without workflow commands. GitHub Actions executes commands in the output of a step, such as `::stop-commands::x` at the start
//! of a line, and foreign texts contain any line.

use std::io::{self, Write};

/// The start of a command. The runner ignores white space before it.
const START: &[u8] = b"::";

/// The start of a command of the older form, anywhere in a line.
const OLDER_START: &[u8] = b"##[";

/// Bytes of a line that wait for the rest of it.
const WAITING_BYTES_MAX: usize = 1 << 13;

/// Puts a space into the start of each command.
pub(super) struct CommandGuard<W: Write> {
    out: W,
    /// The bytes of the line that were not written yet.
    waiting: Vec<u8>,
    /// Whether `waiting` starts the line.
    is_start: bool,
}

impl<W: Write> CommandGuard<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out, waiting: Vec::new(), is_start: true }
    }

    /// Writes what waits.
    fn write_waiting(&mut self) -> io::Result<()> {
        let mut rest = self.waiting.as_slice();
        if self.is_start
            && let Some(at) = start_of_command(rest)
        {
            self.out.write_all(&rest[..=at])?;
            self.out.write_all(b" ")?;
            rest = &rest[at + 1..];
        }
        while let Some(at) = rest.windows(OLDER_START.len()).position(|part| part == OLDER_START) {
            self.out.write_all(&rest[..=at])?;
            self.out.write_all(b" ")?;
            rest = &rest[at + 1..];
        }
        self.out.write_all(rest)?;
        self.is_start = self.waiting.ends_with(b"\n");
        self.waiting.clear();
        Ok(())
    }
}

/// Returns where a line has the start of a command, after white space and styles.
fn start_of_command(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = line.get(at..)?;
        if rest.starts_with(START) {
            return Some(at);
        }
        at += match rest {
            [byte, ..] if byte.is_ascii_whitespace() => 1,
            [0x1b, b'[', style @ ..] => 3 + style.iter().position(u8::is_ascii_alphabetic)?,
            _ => return None,
        };
    }
}

impl<W: Write> Write for CommandGuard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.waiting.extend_from_slice(part);
            if part.ends_with(b"\n") || self.waiting.len() > WAITING_BYTES_MAX {
                self.write_waiting()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.out.flush()
    }
}

/// An error has no reader any more.
impl<W: Write> Drop for CommandGuard<W> {
    fn drop(&mut self) {
        let _ = self.write_waiting();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(parts: &[&str]) -> String {
        let mut out = Vec::new();
        let mut guard = CommandGuard::new(&mut out);
        parts.iter().for_each(|part| guard.write_all(part.as_bytes()).unwrap());
        drop(guard);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commands_are_broken() {
        assert_eq!(guarded(&["::stop-commands::x\n"]), ": :stop-commands::x\n");
        assert_eq!(guarded(&["a\n", " \t", ":", ":error::no\nb"]), "a\n \t: :error::no\nb");
        assert_eq!(guarded(&["\u{1b}[31m::error::\u{1b}[0m no"]), "\u{1b}[31m: :error::\u{1b}[0m no");
        assert_eq!(guarded(&["note ##[error]no ##[", "group]"]), "note # #[error]no # #[group]");
    }

    #[test]
    fn other_texts_stay() {
        for text in ["std::io::Error\n", "a: b\n\n:x\n", "## [1]\n", "{\"a\":\"::error::\"}\n", "", "  "] {
            assert_eq!(guarded(&[text]), text);
        }
        let long = "é::".repeat(10_000) + "\n";
        assert_eq!(guarded(&[&long]), long);
    }
}
