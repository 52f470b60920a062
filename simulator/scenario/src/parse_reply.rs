//! Parses a module's reply and a host's write, as JSON or YAML in the form of scenario files.

use crate::script::{ScriptKey, ScriptedReply};
use crate::writes::WriteFile;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::Operation;
use orchestrion_runtime::{CallError, CallResult};
use orchestrion_yaml::{ReadError, Source};

/// Parses a module's reply to an operation. At this boundary text becomes a report.
///
/// The reply has the form of a scenario file, as in `{"pro": {"confidence": 0.9, "text": "why not"}}`. A fenced block
/// inside other text is accepted. `{"reply": …, "summary_update": …, "action": …}` adds a summary update and an action
/// record (002).
///
/// # Errors
/// `malformed`, with the place and what was expected; or the failure that the module reports with `fail`.
pub fn parse_reply(operation: Operation, text: &str) -> CallResult {
    let text = unfenced(text);
    if text.is_empty() {
        return Err(CallError::malformed(format!("empty reply: expected {}", operation.expected_reply())));
    }
    // The name of an additional debater does not change the form of its reply.
    let read =
        || ScriptKey::from_operation(operation, &[]).parse_reply(&Source::from_text("the reply", text)?);
    match read() {
        Ok(ScriptedReply::Reply(reply)) => Ok(reply),
        Ok(ScriptedReply::Fail(failure)) => Err(failure.into()),
        Err(error) => Err(CallError::malformed(format!("{error}; {}", error.help_text()))),
    }
}

/// Parses a host's write, in the form of a request of a scenario.
///
/// # Errors
/// The place and what was expected, as a sentence.
pub fn parse_write(text: &str) -> Result<Write, String> {
    let read = || {
        let source = Source::from_text("the write", text)?;
        source.parse::<WriteFile>()?.to_kernel().map_err(|error| ReadError::in_source(&source, error))
    };
    read().map_err(|error: ReadError| format!("{error}; {}", error.help_text()))
}

/// Returns the content of the first fenced block, or the whole text.
fn unfenced(text: &str) -> &str {
    let Some((_, fenced)) = text.split_once("```") else { return text.trim() };
    let Some((_, block)) = fenced.split_once('\n') else { return text.trim() };
    block.split_once("```").map_or(block, |(block, _)| block).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::module::{Failure, Report, Role, Stance};
    use orchestrion_kernel::plan::EffectKind;

    fn report(operation: Operation, text: &str) -> Result<Report, CallError> {
        parse_reply(operation, text).map(|reply| reply.report)
    }

    #[test]
    fn reply_is_parsed_as_in_a_scenario() {
        let critic = Operation::Argue(Role::Critic);
        let reply = "{\"con\": {\"confidence\": 0.8, \"text\": \"too dear\"}}";
        for text in [
            reply,
            &format!("Well:\n```json\n{reply}\n```\nThat is all."),
            "con: {confidence: 0.80, text: too dear}",
            "{\"con\": {\"confidence\": 0.80000000000000004, \"text\": \"too dear\"}}",
            "{\"con\": {\"confidence\": 8e-1, \"text\": \"too dear\"}}",
        ] {
            let Ok(Report::Argument { argument, text, plan: None }) = report(critic, text) else {
                panic!("{text}")
            };
            assert_eq!((argument.stance, argument.confidence.millionths()), (Stance::Con, 800_000));
            assert_eq!(text.as_str(), "too dear");
        }
        let plan = report(
            Operation::DraftPlan,
            "{\"plan\": [{\"task\": 1, \"do\": \"order\", \"undo\": \"cancel\"}]}",
        );
        let Ok(Report::Plan(plan)) = plan else { panic!("{plan:?}") };
        assert_eq!(plan.tasks()[0].effect.kind(), EffectKind::Undoable);
        assert_eq!(report(Operation::DeliverAudit, "\"delivered\""), Ok(Report::Delivered));
        assert_eq!(parse_reply(critic, "{\"fail\": \"no_candidates\"}"), Err(Failure::NoCandidates.into()));
    }

    #[test]
    fn invalid_reply_is_malformed_with_a_reason() {
        let critic = Operation::Argue(Role::Critic);
        let cases = [
            (critic, "I would rather not.", "expected"),
            (critic, "{\"pro\": {\"confidence\": 1.2}}", "1.2"),
            (critic, "{\"pro\": {\"confidence\": 0.9, \"plan\": [{\"task\": 1, \"do\": \"x\"}]}}", "plan"),
            (Operation::DraftPlan, "{\"plan\": []}", "at least one task"),
            (Operation::DraftPlan, "{\"plan\": [{\"task\": 1}]}", "do"),
            (critic, "", "expected"),
        ];
        for (operation, text, expected) in cases {
            let error = parse_reply(operation, text).unwrap_err();
            assert_eq!(error.failure, Failure::Malformed, "{text}");
            let reason = error.reason.unwrap();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
