//! What a module said, in its own words: answers in the form that scenario files have, as JSON or YAML.

use super::reply_extras::ReplyFile;
use super::to_kernel::{
    approver, auditor, classifier, diagnosis, identity, memory, planner, reviser, store, summarizer, task,
    voice,
};
use super::writes::WriteFile;
use crate::script;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Operation, Role};
use orchestrion_runtime::{CallError, CallResult};
use orchestrion_yaml::{LabeledError, ReadError, Source};
use serde::de::DeserializeOwned;

/// Reads what a module said to a question. This is the border at which texts become reports: an answer has the form that
/// it has in a scenario file, as in `{"pro": {"confidence": 0.9, "says": "why not"}}`; a model may put it into a fenced
/// block, with other words around it. Beside the answer may stand what it says of the situation, under `summary_update`, and what
/// it thought and did, under `action`.
///
/// # Errors
/// `malformed`, with the place and what was expected; or the failure that the module itself tells with `fail`.
pub fn parse_reply(ask: Operation, text: &str) -> CallResult {
    let text = unfenced(text);
    if text.is_empty() {
        return Err(CallError::malformed(format!("nothing was said; expected {}", ask.expected_reply())));
    }
    match read(ask, text) {
        Ok(script::ScriptedReply::Reply(reply)) => Ok(reply),
        Ok(script::ScriptedReply::Fail(failure)) => Err(failure.into()),
        Err(error) => Err(CallError::malformed(format!("{error}; {}", error.help_text()))),
    }
}

fn read(ask: Operation, text: &str) -> Result<script::ScriptedReply, ReadError> {
    let source = Source::from_text("the answer", text)?;
    match ask {
        Operation::VerifyIdentity => meant(&source, identity),
        Operation::LoadContext => meant(&source, memory),
        Operation::Summarize => meant(&source, summarizer),
        Operation::Classify => meant(&source, classifier),
        Operation::DraftPlan => meant(&source, planner),
        Operation::Argue(Role::Solution | Role::Optimizer) => meant(&source, reviser),
        Operation::Argue(_) | Operation::ReviewRevision => meant(&source, voice),
        Operation::Approve => meant(&source, approver),
        Operation::Diagnose => meant(&source, diagnosis),
        Operation::RunTask { .. } | Operation::UndoTask { .. } => meant(&source, task),
        Operation::StoreMemory { .. } => meant(&source, store),
        Operation::DeliverAudit => meant(&source, auditor),
    }
}

/// Reads what a host writes by name, in the form that a request of a scenario has it.
///
/// # Errors
/// The place, and what was expected, as a sentence.
pub fn parse_write(text: &str) -> Result<Write, String> {
    let read = || Ok(Source::from_text("the write", text)?.parse::<WriteFile>()?.means());
    read().map_err(|error: ReadError| format!("{error}; {}", error.help_text()))
}

fn meant<T: DeserializeOwned>(
    source: &Source,
    meaning: impl Fn(&T) -> Result<script::ScriptedReply, LabeledError>,
) -> Result<script::ScriptedReply, ReadError> {
    source.parse::<ReplyFile<T>>()?.means(meaning).map_err(|fault| ReadError::in_source(source, fault))
}

/// What stands in the first fenced block, or else everything.
fn unfenced(text: &str) -> &str {
    let Some((_, fenced)) = text.split_once("```") else { return text.trim() };
    let Some((_, block)) = fenced.split_once('\n') else { return text.trim() };
    block.split_once("```").map_or(block, |(block, _)| block).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::module::{Failure, Report, Stance};
    use orchestrion_kernel::plan::EffectKind;

    fn report(ask: Operation, text: &str) -> Result<Report, CallError> {
        parse_reply(ask, text).map(|reply| reply.report)
    }

    #[test]
    fn answers_are_read_as_scenario_files_have_them() {
        let critic = Operation::Argue(Role::Critic);
        let said = "{\"con\": {\"confidence\": 0.8, \"says\": \"too dear\"}}";
        for text in [
            said,
            &format!("Well:\n```json\n{said}\n```\nThat is all."),
            "con: {confidence: 0.80, says: too dear}",
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
    fn what_is_no_answer_is_malformed_and_says_why() {
        let critic = Operation::Argue(Role::Critic);
        let cases = [
            (critic, "I would rather not.", "expected"),
            (critic, "{\"pro\": {\"confidence\": 1.2}}", "1.2"),
            (critic, "{\"pro\": {\"confidence\": 0.9, \"plan\": [{\"task\": 1, \"do\": \"x\"}]}}", "plan"),
            (Operation::DraftPlan, "{\"plan\": []}", "at least one task"),
            (Operation::DraftPlan, "{\"plan\": [{\"task\": 1}]}", "do"),
            (critic, "", "expected"),
        ];
        for (ask, text, why) in cases {
            let no = parse_reply(ask, text).unwrap_err();
            assert_eq!(no.failure, Failure::Malformed, "{text}");
            let told = no.reason.unwrap();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
