//! The command line: one module per command.
//!
//! Reports go to standard output; errors and progress go to standard error. The module `exit_status` defines the exit codes.

mod args;
mod check;
mod compare;
mod confirmation;
mod context;
mod diff;
mod differences;
mod exit_status;
mod explore;
mod export;
mod files;
mod fork;
mod init;
mod journal;
mod keys;
mod lint;
mod migrate;
mod output;
mod parallel;
mod paths;
mod progress;
mod promote;
mod queue;
mod renamed_flags;
mod replay;
pub mod report_schemas;
mod requirements;
mod route;
mod run;
mod show;
mod statistics;
mod targets;
mod test_report;
mod user_claims;

use args::GlobalArgs;
use clap::{ArgMatches, ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use exit_status::ExitStatus;
use orchestrion_report::text::sanitize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check, run and replay the orchestration of language-model modules by a formally checked kernel.
#[derive(Debug, Parser)]
#[command(name = "orchestrion", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: GlobalArgs,
}

const EXAMPLES: &str = "\
Examples:
  orchestrion init                              create a project here
  orchestrion check                             check every claim
  orchestrion run specs/scenarios/happy.yaml    run a scenario, show its trace
  orchestrion replay specs/scenarios/*.ndjson   replay recorded traces

Exit codes: 0 success; 1 failure; 2 error, nothing was checked; 3 incomplete
(inconclusive, vacuous, unreadable or expired waiver).";

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Check(check::Args),
    Compare(compare::Args),
    Lint(lint::Args),
    Run(run::Args),
    Replay(replay::Args),
    Diff(diff::Args),
    Fork(fork::Args),
    Migrate(migrate::Args),
    Show(show::Args),
    Promote(promote::Args),
    Context(context::Args),
    Route(route::Args),
    Explore(explore::Args),
    Keys(keys::Args),
    Journal(journal::Args),
    Export(export::Args),
}

/// Runs the command with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        requirements::check(&matches)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    });
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage_error(&error),
    };
    if let Err(message) = check_names(&matches) {
        output::print_error(&message);
        return ExitCode::from(ExitStatus::Error.code());
    }
    set_color(cli.global.color);
    let result = match &cli.command {
        Command::Init(args) => init::run(args),
        Command::Check(args) => check::run(args, &cli.global),
        Command::Compare(args) => compare::run(args, &cli.global),
        Command::Lint(args) => lint::run(args, &cli.global),
        Command::Run(args) => run::run(args, &cli.global),
        Command::Replay(args) => replay::run(args, &cli.global),
        Command::Diff(args) => diff::run(args, &cli.global),
        Command::Fork(args) => fork::run(args, &cli.global),
        Command::Migrate(args) => migrate::run(args, &cli.global),
        Command::Show(args) => show::run(args, &cli.global),
        Command::Promote(args) => promote::run(args, &cli.global),
        Command::Context(args) => context::run(args, &cli.global),
        Command::Route(args) => route::run(args, &cli.global),
        Command::Explore(args) => explore::run(args, &cli.global),
        Command::Keys(args) => keys::run(args),
        Command::Journal(args) => journal::run(args, &cli.global),
        Command::Export(args) => export::run(args, Cli::command()),
    };
    let status = result.unwrap_or_else(|error| {
        output::print_diagnostic(&error);
        ExitStatus::Error
    });
    ExitCode::from(status.code())
}

/// The arguments that are texts, which may have several lines. All others are paths, names and numbers.
const TEXT_ARGUMENTS: [&str; 2] = ["set", "containing"];

/// Refuses an argument with a control character, as in [`files::check_name`].
fn check_names(matches: &ArgMatches) -> Result<(), String> {
    for id in matches.ids().map(clap::Id::as_str).filter(|id| !TEXT_ARGUMENTS.contains(id)) {
        // The identifier of a group has values of no type.
        if let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id) {
            paths.map(PathBuf::as_path).try_for_each(files::check_name)?;
        } else if let Ok(Some(names)) = matches.try_get_many::<String>(id) {
            names.map(Path::new).try_for_each(files::check_name)?;
        }
    }
    matches.subcommand().map_or(Ok(()), |(_, matches)| check_names(matches))
}

/// Prints a usage error, with the new name of a renamed flag. Help and version arrive here too, as successes.
fn usage_error(error: &clap::Error) -> ExitCode {
    // An argument may be a file name of others, which a shell inserted.
    let is_plain = |argument: OsString| {
        let text = argument.to_string_lossy();
        sanitize(&text) == text
    };
    if std::env::args_os().all(is_plain) {
        // Standard error may be closed; the exit code is still worth returning.
        let _ = error.print();
    } else {
        let mut text = error.render().to_string();
        for argument in std::env::args_os() {
            let argument = argument.to_string_lossy();
            text = text.replace(&*argument, &sanitize(&argument));
        }
        output::print_error(&text);
    }
    if let Some(hint) = renamed_flags::hint(error, std::env::args()) {
        output::print_error(&format!("\n{hint}"));
    }
    if error.exit_code() == 0 { ExitCode::SUCCESS } else { ExitCode::from(ExitStatus::Error.code()) }
}

/// Configures colors for reports and for error messages.
fn set_color(when: ColorChoice) {
    let choice = match when {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    let hook = miette::set_hook(Box::new(move |_| {
        let options = miette::MietteHandlerOpts::new().width(output::width());
        Box::new(match when {
            ColorChoice::Auto => options.build(),
            ColorChoice::Always => options.color(true).build(),
            ColorChoice::Never => options.color(false).build(),
        })
    }));
    assert!(hook.is_ok(), "the hook is set once");
}
