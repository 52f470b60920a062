//! The judges: `check`, the kernel's tests, and the oracle. Each runs the faulty kernel and reports whether it notices.

use crate::workspace::ACTIVE_FAULT;
use clap::ValueEnum;
use serde::Deserialize;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The tests of the package `orchestrion-tests` that compare the kernel with an independent implementation of the clauses.
const ORACLE: [&str; 9] = [
    "oracle::",
    "oracle_goldens::",
    "properties::",
    "knowledge::",
    "network::",
    "network_conversation::",
    "network_rules::",
    "convergence::",
    "situation::",
];

/// At least the number of models that `check` explores, each up to the limit.
const MODELS_MAX: u32 = 40;

/// What a judge found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing.
    Nothing,
    /// These claims or tests fail.
    Failures(Vec<String>),
    /// The run ended without a result: the kernel panics, or breaks a rule that the judge relies on.
    Stopped(String),
    /// Nothing, up to the time limit.
    TookTooLong,
}

impl Finding {
    /// The finding of a run that ended with these failures.
    fn from_failures(names: Vec<String>) -> Self {
        if names.is_empty() { Self::Nothing } else { Self::Failures(names) }
    }

    /// Whether the judge detected the fault.
    #[must_use]
    pub const fn is_detected(&self) -> bool {
        match self {
            Self::Failures(_) | Self::Stopped(_) => true,
            Self::Nothing | Self::TookTooLong => false,
        }
    }
}

/// Who judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Judge {
    /// All claims, on all models.
    Check,
    /// The tests of the kernel.
    KernelTests,
    /// The tests that compare the kernel with an independent implementation of the clauses.
    Oracle,
}

impl Judge {
    /// All judges, in the order of the table's columns.
    pub const ALL: [Self; 3] = [Self::Check, Self::KernelTests, Self::Oracle];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::KernelTests => "kernel tests",
            Self::Oracle => "oracle",
        }
    }

    /// What Cargo builds for this judge.
    const fn build_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Check => &["build", "-p", "orchestrion", "--bin", "orchestrion"],
            Self::KernelTests => &["test", "--no-run", "-p", "orchestrion-kernel"],
            Self::Oracle => &["test", "--no-run", "-p", "orchestrion-tests", "--test", "integration"],
        }
    }
}

/// A judge, built with the faulty kernel.
#[derive(Debug)]
pub struct BuiltJudge {
    judge: Judge,
    copy: PathBuf,
    programs: Vec<PathBuf>,
    limit: Duration,
    /// The scope at which `check` tries again what the scope tiny does not detect.
    scope: String,
}

/// The policies with parts that the hardened policy does not have.
const OTHER_POLICIES: [&str; 2] = ["specs/policies/with-debaters.yaml", "specs/policies/with-approver.yaml"];

impl BuiltJudge {
    /// Builds a judge in the faulty workspace.
    ///
    /// # Errors
    /// Cargo does not run, or the faulty kernel does not compile. Cargo has printed the reason.
    pub fn build(judge: Judge, copy: &Path, limit: Duration, scope: &str) -> io::Result<Self> {
        let programs = build(copy, judge.build_arguments())?;
        if programs.is_empty() {
            return Err(io::Error::other(format!("cargo built no program for {}", judge.as_str())));
        }
        Ok(Self { judge, copy: copy.to_path_buf(), programs, limit, scope: scope.to_owned() })
    }

    /// Who judges.
    #[must_use]
    pub const fn judge(&self) -> Judge {
        self.judge
    }

    /// Runs the judge with a fault, or without.
    ///
    /// # Errors
    /// A program cannot be started.
    pub fn find(&self, fault: Option<u32>) -> io::Result<Finding> {
        let mut failing = Vec::new();
        for program in &self.programs {
            let found = match self.judge {
                Judge::Check => self.check(program, fault)?,
                Judge::KernelTests => self.run_tests(program, &[], "kernel", fault)?,
                Judge::Oracle => self.run_tests(program, &ORACLE, "tests", fault)?,
            };
            match found {
                Finding::Nothing => {}
                Finding::Failures(names) => failing.extend(names),
                other @ (Finding::Stopped(_) | Finding::TookTooLong) => return Ok(other),
            }
        }
        Ok(Finding::from_failures(failing))
    }

    /// Checks all claims, at a larger scope and under other policies if the cheapest check finds nothing.
    fn check(&self, program: &Path, fault: Option<u32>) -> io::Result<Finding> {
        let mut checks = vec![("hardened", "tiny"), ("hardened", &*self.scope)];
        checks.extend(OTHER_POLICIES.map(|policy| (policy, "tiny")));
        checks.dedup();
        for (policy, scope) in checks {
            match self.check_policy(program, fault, policy, scope)? {
                Finding::Nothing => {}
                found => return Ok(found),
            }
        }
        Ok(Finding::Nothing)
    }

    fn check_policy(
        &self,
        program: &Path,
        fault: Option<u32>,
        policy: &str,
        scope: &str,
    ) -> io::Result<Finding> {
        // A model that a fault makes endless stops at the limit, and the others are still explored.
        let timeout = format!("{}s", self.limit.as_secs());
        let arguments =
            ["check", "--policy", policy, "--scope", scope, "--format", "json", "--timeout", &timeout];
        let Some(run) = self.run(program, &arguments, &self.copy, fault, self.limit * MODELS_MAX)? else {
            return Ok(Finding::TookTooLong);
        };
        let Ok(report) = serde_json::from_str::<CheckReport>(&run.stdout) else {
            return Ok(Finding::Stopped(run.reason()));
        };
        let failing = report
            .claims
            .into_iter()
            .filter(|claim| ["fails", "not_inductive"].contains(&claim.verdict.as_str()));
        Ok(Finding::from_failures(failing.map(|claim| claim.id).collect()))
    }

    fn run_tests(
        &self,
        program: &Path,
        filters: &[&str],
        folder: &str,
        fault: Option<u32>,
    ) -> io::Result<Finding> {
        let Some(run) = self.run(program, filters, &self.copy.join(folder), fault, self.limit)? else {
            return Ok(Finding::TookTooLong);
        };
        if run.succeeded {
            return Ok(Finding::Nothing);
        }
        let failed =
            run.stdout.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let failed: Vec<String> = failed.map(str::to_owned).collect();
        Ok(if failed.is_empty() { Finding::Stopped(run.reason()) } else { Finding::Failures(failed) })
    }

    /// Runs a program with a fault. Returns `None` if it takes longer than the limit; it is then stopped.
    fn run(
        &self,
        program: &Path,
        arguments: &[&str],
        folder: &Path,
        fault: Option<u32>,
        limit: Duration,
    ) -> io::Result<Option<Run>> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        match fault {
            Some(number) => command.env(ACTIVE_FAULT, number.to_string()),
            None => command.env_remove(ACTIVE_FAULT),
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = |from: Option<Box<dyn io::Read + Send>>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut from) = from {
                    let _ = from.read_to_end(&mut bytes);
                }
                String::from_utf8_lossy(&bytes).into_owned()
            })
        };
        let stdout = read(stdout.map(|from| Box::new(from) as _));
        let stderr = read(stderr.map(|from| Box::new(from) as _));
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = |reader: std::thread::JoinHandle<String>| reader.join().unwrap_or_default();
        Ok(Some(Run { succeeded: status.success(), stdout: text(stdout), stderr: text(stderr) }))
    }
}

/// The output of a program that ended.
struct Run {
    succeeded: bool,
    stdout: String,
    stderr: String,
}

impl Run {
    /// The line of the output that says why there is no result.
    fn reason(&self) -> String {
        let lines = || self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
        let panic = lines().skip_while(|line| !line.contains("panicked at")).nth(1);
        panic.or_else(|| lines().find(|line| !line.is_empty())).unwrap_or("no output").to_owned()
    }
}

/// What is read of the report of `check`.
#[derive(Deserialize)]
struct CheckReport {
    claims: Vec<ReportedClaim>,
}

#[derive(Deserialize)]
struct ReportedClaim {
    id: String,
    verdict: String,
}

/// Runs Cargo in the faulty workspace and returns the programs that it built. Faults make code of which the compiler warns.
fn build(copy: &Path, arguments: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).args(["--release", "--locked", "--message-format", "json-render-diagnostics"]);
    command.env("CARGO_TARGET_DIR", copy.join("target")).env("RUSTFLAGS", "--cap-lints=allow");
    let mut child = command.current_dir(copy).stdout(Stdio::piped()).spawn()?;
    let mut programs = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines()) {
        // Cargo also builds the commands that tests start.
        if let Ok(BuildMessage { executable: Some(program), profile }) = serde_json::from_str(&line?)
            && profile.test == (arguments.first() == Some(&"test"))
        {
            programs.push(program);
        }
    }
    let status = child.wait()?;
    if status.success() {
        Ok(programs)
    } else {
        Err(io::Error::other(format!(
            "cargo {} failed: correct the fault that it names",
            arguments.join(" ")
        )))
    }
}

/// What is read of a message of Cargo.
#[derive(Deserialize)]
struct BuildMessage {
    executable: Option<PathBuf>,
    profile: BuildProfile,
}

#[derive(Deserialize)]
struct BuildProfile {
    /// Whether it is a program of tests.
    test: bool,
}
