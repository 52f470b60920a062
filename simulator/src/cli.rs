//! The command line: one verb for each intention.
//!
//! Exit codes: 1 on any failure; else 3 if anything was unread, inconclusive or vacuous, or a waiver is over; else 0;
//! 2 if nothing could be judged. What is for people goes to standard output, errors and progress to standard error.

mod check;
mod context;
mod export;
mod files;
mod init;
mod promote;
mod replay;
mod run;
mod show;
mod targets;

use clap::{ColorChoice, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// A formally checked kernel for multi-module language-model orchestration: check it, run it, replay it.
#[derive(Debug, Parser)]
#[command(name = "orchestrion", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Command,
    #[command(flatten)]
    global: GlobalArgs,
}

const EXAMPLES: &str = "\
Examples:
  orchestrion init                                    begin a project in this folder
  orchestrion check                                   prove the control claims
  orchestrion run specs/scenarios/happy.yaml          play a scenario and show what happened
  orchestrion replay specs/scenarios/*.ndjson         decide recorded traces again

Exit codes: 0 as it should be; 1 a failure; 2 nothing could be judged; 3 something was unread, vacuous or expired.";

/// What every verb understands.
#[derive(Debug, clap::Args)]
struct GlobalArgs {
    /// The project file; without it, orchestrion.yaml in this folder, or in the nearest above it.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where traces and evidence are written.
    #[arg(long, global = true, value_name = "DIR", default_value = ".orchestrion")]
    out_dir: PathBuf,
    /// Only failures and the last line.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colour; NO_COLOR is honoured too.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Check(check::Args),
    Run(run::Args),
    Replay(replay::Args),
    Show(show::Args),
    Promote(promote::Args),
    Context(context::Args),
    Export(export::Args),
}

/// What a verb came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// As it should be.
    Success,
    /// Something was unread, inconclusive, vacuous or expired.
    Incomplete,
    /// A failure.
    Failure,
    /// Nothing could be judged.
    Error,
}

impl ExitStatus {
    /// What several outcomes come to together.
    fn of(outcomes: &[Self]) -> Self {
        let has = |outcome| outcomes.contains(&outcome);
        if has(Self::Failure) {
            Self::Failure
        } else if !outcomes.is_empty() && outcomes.iter().all(|outcome| *outcome == Self::Error) {
            Self::Error
        } else if has(Self::Incomplete) || has(Self::Error) {
            Self::Incomplete
        } else {
            Self::Success
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Error => 2,
            Self::Incomplete => 3,
        }
    }
}

/// Runs the command with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    choose_colour(cli.global.color);
    let done = match &cli.verb {
        Command::Init(args) => init::run(args),
        Command::Check(args) => check::run(args, &cli.global),
        Command::Run(args) => run::run(args, &cli.global),
        Command::Replay(args) => replay::run(args, &cli.global),
        Command::Show(args) => show::run(args),
        Command::Promote(args) => promote::run(args, &cli.global),
        Command::Context(args) => context::run(args, &cli.global),
        Command::Export(args) => export::run(args),
    };
    match done {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            files::complain_drawn(&error);
            ExitCode::from(ExitStatus::Error.code())
        }
    }
}

/// Colour only where it belongs: on a terminal, unless NO_COLOR or the user says otherwise.
fn choose_colour(when: ColorChoice) {
    let choice = match when {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    let drawn = miette::set_hook(Box::new(move |_| {
        let options = miette::MietteHandlerOpts::new().width(100);
        Box::new(match when {
            ColorChoice::Auto => options.build(),
            ColorChoice::Always => options.color(true).build(),
            ColorChoice::Never => options.color(false).build(),
        })
    }));
    debug_assert!(drawn.is_ok(), "errors are drawn by one hook");
}
