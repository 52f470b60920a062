//! Evidence as files: a trace, and the same run in the Informal Trace Format.

use crate::cli::files;
use miette::{IntoDiagnostic, Result};
use orchestrion_model::check::Counterexample;
use orchestrion_model::export::itf::{ITF_PREFIX, itf};
use orchestrion_report::evidence::{Evidence, record};
use orchestrion_report::itf::of_trace;
use orchestrion_trace::Reader;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Evidence, and where it was written.
pub(super) struct SavedEvidence {
    pub(super) trace: PathBuf,
    pub(super) itf: PathBuf,
    pub(super) evidence: Evidence,
}

/// Records a way as a trace, and writes it into a folder, in both formats.
pub(super) fn save(name: &str, way: &Counterexample, folder: &Path) -> Result<SavedEvidence> {
    let evidence = record(name, &way.policy, &way.inputs).into_diagnostic()?;
    let trace = folder.join(&evidence.file);
    files::replace_trace(&trace, &evidence.trace)?;
    let itf = trace.with_extension("").with_extension("itf.json");
    write_itf(&itf, &format!("{name} under the policy {}", way.policy.name), &evidence, way)?;
    Ok(SavedEvidence { trace, itf, evidence })
}

fn write_itf(path: &Path, about: &str, evidence: &Evidence, way: &Counterexample) -> Result<()> {
    let reader = Reader::new(evidence.trace.as_slice(), &evidence.file).into_diagnostic()?;
    let (mut shots, _read_to_its_end) = of_trace(reader);
    // The last state of a loop is the one where it begins, but for names that only count up: there it returns.
    let loop_to = way.stem_len.zip(way.cycle_len()).map(|(stem, round)| stem + round);
    if loop_to.is_some() {
        shots.pop();
    }
    let text = format!("{:#}\n", itf(about, &shots, loop_to));
    let help = "choose another folder with --out, or move the file away";
    files::ensure_overwritable(path, ITF_PREFIX, "no ITF trace", help)?;
    files::replace_by(path, |file| file.write_all(text.as_bytes()))
}
