//! Tests of summary updates and action records beside replies, and of hosts' replies and writes.

use super::script::SCENE;
use super::{HEAD, parse, render_errors};
use crate::script::ScriptedReply;
use crate::{ScenarioFile, parse_reply, parse_write, write};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Failure, Operation, Report, Role};
use orchestrion_kernel::situation::{Mode, ToolOutcome};
use orchestrion_runtime::Reply;

const CRITIC: Operation = Operation::Argue(Role::Critic);

const EXTRAS: &str = "modules:
  critic:
    - reply: {pro: {confidence: 0.9}}
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
  auditor: {reply: delivered, summary_update: {progress: audited}, after: 2s}
  summarizer: {reply: {summary: {text: much}}, summary_update: {progress: summed up}}
";

fn reply(text: &str, operation: Operation) -> Reply {
    let mut script = parse(&format!("{HEAD}{text}")).unwrap().script;
    match SCENE.call(&mut script, operation).unwrap().reply {
        ScriptedReply::Reply(reply) => reply,
        ScriptedReply::Fail(failure) => panic!("{failure}"),
    }
}

fn update(reply: &Reply, key: &str) -> Option<String> {
    Some(reply.summary_update.as_ref()?.0.get(key)?.to_string())
}

#[test]
fn extras_are_part_of_the_reply() {
    let reply = reply(EXTRAS, CRITIC);
    assert!(matches!(reply.report, Report::Argument { .. }));
    assert_eq!(update(&reply, "goal").as_deref(), Some("Order paper"));
    assert_eq!(update(&reply, "insights").as_deref(), Some("none"));
    let action = reply.action.unwrap();
    assert_eq!((action.iteration.get(), action.mode), (1, Mode::Deep));
    assert_eq!(action.timestamp.to_string(), "2026-11-21T19:00:00Z");
    let call = &action.tool_calls[0];
    assert_eq!((call.name.as_str(), call.outcome), ("look", ToolOutcome::Failure));
    let args: Vec<_> = call.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(args, ["all=[true,null]", "lamp=left", "packs=2"]);
}

#[test]
fn word_and_summary_accept_extras() {
    assert_eq!(update(&reply(EXTRAS, Operation::DeliverAudit), "progress").as_deref(), Some("audited"));
    let reply = reply(EXTRAS, Operation::Summarize);
    assert!(matches!(&reply.report, Report::Summary { text, .. } if text.as_str() == "much"));
    assert_eq!(update(&reply, "progress").as_deref(), Some("summed up"));
}

#[test]
fn file_with_extras_round_trips() {
    let file = ScenarioFile::parse("case.yaml", &format!("{HEAD}{EXTRAS}")).unwrap();
    let text = write(&file).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &text).as_ref().ok(), Some(&file), "{text}");
}

#[test]
fn invalid_extras_are_reported() {
    let record = "iteration: 1, timestamp: 2026-11-21T19:00:00Z, mode: fast, thinking: x, planning: x, reflection: x, approach: x";
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  critic: {reply: {fail: error}, summary_update: {goal: x}}\n",
            "modules:\n  critic: {summary_update: {goal: x}}\n",
            "modules:\n  critic: {reply: {pro: {confidence: 0.9}}, summary_update: {goal: 3}}\n",
            "modules:\n  critic: {reply: {pro: {confidence: 0.9}}, summary_update: order paper}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{reply: {fail: error}}]}, summary_update: {goal: x}}\n",
            &format!("modules:\n  critic: {{reply: {{pro: {{confidence: 0.9}}}}, action: {{{record}}}}}\n"),
            &format!(
                "modules:\n  critic: {{reply: {{pro: {{confidence: 0.9}}}}, action: {{{record}, tool_calls: [], synthesis: x}}}}\n"
            ),
            &format!(
                "modules:\n  critic: {{reply: {{pro: {{confidence: 0.9}}}}, action: {{{record}, tool_calls: [{{name: x, args: {{}}, result: x, outcome: lost}}]}}}}\n"
            ),
            &EXTRAS.replace("iteration: 1", "iteration: 0"),
            &EXTRAS.replace("2026-11-21T19:00:00Z", "yesterday"),
        ]
    ));
}

#[test]
fn host_reply_has_the_same_form() {
    let said = r#"{"reply": {"pro": {"confidence": 0.9}}, "summary_update": {"goal": "Order paper"}}"#;
    assert_eq!(update(&parse_reply(CRITIC, said).unwrap(), "goal").as_deref(), Some("Order paper"));
    assert_eq!(parse_reply(CRITIC, said).unwrap().action, None);
    let cases = [
        (r#"{"reply": {"fail": "error"}, "summary_update": {"goal": "x"}}"#, "a failed call has no reply"),
        (r#"{"pro": {"confidence": 0.9}, "after": "5s"}"#, "`pro` and `after`"),
        (r#"{"reply": {"pro": {"confidence": 0.9}}, "after": "5s"}"#, "expected no delay"),
        (r#"{"reply": {"pro": {"confidence": 0.9}}, "action": {"insights": "x"}}"#, "insights"),
        (r#"{"replay": {}}"#, "expected one of pro, con, fail"),
        ("[]", "expected one reply, found a list"),
    ];
    for (text, why) in cases {
        let error = parse_reply(CRITIC, text).unwrap_err();
        assert_eq!(error.failure, Failure::Malformed, "{text}");
        let reason = error.reason.unwrap();
        assert!(reason.contains(why), "{text}: {reason}");
    }
}

/// Python and JavaScript write parts of a millisecond and other offsets.
#[test]
fn record_time_is_converted_to_utc_milliseconds() {
    let time = |text: &str| {
        let extras = EXTRAS.replace("2026-11-21T19:00:00Z", text);
        reply(&extras, CRITIC).action.unwrap().timestamp.to_string()
    };
    assert_eq!(time("2026-11-21T19:00:00.123456+00:00"), "2026-11-21T19:00:00.123Z");
    assert_eq!(time("2026-11-21T20:30:00+01:30"), "2026-11-21T19:00:00Z");
}

#[test]
fn host_write_has_the_same_form() {
    let signal = parse_write(r#"{"signal": {"key": "rain", "text": "heavy"}}"#).unwrap();
    assert!(matches!(signal, Write::Environment { key, .. } if key.as_str() == "rain"));
    let why = parse_write(r#"{"signal": {"key": "rain"}}"#).unwrap_err();
    assert!(why.contains("text"), "{why}");
    assert!(parse_write(r#"{"rumour": {"key": "rain"}}"#).unwrap_err().contains("signal"));
}
