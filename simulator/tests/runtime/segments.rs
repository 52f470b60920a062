//! The command `journal`: rotation under kills, erased texts, and refusals with their remedy.

use super::team::{ScriptedTeam, journal, opened, reopened};
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Conversation, IdempotencyKey, JournalFile, NewRequest};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{ConversationFold, Header, Reader, Writer};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrion"));
    command.args(args).current_dir(folder).env("COLUMNS", "200");
    command
}

pub(super) fn orchestrion(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

pub(super) fn stdout(output: &Output) -> String {
    assert_eq!(output.stderr, b"", "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The error of a refused command, on one line, with exit code 2.
pub(super) fn refused(folder: &Path, args: &[&str]) -> String {
    let output = orchestrion(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×', '╰', '├', '▶', '─'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) async fn requests(path: &Path, count: usize) -> u64 {
    let mut conversation = opened(path);
    for _ in 0..count {
        let text = "Order paper, says Grace Hopper";
        conversation.run_request(&ScriptedTeam::agrees(), "ada", text).await.unwrap();
    }
    conversation.steps()
}

/// The worked example of the help.
#[tokio::test]
async fn journal_is_rotated_erased_and_joined() {
    let (folder, path) = journal();
    let first = requests(&path, 2).await;
    let segment = format!("office.{first}.ndjson");
    let page = stdout(&orchestrion(folder.path(), &["journal", "rotate", "office.ndjson"]));
    assert_eq!(
        page,
        format!(
            "  segment  {segment}, up to step {first}\n  journal  office.ndjson, from step {}\n",
            first + 1
        )
    );
    let steps = requests(&path, 1).await;
    let both = ["journal", "join", &segment, "office.ndjson"];
    assert_eq!(
        stdout(&orchestrion(folder.path(), &both)),
        format!("  joined   2 segments, {steps} steps, open\n")
    );

    let trace = ["--out", "joined.ndjson"];
    let output = orchestrion(folder.path(), &[&both[..], &trace].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&orchestrion(folder.path(), &["replay", "joined.ndjson"])).contains("1 equal"));

    let erase = ["journal", "erase", &segment, "--containing", "Grace Hopper"];
    let page = stdout(&orchestrion(folder.path(), &erase));
    assert_eq!(page, format!("  erased   2 texts in 2 steps of {segment}\n"));
    assert!(!fs::read_to_string(folder.path().join(&segment)).unwrap().contains("Grace"));
    let output = orchestrion(folder.path(), &both);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("erased   2 texts; "), "{output:?}");
    let output = orchestrion(folder.path(), &["replay", &segment]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("NOT VERIFIED where texts were erased"), "{output:?}");
}

/// The chain proves integrity, not origin. A state that does not follow from the segment before is detected, also where no decision
/// reads it.
#[tokio::test]
async fn forged_state_is_not_joined() {
    let (folder, path) = journal();
    let first = requests(&path, 2).await;
    orchestrion(folder.path(), &["journal", "rotate", "office.ndjson"]);
    let (segment, next) = (format!("office.{first}.ndjson"), fs::read(&path).unwrap());
    let reader = Reader::new_segment(next.as_slice(), "office").unwrap();
    let start = serde_json::to_value(reader.start().unwrap()).unwrap();
    let forgeries: [fn(&mut Value); 6] = [
        |_| {},
        |start| start["facts"]["passes"] = 7.into(),
        |start| start["facts"]["result"][1]["text"] = "no".into(),
        |start| start["facts"]["audit_record"][1]["tasks"] = json!([]),
        |start| {
            start["inputs"] =
                json!([{"idempotency": {"key": "k", "digest": "d"}, "step": 1, "is_accepted": true}]);
        },
        |start| start["possible_loss"] = "steps".into(),
    ];
    for (forgery, forge) in forgeries.into_iter().enumerate() {
        let mut forged = start.clone();
        forge(&mut forged);
        assert_eq!(forged == start, forgery == 0, "{start}");
        let fold: ConversationFold = serde_json::from_value(forged).unwrap();
        let mut writer = Writer::new_segment(Vec::new(), reader.header(), &fold).unwrap();
        fs::write(&path, writer.output()).unwrap();
        let joined = orchestrion(folder.path(), &["journal", "join", &segment, "office.ndjson"]);
        let out = [joined.stdout, joined.stderr].concat();
        let (code, out) = (joined.status.code(), String::from_utf8_lossy(&out));
        assert_eq!(code, Some(i32::from(forgery > 0)), "forgery {forgery}: {out}");
        assert_eq!(out.contains("the state at the start"), forgery > 0, "forgery {forgery}: {out}");
    }
}

/// A segment is finished, but the only record of its steps: no command that writes a trace replaces it.
#[tokio::test]
async fn segment_is_not_replaced_by_a_trace() {
    let (folder, path) = journal();
    let steps = requests(&path, 1).await;
    orchestrion(folder.path(), &["journal", "rotate", "office.ndjson"]);
    let segment = format!("office.{steps}.ndjson");
    let before = fs::read(folder.path().join(&segment)).unwrap();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios/happy.ndjson");
    fs::copy(golden, folder.path().join("happy.ndjson")).unwrap();
    fs::copy(golden.replace("ndjson", "yaml"), folder.path().join("happy.yaml")).unwrap();
    let fork = ["fork", "happy.ndjson", "--step", "8", "--set", "call.error=timeout", "--output"];
    for args in [
        vec!["journal", "join", &segment, "--out", &segment],
        vec!["journal", "join", &segment, "office.ndjson", "--out", &segment],
        vec!["show", "happy.ndjson", "--redact", &segment],
        [&fork[..], &[segment.as_str()]].concat(),
        [&fork[..], &[segment.as_str(), "--stdio"]].concat(),
    ] {
        let error = refused(folder.path(), &args);
        assert!(error.contains("is not a trace with all events and is not overwritten"), "{args:?} {error}");
        assert_eq!(fs::read(folder.path().join(&segment)).unwrap(), before, "{args:?}");
    }
    let error = refused(folder.path(), &[&fork[..], &["happy.ndjson"]].concat());
    assert!(error.contains("is the input trace and is not overwritten"), "{error}");
}

/// Nothing of an erased text stays beside the segment, and what cannot be erased is named.
#[tokio::test]
async fn erased_text_is_in_no_snapshot_and_kept_names_are_counted() {
    let (folder, path) = journal();
    let steps = requests(&path, 2).await;
    orchestrion(folder.path(), &["journal", "rotate", "office.ndjson"]);
    let segment = format!("office.{steps}.ndjson");
    let snapshot = folder.path().join(format!("{segment}.snapshot"));
    fs::write(&snapshot, "says Grace Hopper").unwrap();
    let output = orchestrion(folder.path(), &["journal", "erase", &segment, "--containing", "Grace"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!snapshot.exists());
    let output = orchestrion(folder.path(), &["journal", "erase", &segment, "--containing", "ada"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let page = stdout(&output);
    assert!(page.contains("lines with this text in a key, a name or a digest"), "{page}");
}

/// The chain covers an idempotency key as it covers a text. An erased key would not be recognized when the input is sent again.
#[tokio::test]
async fn erased_idempotency_key_is_refused() {
    let (_folder, path) = journal();
    let key = IdempotencyKey::new("order-1").unwrap();
    let request = NewRequest::from("Order paper").with_key(key);
    opened(&path).run_request(&ScriptedTeam::agrees(), "ada", request).await.unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let digest = orchestrion_trace::digest(b"order-1");
    let erased = format!(r#""idempotency":{{"key":{{"$erased":["{digest}",7]}}"#);
    let edited = text.replacen(r#""idempotency":{"key":"order-1""#, &erased, 1);
    assert_ne!(text, edited);
    fs::write(&path, edited).unwrap();
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None).into_journal();
    let file = JournalFile::open(&path).unwrap();
    let error = Conversation::open_with(file, &header, &StandardContexts).unwrap_err().to_string();
    assert!(error.contains("expected an idempotency key, which is never erased"), "{error}");
}

#[tokio::test]
async fn refusals_name_place_expectation_and_remedy() {
    let (folder, path) = journal();
    let folder = folder.path();
    let steps = requests(&path, 1).await;
    let rotate = ["journal", "rotate", "office.ndjson"];
    let conversation = reopened(&path);
    let locked = "office.ndjson: locked journal: expected one writer, found another conversation in this or another program; close it";
    assert!(refused(folder, &rotate).contains(locked));
    drop(conversation);
    assert!(
        refused(folder, &["journal", "rotate", "none.ndjson"])
            .contains("none.ndjson: no journal: expected a file")
    );
    assert!(!folder.join("none.ndjson").exists());
    let erase = |file: &str| refused(folder, &["journal", "erase", file, "--before", "9"]);
    assert!(
        erase("office.ndjson")
            .contains("open journal: expected a segment that rotation moved aside, found no end; run")
    );
    orchestrion(folder, &rotate);
    let segment = format!("office.{steps}.ndjson");
    let before = fs::read(folder.join(&segment)).unwrap();
    let wrong = refused(folder, &["journal", "join", "office.ndjson", &segment]);
    assert!(
        wrong.contains("office.ndjson: wrong segment: expected the first segment of a conversation, found a segment that continues step"),
        "{wrong}"
    );
    let shown = refused(folder, &["show", "office.ndjson"]);
    assert!(shown.contains("join the segments with `orchestrion journal join"), "{shown}");
    // A torn segment, and an edited one.
    fs::write(folder.join("torn.ndjson"), &before[..before.len() / 2]).unwrap();
    assert!(erase("torn.ndjson").contains("torn line: expected a chain and a newline"));
    let edited = String::from_utf8(before).unwrap().replacen("Grace", "Grade", 1);
    fs::write(folder.join("edited.ndjson"), &edited).unwrap();
    assert!(erase("edited.ndjson").contains("edited.ndjson:3: chain mismatch: expected"));
    assert_eq!(fs::read_to_string(folder.join("edited.ndjson")).unwrap(), edited);
    let neither = refused(folder, &["journal", "erase", &segment]);
    assert!(neither.contains("--before") && neither.contains("--containing"), "{neither}");
    // An empty text would be in every text.
    assert!(refused(folder, &["journal", "erase", &segment, "--containing", ""]).contains("--containing"));
}

/// The process is killed at many moments of a rotation. The journal then opens with all its steps, rotated or not, and the rotation can
/// be repeated.
#[tokio::test]
async fn killed_rotation_loses_nothing() {
    let (folder, path) = journal();
    let steps = requests(&path, 3).await;
    let whole = fs::read(&path).unwrap();
    let (mut rotated, mut unchanged) = (0, 0);
    for kill in 0..40u64 {
        fs::write(&path, &whole).unwrap();
        let mut child = command(folder.path(), &["journal", "rotate", "office.ndjson"]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(kill * 1500));
        // The process may have ended.
        let _ = child.kill();
        child.wait().unwrap();
        let is_rotated = fs::read(&path).unwrap() != whole;
        *if is_rotated { &mut rotated } else { &mut unchanged } += 1;
        assert_eq!(reopened(&path).steps(), steps, "kill {kill}");
        if is_rotated {
            let segment = format!("office.{steps}.ndjson");
            let joined = orchestrion(folder.path(), &["journal", "join", &segment, "office.ndjson"]);
            assert_eq!(joined.status.code(), Some(0), "kill {kill}");
        } else {
            let again = orchestrion(folder.path(), &["journal", "rotate", "office.ndjson"]);
            assert_eq!(
                again.status.code(),
                Some(0),
                "kill {kill}: {}",
                String::from_utf8_lossy(&again.stderr)
            );
        }
    }
    assert!(unchanged > 0, "{rotated} rotated, {unchanged} unchanged");
}
