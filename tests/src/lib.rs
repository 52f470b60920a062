//! Tests that cross rooms stand in `tests/`; this is what they share.

use std::path::PathBuf;

/// A folder of recorded data that nobody here wrote, or `None` after saying that the test is skipped.
#[must_use]
pub fn recorded(folder: &str) -> Option<PathBuf> {
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
