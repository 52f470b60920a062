//! Evidence as files.

use crate::cli::files;
use crate::evidence::{Evidence, record};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::{Input, Policy};
use std::path::{Path, PathBuf};

/// Evidence, and where it was written.
pub(super) struct Kept {
    pub(super) trace: PathBuf,
    pub(super) evidence: Evidence,
}

/// Records inputs as a trace, and writes it into a folder.
pub(super) fn keep(name: &str, policy: &Policy, inputs: &[Input], folder: &Path) -> Result<Kept> {
    let evidence = record(name, policy, inputs).into_diagnostic()?;
    let trace = folder.join(&evidence.file);
    files::replace_trace(&trace, &evidence.trace)?;
    Ok(Kept { trace, evidence })
}
