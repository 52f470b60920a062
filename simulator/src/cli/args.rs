//! Options that several commands share.

use clap::{ColorChoice, ValueEnum};
use jiff::SignedDuration;
use std::path::PathBuf;
use std::time::Duration;

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(super) struct GlobalArgs {
    /// Read this project file [default: orchestrion.yaml in this folder or the nearest folder above it].
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Write traces and evidence to this folder.
    #[arg(long, global = true, value_name = "DIR", default_value = ".orchestrion")]
    pub(super) out_dir: PathBuf,
    /// Print only failures and the summary.
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
    /// Use colors; NO_COLOR is honored too.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorChoice,
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text, as wide as the terminal.
    Human,
    /// JSON.
    Json,
}

/// Parses the time limit of a command.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let read: Option<SignedDuration> = text.parse().ok();
    read.filter(SignedDuration::is_positive)
        .and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| "expected a time with its unit, such as 90s, 10m or 1h 30m".to_owned())
}
