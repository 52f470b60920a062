//! `run`: executes scenarios.

mod cross_check;
mod golden;
mod keys;
mod many;
pub(in crate::cli) mod monitor;
mod network;
pub(in crate::cli) mod runs;
mod stdio;
mod traces;

use super::args::{GlobalArgs, ReportFormat, duration};
use super::exit_status::ExitStatus;
use super::files::{self, open_trace};
use super::test_report::{Diagnostic, Location, TestCase, TestReport, rules, text_output};
use super::user_claims::{ClaimArgs, TraceVerdicts};
use super::{output, targets};
use golden::GoldenMode;
use miette::{IntoDiagnostic, Result};
use monitor::run_with_claims;

pub(super) use monitor::continue_with_claims;
use orchestrion_kernel::Policy;
use orchestrion_report::show::{Style, View, show};
use orchestrion_scenario::Scenario;
use orchestrion_selection::cross_check;
use orchestrion_user_claims::UserClaim;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(super) use stdio::continue_with_host;
use traces::TraceFiles;

/// Run scenarios with their scripted modules, record a trace of each, and show it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion run                              scenarios of the project file
  orchestrion run specs/scenarios/happy.yaml   the timeline; the trace is in
                                               .orchestrion/
  orchestrion run specs/scenarios --quiet               only failures
  orchestrion run --check                      compare with golden traces
  orchestrion run --check --format github      and annotate the files
  orchestrion run --accept                     show what changes, and write them
  orchestrion run mine.yaml --out-dir traces            traces/mine.trace.ndjson
  orchestrion run mine.yaml --cross-check               also solve each context
                                                        as a 0-1 program
  orchestrion run specs/scenarios/random-replies.yaml --runs 1000 --seed 1
                                               how often each ending occurs
  orchestrion run specs/scenarios/random-replies.yaml --seed 7
                                               one of these runs

A scenario without `policy` runs under the first policy of the project file, or
under `hardened` outside a project.

The golden trace of a scenario is the file beside it with the extension .ndjson.
--check runs each scenario and compares inputs, decisions, texts and policy
with it; a scenario without a golden trace is an error. Comments, the order of
keys, the version of the kernel and its table are not compared. Example: after
`init`, add `redebate_below: 0.99` below `thresholds:` in policies/team.yaml.
`orchestrion run --check` then prints the changed setting, the first changed
step, the first transition that differs, both endings, and the command that
shows the step. --accept writes the golden traces that differ or are missing.

A scenario states what it expects of a request, and of the whole run:
  requests:
    - text: Rename the column mail to email
      expect:
        outcome: blocked          # outcome, blocked, rolled_back, aborted
        decision: veto            # proceed, reject, veto, outdated
        label: vetoed
        passes: 1
        taken: [H04]              # transitions: orchestrion export table
        not_taken: [T21]
        calls: {security: 1, executor: 0}
        contexts: {module: planner, contains: email, lacks: password}
  expect: {holds: [C-06], fails: [one-task]}  # claims, in every or in some step
If Security agrees instead, the run exits with code 1 and prints, at the line:
  outcome: expected blocked, found outcome (every task succeeded)

--runs takes the scenario with the seeds S, S+1, ... of --seed. The seed of a
scenario names all its random streams, so that a run depends on its seed alone,
and the summary on no number of threads. It has the endings, decisions and
labels of each request, with counts, rates and 95 % intervals; passes, calls,
tokens of contexts, steps and simulated time; and the runs that halted, do not
meet an expectation, or violate a claim of the project. Each row names its first
seed: `--seed 7` alone runs that seed, and writes
.orchestrion/NAME.seed-7.trace.ndjson. Example: in random-replies.yaml a third
of all task runs fail. Its summary prints, among others, for request 1
  ending        outcome: every task succeeded, with its rate and interval
  ending        rolled back, with the first seed in which it occurs

A claim of the project with `enforce: true` forbids calls that would violate it:
  claims:
  - {id: one-task, enforce: true,
     at_most: {limit: 1, of: {event: tool_call, operation: run_task}}}
The second task is not sent. It fails as `forbidden`, its step names the claim,
and the request takes the row of the operation for failures. `shadow: true` only
reports such a call.

Modules that a scenario does not script succeed. Memory and stores are then
simulated: each request reads the ratings and the user's past requests that
earlier requests of the run stored. Debate roles and the summarizer need a
script.

A host in another language reads calls from its standard input and writes
replies to its standard output, one line of JSON each (see `orchestrion export
schema --schema stdio`):
  mkfifo replies
  orchestrion run --stdio mine.yaml < replies | ./my-host > replies
Or the host starts the command, as simulator/examples/stdio/host.py does.

Messages to the host:
  opened, closed      the conversation starts, or is complete
  call, recover       a call; one that an earlier host may have executed
  final_answer        a request ended
  handoff_refused     a node refused a handoff: forged, replayed, no capability,
                      unavailable or overloaded; with the call that repeats it
  acknowledged        an input with a key is durable
  key_reused          the key of an input belongs to another one
  refused             an input was refused
  parse_failed        a line could not be used
  halted              every next input is refused
Messages of the host:
  reply, not_started  the result of a call; a call in recovery never started
  input               a request, write or cancel with an idempotency key
  request, cancel     a user's request; cancels it
  write, ingest       a write; a text that contains facts
  handoff             a signed handoff that reached its receiver
  close               ends the conversation

A request, write or cancel with a key is acknowledged when it is durable:
  {\"input\": {\"idempotency_key\": \"w-17\", \"content\": {\"write\": {\"fact\": ...}}}}
A host repeats it until it is acknowledged, also after a crash; a repetition has
no second effect. The latest 1,024 keys are remembered. Without a key an input
happens at most once, and is not acknowledged.

A conversation keeps the policy, the network and the public keys with which it
began: another policy or network is refused.

After a crash, start the command again with the same --journal. The disk can
lose the end of a journal, with a call whose effect happened. So the host gets
each call with an effect as `recover` before it is sent. A host that stores the
`step` of each call before it executes it passes the largest one:
  orchestrion run --stdio mine.yaml --journal mine.ndjson --acknowledged-step 41
Calls are then sent at once, unless a step records that the end of the journal
may be lost, and a journal that ends before is refused. `recover` asks whether a
call was made; the host does not make it. Only `undo_task`, and `run_task` of a
task with an effect, are such calls. Every other call may be sent again after a
crash, store_memory and deliver_audit too: a store replaces its record of the
same trace and operation.

With --journals, one process serves many conversations:
  orchestrion run --stdio hardened --journals conversations
The host opens each by its name, which is also the name of its journal, and
waits for `opened`, or for `open_failed` with the reason; then it names the
conversation of each message:
  {\"open\": {\"conversation\": \"ada-1\", \"acknowledged_step\": 41}}
  {\"message\": {\"conversation\": \"ada-1\", \"content\": {\"request\": ...}}}
So do the messages to the host; see `orchestrion export schema --schema
stdio-many`. A journal that cannot be opened or fails ends its conversation
only. No conversation waits for the disk of another one. A name has 1 to 128
letters of ASCII, digits, hyphens and underscores. At most 10,000 conversations
are open, and none has a network. If the input ends while one is open, the exit
code is 3.

A host that does not read delays no deadline, cancel or end of input. If more
than 16 MiB wait for it, it is disconnected. A host that did not read every
message gives exit code 3.

Exit codes: 0 every scenario ran as scripted; 1 one halted, an expectation was
not met, a write was refused or accepted against its script, a context differs
from the 0-1 program, or with --check a golden trace differs or is missing; 2 no
scenario could be run; 3 a scenario could not be run, a scripted event or reply
was not used, a golden trace could not be read, or a context was not
cross-checked. With --check and
--accept, a halt is no failure; an equal run has the halt and the unused replies
of its golden trace. With --runs: 1 a run halted, missed an expectation or
violates a claim; 3 some runs were not possible; an unused reply is no failure.")]
pub(super) struct Args {
    /// Run these scenarios, and every *.yaml file in or below these folders [default: those of the project file]. Of two with one file
    /// name, the second trace is NAME.2.trace.ndjson.
    #[arg(value_name = "SCENARIO", conflicts_with = "config")]
    scenarios: Vec<PathBuf>,
    /// Use the program at standard input and output as host, instead of scripted modules. A scenario supplies the requests
    /// and their writes; with a policy, the host supplies them.
    #[arg(long, value_name = "SCENARIO|POLICY", conflicts_with_all = ["scenarios", "config", "fail_fast"])]
    stdio: Option<String>,
    /// Store the conversation in this journal, and resume it if the file exists. Needs --stdio.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Let the host open many conversations under this policy, each with a journal in this folder. Needs --stdio.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["journal", "keys"])]
    journals: Option<PathBuf>,
    /// Refuse a journal that ends before this step, the largest that the host stored. Needs --journal.
    #[arg(long, value_name = "STEP")]
    acknowledged_step: Option<u64>,
    /// Sign handoffs between nodes with the keys in this folder, which `orchestrion keys` creates [default: simulated keys, which
    /// are no secret]. Needs --stdio.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Compare each run with the golden trace of its scenario, and fail where one differs or is missing.
    #[arg(long, conflicts_with_all = ["stdio", "cross_check", "accept"])]
    check: bool,
    /// Write the golden traces that differ or are missing, and show before what changes.
    #[arg(long, conflicts_with_all = ["stdio", "cross_check"])]
    accept: bool,
    /// Solve each context again as a 0-1 program, and compare the items, the utility and the cost.
    #[arg(long, conflicts_with = "stdio")]
    cross_check: bool,
    /// Stop the 0-1 program of a context after this time (for example 90s or 10m) and report it as not cross-checked.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    #[command(flatten)]
    runs: runs::RunsArgs,
    #[command(flatten)]
    claims: ClaimArgs,
    /// Print the report in this format; formats for tools contain no timeline.
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with_all = ["stdio", "accept"])]
    format: ReportFormat,
    /// Stop at the first scenario that does not succeed.
    #[arg(long)]
    fail_fast: bool,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    args.runs.check(args)?;
    if let Some(subject) = &args.stdio {
        let stored =
            stdio::StoredJournal { path: args.journal.as_deref(), acknowledged_step: args.acknowledged_step };
        let claims = args.claims.read(global)?;
        if let Some(folder) = &args.journals {
            return many::run(subject, folder, claims, global);
        }
        return stdio::run(subject, stored, args.keys.as_deref(), claims, global);
    }
    let scenarios = targets::scenarios(&args.scenarios, global)?;
    let traces = TraceFiles::new(&scenarios, &global.out_dir);
    let policy = targets::default_policy(global)?;
    let claims = args.claims.read(global)?;
    if let Some(mode) = args.golden_mode() {
        let settings = golden::Settings { mode, policy: &policy, claims: &claims, traces: &traces, global };
        return golden::run(&scenarios, &settings, args);
    }
    if let Some(runs) = args.runs.runs {
        return runs::run(&scenarios, runs, &policy, &claims, args, global);
    }
    let (mut statuses, mut cases) = (Vec::new(), Vec::new());
    for path in &scenarios {
        let (status, case) =
            match run_file(path, &policy, scenarios.len() == 1, &claims, &traces, args, global) {
                Ok((status, diagnostics)) => (status, TestCase::of_file("run", path, status, diagnostics)),
                Err(error) => {
                    output::print_diagnostic(&error);
                    (ExitStatus::Error, TestCase::of_error("run", path, &rules::INVALID_FILE, &error))
                }
            };
        statuses.push(status);
        cases.push(case);
        if args.fail_fast && status != ExitStatus::Success {
            break;
        }
    }
    let status = ExitStatus::combine(&statuses);
    TestReport::new("run", status, cases).print(args.format)?;
    Ok(status)
}

impl Args {
    fn golden_mode(&self) -> Option<GoldenMode> {
        match (self.check, self.accept) {
            (true, _) => Some(GoldenMode::Check),
            (false, true) => Some(GoldenMode::Accept),
            (false, false) => None,
        }
    }
}

/// Plays one scenario. Returns why it did not succeed, too.
fn run_file(
    path: &Path,
    policy: &Policy,
    is_single: bool,
    claims: &[UserClaim],
    traces: &TraceFiles<'_>,
    args: &Args,
    global: &GlobalArgs,
) -> Result<(ExitStatus, Vec<Diagnostic>)> {
    let mut scenario = Scenario::read_with_default(path, policy)?;
    let trace = traces.of(path, args.runs.seed);
    if let Some(seed) = args.runs.seed {
        scenario = scenario.with_seed(&seed.to_string());
    }
    let expected_claims = scenario.project_claims();
    let mut result = run_with_claims(scenario, claims)?;
    files::replace_trace(&trace, &result.trace)?;
    if is_single && !global.quiet && args.format == ReportFormat::Human {
        let mut out = output::stdout();
        let view = View { step: None, style: Style { colors: true, columns: output::width() } };
        show(open_trace(&trace).into_diagnostic()?, &view, &mut out).into_diagnostic()?;
        writeln!(out).into_diagnostic()?;
    }
    let mut out = text_output(args.format, output::plain_stdout());
    let mut diagnostics = Vec::new();
    let mut print =
        |text: String| output::write_hanging(0, "", &text, output::width(), &mut out).into_diagnostic();
    let file = path.display();
    if let Some(refusal) = &result.halted {
        let message = format!("halted after {} steps: {refusal}", result.steps);
        diagnostics.push(Diagnostic::error(&rules::HALTED, message, Location::of_file(path)));
        print(format!("{file}: HALTED after {} steps: {refusal}", result.steps))?;
    } else if !global.quiet {
        print(format!("{file}: completed in {} steps", result.steps))?;
    }
    if !global.quiet {
        print(format!("  trace    {}", trace.display()))?;
    }
    for unused in &result.unused_events {
        print(format!("{file}: {unused}"))?;
        diagnostics.push(Diagnostic::warning(
            &rules::UNUSED_SCRIPT,
            unused.to_string(),
            Location::of_file(path),
        ));
    }
    let cross_check = if args.cross_check {
        let checked = cross_check(open_trace(&trace).into_diagnostic()?, args.timeout).into_diagnostic()?;
        cross_check::report(&checked, &file.to_string(), global.quiet, &mut print)?;
        diagnostics.extend(cross_check::diagnostics(&checked, path));
        cross_check::status(&checked)
    } else {
        ExitStatus::Success
    };
    drop(out);
    let mut of_claims = TraceVerdicts::of_trace(|| open_trace(&trace), claims).into_diagnostic()?;
    result.unmet_expectations.extend(of_claims.expect(claims, &expected_claims));
    let mut out = text_output(args.format, output::plain_stdout());
    of_claims.report(claims, &trace, global.quiet, output::width(), &mut out).into_diagnostic()?;
    drop(out);
    diagnostics.extend(of_claims.diagnostics(claims, &trace));
    let is_failure = of_claims.status() == ExitStatus::Failure
        || result.halted.is_some()
        || !result.unexpected_writes.is_empty()
        || !result.unmet_expectations.is_empty()
        || cross_check == ExitStatus::Failure;
    let is_incomplete = !result.unused_events.is_empty() || cross_check == ExitStatus::Incomplete;
    for unexpected in result.unexpected_writes.into_iter().chain(result.unmet_expectations) {
        diagnostics.push(Diagnostic::of_error(&rules::UNMET_EXPECTATION, &unexpected, path));
        output::print_diagnostic(&unexpected.into());
    }
    let status = match (is_failure, is_incomplete) {
        (true, _) => ExitStatus::Failure,
        (false, true) => ExitStatus::Incomplete,
        (false, false) => ExitStatus::Success,
    };
    Ok((status, diagnostics))
}
