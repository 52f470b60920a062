//! The tests that name a clause: test functions, cases of sequences, and functions of the oracles.
//!
//! rustfmt fixes the form: a function ends with a brace in its own column. A clause that a header, a type or a helper names is
//! not checked there, so only the documentation and the body of a function count.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::root;
use std::fs;
use std::path::Path;

/// The folders with tests.
const SOURCES: [&str; 4] = ["kernel", "model", "simulator", "tests"];

/// What checks a clause beside the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestKind {
    /// A test function, or a case of a sequence.
    Example,
    /// A function of an oracle, which tests compare with the kernel on random walks.
    Oracle,
}

/// A test or a function of an oracle, with its documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseTest {
    /// Its kind.
    pub kind: TestKind,
    /// Its file, from the root.
    pub file: String,
    /// The name of the function. A file of sequences has none.
    pub name: Option<String>,
    /// Documentation and body.
    pub text: String,
}

impl ClauseTest {
    /// Whether the test names this clause.
    #[must_use]
    pub fn names(&self, clause: &str) -> bool {
        names(&self.text, clause)
    }

    /// The reference of the test, in the notation of `specs/clauses/README.md`.
    #[must_use]
    pub fn reference(&self) -> String {
        self.name.as_ref().map_or_else(|| self.file.clone(), |name| format!("{}::{name}", self.file))
    }
}

/// Returns whether a text contains this clause or transition as a whole number.
#[must_use]
pub fn names(text: &str, clause: &str) -> bool {
    let longer = |rest: &str| rest.starts_with(|next: char| next.is_ascii_digit());
    text.match_indices(clause).any(|(at, found)| !text.get(at + found.len()..).is_some_and(longer))
}

/// Returns all tests and functions of oracles, sorted by file.
#[must_use]
pub fn tests() -> Vec<ClauseTest> {
    let mut tests = Vec::new();
    for folder in SOURCES {
        read_folder(folder, &mut tests);
    }
    tests
}

fn read_folder(folder: &str, tests: &mut Vec<ClauseTest>) {
    let mut entries: Vec<_> =
        fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let file = format!("{folder}/{name}");
        let extension = Path::new(&name).extension().and_then(|extension| extension.to_str());
        if entry.path().is_dir() {
            // The list of faults names the clauses that they violate.
            if name != "target" && file != "tests/faults" {
                read_folder(&file, tests);
            }
        } else if extension == Some("rs") {
            tests.extend(functions(&file, &fs::read_to_string(entry.path()).unwrap()));
        } else if extension == Some("txt") && folder == "kernel/tests/sequences" {
            let text = fs::read_to_string(entry.path()).unwrap();
            let comments = text.lines().filter(|line| line.starts_with('#')).collect::<Vec<_>>().join("\n");
            tests.push(ClauseTest { kind: TestKind::Example, file, name: None, text: comments });
        }
    }
}

/// Whether the functions of a file are those of an oracle.
fn is_oracle(file: &str) -> bool {
    file.starts_with("tests/src/oracle/") || file.starts_with("tests/src/") && file.ends_with("_oracle.rs")
}

/// Returns the test functions of a file, or all functions of an oracle.
fn functions(file: &str, text: &str) -> Vec<ClauseTest> {
    let mut tests: Vec<ClauseTest> = Vec::new();
    // The documentation and attributes above the next function, and the column of the function that contains a line.
    let (mut above, mut column) = (String::new(), None);
    let mut is_counted = false;
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if column.is_some_and(|column| indent > column || code.is_empty() || code.starts_with(')')) {
            if let Some(test) = tests.last_mut().filter(|_| is_counted) {
                test.text.push_str(line);
                test.text.push('\n');
            }
            continue;
        }
        column = None;
        if code.starts_with("///") || code.starts_with("#[") {
            above.push_str(line);
            above.push('\n');
        } else if let Some(name) = function_name(code) {
            column = (!code.ends_with('}')).then_some(indent);
            let kind = if above.contains("#[test]") || above.contains("#[tokio::test") {
                TestKind::Example
            } else {
                TestKind::Oracle
            };
            is_counted = kind == TestKind::Example || is_oracle(file);
            let text = std::mem::take(&mut above) + line + "\n";
            if is_counted {
                tests.push(ClauseTest { kind, file: file.to_owned(), name: Some(name.to_owned()), text });
            }
        } else {
            above.clear();
        }
    }
    tests
}

/// Returns the name of the function that a line begins.
fn function_name(code: &str) -> Option<&str> {
    let (before, rest) = code.split_once("fn ")?;
    let is_header = before
        .split_whitespace()
        .all(|word| ["pub", "pub(crate)", "pub(super)", "const", "async"].contains(&word));
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    is_header.then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! 000-91.1 in a header.

/// 000-91.2 at a type.
struct Plain;

/// 000-91.3 at a helper.
fn helper() {
    let helped = \"000-91.4\";
}

/// 000-91.5 at a test.
#[test]
fn number_is_kept() {
    // 000-91.6
    fn nested() {}

    let after = \"000-91.70\";
}

const LAST: &str = \"000-91.8\";

mod inner {
    impl Thing {
        /// 000-91.9 at a method.
        pub(super) fn method(
            &self,
        ) -> u8 {
            9
        }
    }
}
";

    fn found(file: &str, clause: &str) -> Vec<String> {
        let tests = functions(file, SOURCE);
        tests.iter().filter(|test| test.names(clause)).map(ClauseTest::reference).collect()
    }

    #[test]
    fn only_tests_and_oracles_check_clauses() {
        let test = "kernel/tests/some.rs::number_is_kept";
        for clause in ["000-91.5", "000-91.6", "000-91.70"] {
            assert_eq!(found("kernel/tests/some.rs", clause), [test], "{clause}");
        }
        for clause in ["000-91.1", "000-91.2", "000-91.3", "000-91.4", "000-91.7", "000-91.8", "000-91.9"] {
            assert!(found("kernel/tests/some.rs", clause).is_empty(), "{clause}");
        }
        for (clause, name) in [("000-91.3", "helper"), ("000-91.4", "helper"), ("000-91.9", "method")] {
            let reference = format!("tests/src/oracle/some.rs::{name}");
            assert_eq!(found("tests/src/oracle/some.rs", clause), [reference], "{clause}");
        }
        for clause in ["000-91.1", "000-91.2", "000-91.8"] {
            assert!(found("tests/src/oracle/some.rs", clause).is_empty(), "{clause}");
        }
    }
}
