//! TLC on the TLA+ export.

use super::{CheckerReport, CheckerVerdict, coverage_names, last_lines, run_tool, write};
use orchestrion_model::export::ControlModel;
use orchestrion_model::export::claims::ExportedClaim;
use orchestrion_model::export::tla::{MODULE, config};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// TLC, with a Java runtime.
#[derive(Clone, Debug)]
pub struct Tlc {
    /// The path of `tla2tools.jar`.
    pub jar: PathBuf,
}

/// The outcome of a run.
enum Outcome {
    NoViolation,
    InvariantViolated(String),
    PropertyViolated,
}

impl Tlc {
    /// Runs TLC on a module, which is an export of this model or a variant of it. The files are written to `folder`.
    ///
    /// TLC stops at the first violated invariant and does not name a violated property. It therefore runs again without
    /// that invariant until none is violated, and once for each property if a property is violated.
    ///
    /// # Errors
    ///
    /// The output of TLC if it did not finish.
    pub fn check(
        &self,
        control: &ControlModel,
        module: &str,
        folder: &Path,
    ) -> Result<CheckerReport, String> {
        write(folder, &format!("{MODULE}.tla"), module)?;
        let mut verdicts: BTreeMap<&'static str, CheckerVerdict> = BTreeMap::new();
        let (live, safe): (Vec<&ExportedClaim>, Vec<&ExportedClaim>) =
            control.claims.iter().partition(|exported| exported.is_liveness());
        let mut remaining = safe.clone();
        let output = loop {
            match self.run(control, folder, &remaining)? {
                (Outcome::InvariantViolated(name), output) => {
                    let Some(at) = remaining.iter().position(|exported| exported.name() == name) else {
                        return Err(format!(
                            "TLC reports an unknown invariant {name}:\n{}",
                            last_lines(&output)
                        ));
                    };
                    verdicts.insert(remaining.remove(at).claim.id, CheckerVerdict::Fails);
                }
                (_, output) => break output,
            }
        };
        verdicts.extend(remaining.iter().map(|exported| (exported.claim.id, CheckerVerdict::Holds)));
        let (phases, rows) = reached(control, folder)?;
        if let Outcome::NoViolation = self.run(control, folder, &live)?.0 {
            verdicts.extend(live.iter().map(|exported| (exported.claim.id, CheckerVerdict::Holds)));
        } else {
            for exported in live {
                let verdict = match self.run(control, folder, &[exported])?.0 {
                    Outcome::NoViolation => CheckerVerdict::Holds,
                    Outcome::InvariantViolated(_) | Outcome::PropertyViolated => CheckerVerdict::Fails,
                };
                verdicts.insert(exported.claim.id, verdict);
            }
        }
        Ok(CheckerReport { name: "TLC", phases, rows, states: parse_state_count(&output), verdicts })
    }

    fn run(
        &self,
        control: &ControlModel,
        folder: &Path,
        checked: &[&ExportedClaim],
    ) -> Result<(Outcome, String), String> {
        let config = config(control, |exported| checked.iter().any(|other| std::ptr::eq(*other, exported)));
        write(folder, &format!("{MODULE}.cfg"), &config)?;
        let mut java = Command::new("java");
        java.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]).arg(&self.jar);
        java.args(["tlc2.TLC", "-deadlock", "-dump", "reached", "-metadir", "states", MODULE]);
        let output = run_tool(&mut java, folder)?;
        let violated = output.lines().find_map(|line| {
            let name = line.split_once("Invariant ")?.1.split_once(" is violated")?.0;
            Some(name.to_string())
        });
        let outcome = match violated {
            Some(name) => Outcome::InvariantViolated(name),
            None if output.contains("Temporal properties were violated") => Outcome::PropertyViolated,
            None if output.contains("No error has been found") => Outcome::NoViolation,
            None => return Err(format!("TLC has no result:\n{}", last_lines(&output))),
        };
        Ok((outcome, output))
    }
}

/// Parses `… 6958 distinct states found, 0 states left on queue.`
fn parse_state_count(output: &str) -> Option<u64> {
    let line = output.lines().rev().find(|line| line.contains("distinct states found, 0 states left"))?;
    line.split(", ").find_map(|part| part.strip_suffix(" distinct states found")?.parse().ok())
}

/// Returns the control phases and transitions of all dumped states.
fn reached(
    control: &ControlModel,
    folder: &Path,
) -> Result<(BTreeSet<&'static str>, BTreeSet<&'static str>), String> {
    let path = folder.join("reached.dump");
    let dump =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines: BTreeSet<&str> = dump.lines().collect();
    let (phases, rows) = coverage_names(control);
    let reached = |var: &str, names: Vec<&'static str>| {
        let reached = |name: &&str| lines.contains(format!("/\\ {var} = \"{name}\"").as_str());
        names.into_iter().filter(|name| reached(name)).collect()
    };
    Ok((reached("phase", phases), reached("row", rows)))
}
