//! Compilation of the constant patterns of this crate.

use regex::Regex;

/// Compiles a constant pattern.
pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern, compiled by the tests")
}
