//! Keys and values of earlier file formats, for the help of errors.

/// The keys and values of format 1, each with its name in format 2.
const RENAMED: &[(&str, &str)] = &[
    // Scenario files.
    ("about", "description"),
    ("answer", "reply"),
    ("at", "established_at"),
    ("by", "source"),
    ("classified", "classification"),
    ("detected", "detected_rule"),
    ("draw", "random"),
    ("each", "default"),
    ("from", "choices"),
    ("held", "stored"),
    ("least", "min"),
    ("limits", "type"),
    ("most", "max"),
    ("repaired", "repair"),
    ("reread", "review"),
    ("rests_on", "depends_on"),
    ("says", "text"),
    ("shown", "context"),
    ("when", "phase"),
    // Policy files.
    ("budget", "budget_tokens"),
    ("reserved", "reserved_tokens"),
    ("views", "module_overrides"),
    // Machine files.
    ("ends", "final"),
    ("rests", "idle"),
    ("waits", "waiting"),
    ("works", "automatic"),
];

/// Returns the new name of a key or value of format 1, if it is one of these known names.
pub(crate) fn new_name(old: &str, known: &[&'static str]) -> Option<&'static str> {
    RENAMED.iter().find(|(renamed, new)| *renamed == old && known.contains(new)).map(|(_, new)| *new)
}
