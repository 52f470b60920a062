//! The rules of `run`, `replay` and `diff`. Claims and the rules of `lint` have their own ids.

use super::Rule;

/// A file is not valid, or cannot be opened.
pub(in crate::cli) const INVALID_FILE: Rule = Rule::new("invalid-file", "a file can be read and is valid");
/// A trace ends before its end, or a line of it is damaged.
pub(in crate::cli) const DAMAGED_TRACE: Rule =
    Rule::new("damaged-trace", "a trace is complete, and its chain fits its lines");
/// Erased texts hide a part of the trace.
pub(in crate::cli) const ERASED_TEXT: Rule =
    Rule::new("erased-text", "a step is compared with all its texts");
/// The policy changed.
pub(in crate::cli) const CHANGED_POLICY: Rule =
    Rule::new("changed-policy", "a golden trace has the policy of its scenario");
/// Another part of the header changed.
pub(in crate::cli) const CHANGED_HEADER: Rule =
    Rule::new("changed-header", "two traces are of the same kernel, table, conversation and scenario");
/// An input changed.
pub(in crate::cli) const CHANGED_INPUT: Rule =
    Rule::new("changed-input", "a run has the inputs of its golden trace");
/// A decision changed.
pub(in crate::cli) const CHANGED_DECISION: Rule =
    Rule::new("changed-decision", "the same input is decided as recorded");
/// Only a text changed.
pub(in crate::cli) const CHANGED_TEXT: Rule =
    Rule::new("changed-text", "the same input gives the recorded texts");
/// A scenario has no golden trace.
pub(in crate::cli) const MISSING_GOLDEN: Rule =
    Rule::new("missing-golden", "a scenario has a golden trace, or `golden: false`");
/// A run ended in a state that refuses every input.
pub(in crate::cli) const HALTED: Rule = Rule::new("halted", "a scenario runs to its end");
/// A scripted reply or event was not used.
pub(in crate::cli) const UNUSED_SCRIPT: Rule =
    Rule::new("unused-script", "every scripted reply and event is used");
/// The run is not what the scenario expects, or a write was not accepted as scripted.
pub(in crate::cli) const UNMET_EXPECTATION: Rule =
    Rule::new("unmet-expectation", "a run is what its scenario expects");
/// A model is too large for the lint of claims.
pub(in crate::cli) const INCOMPLETE_LINT: Rule =
    Rule::new("incomplete-lint", "claims are linted on every model");
/// A waiver is past its last day.
pub(in crate::cli) const EXPIRED_WAIVER: Rule =
    Rule::new("expired-waiver", "a waiver is before its last day");
/// A context is not optimal, or was not solved in time.
pub(in crate::cli) const CONTEXT: Rule =
    Rule::new("context", "a context has the utility and cost of the 0-1 program");
