//! Comparison of a recording with the run of its scenario, which repeats neither every time nor the keys of a network.

use super::PromoteError;
use crate::run::clear_public_keys;
use orchestrion_kernel::network::{NetworkEvent, NetworkInput};
use orchestrion_kernel::{Event, Input};
use orchestrion_trace::Step;
use orchestrion_trace::diff::is_equal_except_times;
use orchestrion_trace::replay::excerpts;
use std::borrow::Cow;

/// Compares the run with the recording. Returns a note if only events or refusals differ.
///
/// # Errors
/// [`PromoteError::Differs`] if an input differs.
pub(super) fn compare(file: &str, recorded: &[&Step], run: &[Step]) -> Result<Option<String>, PromoteError> {
    let mut run = run.iter();
    let mut first_difference = None;
    for recorded in recorded {
        let recorded = without_public_keys(recorded);
        let step = run.next();
        match step {
            Some(step) if step.input == recorded.input => {
                if !is_equal_except_times(&step.events, &recorded.events)
                    || step.refused.is_some() != recorded.refused.is_some()
                {
                    first_difference.get_or_insert(recorded.n);
                }
            }
            _ => {
                let text = |input: &Input| {
                    serde_json::to_string(input).unwrap_or_else(|_| input.trigger().to_string())
                };
                let found = step.map_or_else(|| "no step".to_string(), |step| text(&step.input));
                let (recorded_text, found) = excerpts(&text(&recorded.input), &found);
                return Err(PromoteError::Differs {
                    file: file.to_string(),
                    n: recorded.n,
                    recorded: recorded_text,
                    found,
                });
            }
        }
    }
    Ok(first_difference.map(|n| {
        format!(
            "From step {n} on, the run decides differently: this kernel, the policy or the times differ; the golden \
             trace contains its decisions."
        )
    }))
}

/// Whether the step creates a network whose nodes have public keys.
pub(super) fn has_public_keys(step: &Step) -> bool {
    let Input::Network(input) = &step.input else { return false };
    match &**input {
        NetworkInput::Create { nodes, .. } => nodes.iter().any(|node| !node.public_key.is_empty()),
        NetworkInput::Join { .. }
        | NetworkInput::Leave { .. }
        | NetworkInput::SetAvailable { .. }
        | NetworkInput::ReportLoad { .. }
        | NetworkInput::RotateKey { .. }
        | NetworkInput::Signal { .. }
        | NetworkInput::ResolveThreat { .. }
        | NetworkInput::Tick
        | NetworkInput::Handoff(_) => false,
    }
}

/// Returns the step as a run repeats it: without the public keys of a new network, in its input and in its event.
fn without_public_keys(step: &Step) -> Cow<'_, Step> {
    if !has_public_keys(step) {
        return Cow::Borrowed(step);
    }
    let mut step = step.clone();
    if let Input::Network(input) = &mut step.input {
        clear_public_keys(input);
    }
    for event in &mut step.events {
        if let Event::Network(NetworkEvent::Changed(input)) = event {
            clear_public_keys(input);
        }
    }
    Cow::Owned(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::{Events, UserId};

    #[test]
    fn long_inputs_are_shortened() {
        let step = |text: &str| Step {
            n: 1,
            at_ms: 0,
            note: None,
            idempotency: None,
            possible_loss: None,
            input: Input::user_message(UserId::new("ada"), text.repeat(5_000).as_str().into()),
            events: Events::new(),
            refused: None,
            context: None,
            context_digest: None,
        };
        let error = compare("some.ndjson", &[&step("a")], &[step("b")]).unwrap_err();
        let PromoteError::Differs { n: 1, recorded, found, .. } = error else { panic!("{error}") };
        assert!(recorded.contains("aaa") && found.contains("bbb"), "{recorded} {found}");
        assert!(recorded.chars().count() < 200 && found.chars().count() < 200, "{recorded} {found}");
    }
}
