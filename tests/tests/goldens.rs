//! Every scenario plays to its golden trace, byte for byte, and every golden trace replays equal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion::play::play;
use orchestrion::replay::replay;
use orchestrion::scenario::Scenario;
use orchestrion::trace::Reader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn plays_to_its_golden_trace(scenario: &Path) -> datatest_stable::Result<()> {
    let played = play(Scenario::read(scenario)?)?;
    let trace = String::from_utf8(played.trace)?;
    Ok(orchestrion_tests::fresh(&scenario.with_extension("ndjson"), &trace)?)
}

fn replays_equal(golden: &Path) -> datatest_stable::Result<()> {
    let scenario = golden.with_extension("yaml");
    if !scenario.exists() {
        return Err(format!(
            "{} has no scenario beside it: {} is missing",
            golden.display(),
            scenario.display()
        )
        .into());
    }
    let file = golden.display().to_string();
    let found = replay(Reader::new(BufReader::new(File::open(golden)?), &file)?, None);
    if !found.is_equal() || !found.header.is_empty() || found.steps == 0 {
        return Err(format!("{file} does not replay equal: {found:#?}").into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = plays_to_its_golden_trace, root = "../specs", pattern = r"scenarios/.*\.yaml$" },
    { test = replays_equal, root = "../specs", pattern = r"\.ndjson$" },
}
