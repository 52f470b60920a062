//! Evidence as files: a trace, and the same steps in the Informal Trace Format.

use crate::cli::export::ITF;
use crate::cli::files;
use miette::{IntoDiagnostic, Result};
use orchestrion_model::check::Counterexample;
use orchestrion_model::export::itf::itf;
use orchestrion_report::evidence::{Evidence, record};
use orchestrion_report::itf::states_from_trace;
use orchestrion_trace::Reader;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Evidence with the paths of its files.
pub(in crate::cli) struct SavedEvidence {
    pub(in crate::cli) trace: PathBuf,
    pub(in crate::cli) itf: PathBuf,
    pub(in crate::cli) evidence: Evidence,
}

/// Records a path as a trace, and writes it into a folder in both formats.
pub(in crate::cli) fn save(name: &str, path: &Counterexample, folder: &Path) -> Result<SavedEvidence> {
    let evidence = record(name, &path.policy, &path.inputs).into_diagnostic()?;
    let trace = folder.join(&evidence.file);
    files::replace_trace(&trace, &evidence.trace)?;
    let itf = trace.with_extension("").with_extension("itf.json");
    write_itf(&itf, &format!("{name} under the policy {}", path.policy.name), &evidence, path)?;
    Ok(SavedEvidence { trace, itf, evidence })
}

fn write_itf(file: &Path, description: &str, evidence: &Evidence, path: &Counterexample) -> Result<()> {
    let reader = Reader::new(evidence.trace.as_slice(), &evidence.file).into_diagnostic()?;
    let (mut states, _error) = states_from_trace(reader);
    // The last state of a cycle equals its first, except for ids that only increase; ITF refers back to the first.
    let loop_to = path.stem_len.zip(path.cycle_len()).map(|(stem, cycle)| stem + cycle);
    if loop_to.is_some() {
        states.pop();
    }
    let text = format!("{:#}\n", itf(description, &states, loop_to));
    files::replace_with(file, &ITF, |out| out.write_all(text.as_bytes()))
}
