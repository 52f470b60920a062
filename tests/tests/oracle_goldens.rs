//! The oracle checks every step of every golden trace.

use orchestrion_kernel::{State, TimedInput, Timestamp, decide};
use orchestrion_tests::oracle::Oracle;
use orchestrion_trace::Reader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn golden_matches_oracle(golden: &Path) -> datatest_stable::Result<()> {
    let reader = Reader::new(BufReader::new(File::open(golden)?), &golden.display().to_string())?;
    let header = reader.header().clone();
    let mut oracle = Oracle::new(&header.policy, &header.conversation);
    let mut state = State::new(header.conversation);
    for step in reader {
        let step = step?;
        let input = TimedInput { at: Timestamp::from_millis(step.at_ms), input: step.input };
        let decided = decide(&header.policy, &state, input.at, &input.input);
        for event in decided.iter().flatten() {
            state.apply(event);
        }
        oracle.judge(&input, decided.as_ref(), &state)?;
    }
    Ok(())
}

datatest_stable::harness! {
    { test = golden_matches_oracle, root = "../specs", pattern = r"\.ndjson$" },
}
