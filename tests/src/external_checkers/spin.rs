//! SPIN on the Promela export.

use super::{CheckerReport, CheckerVerdict, coverage_names, printed, tail, write};
use orchestrion_model::export::ControlModel;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// SPIN, with a C compiler for its output.
#[derive(Clone, Debug)]
pub struct Spin {
    /// The SPIN program.
    pub program: PathBuf,
}

impl Spin {
    /// Runs SPIN on a text, which is an export of this model or a variant of it. The files are written to `folder`.
    ///
    /// Reachability of a phase or transition is checked as a claim that it is never reached.
    ///
    /// # Errors The output of a tool that did not finish.
    pub fn opinion(
        &self,
        control: &ControlModel,
        promela: &str,
        folder: &Path,
    ) -> Result<CheckerReport, String> {
        let (phases, rows) = coverage_names(control);
        let mut text = promela.to_string();
        for (var, names) in [("phase", &phases), ("row", &rows)] {
            for name in names {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "ltl never_{name} {{ [] ({var} != {name}) }}");
            }
        }
        write(folder, "control.pml", &text)?;
        let translated = printed(Command::new(&self.program).args(["-a", "control.pml"]), folder)?;
        if !folder.join("pan.c").exists() {
            return Err(format!("SPIN does not read the export:\n{}", tail(&translated)));
        }
        let compiled = printed(Command::new("cc").args(["-O1", "-DNFAIR=3", "-o", "pan", "pan.c"]), folder)?;
        if !folder.join("pan").exists() {
            return Err(format!("what SPIN wrote does not compile:\n{}", tail(&compiled)));
        }
        let mut states = None;
        let mut verdicts = BTreeMap::new();
        for stated in &control.claims {
            let (said, stored) = judge(folder, &stated.name(), stated.is_liveness())?;
            // The automaton of a state claim that holds has one state, so the stored states are those of the model.
            if said == CheckerVerdict::Holds && !stated.is_liveness() {
                states = Some(stored);
            }
            verdicts.insert(stated.claim.id, said);
        }
        let reached = |names: Vec<&'static str>| {
            let reached = |name: &&'static str| match judge(folder, &format!("never_{name}"), false) {
                Ok((CheckerVerdict::Fails, _)) => Some(Ok(*name)),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            };
            names.iter().filter_map(reached).collect::<Result<BTreeSet<&'static str>, String>>()
        };
        Ok(CheckerReport { of: "SPIN", phases: reached(phases)?, rows: reached(rows)?, states, verdicts })
    }
}

/// Returns the verdict of the verifier on one claim, and the number of stored states. The exit code is always 0, so the
/// output is parsed. The hash table has 2^18 entries; with more states it becomes slow.
fn judge(folder: &Path, claim: &str, fair: bool) -> Result<(CheckerVerdict, u64), String> {
    let mut pan = Command::new(folder.join("pan"));
    pan.args(["-a", "-m1000000", "-w18", "-N", claim]).args(fair.then_some("-f"));
    let told = printed(&mut pan, folder)?;
    let after = |mark: &str| told.split_once(mark).and_then(|(_, rest)| rest.split_whitespace().next());
    let stored = told.lines().find_map(|line| line.trim().split_once(" states, stored"));
    let stored = stored.and_then(|(number, _)| number.parse().ok());
    let cut_short = told.contains("max search depth too small") || told.contains("out of memory");
    match (after("errors:"), stored) {
        (Some("0"), Some(stored)) if !cut_short && !told.contains("Search not completed") => {
            Ok((CheckerVerdict::Holds, stored))
        }
        (Some(errors), Some(stored)) if errors != "0" => Ok((CheckerVerdict::Fails, stored)),
        _ => Err(format!("SPIN came to nothing on {claim}:\n{}", tail(&told))),
    }
}
