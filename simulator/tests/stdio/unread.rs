//! Hosts that do not read: deadlines, cancels and the end of input are not delayed.

use crate::host::{folder, start};
use orchestrion_kernel::Input;
use orchestrion_kernel::module::Failure;
use orchestrion_trace::{Reader, Step};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// Waits for the end of the command. Returns its exit code and its errors. The pipe of its output stays open and full.
fn end(child: &mut Child) -> (i32, String) {
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the command does not end");
        }
        thread::sleep(Duration::from_millis(20));
    };
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (status.code().unwrap(), errors.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn steps(path: &Path) -> Vec<Step> {
    let journal = fs::read(path).unwrap_or_default();
    let Ok(reader) = Reader::new(journal.as_slice(), "the journal") else { return Vec::new() };
    reader.map_while(Result::ok).collect()
}

fn wait_for(path: &Path, what: &str, is_found: impl Fn(&Step) -> bool) {
    for _ in 0..500 {
        if steps(path).iter().any(&is_found) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the journal contains no {what}");
}

fn is_timeout(step: &Step) -> bool {
    matches!(step.input, Input::CallFailed { failure: Failure::Timeout, .. })
}

/// Each call contains the request, and the pipe has room for less than one.
fn long_text() -> String {
    "paint the wall ".repeat(20_000)
}

#[test]
fn calls_of_host_that_never_reads_time_out() {
    let folder = folder();
    let requests = format!("  - text: {}\n  - text: Again\n", long_text().trim_end());
    let scenario =
        format!("description: A wall.\nuser: ada\ndeadlines: {{default: 300ms}}\nrequests:\n{requests}");
    fs::write(folder.path().join("wall.yaml"), scenario).unwrap();
    let mut child = start(folder.path(), &["wall.yaml", "--journal", "wall.ndjson"]);
    let (code, errors) = end(&mut child);
    assert_eq!(code, 3, "{errors}");
    assert!(errors.contains("the host did not read its standard input: "), "{errors}");
    // Identity guard, two stores and audit sink of both requests.
    let steps = steps(&folder.path().join("wall.ndjson"));
    assert!(steps.iter().filter(|step| is_timeout(step)).count() >= 4, "{}", steps.len());
    assert!(fs::read_to_string(folder.path().join("wall.ndjson")).unwrap().contains("{\"end\":"));
}

#[test]
fn host_that_never_reads_cancels_and_ends() {
    let folder = folder();
    let path = folder.path().join("office.ndjson");
    let mut child = start(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let mut input = child.stdin.take().unwrap();
    let request = json!({"request": {"user": "ada", "text": long_text()}});
    writeln!(input, "{request}").unwrap();
    wait_for(&path, "request", |step| matches!(step.input, Input::UserMessage { .. }));
    writeln!(input, "{}", json!({"input": {"idempotency_key": "c-1", "content": "cancel"}})).unwrap();
    wait_for(&path, "cancel", |step| matches!(step.input, Input::Cancel));
    drop(input);
    let (code, errors) = end(&mut child);
    assert_eq!(code, 3, "{errors}");
    assert!(errors.contains("the host did not read its standard input: "), "{errors}");
    assert!(errors.contains("standard input ended while call "), "{errors}");
    assert!(errors.contains("resume: orchestrion run --stdio hardened --journal office.ndjson"), "{errors}");
}

/// The output is bounded: the host is disconnected although its input is open.
#[test]
fn host_with_too_much_unread_output_is_disconnected() {
    let folder = folder();
    let mut child = start(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let mut input = child.stdin.take().unwrap();
    let sender = thread::spawn(move || {
        let lines = "no message\n".repeat(1000);
        while input.write_all(lines.as_bytes()).is_ok() {}
    });
    let (code, errors) = end(&mut child);
    assert_eq!(code, 3, "{errors}");
    assert!(
        errors.contains("more than 16777216 bytes waited for the host, so it was disconnected; resume: "),
        "{errors}"
    );
    sender.join().unwrap();
}

/// A host that reads slowly gets every message.
#[test]
fn slow_host_gets_every_message() {
    let folder = folder();
    let mut child = start(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let lines = "no message\n".repeat(5000);
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    let mut text = String::new();
    let mut part = vec![0; 100_000];
    loop {
        thread::sleep(Duration::from_millis(100));
        match output.read(&mut part).unwrap() {
            0 => break,
            read => text.push_str(std::str::from_utf8(&part[..read]).unwrap()),
        }
    }
    let (code, errors) = end(&mut child);
    assert_eq!((code, text.lines().count()), (3, 5001), "{errors}");
    assert!(!errors.contains("did not read"), "{errors}");
}
