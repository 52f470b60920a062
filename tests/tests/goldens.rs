//! Every scenario plays to its golden trace, byte for byte, and every golden trace replays equal.
//!
//! What is reviewed is not the trace, in which one change changes every chain below it, but a page in
//! `snapshots`: the timeline, and each step in full. The page ends in the trace's last chain and so stands for
//! every byte of it. Both are held against what was played, so they cannot disagree: the trace is written
//! whenever it is stale, and the test fails until the page is accepted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_report::show::{Style, View, show};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::run_scenario;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use serde::Serialize;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

type Result<T> = datatest_stable::Result<T>;

fn plays_to_its_golden_trace(scenario: &Path) -> Result<()> {
    let played = run_scenario(Scenario::read(scenario)?)?;
    if let Some(surprise) = played.unexpected_writes.first() {
        return Err(format!("{}: {surprise}", scenario.display()).into());
    }
    let trace = String::from_utf8(played.trace)?;
    let name = scenario.file_stem().unwrap().to_str().unwrap();
    let accepted =
        || fs::read(orchestrion_tests::root().join(format!("tests/tests/snapshots/{name}.snap"))).ok();
    let before = accepted();
    let stale = orchestrion_tests::ensure_up_to_date(&scenario.with_extension("ndjson"), &trace);
    let mut settings = insta::Settings::new();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let page = page(&trace)?;
    settings.bind(|| insta::assert_snapshot!(name, page));
    // Where the page was accepted by this very run, so was the trace.
    if accepted() == before { Ok(stale?) } else { Ok(()) }
}

/// A trace for reviewers.
fn page(trace: &str) -> Result<String> {
    let read = || Reader::new(trace.as_bytes(), "played");
    let mut page = Vec::new();
    show(read()?, &View { at: None, style: Style::Plain }, &mut page)?;
    let mut page = String::from_utf8(page)?;
    let reader = read()?;
    write!(page, "\n━━ In full\n\nheader {}\n", serde_json::to_string_pretty(reader.header())?)?;
    for step in reader {
        let step = step?;
        writeln!(page, "{}", step.n)?;
        line(&mut page, "input", &step.input)?;
        step.events.iter().try_for_each(|event| line(&mut page, "event", event))?;
        step.refused.iter().try_for_each(|sentence| line(&mut page, "refused", sentence))?;
        step.context.iter().try_for_each(|context| line(&mut page, "context", context))?;
    }
    let last: serde_json::Value = serde_json::from_str(trace.lines().last().unwrap())?;
    line(&mut page, "chain", &last["chain"])?;
    Ok(page)
}

fn line(page: &mut String, what: &str, value: &impl Serialize) -> Result<()> {
    Ok(writeln!(page, "  {what:<8}{}", serde_json::to_string(value)?)?)
}

fn replays_equal(golden: &Path) -> Result<()> {
    belongs_to_a_scenario(golden)?;
    let file = golden.display().to_string();
    let found = replay(Reader::new(BufReader::new(File::open(golden)?), &file)?, None, &StandardContexts);
    if !found.is_equal() || !found.header.is_empty() || found.steps == 0 {
        return Err(format!("{file} does not replay equal: {found:#?}").into());
    }
    Ok(())
}

fn belongs_to_a_scenario(file: &Path) -> Result<()> {
    let name = Path::new(file.file_name().unwrap()).with_extension("yaml");
    let scenario = orchestrion_tests::root().join("specs/scenarios").join(name);
    if !scenario.exists() {
        return Err(format!(
            "{} has no scenario: {} is missing; remove the one, or write the other",
            file.display(),
            scenario.display()
        )
        .into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = plays_to_its_golden_trace, root = "../specs", pattern = r"scenarios/.*\.yaml$" },
    { test = replays_equal, root = "../specs", pattern = r"\.ndjson$" },
    { test = belongs_to_a_scenario, root = "tests/snapshots", pattern = r"\.snap$" },
}
