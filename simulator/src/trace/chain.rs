//! The chain: each line carries a digest over itself and the chain before it.

/// Hexadecimal digits of a digest.
pub(super) const HEX_LEN: usize = 32;

const BEFORE: &str = ",\"chain\":\"";
const AFTER: &str = "\"}";

/// The chain of one line, given the chain of the line before ("" for the first).
pub(super) fn link(before: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(body.as_bytes());
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(HEX_LEN);
    hex
}

/// A line from its body, a JSON object, and its chain.
pub(super) fn seal(body: &str, chain: &str) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open}{BEFORE}{chain}{AFTER}\n")
}

/// The body and the chain of a line, if it is shaped like one.
pub(super) fn open(line: &str) -> Option<(String, &str)> {
    let sealed = line.strip_suffix(AFTER)?;
    let at = sealed.len().checked_sub(HEX_LEN)?;
    if !sealed.is_char_boundary(at) {
        return None;
    }
    let (rest, chain) = sealed.split_at(at);
    let body = rest.strip_suffix(BEFORE)?;
    Some((format!("{body}}}"), chain))
}
