//! `migrate`: writes older traces in the current format.

use super::args::GlobalArgs;
use super::confirmation::is_confirmed;
use super::exit_status::ExitStatus;
use super::files;
use super::output::{self, quoted, write_hanging};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_report::text::count;
use orchestrion_trace::TRACE_FILE;
use orchestrion_trace::migrate::{Migration, migrate};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Convert older traces to the current format, without changing a step.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Convert these traces.
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// Write to this folder instead of replacing each trace.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace traces without confirmation.
    #[arg(long, conflicts_with = "output")]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  orchestrion migrate old.ndjson                     show, ask, replace
  orchestrion migrate --yes traces/*.ndjson          without asking
  orchestrion migrate --output new traces/*.ndjson   into another folder

The steps stay as recorded; the chain is computed again. To see whether this
kernel decides the same: orchestrion replay --recorded-policy TRACE.

A trace that does not record all that the current format needs is refused with
what it lacks: run its scenario again. The page trace-format.md lists the
formats. Example: of a trace in orchestrion-trace/4, the report has the line
  format   orchestrion-trace/4 to orchestrion-trace/5

Exit codes: 0 every trace is current or was converted; 1 a trace was not written;
2 no trace could be converted; 3 a trace could not be converted.";

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let mut out = output::plain_stdout();
    let mut statuses = Vec::new();
    for path in &args.traces {
        let status = convert(path, args, global, &mut out).unwrap_or_else(|error| {
            output::print_diagnostic(&error);
            ExitStatus::Error
        });
        statuses.push(status);
    }
    Ok(ExitStatus::combine(&statuses))
}

fn convert(path: &Path, args: &Args, global: &GlobalArgs, out: &mut impl Write) -> Result<ExitStatus> {
    // A dry run: the user sees the changes before anything is written.
    let shown = read(path, io::sink())?;
    let Migration { from, conversions, steps, .. } = &shown;
    let (width, file, steps) = (output::width(), path.display(), count(*steps, "step"));
    if conversions.is_empty() {
        if !global.quiet {
            write_hanging(0, "", &format!("{file}: current, {from}, {steps}"), width, out)
                .into_diagnostic()?;
        }
        return Ok(ExitStatus::Success);
    }
    write_hanging(0, "", &format!("{file}: older, {steps}"), width, out).into_diagnostic()?;
    for conversion in conversions {
        let (label, text) = conversion.split_once(' ').unwrap_or(("", conversion));
        write_hanging(11, &format!("  {label}"), text, width, out).into_diagnostic()?;
    }
    let written = match &args.output {
        Some(folder) => {
            let target = folder.join(path.file_name().unwrap_or_default());
            if target.exists() {
                return Err(miette!(
                    help = "choose another folder, or move the file away",
                    "{}: exists, and is not replaced",
                    target.display()
                ));
            }
            std::fs::create_dir_all(folder)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot create {}", folder.display()))?;
            let mut bytes = Vec::new();
            read(path, &mut bytes)?;
            files::create_file(&target, &bytes)?;
            target
        }
        None => {
            let command = format!("orchestrion migrate --yes {}", quoted(path));
            if !args.yes && !is_confirmed(path, &command, width, out)? {
                return Ok(ExitStatus::Failure);
            }
            replace(path, &shown)?;
            path.to_owned()
        }
    };
    writeln!(out, "  wrote    {}", written.display()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

/// Reads a trace, and writes it to `out` in the current format.
fn read(path: &Path, out: impl Write) -> Result<Migration> {
    let name = path.display().to_string();
    let file =
        orchestrion_files::open(path).into_diagnostic().wrap_err_with(|| format!("{name}: unreadable"))?;
    migrate(BufReader::new(file), &name, out).map_err(|error| miette!("{error}"))
}

/// Replaces a trace by the conversion that was shown.
fn replace(path: &Path, shown: &Migration) -> Result<()> {
    // The trace is locked before it is read again.
    let target = files::open_target(path, &TRACE_FILE)?;
    files::replace(target, |draft| {
        let mut out = BufWriter::new(draft);
        let written = read(path, &mut out).map_err(|error| io::Error::other(error.to_string()))?;
        out.flush()?;
        if written.chain == shown.chain {
            Ok(())
        } else {
            Err(io::Error::other("the trace changed meanwhile; no file was written, try again"))
        }
    })
    .wrap_err_with(|| format!("{} was not converted", path.display()))
}
