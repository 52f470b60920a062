//! A project's network with its keys, from `init` to signed handoffs over standard input and output. No secret leaves its file.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SCENARIO: &str = "scenarios/in-network.yaml";

/// Creates a project.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    runner::run(0, folder.path(), &["init"]);
    folder
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// What a host received, the exit code, and standard error.
struct Served {
    messages: Vec<Value>,
    code: Option<i32>,
    errors: String,
}

/// Serves a conversation. `before_reply` returns messages that the host sends before its reply to a call.
fn serve(folder: &Path, arguments: &[&str], before_reply: impl FnMut(&Value) -> Vec<Value>) -> Served {
    serve_command(folder, &[&["run", "--stdio"], arguments].concat(), before_reply)
}

fn serve_command(
    folder: &Path,
    arguments: &[&str],
    mut before_reply: impl FnMut(&Value) -> Vec<Value>,
) -> Served {
    let mut child = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut messages = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if let Some(call) = message.get("call") {
            let mut sent = before_reply(call);
            sent.push(json!({"reply": {"call": call["id"], "content": reply(call)}}));
            for message in sent {
                // It may have ended.
                let _ = writeln!(input, "{message}");
            }
        }
        messages.push(message);
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    Served { messages, code: output.status.code(), errors }
}

fn operation(call: &Value) -> &str {
    match &call["operation"] {
        Value::String(name) => name,
        name => name.as_object().unwrap().keys().next().unwrap(),
    }
}

fn reply(call: &Value) -> Value {
    match operation(call) {
        "verify_identity" => json!({"locks": {"gcp": true, "mongodb": true}}),
        "load_context" => json!({"context": {}}),
        "classify" => json!({"classification": {"similarity": 0.25}}),
        "draft_plan" => json!({"plan": [
            {"task": 1, "do": "Translate the letter", "requires": "translate", "depends_on": []},
            {"task": 2, "do": "Translate the answer", "requires": "translate", "depends_on": []},
        ]}),
        "run_task" => json!({"ok": "translated"}),
        "store_memory" => json!("stored"),
        "deliver_audit" => json!("delivered"),
        _ => json!({"pro": {"confidence": 0.9}}),
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[usize::try_from(bits & 63).unwrap()]);
    // Without the last, incomplete group, so that padding does not matter.
    bytes
        .chunks_exact(3)
        .flat_map(|group| {
            let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
            [18, 12, 6, 0].map(|shift| digit(bits >> shift))
        })
        .collect()
}

/// Returns the forms in which a secret could be written: bytes, hexadecimal digits, base64, and a list of numbers.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(&secret[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..secret.len()).step_by(2).map(byte).collect();
    let list: Vec<String> = bytes.iter().map(ToString::to_string).collect();
    vec![
        secret.into(),
        secret.to_uppercase().into(),
        base64(&bytes).into(),
        base64(&bytes).replace('+', "-").replace('/', "_").into(),
        list.join(",").into(),
        bytes,
    ]
}

#[test]
fn init_creates_private_keys() {
    let folder = project();
    let keys = folder.path().join("keys");
    assert_eq!(mode(&keys), 0o700);
    for node in ["office", "ana", "ben"] {
        assert_eq!(mode(&keys.join(format!("{node}.key"))), 0o600);
    }
    if Command::new("git").arg("--version").output().is_ok() {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        let staged = git(&["diff", "--cached", "--name-only"]);
        assert!(staged.contains("network.yaml") && !staged.contains("keys"), "{staged}");
    } else {
        eprintln!("skipped: there is no git here");
    }
}

#[test]
fn secrets_stay_in_key_files() {
    let folder = project();
    let read = |node: &str| fs::read_to_string(folder.path().join(format!("keys/{node}.key"))).unwrap();
    let nodes = ["office", "ana", "ben"];
    let mut secrets: Vec<String> = nodes.iter().map(|node| read(node).trim().to_owned()).collect();
    runner::run(0, folder.path(), &["run"]);
    runner::run(0, folder.path(), &["replay"]);
    let mut printed = String::new();
    for journal in ["one.ndjson", "two.ndjson"] {
        let served =
            serve(folder.path(), &[SCENARIO, "--journal", journal, "--keys", "keys"], |_| Vec::new());
        assert_eq!(served.code, Some(0), "{}", served.errors);
        let handed_off = served.messages.iter().filter(|message| message["call"].get("handoff").is_some());
        assert_eq!(handed_off.count(), 2, "both tasks go to another node");
        printed.extend(served.messages.iter().map(Value::to_string));
        let (out, err) = runner::run(0, folder.path(), &["keys", "rotate", "network.yaml", "office"]);
        printed += &(out + &err);
        secrets.push(read("office").trim().to_owned());
    }
    runner::run(0, folder.path(), &["replay"]);
    assert_eq!(secrets.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    let mut places = vec![("output".to_owned(), printed.into_bytes())];
    for path in files(folder.path()) {
        if path.extension().is_none_or(|extension| extension != "key") {
            places.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    assert!(places.iter().any(|(name, _)| name.ends_with("one.ndjson")));
    for form in secrets.iter().flat_map(|secret| forms(secret)) {
        for (name, bytes) in &places {
            assert!(!bytes.windows(form.len()).any(|window| window == form), "a secret is in {name}");
        }
    }
}

#[test]
fn receiver_refuses_forged_and_replayed_handoffs() {
    let folder = project();
    let mut first: Option<Value> = None;
    let served = serve(folder.path(), &[SCENARIO, "--journal", "one.ndjson", "--keys", "keys"], |call| {
        let Some(handoff) = call.get("handoff") else { return Vec::new() };
        match &first {
            None => {
                first = Some(handoff.clone());
                Vec::new()
            }
            Some(first) => {
                let mut forged = handoff.clone();
                forged["handoff"]["operation"] = json!("another operation");
                let mut foreign = handoff.clone();
                foreign["handoff"]["from_node"] = json!("zoe");
                vec![json!({"handoff": first}), json!({"handoff": forged}), json!({"handoff": foreign})]
            }
        }
    });
    assert_eq!(served.code, Some(0), "{}", served.errors);
    let call = |at: usize| {
        let calls = served.messages.iter().filter_map(|message| message.get("call"));
        calls.filter(|call| call.get("handoff").is_some()).nth(at).unwrap()
    };
    let notices = refused_handoffs(&served);
    let [replayed, forged, foreign] = notices.as_slice() else { panic!("{notices:?}") };
    let next_line = replayed["line"].as_u64().unwrap() + 1;
    assert_eq!(
        **replayed,
        json!({
            "line": replayed["line"], "call": call(0)["id"], "from": "office", "to": call(0)["node"],
            "refusal": "not_expected",
            "reason": format!("{} refuses the handoff of call {} from office: no such handoff is expected",
                call(0)["node"].as_str().unwrap(), call(0)["id"]),
        })
    );
    assert_eq!(forged["line"], next_line);
    assert_eq!(forged["call"], call(1)["id"]);
    assert_eq!(forged["refusal"], "invalid_signature");
    let mismatch = "signature mismatch: expected the signature of this handoff by the sender";
    assert!(forged["reason"].as_str().unwrap().contains(mismatch), "{forged}");
    let unknown = "unknown sender: expected a node of the network, found zoe";
    assert!(foreign["reason"].as_str().unwrap().contains(unknown), "{foreign}");
    // The receiver refuses all. The conversation continues, and its trace states the reasons.
    let (shown, _) = runner::run(0, folder.path(), &["show", "one.ndjson"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("refuses the handoff: no such handoff is expected"), "{shown}");
    assert!(shown.contains("refuses the handoff: the signature is invalid"), "{shown}");
    assert!(
        shown.contains("signature mismatch: expected the signature of this handoff by the sender"),
        "{shown}"
    );
    assert!(shown.contains("2 of 2 tasks succeeded"), "{shown}");
}

/// The notices of refused handoffs that the host received.
fn refused_handoffs(served: &Served) -> Vec<&Value> {
    served.messages.iter().filter_map(|message| message.get("handoff_refused")).collect()
}

/// The originator learns that a node refused, why, and which call repeats the attempt.
#[test]
fn refused_attempt_names_its_repetition() {
    let cases = [
        ("{quality: 0.9, max_capacity: 2, tasks: 2}\n    load: 0.1", "overloaded"),
        // An unavailable node is no candidate, so that nothing is refused.
        ("{quality: 0.9, max_capacity: 2, available: false}", ""),
    ];
    for (ana, refusal) in cases {
        let folder = project();
        let path = folder.path().join("network.yaml");
        let network = fs::read_to_string(&path).unwrap().replace("{quality: 0.9, max_capacity: 2}", ana);
        fs::write(&path, network).unwrap();
        let served =
            serve(folder.path(), &[SCENARIO, "--journal", "one.ndjson", "--keys", "keys"], |_| Vec::new());
        assert_eq!(served.code, Some(0), "{}", served.errors);
        let notices = refused_handoffs(&served);
        if refusal.is_empty() {
            assert!(notices.is_empty(), "{notices:?}");
            continue;
        }
        // Both tasks are members of one fan-out, and ana refuses each.
        assert_eq!(notices.len(), 2, "{notices:?}");
        for notice in notices {
            assert_eq!((&notice["line"], &notice["to"]), (&json!(0), &json!("ana")), "{notice}");
            assert_eq!(notice["refusal"], refusal);
            let calls = served.messages.iter().filter_map(|message| message.get("call"));
            let repeated = calls.clone().find(|call| call["id"] == notice["repeated_as"]).unwrap();
            assert_eq!(repeated["node"], "ben");
            assert!(
                calls.clone().all(|call| call["id"] != notice["call"]),
                "no node executes the refused call"
            );
        }
    }
}

#[test]
fn invalid_keys_are_reported_before_the_conversation() {
    let mut report = String::new();
    type Change = fn(&Path);
    let cases: [(&str, &[&str], Change); 10] = [
        ("no --keys", &[], |_| ()),
        ("no folder", &["--keys", "nowhere"], |_| ()),
        ("a file", &["--keys", "network.yaml"], |_| ()),
        ("missing key of the orchestrator", &["--keys", "keys"], |folder| {
            fs::remove_file(folder.join("keys/office.key")).unwrap();
        }),
        ("malformed key", &["--keys", "keys"], |folder| {
            fs::write(folder.join("keys/ana.key"), "my secret\n").unwrap();
        }),
        ("empty key", &["--keys", "keys"], |folder| fs::write(folder.join("keys/ana.key"), "").unwrap()),
        ("key of another node", &["--keys", "keys"], |folder| {
            fs::copy(folder.join("keys/ben.key"), folder.join("keys/ana.key")).unwrap();
        }),
        ("key file open to others", &["--keys", "keys"], |folder| {
            fs::set_permissions(folder.join("keys/ana.key"), fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("folder open to others", &["--keys", "keys"], |folder| {
            fs::set_permissions(folder.join("keys"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("no public key", &["--keys", "keys"], |folder| {
            let network = fs::read_to_string(folder.join("network.yaml")).unwrap();
            let lines = network.lines().filter(|line| !line.contains("public_key"));
            fs::write(folder.join("network.yaml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
        }),
    ];
    for (name, arguments, change) in cases {
        let folder = project();
        change(folder.path());
        let served =
            serve(folder.path(), &[&[SCENARIO, "--journal", "one.ndjson"], arguments].concat(), |_| {
                Vec::new()
            });
        assert_eq!(served.code, Some(2), "{name}: {}", served.errors);
        assert!(served.messages.is_empty(), "{name}: {:?}", served.messages);
        // Public keys are random.
        let errors = hide_digits(&served.errors);
        assert!(errors.contains("help:") || errors.contains("; "), "{name}: {errors}");
        report.push_str(&format!("# {name}\n{errors}\n"));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(report) });
}

/// Every file below a folder, with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Leaves a conversation before the host replies to its first call.
fn interrupt(folder: &Path, journal: &str) {
    let arguments = ["run", "--stdio", SCENARIO, "--keys", "keys", "--journal", journal];
    runner::run(3, folder, &arguments);
}

#[test]
fn refused_run_changes_no_file() {
    let folder = project();
    let served = serve(folder.path(), &[SCENARIO, "--keys", "keys"], |_| Vec::new());
    assert_eq!(served.code, Some(0), "{}", served.errors);
    interrupt(folder.path(), "open.ndjson");
    let before = contents(folder.path());
    assert!(!before[&folder.path().join(".orchestrion/in-network.trace.ndjson")].is_empty());
    for arguments in [
        &[SCENARIO][..],
        &[SCENARIO, "--keys", "nowhere"],
        &["hardened", "--keys", "keys"],
        &[SCENARIO, "--journal", "new.ndjson"],
        &["hardened", "--keys", "keys", "--journal", "new.ndjson"],
        &[SCENARIO, "--journal", "open.ndjson"],
        &[SCENARIO, "--journal", "open.ndjson", "--keys", "nowhere"],
        &[SCENARIO, "--out-dir", "other"],
    ] {
        runner::run(2, folder.path(), &[&["run", "--stdio"], arguments].concat());
        assert!(contents(folder.path()) == before, "{arguments:?}");
        assert!(!folder.path().join("other").exists());
    }
}

/// A change of the network would have no effect on the conversation.
#[test]
fn resumed_conversation_refuses_another_network() {
    let folder = project();
    let path = folder.path().join("network.yaml");
    let resume = ["run", "--stdio", SCENARIO, "--keys", "keys", "--journal", "open.ndjson"];
    interrupt(folder.path(), "open.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once("\n  ana:").unwrap();
    let changed = format!("{before}\n  ana:{}", after.replacen("status: member", "status: expelled", 1));
    assert_ne!(changed, text);
    fs::write(&path, &changed).unwrap();
    let journal = contents(folder.path());
    let (_, error) = runner::run(2, folder.path(), &resume);
    let error = error.replace("\n  │ ", " ");
    for part in [
        "open.ndjson: network mismatch: nodes.ana.status: expected \"member\", found \"expelled\"",
        "help: restore",
    ] {
        assert!(error.contains(part), "{part} in\n{error}");
    }
    assert!(contents(folder.path()) == journal);
    // Another text of the same network.
    fs::write(&path, format!("# Nodes.\n{text}")).unwrap();
    interrupt(folder.path(), "open.ndjson");
    // A segment does not have the network.
    runner::run(0, folder.path(), &["journal", "rotate", "open.ndjson"]);
    fs::write(&path, &changed).unwrap();
    let (_, notes) = runner::run(3, folder.path(), &resume);
    assert!(notes.replace('\n', " ").contains("the network is that of an earlier segment"), "{notes}");
}

#[test]
fn resumed_conversation_keeps_its_keys() {
    let folder = project();
    let key = folder.path().join("keys/ana.key");
    let old = fs::read(&key).unwrap();
    interrupt(folder.path(), "open.ndjson");
    runner::run(0, folder.path(), &["keys", "rotate", "network.yaml", "ana"]);
    let before = contents(folder.path());
    let resume = ["run", "--stdio", SCENARIO, "--keys", "keys", "--journal", "open.ndjson"];
    let (_, error) = runner::run(2, folder.path(), &resume);
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(error.contains("wrong key of node ana"), "{error}");
    assert!(error.contains("restore the key files with which the conversation began"), "{error}");
    assert!(contents(folder.path()) == before);
    // As the help says. The network file has the new public key.
    fs::write(&key, old).unwrap();
    interrupt(folder.path(), "open.ndjson");
}

#[test]
fn host_of_a_fork_signs_with_keys() {
    let folder = project();
    let served =
        serve(folder.path(), &[SCENARIO, "--journal", "one.ndjson", "--keys", "keys"], |_| Vec::new());
    assert_eq!(served.code, Some(0), "{}", served.errors);
    let journal = fs::read_to_string(folder.path().join("one.ndjson")).unwrap();
    let is_argument = |line: &str| line.contains("\"argument\"");
    let step = journal.lines().skip(1).position(is_argument).unwrap() + 1;
    let step = step.to_string();
    let set = "call.reply={pro: {confidence: 0.8}}";
    let fork =
        ["fork", "one.ndjson", "--step", &step, "--set", set, "--stdio", "--output", "fork.ndjson", "--keys"];
    let (_, error) = runner::run(2, folder.path(), &fork[..fork.len() - 1]);
    assert!(error.contains("no keys: expected --keys"), "{error}");
    assert!(!folder.path().join("fork.ndjson").exists());
    let mut is_first = true;
    let served = serve_command(folder.path(), &[&fork[..], &["keys"]].concat(), |_| {
        if std::mem::take(&mut is_first) { vec![json!("close")] } else { Vec::new() }
    });
    assert_eq!(served.code, Some(0), "{}", served.errors);
    assert_eq!(refused_handoffs(&served), Vec::<&Value>::new());
    let handed_off = served.messages.iter().filter(|message| message["call"].get("handoff").is_some());
    assert_eq!(handed_off.count(), 2);
    let (shown, _) = runner::run(0, folder.path(), &["show", "fork.ndjson"]);
    assert!(shown.contains("2 of 2 tasks succeeded"), "{shown}");
}

/// Replaces the start of each public key.
fn hide_digits(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n']);
    words
        .map(|word| {
            let digits = word.trim_end_matches(['\n', ' ', ',']);
            match digits.strip_suffix('…') {
                Some(key) if key.len() == 8 && key.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    word.replace(key, "HEX")
                }
                _ => word.to_owned(),
            }
        })
        .collect()
}

#[test]
fn missing_key_of_another_node_is_noted() {
    let folder = project();
    fs::remove_file(folder.path().join("keys/ben.key")).unwrap();
    let served =
        serve(folder.path(), &[SCENARIO, "--journal", "one.ndjson", "--keys", "keys"], |_| Vec::new());
    assert_eq!(served.code, Some(0), "{}", served.errors);
    assert!(
        served.errors.contains("keys/ben.key: missing key of node ben; calls that ben hands off fail"),
        "{}",
        served.errors
    );
}
