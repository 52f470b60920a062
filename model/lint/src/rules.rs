//! The rules for every machine.

use super::Machine;

/// A rule, stated as a property of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintRule {
    /// The name.
    pub name: &'static str,
    /// The property.
    pub claim: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// When a violation is an error.
    severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// Always.
    Error,
    /// Unless the meaning of the edges was guessed.
    ErrorIfExplicit,
    /// Never: only a person who knows the machine can decide.
    Warning,
}

impl LintRule {
    /// Whether a violation is an error for this machine.
    #[must_use]
    pub fn is_failure(&self, machine: &Machine) -> bool {
        match self.severity {
            Severity::Error => true,
            Severity::ErrorIfExplicit => !machine.is_guessed,
            Severity::Warning => false,
        }
    }
}

const fn question(name: &'static str, weight: Severity, claim: &'static str, why: &'static str) -> LintRule {
    LintRule { name, claim, why, severity: weight }
}

pub(super) const UNREACHABLE_STATE: LintRule = question(
    "reached",
    Severity::Error,
    "Every state is reached from the start.",
    "what nothing leads to is never tried, or the edge to it was forgotten",
);
pub(super) const DEAD_END: LintRule = question(
    "leads-on",
    Severity::Error,
    "Every state that is no end leads on.",
    "a run that comes to a dead end stays there for ever, and nobody is told",
);
pub(super) const NO_PATH_TO_FINAL: LintRule = question(
    "ends",
    Severity::Error,
    "From every state an end can be reached.",
    "a run that cannot end keeps for ever what it holds, and what should follow its end never does",
);
pub(super) const AMBIGUOUS_EDGES: LintRule = question(
    "one-way",
    Severity::Error,
    "Whatever comes, at most one edge fits.",
    "two programs that follow the same machine would go different ways",
);
pub(super) const NO_ERROR_EDGE: LintRule = question(
    "no-answer",
    Severity::ErrorIfExplicit,
    "Every state that waits has an edge for an answer that does not come.",
    "calls fail, time out and answer nonsense; without an edge for that, the run waits for ever",
);
pub(super) const UNBOUNDED_LOOP: LintRule = question(
    "bounded",
    Severity::ErrorIfExplicit,
    "Every loop passes a limit.",
    "what may always be tried again may be tried for ever",
);
pub(super) const NO_DEFAULT_EDGE: LintRule = question(
    "otherwise",
    Severity::Warning,
    "Where edges have conditions, one is left for when none of them holds.",
    "unless the conditions leave nothing out, the run is stuck where none of them holds",
);
pub(super) const NO_RESTART: LintRule = question(
    "again",
    Severity::Warning,
    "Where a run ends, the next one can begin.",
    "a machine that is over takes no second request; somebody has to make a new one",
);
pub(super) const DUPLICATE_EDGE: LintRule = question(
    "once",
    Severity::Warning,
    "No edge is written twice.",
    "one of the two was meant to be another one",
);
pub(super) const SIMILAR_NAMES: LintRule = question(
    "names",
    Severity::Warning,
    "No state is named like another one.",
    "a slip in a name makes a state of its own",
);

/// The rules, in the order in which they are checked.
pub const LINT_RULES: [LintRule; 10] = [
    UNREACHABLE_STATE,
    DEAD_END,
    NO_PATH_TO_FINAL,
    AMBIGUOUS_EDGES,
    NO_ERROR_EDGE,
    UNBOUNDED_LOOP,
    NO_DEFAULT_EDGE,
    NO_RESTART,
    DUPLICATE_EDGE,
    SIMILAR_NAMES,
];
