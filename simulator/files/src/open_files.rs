//! The number of files that the process may have open.

/// Raises the limit of the process to the largest one that the system permits: 1,024 files are a usual limit at the start.
///
/// # Errors
/// Any I/O error; the limit is then as before.
#[cfg(unix)]
pub fn raise_open_files_limit() -> std::io::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Here the limit is that of the system.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn raise_open_files_limit() -> std::io::Result<()> {
    Ok(())
}
