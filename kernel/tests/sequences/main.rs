//! Sequences of inputs as text: commands, the line `----`, and their output. `README.md` describes the commands.
//!
//! Every `*.txt` in this folder is a test. `UPDATE_SEQUENCES=1` rewrites the outputs. Tests over many budgets, and of spoiled
//! events, are in Rust.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod arguments;
mod budgets;
mod canonical;
mod conversation;
mod faults;
mod inputs;
mod networks;
mod plans;
mod print;
mod print_network;
mod values;

use std::fmt::Write;
use std::path::Path;

const HELP: &str = "help: if the new output is correct, run `UPDATE_SEQUENCES=1 cargo test -p orchestrion-kernel --test \
                    sequences`, read the difference, and commit it";

#[test]
fn sequences_match_their_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sequences");
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "expected text files in {}, found none", folder.display());
    let mut report = String::new();
    for path in paths {
        let name = format!("kernel/tests/sequences/{}", path.file_name().unwrap().to_string_lossy());
        let text = std::fs::read_to_string(&path).unwrap();
        match run_file(&name, &text) {
            Err(error) => writeln!(report, "{error}").unwrap(),
            Ok((actual, _)) if std::env::var_os("UPDATE_SEQUENCES").is_some() => {
                std::fs::write(&path, actual).unwrap();
            }
            Ok((_, differences)) => report.push_str(&differences),
        }
    }
    assert!(report.is_empty(), "\n{report}{HELP}");
}

/// Runs the commands of a file. Returns its text with the actual outputs, and the differences.
fn run_file(name: &str, text: &str) -> Result<(String, String), String> {
    let (mut actual, mut differences) = (String::new(), String::new());
    let mut runner = conversation::Runner::default();
    let (mut found, mut last_command, mut title) = (Vec::new(), None, "");
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        writeln!(actual, "{line}").unwrap();
        if line == "----" {
            let expected = lines.by_ref().map(|(line, _)| line).take_while(|line| !line.is_empty());
            let expected: Vec<&str> = expected.collect();
            if found.is_empty() {
                found.push("ok".to_owned());
            }
            if found != expected {
                let difference = describe_difference(name, number + 1, title, &expected, &found);
                differences.push_str(&difference);
            }
            writeln!(actual, "{}\n", found.join("\n")).unwrap();
            (found, last_command) = (Vec::new(), None);
        } else if line.starts_with('#') {
            title = line;
        } else if !line.is_empty() {
            let error = |error| format!("{name}:{number}: {error}\n    {line}");
            found.extend(runner.run(line).map_err(error)?);
            last_command = Some(number);
        }
    }
    match last_command {
        Some(number) => {
            Err(format!("{name}:{number}: missing output: expected the line `----` after commands"))
        }
        None => Ok((actual.trim_end().to_owned() + "\n", differences)),
    }
}

/// Returns the lines between the common head and the common tail of two outputs.
fn describe_difference(name: &str, line: usize, title: &str, expected: &[&str], found: &[String]) -> String {
    let head = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let tails = expected[head..].iter().rev().zip(found[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let place = format!("{name}:{}: the output differs: expected -, found +\n    {title}\n", line + head);
    let removed = expected[head..expected.len() - tail].iter().map(|line| format!("  - {line}\n"));
    let added = found[head..found.len() - tail].iter().map(|line| format!("  + {line}\n"));
    std::iter::once(place).chain(removed).chain(added).collect()
}

#[test]
fn difference_names_line_and_both_outputs() {
    let text = "# Opens a session.\nconversation hardened\nsession_start ada\n----\nSessionStarted\n";
    let (actual, difference) = run_file("a.txt", text).unwrap();
    assert_eq!(
        difference,
        "a.txt:5: the output differs: expected -, found +\n    # Opens a session.\n  - SessionStarted\n  + SessionStarted ada; S01 to Idle\n"
    );
    assert_eq!(actual, text.replace("SessionStarted", "SessionStarted ada; S01 to Idle"));
    assert_eq!(run_file("a.txt", &actual).unwrap(), (actual.clone(), String::new()));
}

#[test]
fn invalid_command_is_error_with_place() {
    for (commands, expected) in [
        ("items\n----", "1: no conversation: expected `conversation POLICY` first\n    items"),
        ("\nconversation hardened\n", "2: missing output: expected the line `----` after commands"),
        (
            "conversation hardened\nsession_open ada\n----",
            "2: unknown command `session_open`: expected one of README.md",
        ),
        ("conversation hardened\nsession_start\n----", "2: missing argument: expected user"),
        ("conversation hardened\nfact a \"1\n----", "2: unterminated text: expected `\"`"),
        (
            "conversation hardened\nfact a 1 rnak=guest\n----",
            "2: unknown argument `rnak`: expected rank, source, constraint",
        ),
        (
            "conversation hardened\nfact a 1 rank=boss\n----",
            "2: invalid rank `boss`: unknown variant `boss`, expected",
        ),
        ("conversation hardened\nsession_start ada eve\n----", "2: unexpected argument `eve`"),
        ("conversation hardened items=3\n----", "1: unknown setting `items`"),
        ("conversation hardened\nreply delivered\n----", "2: no pending call: expected call=NUMBER"),
        (
            "conversation hardened\ngiven session_end\n----",
            "2: expected no refusal, found refused: no session",
        ),
    ] {
        let error = run_file("a.txt", commands).unwrap_err();
        assert!(error.starts_with(&format!("a.txt:{expected}")), "{error}");
    }
}
