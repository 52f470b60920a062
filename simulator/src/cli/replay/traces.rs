//! Which traces are meant, and how they are read while somebody watches.

use crate::cli::files;
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What was given to be replayed.
pub(super) struct TraceInput {
    /// A trace, or a folder that has none.
    pub(super) path: PathBuf,
    /// Why there is no trace.
    pub(super) missing: Option<String>,
}

/// The traces that are meant, in the order given; those of a folder by their names.
pub(super) fn given(paths: &[PathBuf]) -> Vec<TraceInput> {
    let mut given = Vec::new();
    for path in paths {
        if !path.is_dir() {
            given.push(TraceInput { path: path.clone(), missing: None });
            continue;
        }
        let mut traces = Vec::new();
        let missing = match files::walk_files(path, &is_trace, &mut traces) {
            Ok(()) if traces.is_empty() => format!(
                "{}: no trace in this folder; expected a file *.ndjson in it or below it. Record one with: \
                 orchestrion run SCENARIO",
                path.display()
            ),
            Ok(()) => {
                given.extend(traces.into_iter().map(|path| TraceInput { path, missing: None }));
                continue;
            }
            Err(error) => error,
        };
        given.push(TraceInput { path: path.clone(), missing: Some(missing) });
    }
    given
}

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ndjson")
}

/// A file that tells how far it was read, and that can be told to stop.
pub(super) struct ProgressReader<'a> {
    pub(super) file: File,
    pub(super) bar: &'a ProgressBar,
    pub(super) stop: &'a AtomicBool,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Whoever set it does not wait for what would come of this trace.
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("not wanted any more"));
        }
        let read = self.file.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}
