//! Digests: the first 128 bits of BLAKE3.

/// The length of a digest in hexadecimal digits.
pub(crate) const HEX_LEN: usize = 32;

/// Returns the digest used in traces: the first 128 bits of BLAKE3, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(blake3::hash(bytes))
}

pub(crate) fn hex(hash: blake3::Hash) -> String {
    hash.to_hex()[..HEX_LEN].to_string()
}
