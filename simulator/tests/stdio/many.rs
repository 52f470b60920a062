//! Many conversations of one process: `run --stdio POLICY --journals FOLDER`.

use crate::host::{agreed, question, start, stderr};
use orchestrion_stdio::protocol;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output};

/// A host of many conversations.
struct ManyHost {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    validator: jsonschema::Validator,
}

impl ManyHost {
    fn of(folder: &Path) -> Self {
        let mut child = start(folder, &["hardened", "--journals", "journals"]);
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut schema = protocol::many_schema();
        let message = json!({"$ref": "#/$defs/to_host_of_many", "$defs": schema["$defs"].take()});
        Self { child, input, output, validator: jsonschema::validator_for(&message).unwrap() }
    }

    /// Starts the command, and opens conversations without waiting for them.
    fn opening(folder: &Path, names: impl IntoIterator<Item = String>) -> Self {
        let mut host = Self::of(folder);
        names.into_iter().for_each(|name| host.open(&name, None));
        host
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").and_then(|()| input.flush()).unwrap();
    }

    fn open(&mut self, name: &str, acknowledged_step: Option<u64>) {
        self.send(&json!({"open": {"conversation": name, "acknowledged_step": acknowledged_step}}));
    }

    fn tell(&mut self, name: &str, content: &Value) {
        self.send(&json!({"message": {"conversation": name, "content": content}}));
    }

    /// Receives the next message, and validates it by the schema.
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        self.validator.validate(&message).unwrap_or_else(|error| panic!("{error}: {line}"));
        message
    }

    /// Receives the next message of a conversation.
    fn receive_content(&mut self) -> (String, Value) {
        let mut message = self.receive();
        let content = message["message"]["content"].take();
        assert!(!content.is_null(), "expected a message of a conversation, found {message}");
        (message["message"]["conversation"].as_str().unwrap().to_owned(), content)
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn ends(mut self) -> Output {
        self.input = None;
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut self.output, &mut rest).unwrap();
        let mut output = self.child.wait_with_output().unwrap();
        output.stdout = rest;
        output
    }
}

fn request(text: &str) -> Value {
    json!({"request": {"user": "ada", "text": text}})
}

fn name(number: usize) -> String {
    format!("conversation-{number}")
}

/// The journal of a conversation may be opened after the host closed its input.
#[test]
fn open_is_answered_after_the_end_of_input() {
    const COUNT: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let host = ManyHost::opening(folder.path(), (0..COUNT).map(name));
    let output = host.ends();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.matches(r#"{"opened":"#).count(), COUNT, "{printed}");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

/// The last messages before the end of input take effect, although the journals are being synced then.
#[test]
fn last_messages_are_handled_after_the_end_of_input() {
    const COUNT: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    for (content, code, expected) in
        [(json!("close"), 0, r#""content":"closed""#), (request("Order tea"), 3, r#""content":{"call":"#)]
    {
        let names = (0..COUNT).map(|number| format!("{}-{code}", name(number)));
        let mut host = ManyHost::opening(folder.path(), names);
        let (mut opened, mut printed) = (0, String::new());
        while opened < COUNT {
            let (name, received) = host.receive_content();
            if received.get("opened").is_some() {
                opened += 1;
                host.tell(&name, &content);
            } else {
                printed.push_str(&format!(r#""content":{received}"#));
            }
        }
        let output = host.ends();
        printed.push_str(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(printed.matches(expected).count(), COUNT, "{printed}{}", stderr(&output));
        assert!(!printed.contains("failed"), "{printed}");
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    }
}

/// Every conversation runs a request while the others do, and its journal contains its own request only.
#[test]
fn conversations_run_at_the_same_time() {
    const COUNT: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let mut host = ManyHost::opening(folder.path(), (0..COUNT).map(name));
    let mut answers = BTreeMap::new();
    // All calls of a round are answered when all are there, so that no conversation is ahead.
    let mut calls: Vec<(String, Value)> = Vec::new();
    let mut closed = 0;
    while closed < COUNT {
        let (name, content) = host.receive_content();
        if content.get("opened").is_some() {
            host.tell(&name, &request(&format!("Order for {name}")));
        } else if let Some(call) = content.get("call") {
            calls.push((name, call.clone()));
        } else if let Some(answer) = content.get("final_answer") {
            answers.insert(name.clone(), answer["text"].clone());
            host.tell(&name, &json!("close"));
        } else {
            assert_eq!(content, "closed", "{name}");
            closed += 1;
        }
        let busy = COUNT - answers.len();
        let waiting: std::collections::BTreeSet<&String> = calls.iter().map(|(name, _)| name).collect();
        if busy > 0 && waiting.len() == busy {
            for (name, call) in std::mem::take(&mut calls) {
                host.tell(&name, &json!({"reply": {"call": call["id"], "content": agreed(&call)}}));
            }
        }
    }
    let output = host.ends();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "100 conversations closed\n");
    assert!(answers.values().all(|text| text == "done: Order"), "{answers:?}");
    for number in 0..COUNT {
        let name = name(number);
        let journal = fs::read(folder.path().join(format!("journals/{name}.ndjson"))).unwrap();
        let text = String::from_utf8_lossy(&journal).into_owned();
        assert_eq!(
            text.matches("Order for conversation-").count(),
            text.matches(&format!("Order for {name}\"")).count()
        );
        let reader = Reader::new(journal.as_slice(), &name).unwrap();
        assert!(replay(reader, None, &StandardContexts).is_equal(), "{name}");
    }
}

/// A defect of one conversation or of one line ends no other conversation.
#[test]
fn defects_concern_one_conversation() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("journals")).unwrap();
    fs::write(folder.path().join("journals/damaged.ndjson"), "no journal\n").unwrap();
    let mut host = ManyHost::of(folder.path());
    host.open("ada", None);
    assert_eq!(host.receive_content().1["opened"]["conversation"], "ada");
    let failed = |host: &mut ManyHost, kind: &str, reason: &str| {
        let message = host.receive();
        let found = message[kind]["reason"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
        assert!(found.contains(reason), "{found}");
    };
    host.open("ada", None);
    failed(&mut host, "open_failed", "already open");
    for invalid in ["../ada", "", "a.b"] {
        host.open(invalid, None);
        failed(&mut host, "open_failed", "1 to 128 ASCII letters");
    }
    host.open("damaged", None);
    failed(&mut host, "open_failed", "damaged.ndjson");
    host.open("short", Some(7));
    failed(&mut host, "open_failed", "7");
    host.tell("bob", &request("Greet"));
    failed(&mut host, "parse_failed", "conversation bob is not open: expected `open` first");
    host.send(&json!({"request": {"user": "ada", "text": "Greet"}}));
    failed(&mut host, "parse_failed", "unknown variant `request`");
    // A defect in a message is an answer of its conversation.
    host.tell("ada", &json!({"demand": {}}));
    let (name, content) = host.receive_content();
    assert_eq!((name.as_str(), &content["parse_failed"]["line"]), ("ada", &json!(10)), "{content}");

    host.tell("ada", &request("Greet"));
    loop {
        let (_, content) = host.receive_content();
        if content.get("final_answer").is_some() {
            break;
        }
        let call = &content["call"];
        host.tell("ada", &json!({"reply": {"call": call["id"], "content": agreed(call)}}));
    }
    // After its end it can be opened again; a closed one cannot.
    host.tell("ada", &json!("close"));
    assert_eq!(host.receive_content().1, "closed");
    host.open("ada", None);
    failed(&mut host, "open_failed", "closed");
    let output = host.ends();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// After a crash of the process, each conversation continues from its own journal.
#[test]
fn conversations_continue_after_a_crash() {
    const COUNT: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let mut host = ManyHost::of(folder.path());
    let mut steps = BTreeMap::new();
    for number in 0..COUNT {
        host.open(&name(number), None);
    }
    // Each conversation stops at another operation; every second one at its task.
    while steps.len() < COUNT {
        let (name, content) = host.receive_content();
        let Some(call) = content.get("call") else {
            host.tell(&name, &request("Order paper"));
            continue;
        };
        let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
        let stops = if number.is_multiple_of(2) { "run_task" } else { "draft_plan" };
        if question(call) == stops {
            steps.insert(name, call["step"].as_u64().unwrap());
        } else {
            host.tell(&name, &json!({"reply": {"call": call["id"], "content": agreed(call)}}));
        }
    }
    host.kill();

    let mut host = ManyHost::of(folder.path());
    for (name, step) in &steps {
        host.open(name, Some(*step));
    }
    let (mut recovered, mut answers) = (0, 0);
    while answers < COUNT {
        let (name, content) = host.receive_content();
        if let Some(opened) = content.get("opened") {
            assert_eq!(
                (&opened["unfinished"], &opened["recovers_first"]),
                (&json!(true), &json!(false)),
                "{name}"
            );
        } else if let Some(call) = content.get("recover") {
            recovered += 1;
            host.tell(&name, &json!({"not_started": {"call": call["id"]}}));
        } else if let Some(call) = content.get("call") {
            host.tell(&name, &json!({"reply": {"call": call["id"], "content": agreed(call)}}));
        } else {
            assert_eq!(content["final_answer"]["text"], "done: Order", "{name}");
            answers += 1;
        }
    }
    assert_eq!(recovered, COUNT / 2);
    // The host leaves without closing them.
    let output = host.ends();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let expected =
        "0 conversations closed, 10 open, 0 of them with pending calls; open them again to continue\n";
    assert_eq!(stderr(&output), expected);
}

/// The process ends although its standard input stays open.
#[test]
fn host_that_closes_its_input_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = ManyHost::of(folder.path());
    host.open("ada", None);
    host.open("bob", None);
    assert!(host.receive_content().1.get("opened").is_some());
    assert!(host.receive_content().1.get("opened").is_some());
    host.tell("ada", &request("Greet"));
    let ManyHost { mut child, input, output, .. } = host;
    drop(output);
    // The call may have been written before.
    let mut input = input.unwrap();
    let further = json!({"message": {"conversation": "bob", "content": request("Greet")}});
    let _ = writeln!(input, "{further}");
    let mut text = String::new();
    std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{text}");
    assert!(text.contains("0 conversations closed, 2 open, "), "{text}");
}

#[test]
fn scenario_and_second_journal_are_refused() {
    let folder = crate::folder();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrion"));
        let output = command.args(["run", "--stdio"]).args(args).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let refused = run(&["hello.yaml", "--journals", "journals"]);
    assert!(refused.contains("expected a policy for --journals"), "{refused}");
    let refused = run(&["hardened", "--journals", "journals", "--journal", "one.ndjson"]);
    assert!(refused.contains("cannot be used with"), "{refused}");
}
