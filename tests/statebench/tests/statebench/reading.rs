//! Reading of lines: invalid lines and parts are reported with their location, and the rest is read.

use crate::support::{line, query};
use orchestrion_statebench::diagnostic::{Diagnostic, DiagnosticKind};
use orchestrion_statebench::read::{Case, LINE_BYTES_MAX, Reader};
use orchestrion_statebench::timeline::Event;
use serde_json::{Value, json};
use std::io::Read;

fn read(bytes: &[u8]) -> Vec<Result<Case, Diagnostic>> {
    Reader::new(bytes, "some.jsonl").collect()
}

/// The only case of a text.
fn case(text: &str) -> Case {
    read(text.as_bytes()).remove(0).unwrap()
}

/// The messages on invalid lines.
fn messages(bytes: &[u8]) -> Vec<String> {
    read(bytes).into_iter().filter_map(|case| Some(case.err()?.to_string())).collect()
}

#[test]
fn line_is_split_into_timeline_and_ground_truth() {
    let turn = json!({"ts": "2025-01-01T10:00:00", "type": "conversation_turn", "speaker": "user",
        "text": "Hello"});
    let case = case(&line(&json!([turn, query("What?", &["red"], &["green"])])));
    assert_eq!((case.line, case.timeline.events.len(), case.diagnostics.len()), (1, 2, 0));
    assert!(!format!("{:?}", case.timeline).contains("green"), "the timeline has no ground truth");
    assert_eq!(case.ground_truth.judge(["all green"])[0].resurrected, ["green"]);
}

#[test]
fn reading_continues_after_invalid_lines() {
    let good = line(&json!([]));
    let bytes = [good.as_bytes(), b"{\"id\":\n\n\"\xff\"\n", good.as_bytes()].concat();
    let cases = read(&bytes);
    assert_eq!(cases.iter().filter(|case| case.is_ok()).count(), 2);
    assert_eq!(cases.last().unwrap().as_ref().unwrap().line, 5, "empty lines count");
    let messages = messages(&bytes);
    assert!(messages[0].starts_with("some.jsonl:2: invalid timeline: EOF while parsing"), "{messages:?}");
    assert_eq!(
        messages[1],
        "some.jsonl:4: invalid encoding: expected UTF-8, found another byte at 2; the line is omitted"
    );
}

#[test]
fn long_line_is_skipped_in_bounded_memory() {
    let good = line(&json!([]));
    let long = std::io::repeat(b'x').take(100_000_000);
    let input = std::io::BufReader::new(long.chain(&b"\n"[..]).chain(good.as_bytes()));
    let mut reader = Reader::new(input, "some.jsonl");
    let diagnostic = reader.next().unwrap().unwrap_err();
    let expected = DiagnosticKind::TooLong { bytes_max: LINE_BYTES_MAX };
    assert_eq!((diagnostic.line, diagnostic.kind), (1, expected));
    assert_eq!(reader.next().unwrap().unwrap().line, 2);
    assert!(reader.next().is_none());
    assert!(reader.buffer_bytes() <= 3 * LINE_BYTES_MAX);
}

#[test]
fn invalid_event_is_reported_and_omitted() {
    let mut shout = query("What?", &[], &[]);
    shout["type"] = "shout".into();
    let odd = query("Odd", &["regex:["], &[]);
    let case = case(&line(&json!([shout, odd, query("And?", &[], &[])])));
    assert_eq!(case.timeline.events.len(), 1);
    let messages: Vec<_> = case.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        messages[0].starts_with("some.jsonl:1: invalid event 1: unknown variant `shout`"),
        "{messages:?}"
    );
    assert!(messages[1].starts_with("some.jsonl:1: invalid event 2: the phrase `regex:[`"), "{messages:?}");
}

#[test]
fn invalid_write_is_reported_with_its_column() {
    let writes = json!([{"key": "a", "value": 1}, {"value": 2}, {"key": "b", "value": 3, "source": null},
        {"key": "c", "value": 4, "ts": "1850-01-01T00:00:00"}, {"key": "d", "value": 5}]);
    let event = json!({"ts": "2025-01-01T10:00:00", "type": "state_write", "writes": writes});
    let mut line: Value = serde_json::from_str(&line(&json!([event]))).unwrap();
    line["initial_state"]["persistent_facts"] = json!([{"key": "a"}, {"key": "e", "value": 6}]);
    line["initial_state"]["working_set"] = json!([7, {"content": "soup"}]);
    let text = line.to_string();
    let Case { timeline, diagnostics, .. } = case(&text);
    assert_eq!((timeline.initial.persistent_facts.len(), timeline.initial.working_set.len()), (1, 1));
    let Event::Writes { writes, .. } = &timeline.events[0] else { panic!("expected writes") };
    assert_eq!(writes.iter().map(|write| write.key.as_str()).collect::<Vec<_>>(), ["a", "d"]);
    let expected = [
        "invalid persistent fact 1: missing field `value`, at column ",
        "invalid note 1 of the working set: invalid type: integer `7`, expected an object with content",
        "invalid write 2 of event 1: missing field `key`, at column ",
        "invalid write 3 of event 1: invalid type: null, expected a word, or an object with type",
        "invalid write 4 of event 1: invalid time: expected one from 1970 on, such as 2025-11-25T12:00:00, found `1850-",
    ];
    assert_eq!(diagnostics.len(), expected.len(), "{diagnostics:?}");
    for (diagnostic, expected) in diagnostics.iter().zip(expected) {
        assert!(diagnostic.to_string().starts_with(&format!("some.jsonl:1: {expected}")), "{diagnostic}");
    }
    let end = text.find(r#"{"value":2}"#).unwrap() + r#"{"value":2}"#.len();
    let message = diagnostics[2].to_string();
    assert!(message.contains(&format!("at column {end};")), "{message}, not {end}");
}

#[test]
fn invalid_shapes_are_reported_with_the_expected_fields() {
    for text in ["[]", "7"] {
        let message = messages(text.as_bytes()).remove(0);
        let expected = "expected an object with id, track, initial_state and events";
        assert!(message.contains(expected) && !message.contains("Raw"), "{message}");
        assert!(!message.contains("line 1"), "{message}");
    }
    let at = "2025-01-01T10:00:00";
    let events = json!([
        {"type": "query", "ts": at, "prompt": "What?", "ground_truth": 7},
        {"type": "query", "ts": at, "prompt": "What?", "ground_truth": []},
        {"type": "state_write", "ts": at, "writes": [["roof"]]},
    ]);
    let diagnostics = case(&line(&events)).diagnostics;
    let answer = "an object with must_mention and must_not_mention";
    let expected = [answer, answer, "an object with key and value"];
    assert_eq!(diagnostics.len(), expected.len(), "{diagnostics:?}");
    for (diagnostic, expected) in diagnostics.iter().zip(expected) {
        assert!(diagnostic.to_string().contains(&format!("expected {expected}, ")), "{diagnostic}");
    }
}

#[test]
fn null_is_an_empty_list() {
    let mut line: Value = serde_json::from_str(&line(&json!([
        {"ts": "2025-01-01T10:00:00", "type": "state_write", "writes": null},
        {"ts": "2025-01-01T10:00:00", "type": "query", "prompt": "?",
            "ground_truth": {"must_mention": null, "must_not_mention": null}}])))
    .unwrap();
    for list in ["persistent_facts", "working_set", "environment"] {
        line["initial_state"][list] = Value::Null;
    }
    line["initial_state"]["identity_role"]["permissions"] = Value::Null;
    let null = case(&line.to_string());
    assert_eq!((null.timeline.events.len(), null.diagnostics.len()), (2, 0), "{:?}", null.diagnostics);
    line["initial_state"]["persistent_facts"] = json!([{"key": "a", "value": 1, "depends_on": null}]);
    assert_eq!(case(&line.to_string()).diagnostics, []);
}

#[test]
fn invalid_type_is_reported_with_its_field() {
    let mut line: Value = serde_json::from_str(&line(&json!([]))).unwrap();
    line["initial_state"]["persistent_facts"] = json!([{"key": "a", "value": 1, "depends_on": "b"}]);
    let message = case(&line.to_string()).diagnostics[0].to_string();
    assert!(message.contains("expected a sequence, in `depends_on`, at column"), "{message}");
    line["initial_state"]["identity_role"]["permissions"] = json!(7);
    let message = messages(line.to_string().as_bytes()).remove(0);
    assert!(message.contains("in `initial_state.identity_role.permissions`, at column"), "{message}");
}

#[test]
fn unusual_lines_are_read() {
    let is_read = |text: &str| read(text.as_bytes())[0].is_ok();
    assert!(is_read(&format!("\u{feff}{}", line(&json!([])))), "a byte order mark");
    assert!(is_read(&line(&json!([])).replace('\n', "\r\n")), "line ends of other systems");
    let text = line(&json!([query("Later", &["a"], &["a"]), query("Earlier", &[], &[])]));
    assert!(is_read(text.trim_end()), "no end of the last line");
}
