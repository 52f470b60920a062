//! The judges: `check`, the kernel's tests, and the oracle. Each runs the faulty kernel and reports whether it notices.

use crate::program::{Built, Invocation, Run, Switch, build, run};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The tests of the package `orchestrion-tests` that compare the kernel with an independent implementation of the clauses.
pub const ORACLE: [&str; 9] = [
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
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
    pub(crate) const fn build_arguments(self) -> &'static [&'static str] {
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
    programs: Vec<Built>,
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
                Judge::KernelTests => self.run_tests(program, &[], fault)?,
                Judge::Oracle => self.run_tests(program, &ORACLE, fault)?,
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
    fn check(&self, program: &Built, fault: Option<u32>) -> io::Result<Finding> {
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
        program: &Built,
        fault: Option<u32>,
        policy: &str,
        scope: &str,
    ) -> io::Result<Finding> {
        // A model that a fault makes endless stops at the limit, and the others are still explored.
        let timeout = format!("{}s", self.limit.as_secs());
        let arguments =
            ["check", "--policy", policy, "--scope", scope, "--format", "json", "--timeout", &timeout];
        let check = Built { program: program.program.clone(), folder: self.copy.clone() };
        Ok(match run_program(&check, &arguments, fault, self.limit * MODELS_MAX)? {
            Some(run) => check_finding(&run),
            None => Finding::TookTooLong,
        })
    }

    fn run_tests(&self, program: &Built, filters: &[&str], fault: Option<u32>) -> io::Result<Finding> {
        Ok(match run_program(program, filters, fault, self.limit)? {
            Some(run) => test_finding(&run),
            None => Finding::TookTooLong,
        })
    }
}

fn run_program(
    program: &Built,
    arguments: &[&str],
    fault: Option<u32>,
    limit: Duration,
) -> io::Result<Option<Run>> {
    let invocation = Invocation {
        program: program.program.clone(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        folder: program.folder.clone(),
    };
    run(&invocation, fault.map_or(Switch::None, Switch::Fault), limit, |_| false)
}

/// What `check` found, by its report in JSON.
#[must_use]
pub fn check_finding(run: &Run) -> Finding {
    let Ok(report) = serde_json::from_str::<CheckReport>(&run.stdout) else {
        return Finding::Stopped(run.reason());
    };
    let failing = report
        .claims
        .into_iter()
        .filter(|claim| ["fails", "not_inductive"].contains(&claim.verdict.as_str()));
    Finding::from_failures(failing.map(|claim| claim.id).collect())
}

/// What a program of tests found.
#[must_use]
pub fn test_finding(run: &Run) -> Finding {
    match (run.succeeded, run.failed_tests()) {
        (true, _) => Finding::Nothing,
        (false, failed) if failed.is_empty() => Finding::Stopped(run.reason()),
        (false, failed) => Finding::Failures(failed),
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
