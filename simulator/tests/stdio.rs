//! Hosts in other languages, and faulty hosts, over standard input and output.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "stdio/claims.rs"]
mod claims;
#[path = "stdio/durable_host.rs"]
mod durable_host;
#[path = "stdio/enforce.rs"]
mod enforce;
#[path = "stdio/host.rs"]
mod host;
#[path = "stdio/inputs.rs"]
mod inputs;
#[path = "stdio/many.rs"]
mod many;
#[path = "stdio/parallel_tasks.rs"]
mod parallel_tasks;
#[path = "stdio/refusals.rs"]
mod refusals;
#[path = "stdio/unread.rs"]
mod unread;

use host::{Host, SCENARIO, agreed, folder, stderr};
use orchestrion_kernel::situation::SummaryField;
use orchestrion_kernel::{Input, Text};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Reader, Step};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether an interpreter is installed; prints that the test is skipped otherwise.
fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: there is no {program} here");
    }
    there
}

fn foreign(program: &str, host_file: &str, agrees: &str) {
    if !is_there(program) {
        return;
    }
    let folder = folder();
    let bin = Path::new(env!("CARGO_BIN_EXE_orchestrion")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(bin.to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    let host = |journal: &str, step: u64| {
        let mut host = Command::new(program);
        host.arg(root().join("examples/stdio").join(host_file)).args(["hello.yaml", "--journal", journal]);
        host.args(["--acknowledged-step", &step.to_string()]);
        host.env("PATH", &path).current_dir(folder.path()).output().unwrap()
    };
    let output = host("hello.ndjson", 0);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\nhello\n");
    let trace = fs::read(folder.path().join("hello.ndjson")).unwrap();
    assert!(String::from_utf8_lossy(&trace).contains(agrees));
    // The calls of modules that reason ask for the summary, and each reply to them updates it.
    let steps: Vec<Step> =
        Reader::new(trace.as_slice(), "hello.ndjson").unwrap().collect::<Result<_, _>>().unwrap();
    let updates = steps.iter().filter_map(|step| match &step.input {
        Input::Reply { summary_update, .. } => summary_update.as_ref(),
        _ => None,
    });
    let name = agrees.split(' ').next().unwrap();
    let mut replies = 0;
    for update in updates {
        replies += 1;
        for field in SummaryField::ALL {
            let expected = format!("{name} on “{}”", field.question());
            assert_eq!(update.0.get(field.name()).map(Text::as_str), Some(expected.as_str()));
        }
    }
    // Planner, five debaters and executor, in both requests.
    assert_eq!(replies, 14);
    assert!(
        replay(Reader::new(trace.as_slice(), "hello.ndjson").unwrap(), None, &StandardContexts).is_equal()
    );

    // Resumes a task that another host left.
    let mut gone = Host::of(folder.path(), &["hello.yaml", "--journal", "gone.ndjson"]);
    let call = gone.until("run_task", &mut Vec::new());
    gone.ends();
    let output = host("gone.ndjson", call["step"].as_u64().unwrap());
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(message, "rolled back: the call to the executor failed (outcome unknown)\nhello\n");
}

#[test]
fn python_host_has_under_twenty_lines() {
    let text = fs::read_to_string(root().join("examples/stdio/host.py")).unwrap();
    assert!(text.lines().count() < 20);
    foreign("python3", "host.py", "Python agrees");
}

#[test]
fn node_host_runs_scenario() {
    foreign("node", "host.mjs", "Node agrees");
}

/// Runs the request of a new project with the host of nodes as processes, and returns what it prints. `change` edits the network.
fn python_network_host(change: impl Fn(&str) -> String) -> Option<String> {
    if !is_there("python3") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_orchestrion"));
    assert!(Command::new(bin).arg("init").current_dir(&folder).output().unwrap().status.success());
    let network = folder.path().join("network.yaml");
    fs::write(&network, change(&fs::read_to_string(&network).unwrap())).unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.parent().unwrap().to_path_buf()).chain(std::env::split_paths(&others));
    let output = Command::new("python3")
        // Only the standard library.
        .args(["-I", "-S"])
        .arg(root().join("examples/stdio/network_host.py"))
        .args(["scenarios/in-network.yaml", "--journal", "one.ndjson", "--keys", "keys"])
        .env("PATH", std::env::join_paths(folders).unwrap())
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let trace = fs::read(folder.path().join("one.ndjson")).unwrap();
    let replayed = replay(Reader::new(trace.as_slice(), "one.ndjson").unwrap(), None, &StandardContexts);
    assert!(replayed.is_equal());
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn python_network_host_reaches_every_node() {
    let Some(printed) = python_network_host(str::to_owned) else { return };
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.contains(&"office: the planner's plan"), "{printed}");
    assert!(lines.contains(&"office -> ana: the executor's task result"), "{printed}");
    assert_eq!(lines.last(), Some(&"ana did: Translate the letter"));
}

#[test]
fn python_network_host_shows_refused_handoff() {
    // The node reports a low load, but its capability executes as many tasks as it can.
    let full = "{quality: 0.9, max_capacity: 2, tasks: 2}\n    load: 0.1";
    let printed = python_network_host(|network| network.replace("{quality: 0.9, max_capacity: 2}", full));
    let Some(printed) = printed else { return };
    let refused = printed.lines().find(|line| line.starts_with("ana refuses the handoff of call ")).unwrap();
    assert!(refused.contains(" from office: the capability is overloaded; call "), "{printed}");
    assert!(printed.lines().any(|line| line == "office -> ben: the executor's task result"), "{printed}");
    assert_eq!(printed.lines().last(), Some("ben did: Translate the letter"));
}

#[test]
fn scenario_writes_are_submitted() {
    let folder = folder();
    let writes = "    write:\n      - fact: {key: sky, text: blue}\n      - fact: {key: sea, text: deep, depends_on: [nowhere]}\n";
    let incident = "    cancel: {phase: RunningTasks, visit: 7}\n";
    fs::write(folder.path().join("hello.yaml"), format!("{SCENARIO}{writes}{incident}")).unwrap();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    assert_eq!(host.until("nothing", &mut other), "closed");
    let refused = other.iter().find_map(|message| message.get("refused")).unwrap();
    assert!(refused["line"] == 0 && refused["reason"].as_str().unwrap().contains("`nowhere`"), "{refused}");
    let output = host.ends();
    assert!(
        stderr(&output)
            .contains("ignored: 1 interruptions, crashes, cancellations, network events and later writes of the scenario"),
        "{}",
        stderr(&output)
    );
    assert!(fs::read_to_string(folder.path().join("hello.ndjson")).unwrap().contains(r#""text":"blue""#));
}

#[test]
fn repeated_and_foreign_replies_are_refused() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let call = host.until("classify", &mut other);
    host.send("{\"reply\": {\"call\": 77, \"content\": \"stored\"}}\n");
    host.reply(&call, &agreed(&call));
    host.reply(&call, &agreed(&call));
    assert_eq!(host.until("nothing", &mut other), "closed");
    let refused: Vec<_> = other.iter().filter_map(|message| message["refused"]["reason"].as_str()).collect();
    assert_eq!(refused, ["reply to wrong call: expected call 4, found call 3"]);
    let strange: Vec<_> =
        other.iter().filter_map(|message| message["parse_failed"]["reason"].as_str()).collect();
    assert_eq!(strange, ["unknown call: expected the id of a recent call, found 77"]);
    assert!(host.ends().status.success());
    let kept = fs::read_to_string(folder.path().join("hello.ndjson")).unwrap();
    assert!(refused.iter().all(|why| kept.contains(why)));
}

#[test]
fn disconnected_host_names_pending_call() {
    let folder = folder();
    let args = ["hello.yaml", "--journal", "hello.ndjson"];
    let mut host = Host::of(folder.path(), &args);
    let call = host.until("run_task", &mut Vec::new());
    assert_eq!(call["payload"]["task"]["text"], "Order");
    let output = host.ends();
    assert_eq!(output.status.code(), Some(3));
    let complaint = stderr(&output);
    assert!(
        complaint.contains(
            "standard input ended while call 10 (the executor's task result) was pending; resume: "
        ),
        "{complaint}"
    );

    // It may have run: the next host recovers it, and reports that it did not start.
    let step = call["step"].to_string();
    let stored = ["hello.yaml", "--journal", "hello.ndjson", "--acknowledged-step", &step];
    let mut host = Host::of(folder.path(), &stored);
    let mut other = Vec::new();
    let recover = host.until("nothing", &mut other);
    assert_eq!(other[0]["opened"]["unfinished"], true);
    assert_eq!(other[0]["opened"]["recovers_first"], false);
    assert_eq!(
        (&recover["recover"]["id"], &recover["recover"]["payload"]["task"]),
        (&call["id"], &call["payload"]["task"])
    );
    host.send(&format!("{}\n", json!({"not_started": {"call": 10}})));
    let again = host.until("run_task", &mut other);
    assert_eq!(again["id"], call["id"]);
    // An incomplete line at the end of the input.
    host.send("{\"reply\": {\"call\": 10, ");
    let output = host.ends();
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        message.contains("incomplete line: expected a newline, found the end of standard input"),
        "{message}"
    );

    // That was no reply: the next host receives the call again.
    let mut host = Host::of(folder.path(), &stored);
    let mut other = Vec::new();
    assert_eq!(host.until("nothing", &mut other)["recover"]["id"], 10);
    host.send("{\"reply\": {\"call\": 10, \"content\": \"what?\"}}\n");
    let undo = host.until("undo_task", &mut other);
    host.reply(&undo, &agreed(&undo));
    assert_eq!(host.until("nothing", &mut other), "closed");
    let answered: Vec<_> =
        other.iter().filter_map(|message| message["final_answer"]["text"].as_str()).collect();
    assert_eq!(answered, ["rolled back: the call to the executor failed (outcome unknown)", "done: Order"]);
    assert!(host.ends().status.success());
    let trace = fs::read(folder.path().join("hello.ndjson")).unwrap();
    assert!(
        replay(Reader::new(trace.as_slice(), "hello.ndjson").unwrap(), None, &StandardContexts).is_equal()
    );

    // A closed conversation stays closed.
    let output = Host::of(folder.path(), &args).ends();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output)
            .contains("hello.ndjson: closed conversation: expected an open trace, found its end after"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn host_requests_cancels_and_closes() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let request = |text: &str| format!("{}\n", json!({"request": {"user": "ada", "text": text}}));
    host.send(&request("Order paper"));
    let mut other = Vec::new();
    let call = host.until("run_task", &mut other);
    assert_eq!((call["request"].as_str(), call["user"].as_str()), (Some("Order paper"), Some("ada")));
    host.send(&request("And toner"));
    host.send("\"cancel\"\n");
    let undo = host.until("undo_task", &mut other);
    assert_eq!(undo["payload"]["task"]["effect"]["undoable"]["compensation"], "Cancel the order");
    host.reply(&undo, &agreed(&undo));
    while other.iter().all(|message| message.get("final_answer").is_none()) {
        let message = host.receive();
        match message.get("call") {
            Some(call) => host.reply(&call.clone(), &agreed(call)),
            None => other.push(message),
        }
    }
    host.send("\"close\"\n");
    assert_eq!(host.until("nothing", &mut other), "closed");
    let refused =
        "unexpected input in RunningTasks: expected the executor's task result, found a user message";
    assert!(other.iter().any(|message| message["refused"]["reason"] == refused), "{other:?}");
    assert!(
        other.iter().any(|message| message["final_answer"]["text"] == "rolled back: the user cancelled"),
        "{other:?}"
    );
    assert_eq!(host.ends().status.code(), Some(0));
}

/// The journal lost its last line, with a call that the host received.
#[test]
fn journal_without_its_last_line_is_recovered_first() {
    let folder = folder();
    let args = ["hello.yaml", "--journal", "hello.ndjson"];
    let mut host = Host::of(folder.path(), &args);
    let call = host.until("run_task", &mut Vec::new());
    host.ends();
    let path = folder.path().join("hello.ndjson");
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // With and without a trace of the lost line.
    for end in [last, last + 30] {
        fs::write(&path, &whole[..end]).unwrap();
        let step = call["step"].as_u64().unwrap();
        let number = step.to_string();
        let stored = [&args[..], &["--acknowledged-step", &number]].concat();
        let output = Host::of(folder.path(), &stored).ends();
        assert_eq!(output.status.code(), Some(2));
        let expected = format!(
            "hello.ndjson: shorter journal: expected the acknowledged step {step} or a later one, found {} steps; restore the journal",
            step - 1
        );
        let flat = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(flat.contains(&expected), "{flat}");
        assert_eq!(fs::read(&path).unwrap(), &whole[..end], "the file is unchanged");

        let mut host = Host::of(folder.path(), &args);
        let mut other = Vec::new();
        let recover = host.until("run_task", &mut other);
        assert_eq!(other[0]["opened"]["recovers_first"], true);
        assert_eq!(other[0]["opened"].get("truncated_tail").is_some(), end > last);
        assert_eq!(recover["recover"]["id"], call["id"]);
        host.ends();
    }
}

/// Without `--journal` the journal is cleared, so a snapshot of the conversation before must go too.
#[test]
fn cleared_journal_keeps_no_snapshot() {
    let folder = folder();
    let snapshot = folder.path().join(".orchestrion/hello.trace.ndjson.snapshot");
    fs::create_dir(folder.path().join(".orchestrion")).unwrap();
    fs::write(&snapshot, "of an earlier conversation").unwrap();
    let mut host = Host::of(folder.path(), &["hello.yaml"]);
    host.receive();
    assert!(!snapshot.exists());
    let output = host.ends();
    assert!(!stderr(&output).contains("snapshot"), "{}", stderr(&output));
}

#[test]
fn invalid_inputs_are_refused() {
    let folder = folder();
    fs::write(folder.path().join("notes.txt"), "mine\n").unwrap();
    let first = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut waits = first;
    waits.receive();
    for (args, why) in [
        (["hello.yaml", "--journal", "notes.txt"], "notes.txt:1: "),
        (["hello.yaml", "--journal", "hello.ndjson"], "hello.ndjson: locked journal"),
        (["none.yaml", "--journal", "other.ndjson"], "none.yaml"),
        (["hello.yaml", "--journal", "none/hello.ndjson"], "none/hello.ndjson: unreadable journal"),
    ] {
        let output = Host::of(folder.path(), &args).ends();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine\n");
    waits.ends();
}

#[test]
fn host_sends_summary_updates_and_writes() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let classify = host.until("classify", &mut other);
    host.send("{\"write\": {\"signal\": {\"key\": \"rain\", \"text\": \"heavy\"}}}\n");
    host.send("{\"write\": {\"signal\": {\"key\": \"rain\"}}}\n");
    let not_understood = host.receive();
    assert_eq!(not_understood["parse_failed"]["call"], Value::Null);
    assert!(not_understood["parse_failed"]["reason"].as_str().unwrap().contains("text"));
    let mut answer = json!({"reply": agreed(&classify)});
    answer["summary_update"] = json!({"goal": "Greet", "progress": " "});
    host.reply(&classify, &answer);
    let plan = host.until("draft_plan", &mut other);
    let shown = plan["context"]["text"].as_str().unwrap();
    assert!(
        shown.ends_with("# Situation\ngoal: Greet\n") && shown.contains("environment rain: heavy\n"),
        "{shown}"
    );
    host.ends();
}

/// The next refusal; other messages are dropped.
fn next_refusal(host: &mut Host) -> Value {
    let mut message = host.receive();
    while message.get("refused").is_none() {
        assert!(!message.is_null() && message.get("halted").is_none(), "{message}");
        message = host.receive();
    }
    message
}

#[test]
fn refused_identity_starts_no_session() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let identity = json!({"name": "Ada", "authority": "guest", "rank": "policy"});
    let request = json!({"user": "ada", "text": "Order paper", "identity": identity});
    host.send(&format!("{}\n", json!({"request": request})));
    let refused = next_refusal(&mut host);
    assert!(refused["refused"]["reason"].as_str().unwrap().contains("too high"), "{refused}");
    host.send("{\"request\": {\"user\": \"ada\", \"text\": \"Order paper\"}}\n");
    assert_eq!(host.until("classify", &mut Vec::new())["request"], "Order paper");
    host.ends();
}

#[test]
fn host_requests_run_in_scopes() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let scope = json!({"hypothetical": "half price"});
    let request = |text: &str, scope: &Value| {
        format!("{}\n", json!({"request": {"user": "ada", "text": text, "scope": scope}}))
    };
    host.send(&request("What if it cost half?", &scope));
    let refused = next_refusal(&mut host);
    assert!(
        refused["refused"]["reason"].as_str().unwrap().contains("write a fact into it first"),
        "{refused}"
    );
    let fact = json!({"write": {"fact": {"key": "price", "text": "$50", "scope": scope}}});
    host.send(&format!("{fact}\n"));
    host.send(&request("What if it cost half?", &scope));
    let mut other = Vec::new();
    let plan = host.until("draft_plan", &mut other);
    assert_eq!(plan["scope"], scope);
    assert!(plan["context"]["text"].as_str().unwrap().contains("hypothetical half price): $50"), "{plan}");
    let unknown = json!({"plan": [{"task": 1, "do": "x", "scope": {"draft": "nowhere"}}]});
    host.reply(&plan, &unknown);
    // A refused reply is a malformed one, so the request ends without a plan.
    let stored = host.until("store_memory", &mut other);
    assert_eq!(stored["payload"]["record"]["scope"], scope);
    assert!(stored["payload"]["record"]["text"].as_str().unwrap().contains("malformed"), "{stored}");
    host.ends();
}

#[test]
fn host_and_scenario_send_texts() {
    let folder = folder();
    let fact = "    write: {fact: {key: meeting, text: Meeting is Tuesday at 2pm}}\n";
    let ingest = "    ingest: {text: \"Let's do the meeting Thursday at 3pm\"}\n";
    fs::write(folder.path().join("hello.yaml"), format!("{SCENARIO}{fact}{ingest}")).unwrap();
    let mut host = Host::of(folder.path(), &["hello.yaml", "--journal", "hello.ndjson"]);
    let mut other = Vec::new();
    let first = host.until("verify_identity", &mut other);
    host.send("{\"ingest\": {\"text\": \"Lunch is at noon\", \"key\": \"lunch\"}}\n");
    host.send("{\"ingest\": {\"key\": \"lunch\"}}\n");
    let failed = host.receive();
    assert!(failed["parse_failed"]["reason"].as_str().unwrap().contains("expected `text`"), "{failed}");
    host.reply(&first, &agreed(&first));
    assert_eq!(host.until("nothing", &mut other), "closed");
    host.ends();
    // A journal contains a digest of the events, which a reader decides again.
    let journal = fs::read(folder.path().join("hello.ndjson")).unwrap();
    let steps = Reader::new(journal.as_slice(), "hello.ndjson").unwrap().map(Result::unwrap);
    let trace: String = steps.map(|step| serde_json::to_string(&step).unwrap()).collect();
    assert!(trace.contains(r#""derivation":"statement""#), "{trace}");
    assert!(trace.contains(r#""derivation":{"supersession":"implicit"}"#), "{trace}");
}
