//! No escape, bidirectional or control character of a foreign text reaches a terminal, in a report or in an error.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SPECS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs");

/// Escape sequences of seven and eight bits, a bell, a backspace, a bidirectional override and an invisible character.
const HOSTILE: &str =
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{8}\u{9b}2J\u{202e}txt\u{2066}\u{200b}\u{feff}\u{7f}\r";

/// Every verb; `@` is a file with a hostile name, and `#` a hostile argument.
const VERBS: [&[&str]; 61] = [
    &["explore", "exact", "@"],
    &["explore", "exact", "#"],
    &["explore", "report", "@"],
    &["explore", "report", "#"],
    &["explore", "run", "@"],
    &["explore", "run", "#"],
    &["explore", "merge", "@"],
    &["explore", "merge", "#"],
    &["run", "@"],
    &["run", "--stdio", "@"],
    &["run", "--stdio", "hardened", "--journal", "@"],
    &["run", "--stdio", "#"],
    &["run", "--config", "@"],
    &["run", "HAPPY", "--out-dir", "@"],
    &["show", "@"],
    &["show", "@", "--html", "#"],
    &["show", "HAPPY_TRACE", "--html", "@"],
    &["show", "HAPPY_TRACE", "--redact", "@"],
    &["show", "HAPPY_TRACE", "--key", "#"],
    &["replay", "@"],
    &["replay", "@", "--update"],
    &["replay", "HAPPY_TRACE", "--policy", "#"],
    &["promote", "@", "case"],
    &["promote", "HAPPY_TRACE", "#"],
    &["promote", "@", "case", "--from", "debate"],
    &["check", "--policy", "@", "--scope", "tiny"],
    &["check", "--policy", "#", "--scope", "tiny"],
    &["check", "--scope", "@"],
    &["check", "--config", "@"],
    &["check", "--model", "#"],
    &["check", "--reach", "#", "--scope", "tiny"],
    &["check", "--sweep", "#", "--scope", "tiny"],
    &["compare", "@", "hardened", "--scope", "tiny"],
    &["compare", "hardened", "#", "--scope", "tiny"],
    &["run", "@", "--runs", "2"],
    &["run", "@", "--seed", "2", "--out-dir", "."],
    &["lint", "@"],
    &["lint", "MACHINE", "--reach", "#"],
    &["lint", "MACHINE", "--dot", "@"],
    &["run", "@", "--format", "github"],
    &["replay", "@", "--format", "github"],
    &["diff", "@", "HAPPY_TRACE", "--format", "github"],
    &["diff", "HAPPY_TRACE", "@"],
    &["fork", "@", "--step", "3", "--set", "call.error=timeout"],
    &["fork", "HAPPY_TRACE", "--step", "3", "--set", "#"],
    &["fork", "HAPPY_TRACE", "--step", "3", "--set", "call.error=timeout", "--scenario", "@"],
    &["migrate", "@"],
    &["route", "@"],
    &["route", "NETWORK", "--task", "@"],
    &["keys", "create", "@"],
    &["context", "solve", "@"],
    &["context", "verify", "PROBLEM", "@"],
    &["export", "base", "@"],
    &["export", "itf", "@"],
    &["journal", "rotate", "@"],
    &["journal", "upgrade", "@"],
    &["journal", "erase", "@", "--before", "3"],
    &["journal", "join", "@"],
    &["init", "@"],
    &["#"],
    &["run", "--#"],
];

/// Returns the first character that a terminal must not receive.
fn unsafe_character(text: &str) -> Option<char> {
    text.chars().find(|c| {
        c.is_control() && *c != '\n'
            || matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    })
}

fn print(folder: &Path, file: &str, verb: &[&str]) -> Vec<u8> {
    let arguments = verb.iter().map(|argument| match *argument {
        "@" => file.to_owned(),
        "HAPPY" => format!("{SPECS}/scenarios/happy.yaml"),
        "HAPPY_TRACE" => format!("{SPECS}/scenarios/happy.ndjson"),
        "MACHINE" => format!("{SPECS}/machines/orders.yaml"),
        "NETWORK" => format!("{SPECS}/networks/invoices.yaml"),
        "PROBLEM" => format!("{SPECS}/problems/lookup.json"),
        other => other.replace('#', HOSTILE),
    });
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    [output.stdout, output.stderr].concat()
}

#[test]
fn foreign_text_is_safe_for_terminals() {
    let folder = tempfile::tempdir().unwrap();
    let happy = fs::read_to_string(format!("{SPECS}/scenarios/happy.yaml")).unwrap();
    let trace = fs::read_to_string(format!("{SPECS}/scenarios/happy.ndjson")).unwrap();
    let contents = [
        HOSTILE.to_owned(),
        format!("{HOSTILE}: {HOSTILE}\nrequests: [{HOSTILE}]\n"),
        format!("\"{HOSTILE}\": 1\nrequests: \"{HOSTILE}\"\n"),
        format!("extends: \"{HOSTILE}\"\nname: \"{HOSTILE}\"\n"),
        format!("{happy}\n# {HOSTILE}\nunknown: {HOSTILE}\n"),
        format!("{{\"format\":\"{HOSTILE}\"}}\n"),
        format!("{{\"{HOSTILE}\": 1}}\n"),
        trace.replacen("\"policy\":{", &format!("\"{HOSTILE}\":1,\"policy\":{{"), 1),
        format!("# Page\n\n```mermaid\nstateDiagram-v2\n  A{HOSTILE} --> B : {HOSTILE}\n```\n"),
    ];
    let mut failures = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        for extension in ["yaml", "ndjson"] {
            let file = format!("{HOSTILE}.{extension}");
            for verb in VERBS {
                // A verb may write the file.
                fs::write(folder.path().join(&file), content).unwrap();
                let bytes = print(folder.path(), &file, verb);
                match String::from_utf8(bytes).map(|text| (unsafe_character(&text), text)) {
                    Ok((None, text)) => assert!(!text.contains("panicked"), "{verb:?}: {text}"),
                    Ok((Some(found), text)) => {
                        failures.push(format!("{found:?} content {number}, {extension}, {verb:?}: {text:?}"));
                    }
                    Err(error) => failures.push(format!("{verb:?}: {error}")),
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
}
