//! `explore report`: figures and a page of a result.

use super::files::{file_name, read};
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::{ensure_overwritable, replace_with};
use crate::cli::output;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_experiment::{Experiment, METRICS, Metric, Summary};
use orchestrion_figures::{PAGE_PREFIX, figures, page};
use orchestrion_files::FileKind;
use orchestrion_report::text::sanitize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write a page with the figures of a result, and the figures as SVG files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore report .orchestrion/redebate.json
  orchestrion explore report .orchestrion/redebate.json --svg figures \\
    --experiment specs/experiments/redebate.yaml

The page is one HTML file without scripts and links: outcomes by policy, the
trade-off between harmful plans that run and acceptable plans that are blocked, a
line or a heat map of each metric over the settings that vary, and a table of all
means with their intervals. --experiment adds the question of the experiment, and
shows only its metrics.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    /// Draw this result.
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Read the question and the metrics from this experiment.
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Write the page to this file [default: the result's name with the extension html].
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write each figure to an SVG file in this folder.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

const PAGE: FileKind = FileKind {
    name: "the page of an experiment",
    is_start: |start| start.starts_with(PAGE_PREFIX.as_bytes()),
    last_line: None,
};

const FIGURE: FileKind = FileKind {
    name: "a figure of an experiment",
    is_start: |start| start.starts_with(b"<svg width=\"480\""),
    last_line: None,
};

pub(super) fn run(args: &Args, _: &GlobalArgs) -> Result<ExitStatus> {
    let summary = read(&args.result)?;
    let (description, metrics) = question(args, &summary)?;
    let path = args.html.clone().unwrap_or_else(|| args.result.with_extension("html"));
    ensure_overwritable(&path, &PAGE)?;
    let command = format!("orchestrion explore run {}.yaml", summary.experiment);
    let page = page(&summary, &metrics, &description, &command).map_err(|error| miette!("{error}"))?;
    replace_with(&path, &PAGE, |file| file.write_all(page.as_bytes()))?;
    let mut out = output::stdout();
    let shown = |path: &Path| sanitize(&path.display().to_string());
    writeln!(out, "  page     {}", shown(&path)).into_diagnostic()?;
    if let Some(folder) = &args.svg {
        for figure in figures(&summary, &metrics).map_err(|error| miette!("{error}"))? {
            let experiment = file_name(&summary.experiment);
            let path = folder.join(format!("{experiment}-{}.svg", figure.name));
            std::fs::create_dir_all(folder).into_diagnostic()?;
            replace_with(&path, &FIGURE, |file| file.write_all(figure.on_white().as_bytes()))?;
            writeln!(out, "  figure   {}", shown(&path)).into_diagnostic()?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Returns the question and the metrics of the experiment, if its file is named.
fn question(args: &Args, summary: &Summary) -> Result<(String, Vec<&'static Metric>)> {
    let Some(path) = &args.experiment else { return Ok((String::new(), METRICS.iter().collect())) };
    let experiment = Experiment::read(path)?;
    if experiment.settings != summary.settings || experiment.policies.len() != summary.policies.len() {
        return Err(miette!(
            help = "name the experiment of the result",
            "{}: expected the experiment {}, found other settings or policies",
            sanitize(&path.display().to_string()),
            sanitize(&summary.experiment)
        ));
    }
    Ok((experiment.description, experiment.metrics))
}
