//! `fork`: the first steps of a trace as they are, then another input or policy.

mod setting;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::files::{self, open_trace};
use super::output::{self, quoted, write_command};
use super::run::{continue_with_claims, continue_with_host};
use super::user_claims::project_claims;
use super::{replay, targets};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::{Input, Policy, State};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::Progress;
use orchestrion_text::StandardContexts;
use orchestrion_trace::fork::{Fork, ForkError, ForkStep, Lineage, fork};
use orchestrion_trace::{EVENT_TRACE_FILE, FileDigest, Header};
use setting::Settings;
use std::path::{Path, PathBuf};

/// Replay the first steps of a trace, set another input or policy at a step, and continue from there.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Fork this trace.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Take the steps before this one from the trace.
    #[arg(long, value_name = "STEP")]
    step: u64,
    /// Set a value at this step; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", required = true)]
    set: Vec<String>,
    /// Continue with this scenario [default: the file beside the trace with the extension .yaml].
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    scenario: Option<PathBuf>,
    /// Continue with the program at standard input and output as host, by the protocol of `run --stdio`.
    #[arg(long)]
    stdio: bool,
    /// Sign handoffs between nodes with the keys in this folder, as `run --stdio` does. Needs --stdio.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Write the fork to this file [default: in --out-dir].
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = r#"Examples:
  orchestrion fork veto.ndjson --step 11 \
    --set 'call.reply={pro: {confidence: 0.9}}'    another reply
  orchestrion fork happy.ndjson --step 8 --set call.error=timeout
  orchestrion fork happy.ndjson --step 13 --set policy.redebate_below=0.99
  orchestrion fork live.ndjson --step 8 --set call.error=timeout --stdio

Keys:
  call.reply=REPLY   the reply to the call that ends at the step, as in a scenario
  call.error=KIND    its failure: timeout, error, malformed, no_candidates, …
  message.text=TEXT  the text of the user message
  write=WRITE        the write, as in a scenario
  policy.NAME=VALUE  a setting of the policy; may be repeated

The steps before STEP are those of the trace: their inputs are decided again, and
no module is called. A new policy must give the same steps there; otherwise the
fork is refused and names the first step that differs.

Then the scenario continues: its replies and events that the recorded steps used
are skipped. A call that is still pending is sent again. With --stdio, a host
continues after a resume, and sends further requests. After the fork, a claim of
the project with `enforce: true` forbids calls as in a run.

Only a host continues a conversation in a network. It needs the keys of the
nodes if they had keys in the trace: --stdio --keys keys

The header of the fork names its parent, the step and what was set; `show` prints
them. To see what the fork changes: orchestrion diff TRACE FORK.

Example: after `init`,
  orchestrion fork scenarios/first-request.ndjson --step 11 --output veto.ndjson \
    --set 'call.reply={con: {confidence: 0.95, text: No}}'
  orchestrion show veto.ndjson
prints among others:
Conversation first-request  policy team, kernel 0.1.0, scenario first-request
   11  Security         CON  █████████▌  0.95  "No"                          T11
                        VETO on plan r1: 0.95 ≥ 0.85, valid until the
   17  decision         VETO by Security                                     T18

Not reproduced: a late reply to a call that ended before the fork, and the time
that a pending call has already waited for its deadline.

Exit codes: 0 success; 1 the kernel refuses every further input, or with --stdio a
claim of the project is violated; 2 error, no file was written; 3 the host
disconnected."#;

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let reader = match open_trace(&args.trace) {
        Ok(reader) => reader,
        Err(error) => {
            output::print_error(&error);
            return Ok(ExitStatus::Error);
        }
    };
    let parent = reader.header().clone();
    let settings = Settings::parse(&args.set, &parent.policy)?;
    let lineage = Lineage {
        parent: args.trace.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        digest: file_digest(&args.trace)?,
        step: args.step,
        set: args.set.clone(),
    };
    let path = args.output.clone().unwrap_or_else(|| default_output(args, global));
    let header = Header::new(parent.conversation.clone(), settings.policy.clone(), None);
    let header = Header { lineage: Some(lineage), ..header };
    let source = Source { args, settings: &settings };
    files::ensure_not_input(&path, &args.trace)?;
    files::ensure_overwritable(&path, &EVENT_TRACE_FILE)?;
    let claims = project_claims(global)?;
    if args.stdio {
        let header = header.into_journal();
        let fork = source.fork(&header, |_| {})?;
        return continue_with_host(&path, &header, &fork, args.keys.as_deref(), &claims, global);
    }
    let scenario = scenario(args, &parent, &settings.policy, global)?;
    let header = Header { scenario: Some(scenario.reference()), ..header };
    let mut progress = Progress::new(scenario, settings.policy.clone());
    let fork = source.fork(&header, |step| progress.observe(step))?;
    if let Some(error) = progress.take_error() {
        return Err(error.into());
    }
    let steps = fork.steps;
    let result = continue_with_claims(progress, &header, fork, &claims)?;
    files::replace_trace(&path, &result.trace)?;
    let mut out = output::plain_stdout();
    let mut print = |text: String| output::write_hanging(0, "", &text, output::width(), &mut out);
    let name = args.trace.display();
    let taken = steps - 1;
    if let Some(refusal) = &result.halted {
        print(format!("{name}: forked at step {steps}, HALTED after {} steps: {refusal}", result.steps))
            .into_diagnostic()?;
    } else if !global.quiet {
        print(format!(
            "{name}: forked at step {steps}, completed in {} steps, {taken} from the trace",
            result.steps
        ))
        .into_diagnostic()?;
    }
    if !global.quiet {
        print(format!("  trace    {}", path.display())).into_diagnostic()?;
        let command = format!("orchestrion diff {} {}", quoted(&args.trace), quoted(&path));
        write_command("compare", &command, output::width(), &mut out).into_diagnostic()?;
    }
    for unexpected in result.unexpected_writes {
        output::print_diagnostic(&unexpected.into());
    }
    Ok(if result.halted.is_some() { ExitStatus::Failure } else { ExitStatus::Success })
}

/// The trace to fork, and what changes.
struct Source<'a> {
    args: &'a Args,
    settings: &'a Settings,
}

impl Source<'_> {
    fn fork(&self, header: &Header, follow: impl FnMut(&ForkStep<'_>)) -> Result<Fork> {
        let Self { args, settings } = self;
        let reader = open_trace(&args.trace).into_diagnostic()?;
        let change = |state: &State, input: &Input| match &settings.change {
            Some(change) => change.apply(args.step, state, input).map(Some).map_err(ForkFailure::Setting),
            None => Ok(None),
        };
        let forked = fork::<_, ForkFailure>(reader, args.step, header, &StandardContexts, change, follow);
        forked.map_err(|failure| match failure {
            ForkFailure::Setting(report) => report.wrap_err(format!("{}: not forked", args.trace.display())),
            ForkFailure::Fork(error) => {
                let help = help(&error, args.step);
                miette!(help = help, "{}: not forked: {error}", args.trace.display())
            }
        })
    }
}

/// Why a trace is not forked.
enum ForkFailure {
    Fork(ForkError),
    /// The value does not fit the step.
    Setting(miette::Report),
}

impl From<ForkError> for ForkFailure {
    fn from(error: ForkError) -> Self {
        Self::Fork(error)
    }
}

fn help(error: &ForkError, step: u64) -> String {
    match error {
        ForkError::Trace(_) => {
            "the steps before the fork must be readable; choose an earlier step".to_owned()
        }
        ForkError::BeyondEnd { .. } => "`orchestrion show TRACE` lists the steps".to_owned(),
        ForkError::Differs { difference, is_new_policy: true } => {
            format!("fork at step {} or earlier: --step {}", difference.step, difference.step)
        }
        ForkError::Differs { difference, is_new_policy: false } => format!(
            "fork at step {} or earlier, or write the trace with this kernel first: orchestrion replay --update TRACE",
            difference.step
        ),
        ForkError::Refused(_) => format!("set another value, or fork at another step than {step}"),
        ForkError::Io(_) => "choose another file with --output".to_owned(),
    }
}

/// Reads the scenario that continues the fork, under the policy of the fork.
fn scenario(args: &Args, parent: &Header, policy: &Policy, global: &GlobalArgs) -> Result<Scenario> {
    let beside = || replay::scenario_of(&args.trace, parent).or_else(|| recorded_beside(&args.trace, parent));
    let Some(path) = args.scenario.clone().or_else(beside) else {
        return Err(miette!(
            help = "name it with --scenario FILE, continue with a host by --stdio, or write one: orchestrion promote TRACE NAME",
            "{}: no scenario to continue with: expected {} beside the trace",
            args.trace.display(),
            args.trace.with_extension("yaml").file_name().unwrap_or_default().to_string_lossy()
        ));
    };
    let scenario = Scenario::read_with_default(&path, &targets::default_policy(global)?)?;
    if scenario.network.is_some() {
        return Err(miette!(
            help = "continue with a host: --stdio",
            "{}: expected a scenario without a network, found one with a network",
            path.display()
        ));
    }
    // The policy of the fork decides, and names the additional debaters.
    let mut scenario = Scenario::parse_under(&path.display().to_string(), scenario.text(), policy.clone())?;
    scenario.conversation = parent.conversation.clone();
    Ok(with_recorded_seed(scenario, parent))
}

/// Returns the scenario with the seed of the run that a trace records.
pub(super) fn with_recorded_seed(scenario: Scenario, header: &Header) -> Scenario {
    match header.scenario.as_ref().and_then(|recorded| recorded.seed.as_deref()) {
        Some(seed) => scenario.with_seed(seed),
        None => scenario,
    }
}

/// Returns the scenario beside a trace that `run` recorded: NAME.yaml beside NAME.trace.ndjson.
fn recorded_beside(trace: &Path, parent: &Header) -> Option<PathBuf> {
    let recorded = parent.scenario.as_ref()?;
    let name = trace.file_name()?.to_str()?.strip_suffix(".trace.ndjson")?;
    // A run with a seed of its own has it in its name.
    let suffix = recorded.seed.as_ref().map(|seed| format!(".seed-{seed}")).unwrap_or_default();
    let scenario = trace.with_file_name(format!("{}.yaml", name.strip_suffix(&*suffix).unwrap_or(name)));
    scenario.is_file().then_some(scenario)
}

/// Returns the file of the fork in the output folder.
fn default_output(args: &Args, global: &GlobalArgs) -> PathBuf {
    let name = args.trace.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    global.out_dir.join(format!("{name}-fork-{}.trace.ndjson", args.step))
}

/// Returns the digest of a file.
fn file_digest(path: &Path) -> Result<String> {
    let mut digest = FileDigest::default();
    let mut file = orchestrion_files::open(path).into_diagnostic()?;
    std::io::copy(&mut file, &mut digest).into_diagnostic()?;
    Ok(digest.finish())
}
