//! Compares external checkers with our own on the exported control FSM: coverage and verdicts on claims.
//!
//! SPIN reads the Promela export and TLC the TLA+ export; our models explore the kernel itself. Each yields one
//! [`CheckerReport`], and [`disagreements`] lists the differences.

mod ours;
mod spin;
mod tlc;

pub use ours::check_with_explorer;
pub use spin::Spin;
pub use tlc::Tlc;

use orchestrion_model::export::ControlModel;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The result of one checker.
#[derive(Clone, Debug)]
pub struct CheckerReport {
    /// The name of the checker.
    pub name: &'static str,
    /// The control phases that it reached.
    pub phases: BTreeSet<&'static str>,
    /// The transitions that it took.
    pub rows: BTreeSet<&'static str>,
    /// The number of states of the control model; `None` if the kernel itself was explored.
    pub states: Option<u64>,
    /// The verdict on each claim.
    pub verdicts: BTreeMap<&'static str, CheckerVerdict>,
}

/// The verdict of a checker on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckerVerdict {
    /// The claim holds.
    Holds,
    /// The claim fails.
    Fails,
    /// The check was inconclusive.
    Inconclusive,
    /// The claim was not checked. This is correct only for a claim that is vacuous under the policy.
    NotChecked,
}

impl CheckerVerdict {
    /// Returns the verdict as one word.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Inconclusive => "inconclusive",
            Self::NotChecked => "not checked",
        }
    }
}

impl CheckerReport {
    /// Returns the verdict on a claim.
    fn verdict(&self, id: &str) -> CheckerVerdict {
        self.verdicts.get(id).copied().unwrap_or(CheckerVerdict::NotChecked)
    }
}

/// Returns the differences between checkers, one sentence each; empty if they agree. No claim of the control model is
/// vacuous under the policy, so a missing verdict differs from every other.
#[must_use]
pub fn disagreements(control: &ControlModel, reports: &[CheckerReport]) -> Vec<String> {
    let policy = &control.policy.name;
    let mut differences = Vec::new();
    let Some((first, others)) = reports.split_first() else { return differences };
    for other in others {
        let sets = [("phase", &first.phases, &other.phases), ("row", &first.rows, &other.rows)];
        for (kind, a, b) in sets {
            for (only, other, names) in [(first, other, a - b), (other, first, b - a)] {
                for name in names {
                    let (only, other) = (only.name, other.name);
                    differences.push(format!("{policy}: {only} reaches the {kind} {name}, {other} does not"));
                }
            }
        }
    }
    let counts: Vec<(&str, u64)> = reports.iter().filter_map(|o| Some((o.name, o.states?))).collect();
    if counts.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        differences.push(format!("{policy}: the control model has different numbers of states: {counts:?}"));
    }
    for exported in &control.claims {
        let id = exported.claim.id;
        let verdicts: Vec<(&str, CheckerVerdict)> =
            reports.iter().map(|report| (report.name, report.verdict(id))).collect();
        let is_missing = verdicts.iter().any(|(_, verdict)| *verdict == CheckerVerdict::NotChecked);
        if is_missing || verdicts.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            let verdicts: Vec<String> =
                verdicts.iter().map(|(name, verdict)| format!("{name}: {}", verdict.label())).collect();
            differences.push(format!("{policy}: {id} ({})", verdicts.join(", ")));
        }
    }
    differences
}

/// Formats the verdicts of all checkers as a table with one claim per row.
#[must_use]
pub fn table(control: &ControlModel, reports: &[CheckerReport]) -> String {
    let mut text = format!("{:<14}", control.policy.name);
    let mut line = |head: &str, cells: Vec<String>| {
        let _ = write!(text, "\n  {head:<12}");
        cells.iter().for_each(|cell| {
            let _ = write!(text, " {cell:>12}");
        });
    };
    let each = |cell: &dyn Fn(&CheckerReport) -> String| reports.iter().map(cell).collect::<Vec<_>>();
    line("", each(&|report| report.name.to_string()));
    line("states", each(&|report| report.states.map_or_else(|| "–".to_string(), |n| n.to_string())));
    line("phases", each(&|report| report.phases.len().to_string()));
    line("rows", each(&|report| report.rows.len().to_string()));
    for exported in &control.claims {
        let id = exported.claim.id;
        let head = exported.claim.finding.map_or_else(|| id.to_string(), |finding| format!("{id} {finding}"));
        line(&head, each(&|report| report.verdict(id).label().to_string()));
    }
    text.push('\n');
    text
}

/// Returns the control phases and transitions whose reachability is checked.
fn coverage_names(control: &ControlModel) -> (Vec<&'static str>, Vec<&'static str>) {
    use orchestrion_model::export::ast::{Domain, Var};
    let names = |var| match control.domain(var) {
        Domain::OneOf(_, names) => names,
        Domain::Bool | Domain::Count(_) => Vec::new(),
    };
    let taken = names(Var::Row).into_iter().skip(1).collect();
    (names(Var::Phase), taken)
}

/// Returns the output of a tool, or the reason why it cannot run. The exit codes of the tools differ in meaning and are
/// ignored.
fn run_tool(tool: &mut Command, folder: &Path) -> Result<String, String> {
    let output = tool
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", tool.get_program().display()))?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(out + &err)
}

/// Returns the last lines of an output, which contain the error.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
