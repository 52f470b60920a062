//! Commands to copy at each step: fork the trace there, and compare the fork with it.

use super::super::step_view::StepView;
use orchestrion_kernel::Input;

/// Returns the commands of a step of a trace with this file name.
pub(super) fn commands(view: &StepView<'_>, file: &str) -> [String; 2] {
    let n = view.step.n;
    // The name of the output is that of the file up to its first dot, as of the command.
    let fork = format!(".orchestrion/{}-fork-{n}.trace.ndjson", file.split('.').next().unwrap_or_default());
    let (file, fork) = (quoted(file), quoted(&fork));
    let set = settable(&view.step.input);
    [format!("orchestrion fork {file} --step {n} --set {set}"), format!("orchestrion diff {file} {fork}")]
}

/// Returns what can be set at a step with this input, with a placeholder for its value.
const fn settable(input: &Input) -> &'static str {
    match input {
        Input::Reply { .. } => "call.reply=REPLY",
        Input::CallFailed { .. } => "call.error=KIND",
        Input::UserMessage { .. } => "message.text=TEXT",
        Input::Write(_) => "write=WRITE",
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::Step
        | Input::Cancel
        | Input::Network(_)
        | Input::Tick
        | Input::Resume => "policy.NAME=VALUE",
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
