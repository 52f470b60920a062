//! The fuzz targets: one function for the bytes of each fuzzer. `tests/fuzz` calls them, and a normal test runs them on
//! the stored corpora.
//!
//! A target must not panic or grow without bound, and a refused input must leave the state unchanged. A violation
//! panics with a message.

#![allow(clippy::panic, reason = "a fuzz target fails by panicking")]

use crate::generators::{Bias, Bytes, WalkAction, random_policy};
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

/// A target: its name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 4] =
    [("decide", decide), ("trace_reader", trace_reader), ("scenario", scenario), ("policy", policy)];

/// The maximum number of actions in a run; about three requests.
const ACTIONS_MAX: usize = 120;

/// Derives a policy and actions from the bytes and checks every property of random walks.
pub fn decide(bytes: &[u8]) {
    drive(bytes, |_| {});
}

/// Runs the actions that the bytes select. `observe` receives the kernel after every input.
///
/// # Panics
///
/// If a property is violated.
pub fn drive(bytes: &[u8], mut observe: impl FnMut(&MonitoredKernel)) {
    let mut bytes = Bytes(bytes);
    let policy = random_policy(&mut bytes);
    let bias = Bias::draw(&mut bytes);
    let mut kernel = MonitoredKernel::new(&policy);
    for _ in 0..ACTIONS_MAX {
        if bytes.is_empty() {
            break;
        }
        let action = WalkAction::draw(&mut bytes, &policy, &bias, kernel.state());
        // At generation, an action is one input.
        let input = action.input(kernel.state());
        kernel.submit(&input).unwrap_or_else(|message| panic!("{message}"));
        observe(&kernel);
    }
    kernel.finish().unwrap_or_else(|message| panic!("{message}"));
}

/// Reads the bytes as a trace: unchanged, and with a recomputed hash chain. Otherwise only the chain check would be
/// tested.
pub fn trace_reader(bytes: &[u8]) {
    for trace in [bytes, &rechained(bytes)] {
        if let Ok(reader) = Reader::new(trace, "fuzzed") {
            // The reader only has to terminate.
            let _found = replay(reader, None, &StandardContexts);
        }
    }
}

/// Returns the lines of a trace with recomputed hashes.
fn rechained(bytes: &[u8]) -> Vec<u8> {
    const CHAIN: &[u8] = b",\"chain\":\"";
    let (mut all, mut chain) = (Vec::new(), String::new());
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let end = line.windows(CHAIN.len()).rposition(|window| window == CHAIN);
        let open = end.map_or_else(|| line.strip_suffix(b"}").unwrap_or(line), |end| &line[..end]);
        let own = digest(&[chain.as_bytes(), open, b"}"].concat());
        all.extend_from_slice(open);
        all.extend_from_slice(CHAIN);
        all.extend_from_slice(own.as_bytes());
        all.extend_from_slice(b"\"}\n");
        // The chain of the steps starts from the header without `kernel` and `table`.
        let find = |key: &[u8]| open.windows(key.len()).position(|window| window == key);
        chain = match (chain.is_empty(), find(b"\"kernel\":"), find(b"\"conversation\":")) {
            (true, Some(kernel), Some(rest)) if kernel < rest => {
                digest(&[&open[..kernel], &open[rest..], b"}"].concat())
            }
            _ => own,
        };
    }
    all
}

/// Reads the bytes as a scenario. A readable scenario that has low limits is run, and its trace must replay without
/// divergence.
pub fn scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Scenario::parse("fuzzed.yaml", &text, empty_folder()) {
        Err(error) => {
            assert!(!error.to_string().is_empty(), "expected an error message, found none: {error:?}")
        }
        Ok(scenario) if !has_low_limits(&scenario) => {}
        Ok(scenario) => {
            let policy = scenario.policy.clone();
            let Ok(run) = run_scenario(scenario) else { return };
            let reader =
                Reader::new(run.trace.as_slice(), "scenario").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(reader.header().policy, policy, "the trace has another policy than its scenario");
            let found = replay(reader, None, &StandardContexts);
            assert!(found.is_equal(), "the trace of a scenario diverges: {found:?}");
        }
    }
}

/// Returns whether the limits of the policy are low. With high limits a scenario may take its maximum of one hundred
/// thousand steps.
fn has_low_limits(scenario: &Scenario) -> bool {
    let bounds = &scenario.policy.bounds;
    let is_low = |limit: u32| limit <= 8;
    scenario.requests.len() <= 8
        && is_low(bounds.passes)
        && is_low(bounds.audit_attempts)
        && matches!(bounds.repairs, Bound::AtMost(limit) if is_low(limit))
}

/// Reads the bytes as a policy file. A readable policy is valid and survives a round trip.
pub fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match policy_file::parse("fuzzed.yaml", &text, empty_folder()) {
        Err(error) => {
            assert!(!error.to_string().is_empty(), "expected an error message, found none: {error:?}")
        }
        Ok(policy) => {
            assert_eq!(policy.validate(), Ok(()), "a parsed policy is invalid");
            let written = policy_file::write(&policy);
            match policy_file::parse("written.yaml", &written, empty_folder()) {
                Ok(parsed) => {
                    assert_eq!(parsed, policy, "a written policy differs after parsing:\n{written}")
                }
                Err(error) => panic!("cannot parse a written policy: {error}\n{written}"),
            }
        }
    }
}

/// Returns a folder without policy files.
fn empty_folder() -> &'static Path {
    Path::new("/nonexistent")
}
