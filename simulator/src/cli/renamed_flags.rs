//! Hints for renamed flags.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Old flag, the command that had it (all commands where empty), and its replacement.
const RENAMED: [(&str, &str, &str); 12] = [
    ("--out", "", "--out-dir"),
    ("--states", "check", "--max-states"),
    ("--memory", "check", "--max-memory"),
    ("--time", "check", "--timeout"),
    ("--machine", "check", "the command `orchestrion lint FILE`"),
    ("--nodes", "context", "--max-nodes"),
    ("--points", "context", "--max-points"),
    ("--as", "promote", "--from"),
    ("--to", "promote", "--scenario-dir"),
    ("--at", "show", "--step"),
    ("--of", "export", "--schema"),
    ("--to", "export", "--output"),
];

/// Returns the hint for a usage error, if it is about a renamed flag of the command in `arguments`.
pub(super) fn hint(error: &clap::Error, arguments: impl Iterator<Item = String>) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let arguments: Vec<String> = arguments.collect();
    let (old, _, new) = RENAMED.iter().find(|(old, command, _)| {
        old == flag && (command.is_empty() || arguments.iter().any(|argument| argument == command))
    })?;
    Some(format!("note: {old} was renamed; use {new}"))
}
