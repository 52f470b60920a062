//! Messages that have no effect: lines that cannot be parsed, and refused requests, replies and writes.

use super::host::{Host, agreed, folder};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Returns the parse failures that the host received, and the final answers.
fn after(line: &str) -> (Value, Vec<Value>, Vec<String>) {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let call = host.until("argue", &mut other);
    host.send(&line.replace("CALL", &call["id"].to_string()));
    // Wait for the message, so that the next input follows it.
    loop {
        let message = host.receive();
        let is_it = message.get("parse_failed").is_some();
        other.push(message);
        if is_it {
            break;
        }
    }
    host.reply(&call, &agreed(&call));
    assert_eq!(host.until("nothing", &mut other), "closed", "{line:.60}");
    assert_eq!(host.ends().status.code(), Some(0));
    let message = other.iter().filter_map(|message| message.get("parse_failed")).cloned().collect();
    let answered = other
        .iter()
        .filter_map(|message| message["final_answer"]["text"].as_str())
        .map(str::to_owned)
        .collect();
    (call["id"].clone(), message, answered)
}

#[test]
fn unparsable_reply_is_malformed() {
    let cases = [
        (
            "{\"reply\": {\"call\": CALL, \"content\": {\"random\": {}}}}\n",
            "unknown value `random`; expected one of pro, con, fail, reply",
        ),
        ("{\"reply\": {\"call\": CALL, \"content\": [\"stored\"]}}\n", "expected one reply, found a list"),
        ("{\"reply\": {\"call\": CALL}}\n", "missing field `content`"),
        ("{\"reply\": {\"call\": CALL, \"content\": \"stored\", \"so\": 1}}\n", "unknown field `so`"),
        (
            "{\"reply\": {\"call\": CALL, \"content\": \"stored\"}, \"so\": 1}\n",
            "too many keys: expected one in a message, found `reply`, `so`",
        ),
    ];
    for (line, why) in cases {
        let (call, message, answered) = after(line);
        assert_eq!(
            answered,
            ["blocked: the call to the Analyst failed (malformed reply)", "done: Order"],
            "{line}"
        );
        assert!(message.len() == 1 && message[0]["reason"].as_str().unwrap().contains(why), "{message:?}");
        assert_eq!(message[0]["call"], call);
    }
}

#[test]
fn unparsable_line_changes_nothing() {
    let long = format!("\"{}\"\n", "x".repeat(3 << 20));
    let cases = [
        ("hello?\n", "expected"),
        ("{\"answer\": {}}\n", "unknown variant `answer`"),
        ("{\"write\": {\"signal\": \n", "EOF while parsing a value, in column 20"),
        ("\"handoff\"\n", "message without content: expected {\"handoff\": …}, found \"handoff\""),
        ("{\"cancel\": {}}\n", "message with content: expected \"cancel\", found {\"cancel\": …}"),
        (
            "{\"input\": {\"idempotency_key\": \"k\", \"content\": {\"write\": {}, \"so\": 1}}}\n",
            "too many keys: expected one in a message, found `so`, `write`",
        ),
        (
            "{\"input\": {\"idempotency_key\": \"k\", \"content\": {\"cancel\": 1}}}\n",
            "message with content: expected \"cancel\", found {\"cancel\": …}",
        ),
        (
            "{\"request\": {\"user\": \"a\", \"text\": \"x\", \"identity\": {\"name\": \"A\", \"authority\": \"x\", \"rank\": \"god\"}}}\n",
            "unknown rank `god`; expected one of unverified, guest",
        ),
        ("{\"not_started\": {\"call\": 99}}\n", "unknown call: expected the id of a recent call, found 99"),
        (
            "{\"input\": {\"idempotency_key\": \"k\", \"content\": {\"close\": {}}}}\n",
            "unknown variant `close`",
        ),
        (&*long, "line too long: expected at most 2097152 bytes"),
    ];
    for (line, why) in cases {
        let (_, message, answered) = after(line);
        assert_eq!(answered, ["done: Order", "done: Order"], "{line:.60}");
        assert!(message.len() == 1 && message[0]["reason"].as_str().unwrap().contains(why), "{message:?}");
        // Four calls had replies before.
        assert_eq!((&message[0]["line"], &message[0]["call"]), (&5.into(), &Value::Null));
    }
}

/// The answer to a line that can be read at once follows `opened`. Without an order, it came first in a third of the runs.
#[test]
fn opened_is_first_message() {
    let folder = folder();
    let input = folder.path().join("input");
    fs::write(&input, "nope\n\"close\"\n").unwrap();
    for _ in 0..30 {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(["run", "--stdio", "hardened", "--out-dir", "."])
            .current_dir(folder.path())
            .stdin(fs::File::open(&input).unwrap())
            .output()
            .unwrap();
        let first: Value =
            serde_json::Deserializer::from_slice(&output.stdout).into_iter().next().unwrap().unwrap();
        assert!(first.get("opened").is_some(), "{first}");
    }
}

/// A request whose session or scope is refused. Blank lines count.
#[test]
fn refused_request_names_its_line() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "hello.ndjson"]);
    let request = |content: Value| format!("{}\n", json!({"request": content}));
    let identity = json!({"name": "Ada", "authority": "guest", "rank": "policy"});
    let outranked = json!({"user": "ada", "text": "Greet", "identity": identity});
    let closed_scope = json!({"user": "ada", "text": "Greet", "scope": {"draft": "q3"}});
    let waiting = json!({"write": {"fact": {"key": "b", "text": "x", "depends_on": ["nowhere"]}}});
    let keyed = json!({"input": {"idempotency_key": "r-1", "content": {"request": outranked}}});
    host.send(&format!("\n{waiting}\n{}{keyed}\n", request(outranked.clone())));
    // The write waits until a session is open, although its request is refused.
    host.send(&(request(closed_scope) + "\"close\"\n"));
    let mut other = Vec::new();
    assert_eq!(host.until("nothing", &mut other), "closed");
    let refused: Vec<_> = other.iter().filter_map(|message| message["refused"]["line"].as_u64()).collect();
    assert_eq!(refused, [3, 4, 5, 2], "{other:?}");
    host.ends();
}

/// The reply is valid by the schema, but no fact opened the scope of its task. The host learns it before the call fails.
#[test]
fn refused_reply_is_reported_with_line() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let call = host.until("draft_plan", &mut other);
    host.reply(&call, &json!({"plan": [{"task": 1, "do": "Draft the offer", "scope": {"draft": "q3"}}]}));
    let next = host.receive();
    assert_eq!(next["refused"]["line"], 4, "{next}");
    assert!(next["refused"]["reason"].as_str().unwrap().contains("q3"), "{next}");
    host.until("nothing", &mut other);
    let answer = other.iter().find_map(|message| message["final_answer"]["text"].as_str());
    assert_eq!(answer, Some("aborted: the call to the planner failed (malformed reply)"));
    host.ends();
}

/// All replies of a request together have a limit.
#[test]
fn oversized_reply_is_reported_with_line() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let text = "x".repeat((1 << 20) - 1000);
    let plan: Vec<_> = (1..=9).map(|task| json!({"task": task, "do": format!("Order {task}")})).collect();
    let call = host.until("draft_plan", &mut other);
    host.reply(&call, &json!({"plan": plan}));
    let too_large = loop {
        let call = host.until("run_task", &mut other);
        if let Some(failed) = other.iter().find_map(|message| message.get("parse_failed")) {
            break failed.clone();
        }
        assert!(call.get("id").is_some(), "expected `parse_failed`, found {call}");
        host.reply(&call, &json!({"ok": text}));
    };
    let reason = too_large["reason"].as_str().unwrap();
    assert!(reason.starts_with("reply too large: expected at most "), "{too_large}");
    assert!(too_large["call"].is_u64() && too_large["line"] != 0, "{too_large}");
    host.ends();
}

#[test]
fn refusals_name_their_line() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let first = host.until("verify_identity", &mut other);
    let fact = |key: &str, depends_on: &str| {
        let fact = json!({"key": key, "text": "x", "depends_on": [depends_on]});
        format!("{}\n", json!({"write": {"fact": fact}}))
    };
    host.send("{\"write\": {\"fact\": {\"key\": \"a\", \"text\": \"x\"}}}\n");
    host.send(&fact("b", "nowhere"));
    host.send(&fact("c", "a"));
    host.send(&fact("d", "unknown"));
    host.reply(&first, &agreed(&first));
    assert_eq!(host.until("nothing", &mut other), "closed");
    let refused: Vec<_> = other.iter().filter_map(|message| message.get("refused")).collect();
    let lines: Vec<_> = refused.iter().filter_map(|refused| refused["line"].as_u64()).collect();
    assert_eq!(lines, [2, 4], "{refused:?}");
    assert!(refused[1]["reason"].as_str().unwrap().contains("`unknown`"), "{refused:?}");
    host.ends();
}
