//! The file of a checkpoint: a first line, the identity, the content, and a digest of all.

use super::{Checkpoint, CheckpointError};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

const FIRST_LINE: &str = "orchestrion-checkpoint/1\n";
const DIGEST: usize = 32;

/// Writes to a file, and computes the digest of what was written.
pub(super) struct DigestWriter {
    file: BufWriter<File>,
    digest: blake3::Hasher,
}

impl Write for DigestWriter {
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
    let draft = path.with_extension("draft");
    let written = (|| {
        let mut file =
            DigestWriter { file: BufWriter::new(File::create(&draft)?), digest: blake3::Hasher::new() };
        file.write_all(FIRST_LINE.as_bytes())?;
        file.write_all(&identity_bytes(checkpoint))?;
        content(&mut file)?;
        let digest = file.digest.finalize();
        file.file.write_all(digest.as_bytes())?;
        file.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&draft, path)?;
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    })();
    written.map_err(|source| CheckpointError::Io { action: "write", file: path.clone(), source })
}

/// Reads the content of a checkpoint; `None` if there is no file.
pub(super) fn read(checkpoint: &Checkpoint) -> Result<Option<Vec<u8>>, CheckpointError> {
    let path = &checkpoint.file;
    let mut bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CheckpointError::Io { action: "read", file: path.clone(), source }),
    };
    if !bytes.starts_with(FIRST_LINE.as_bytes()) {
        let (file, expected) = (path.clone(), FIRST_LINE.trim_end());
        return Err(CheckpointError::NotACheckpoint { file, expected });
    }
    let digest = bytes.split_off(bytes.len() - DIGEST.min(bytes.len() - FIRST_LINE.len()));
    let found = blake3::hash(&bytes);
    if found.as_bytes()[..] != digest[..] {
        let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let (file, found) = (path.clone(), found.to_hex().to_string());
        return Err(CheckpointError::Damaged { file, expected: hex, found });
    }
    let rest = check_identity(checkpoint, path, &bytes[FIRST_LINE.len()..])?;
    let start = bytes.len() - rest;
    Ok(Some(bytes.split_off(start)))
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
