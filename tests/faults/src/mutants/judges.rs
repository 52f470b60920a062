//! Runs tests and checks with one mutant at a time. Only those run that reach the code of the mutant, which one run of each without
//! a mutant records.

use super::list::{Mutant, MutantName};
use crate::judges::{Finding, Judge, ORACLE, check_finding, test_finding};
use crate::program::{Built, Invocation, Switch, build, failed_test, run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A mutant may make a run slower by this factor before it counts as endless.
const SLOWER_MAX: u32 = 20;
/// The time that a run may take in any case.
const TIME_MIN: Duration = Duration::from_secs(20);
/// The time for one run of a test or a check without a mutant.
const RECORDING_TIME_MAX: Duration = Duration::from_secs(600);

/// What happened to a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A judge fails with it: the test, or the claims.
    Detected {
        /// The judge.
        by: Judge,
        /// The failing test or claims.
        names: Vec<String>,
    },
    /// With it, a run of this judge does not end in time.
    TookTooLong {
        /// The judge.
        by: Judge,
    },
    /// Nothing fails.
    Missed {
        /// Whether a test or a check runs its code.
        is_reached: bool,
    },
    /// No switch can be written around it, or its function must be `const`.
    NotTried,
    /// It does not compile.
    NotCompiling,
}

/// A mutant with its outcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Judged {
    /// The mutant.
    pub mutant: MutantName,
    /// What happened to it.
    pub outcome: Outcome,
}

/// A test or the check of one model, with the mutants that it reaches.
#[derive(Clone, Debug)]
struct Case {
    judge: Judge,
    program: Built,
    /// The test or the model.
    name: String,
    duration: Duration,
    reached: BTreeSet<u32>,
}

impl Case {
    /// The run of this case, without a mutant.
    fn invocation(&self) -> Invocation {
        match self.judge {
            Judge::KernelTests | Judge::Oracle => tests(&self.program, [self.name.clone()]),
            Judge::Check => {
                let arguments = ["check", "--policy", "hardened", "--scope", "tiny", "--format", "json"];
                let arguments = arguments.into_iter().chain(["--jobs", "1", "--model", &self.name]);
                let arguments = arguments.map(str::to_owned).collect();
                Invocation {
                    program: self.program.program.clone(),
                    arguments,
                    folder: self.program.folder.clone(),
                }
            }
        }
    }
}

/// A run of tests of one program.
fn tests(program: &Built, names: impl IntoIterator<Item = String>) -> Invocation {
    let options = ["--test-threads", "1", "--exact"].map(str::to_owned);
    let arguments = options.into_iter().chain(names).collect();
    Invocation { program: program.program.clone(), arguments, folder: program.folder.clone() }
}

/// The tests and checks of a copy of the workspace.
#[derive(Debug)]
pub struct Judges {
    /// In the order of judges, then programs, then time.
    cases: Vec<Case>,
}

impl Judges {
    /// Builds the programs, and runs each test and each model once, without a mutant.
    ///
    /// # Errors
    /// A program cannot be built or started, or something fails without a mutant.
    pub fn build(copy: &Path, chosen: &[Judge], jobs: usize) -> io::Result<Self> {
        let mut cases = Vec::new();
        for judge in chosen {
            let arguments: &[&str] = match judge {
                Judge::KernelTests => {
                    &["test", "--no-run", "-p", "orchestrion-kernel", "-p", "orchestrion-optimizer"]
                }
                Judge::Check | Judge::Oracle => judge.build_arguments(),
            };
            for program in build(copy, arguments)? {
                let names = match judge {
                    Judge::KernelTests => test_names(&program, |_| true)?,
                    Judge::Oracle => {
                        test_names(&program, |name| ORACLE.iter().any(|prefix| name.starts_with(prefix)))?
                    }
                    Judge::Check => model_names(&program, copy)?,
                };
                let folder = if *judge == Judge::Check { copy.to_path_buf() } else { program.folder };
                let program = Built { program: program.program, folder };
                cases.extend(names.into_iter().map(|name| Case {
                    judge: *judge,
                    program: program.clone(),
                    name,
                    duration: Duration::ZERO,
                    reached: BTreeSet::new(),
                }));
            }
        }
        eprintln!("running {} tests and models without a mutant", cases.len());
        let records = tempfile::tempdir()?;
        let recorded = in_parallel(&cases, jobs, |position, case| {
            let file = records.path().join(position.to_string());
            let start = Instant::now();
            let ended = run(&case.invocation(), Switch::Record(&file), RECORDING_TIME_MAX, |_| false)?;
            let found = ended.map_or(Finding::TookTooLong, |run| finding(case.judge, &run));
            if found != Finding::Nothing {
                return Err(io::Error::other(format!("{} fails without a mutant: {found:?}", case.name)));
            }
            let text = if file.exists() { std::fs::read_to_string(&file)? } else { String::new() };
            let reached = text.lines().filter_map(|line| line.parse().ok()).collect();
            Ok(Case { duration: start.elapsed(), reached, ..case.clone() })
        });
        let mut cases = recorded.into_iter().collect::<io::Result<Vec<Case>>>()?;
        cases.sort_by_key(|case| (rank(case.judge), case.program.program.clone(), case.duration));
        Ok(Self { cases })
    }

    /// Runs the cases that reach a mutant, until one fails.
    ///
    /// # Errors
    /// A program cannot be started.
    pub fn judge(&self, mutant: &Mutant) -> io::Result<Outcome> {
        let mut is_reached = false;
        for group in
            self.cases.chunk_by(|case, next| case.judge == next.judge && case.program == next.program)
        {
            let reaching: Vec<&Case> =
                group.iter().filter(|case| case.reached.contains(&mutant.number)).collect();
            let Some(first) = reaching.first() else { continue };
            is_reached = true;
            // Tests of one program run in one process; each model in its own.
            let runs: Vec<(Invocation, Duration)> = match first.judge {
                Judge::KernelTests | Judge::Oracle => {
                    let names = reaching.iter().map(|case| case.name.clone());
                    let duration = reaching.iter().map(|case| case.duration).sum();
                    vec![(tests(&first.program, names), duration)]
                }
                Judge::Check => reaching.iter().map(|case| (case.invocation(), case.duration)).collect(),
            };
            for (invocation, duration) in runs {
                let limit = TIME_MIN + duration * SLOWER_MAX;
                let switch = Switch::Fault(mutant.number);
                let Some(ended) = run(&invocation, switch, limit, |line| failed_test(line).is_some())? else {
                    return Ok(Outcome::TookTooLong { by: first.judge });
                };
                match finding(first.judge, &ended) {
                    Finding::Nothing => {}
                    Finding::Failures(names) => return Ok(Outcome::Detected { by: first.judge, names }),
                    Finding::Stopped(reason) => {
                        return Ok(Outcome::Detected { by: first.judge, names: vec![reason] });
                    }
                    Finding::TookTooLong => return Ok(Outcome::TookTooLong { by: first.judge }),
                }
            }
        }
        Ok(Outcome::Missed { is_reached })
    }
}

/// The order in which the judges are asked: by their time.
const fn rank(judge: Judge) -> u8 {
    match judge {
        Judge::KernelTests => 0,
        Judge::Check => 1,
        Judge::Oracle => 2,
    }
}

fn finding(judge: Judge, run: &crate::program::Run) -> Finding {
    match judge {
        Judge::KernelTests | Judge::Oracle => test_finding(run),
        Judge::Check => check_finding(run),
    }
}

fn test_names(program: &Built, is_chosen: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let list = |options: &[&str]| {
        let arguments = ["--list", "--format", "terse"].iter().chain(options);
        let arguments = arguments.map(|argument| (*argument).to_owned()).collect();
        let listing =
            Invocation { program: program.program.clone(), arguments, folder: program.folder.clone() };
        let listed = run(&listing, Switch::None, RECORDING_TIME_MAX, |_| false)?.map(|run| run.stdout);
        let listed = listed.unwrap_or_default();
        let names = listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
        Ok::<BTreeSet<String>, io::Error>(names.collect())
    };
    let ignored = list(&["--ignored"])?;
    Ok(list(&[])?.difference(&ignored).filter(|name| is_chosen(name)).cloned().collect())
}

/// The models that `check` explores by default.
fn model_names(program: &Built, copy: &Path) -> io::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Report {
        runs: Vec<ReportedRun>,
    }
    #[derive(Deserialize)]
    struct ReportedRun {
        model: String,
    }
    let arguments = ["check", "--policy", "hardened", "--scope", "tiny", "--format", "json", "--quiet"];
    let arguments = arguments.map(str::to_owned).to_vec();
    let check = Invocation { program: program.program.clone(), arguments, folder: copy.to_path_buf() };
    let ended = run(&check, Switch::None, RECORDING_TIME_MAX, |_| false)?;
    let report: Report = serde_json::from_str(&ended.map(|run| run.stdout).unwrap_or_default())?;
    let names: BTreeSet<String> = report.runs.into_iter().map(|run| run.model).collect();
    Ok(names.into_iter().collect())
}

/// Calls a function for each item, with its position, on this many threads. The results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    call: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(position) else { break };
                    let result = call(position, item);
                    if let Ok(mut results) = results.lock() {
                        results.push((position, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}
