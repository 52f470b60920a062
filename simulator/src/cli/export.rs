//! `export`: what others read or draw.

mod itf;
mod manual;

use super::{Cli, ExitStatus, files};
use crate::project;
use clap::{CommandFactory as _, ValueEnum};
use clap_complete::Shell;
use manual::manual;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_lint::parse;
use orchestrion_model::export::promela::promela;
use orchestrion_model::export::{ControlModel, tla};
use orchestrion_report::pages;
use orchestrion_scenario::policy_file;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Print the transition table, the diagram, the claims, the control FSM for other checkers, a schema, a policy, a trace for
/// other tools, completions for a shell, or the manual.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion export mermaid > diagram.mmd
  orchestrion export dot | dot -Tsvg > diagram.svg           a picture, by Graphviz
  orchestrion export table --policy as-drawn
  orchestrion export promela --policy as-drawn > control.pml its head says how SPIN runs it
  orchestrion export tla --to control                        Control.tla and Control.cfg, for TLC
  orchestrion export schema --of scenario > scenario.schema.json
  orchestrion export policy --policy hardened > mine.yaml    a complete policy file to start from
  orchestrion export itf mine.ndjson --to mine.itf.json      a trace, as Apalache and Quint read it
  orchestrion export completions --shell bash > ~/.local/share/bash-completion/completions/orchestrion
  orchestrion export man --to ~/.local/share/man/man1        a page for the command, and one for each verb")]
pub(super) struct Args {
    /// What to print.
    what: ExportTarget,
    /// The trace that is printed as ITF.
    #[arg(value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// The policy: `hardened`, `as-drawn`, or a file. The table is whole without it.
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Which schema.
    #[arg(long, value_name = "FORMAT", default_value = "scenario")]
    schema: Schema,
    /// Completions for which shell.
    #[arg(long, value_name = "SHELL")]
    shell: Option<Shell>,
    /// Files into this folder: of the manual a file a page, of a model what its checker reads; a trace into this file, over
    /// an earlier one. Without it, all is printed, but for Control.cfg.
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// In the diagram, also the rows for failing calls and for cancelling.
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportTarget {
    /// The transition table, as a Markdown page.
    Table,
    /// The diagram, as Mermaid text.
    Mermaid,
    /// The diagram, in the language of Graphviz.
    Dot,
    /// The catalogue of claims, as a Markdown page.
    Claims,
    /// The control FSM in Promela, for SPIN, with the claims that control alone can state.
    Promela,
    /// The same in TLA+, for TLC.
    Tla,
    /// A JSON Schema.
    Schema,
    /// A policy, as a complete file.
    Policy,
    /// A trace, in the Informal Trace Format.
    Itf,
    /// What a shell completes.
    Completions,
    /// The manual, as pages for `man`.
    Man,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schema {
    /// Of scenario files.
    Scenario,
    /// Of policy files.
    Policy,
    /// Of project files.
    Project,
    /// Of machines, as `check --machine` reads them.
    Machine,
    /// Of context problems, as `context` reads them.
    Problem,
    /// Of certificates, as `context verify` reads them.
    Certificate,
    /// Of what a host says to `run --stdio`, and is told.
    Stdio,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    if let Some(trace) = args.trace.as_ref().filter(|_| args.what != ExportTarget::Itf) {
        return Err(miette!(
            help = "a trace is printed by `export itf`, and shown by `show`",
            "{} has nothing to do with what is to be printed",
            trace.display()
        ));
    }
    let policy =
        args.policy.as_deref().map(|policy| policy_file::resolve(policy, Path::new("."))).transpose()?;
    let default = Policy::hardened;
    if let Some(folder) = args.output.as_ref().filter(|_| args.what != ExportTarget::Itf) {
        return write_into(folder, args.what, &policy.unwrap_or_else(default));
    }
    let text = match args.what {
        ExportTarget::Table => pages::table(policy.as_ref()),
        ExportTarget::Mermaid => pages::mermaid(&policy.unwrap_or_else(default), args.all),
        ExportTarget::Dot => pages::dot(&policy.unwrap_or_else(default), args.all),
        ExportTarget::Claims => pages::claims(),
        ExportTarget::Promela => promela(&ControlModel::of(&policy.unwrap_or_else(default))),
        ExportTarget::Tla => tla::module(&ControlModel::of(&policy.unwrap_or_else(default))),
        ExportTarget::Schema => schema(match args.schema {
            Schema::Scenario => orchestrion_scenario::scenario_schema(),
            Schema::Policy => policy_file::policy_schema(),
            Schema::Project => project::project_schema(),
            Schema::Machine => parse::machine_schema(),
            Schema::Problem => orchestrion_selection::problem_schema(),
            Schema::Certificate => orchestrion_selection::certificate_schema(),
            Schema::Stdio => orchestrion_stdio::protocol::schema(),
        })?,
        ExportTarget::Policy => policy_file::write(&policy.unwrap_or_else(default)),
        ExportTarget::Itf => return itf::run(args.trace.as_deref(), args.output.as_deref()),
        ExportTarget::Completions => completions(args.shell)?,
        ExportTarget::Man => manual().into_diagnostic()?.into_iter().map(|(_, page)| page).collect(),
    };
    files::out().write_all(text.as_bytes()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

fn schema(schema: serde_json::Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(&schema).into_diagnostic()?;
    text.push('\n');
    Ok(text)
}

fn completions(shell: Option<Shell>) -> Result<String> {
    let shell = shell.ok_or_else(|| {
        let shells: Vec<String> = Shell::value_variants().iter().map(ToString::to_string).collect();
        miette!(
            help = format!(
                "name one of {}, as in: orchestrion export completions --shell bash",
                shells.join(", ")
            ),
            "completions for which shell?"
        )
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "orchestrion", &mut script);
    String::from_utf8(script).into_diagnostic()
}

fn write_into(folder: &Path, what: ExportTarget, policy: &Policy) -> Result<ExitStatus> {
    let pages = match what {
        ExportTarget::Man => manual().into_diagnostic()?,
        ExportTarget::Promela => vec![("control.pml".to_string(), promela(&ControlModel::of(policy)))],
        ExportTarget::Tla => {
            let control = ControlModel::of(policy);
            let config = tla::config(&control, |_| true);
            vec![
                (format!("{}.tla", tla::MODULE), tla::module(&control)),
                (format!("{}.cfg", tla::MODULE), config),
            ]
        }
        _ => {
            return Err(miette!(
                help = "leave --to out, and let the shell write it, as in `orchestrion export claims > claims.md`",
                "--to is for traces, and for the manual and models, whose files have their own names; this is one text"
            ));
        }
    };
    let written = files::create_all(pages.iter().map(|(name, page)| (folder.join(name), page.as_bytes())))?;
    let mut out = files::out();
    for path in written {
        writeln!(out, "  wrote  {}", path.display()).into_diagnostic()?;
    }
    Ok(ExitStatus::Success)
}
