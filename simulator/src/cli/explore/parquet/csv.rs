//! Rows as `explore run` writes them: a line for each, with a limit.

use miette::{Result, miette};
use orchestrion_report::text::sanitize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The bytes of a line. A row has a number for each metric and the name of a policy.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// An open file of rows.
pub(super) struct CsvRows {
    path: PathBuf,
    input: BufReader<File>,
    /// The number of the line that was read last, from 1.
    line: u64,
    columns: usize,
}

impl CsvRows {
    /// Opens a file with these names of columns.
    ///
    /// # Errors
    /// The file cannot be read, or has other columns.
    pub(super) fn open(path: &Path, names: &[&str]) -> Result<Self> {
        let file = orchestrion_files::open(path).map_err(|error| {
            miette!(
                help = "leave the rows of each part beside its result; --no-rows writes none",
                "{}: unreadable rows: {error}",
                sanitize(&path.display().to_string())
            )
        })?;
        let input = BufReader::with_capacity(1 << 16, file);
        let mut rows = Self { path: path.to_owned(), input, line: 0, columns: names.len() };
        match rows.next()? {
            Some(heading) if heading == names => Ok(rows),
            _ => Err(rows.error("expected the heading of this experiment, found another one")),
        }
    }

    /// Returns the fields of the next row, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<String>>> {
        self.line += 1;
        let mut line = Vec::new();
        let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        match read {
            Err(error) => return Err(self.error(&format!("unreadable rows: {error}"))),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        let text = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        let Some(text) = text else {
            return Err(self.error("incomplete row: expected a line of text with at most 65,536 bytes"));
        };
        let fields = fields(text);
        if fields.len() != self.columns {
            let problem = format!("expected {} fields, found {}", self.columns, fields.len());
            return Err(self.error(&problem));
        }
        Ok(Some(fields))
    }

    /// Returns an error at the line that was read last.
    pub(super) fn error(&self, problem: &str) -> miette::Report {
        let path = sanitize(&self.path.display().to_string());
        miette!(
            help = "run the experiment again, and leave its rows as they are",
            "{path}: line {}: {problem}",
            self.line
        )
    }
}

/// Splits a line at its commas outside quotes (RFC 4180).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut is_quoted, mut characters) = (false, line.chars().peekable());
    while let Some(character) = characters.next() {
        let Some(field) = fields.last_mut() else { break };
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_are_split_outside_quotes() {
        assert_eq!(fields("1,hardened,0.7"), ["1", "hardened", "0.7"]);
        assert_eq!(fields("1,\"a, b\",\"say \"\"no\"\"\",,"), ["1", "a, b", "say \"no\"", "", ""]);
    }
}
