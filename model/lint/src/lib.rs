//! Criticism of a state machine that somebody else made, by its graph alone: what it means is not known here.
//!
//! A [`Machine`] is flat; how a table or a drawing becomes one is its reader's business. Every [`Question`] is asked of
//! every machine. Where a reader had to guess, from the words of a label, what an edge is about, the answers that
//! rest on the guess are doubts and no failures.

mod check;
pub mod parse;
mod rules;

pub use check::lint;
pub use rules::{LINT_RULES, LintRule};

use std::fmt;

/// A state machine, flat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The states.
    pub states: Vec<State>,
    /// The edges, in the order in which they are written.
    pub edges: Vec<Edge>,
    /// Where it starts: places in [`Self::states`].
    pub starts: Vec<usize>,
    /// The triggers by which it is told that an answer does not come, where they are named.
    pub errors: Vec<String>,
    /// Whether [`Kind::Waits`], [`Edge::is_error`] and [`Edge::is_limited`] were guessed from the words of a drawing.
    pub is_guessed: bool,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// What goes on in it.
    pub kind: StateKind,
    /// Where it is named first.
    pub place: SourceLocation,
    /// What the reader knows of it that the graph does not say, as a sentence for whoever asks why.
    pub note: Option<String>,
}

/// What goes on in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// It leads on by itself.
    Automatic,
    /// It waits for something outside, which may never come.
    Waiting,
    /// All its edges are taken at once.
    Fork,
    /// Nothing runs: a run may stay here.
    Idle,
    /// The run is over.
    Final,
}

/// An edge from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts: a place in [`Machine::states`].
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What takes it; nothing if the state leads on by itself.
    pub trigger: Option<String>,
    /// What must hold.
    pub guard: Option<String>,
    /// Whether it is for an answer that does not come.
    pub is_error: bool,
    /// Whether it says how often something may happen.
    pub is_limited: bool,
    /// Where it is written.
    pub place: SourceLocation,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintResult {
    /// The question.
    pub question: LintRule,
    /// How many states or edges it was asked of. Of none: there was nothing to ask.
    pub asked: usize,
    /// What is wrong.
    pub findings: Vec<LintDiagnostic>,
    /// Whether what is wrong is a failure; otherwise it is a doubt, for somebody who knows the machine.
    pub is_failure: bool,
}

/// Something wrong with a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintDiagnostic {
    /// Where to look, the first place first.
    pub places: Vec<SourceLocation>,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests;
