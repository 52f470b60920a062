//! The tests, checks or replays of a judge. Each runs once without a fault and records the faults whose code it reaches; with a fault, only
//! those run that reach it.

use crate::judges::{CheckReport, Finding, Judge, ORACLE, check_finding, replay_finding, test_finding};
use crate::program::{Built, Invocation, Run, Switch, build, failed_test, run};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A fault may make a run slower by this factor before it counts as endless.
const SLOWER_MAX: u32 = 20;
/// The time that a run may take in any case.
const TIME_MIN: Duration = Duration::from_secs(20);
/// The time for one run of a test or a model without a fault.
const RECORDING_TIME_MAX: Duration = Duration::from_secs(600);
/// Tests that take less time run in one process, before the others.
const SHORT_TEST_MAX: Duration = Duration::from_millis(500);

/// The folder of the golden traces.
const GOLDEN_TRACES: &str = "specs/scenarios";

/// The policy under which claims fail without a fault: the findings.
const AS_DRAWN: &str = "as-drawn";

/// When a judge stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After one failing test or model.
    FirstFailure,
    /// After all models of a check, so that all claims that fail are known. Tests stop after the first failure.
    EndOfCheck,
}

/// Which policy `check` runs under, and at which scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The policy: a name or a file.
    pub policy: String,
    /// The scope.
    pub scope: String,
}

impl Check {
    /// The check of a policy at a scope.
    #[must_use]
    pub fn new(policy: &str, scope: &str) -> Self {
        Self { policy: policy.to_owned(), scope: scope.to_owned() }
    }

    /// The check of the hardened policy at scope tiny.
    #[must_use]
    pub fn hardened() -> Self {
        Self::new("hardened", "tiny")
    }

    /// The checks at scope tiny: of the hardened policy, of policies with parts that it does not have, and of the diagram as drawn.
    #[must_use]
    pub fn tiny() -> Vec<Self> {
        [
            "hardened",
            "specs/policies/with-debaters.yaml",
            "specs/policies/with-approver.yaml",
            "specs/policies/no-needs-review.yaml",
            AS_DRAWN,
        ]
        .map(|policy| Self::new(policy, "tiny"))
        .to_vec()
    }

    fn arguments(&self) -> Vec<String> {
        let Self { policy, scope } = self;
        ["check", "--policy", policy, "--scope", scope, "--format", "json", "--quiet"]
            .map(str::to_owned)
            .to_vec()
    }
}

/// A test, a model of a check, or a golden trace.
#[derive(Clone, Debug)]
struct Case {
    /// The name of the test, the model or the trace.
    name: String,
    invocation: Invocation,
    /// The time without a fault.
    duration: Duration,
    reached: BTreeSet<u32>,
    /// What fails without a fault.
    expected: BTreeSet<String>,
}

/// The cases that belong together: the tests of a program, the models of a check, or the golden traces.
#[derive(Clone, Debug)]
struct Stage {
    program: Built,
    cases: Vec<Case>,
    /// Whether cases may fail without a fault.
    may_fail: bool,
}

impl Stage {
    fn duration(&self) -> Duration {
        self.cases.iter().map(|case| case.duration).sum()
    }
}

/// A process that runs cases.
struct Process {
    invocation: Invocation,
    /// The time after which it is stopped.
    time_max: Duration,
    /// What fails without a fault.
    expected: BTreeSet<String>,
}

/// The tests, checks or replays of a judge.
#[derive(Debug)]
pub struct Suite {
    judge: Judge,
    stages: Vec<Stage>,
}

impl Suite {
    /// Builds the programs of a judge in the faulty workspace, and runs each case once without a fault.
    ///
    /// # Errors
    /// A program cannot be built or started, or a case fails without a fault.
    pub fn build(copy: &Path, judge: Judge, checks: &[Check], jobs: usize) -> io::Result<Self> {
        let programs = build(copy, judge.build_arguments())?;
        if programs.is_empty() {
            return Err(io::Error::other(format!("cargo built no program for {}", judge.as_str())));
        }
        let mut stages = Vec::new();
        for program in programs {
            match judge {
                Judge::KernelTests => stages.push(tests_of(&program, |_| true)?),
                Judge::Oracle => {
                    stages
                        .push(tests_of(&program, |name| ORACLE.iter().any(|start| name.starts_with(start)))?);
                }
                Judge::Check => {
                    let program = Built { program: program.program, folder: copy.to_path_buf() };
                    for check in checks {
                        stages.push(models_of(&program, check)?);
                    }
                }
                Judge::GoldenTraces => {
                    stages.push(golden_traces_of(&Built {
                        program: program.program,
                        folder: copy.to_path_buf(),
                    })?);
                }
            }
        }
        let count: usize = stages.iter().map(|stage| stage.cases.len()).sum();
        eprintln!("{}: {count} tests, models or traces run without a fault", judge.as_str());
        let records = tempfile::tempdir()?;
        for stage in &mut stages {
            let recorded = in_parallel(&stage.cases, jobs, |position, case| {
                record(judge, stage.may_fail, case, &records.path().join(position.to_string()))
            });
            stage.cases = recorded.into_iter().collect::<io::Result<_>>()?;
            stage.cases.sort_by_key(|case| case.duration);
        }
        // The order of checks is that of the policies.
        if judge != Judge::Check {
            stages.sort_by_key(Stage::duration);
        }
        Ok(Self { judge, stages })
    }

    /// Who judges.
    #[must_use]
    pub const fn judge(&self) -> Judge {
        self.judge
    }

    /// Runs the cases that reach a fault, stage by stage, until one stage finds something.
    ///
    /// # Errors
    /// A program cannot be started.
    pub fn find(&self, fault: u32, until: Until) -> io::Result<Finding> {
        for stage in &self.stages {
            let reaching: Vec<&Case> =
                stage.cases.iter().filter(|case| case.reached.contains(&fault)).collect();
            let (mut failing, mut took_too_long) = (BTreeSet::new(), false);
            for Process { invocation, time_max, expected } in self.processes(stage, &reaching) {
                let ended =
                    run(&invocation, Switch::Fault(fault), time_max, |line| failed_test(line).is_some())?;
                match ended.map_or(Finding::TookTooLong, |ended| finding(self.judge, &ended, &expected)) {
                    Finding::Nothing => {}
                    Finding::Failures(names) => failing.extend(names),
                    Finding::TookTooLong => took_too_long = true,
                    stopped @ Finding::Stopped(_) => return Ok(stopped),
                }
                let is_complete = self.judge == Judge::Check && until == Until::EndOfCheck;
                if !is_complete && (took_too_long || !failing.is_empty()) {
                    break;
                }
            }
            if !failing.is_empty() {
                return Ok(Finding::Failures(failing.into_iter().collect()));
            }
            if took_too_long {
                return Ok(Finding::TookTooLong);
            }
        }
        Ok(Finding::Nothing)
    }

    /// The processes that run these cases.
    fn processes(&self, stage: &Stage, cases: &[&Case]) -> Vec<Process> {
        let single = |case: &&Case| {
            let Case { invocation, duration, expected, .. } = (*case).clone();
            Process { invocation, time_max: time_max(duration), expected }
        };
        match self.judge {
            Judge::Check => cases.iter().map(|case| with_own_limit(single(case))).collect(),
            Judge::GoldenTraces => cases.iter().map(single).collect(),
            Judge::KernelTests | Judge::Oracle => {
                let (short, long): (Vec<&Case>, Vec<&Case>) =
                    cases.iter().copied().partition(|case| case.duration < SHORT_TEST_MAX);
                let names = short.iter().map(|case| case.name.clone());
                let together = Process {
                    invocation: tests(&stage.program, names),
                    time_max: time_max(short.iter().map(|case| case.duration).sum()),
                    expected: BTreeSet::new(),
                };
                let together = (!short.is_empty()).then_some(together);
                together.into_iter().chain(long.iter().map(single)).collect()
            }
        }
    }
}

/// The time that a run with a fault may take, by its time without one.
fn time_max(duration: Duration) -> Duration {
    TIME_MIN + duration * SLOWER_MAX
}

/// Gives a check this time as its own limit, at which it reports the claims that failed until then: a fault can make a model endless.
fn with_own_limit(mut process: Process) -> Process {
    let limit = format!("{}s", process.time_max.as_secs());
    process.invocation.arguments.extend(["--timeout".to_owned(), limit]);
    // Its claims about liveness and its report come after the limit.
    process.time_max *= 2;
    process
}

fn record(judge: Judge, may_fail: bool, case: &Case, file: &Path) -> io::Result<Case> {
    let start = Instant::now();
    let ended = run(&case.invocation, Switch::Record(file), RECORDING_TIME_MAX, |_| false)?;
    let expected = match ended.map_or(Finding::TookTooLong, |ended| finding(judge, &ended, &BTreeSet::new()))
    {
        Finding::Nothing => BTreeSet::new(),
        Finding::Failures(names) if may_fail => names.into_iter().collect(),
        found @ (Finding::Failures(_) | Finding::Stopped(_) | Finding::TookTooLong) => {
            return Err(io::Error::other(format!("{} fails without a fault: {found:?}", case.name)));
        }
    };
    // A case that reaches no fault writes no file.
    let text = if file.exists() { std::fs::read_to_string(file)? } else { String::new() };
    std::fs::remove_file(file).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    let reached = text.lines().filter_map(|line| line.parse().ok()).collect();
    Ok(Case { duration: start.elapsed(), reached, expected, ..case.clone() })
}

fn finding(judge: Judge, run: &Run, expected: &BTreeSet<String>) -> Finding {
    match judge {
        Judge::KernelTests | Judge::Oracle => test_finding(run),
        Judge::Check => check_finding(run, expected),
        Judge::GoldenTraces => replay_finding(run),
    }
}

/// A run of tests of one program.
fn tests(program: &Built, names: impl IntoIterator<Item = String>) -> Invocation {
    let options = ["--test-threads", "1", "--exact"].map(str::to_owned);
    program.invocation(options.into_iter().chain(names).collect())
}

fn case(name: String, invocation: Invocation) -> Case {
    Case { name, invocation, duration: Duration::ZERO, reached: BTreeSet::new(), expected: BTreeSet::new() }
}

fn tests_of(program: &Built, is_chosen: impl Fn(&str) -> bool) -> io::Result<Stage> {
    let list = |options: &[&str]| {
        let arguments = ["--list", "--format", "terse"].iter().chain(options);
        let listing = program.invocation(arguments.map(|argument| (*argument).to_owned()).collect());
        let listed = run(&listing, Switch::None, RECORDING_TIME_MAX, |_| false)?;
        let text = listed.map(|run| run.stdout).unwrap_or_default();
        let names = text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
        Ok::<BTreeSet<String>, io::Error>(names.collect())
    };
    let ignored = list(&["--ignored"])?;
    let chosen = list(&[])?.into_iter().filter(|name| !ignored.contains(name) && is_chosen(name));
    let cases = chosen.map(|name| case(name.clone(), tests(program, [name]))).collect();
    Ok(Stage { program: program.clone(), cases, may_fail: false })
}

/// The models that `check` explores by default under a policy.
fn models_of(program: &Built, check: &Check) -> io::Result<Stage> {
    let ended = run(&program.invocation(check.arguments()), Switch::None, RECORDING_TIME_MAX, |_| false)?;
    let report: CheckReport = serde_json::from_str(&ended.map(|run| run.stdout).unwrap_or_default())?;
    let names: BTreeSet<String> = report.runs.into_iter().map(|run| run.model).collect();
    let model = |name: String| {
        let mut arguments = check.arguments();
        let options = ["--jobs", "1", "--max-memory", "2GiB", "--model", &name];
        arguments.extend(options.map(str::to_owned));
        case(name, program.invocation(arguments))
    };
    let cases = names.into_iter().map(model).collect();
    Ok(Stage { program: program.clone(), cases, may_fail: check.policy == AS_DRAWN })
}

/// The golden traces, each a case of its own.
fn golden_traces_of(program: &Built) -> io::Result<Stage> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(program.folder.join(GOLDEN_TRACES))? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if name.ends_with(".ndjson") {
            let file = format!("{GOLDEN_TRACES}/{name}");
            let arguments = ["replay", "--format", "json", &file].map(str::to_owned);
            cases.push(case(name, program.invocation(arguments.to_vec())));
        }
    }
    Ok(Stage { program: program.clone(), cases, may_fail: false })
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
                while let position = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(position)
                {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    /// A program like one of tests: `first` reaches fault 1 and fails with it, `second` reaches faults 1 and 2 and detects neither, and
    /// with fault 3 nothing is reached. Each run is written to the file `runs`.
    const PROGRAM: &str = r#"#!/bin/sh
case "$*" in *--ignored*) exit ;; *--list*) printf 'first: test\nsecond: test\n'; exit ;; esac
echo "$*" >> runs
if [ -n "$ORCHESTRION_REACHED_FAULTS" ]; then
    echo 1 >> "$ORCHESTRION_REACHED_FAULTS"
    case "$*" in *second*) echo 2 >> "$ORCHESTRION_REACHED_FAULTS" ;; esac
fi
case "$ORCHESTRION_FAULT $*" in "1 "*first*) echo "test first ... FAILED"; exit 101 ;; esac
"#;

    #[test]
    fn only_tests_that_reach_a_fault_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let text = folder.path().join("text");
        std::fs::write(&text, PROGRAM).unwrap();
        // Another process writes the program: a process that another test starts could still have it open here (ETXTBSY).
        let copied = Command::new("install").args(["-m", "755"]).args([&text, &path]).status().unwrap();
        assert!(copied.success());
        let program = Built { program: path, folder: folder.path().to_path_buf() };
        let mut stage = tests_of(&program, |_| true).unwrap();
        let recorded = stage
            .cases
            .iter()
            .map(|case| record(Judge::KernelTests, false, case, &folder.path().join(&case.name)));
        stage.cases = recorded.collect::<io::Result<_>>().unwrap();
        let suite = Suite { judge: Judge::KernelTests, stages: vec![stage] };
        let runs = folder.path().join("runs");
        let is_reached = |fault: u32| {
            suite.stages.iter().flat_map(|stage| &stage.cases).any(|case| case.reached.contains(&fault))
        };
        let find = |fault| {
            std::fs::write(&runs, "").unwrap();
            let found = suite.find(fault, Until::FirstFailure).unwrap();
            (found, std::fs::read_to_string(&runs).unwrap(), is_reached(fault))
        };
        let options = "--test-threads 1 --exact";
        let failed = Finding::Failures(vec!["first".to_owned()]);
        assert_eq!(find(1), (failed, format!("{options} first second\n"), true));
        assert_eq!(find(2), (Finding::Nothing, format!("{options} second\n"), true));
        assert_eq!(find(3), (Finding::Nothing, String::new(), false));
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let results = in_parallel(&items, 4, |position, item| (position, item * 2));
        assert_eq!(results, items.iter().map(|item| (*item, item * 2)).collect::<Vec<_>>());
    }
}
