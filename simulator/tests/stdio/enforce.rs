//! Enforced claims of a project while a host runs the conversation: what they forbid does not reach the host.

use crate::host::{Host, agreed, folder, stderr};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// One task in the whole conversation.
const ONE_TASK: &str = "\
claims:
- id: one-task
  enforce: true
  within: conversation
  at_most: {limit: 1, of: {event: tool_call, operation: run_task}}
";

const NO_TASK: &str = "\
claims:
- {id: no-task, enforce: true, never: {event: tool_call, operation: run_task}}
";

const ARGUMENTS: [&str; 5] = ["hello.yaml", "--journal", "hello.ndjson", "--claims", "claims.yaml"];

/// Replies until the end, and returns the operations and tasks of the calls that the host got.
fn serve(host: &mut Host) -> Vec<String> {
    let mut calls = Vec::new();
    loop {
        let message = host.receive();
        let Some(call) = message.get("call") else {
            if message.is_null() || message == "closed" {
                return calls;
            }
            continue;
        };
        let operation = match &call["operation"] {
            Value::String(name) => name.clone(),
            other => other.as_object().unwrap().keys().next().unwrap().clone(),
        };
        calls.push(match call["payload"]["task"]["id"].as_u64() {
            Some(task) => format!("{operation} {task}"),
            None => operation,
        });
        host.reply(call, &agreed(call));
    }
}

/// Replies until the first request has ended, and returns the first call of the second one.
fn second_request(host: &mut Host) -> Value {
    let mut other = Vec::new();
    loop {
        let call = host.until("verify_identity", &mut other);
        let answer = other.iter().find_map(|message| message["final_answer"]["text"].as_str());
        if let Some(answer) = answer {
            assert!(answer.contains("done: Order"), "{answer}");
            return call;
        }
        host.reply(&call, &agreed(&call));
    }
}

/// The failures and notes of the journal's steps with a forbidden call.
fn forbidden(folder: &Path) -> Vec<String> {
    let journal = fs::read_to_string(folder.join("hello.ndjson")).unwrap();
    let steps = journal.lines().filter(|line| line.contains("\"failure\":\"forbidden\""));
    steps
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["note"].as_str().unwrap().to_owned())
        .collect()
}

/// The task of the first request is counted, also if the program was killed between the two requests: that of the second one is not made,
/// and its request is rolled back.
#[test]
fn forbidden_call_never_reaches_host() {
    for is_killed in [false, true] {
        let folder = folder();
        fs::write(folder.path().join("claims.yaml"), ONE_TASK).unwrap();
        let mut host = Host::of(folder.path(), &ARGUMENTS);
        let call = second_request(&mut host);
        if is_killed {
            host.kill();
            host = Host::of(folder.path(), &[&ARGUMENTS[..], &["--acknowledged-step", "1"]].concat());
        } else {
            host.reply(&call, &agreed(&call));
        }
        let calls = serve(&mut host);
        assert!(calls.iter().any(|call| call == "diagnose"), "{calls:?}");
        assert!(!calls.iter().any(|call| call.starts_with("run_task")), "{calls:?}");
        let output = host.ends();
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(errors.contains("`one-task` (claims.yaml:2) forbids a call at step"), "{errors}");
        assert_eq!(
            forbidden(folder.path()),
            ["the claim `one-task` forbids the call: this is event 2 of at most 1"]
        );
    }
}

/// A fork is a conversation with effects, too: with a host, and with the replies of its scenario.
#[test]
fn forbidden_call_is_not_made_in_a_fork() {
    let folder = folder();
    let path = folder.path();
    let run = |args: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_orchestrion")).args(args).current_dir(path).output();
        let output = command.unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?} {}", stderr(&output));
    };
    run(&["init", "."]);
    fs::write(path.join("claims.yaml"), NO_TASK).unwrap();
    let reply = "call.reply={pro: {confidence: 0.9}}";
    let fork = ["fork", "scenarios/first-request.ndjson", "--step", "11", "--set", reply, "--output"];
    run(&[&fork[..], &["scripted.ndjson"]].concat());
    let scripted = fs::read_to_string(path.join("scripted.ndjson")).unwrap();
    assert!(scripted.contains("\"failure\":\"forbidden\""), "{scripted}");
    run(&["replay", "scripted.ndjson", "--recorded-policy"]);
    let mut host = Host::of_command(path, &[&fork[..], &["stdio.ndjson", "--stdio"]].concat());
    // Waits until the request has ended.
    host.send("\"close\"\n");
    let calls = serve(&mut host);
    assert!(calls.iter().any(|call| call == "deliver_audit"), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("run_task")), "{calls:?}");
}

/// Of two tasks that start together, the second one is not made while the first one runs. The task after both does not start.
#[test]
fn only_one_of_parallel_tasks_is_made() {
    let folder = folder();
    fs::write(folder.path().join("claims.yaml"), ONE_TASK).unwrap();
    let mut host = Host::of(folder.path(), &ARGUMENTS);
    let planner = host.until("draft_plan", &mut Vec::new());
    let order =
        |task: u32| json!({"task": task, "do": format!("Order {task}"), "undo": "Cancel", "depends_on": []});
    let plan = json!([order(1), order(2), {"task": 3, "do": "Compare", "depends_on": [1, 2]}]);
    host.reply(&planner, &json!({ "plan": plan }));
    let first = host.until("run_task", &mut Vec::new());
    assert_eq!(first["payload"]["task"]["id"], 1);
    host.reply(&first, &agreed(&first));
    let calls = serve(&mut host);
    assert!(!calls.iter().any(|call| call.starts_with("run_task")), "{calls:?}");
    assert_eq!(host.ends().status.code(), Some(0));
    // The second request starts both tasks again, and neither is made.
    assert_eq!(forbidden(folder.path()).len(), 3 - 1);
}

/// A program without claims sent the task and was killed. The next one with claims asks whether it was made: if not, it is forbidden; if so,
/// its result is recorded, and the claim is violated.
#[test]
fn call_of_an_earlier_program_is_recovered() {
    for was_made in [false, true] {
        let folder = folder();
        fs::write(folder.path().join("claims.yaml"), NO_TASK).unwrap();
        let mut host = Host::of(folder.path(), &ARGUMENTS[..3]);
        let call = host.until("run_task", &mut Vec::new());
        host.kill();
        let step = call["step"].to_string();
        let mut host = Host::of(folder.path(), &[&ARGUMENTS[..], &["--acknowledged-step", &step]].concat());
        let recover = host.until("run_task", &mut Vec::new());
        assert_eq!(recover["recover"]["id"], call["id"]);
        if was_made {
            host.reply(&call, &agreed(&call));
        } else {
            host.send(&format!("{}\n", json!({"not_started": {"call": call["id"]}})));
        }
        let calls = serve(&mut host);
        assert!(!calls.iter().any(|call| call.starts_with("run_task")), "{calls:?}");
        let output = host.ends();
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(i32::from(was_made)), "{errors}");
        assert_eq!(errors.contains("VIOLATED at step"), was_made, "{errors}");
        assert_eq!(errors.contains("a call that the claim forbids was made"), was_made, "{errors}");
        // The task of the second request is forbidden in both cases.
        assert_eq!(forbidden(folder.path()).len(), 2 - usize::from(was_made));
    }
}

/// The events before a rotation are not in the journal.
#[test]
fn enforcement_needs_all_events_that_it_counts() {
    let folder = folder();
    fs::write(folder.path().join("claims.yaml"), ONE_TASK).unwrap();
    let mut host = Host::of(folder.path(), &ARGUMENTS);
    let _call = second_request(&mut host);
    host.kill();
    let rotate = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["journal", "rotate", "hello.ndjson"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(rotate.status.success(), "{}", stderr(&rotate));
    let before = fs::read(folder.path().join("hello.ndjson")).unwrap();
    let output = Host::of(folder.path(), &ARGUMENTS).ends();
    assert_eq!(output.status.code(), Some(2));
    assert!(fs::read(folder.path().join("hello.ndjson")).unwrap() == before);
    let errors = stderr(&output);
    assert!(
        errors.contains("the claim `one-task` cannot be enforced") && errors.contains("journal join"),
        "{errors}"
    );
}
