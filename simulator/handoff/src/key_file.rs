//! The file of one key: 64 hexadecimal digits and a newline.

use super::error::KeyError;
use super::node_key::{NodeKey, SECRET_BYTES};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

/// The length of a key file, in bytes.
const FILE_BYTES: usize = 2 * SECRET_BYTES + 1;

/// Writes a key to a file that only its owner can read.
///
/// # Errors
/// The file system reports an error.
pub(crate) fn write(file: &mut File, key: &NodeKey) -> io::Result<()> {
    // The capacity is exact: a reallocation would leave a copy of the secret in memory.
    let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES));
    key.push_hex(&mut text);
    text.push('\n');
    file.write_all(text.as_bytes())
}

/// Reads a key.
///
/// # Errors
/// The file is missing, unreadable or malformed.
pub(crate) fn read(path: &Path) -> Result<NodeKey, KeyError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => KeyError::Missing { path: path.to_owned() },
        _ => KeyError::Io { path: path.to_owned(), problem: "unreadable key file", error },
    };
    let file = orchestrion_files::open(path).map_err(unreadable)?;
    // One byte more shows that the file is too long. The last read, which finds the end, needs room too.
    let mut bytes = Zeroizing::new(Vec::with_capacity(2 * FILE_BYTES));
    let limit = u64::try_from(FILE_BYTES + 1).unwrap_or(u64::MAX);
    file.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    let malformed = |found: String| KeyError::Malformed { path: path.to_owned(), found };
    if bytes.len() > FILE_BYTES {
        return Err(malformed(format!("more than {FILE_BYTES} bytes")));
    }
    let digits = bytes.strip_suffix(b"\n").ok_or_else(|| malformed("no newline at the end".to_owned()))?;
    NodeKey::from_hex(digits).map_err(|error| malformed(error.to_string()))
}
