//! What other people's checkers reach in the exported control FSM, and say of its claims, beside what ours does.
//!
//! SPIN reads the Promela export, TLC the TLA+ one; the kernel itself is explored by our own models. Each gives one
//! [`Opinion`], and [`disagreements`] says where two of them differ.

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

/// What one checker found.
#[derive(Clone, Debug)]
pub struct CheckerReport {
    /// Whose it is.
    pub of: &'static str,
    /// The control states that were reached.
    pub phases: BTreeSet<&'static str>,
    /// The rows that were taken.
    pub rows: BTreeSet<&'static str>,
    /// How many states of the control model there are; none if the kernel itself was explored.
    pub states: Option<u64>,
    /// What each claim came to.
    pub verdicts: BTreeMap<&'static str, CheckerVerdict>,
}

/// What a checker says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckerVerdict {
    /// It holds.
    Holds,
    /// It fails.
    Fails,
    /// It was checked, and did not come out either way.
    Inconclusive,
    /// Nothing: it was not checked. That is right only of a claim that says nothing under the policy.
    NotChecked,
}

impl CheckerVerdict {
    /// In one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Inconclusive => "unsettled",
            Self::NotChecked => "nothing",
        }
    }
}

impl CheckerReport {
    /// What it says of a claim.
    fn of_claim(&self, id: &str) -> CheckerVerdict {
        self.verdicts.get(id).copied().unwrap_or(CheckerVerdict::NotChecked)
    }
}

/// Where opinions differ, each as a sentence; empty if they agree. Every claim that control states says something
/// under the policy, so whoever says nothing of it differs from everybody.
#[must_use]
pub fn disagreements(control: &ControlModel, opinions: &[CheckerReport]) -> Vec<String> {
    let policy = &control.policy.name;
    let mut found = Vec::new();
    let Some((first, others)) = opinions.split_first() else { return found };
    for other in others {
        let sets = [("state", &first.phases, &other.phases), ("row", &first.rows, &other.rows)];
        for (what, a, b) in sets {
            for (only, than, which) in [(first, other, a - b), (other, first, b - a)] {
                for name in which {
                    let (only, than) = (only.of, than.of);
                    found.push(format!("{policy}: {only} reaches the {what} {name}, {than} does not"));
                }
            }
        }
    }
    let counts: Vec<(&str, u64)> = opinions.iter().filter_map(|o| Some((o.of, o.states?))).collect();
    if counts.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        found.push(format!("{policy}: the control model has a different number of states: {counts:?}"));
    }
    for stated in &control.claims {
        let id = stated.claim.id;
        let said = opinions.iter().map(|opinion| (opinion.of, opinion.of_claim(id)));
        let said: Vec<(&str, CheckerVerdict)> = said.collect();
        let silent = said.iter().any(|(_, said)| *said == CheckerVerdict::NotChecked);
        if silent || said.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            let said: Vec<String> = said.iter().map(|(of, said)| format!("{of}: {}", said.word())).collect();
            found.push(format!("{policy}: {id} ({})", said.join(", ")));
        }
    }
    found
}

/// The opinions side by side, a claim a line.
#[must_use]
pub fn table(control: &ControlModel, opinions: &[CheckerReport]) -> String {
    let mut text = format!("{:<14}", control.policy.name);
    let mut line = |head: &str, cells: Vec<String>| {
        let _ = write!(text, "\n  {head:<12}");
        cells.iter().for_each(|cell| {
            let _ = write!(text, " {cell:>9}");
        });
    };
    let each = |cell: &dyn Fn(&CheckerReport) -> String| opinions.iter().map(cell).collect::<Vec<_>>();
    line("", each(&|opinion| opinion.of.to_string()));
    line("states", each(&|opinion| opinion.states.map_or_else(|| "–".to_string(), |n| n.to_string())));
    line("phases", each(&|opinion| opinion.phases.len().to_string()));
    line("rows", each(&|opinion| opinion.rows.len().to_string()));
    for stated in &control.claims {
        let id = stated.claim.id;
        let head = stated.claim.finding.map_or_else(|| id.to_string(), |finding| format!("{id} {finding}"));
        line(&head, each(&|opinion| opinion.of_claim(id).word().to_string()));
    }
    text.push('\n');
    text
}

/// The names of the control states and rows that a checker is asked about.
fn coverage_names(control: &ControlModel) -> (Vec<&'static str>, Vec<&'static str>) {
    use orchestrion_model::export::ast::{Domain, Var};
    let names = |var| match control.domain(var) {
        Domain::OneOf(_, names) => names,
        Domain::Bool | Domain::Count(_) => Vec::new(),
    };
    let taken = names(Var::Row).into_iter().skip(1).collect();
    (names(Var::Phase), taken)
}

/// What a tool printed, or why it could not be run. How it exits is not looked at: each has its own idea of that.
fn printed(tool: &mut Command, folder: &Path) -> Result<String, String> {
    let output = tool
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", tool.get_program().display()))?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(out + &err)
}

/// The end of what a tool printed, which says what went wrong.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}
