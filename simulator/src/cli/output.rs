//! Standard output and standard error: untrusted text is made visible, and reports are wrapped to the terminal's width.

mod command_guard;

use anstyle::Style;
use command_guard::CommandGuard;
use miette::{GraphicalReportHandler, GraphicalTheme};
use orchestrion_report::text::{sanitize, shell_word, wrap};
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

/// Returns the width of a report in columns: that of the terminal, else the variable `COLUMNS`, else 100.
pub(super) fn width() -> usize {
    const DEFAULT: usize = 100;
    const LIMITS: std::ops::RangeInclusive<usize> = 40..=1000;
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(variable).unwrap_or(DEFAULT).clamp(*LIMITS.start(), *LIMITS.end())
}

/// Verbosity and width of a report.
#[derive(Clone, Copy)]
pub(super) struct ReportStyle {
    /// Print only failures and the summary.
    pub(super) quiet: bool,
    /// Columns of a line.
    pub(super) width: usize,
}

/// Returns standard output, with colors where they are enabled. After its reader has closed it, as `head` does, output is
/// discarded without an error, so that the command still returns its exit code.
pub(super) fn stdout() -> impl Write {
    CommandGuard::new(command_stdout())
}

/// Returns standard output for workflow commands of GitHub Actions, which other texts must not contain.
pub(super) fn command_stdout() -> impl Write {
    BrokenPipeGuard { out: anstream::stdout().lock(), is_closed: false }
}

/// Returns standard output for a text that is usually redirected to a file. Only a terminal gets it with its escape sequences made visible.
pub(super) fn page_stdout() -> Box<dyn Write> {
    if io::stdout().is_terminal() { Box::new(plain_stdout()) } else { Box::new(stdout()) }
}

/// Returns standard output for a command that writes no colors: escape sequences in traces and files are made visible.
pub(super) fn plain_stdout() -> impl Write {
    EscapeFilter(stdout())
}

struct EscapeFilter<W>(W);

impl<W: Write> Write for EscapeFilter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(sanitize_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints a message to standard error.
pub(super) fn print_error(message: &impl std::fmt::Display) {
    write_error(&sanitize_lines(&message.to_string()));
}

/// Writes lines to standard error. After its reader has closed it, they are discarded: the command still returns its exit code.
fn write_error(text: &str) {
    let mut out = CommandGuard::new(io::stderr().lock());
    let _ = writeln!(out, "{text}");
}

/// Prints a diagnostic with its source excerpt and help to standard error. Of its escape sequences only the colors of the report
/// remain. If a foreign text contains an escape character, the report has no colors: they could not be distinguished.
pub(super) fn print_diagnostic(error: &miette::Report) {
    let mut plain = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(width());
    if handler.render_report(&mut plain, error.as_ref()).is_err() || plain.contains('\u{1b}') {
        return print_error(&plain);
    }
    let rendered = format!("{error:?}");
    let mut parts = rendered.split("\u{1b}[");
    let mut text = sanitize_lines(parts.next().unwrap_or_default());
    for part in parts {
        let color =
            part.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|end| part[*end..].starts_with('m'));
        match color {
            Some(end) => {
                text.push_str("\u{1b}[");
                text.push_str(&part[..=end]);
                text.push_str(&sanitize_lines(&part[end + 1..]));
            }
            None => text.push_str(&sanitize_lines(&format!("\u{1b}[{part}"))),
        }
    }
    write_error(&text);
}

/// Returns the text with its line breaks, and every other control character made visible.
fn sanitize_lines(text: &str) -> String {
    text.split('\n').map(sanitize).collect::<Vec<_>>().join("\n")
}

struct BrokenPipeGuard<W> {
    out: W,
    is_closed: bool,
}

impl<W: Write> BrokenPipeGuard<W> {
    fn unless_closed<T>(
        &mut self,
        if_closed: T,
        write: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.is_closed {
            return Ok(if_closed);
        }
        match write(&mut self.out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(if_closed)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for BrokenPipeGuard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), |out| out.flush())
    }
}

/// Returns a path as one word of a shell, for the commands that reports suggest.
pub(super) fn quoted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Writes a text at a column, wrapped to `width`. The first line starts with `head`, which must be shorter than `column`.
pub(super) fn write_hanging(
    column: usize,
    head: &str,
    text: &str,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for (i, line) in wrap(text, text_width(width, column)).iter().enumerate() {
        writeln!(out, "{:column$}{line}", if i == 0 { head } else { "" })?;
    }
    Ok(())
}

/// Writes a paragraph whose first word is styled, wrapped to `width` with continuation lines indented by two columns.
pub(super) fn write_summary(
    style: Style,
    word: &str,
    rest: &str,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let text = format!("{word}{rest}");
    for (i, line) in wrap(&text, text_width(width, 2)).iter().enumerate() {
        match line.strip_prefix(word).filter(|_| i == 0) {
            Some(after) => writeln!(out, "{style}{word}{style:#}{after}")?,
            None => writeln!(out, "  {line}")?,
        }
    }
    Ok(())
}

/// Writes a suggested command after a label, broken between its words with `\` so that it can be pasted into a shell.
pub(super) fn write_command(
    label: &str,
    command: &str,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    const COLUMN: usize = 11;
    let mut line = format!("  {label:<9}");
    let mut is_start = true;
    for word in command.split(' ') {
        // Room for the space before the word and for ` \` after it.
        if !is_start && line.chars().count() + word.chars().count() + 3 > width {
            writeln!(out, "{line} \\")?;
            line = " ".repeat(COLUMN + 2);
            is_start = true;
        }
        if !is_start {
            line.push(' ');
        }
        line.push_str(word);
        is_start = false;
    }
    writeln!(out, "{line}")
}

/// Returns the columns right of `column`, at least enough for a few words.
pub(super) fn text_width(width: usize, column: usize) -> usize {
    width.saturating_sub(column).max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_break_between_words_and_stay_pasteable() {
        let command = "orchestrion show .orchestrion/C-06-9f31c2aa.trace.ndjson --step 11";
        for width in [60, 80, 120, 200] {
            let mut out = Vec::new();
            write_command("show", command, width, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let joined = text.replace("\\\n", " ");
            let words: Vec<&str> = joined.split_whitespace().skip(1).collect();
            assert_eq!(words.join(" "), command);
        }
    }
}
