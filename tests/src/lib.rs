//! Tests that cross rooms stand in `tests/`; this is what they share.

pub mod canonicalization;
pub mod counters;
pub mod endless_debate;
pub mod external_checkers;
pub mod fuzz_targets;
pub mod generators;
pub mod monitored;
pub mod naive_liveness;
pub mod oracle;
pub mod random_walk;
pub mod regressions;
pub mod side_effects;
pub mod traceability;

use std::path::{Path, PathBuf};

/// A folder of recorded data that nobody here wrote, or `None` after saying that the test is skipped.
#[must_use]
pub fn recorded_data_dir(folder: &str) -> Option<PathBuf> {
    let Some(data) = std::env::var_os("ORCHESTRION_DATA") else {
        eprintln!("skipped: ORCHESTRION_DATA is not set, so there is no recorded {folder}");
        return None;
    };
    let path = PathBuf::from(data).join(folder);
    assert!(path.is_dir(), "ORCHESTRION_DATA is set, but there is no folder {}", path.display());
    Some(path)
}

/// The project's root.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Holds a file of the project against what it should say. If it says something else it is rewritten, and
/// the test fails once, so that the change is seen and committed.
///
/// # Errors
/// A sentence that names the file.
pub fn ensure_up_to_date(file: &Path, expected: &str) -> Result<(), String> {
    let now = std::fs::read_to_string(file).unwrap_or_default();
    if now == expected {
        return Ok(());
    }
    let line = now.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count() + 1;
    let written = std::fs::write(file, expected);
    let shown = file.strip_prefix(root()).unwrap_or(file).display();
    Err(match written {
        Ok(()) => format!(
            "{shown} was stale from line {line} on; it is rewritten: look at the change and commit it"
        ),
        Err(error) => format!("{shown} is stale from line {line} on, and cannot be rewritten: {error}"),
    })
}
