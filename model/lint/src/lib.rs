//! Structural checks of a foreign state machine, by its graph alone.
//!
//! A [`Machine`] is flat. [`parse`] reads it from a YAML table or from Mermaid state diagrams. [`lint`] checks every
//! [`LintRule`]. Where the parser had to guess the meaning of an edge from its label, a result that depends on the
//! guess is a warning, not an error. So is a result that depends on the meaning of guards.

mod check;
mod dot;
pub mod parse;
mod path;
mod rules;

pub use check::lint;
pub use dot::{DOT_START, Drawn, dot, edge_label};
pub use path::shortest_path;
pub use rules::{LINT_RULES, LintRule};

use std::fmt;

/// A flat state machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The states.
    pub states: Vec<State>,
    /// The edges, in the order of the file.
    pub edges: Vec<Edge>,
    /// The initial states: positions in [`Self::states`].
    pub starts: Vec<usize>,
    /// The triggers that report a failed call, if they are named.
    pub errors: Vec<String>,
    /// Whether [`StateKind::Waiting`], [`Edge::is_error`] and [`Edge::is_limited`] were guessed from the words of a
    /// diagram.
    pub is_guessed: bool,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: StateKind,
    /// Its first occurrence.
    pub location: SourceLocation,
    /// Information that the graph does not express, as a sentence.
    pub note: Option<String>,
}

/// The kind of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// It continues on its own.
    Automatic,
    /// It waits for an external reply, which may not come.
    Waiting,
    /// All its edges are taken at once.
    Fork,
    /// Nothing runs: a run may stay here. Each edge needs a trigger: a state that one leaves without a trigger is not idle.
    Idle,
    /// The run is over.
    Final,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The source: a position in [`Machine::states`].
    pub from: usize,
    /// The target.
    pub to: usize,
    /// The trigger; `None` if the source continues on its own.
    pub trigger: Option<String>,
    /// The guard.
    pub guard: Option<String>,
    /// Whether it handles a failed call.
    pub is_error: bool,
    /// Whether a run can take it only so often. In a diagram: whether its label names a limit.
    pub is_limited: bool,
    /// Its location.
    pub location: SourceLocation,
}

/// A location in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
}

/// The result of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintResult {
    /// The rule.
    pub rule: LintRule,
    /// The number of states or edges that the rule applies to. With 0 it is vacuous.
    pub checked: usize,
    /// The diagnostics.
    pub diagnostics: Vec<LintDiagnostic>,
    /// Whether a diagnostic is an error; otherwise all are warnings.
    pub is_failure: bool,
}

/// A defect of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintDiagnostic {
    /// The locations, the most relevant first.
    pub locations: Vec<SourceLocation>,
    /// The defect, as a sentence.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Whether the graph shows only that there may be a defect: it depends on the meaning of guards. Such a diagnostic is a
    /// warning.
    pub is_doubt: bool,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests;
