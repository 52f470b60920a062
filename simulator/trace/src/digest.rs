//! Digests: the first 128 bits of BLAKE3.

use std::io;

/// The length of a digest in hexadecimal digits.
pub(crate) const HEX_LEN: usize = 32;

/// Returns the digest used in traces: the first 128 bits of BLAKE3, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(blake3::hash(bytes))
}

/// The digest of bytes that are written to it.
#[derive(Debug, Default)]
pub struct FileDigest(blake3::Hasher);

impl FileDigest {
    /// Returns [`digest`] of the bytes so far.
    #[must_use]
    pub fn finish(&self) -> String {
        hex(self.0.finalize())
    }
}

impl io::Write for FileDigest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn hex(hash: blake3::Hash) -> String {
    hash.to_hex()[..HEX_LEN].to_string()
}
