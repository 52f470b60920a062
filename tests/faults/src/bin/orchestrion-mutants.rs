//! The `orchestrion-mutants` program: its command line and its exit codes.

use clap::Parser;
use orchestrion_faults::exit_code;
use orchestrion_faults::judges::Judge;
use orchestrion_faults::mutants::compile::{Excluded, write_mutants};
use orchestrion_faults::mutants::list::{Mutant, MutantName, list_mutants};
use orchestrion_faults::mutants::outcome::{Judged, Outcome, has_judge_to_ask, judge};
use orchestrion_faults::mutants::page::{is_as_expected, page, read_explanations, summary, unexplained};
use orchestrion_faults::results::Results;
use orchestrion_faults::suite::{Check, Suite, in_parallel};
use orchestrion_yaml::render_error;
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Switch on each mutant that cargo-mutants makes of the kernel's code, and report what nothing detects.
#[derive(Debug, Parser)]
#[command(name = "orchestrion-mutants", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// Try only mutants whose file, change or code contains this text; may be repeated.
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
    /// Ask only this judge; may be repeated [default: all].
    #[arg(long = "judge", value_enum, value_name = "JUDGE")]
    judges: Vec<Judge>,
    /// Try only this part of the mutants, such as 3/10, counted from 0.
    #[arg(long, value_name = "PART/PARTS", value_parser = parse_shard)]
    shard: Option<(u32, u32)>,
    /// Write the copy of the workspace, and build it, in this folder.
    #[arg(long, default_value = "target/mutants", value_name = "FOLDER")]
    work_dir: PathBuf,
    /// Read and write the outcomes in this file. What a judge decided there is not asked again.
    #[arg(long, default_value = "tests/faults/mutants.ndjson", value_name = "FILE")]
    results: PathBuf,
    /// Ask again about the chosen mutants, whatever their outcomes.
    #[arg(long)]
    again: bool,
    /// Try only the mutants that nothing detected, and ask again about them.
    #[arg(long, conflicts_with = "again")]
    missed: bool,
    /// Write the table to this Markdown file.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Run with this many threads.
    #[arg(long, default_value_t = 2, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
}

const AFTER_HELP: &str = "\
Examples:
  orchestrion-mutants                          try all mutants; takes hours
  orchestrion-mutants --again kernel/src/plan  those of one folder, after a change of its code
  orchestrion-mutants --missed                 those that nothing detected, after more tests
  orchestrion-mutants --shard 0/10             one tenth
  orchestrion-mutants --judge kernel-tests     the cheapest judge first; a second run asks the others

Run it in the root of the workspace, with cargo-mutants installed (cargo install --locked
cargo-mutants). The first run builds a copy of the workspace with all mutants, each behind a switch.

Exit codes: 0 success; 1 more than 5 % of the mutants are not detected, or one has no explanation in
tests/faults/missed.yaml; 2 error.";

/// A run goes through the list this many times, each time with other mutants.
const PASSES: u32 = 50;

/// The judges, the cheapest first.
const BY_COST: [Judge; 4] = [Judge::KernelTests, Judge::GoldenTraces, Judge::Check, Judge::Oracle];

fn parse_shard(text: &str) -> Result<(u32, u32), String> {
    let parsed =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    match parsed {
        Some((part, parts)) if part < parts => Ok((part, parts)),
        Some(_) | None => Err("expected a part and the number of parts, as in 0/10".to_owned()),
    }
}

fn main() -> ExitCode {
    exit_code(run(&Cli::parse()))
}

/// Judges the chosen mutants. Returns whether enough are detected.
fn run(cli: &Cli) -> Result<bool, Box<dyn Error>> {
    let root = std::env::current_dir()?;
    let explained =
        read_explanations(Path::new("tests/faults/missed.yaml")).map_err(|error| render_error(&error))?;
    let (mutants, sources) = list_mutants(&root)?;
    let (results, earlier) = Results::open::<Judged>(&cli.results)?;
    let mut known: BTreeMap<MutantName, Outcome> =
        earlier.into_iter().map(|Judged { mutant, outcome }| (mutant, outcome)).collect();
    let is_missed = |mutant: &Mutant| matches!(known.get(&mutant.name), Some(Outcome::Missed { .. }));
    let is_chosen = |mutant: &&Mutant| {
        let name = mutant.name.to_string();
        (!cli.missed || is_missed(mutant))
            && (cli.only.is_empty() || cli.only.iter().any(|text| name.contains(text.as_str())))
            && cli.shard.is_none_or(|(part, parts)| mutant.number % parts == part)
    };
    let chosen: Vec<&Mutant> = mutants.iter().filter(is_chosen).collect();
    if chosen.is_empty() && !(cli.missed && cli.only.is_empty()) {
        return Err("no mutant: expected a part of a file, a change or a line of code".into());
    }
    let is_asked = |judge: &Judge| cli.judges.is_empty() || cli.judges.contains(judge);
    let judges: Vec<Judge> = BY_COST.into_iter().filter(is_asked).collect();
    for mutant in &chosen {
        match known.get_mut(&mutant.name) {
            // What the other judges found still holds.
            Some(Outcome::Missed { judges: asked }) if cli.missed => {
                asked.retain(|judge| !judges.contains(judge));
            }
            Some(_) if cli.again => drop(known.remove(&mutant.name)),
            Some(_) | None => {}
        }
    }
    let mut unjudged: Vec<&Mutant> =
        chosen.iter().copied().filter(|mutant| has_judge_to_ask(known.get(&mutant.name), &judges)).collect();
    // A run that is stopped has tried a part of each file.
    unjudged.sort_by_key(|mutant| mutant.number % PASSES);
    if !unjudged.is_empty() {
        let copy = std::path::absolute(&cli.work_dir)?.join("workspace");
        let excluded = write_mutants(&root, &copy, &mutants, &sources)?;
        let build = |judge: &Judge| Suite::build(&copy, *judge, &[Check::hardened()], cli.jobs.into());
        let suites: Vec<Suite> = judges.iter().map(build).collect::<Result<_, _>>()?;
        let judged = judge_all(&unjudged, &excluded, &suites, &known, &results, cli.jobs)?;
        known.extend(judged.into_iter().map(|Judged { mutant, outcome }| (mutant, outcome)));
    }
    let judged = |mutant: &Mutant| {
        Some(Judged { mutant: mutant.name.clone(), outcome: known.get(&mutant.name)?.clone() })
    };
    // Without the outcomes of code that is gone.
    let mut all: Vec<Judged> = mutants.iter().filter_map(judged).collect();
    all.sort_by(|one, other| one.mutant.cmp(&other.mutant));
    results.replace(&all)?;
    if let Some(path) = &cli.page {
        std::fs::write(path, page(&all, &explained))?;
    }
    // Each mutant of `--missed` was missed, so the share is that of the record.
    let judged = if cli.missed { all } else { chosen.into_iter().filter_map(judged).collect() };
    for name in unexplained(&judged, &explained) {
        println!("no explanation: {name}");
    }
    println!("{}", summary(&judged, &explained));
    Ok(is_as_expected(&judged, &explained))
}

/// Asks the judges about each mutant, and writes each outcome to the results at once.
fn judge_all(
    unjudged: &[&Mutant],
    excluded: &Excluded,
    suites: &[Suite],
    known: &BTreeMap<MutantName, Outcome>,
    results: &Results,
    jobs: u16,
) -> io::Result<Vec<Judged>> {
    let done = AtomicUsize::new(0);
    let judged = in_parallel(unjudged, jobs.into(), |_, mutant| {
        let outcome = judge(mutant, excluded, suites, known.get(&mutant.name))?;
        let judged = Judged { mutant: mutant.name.clone(), outcome };
        results.append(&judged)?;
        let position = done.fetch_add(1, Ordering::Relaxed) + 1;
        if matches!(judged.outcome, Outcome::Missed { .. }) {
            println!("{position:>4} of {}  not detected: {}", unjudged.len(), judged.mutant);
        } else if position.is_multiple_of(100) {
            eprintln!("{position:>4} of {}", unjudged.len());
        }
        Ok(judged)
    });
    judged.into_iter().collect()
}
