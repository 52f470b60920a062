//! The file of rows, to which a run appends. After an interrupted run it is cut to the rows that the result contains.

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use orchestrion_report::text::sanitize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The start of every heading.
const HEADING_START: &[u8] = b"run,policy,";

/// An open and locked file of rows.
pub(super) struct RowsFile(File);

impl RowsFile {
    /// Opens the file, and keeps its heading and this number of rows; without rows it gets this heading.
    ///
    /// # Errors
    /// The file cannot be opened, belongs to another program, has another heading than its rows, or has fewer rows.
    pub(super) fn open(path: &Path, heading: &str, rows: u64) -> Result<Self> {
        let shown = sanitize(&path.display().to_string());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .into_diagnostic()
                .wrap_err_with(|| format!("{shown}: no folder"))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file =
            orchestrion_files::open_locked(&mut options, path).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => miette!(
                    help = "wait until it ends, or choose another folder with --out-dir",
                    "{shown}: another run writes these rows"
                ),
                _ => miette!("{shown}: {error}"),
            })?;
        let kept = kept_bytes(&mut file, heading, rows)
            .into_diagnostic()
            .wrap_err_with(|| format!("{shown}: unreadable rows"))?;
        let Some(kept) = kept else {
            return Err(match rows {
                0 => miette!(
                    help = "move the file away, or choose another folder with --out-dir",
                    "{shown}: expected the rows of an experiment, found another file"
                ),
                _ => miette!(
                    help = "move the file away, or run the experiment without --resume",
                    "{shown}: expected the heading of this experiment and {rows} rows, found another file or fewer rows"
                ),
            });
        };
        let write = |file: &mut File| -> io::Result<()> {
            file.set_len(kept)?;
            file.seek(SeekFrom::Start(kept))?;
            if kept == 0 { file.write_all(heading.as_bytes()) } else { Ok(()) }
        };
        write(&mut file).into_diagnostic().wrap_err_with(|| format!("{shown}: rows are not written"))?;
        Ok(Self(file))
    }

    /// Appends rows.
    pub(super) fn append(&mut self, rows: &[u8]) -> io::Result<()> {
        self.0.write_all(rows)
    }

    /// Makes the rows durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Returns the length of the heading and this number of rows, and `None` if the file does not contain them. Without rows nothing is kept
/// of an empty file and of the rows of any experiment.
fn kept_bytes(file: &mut File, heading: &str, rows: u64) -> io::Result<Option<u64>> {
    file.seek(SeekFrom::Start(0))?;
    let mut start = Vec::new();
    file.take(heading.len() as u64).read_to_end(&mut start)?;
    if rows == 0 {
        let is_replaceable = start.is_empty() || start.starts_with(HEADING_START);
        return Ok(is_replaceable.then_some(0));
    }
    if start != heading.as_bytes() {
        return Ok(None);
    }
    let (mut kept, mut line) = (start.len() as u64, Vec::new());
    let mut reader = BufReader::with_capacity(1 << 16, &*file);
    reader.seek(SeekFrom::Start(kept))?;
    for _ in 0..rows {
        line.clear();
        // A row has a number for each metric and the name of a policy; a longer line is no row.
        let read = reader.by_ref().take(1 << 16).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        kept += read as u64;
    }
    Ok(Some(kept))
}
