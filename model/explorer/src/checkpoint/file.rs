//! The file of a checkpoint: a first line, the identity, the content, and a digest of all.

use super::{Checkpoint, CheckpointError};
use orchestrion_files::{FileKind, Target, TargetSync};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek as _, Write};
use std::path::Path;

const FIRST_LINE: &str = "orchestrion-checkpoint/1\n";
const DIGEST: usize = 32;

const CHECKPOINT: FileKind = FileKind {
    name: "a checkpoint",
    is_start: |start| start.starts_with(FIRST_LINE.as_bytes()),
    last_line: None,
};

/// Writes to a file, and computes the digest of what was written.
pub(super) struct DigestWriter<'f> {
    file: BufWriter<&'f mut File>,
    digest: blake3::Hasher,
}

impl Write for DigestWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a draft, makes it durable, and gives it the name of the checkpoint.
pub(super) fn write(
    checkpoint: &Checkpoint,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CheckpointError> {
    let path = &checkpoint.file;
    let write = |file: &mut File| {
        let mut file = DigestWriter { file: BufWriter::new(file), digest: blake3::Hasher::new() };
        file.write_all(FIRST_LINE.as_bytes())?;
        file.write_all(&identity_bytes(checkpoint))?;
        content(&mut file)?;
        let digest = file.digest.finalize();
        file.file.write_all(digest.as_bytes())?;
        file.flush()
    };
    Target::open(path, &CHECKPOINT)
        .and_then(|target| target.replace(TargetSync::Durable, write))
        .map_err(|error| CheckpointError::Io { action: "write", file: path.clone(), source: error.into() })
}

/// Reads the content of a checkpoint; `None` if there is no file.
pub(super) fn read(checkpoint: &Checkpoint) -> Result<Option<Vec<u8>>, CheckpointError> {
    let path = &checkpoint.file;
    let unreadable = |source| CheckpointError::Io { action: "read", file: path.clone(), source };
    let mut file = match orchestrion_files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let mut first_line = Vec::new();
    (&mut file).take(FIRST_LINE.len() as u64).read_to_end(&mut first_line).map_err(unreadable)?;
    if first_line != FIRST_LINE.as_bytes() {
        let (file, expected) = (path.clone(), FIRST_LINE.trim_end());
        return Err(CheckpointError::NotACheckpoint { file, expected });
    }
    // A damaged file, of any size, needs no memory: it is read twice.
    let (digest, found) = digests(&mut file).map_err(unreadable)?;
    if found.as_bytes()[..] != digest[..] {
        let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let (file, found) = (path.clone(), found.to_hex().to_string());
        return Err(CheckpointError::Damaged { file, expected: hex, found });
    }
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(unreadable)?;
    bytes.truncate(bytes.len().saturating_sub(DIGEST));
    let rest = check_identity(checkpoint, path, &bytes[FIRST_LINE.len()..])?;
    let start = bytes.len() - rest;
    Ok(Some(bytes.split_off(start)))
}

/// Returns the digest at the end of a file, which is shorter if the file is, and that of the bytes before it.
fn digests(file: &mut File) -> io::Result<(Vec<u8>, blake3::Hash)> {
    let content = file.metadata()?.len().saturating_sub(DIGEST as u64).max(FIRST_LINE.len() as u64);
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(Read::take(&mut *file, content))?;
    let mut digest = Vec::new();
    Read::take(file, DIGEST as u64).read_to_end(&mut digest)?;
    Ok((digest, hasher.finalize()))
}

/// Returns the number of bytes after the identity.
fn check_identity(checkpoint: &Checkpoint, path: &Path, bytes: &[u8]) -> Result<usize, CheckpointError> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut left = bytes.len();
    let expected = checkpoint.identity.iter().map(|(name, value)| (*name, value.as_str()));
    for (name, expected) in expected.chain([("end of the identity", "")]) {
        let line = lines.next().unwrap_or_default();
        let text = String::from_utf8_lossy(line);
        let found = text.strip_prefix(name).and_then(|text| text.strip_prefix(": ")).unwrap_or(&text);
        left -= line.len();
        if line != identity_line(name, expected).as_bytes() {
            return Err(CheckpointError::OtherExploration {
                file: path.to_owned(),
                name: name.to_owned(),
                expected: expected.to_owned(),
                found: found.trim_end().to_owned(),
            });
        }
    }
    Ok(left)
}

fn identity_bytes(checkpoint: &Checkpoint) -> Vec<u8> {
    let lines = checkpoint.identity.iter().map(|(name, value)| identity_line(name, value));
    lines.chain([identity_line("end of the identity", "")]).collect::<String>().into_bytes()
}

/// One line for each name, so that `head` shows what a checkpoint is of.
fn identity_line(name: &str, value: &str) -> String {
    format!("{name}: {}\n", value.escape_debug())
}
