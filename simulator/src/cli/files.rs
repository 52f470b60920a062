//! Files as commands read and write them: errors name the file, and nothing is overwritten by accident.

use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_trace::{Reader, TRACE_PREFIX, TraceError, TraceErrorKind};
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
    match File::open(path) {
        Ok(file) => Ok((file, name)),
        Err(error) => Err(TraceError { file: name, line: 0, kind: TraceErrorKind::Io(error) }),
    }
}

/// Writes a trace; overwrites an earlier trace, and no other file.
pub(super) fn replace_trace(path: &Path, bytes: &[u8]) -> Result<()> {
    ensure_trace_overwritable(path)?;
    replace(path, bytes)
}

/// Returns an error if the file exists and is not a trace.
pub(super) fn ensure_trace_overwritable(path: &Path) -> Result<()> {
    ensure_overwritable(
        path,
        TRACE_PREFIX,
        "not a trace",
        "choose another folder with --out-dir, or move the file away",
    )
}

/// Returns an error if the file exists, is not empty and does not start with `prefix`. `kind` completes the message
/// "FILE is …".
pub(super) fn ensure_overwritable(path: &Path, prefix: &str, kind: &str, help: &str) -> Result<()> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(miette!(help = help.to_string(), "cannot overwrite {}: not a file", path.display()));
    }
    let Ok(file) = File::open(path) else { return Ok(()) };
    let mut start = Vec::new();
    file.take(prefix.len() as u64)
        .read_to_end(&mut start)
        .into_diagnostic()
        .wrap_err_with(|| cannot_write(path))?;
    if start.is_empty() || start == prefix.as_bytes() {
        return Ok(());
    }
    Err(miette!(help = help.to_string(), "{} is {kind} and is not overwritten", path.display()))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes a file atomically, over an existing one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// Replaces a file atomically by what `write` writes.
pub(super) fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).into_diagnostic().wrap_err_with(|| cannot_write(path))?;
    let draft = draft_path(path);
    let result = File::create(&draft)
        .and_then(|mut file| write(&mut file).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    result.into_diagnostic().wrap_err_with(|| cannot_write(path))
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
        if let Err(error) = ensure_absent(&path).and_then(|()| replace(&path, bytes)) {
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
/// that there are no cycles.
pub(super) fn walk_files(
    folder: &Path,
    is_selected: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let cannot_read = |error: io::Error| format!("{}: cannot be read: {error}", folder.display());
    let entries =
        fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(cannot_read)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            if !path.is_symlink() && !is_hidden {
                walk_files(&path, is_selected, files)?;
            }
        } else if is_selected(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns an error if the path exists, as a file, folder or link.
fn ensure_absent(path: &Path) -> Result<()> {
    // A dangling link exists too.
    if path.symlink_metadata().is_ok() {
        return Err(miette!(
            help = "choose another name, or remove the file",
            "{} exists already and is not overwritten",
            path.display()
        ));
    }
    Ok(())
}

fn draft_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.draft", std::process::id()));
    path.with_file_name(name)
}
