//! What is said beside answers: what it means, where it may stand, and how it reads back.

use super::script::SCENE;
use super::{HEAD, catalogue, parse};
use crate::script::ScriptedReply;
use crate::{ScenarioFile, parse_reply, parse_write, write};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Failure, Operation, Report, Role};
use orchestrion_kernel::situation::{Mode, ToolOutcome};
use orchestrion_runtime::Reply;

const CRITIC: Operation = Operation::Argue(Role::Critic);

const SAID: &str = "modules:
  critic:
    - pro: {confidence: 0.9}
      summary_update: {goal: Order paper, insights: none, progress: \" \"}
      action:
        iteration: 1
        timestamp: \"2026-11-21T19:00:00Z\"
        mode: deep
        thinking: Paper is short.
        planning: Look.
        reflection: \"\"
        approach: from above
        tool_calls:
          - {name: look, args: {lamp: left, packs: 2, all: [true, null]}, result: dark, outcome: failure}
    - {fail: timeout}
  auditor: {delivered, summary_update: {progress: audited}, after: 2s}
  summarizer: {summary: {says: much}, summary_update: {progress: summed up}}
";

fn replied(text: &str, ask: Operation) -> Reply {
    let mut script = parse(&format!("{HEAD}{text}")).unwrap().script;
    match SCENE.ask(&mut script, ask).unwrap().answer {
        ScriptedReply::Reply(reply) => reply,
        ScriptedReply::Fail(failure) => panic!("{failure}"),
    }
}

fn says(reply: &Reply, key: &str) -> Option<String> {
    Some(reply.summary_update.as_ref()?.0.get(key)?.to_string())
}

#[test]
fn what_stands_beside_an_answer_is_said_with_it() {
    let reply = replied(SAID, CRITIC);
    assert!(matches!(reply.report, Report::Argument { .. }));
    assert_eq!(says(&reply, "goal").as_deref(), Some("Order paper"));
    assert_eq!(says(&reply, "insights").as_deref(), Some("none"));
    let action = reply.action.unwrap();
    assert_eq!((action.iteration, action.mode), (1, Mode::Deep));
    let call = &action.tool_calls[0];
    assert_eq!((call.name.as_str(), call.outcome), ("look", ToolOutcome::Failure));
    let args: Vec<_> = call.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(args, ["all=[true,null]", "lamp=left", "packs=2"]);
}

#[test]
fn a_word_has_it_beside_it_too_and_a_summarizer_says_both() {
    assert_eq!(says(&replied(SAID, Operation::DeliverAudit), "progress").as_deref(), Some("audited"));
    let reply = replied(SAID, Operation::Summarize);
    assert!(matches!(&reply.report, Report::Summary { text, .. } if text.as_str() == "much"));
    assert_eq!(says(&reply, "progress").as_deref(), Some("summed up"));
}

#[test]
fn a_file_that_says_it_reads_back_the_same() {
    let file = ScenarioFile::parse("case.yaml", &format!("{HEAD}{SAID}")).unwrap();
    let text = write(&file).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &text).as_ref().ok(), Some(&file), "{text}");
}

#[test]
fn mistakes_beside_answers() {
    let record =
        "iteration: 1, timestamp: t, mode: fast, thinking: x, planning: x, reflection: x, approach: x";
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  critic: {fail: error, summary_update: {goal: x}}\n",
            "modules:\n  critic: {summary_update: {goal: x}}\n",
            "modules:\n  critic: {pro: {confidence: 0.9}, summary_update: {goal: 3}}\n",
            "modules:\n  critic: {pro: {confidence: 0.9}, summary_update: order paper}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{answer: {fail: error}}]}, summary_update: {goal: x}}\n",
            &format!("modules:\n  critic: {{pro: {{confidence: 0.9}}, action: {{{record}}}}}\n"),
            &format!(
                "modules:\n  critic: {{pro: {{confidence: 0.9}}, action: {{{record}, tool_calls: [], synthesis: x}}}}\n"
            ),
            &format!(
                "modules:\n  critic: {{pro: {{confidence: 0.9}}, action: {{{record}, tool_calls: [{{name: x, args: {{}}, result: x, outcome: lost}}]}}}}\n"
            ),
        ]
    ));
}

#[test]
fn a_host_says_it_in_the_same_words() {
    let said = r#"{"pro": {"confidence": 0.9}, "summary_update": {"goal": "Order paper"}}"#;
    assert_eq!(says(&parse_reply(CRITIC, said).unwrap(), "goal").as_deref(), Some("Order paper"));
    assert_eq!(parse_reply(CRITIC, said).unwrap().action, None);
    let cases = [
        (r#"{"fail": "error", "summary_update": {"goal": "x"}}"#, "brings no answer"),
        (r#"{"pro": {"confidence": 0.9}, "after": "5s"}"#, "`pro` and `after`"),
        (r#"{"pro": {"confidence": 0.9}, "action": {"insights": "x"}}"#, "insights"),
        (r#"{"draw": {}}"#, "expected one of pro, con, fail"),
        ("[]", "one word"),
    ];
    for (text, why) in cases {
        let no = parse_reply(CRITIC, text).unwrap_err();
        assert_eq!(no.failure, Failure::Malformed, "{text}");
        let told = no.reason.unwrap();
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn a_host_writes_what_a_request_of_a_scenario_writes() {
    let signal = parse_write(r#"{"signal": {"key": "rain", "says": "heavy"}}"#).unwrap();
    assert!(matches!(signal, Write::Environment { key, .. } if key.as_str() == "rain"));
    let why = parse_write(r#"{"signal": {"key": "rain"}}"#).unwrap_err();
    assert!(why.contains("says"), "{why}");
    assert!(parse_write(r#"{"rumour": {"key": "rain"}}"#).unwrap_err().contains("signal"));
}
