//! Files as commands read and write them: errors name the file, and nothing is overwritten by accident.

use miette::{IntoDiagnostic as _, Report, Result, miette};
use orchestrion_files::limits::{FOLDER_ENTRIES_MAX, PATHS_BYTES_MAX};
use orchestrion_files::{Access, FileKind, Target, TargetSync, WriteError, create};
use orchestrion_trace::{EVENT_TRACE_FILE, Reader, TraceError, TraceErrorKind};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of a trace that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Opens a trace and reads its header.
pub(super) fn open_trace(path: &Path) -> Result<Reader<BufReader<File>>, TraceError> {
    let (input, name) = open(path)?;
    Reader::new(BufReader::with_capacity(READ_BYTES, input), &name)
}

/// Opens a segment of a journal, or a whole trace, and reads its header.
pub(super) fn open_segment(path: &Path) -> Result<Reader<BufReader<File>>, TraceError> {
    open_segment_with(path, |file| file)
}

/// Opens a segment through a wrapper of its file, and reads its header.
pub(super) fn open_segment_with<R: Read>(
    path: &Path,
    wrap: impl FnOnce(File) -> R,
) -> Result<Reader<BufReader<R>>, TraceError> {
    let (input, name) = open(path)?;
    Reader::new_segment(BufReader::with_capacity(READ_BYTES, wrap(input)), &name)
}

/// Opens a file, and returns its name.
fn open(path: &Path) -> Result<(File, String), TraceError> {
    let name = path.display().to_string();
    match orchestrion_files::open(path) {
        Ok(file) => Ok((file, name)),
        Err(error) => Err(TraceError { file: name, line: 0, kind: TraceErrorKind::Io(error) }),
    }
}

/// Writes a trace; overwrites an earlier finished trace with all events, and no other file.
pub(super) fn replace_trace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_event_trace(path, bytes, "choose another folder with --out-dir, or move the file away")
}

/// Writes the golden trace of a scenario; overwrites an earlier one, and no other file.
pub(super) fn replace_golden(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_event_trace(path, bytes, "move the file away: this is the path of the scenario's golden trace")
}

fn replace_event_trace(path: &Path, bytes: &[u8], help: &str) -> Result<()> {
    let target = Target::open(path, &EVENT_TRACE_FILE).map_err(|error| with_help(&error, help))?;
    replace(target, |file| file.write_all(bytes))
}

/// Returns an error if a file exists and is not a finished one of this kind.
pub(super) fn ensure_overwritable(path: &Path, kind: &'static FileKind) -> Result<()> {
    open_target(path, kind).map(drop)
}

/// Checks and locks a file that is to be replaced.
pub(super) fn open_target(path: &Path, kind: &'static FileKind) -> Result<Target> {
    Target::open(path, kind).map_err(to_report)
}

/// Replaces a file at once, if it is a finished one of this kind.
pub(super) fn replace_with(
    path: &Path,
    kind: &'static FileKind,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    replace(open_target(path, kind)?, write)
}

/// Replaces a checked file at once by what `write` writes.
pub(super) fn replace(target: Target, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    target.replace(TargetSync::Durable, write).map_err(to_report)
}

pub(super) fn to_report(error: WriteError) -> Report {
    with_help(&error, error.help())
}

fn with_help(error: &WriteError, help: &str) -> Report {
    miette!(help = help.to_owned(), "{error}")
}

/// Writes new files, and calls `finish`. If a file exists, cannot be written, or `finish` fails, all files are removed.
pub(super) fn create_all<'a, T>(
    files: impl IntoIterator<Item = (PathBuf, &'a [u8])>,
    finish: impl FnOnce() -> Result<T>,
) -> Result<(Vec<PathBuf>, T)> {
    let files: Vec<(PathBuf, &[u8])> = files.into_iter().collect();
    for (path, _) in &files {
        ensure_absent(path)?;
    }
    let mut created = CreatedFiles::default();
    for (path, bytes) in files {
        created.add_missing_folders(&path);
        if let Err(error) = create_file(&path, bytes) {
            created.undo();
            return Err(error);
        }
        created.files.push(path);
    }
    match finish() {
        Ok(finished) => Ok((created.files, finished)),
        Err(error) => {
            created.undo();
            Err(error)
        }
    }
}

/// Creates a file, and replaces none.
pub(super) fn create_file(path: &Path, bytes: &[u8]) -> Result<()> {
    create(path, Access::Default, |file| file.write_all(bytes)).map_err(to_report)
}

/// Files and folders created so far, for undoing an incomplete write.
#[derive(Default)]
struct CreatedFiles {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl CreatedFiles {
    /// Adds the folders that do not exist yet and that writing `file` creates, outer ones first.
    fn add_missing_folders(&mut self, file: &Path) {
        let above = file.ancestors().skip(1);
        let mut missing: Vec<_> =
            above.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        missing.reverse();
        self.folders.extend(missing.into_iter().map(Path::to_path_buf));
    }

    /// Removes the created files and folders; errors are ignored in favor of the first one.
    fn undo(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            // Fails if another process has added a file meanwhile, as it should.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Collects the selected files in a folder and below it, sorted by name. Hidden folders and links to folders are skipped, so
/// that there are no cycles. A report needs memory for each path, so the paths that were collected before count too.
pub(super) fn walk_files(
    folder: &Path,
    is_selected: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let mut bytes = files.iter().map(|path| path_bytes(path)).sum();
    walk(folder, is_selected, files, &mut bytes)
}

/// The memory of a path in a report, without the copies.
fn path_bytes(path: &Path) -> usize {
    const OVERHEAD: usize = 128;
    OVERHEAD + path.as_os_str().len()
}

fn walk(
    folder: &Path,
    is_selected: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
    bytes: &mut usize,
) -> Result<(), String> {
    let cannot_read = |error: io::Error| format!("{}: cannot be read: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?;
        paths.push((entry.path(), entry.file_type().map_err(cannot_read)?));
        if paths.len() > FOLDER_ENTRIES_MAX {
            return Err(format!(
                "{}: too many entries: expected at most {FOLDER_ENTRIES_MAX}, found more; split the folder",
                folder.display()
            ));
        }
    }
    paths.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, file_type) in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // The type of the entry: a folder whose path is too long must not count as a file.
        if file_type.is_dir() {
            if !is_hidden {
                walk(&path, is_selected, files, bytes)?;
            }
        } else if !path.is_dir() && is_selected(&path) {
            check_name(&path)?;
            *bytes += path_bytes(&path);
            if *bytes > PATHS_BYTES_MAX {
                return Err(format!(
                    "{}: too many files: expected paths of at most {PATHS_BYTES_MAX} bytes, found more after {} files; name folders \
                     below it",
                    folder.display(),
                    files.len()
                ));
            }
            files.push(path);
        }
    }
    Ok(())
}

/// Refuses a path with a line break or another control character: reports name one file in each line, and a line of such a path could be
/// read as another report.
pub(super) fn check_name(path: &Path) -> Result<(), String> {
    let name = path.to_string_lossy();
    match name.contains(char::is_control) {
        true => Err(format!("{name:?}: expected a path without control characters; rename the file")),
        false => Ok(()),
    }
}

/// Returns an error if the path of an output names the input.
pub(super) fn ensure_not_input(path: &Path, input: &Path) -> Result<()> {
    if path.exists() && path.canonicalize().into_diagnostic()? == input.canonicalize().into_diagnostic()? {
        return Err(miette!(
            help = "choose another file",
            "{} is the input trace and is not overwritten",
            path.display()
        ));
    }
    Ok(())
}

/// Returns an error if the path exists, as a file, folder or link.
fn ensure_absent(path: &Path) -> Result<()> {
    // A dangling link exists too.
    match path.symlink_metadata() {
        Ok(_) => Err(to_report(WriteError::Exists { path: path.to_owned() })),
        Err(_) => Ok(()),
    }
}
