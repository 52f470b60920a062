//! `check --checkpoint`: kills at any moment, and checkpoints that are refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const CHECK: [&str; 9] =
    ["check", "--policy", "as-drawn", "--scope", "tiny", "--model", "debate", "--model", "lifecycle"];

fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrion"));
    command.args(CHECK).args(more).current_dir(folder);
    command
}

/// Starts a check without a reader of its report: one that waits at a full pipe would never end.
fn start(folder: &Path, more: &[&str]) -> Child {
    command(folder, more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a check to its end: its exit code, report and messages.
fn run(folder: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let output = command(folder, more).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn refused(folder: &Path, more: &[&str], expected: &[&str]) {
    let (code, report, message) = run(folder, more);
    assert_eq!((code, report.as_str()), (Some(2), ""), "{message}");
    let words: Vec<&str> = message.split_whitespace().filter(|word| *word != "│").collect();
    let message = words.join(" ");
    for expected in expected {
        assert!(message.contains(expected), "expected {expected:?} in: {message}");
    }
}

const CHECKPOINTS: [&str; 4] = ["--checkpoint", "progress", "--checkpoint-states", "500"];

fn checkpoint(folder: &Path, model: &str) -> PathBuf {
    folder.join(format!("progress/1-{model}.checkpoint"))
}

#[test]
fn killed_check_continues_to_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let json = ["--format", "json"];
    let (code, uninterrupted, message) = run(folder.path(), &json);
    assert_eq!(code, Some(1), "{message}");
    let (mut kills, mut continued, mut random) = (0, 0, 1_u64);
    loop {
        continued += usize::from(checkpoint(folder.path(), "debate").exists());
        let mut check = start(folder.path(), &[&CHECKPOINTS[..], &json].concat());
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Later runs get more time, so that a loaded machine also finishes.
        sleep(Duration::from_millis((random >> 33) % (20 + kills * kills)));
        match check.try_wait().unwrap() {
            None => {
                check.kill().unwrap();
                check.wait().unwrap();
                kills += 1;
            }
            Some(status) => {
                assert_eq!(status.code(), Some(1));
                break;
            }
        }
    }
    assert!(kills > 3 && continued > 3, "{kills} kills, {continued} checks continued");
    // Once with the checkpoint of finished models, and once after the last kill.
    let (code, report, message) = run(folder.path(), &[&CHECKPOINTS[..], &json].concat());
    assert_eq!((code, report), (Some(1), uninterrupted), "{message}");
    assert!(message.contains("debate: continues from progress/1-debate.checkpoint"), "{message}");
}

#[test]
fn unfit_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &CHECKPOINTS).0, Some(1));
    let help = "help: choose another folder with --checkpoint, or delete this file";
    let file = checkpoint(folder.path(), "debate");
    let whole = fs::read(&file).unwrap();
    for torn in [&whole[..whole.len() / 2], &whole[..100]] {
        fs::write(&file, torn).unwrap();
        refused(folder.path(), &CHECKPOINTS, &["debate.checkpoint is damaged: expected digest", help]);
    }
    fs::copy(checkpoint(folder.path(), "lifecycle"), &file).unwrap();
    refused(folder.path(), &CHECKPOINTS, &["is of another model: expected debate, found lifecycle", help]);
    fs::write(&file, "digraph {}").unwrap();
    refused(folder.path(), &CHECKPOINTS, &["is not a checkpoint", "orchestrion-checkpoint/1", help]);
    fs::write(folder.path().join("file"), "").unwrap();
    refused(
        folder.path(),
        &["--checkpoint", "file"],
        &["file: not a folder", "name a folder with --checkpoint"],
    );
    refused(folder.path(), &["--checkpoint", "progress", "--exact"], &["cannot be used with"]);
}

#[test]
fn checkpoint_of_another_check_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [&["check", "--model", "lifecycle", "--checkpoint", "progress"], arguments].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&["--policy", "as-drawn", "--scope", "tiny"]).0, Some(1));
    let (code, message) = run(&["--policy", "hardened", "--scope", "tiny"]);
    assert!(code == Some(2) && message.contains("of another policy"), "{message}");
    let (code, message) = run(&["--policy", "as-drawn", "--scope", "small"]);
    assert!(code == Some(2) && message.contains("of another scope"), "{message}");
    // A checkpoint of another build says so in its second line.
    let file = folder.path().join("progress/1-lifecycle.checkpoint");
    let content = fs::read(&file).unwrap();
    let start = String::from_utf8_lossy(&content[..100]).into_owned();
    assert!(start.starts_with("orchestrion-checkpoint/1\nprogram: "), "{start}");
}
