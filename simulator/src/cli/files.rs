//! Files as verbs read and write them: errors name the file, and nothing is overwritten by accident.

use miette::{Context, IntoDiagnostic, Result, miette};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use orchestrion_report::show::sanitize;
use orchestrion_trace::{Reader, TRACE_PREFIX, TraceError, TraceErrorKind};

/// How much of a trace is read at once.
const READ_BYTES: usize = 64 * 1024;

/// Standard output, with colour only where it belongs. If its reader has gone, as `head` does, the rest is not
/// printed; what the verb comes to is still worth an exit code.
pub(super) fn out() -> impl Write {
    BrokenPipeGuard { out: anstream::stdout().lock(), gone: false }
}

/// The columns that a report may take: as many as the terminal has, where one is looked at, and 100 at most.
pub(super) fn columns() -> usize {
    const MOST: usize = 100;
    const LEAST: usize = 60;
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map_or(MOST, |(width, _)| usize::from(width.0).clamp(LEAST, MOST))
}

/// Standard output for a verb that writes no colours: nothing that a trace or a file says acts on the terminal.
pub(super) fn plain() -> impl Write {
    EscapeFilter(out())
}

struct EscapeFilter<W>(W);

impl<W: Write> Write for EscapeFilter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(lines_of(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Says on standard error what a verb could not do.
pub(super) fn print_error(what: &impl std::fmt::Display) {
    eprintln!("{}", lines_of(&what.to_string()));
}

/// Says it as errors are drawn. Of the escapes in it only colours are left.
pub(super) fn complain_drawn(error: &miette::Report) {
    let drawn = format!("{error:?}");
    let mut parts = drawn.split("\u{1b}[");
    let mut told = lines_of(parts.next().unwrap_or_default());
    for part in parts {
        let colour =
            part.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|end| part[*end..].starts_with('m'));
        match colour {
            Some(end) => {
                told.push_str("\u{1b}[");
                told.push_str(&part[..=end]);
                told.push_str(&lines_of(&part[end + 1..]));
            }
            None => told.push_str(&lines_of(&format!("\u{1b}[{part}"))),
        }
    }
    eprintln!("{told}");
}

/// The text with its line breaks, and everything else in it visible.
fn lines_of(text: &str) -> String {
    text.split('\n').map(sanitize).collect::<Vec<_>>().join("\n")
}

struct BrokenPipeGuard<W> {
    out: W,
    gone: bool,
}

impl<W: Write> BrokenPipeGuard<W> {
    fn unless_gone<T>(&mut self, done: T, act: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.gone {
            return Ok(done);
        }
        match act(&mut self.out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(done)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for BrokenPipeGuard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_gone(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_gone((), |out| out.flush())
    }
}

/// A path as a shell takes it, for the commands that reports suggest.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Opens a trace and reads its header.
pub(super) fn open_trace(path: &Path) -> Result<Reader<BufReader<File>>, TraceError> {
    open_trace_as(path, |file| file)
}

/// Opens a trace through something that watches how it is read, and reads its header.
pub(super) fn open_trace_as<R: Read>(
    path: &Path,
    watch: impl FnOnce(File) -> R,
) -> Result<Reader<BufReader<R>>, TraceError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Reader::new(BufReader::with_capacity(READ_BYTES, watch(file)), &name),
        Err(error) => Err(TraceError { file: name, line: 0, kind: TraceErrorKind::Io(error) }),
    }
}

/// Writes a trace, over an earlier one if there is one, but over nothing else.
pub(super) fn replace_trace(path: &Path, bytes: &[u8]) -> Result<()> {
    refuse_other_than_trace(path)?;
    replace(path, bytes)
}

/// An error if there is a file that is no trace.
pub(super) fn refuse_other_than_trace(path: &Path) -> Result<()> {
    ensure_overwritable(
        path,
        TRACE_PREFIX,
        "no trace",
        "choose another folder with --out, or move the file away",
    )
}

/// An error if there is a file that does not begin like those that are overwritten; an empty one is.
pub(super) fn ensure_overwritable(path: &Path, begins: &str, is: &str, help: &str) -> Result<()> {
    let mut start = Vec::new();
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(miette!(
            help = help.to_string(),
            "{} is no file that could be overwritten",
            path.display()
        ));
    }
    let Ok(file) = File::open(path) else { return Ok(()) };
    file.take(begins.len() as u64)
        .read_to_end(&mut start)
        .into_diagnostic()
        .wrap_err_with(|| cannot(path))?;
    if start.is_empty() || start == begins.as_bytes() {
        return Ok(());
    }
    Err(miette!(help = help.to_string(), "{} is {is}, and is not overwritten", path.display()))
}

fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes a file whole or not at all, over whatever was there.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// Lets `write` write a file, which takes its place whole or not at all, over whatever was there.
pub(super) fn replace_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).into_diagnostic().wrap_err_with(|| cannot(path))?;
    let draft = draft_of(path);
    let written = File::create(&draft)
        .and_then(|mut file| write(&mut file).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft is ours; whether it can be removed does not change what went wrong.
        let _ = fs::remove_file(&draft);
    }
    written.into_diagnostic().wrap_err_with(|| cannot(path))
}

/// Writes a file that must not be there yet.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    ensure_absent(path)?;
    replace(path, bytes)
}

/// Writes files that must not be there yet: all of them or none.
pub(super) fn create_all<'a>(files: impl IntoIterator<Item = (PathBuf, &'a [u8])>) -> Result<Vec<PathBuf>> {
    let files: Vec<(PathBuf, &[u8])> = files.into_iter().collect();
    for (path, _) in &files {
        ensure_absent(path)?;
    }
    let mut made = Made::default();
    for (path, bytes) in files {
        made.note_folders(&path);
        if let Err(error) = create(&path, bytes) {
            made.undo();
            return Err(error);
        }
        made.files.push(path);
    }
    Ok(made.files)
}

/// What was made of several files before one of them could not be.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// Notes the folders that are not there yet and that a file will bring, the outer ones first.
    fn note_folders(&mut self, file: &Path) {
        let above = file.ancestors().skip(1);
        let mut missing: Vec<_> =
            above.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        missing.reverse();
        self.folders.extend(missing.into_iter().map(Path::to_path_buf));
    }

    /// Takes away what is ours, of a moment ago; that something stays does not change what went wrong.
    fn undo(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            // Not if somebody has put something into it meanwhile.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The files in a folder and below it that are wanted, by their names. Links to folders are not followed, so there
/// is no way round in circles.
pub(super) fn walk_files(
    folder: &Path,
    wanted: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let cannot = |error: io::Error| format!("{}: cannot be read: {error}", folder.display());
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(cannot)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            // What verbs themselves leave behind is hidden.
            if !path.is_symlink() && !is_hidden {
                walk_files(&path, wanted, files)?;
            }
        } else if wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// An error if there is a file already.
pub(super) fn ensure_absent(path: &Path) -> Result<()> {
    // A link that leads nowhere is something too.
    if path.symlink_metadata().is_ok() {
        return Err(miette!(
            help = "choose another name, or remove the file if it is not needed any more",
            "{} exists already, and nothing is overwritten",
            path.display()
        ));
    }
    Ok(())
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.draft", std::process::id()));
    path.with_file_name(name)
}
