//! Commands to copy: fork the trace at a step, and compare the fork with it.
//!
//! The page has the templates once, because they would be half of a step. The script puts the number of a step and what can be set there
//! into them, when its details open.

use crate::text::sanitize;
use maud::{Markup, html};
use orchestrion_kernel::Input;

/// Returns the templates for a trace with this file name.
pub(super) fn templates(file: &str) -> Markup {
    // The name of the output is that of the file up to its first dot, as of the command.
    let fork = format!(".orchestrion/{}-fork-STEP.trace.ndjson", file.split('.').next().unwrap_or_default());
    let (file, fork) = (quoted(file), quoted(&fork));
    html! {
        div.commands {
            p { code { "orchestrion fork " (sanitize(&file)) " --step STEP --set KEY=VALUE" } }
            p { code { "orchestrion diff " (sanitize(&file)) " " (sanitize(&fork)) } }
        }
    }
}

/// Returns the class of what can be set at a step with this input, after a space; none for a reply, as most steps are. It is a letter, as a page has
/// thousands of steps.
pub(super) const fn settable(input: &Input) -> &'static str {
    match input {
        Input::Reply { .. } => "",
        Input::CallFailed { .. } => " f",
        Input::UserMessage { .. } => " m",
        Input::Write(_) => " w",
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::Step
        | Input::Cancel
        | Input::Network(_)
        | Input::Tick
        | Input::Resume => " p",
    }
}

/// Returns a file name quoted for a shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_for_shells() {
        assert_eq!(quoted("a-b.ndjson"), "a-b.ndjson");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
    }
}
