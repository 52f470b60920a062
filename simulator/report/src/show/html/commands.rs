//! Commands to copy: fork the trace at a step, and compare the fork with it.
//!
//! The page has the templates once, because they would be half of a step. The script puts the number of a step and what can be set there
//! into them, when its details open.

use crate::text::{sanitize, shell_word};
use maud::{Markup, html};
use orchestrion_kernel::Input;

/// Returns the templates for a trace with this file name.
pub(super) fn templates(file: &str) -> Markup {
    // The name of the output is that of the file up to its first dot, as of the command.
    let fork = format!(".orchestrion/{}-fork-STEP.trace.ndjson", file.split('.').next().unwrap_or_default());
    let (file, fork) = (shell_word(file), shell_word(&fork));
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
