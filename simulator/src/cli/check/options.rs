//! Arguments of `check`.

use super::search::SearchArgs;
use super::simulate::SimulationArgs;
use crate::cli::args::{ReportFormat, positive_number, shard};
use crate::cli::user_claims::ClaimArgs;
use orchestrion_experiment::Shard;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Check every claim against all reachable states of the models.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion check                          the policies of the project file,
                                             or the built-in `hardened`
  orchestrion check --policy as-drawn        the defects of the source diagram,
                                             each with a trace
  orchestrion check --policy mine.yaml --format json
  orchestrion check --format sarif > check.sarif   for code scanning

  orchestrion check --reach T18              a shortest path to a transition,
  orchestrion check --reach Blocked          to a phase,
  orchestrion check --reach 'wrong user'     to a refusal or an input,
  orchestrion check --reach C-26             to the premise of a claim,
  orchestrion check --reach 'not T19'        to a guard that does not hold,
  orchestrion check --reach '{label: vetoed, request.pass: {at_least: 2}}'
                                             to an event that matches

  orchestrion check --sweep passes=1..6      one check per number of passes
  orchestrion check --sweep max_repairs=0..2,unbounded \\
                    --sweep rules.cancel=true,false
  orchestrion check --sweep proceed_from=0.5,0.6,0.7 --policy mine.yaml
  orchestrion check --sweep veto_from=0.8..1:0.05 --model debate
                                             a range with a step

  orchestrion check --mutants --scope tiny   mutation testing of the claims
  orchestrion check --mutants --shard 2/4    the second of four parts
  orchestrion check --statistics --scope tiny
                                             where each claim could fail
  orchestrion check --dot graph.dot          draw it: dot -Tsvg -O graph.dot

  orchestrion check --simulate               500 random runs of up to 500 steps
  orchestrion check --simulate --seed 7 --runs 100000 --depth 2000
  orchestrion check --step --model debate    choose each input yourself

  orchestrion check --claims mine.yaml       also claims of your own, such as:
                                             claims:
                                             - id: no-call-after-veto
                                               after: {event: veto_raised}
                                               never: {operation: run_task}

  orchestrion check --max-memory 2GiB --timeout 5m
  orchestrion check --model debate --exact   one model, without fingerprints
  orchestrion check --scope tiny --jobs 1
  orchestrion check --scope mine.yaml        a scope file, such as:
                                             extends: tiny
                                             bounds: {tasks: 2}
                                             open: [execution, cancel]

  orchestrion check --model composed --checkpoint night
                                             stop it or lose power; the same
                                             command continues

Each trace is also written in the Informal Trace Format, as .itf.json.

A matcher of --reach has the syntax of claim files: {event: ..., FIELD: VALUE},
where a value may be {at_least: 2}, {at_most: 0.5}, {not: x}, {contains: x} or a
list. The fields are those of `orchestrion export claim-fields`; those with
`request.` describe the request after the event. The search stops at the first
event that matches, which is the last step of a shortest path. Example:
  orchestrion check --model debate \\
    --reach '{request.phase: Blocked, request.pass: {at_least: 2}}'
finds a shortest debate that ends as blocked in its second pass.

--sweep accepts the path of a setting in a policy file (bounds.passes), its
last part (passes), or max_ and the name of a bound (max_passes). Values are a
comma-separated list; a..b is an inclusive range of whole numbers, and a..b:STEP
one of decimal numbers, exact to six decimals. Several --sweep are combined, to
at most 10,000 rows. After the verdicts a second table has the outcomes of 1,000
random runs in each row, with the same random numbers in every row: the runs of
--simulate, each to the end of its first request, with confidences of 0, 0.05,
... 1. They compare rows, and forecast nothing.

With --model, a claim whose premise no chosen model reaches is reported as not
in model, and does not count.

Exit codes: 0 success; 1 a claim fails, a mutant survives, or the target of
--reach is not reached; 2 error, nothing was checked; 3 incomplete
(inconclusive, vacuous or expired waiver; with --statistics, also a hollow
claim). A sweep exits with the code of its worst row.")]
pub(in super::super) struct Args {
    /// Check this policy: `hardened`, `as-drawn` or a file. Of the project, only its claims are read.
    #[arg(long, value_name = "POLICY", conflicts_with = "config")]
    pub(super) policy: Option<String>,
    /// Bound the models by this scope: small, tiny, large or a file of bounds and open parts [default: that of the project file, or small].
    #[arg(long, value_name = "SCOPE")]
    pub(super) scope: Option<String>,
    /// Find a shortest path to a transition, phase, input, refusal or claim premise, or to an event that a matcher in braces matches; do
    /// not check claims.
    #[arg(long, value_name = "TARGET", conflicts_with = "files")]
    pub(super) reach: Option<String>,
    /// Check the policy with each of these values, and take random runs of each; may be repeated. Waivers are not applied.
    #[arg(long, value_name = "SETTING=VALUES", conflicts_with = "reach")]
    pub(super) sweep: Vec<String>,
    /// Run the mutants: report which seeded faults of the kernel the claims detect. Waivers are not applied. Takes minutes.
    #[arg(long, conflicts_with_all = ["reach", "sweep", "dot", "models", "exact", "max_states", "max_memory", "timeout", "files"])]
    pub(super) mutants: bool,
    /// Run this part of the mutants, such as 2/4: each fourth one, from the second.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(super) shard: Option<Shard>,
    /// Count the states in which the premise of each claim holds, and sample some: the claim is decisive in a state if a mutant of the
    /// kernel violates it there. A claim that is nowhere decisive is hollow. Verdicts are not reported. Takes minutes.
    #[arg(long, conflicts_with_all = ["reach", "sweep", "mutants", "dot", "checkpoint", "simulate", "step", "counterexamples", "files"])]
    pub(super) statistics: bool,
    #[command(flatten)]
    pub(super) simulation: SimulationArgs,
    /// Step through a model by hand: list the inputs that can occur, read a choice from standard input, and show what it does and
    /// which claims it violates. The model is composed unless --model is given.
    #[arg(long, conflicts_with_all = ["reach", "sweep", "mutants", "dot", "checkpoint", "simulate", "format", "exact", "max_states", "max_memory", "timeout"])]
    pub(super) step: bool,
    /// Write the explored state graph for Graphviz, grouped by phase, with the counterexample of the first failing claim.
    /// Doubles the time.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reach", "sweep"])]
    pub(super) dot: Option<PathBuf>,
    /// Write the progress of each model into this folder, after 30 s or 1,000,000 product states, and continue from it if it is
    /// there. The result is the same as without interruption. Refuses a checkpoint of another program, policy, scope or model;
    /// who can write the folder can still forge one.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["reach", "sweep", "mutants", "dot", "exact"])]
    pub(super) checkpoint: Option<PathBuf>,
    /// Write a checkpoint after this many new product states.
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    pub(super) checkpoint_states: Option<NonZeroUsize>,
    /// Write up to this many counterexamples of a claim: of an exploration, the shortest one in each model; of a simulation, those that
    /// take different transitions.
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = positive_number, conflicts_with_all = ["reach", "sweep", "mutants", "step"])]
    pub(super) counterexamples: NonZeroUsize,
    #[command(flatten)]
    pub(super) claims: ClaimArgs,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(super) format: ReportFormat,
}

impl Args {
    /// Returns the option that selects another report than that of claims.
    pub(super) fn mode(&self) -> Option<&'static str> {
        let modes = [
            (self.reach.is_some(), "--reach"),
            (!self.sweep.is_empty(), "--sweep"),
            (self.mutants, "--mutants"),
            (self.statistics, "--statistics"),
            (self.simulation.simulate, "--simulate"),
            (self.step, "--step"),
        ];
        modes.into_iter().find_map(|(is_set, option)| is_set.then_some(option))
    }
}
