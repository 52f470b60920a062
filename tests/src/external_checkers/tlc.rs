//! TLC on the TLA+ export.

use super::{CheckerReport, CheckerVerdict, coverage_names, printed, tail, write};
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
enum End {
    NothingFound,
    Broken(String),
    SomePropertyBroken,
}

impl Tlc {
    /// Runs TLC on a module, which is an export of this model or a variant of it. The files are written to `folder`.
    ///
    /// TLC stops at the first violated invariant and does not name a violated property. It therefore runs again without
    /// that invariant until none is violated, and once for each property if a property is violated.
    ///
    /// # Errors The output of TLC if it did not finish.
    pub fn opinion(
        &self,
        control: &ControlModel,
        module: &str,
        folder: &Path,
    ) -> Result<CheckerReport, String> {
        write(folder, &format!("{MODULE}.tla"), module)?;
        let mut verdicts: BTreeMap<&'static str, CheckerVerdict> = BTreeMap::new();
        let (live, safe): (Vec<&ExportedClaim>, Vec<&ExportedClaim>) =
            control.claims.iter().partition(|stated| stated.is_liveness());
        let mut left = safe.clone();
        let told = loop {
            match self.run(control, folder, &left)? {
                (End::Broken(name), told) => {
                    let Some(at) = left.iter().position(|stated| stated.name() == name) else {
                        return Err(format!("TLC finds {name} broken:\n{}", tail(&told)));
                    };
                    verdicts.insert(left.remove(at).claim.id, CheckerVerdict::Fails);
                }
                (_, told) => break told,
            }
        };
        verdicts.extend(left.iter().map(|stated| (stated.claim.id, CheckerVerdict::Holds)));
        let (phases, rows) = reached(control, folder)?;
        if let End::NothingFound = self.run(control, folder, &live)?.0 {
            verdicts.extend(live.iter().map(|stated| (stated.claim.id, CheckerVerdict::Holds)));
        } else {
            for stated in live {
                let said = match self.run(control, folder, &[stated])?.0 {
                    End::NothingFound => CheckerVerdict::Holds,
                    End::Broken(_) | End::SomePropertyBroken => CheckerVerdict::Fails,
                };
                verdicts.insert(stated.claim.id, said);
            }
        }
        Ok(CheckerReport { of: "TLC", phases, rows, states: distinct(&told), verdicts })
    }

    fn run(
        &self,
        control: &ControlModel,
        folder: &Path,
        checked: &[&ExportedClaim],
    ) -> Result<(End, String), String> {
        let config = config(control, |stated| checked.iter().any(|other| std::ptr::eq(*other, stated)));
        write(folder, &format!("{MODULE}.cfg"), &config)?;
        let mut java = Command::new("java");
        java.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]).arg(&self.jar);
        java.args(["tlc2.TLC", "-deadlock", "-dump", "reached", "-metadir", "states", MODULE]);
        let told = printed(&mut java, folder)?;
        let broken = told.lines().find_map(|line| {
            let name = line.split_once("Invariant ")?.1.split_once(" is violated")?.0;
            Some(name.to_string())
        });
        let end = match broken {
            Some(name) => End::Broken(name),
            None if told.contains("Temporal properties were violated") => End::SomePropertyBroken,
            None if told.contains("No error has been found") => End::NothingFound,
            None => return Err(format!("TLC came to nothing:\n{}", tail(&told))),
        };
        Ok((end, told))
    }
}

/// Parses `… 6958 distinct states found, 0 states left on queue.`
fn distinct(told: &str) -> Option<u64> {
    let line = told.lines().rev().find(|line| line.contains("distinct states found, 0 states left"))?;
    line.split(", ").find_map(|part| part.strip_suffix(" distinct states found")?.parse().ok())
}

/// Returns the control phases and transitions of all dumped states.
fn reached(
    control: &ControlModel,
    folder: &Path,
) -> Result<(BTreeSet<&'static str>, BTreeSet<&'static str>), String> {
    let path = folder.join("reached.dump");
    let dump = std::fs::read_to_string(&path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let lines: BTreeSet<&str> = dump.lines().collect();
    let (phases, rows) = coverage_names(control);
    let reached = |var: &str, names: Vec<&'static str>| {
        let reached = |name: &&str| lines.contains(format!("/\\ {var} = \"{name}\"").as_str());
        names.into_iter().filter(|name| reached(name)).collect()
    };
    Ok((reached("phase", phases), reached("row", rows)))
}
