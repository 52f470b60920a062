//! What scenario files mean, how they read back, and how every kind of mistake in one is drawn.

use super::*;
use orchestrion_kernel::module::Role;
use orchestrion_yaml::render_error;

const FULL: &str = include_str!("samples/full.yaml");
const HEAD: &str = "about: A test.\nuser: ada\nrequests:\n  - says: Add encryption\n";
const VOICES: &str = "  analyst: {pro: {confidence: 0.9}}\n";

fn parse(text: &str) -> Result<Scenario, ReadError> {
    Scenario::parse("case.yaml", text, Path::new("no-such-folder"))
}

fn drawn(text: &str) -> String {
    match parse(text) {
        Ok(scenario) => panic!("{text:?} was read as {scenario:?}"),
        Err(error) => render_error(&error),
    }
}

/// Compares with a snapshot file, without repeating the code in it.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($text) })
    };
}

/// All mistakes of one kind, each with what its writer sees.
fn catalogue(head: &str, mistakes: &[&str]) -> String {
    let mut text = String::new();
    for mistake in mistakes {
        let drawn = drawn(&format!("{head}{mistake}"));
        // Around a long line nothing is drawn, and the place stands before the sentence.
        for part in ["case.yaml:", "help: "] {
            assert!(drawn.contains(part), "{mistake:?} is drawn without {part:?}:\n{drawn}");
        }
        text.push_str(&drawn);
        text.push('\n');
    }
    text
}

mod beside;
mod cases;
mod draws;
mod files;
mod mistakes;
mod script;
mod times;
mod written;

#[test]
fn a_full_file_means_what_it_says() {
    let scenario = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap();
    assert_eq!(scenario.name, "full");
    assert_eq!(scenario.conversation.as_str(), "happy-path");
    assert_eq!(scenario.policy, Policy::as_drawn());
    let users: Vec<_> = scenario.requests.iter().map(|request| request.user.as_str()).collect();
    assert_eq!(users, ["ada", "ada", "eve"]);
    assert_eq!(scenario.requests[0].incidents, []);
    let at = |when, visit| PhaseVisit { when, visit };
    let incidents = [
        (at(Phase::Round(Role::Critic), 1), ScriptedEvent::Interrupt("Is it sent?".into())),
        (at(Phase::Classifying, 1), ScriptedEvent::Crash),
        (at(Phase::RunningTasks, 2), ScriptedEvent::Crash),
        (at(Phase::RunningTasks, 2), ScriptedEvent::Cancel),
    ];
    assert_eq!(scenario.requests[1].incidents, incidents);
    assert_eq!(scenario.text(), FULL);
    let plain = parse(HEAD).unwrap();
    assert_eq!((plain.conversation.as_str(), plain.policy), ("case", Policy::hardened()));
}
