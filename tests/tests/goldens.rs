//! Every scenario plays to its golden trace, byte for byte, and every golden trace replays without a difference.
//!
//! A stale golden trace is rewritten, and its test fails once. A reviewer reads two pages that the test generates in the
//! target folder: the timeline and each step in full, before and after.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_report::show::{View, show};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::run_scenario;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use serde::Serialize;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

type Result<T> = datatest_stable::Result<T>;

fn scenario_plays_to_golden_trace(scenario: &Path) -> Result<()> {
    let result = run_scenario(Scenario::read(scenario)?)?;
    if let Some(unexpected) = result.unexpected_writes.iter().chain(&result.unmet_expectations).next() {
        return Err(format!("{}: {unexpected}", scenario.display()).into());
    }
    let trace = String::from_utf8(result.trace)?;
    let golden = scenario.with_extension("ndjson");
    let before = fs::read_to_string(&golden).unwrap_or_default();
    orchestrion_tests::ensure_up_to_date(&golden, &trace).map_err(|stale| {
        let name = scenario.file_stem().unwrap_or_default().to_string_lossy();
        match write_pages(&name, &before, &trace) {
            Ok((old, new)) => {
                format!("{stale}\nread what changed: diff -u {} {}", old.display(), new.display())
            }
            Err(error) => format!("{stale}\nthe pages for the review cannot be written: {error}"),
        }
        .into()
    })
}

/// Writes the review pages of both traces, and returns their paths.
fn write_pages(name: &str, before: &str, after: &str) -> Result<(PathBuf, PathBuf)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("goldens");
    fs::create_dir_all(&folder)?;
    let write = |suffix: &str, trace: &str| -> Result<PathBuf> {
        let path = folder.join(format!("{name}.{suffix}.txt"));
        // The trace before may be absent, or in an older format.
        fs::write(&path, review_page(trace).unwrap_or_else(|error| format!("{error}\n")))?;
        Ok(path)
    };
    Ok((write("before", before)?, write("after", after)?))
}

fn review_page(trace: &str) -> Result<String> {
    let read = || Reader::new(trace.as_bytes(), "golden");
    let mut page = Vec::new();
    show(read()?, &View::default(), &mut page)?;
    let mut page = String::from_utf8(page)?;
    let reader = read()?;
    write!(page, "\nheader {}\n", serde_json::to_string_pretty(reader.header())?)?;
    for step in reader {
        let step = step?;
        writeln!(page, "{}", step.n)?;
        write_line(&mut page, "input", &step.input)?;
        step.events.iter().try_for_each(|event| write_line(&mut page, "event", event))?;
        step.refused.iter().try_for_each(|sentence| write_line(&mut page, "refused", sentence))?;
        step.context.iter().try_for_each(|context| write_line(&mut page, "context", context))?;
    }
    Ok(page)
}

fn write_line(page: &mut String, label: &str, value: &impl Serialize) -> Result<()> {
    Ok(writeln!(page, "  {label:<8}{}", serde_json::to_string(value)?)?)
}

fn golden_trace_replays_equal(golden: &Path) -> Result<()> {
    let scenario = golden.with_extension("yaml");
    if !scenario.exists() {
        return Err(format!("{}: expected its scenario {}", golden.display(), scenario.display()).into());
    }
    let file = golden.display().to_string();
    let result = replay(Reader::new(BufReader::new(File::open(golden)?), &file)?, None, &StandardContexts);
    if !result.is_equal() || !result.header_differences.is_empty() || result.steps == 0 {
        return Err(format!("{file} does not replay equal: {result:#?}").into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = scenario_plays_to_golden_trace, root = "../specs", pattern = r"scenarios/.*\.yaml$" },
    { test = golden_trace_replays_equal, root = "../specs", pattern = r"scenarios/.*\.ndjson$" },
}
