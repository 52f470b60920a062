//! Files as verbs read and write them: errors name the file, and nothing is overwritten by accident.

use miette::{Context, IntoDiagnostic, Result, miette};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use crate::trace::{Reader, TraceError, TraceErrorKind};

/// How much of a trace is read at once.
const READ_BYTES: usize = 64 * 1024;

/// Standard output, with colour only where it belongs. If its reader has gone, as `head` does, the rest is not
/// printed; what the verb comes to is still worth an exit code.
pub(super) fn out() -> impl Write {
    Patient { out: anstream::stdout().lock(), gone: false }
}

struct Patient<W> {
    out: W,
    gone: bool,
}

impl<W: Write> Patient<W> {
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

impl<W: Write> Write for Patient<W> {
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

/// How every trace begins.
pub(super) const TRACE_BEGINS: &str = "{\"format\":\"orchestrion-trace/";

/// Writes a trace, over an earlier one if there is one, but over nothing else.
pub(super) fn replace_trace(path: &Path, bytes: &[u8]) -> Result<()> {
    refuse_other(path, TRACE_BEGINS, "no trace", "choose another folder with --out, or move the file away")?;
    replace(path, bytes)
}

/// An error if there is a file that does not begin like those that are overwritten; an empty one is.
pub(super) fn refuse_other(path: &Path, begins: &str, is: &str, help: &str) -> Result<()> {
    let mut start = Vec::new();
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
    refuse_existing(path)?;
    replace(path, bytes)
}

/// An error if there is a file already.
pub(super) fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() {
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
