//! The chain: each line carries a digest over itself and the chain before it.

/// Hexadecimal digits of a digest.
pub(super) const HEX_LEN: usize = 32;

const BEFORE: &str = ",\"chain\":\"";
const AFTER: &str = "\"}";

/// The chain of a line: `linked` is the chain of the line before ("" for the first) and the body, side by side.
pub(super) fn link(linked: &str) -> String {
    super::digest(linked.as_bytes())
}

/// Makes a line of a body, a JSON object, and its chain.
pub(super) fn seal(body: &mut String, chain: &str) {
    body.pop();
    for part in [BEFORE, chain, AFTER, "\n"] {
        body.push_str(part);
    }
}

/// The body of a line without its last brace, and the chain, if it is shaped like a line.
pub(super) fn open(line: &str) -> Option<(&str, &str)> {
    let sealed = line.strip_suffix(AFTER)?;
    let at = sealed.len().checked_sub(HEX_LEN)?;
    if !sealed.is_char_boundary(at) {
        return None;
    }
    let (rest, chain) = sealed.split_at(at);
    Some((rest.strip_suffix(BEFORE)?, chain))
}
