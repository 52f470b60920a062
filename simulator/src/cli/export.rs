//! `export`: pages, models, schemas, policies and traces for other programs.

mod base;
mod itf;
mod manual;

pub(super) use itf::ITF;

use super::exit_status::ExitStatus;
use super::report_schemas;
use super::{files, output};
use clap::{Command, ValueEnum};
use clap_complete::Shell;
use manual::manual;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_lint::parse;
use orchestrion_model::export::promela::promela;
use orchestrion_model::export::{ControlModel, tla};
use orchestrion_project::scope_file;
use orchestrion_report::pages;
use orchestrion_scenario::policy_file;
use orchestrion_trace::Reader;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// Print the transition table, diagrams, claims, the control FSM for other checkers, schemas, policies, traces, shell
/// completions or the manual.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion export mermaid > diagram.mmd
  orchestrion export dot | dot -Tsvg > diagram.svg          by Graphviz
  orchestrion export table --policy as-drawn
  orchestrion export promela --policy as-drawn > control.pml
                             its first lines name the SPIN commands
  orchestrion export tla --output control
                             Control.tla and Control.cfg, for TLC
  orchestrion export schema --schema scenario > scenario.schema.json
  orchestrion export policy --policy hardened > mine.yaml   a complete policy
  orchestrion export itf mine.ndjson --output mine.itf.json
                             a trace, for Apalache and Quint
  orchestrion export base mine.ndjson --output mine.base.ndjson
                             a trace as 000's base events, one JSON object a line
  orchestrion export completions --shell bash > \\
    ~/.local/share/bash-completion/completions/orchestrion
  orchestrion export man --output ~/.local/share/man/man1

Lines of `export base`, in the order of the log:
  {\"step\":N,\"user_msg\":{\"user\":U,\"text\":T}}
  {\"step\":N,\"tool_call\":{\"module\":M,\"call\":C,\"text\":T}}
  {\"step\":N,\"tool_result\":{\"module\":M,\"call\":C,\"text\":T}}
  {\"step\":N,\"add_item\":{\"item\":I,\"deps\":[ID, …]}}
  {\"step\":N,\"update_item\":{\"item\":I,\"deps\":[ID, …]}}
  {\"step\":N,\"forget_items\":{\"ids\":[ID, …]}}
  {\"step\":N,\"final_answer\":{\"text\":T}}
The text of a call is its context. The text of a result is its report as JSON;
of a failed call it is empty, with the key `failure`. `not_made` in a call: no
context fits the budget, and the text is empty. `unconfirmed`: the trace records
another digest of the text (`digest_differs`), or none (`not_recorded`).

Exit codes: 0 success; 2 error; 3 the trace is incomplete or damaged, and is
exported as far as it is valid; or a text in `export base` is unconfirmed.")]
pub(super) struct Args {
    /// Select what to print.
    target: ExportTarget,
    /// Read this trace (for base and itf).
    #[arg(value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// Use this policy: `hardened`, `as-drawn` or a file (for table, mermaid, dot, promela, tla and policy) [default: hardened; for
    /// the table, all rows].
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Select the schema (for schema) [default: scenario].
    #[arg(long, value_name = "FORMAT")]
    schema: Option<Schema>,
    /// Select the shell (for completions).
    #[arg(long, value_name = "SHELL")]
    shell: Option<Shell>,
    /// Write to this folder (man, promela, tla) or to this file (base, itf), not to standard output.
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Include transitions of failures and cancellation (for mermaid and dot).
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportTarget {
    /// Transition table, as a Markdown page.
    Table,
    /// State diagram, in Mermaid.
    Mermaid,
    /// State diagram, for Graphviz.
    Dot,
    /// Catalog of claims, as a Markdown page.
    Claims,
    /// Events and fields that a claim file can name, as a Markdown page.
    ClaimFields,
    /// Control FSM in Promela for SPIN, with the claims about control alone.
    Promela,
    /// Control FSM in TLA+ for TLC, with the claims about control alone.
    Tla,
    /// JSON Schema.
    Schema,
    /// Complete policy file.
    Policy,
    /// Trace in the Informal Trace Format.
    Itf,
    /// Trace as 000's base events with their texts, in NDJSON.
    Base,
    /// Shell completions.
    Completions,
    /// Manual pages for `man`.
    Man,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schema {
    /// Scenario files.
    Scenario,
    /// Policy files.
    Policy,
    /// Project files.
    Project,
    /// State machines for `lint`.
    Machine,
    /// Problem files for `context`.
    Problem,
    /// Certificates for `context verify`.
    Certificate,
    /// Messages of `run --stdio`.
    Stdio,
    /// Messages of `run --stdio` with `--journals`.
    StdioMany,
    /// Trust networks for `route`.
    Network,
    /// Tasks for `route`.
    Task,
    /// Scope files of `check`.
    Scope,
    /// Claims of a project.
    Claims,
    /// Experiments for `explore`.
    Experiment,
    /// `check --format json`, without --reach, --sweep, --mutants, --statistics or --simulate.
    CheckReport,
    /// `compare --format json`.
    CompareReport,
    /// `diff --format json`.
    DiffReport,
    /// `lint --format json` for claims.
    ClaimLintReport,
    /// `lint --format json` for state machines.
    LintReport,
    /// `explore run --format json` and `explore merge --format json`.
    ExperimentReport,
    /// `explore exact --format json`.
    ExactReport,
    /// `run --runs --format json`.
    RunsReport,
    /// `run --format json` and `replay --format json`; also of `check` and `diff`, if a file cannot be read.
    TestReport,
    /// Lines of a trace or journal.
    Trace,
}

/// Runs the command; `program` describes the whole command line, for completions and the manual.
pub(super) fn run(args: &Args, program: Command) -> Result<ExitStatus> {
    args.ensure_read()?;
    match args.target {
        ExportTarget::Base => return base::run(args.trace.as_deref(), args.output.as_deref()),
        ExportTarget::Itf => return itf::run(args.trace.as_deref(), args.output.as_deref()),
        ExportTarget::Table
        | ExportTarget::Mermaid
        | ExportTarget::Dot
        | ExportTarget::Claims
        | ExportTarget::Promela
        | ExportTarget::Tla
        | ExportTarget::ClaimFields
        | ExportTarget::Schema
        | ExportTarget::Policy
        | ExportTarget::Completions
        | ExportTarget::Man => {}
    }
    if let Some(trace) = &args.trace {
        return Err(miette!(
            help = "use `export base` or `export itf` to print a trace, or `show` to show it",
            "unexpected argument {}: this target reads no trace",
            trace.display()
        ));
    }
    let policy =
        args.policy.as_deref().map(|policy| policy_file::resolve(policy, Path::new(""))).transpose()?;
    if let Some(folder) = &args.output {
        return write_folder(folder, args.target, &policy.unwrap_or_else(Policy::hardened), program);
    }
    let text = match args.target {
        ExportTarget::Table => pages::table(policy.as_ref()),
        ExportTarget::Claims => pages::claims(),
        ExportTarget::ClaimFields => orchestrion_user_claims::fields_page(),
        ExportTarget::Schema => schema(args.schema.unwrap_or(Schema::Scenario))?,
        ExportTarget::Completions => completions(args.shell, program)?,
        ExportTarget::Man => manual(program).into_diagnostic()?.into_iter().map(|(_, page)| page).collect(),
        ExportTarget::Mermaid => pages::mermaid(&policy.unwrap_or_else(Policy::hardened), args.all),
        ExportTarget::Dot => pages::dot(&policy.unwrap_or_else(Policy::hardened), args.all),
        ExportTarget::Promela => promela(&ControlModel::new(&policy.unwrap_or_else(Policy::hardened))),
        ExportTarget::Tla => tla::module(&ControlModel::new(&policy.unwrap_or_else(Policy::hardened))),
        ExportTarget::Policy => policy_file::write(&policy.unwrap_or_else(Policy::hardened)),
        ExportTarget::Base | ExportTarget::Itf => unreachable!("handled above"),
    };
    output::page_stdout().write_all(text.as_bytes()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

impl Args {
    /// Refuses an option that the target does not read.
    fn ensure_read(&self) -> Result<()> {
        use ExportTarget as Target;
        let options: [(&str, bool, &[Target]); 4] = [
            (
                "--policy",
                self.policy.is_some(),
                &[Target::Table, Target::Mermaid, Target::Dot, Target::Promela, Target::Tla, Target::Policy],
            ),
            ("--schema", self.schema.is_some(), &[Target::Schema]),
            ("--shell", self.shell.is_some(), &[Target::Completions]),
            ("--all", self.all, &[Target::Mermaid, Target::Dot]),
        ];
        for (option, is_given, targets) in options {
            if is_given && !targets.contains(&self.target) {
                let name = |target: &Target| Some(target.to_possible_value()?.get_name().to_owned());
                let names: Vec<String> = targets.iter().filter_map(name).collect();
                return Err(miette!(
                    help = "leave out the option, or choose another target",
                    "{option}: expected a target that reads it ({}), found {}",
                    names.join(", "),
                    name(&self.target).unwrap_or_default()
                ));
            }
        }
        Ok(())
    }
}

/// Opens the trace of a target that reads one. Prints the error and returns `None` if its first line is unreadable.
fn open_trace(trace: Option<&Path>, target: &str) -> Result<Option<Reader<BufReader<File>>>> {
    let trace = trace.ok_or_else(|| {
        miette!(
            help = format!("name a trace, such as: orchestrion export {target} specs/scenarios/happy.ndjson"),
            "missing argument TRACE"
        )
    })?;
    Ok(files::open_trace(trace).map_err(|error| output::print_error(&error)).ok())
}

fn schema(schema: Schema) -> Result<String> {
    let schema = match schema {
        Schema::Scenario => orchestrion_scenario::scenario_schema(),
        Schema::Policy => policy_file::policy_schema(),
        Schema::Project => orchestrion_project::project_schema(),
        Schema::Machine => parse::machine_schema(),
        Schema::Problem => orchestrion_selection::problem_schema(),
        Schema::Certificate => orchestrion_selection::certificate_schema(),
        Schema::Stdio => orchestrion_stdio::protocol::schema(),
        Schema::StdioMany => orchestrion_stdio::protocol::many_schema(),
        Schema::Network => orchestrion_network::network_schema(),
        Schema::Task => orchestrion_network::task_schema(),
        Schema::Scope => scope_file::scope_schema(),
        Schema::Claims => orchestrion_user_claims::claim_schema(),
        Schema::Experiment => orchestrion_experiment::experiment_schema(),
        Schema::CheckReport => report_schemas::check(),
        Schema::CompareReport => report_schemas::compare(),
        Schema::DiffReport => report_schemas::diff(),
        Schema::ClaimLintReport => report_schemas::claim_lint(),
        Schema::LintReport => report_schemas::lint(),
        Schema::ExperimentReport => report_schemas::experiment(),
        Schema::ExactReport => report_schemas::exact(),
        Schema::RunsReport => report_schemas::runs(),
        Schema::TestReport => report_schemas::test(),
        Schema::Trace => orchestrion_trace::schema::trace_schema(),
    };
    Ok(serde_json::to_string_pretty(&schema).into_diagnostic()? + "\n")
}

fn completions(shell: Option<Shell>, mut program: Command) -> Result<String> {
    let shell = shell.ok_or_else(|| {
        let shells: Vec<String> = Shell::value_variants().iter().map(ToString::to_string).collect();
        miette!(
            help = format!(
                "expected one of {}, such as: orchestrion export completions --shell bash",
                shells.join(", ")
            ),
            "missing option --shell"
        )
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "orchestrion", &mut script);
    String::from_utf8(script).into_diagnostic()
}

/// Writes the files of a target into a folder; existing files are not overwritten.
fn write_folder(
    folder: &Path,
    target: ExportTarget,
    policy: &Policy,
    program: Command,
) -> Result<ExitStatus> {
    let pages = match target {
        ExportTarget::Man => manual(program).into_diagnostic()?,
        ExportTarget::Promela => vec![("control.pml".to_string(), promela(&ControlModel::new(policy)))],
        ExportTarget::Tla => {
            let control = ControlModel::new(policy);
            let config = tla::config(&control, |_| true);
            vec![
                (format!("{}.tla", tla::MODULE), tla::module(&control)),
                (format!("{}.cfg", tla::MODULE), config),
            ]
        }
        ExportTarget::Table
        | ExportTarget::Mermaid
        | ExportTarget::Dot
        | ExportTarget::Claims
        | ExportTarget::ClaimFields
        | ExportTarget::Schema
        | ExportTarget::Policy
        | ExportTarget::Base
        | ExportTarget::Itf
        | ExportTarget::Completions => {
            return Err(miette!(
                help = "redirect standard output, such as: orchestrion export claims > claims.md",
                "--output is for base, itf, man, promela and tla; this target is one text"
            ));
        }
    };
    let pages = pages.iter().map(|(name, page)| (folder.join(name), page.as_bytes()));
    let (written, ()) = files::create_all(pages, || Ok(()))?;
    let mut out = output::plain_stdout();
    for path in written {
        writeln!(out, "  wrote    {}", path.display()).into_diagnostic()?;
    }
    Ok(ExitStatus::Success)
}
