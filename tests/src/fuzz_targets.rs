//! What is done with the bytes of a fuzzer, once for each target. `tests/fuzz` hands them over; a normal test does
//! the same with the corpora, so that what a fuzzer once found is looked for everywhere.
//!
//! Nothing may panic or grow without bound, and what is refused must have changed nothing. A target that finds
//! something wrong panics and says what.

#![allow(clippy::panic, reason = "a fuzz target fails by panicking")]

use crate::generators::{Bias, Bytes, WalkAction, drawn_policy};
use crate::monitored::MonitoredKernel;
use crate::random_walk::Property;
use orchestrion_kernel::policy::Bound;
use orchestrion_scenario::Scenario;
use orchestrion_scenario::policy_file;
use orchestrion_scenario::run::run_scenario;
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Reader, digest};
use std::path::Path;

/// A target: its name, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 4] =
    [("decide", decide), ("trace_reader", trace_reader), ("scenario", scenario), ("policy", policy)];

/// Moves in one run; about three requests.
const MOVES_MAX: usize = 120;

/// The bytes choose a policy and moves; everything that is a property of random walks must hold.
pub fn decide(bytes: &[u8]) {
    drive(bytes, |_| {});
}

/// Takes the moves that the bytes choose. `see` is shown the kernel after every input.
///
/// # Panics
/// Where a property is broken.
pub fn drive(bytes: &[u8], mut see: impl FnMut(&MonitoredKernel)) {
    let mut bytes = Bytes(bytes);
    let policy = drawn_policy(&mut bytes);
    let mood = Bias::draw(&mut bytes);
    let mut watched = MonitoredKernel::new(&policy);
    for _ in 0..MOVES_MAX {
        if bytes.is_empty() {
            break;
        }
        let step = WalkAction::draw(&mut bytes, &policy, &mood, watched.state());
        // Where it was drawn it is one input.
        let input = step.what.input(watched.state());
        watched.submit(&input).unwrap_or_else(|wrong| panic!("{wrong}"));
        see(&watched);
    }
    watched.finish().unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// The bytes as a trace: as they are, and once more with every line chained anew, or nothing but the chain would
/// ever be tested.
pub fn trace_reader(bytes: &[u8]) {
    for trace in [bytes, &chained(bytes)] {
        if let Ok(reader) = Reader::new(trace, "fuzzed") {
            // Nothing is expected of it but an end.
            let _found = replay(reader, None, &StandardContexts);
        }
    }
}

/// The lines of a trace, each with the chain that it should have.
fn chained(bytes: &[u8]) -> Vec<u8> {
    const CHAIN: &[u8] = b",\"chain\":\"";
    let (mut all, mut chain) = (Vec::new(), String::new());
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let end = line.windows(CHAIN.len()).rposition(|window| window == CHAIN);
        let open = end.map_or_else(|| line.strip_suffix(b"}").unwrap_or(line), |end| &line[..end]);
        chain = digest(&[chain.as_bytes(), open, b"}"].concat());
        all.extend_from_slice(open);
        all.extend_from_slice(CHAIN);
        all.extend_from_slice(chain.as_bytes());
        all.extend_from_slice(b"\"}\n");
    }
    all
}

/// The bytes as a scenario; what can be read and must end is played, and what is played replays equal.
pub fn scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Scenario::parse("fuzzed.yaml", &text, nowhere()) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a sentence: {error:?}"),
        Ok(scenario) if !ends_soon(&scenario) => {}
        Ok(scenario) => {
            let policy = scenario.policy.clone();
            let Ok(played) = run_scenario(scenario) else { return };
            let reader =
                Reader::new(played.trace.as_slice(), "played").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(reader.header().policy, policy, "a trace is of another policy than its scenario");
            let found = replay(reader, None, &StandardContexts);
            assert!(found.is_equal(), "what was played does not replay equal: {found:?}");
        }
    }
}

/// Whether what the policy bounds is bounded low: otherwise a scenario may well take its hundred thousand steps.
fn ends_soon(scenario: &Scenario) -> bool {
    let bounds = &scenario.policy.bounds;
    let few = |most: u32| most <= 8;
    scenario.requests.len() <= 8
        && few(bounds.passes)
        && few(bounds.audit_attempts)
        && matches!(bounds.repairs, Bound::AtMost(most) if few(most))
}

/// The bytes as a policy file; what can be read is valid, and reads back the same when it is written.
pub fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match policy_file::parse("fuzzed.yaml", &text, nowhere()) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a sentence: {error:?}"),
        Ok(policy) => {
            assert_eq!(policy.validate(), Ok(()), "a policy was read that contradicts itself");
            let written = policy_file::write(&policy);
            match policy_file::parse("written.yaml", &written, nowhere()) {
                Ok(again) => assert_eq!(again, policy, "written, it reads as another policy:\n{written}"),
                Err(error) => panic!("what was written cannot be read: {error}\n{written}"),
            }
        }
    }
}

/// A folder in which no policy lies that a file could name.
fn nowhere() -> &'static Path {
    Path::new("/nonexistent")
}
