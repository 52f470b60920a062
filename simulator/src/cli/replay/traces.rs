//! Inputs of `replay`, and how they are read while progress is shown.

use crate::cli::files;
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// One trace to replay.
pub(super) struct TraceInput {
    /// A trace, or a folder without traces.
    pub(super) path: PathBuf,
    /// Reason why there is no trace.
    pub(super) error: Option<String>,
}

/// Returns the traces in the order of the arguments; those of a folder sorted by name.
pub(super) fn inputs(paths: &[PathBuf]) -> Vec<TraceInput> {
    let (mut inputs, mut traces) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            inputs.push(TraceInput { path: path.clone(), error: None });
            continue;
        }
        let before = traces.len();
        let error = match files::walk_files(path, &is_trace, &mut traces) {
            Ok(()) if traces.len() == before => format!(
                "{}: no trace found: expected a file *.ndjson in this folder or below it; record one with \
                 `orchestrion run SCENARIO`",
                path.display()
            ),
            Ok(()) => {
                let found = traces[before..].iter();
                inputs.extend(found.map(|path| TraceInput { path: path.clone(), error: None }));
                continue;
            }
            Err(error) => {
                traces.truncate(before);
                error
            }
        };
        inputs.push(TraceInput { path: path.clone(), error: Some(error) });
    }
    inputs
}

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ndjson")
}

/// A file that advances a progress bar as it is read, and that fails once `stop` is set.
pub(super) struct ProgressReader<'a> {
    pub(super) file: File,
    pub(super) bar: &'a ProgressBar,
    pub(super) stop: &'a AtomicBool,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("replay was stopped"));
        }
        let read = self.file.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}
