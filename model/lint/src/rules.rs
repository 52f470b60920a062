//! The lint rules.

use super::Machine;

/// A rule: a property that a machine must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintRule {
    /// The name.
    pub name: &'static str,
    /// The property as a sentence.
    pub statement: &'static str,
    /// The consequence of a violation.
    pub reason: &'static str,
    /// When a violation is an error.
    severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// Always.
    Error,
    /// Unless the meaning of the edges was guessed.
    ErrorIfExplicit,
    /// Never: the author of the machine decides.
    Warning,
}

impl LintRule {
    /// Returns whether a violation is an error for this machine.
    #[must_use]
    pub fn is_failure(&self, machine: &Machine) -> bool {
        match self.severity {
            Severity::Error => true,
            Severity::ErrorIfExplicit => !machine.is_guessed,
            Severity::Warning => false,
        }
    }
}

const fn new_rule(
    name: &'static str,
    severity: Severity,
    statement: &'static str,
    reason: &'static str,
) -> LintRule {
    LintRule { name, statement, reason, severity }
}

pub(super) const UNREACHABLE_STATE: LintRule = new_rule(
    "unreachable-state",
    Severity::Error,
    "Every state is reachable from the initial state.",
    "a run never enters the state; an edge may be missing",
);
pub(super) const DEAD_END: LintRule = new_rule(
    "dead-end",
    Severity::Error,
    "Every state that is neither final nor idle has an outgoing edge.",
    "a run that enters a dead end never leaves it and reports nothing",
);
pub(super) const NO_PATH_TO_FINAL: LintRule = new_rule(
    "no-path-to-final",
    Severity::Error,
    "Every state has a path to a final or idle state.",
    "a run that cannot end never releases its resources",
);
pub(super) const AMBIGUOUS_EDGES: LintRule = new_rule(
    "ambiguous-edges",
    Severity::Error,
    "Edges from one state with the same trigger have the same target, or guards that exclude each other.",
    "two implementations of the machine would choose different edges",
);
pub(super) const NO_ERROR_EDGE: LintRule = new_rule(
    "no-error-edge",
    Severity::ErrorIfExplicit,
    "Every waiting state has an edge for a failed call.",
    "calls fail and time out; without an edge for the failure, the run waits forever",
);
pub(super) const UNBOUNDED_LOOP: LintRule = new_rule(
    "unbounded-loop",
    Severity::ErrorIfExplicit,
    "Every loop has a limit.",
    "a loop without a limit may repeat forever",
);
pub(super) const NO_DEFAULT_EDGE: LintRule = new_rule(
    "no-default-edge",
    Severity::Warning,
    "Guarded edges have a default edge without a guard.",
    "if no guard holds, the run cannot continue",
);
pub(super) const NO_RESTART: LintRule = new_rule(
    "no-restart",
    Severity::Warning,
    "A final state has a path to the initial state.",
    "a finished machine accepts no second request",
);
pub(super) const DUPLICATE_EDGE: LintRule = new_rule(
    "duplicate-edge",
    Severity::Warning,
    "No edge occurs twice.",
    "one of the two edges is probably a mistake",
);
pub(super) const SIMILAR_NAMES: LintRule = new_rule(
    "similar-names",
    Severity::Warning,
    "No two states have similar names.",
    "a typo in a name creates a new state",
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
