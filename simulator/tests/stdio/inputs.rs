//! Inputs with an idempotency key: durable before they are acknowledged, and never recorded twice.

use crate::host::{Host, agreed, folder};
use orchestrion_kernel::Input;
use orchestrion_trace::{Reader, Step};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

fn line(key: &str, content: &Value) -> String {
    format!("{}\n", json!({"input": {"idempotency_key": key, "content": content}}))
}

fn signal(text: &str) -> Value {
    json!({"write": {"signal": {"key": "rain", "text": text}}})
}

/// A write that requires a session.
fn fact(key: &str) -> Value {
    json!({"write": {"fact": {"key": key, "text": "x"}}})
}

fn request(text: &str) -> Value {
    json!({"request": {"user": "ada", "text": text}})
}

/// The next message of this kind. Calls in between are answered; other messages are dropped.
fn next(host: &mut Host, kind: &str) -> Value {
    loop {
        let message = host.receive();
        assert!(!message.is_null(), "expected `{kind}`, found the end of the output");
        if let Some(content) = message.get(kind) {
            return content.clone();
        }
        if let Some(call) = message.get("call") {
            host.reply(&call.clone(), &agreed(call));
        }
    }
}

/// The steps of an open or closed journal.
fn steps(path: &Path) -> Vec<Step> {
    let journal = fs::read(path).unwrap_or_default();
    let Ok(reader) = Reader::new(journal.as_slice(), "office.ndjson") else { return Vec::new() };
    reader.map_while(Result::ok).collect()
}

/// The steps with a key, by key. No key has two steps.
fn keyed(path: &Path) -> BTreeMap<String, Step> {
    let mut found = BTreeMap::new();
    for step in steps(path) {
        if let Some(idempotency) = step.idempotency.clone() {
            let n = step.n;
            let other = found.insert(idempotency.key, step);
            assert!(other.is_none(), "step {n} repeats the key of {other:?}");
        }
    }
    found
}

#[test]
fn acknowledged_write_is_durable_without_request() {
    let folder = folder();
    let args = ["hardened", "--journal", "office.ndjson"];
    let path = folder.path().join("office.ndjson");
    let mut host = Host::of(folder.path(), &args);
    host.send(&line("w-1", &signal("heavy")));
    let first = next(&mut host, "acknowledged");
    assert_eq!(first, json!({"idempotency_key": "w-1", "step": 1, "accepted": true, "repeated": false}));
    assert_eq!(keyed(&path).len(), 1, "the step is durable before the acknowledgement");
    let again = json!({"idempotency_key": "w-1", "step": 1, "accepted": true, "repeated": true});
    host.send(&line("w-1", &signal("heavy")));
    assert_eq!(next(&mut host, "acknowledged"), again);
    host.send(&line("w-1", &signal("light")));
    let reused = next(&mut host, "key_reused");
    let reason =
        "reused idempotency key `w-1`: expected the input of step 1, found another; choose another key";
    assert_eq!(reused, json!({"idempotency_key": "w-1", "step": 1, "reason": reason}));
    host.kill();

    // The next process knows the key, and what belongs to it.
    let mut host = Host::of(folder.path(), &args);
    host.send(&line("w-1", &signal("heavy")));
    assert_eq!(next(&mut host, "acknowledged"), again);
    host.send(&line("w-1", &request("Order paper")));
    assert_eq!(next(&mut host, "key_reused")["step"], 1);
    let steps = steps(&path);
    assert_eq!(steps.iter().filter(|step| step.possible_loss.is_none()).count(), 1, "{steps:?}");
    host.ends();
}

#[test]
fn request_with_key_runs_once() {
    let folder = folder();
    let args = ["hardened", "--journal", "office.ndjson"];
    let path = folder.path().join("office.ndjson");
    let mut host = Host::of(folder.path(), &args);
    let paper = line("r-1", &request("Order paper"));
    host.send(&paper);
    let first = next(&mut host, "acknowledged");
    assert_eq!((&first["step"], &first["accepted"]), (&json!(2), &json!(true)));
    // While it runs, after it ended, and with another identity.
    host.send(&paper);
    assert_eq!(next(&mut host, "acknowledged")["repeated"], true);
    assert_eq!(next(&mut host, "final_answer")["text"], "done: Order");
    host.send(&paper);
    assert_eq!(next(&mut host, "acknowledged")["repeated"], true);
    let mut other = request("Order paper");
    other["request"]["identity"] = json!({"name": "Ada", "authority": "guest"});
    host.send(&line("r-1", &other));
    assert_eq!(next(&mut host, "key_reused")["step"], 2);
    host.send(&line("r-2", &request("Order toner")));
    assert_eq!(next(&mut host, "acknowledged")["repeated"], false);
    host.send("\"close\"\n");
    assert_eq!(next(&mut host, "final_answer")["text"], "done: Order");
    assert_eq!(host.receive(), "closed");
    let requests = steps(&path).iter().filter(|step| matches!(step.input, Input::UserMessage { .. })).count();
    assert_eq!(requests, 2);
    host.ends();
}

#[test]
fn refused_input_keeps_its_key() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let mut guest = request("Order paper");
    guest["request"]["identity"] = json!({"name": "Ada", "authority": "guest", "rank": "policy"});
    let late = json!({"write": {"signal": {"key": "rain", "text": "heavy", "supersedes": "nowhere"}}});
    // A request that starts no session, a write, and a cancel that no request awaits.
    for (key, content) in [("r-1", &guest), ("w-1", &late), ("c-1", &json!("cancel"))] {
        for repeated in [false, true] {
            host.send(&line(key, content));
            let notice = next(&mut host, "acknowledged");
            assert_eq!(notice["idempotency_key"], key);
            assert_eq!((&notice["accepted"], &notice["repeated"]), (&json!(false), &json!(repeated)));
        }
    }
    for (key, bytes) in [(String::new(), 0), ("k".repeat(129), 129)] {
        host.send(&line(&key, &signal("heavy")));
        let reason = next(&mut host, "parse_failed")["reason"].as_str().unwrap().to_owned();
        assert!(
            reason.starts_with(&format!("idempotency key of {bytes} bytes: expected 1 to 128")),
            "{reason}"
        );
    }
    assert_eq!(keyed(&folder.path().join("office.ndjson")).len(), 3);
    host.ends();
}

/// A write that belongs to a session waits for one, and is acknowledged then.
#[test]
fn write_of_session_is_acknowledged_with_it() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    host.send(&line("w-1", &json!({"write": {"working": {"key": "desk", "text": "left"}}})));
    host.send(&line("w-2", &signal("heavy")));
    assert_eq!(next(&mut host, "acknowledged")["idempotency_key"], "w-2");
    host.send(&line("r-1", &request("Order paper")));
    let rest = [next(&mut host, "acknowledged"), next(&mut host, "acknowledged")];
    assert_eq!(rest.each_ref().map(|notice| &notice["idempotency_key"]), ["r-1", "w-1"]);
    assert!(rest.iter().all(|notice| notice["accepted"] == true), "{rest:?}");
    host.ends();
}

/// A write beyond the limit is not recorded, so it has its effect when it is sent again. A repetition takes no further place.
#[test]
fn write_beyond_waiting_ones_keeps_its_effect() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let waiting = |n: usize| line(&format!("w-{n}"), &fact(&format!("k-{n}")));
    for (round, first) in [0, 32, 0, 32].into_iter().enumerate() {
        // The signal needs no session: when it is acknowledged, the mailbox is empty.
        let signal = line(&format!("s-{round}"), &signal(&format!("state {round}")));
        host.send(&(first..first + 32).map(waiting).chain([signal]).collect::<String>());
        assert_eq!(next(&mut host, "acknowledged")["idempotency_key"], format!("s-{round}"));
    }
    host.send(&waiting(64));
    let reason = "too many waiting inputs: expected at most 64 without a session; start one, then send again";
    assert_eq!(next(&mut host, "parse_failed"), json!({"line": 133, "reason": reason}));
    host.send(&line("r-1", &request("Order paper")));
    let acknowledged: Vec<_> = (0..65).map(|_| next(&mut host, "acknowledged")).collect();
    assert!(acknowledged.iter().all(|notice| notice["accepted"] == true), "{acknowledged:?}");
    assert_eq!(acknowledged[64]["idempotency_key"], "w-63");
    host.send(&waiting(64));
    let again = next(&mut host, "acknowledged");
    assert_eq!((&again["accepted"], &again["repeated"]), (&json!(true), &json!(false)));
    host.ends();
}

/// The session has no identity, so its rank is too low. Each form of the write is answered with the reason, also after a restart.
#[test]
fn denied_write_is_not_accepted() {
    let folder = folder();
    let args = ["hardened", "--journal", "office.ndjson"];
    let limit = json!({"write": {"constraint": {"fact": {"key": "limit", "text": "5"}, "type": "budget"}}});
    let shared = json!({"write": {"fact": {"key": "rule", "text": "x", "memory": "organizational"}}});
    let mut host = Host::of(folder.path(), &args);
    host.send(&line("r-1", &request("Order paper")));
    next(&mut host, "final_answer");
    host.send(&(line("w-1", &limit) + &format!("{shared}\n") + &line("s-1", &signal("heavy"))));
    let (mut refused, mut acknowledged) = (Vec::new(), Vec::new());
    while acknowledged.last().is_none_or(|notice: &Value| notice["idempotency_key"] != "s-1") {
        let message = host.receive();
        refused.extend(message.get("refused").cloned());
        acknowledged.extend(message.get("acknowledged").cloned());
    }
    let found: Vec<_> = refused.iter().filter_map(|refused| refused["reason"].as_str()).collect();
    assert_eq!(
        found,
        [
            "write denied: a constraint requires rank manager or above",
            "write denied: organizational memory requires rank employee or above"
        ]
    );
    let lines: Vec<_> = refused.iter().filter_map(|refused| refused["line"].as_u64()).collect();
    assert!(lines[0] > 1 && lines[1] == lines[0] + 1, "{lines:?}");
    let expected = |repeated| (json!(false), json!(repeated));
    let found = |notice: &Value| (notice["accepted"].clone(), notice["repeated"].clone());
    assert_eq!(found(&acknowledged[0]), expected(false));
    host.kill();
    let mut host = Host::of(folder.path(), &args);
    host.send(&line("w-1", &limit));
    let again = next(&mut host, "acknowledged");
    assert_eq!(found(&again), expected(true));
    host.ends();
}

/// Inputs that wait for a session are answered before the conversation is closed, because they cannot be sent again.
#[test]
fn close_answers_waiting_inputs() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    let text = json!({"ingest": {"text": "The budget is 5", "key": "budget"}});
    host.send(&(line("w-1", &fact("sky")) + &format!("{}\n{text}\n\"close\"\n", fact("sea"))));
    let mut messages = Vec::new();
    assert_eq!(host.until("nothing", &mut messages), "closed");
    let refused = |line: u64| json!({"refused": {"line": line, "reason": "no session: expected an open session; start one first"}});
    let answer = json!({"idempotency_key": "w-1", "step": 1, "accepted": false, "repeated": false});
    assert_eq!(messages[1..], [refused(1), refused(2), refused(3), json!({"acknowledged": answer})]);
    assert_eq!(host.ends().status.code(), Some(0));
}

/// A recorded write is acknowledged again although its session has ended.
#[test]
fn recorded_write_needs_no_session() {
    let folder = folder();
    let mut host = Host::of(folder.path(), &["hardened", "--journal", "office.ndjson"]);
    host.send(&(line("r-1", &request("Order paper")) + &line("w-1", &fact("budget"))));
    next(&mut host, "final_answer");
    // The session ends, and the next one does not start.
    let identity = json!({"name": "Bob", "authority": "guest", "rank": "policy"});
    let refused = json!({"request": {"user": "bob", "text": "Order toner", "identity": identity}});
    host.send(&line("r-2", &refused));
    assert_eq!(next(&mut host, "acknowledged")["idempotency_key"], "r-2");
    host.send(&(line("w-1", &fact("budget")) + &line("s-1", &signal("heavy"))));
    let again = next(&mut host, "acknowledged");
    assert_eq!((&again["idempotency_key"], &again["repeated"]), (&json!("w-1"), &json!(true)));
    host.ends();
}

/// A cancel that follows its request at once is not taken for a late one.
#[test]
fn cancel_after_request_cancels_it() {
    let folder = folder();
    for _ in 0..20 {
        let mut host = Host::of(folder.path(), &["hardened", "--out-dir", "."]);
        host.send(&(line("r-1", &request("Order paper")) + &line("c-1", &json!("cancel")) + "\"close\"\n"));
        let notices = [next(&mut host, "acknowledged"), next(&mut host, "acknowledged")];
        assert!(notices.iter().all(|notice| notice["accepted"] == true), "{notices:?}");
        assert_eq!(next(&mut host, "final_answer")["conclusion"]["cause"], "cancelled");
        assert_eq!(host.receive(), "closed");
        host.ends();
    }
}

/// The state of the host outside the process: what it wants recorded, and what was acknowledged.
struct Sender {
    contents: Vec<Value>,
    acknowledged: BTreeSet<usize>,
}

/// Runs one process until it is killed after this time, and returns whether every input was acknowledged before.
fn send_until_killed(folder: &Path, sender: &mut Sender, lifetime: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["run", "--stdio", "hardened", "--journal", "office.ndjson"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let killer = thread::spawn(move || {
        thread::sleep(lifetime);
        child.kill().unwrap();
        child.wait().unwrap();
    });
    // Few at a time, so that the mailbox has room, and one that was acknowledged before.
    let send = |input: &mut std::process::ChildStdin, sender: &Sender| {
        let open = (0..sender.contents.len()).filter(|n| !sender.acknowledged.contains(n)).take(3);
        let done = sender.acknowledged.last().copied();
        let lines: String = open.chain(done).map(|n| line(&format!("k-{n}"), &sender.contents[n])).collect();
        // Fails after the kill.
        let _ = input.write_all(lines.as_bytes()).and_then(|()| input.flush());
    };
    send(&mut input, sender);
    for text in output.lines() {
        let Ok(message) = text.and_then(|text| Ok(serde_json::from_str::<Value>(&text)?)) else { break };
        if let Some(call) = message.get("call").or_else(|| message.get("recover")) {
            let reply = json!({"reply": {"call": call["id"], "content": agreed(call)}});
            let _ = writeln!(input, "{reply}").and_then(|()| input.flush());
        } else if let Some(notice) = message.get("acknowledged") {
            let n = notice["idempotency_key"].as_str().unwrap().strip_prefix("k-").unwrap().parse().unwrap();
            // A request that is refused because another one runs is recorded, too.
            if sender.acknowledged.insert(n) {
                send(&mut input, sender);
            }
        }
        assert!(message.get("key_reused").is_none(), "{message}");
    }
    killer.join().unwrap();
    sender.acknowledged.len() == sender.contents.len()
}

/// 50 kills while writes and requests are sent; `.ci/nightly` kills 1,000 times.
#[test]
fn killed_process_keeps_acknowledged_inputs_once() {
    let kills = std::env::var("KILL_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    let (mut killed, mut conversations, mut repeated) = (0, 0, 0);
    // The moments of the kills follow from the number of the round.
    let lifetime = |round: u64| Duration::from_micros(12_000 + round * 7_919 % 45_000);
    while killed < kills {
        let folder = folder();
        let path = folder.path().join("office.ndjson");
        conversations += 1;
        let contents = (0..400).map(|n| match n % 8 {
            7 => request(&format!("Order {n}")),
            _ => signal(&format!("state {n}")),
        });
        let mut sender = Sender { contents: contents.collect(), acknowledged: BTreeSet::new() };
        while killed < kills {
            let was_acknowledged = sender.acknowledged.clone();
            let is_done = send_until_killed(folder.path(), &mut sender, lifetime(killed));
            killed += 1;
            let found = keyed(&path);
            for n in &sender.acknowledged {
                let step = found
                    .get(&format!("k-{n}"))
                    .unwrap_or_else(|| panic!("kill {killed}: input {n} is lost"));
                let text = sender.contents[*n].to_string();
                let is_content = match &step.input {
                    Input::Write(write) => text.contains(&write_text(write)),
                    Input::UserMessage { text: asked, .. } => text.contains(asked.as_str()),
                    other => panic!("unexpected input {other:?}"),
                };
                assert!(is_content, "kill {killed}: {text} is recorded as {:?}", step.input);
            }
            repeated += usize::from(found.len() > was_acknowledged.len());
            if is_done {
                break;
            }
        }
    }
    println!("{killed} kills in {conversations} conversations, {repeated} with new inputs");
    assert!(repeated * 2 > usize::try_from(kills).unwrap(), "expected that most processes record inputs");
}

fn write_text(write: &orchestrion_kernel::knowledge::Write) -> String {
    match write {
        orchestrion_kernel::knowledge::Write::Environment { text, .. } => text.to_string(),
        other => panic!("unexpected write {other:?}"),
    }
}
