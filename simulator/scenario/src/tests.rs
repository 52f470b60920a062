//! Tests of scenario files: meaning, round trip, and errors.

use super::*;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Phase, Policy};
use orchestrion_yaml::render_error;
use std::path::Path;

const FULL: &str = include_str!("samples/full.yaml");
const HEAD: &str = "description: A test.\nuser: ada\nrequests:\n  - text: Add encryption\n";
const VOICES: &str = "  analyst: {pro: {confidence: 0.9}}\n";

fn parse(text: &str) -> Result<Scenario, ReadError> {
    Scenario::parse("case.yaml", text, Path::new("no-such-folder"))
}

fn render(text: &str) -> String {
    match parse(text) {
        Ok(scenario) => panic!("{text:?} was parsed as {scenario:?}"),
        Err(error) => render_error(&error),
    }
}

/// Compares with a snapshot file, without repeating the code in it.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($text) })
    };
}

/// Renders the errors of all these mistakes.
fn render_errors(head: &str, mistakes: &[&str]) -> String {
    let mut text = String::new();
    for mistake in mistakes {
        let rendered = render(&format!("{head}{mistake}"));
        // The error in a long line has no excerpt; the message begins with its place.
        for part in ["case.yaml:", "help: "] {
            assert!(rendered.contains(part), "{mistake:?} is rendered without {part:?}:\n{rendered}");
        }
        text.push_str(&rendered);
        text.push('\n');
    }
    text
}

mod cases;
mod expect;
mod extras;
mod files;
mod handoffs;
mod invalid;
mod network;
mod plans;
mod random;
mod renamed;
mod round_trip;
mod script;
mod simulated_memory;
mod times;

#[test]
fn full_file_has_its_meaning() {
    let scenario = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap();
    assert_eq!(scenario.name, "full");
    assert_eq!(scenario.conversation.as_str(), "happy-path");
    assert_eq!(scenario.policy, Policy::as_drawn());
    let users: Vec<_> = scenario.requests.iter().map(|request| request.user.user.as_str()).collect();
    assert_eq!(users, ["ada", "ada", "eve"]);
    assert_eq!(scenario.requests[0].events, []);
    let at = |phase, visit| PhaseVisit { phase, visit };
    let events = [
        (at(Phase::Round(Role::Critic), 1), ScriptedEvent::Interrupt("Is it sent?".into())),
        (at(Phase::Classifying, 1), ScriptedEvent::Crash),
        (at(Phase::RunningTasks, 2), ScriptedEvent::Crash),
        (at(Phase::RunningTasks, 2), ScriptedEvent::Cancel),
    ];
    assert_eq!(scenario.requests[1].events, events);
    assert_eq!(scenario.text(), FULL);
    let plain = parse(HEAD).unwrap();
    assert_eq!((plain.conversation.as_str(), plain.policy), ("case", Policy::hardened()));
}
