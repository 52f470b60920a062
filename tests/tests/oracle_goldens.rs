//! The oracles check every step of every golden trace: that of the network the traces with one, that of the conversation the others.

use orchestrion_kernel::{Input, State, TimedInput, Timestamp, can_step, decide};
use orchestrion_tests::network_conversation_oracle::NetworkConversationOracle;
use orchestrion_tests::oracle::Oracle;
use orchestrion_trace::Reader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn golden_matches_oracle(golden: &Path) -> datatest_stable::Result<()> {
    let reader = Reader::new(BufReader::new(File::open(golden)?), &golden.display().to_string())?;
    let header = reader.header().clone();
    let mut oracle = Oracle::new(&header.policy, &header.conversation);
    let mut network_oracle = NetworkConversationOracle::new(&header.policy);
    let mut has_network = false;
    let mut state = State::new(header.conversation);
    for step in reader {
        let step = step?;
        let input = TimedInput { at: Timestamp::from_millis(step.at_ms), input: step.input };
        let decided = decide(&header.policy, &state, input.at, &input.input);
        for event in decided.iter().flatten() {
            state.apply(event);
        }
        has_network |= matches!(input.input, Input::Network(_));
        if has_network {
            network_oracle.judge(&input, decided.as_ref(), &state, can_step(&header.policy, &state))?;
        } else {
            oracle.judge(&input, decided.as_ref(), &state)?;
        }
    }
    Ok(())
}

datatest_stable::harness! {
    { test = golden_matches_oracle, root = "../specs", pattern = r"\.ndjson$" },
}
