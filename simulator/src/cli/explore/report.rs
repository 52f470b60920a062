//! `explore report`: figures and a page of a result.

use super::files::{difference, file_name, read};
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::{ensure_overwritable, replace_with};
use crate::cli::output;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_experiment::{Experiment, Metric, Report, Summary};
use orchestrion_figures::{FigureError, PAGE_PREFIX, PNG_MARK, Page, figures, page};
use orchestrion_files::FileKind;
use orchestrion_report::text::{sanitize, sanitize_lines};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write a page with the figures of a result, and the figures as SVG and PNG files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore report .orchestrion/redebate.json
  orchestrion explore report .orchestrion/redebate.json --svg figures \\
    --experiment specs/experiments/redebate.yaml
  orchestrion explore report .orchestrion/redebate.json --png figures

The page is one HTML file without scripts and links: outcomes and flows by policy, the
trade-off between harmful plans that run and acceptable plans that are blocked, a
line or a heat map of each metric over the settings that vary, and a table of all
means with their intervals. The metrics are those that the experiment named when
it ran. --experiment adds its question, and shows the metrics that it names now.

A PNG file has twice the size of the figure and a white ground. Its texts need no
font of the machine.

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
    /// Also write each figure to a PNG file in this folder.
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
}

const PAGE: FileKind = FileKind {
    name: "the page of an experiment",
    is_start: |start| start.starts_with(PAGE_PREFIX.as_bytes()),
    last_line: None,
};

const SVG: FileKind = FileKind {
    name: "a figure of an experiment",
    is_start: |start| start.starts_with(b"<svg width=\"480\""),
    last_line: None,
};

const PNG: FileKind = FileKind {
    name: "a figure of an experiment",
    is_start: |start| {
        start.starts_with(b"\x89PNG\r\n") && start.windows(PNG_MARK.len()).any(|bytes| bytes == PNG_MARK)
    },
    last_line: None,
};

pub(super) fn run(args: &Args, _: &GlobalArgs) -> Result<ExitStatus> {
    let summary = read(&args.result)?;
    let (description, metrics) = question(args, &summary)?;
    let path = args.html.clone().unwrap_or_else(|| args.result.with_extension("html"));
    ensure_overwritable(&path, &PAGE)?;
    // A folder that cannot be created is an error before anything is written.
    [&args.svg, &args.png].into_iter().flatten().try_for_each(|folder| create_folder(folder))?;
    let report = Report::new(&summary, &metrics);
    let figures = figures(&summary, &report, &metrics).map_err(bug)?;
    let page = page(&Page {
        report: &report,
        figures: &figures,
        metrics: &metrics,
        description: &description,
        command: &format!("orchestrion explore run {}.yaml", summary.experiment),
    });
    let page = page.map_err(bug)?;
    replace_with(&path, &PAGE, |file| file.write_all(sanitize_lines(&page).as_bytes()))?;
    let mut out = output::stdout();
    let shown = |path: &Path| sanitize(&path.display().to_string());
    writeln!(out, "  page     {}", shown(&path)).into_diagnostic()?;
    let experiment = file_name(&summary.experiment);
    let mut write = |folder: &Path, name: &str, extension: &str, kind: &'static FileKind, bytes: &[u8]| {
        let path = folder.join(format!("{experiment}-{name}.{extension}"));
        replace_with(&path, kind, |file| file.write_all(bytes))?;
        writeln!(out, "  figure   {}", shown(&path)).into_diagnostic()
    };
    for figure in &figures {
        if let Some(folder) = &args.svg {
            let svg = figure.svg_on_white().map_err(bug)?;
            write(folder, &figure.name, "svg", &SVG, sanitize_lines(&svg).as_bytes())?;
        }
        if let Some(folder) = &args.png {
            write(folder, &figure.name, "png", &PNG, &figure.png().map_err(bug)?)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        miette!(
            help = "name another folder, or check the permissions of this one",
            "cannot create the folder {}: {error}",
            sanitize(&folder.display().to_string())
        )
    })
}

fn bug(error: FigureError) -> miette::Report {
    miette!(help = "report this as a bug", "{error}")
}

/// Returns the question and the metrics of the experiment, if its file is named.
fn question(args: &Args, summary: &Summary) -> Result<(String, Vec<&'static Metric>)> {
    let Some(path) = &args.experiment else { return Ok((String::new(), summary.report_metrics())) };
    let experiment = Experiment::read(path)?;
    if let Some(found) = difference(summary, &experiment) {
        return Err(miette!(
            help = "name the experiment of the result",
            "{}: not the experiment of the result: {}: expected {}, found {}",
            sanitize(&path.display().to_string()),
            found.subject,
            sanitize(&found.in_result),
            sanitize(&found.in_experiment)
        ));
    }
    Ok((experiment.description, experiment.metrics))
}
