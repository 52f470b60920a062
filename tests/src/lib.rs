//! Shared test code across crates: oracle, generators, properties, and helpers for generated files.

pub mod agreement;
pub mod canonicalization;
pub mod claims_page;
pub mod clause_checks;
pub mod clause_references;
pub mod code_index;
pub mod counters;
pub mod endless_debate;
pub mod external_checkers;
pub mod fuzz_targets;
pub mod generators;
pub mod monitored;
pub mod naive_liveness;
pub mod network_conversation_oracle;
pub mod network_oracle;
pub mod oracle;
pub mod protocols;
pub mod random_walk;
pub mod regressions;
pub mod side_effects;
pub mod test_index;
pub mod traceability;

use std::path::{Path, PathBuf};

/// Returns the folder of an external data set, or prints that the test is skipped and returns `None`.
#[must_use]
pub fn recorded_data_dir(folder: &str) -> Option<PathBuf> {
    let Some(data) = std::env::var_os("ORCHESTRION_DATA") else {
        eprintln!("skipped: ORCHESTRION_DATA is not set; {folder} is part of the recorded data");
        return None;
    };
    let path = PathBuf::from(data).join(folder);
    assert!(path.is_dir(), "ORCHESTRION_DATA has no folder {}", path.display());
    Some(path)
}

/// Returns the root folder of the project.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Checks a generated file. A stale file is rewritten, and the test fails once, so that the author sees and commits the change.
///
/// # Errors
/// A sentence that names the file and its first stale line.
pub fn ensure_up_to_date(file: &Path, expected: &str) -> Result<(), String> {
    let now = std::fs::read_to_string(file).unwrap_or_default();
    if now == expected {
        return Ok(());
    }
    let line = now.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count() + 1;
    let written = std::fs::write(file, expected);
    let name = file.strip_prefix(root()).unwrap_or(file).display();
    Err(match written {
        Ok(()) => {
            format!("{name} was stale from line {line}; it is rewritten: read the difference and commit it")
        }
        Err(error) => format!("{name} is stale from line {line} and cannot be rewritten: {error}"),
    })
}
