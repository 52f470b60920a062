//! SPIN on the Promela export.

use super::{CheckerReport, CheckerVerdict, coverage_names, last_lines, run_tool, write};
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
    /// # Errors
    ///
    /// The output of a tool that did not finish.
    pub fn check(
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
        let translated = run_tool(Command::new(&self.program).args(["-a", "control.pml"]), folder)?;
        if !folder.join("pan.c").exists() {
            return Err(format!("SPIN rejects the export:\n{}", last_lines(&translated)));
        }
        let compiled = run_tool(Command::new("cc").args(["-O1", "-DNFAIR=3", "-o", "pan", "pan.c"]), folder)?;
        if !folder.join("pan").exists() {
            return Err(format!("the output of SPIN does not compile:\n{}", last_lines(&compiled)));
        }
        let mut states = None;
        let mut verdicts = BTreeMap::new();
        for exported in &control.claims {
            let (verdict, stored) = verify(folder, &exported.name(), exported.is_liveness())?;
            // The automaton of a state claim that holds has one state, so the stored states are those of the model.
            if verdict == CheckerVerdict::Holds && !exported.is_liveness() {
                states = Some(stored);
            }
            verdicts.insert(exported.claim.id, verdict);
        }
        let reached = |names: Vec<&'static str>| {
            let reached = |name: &&'static str| match verify(folder, &format!("never_{name}"), false) {
                Ok((CheckerVerdict::Fails, _)) => Some(Ok(*name)),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            };
            names.iter().filter_map(reached).collect::<Result<BTreeSet<&'static str>, String>>()
        };
        Ok(CheckerReport { name: "SPIN", phases: reached(phases)?, rows: reached(rows)?, states, verdicts })
    }
}

/// Returns the verdict of the verifier on one claim, and the number of stored states. The exit code is always 0, so the
/// output is parsed. The hash table has 2^18 entries; with more states it becomes slow.
fn verify(folder: &Path, claim: &str, fair: bool) -> Result<(CheckerVerdict, u64), String> {
    let mut pan = Command::new(folder.join("pan"));
    pan.args(["-a", "-m1000000", "-w18", "-N", claim]).args(fair.then_some("-f"));
    let output = run_tool(&mut pan, folder)?;
    let word_after =
        |label: &str| output.split_once(label).and_then(|(_, rest)| rest.split_whitespace().next());
    let stored = output.lines().find_map(|line| line.trim().split_once(" states, stored"));
    let stored = stored.and_then(|(number, _)| number.parse().ok());
    let is_incomplete = output.contains("max search depth too small") || output.contains("out of memory");
    match (word_after("errors:"), stored) {
        (Some("0"), Some(stored)) if !is_incomplete && !output.contains("Search not completed") => {
            Ok((CheckerVerdict::Holds, stored))
        }
        (Some(errors), Some(stored)) if errors != "0" => Ok((CheckerVerdict::Fails, stored)),
        _ => Err(format!("SPIN has no result for {claim}:\n{}", last_lines(&output))),
    }
}
