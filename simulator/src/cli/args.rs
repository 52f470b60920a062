//! Options that several commands share.

use clap::{ColorChoice, ValueEnum};
use jiff::SignedDuration;
use miette::{Result, miette};
use orchestrion_experiment::Shard;
use std::num::NonZeroUsize;
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

/// A limit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryBytes(pub(super) u64);

/// Parses a limit of memory, such as `512MiB`.
pub(super) fn memory_size(text: &str) -> Result<MemoryBytes, String> {
    const MIN: u64 = 1 << 20;
    const UNITS: [(&str, u64); 6] = [
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    let read = UNITS.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(*bytes)
    });
    read.filter(|bytes| *bytes >= MIN).map(MemoryBytes).ok_or_else(|| {
        "expected a whole number with its unit, such as 512MiB or 2GiB, of at least 1 MiB".to_owned()
    })
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text, as wide as the terminal.
    Human,
    /// JSON.
    Json,
}

/// Format of a report that other tools read too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// Text, as wide as the terminal.
    Human,
    /// JSON.
    Json,
    /// XML of JUnit: a test case for each result.
    Junit,
    /// SARIF 2.1.0: a result for each diagnostic, at its line.
    Sarif,
    /// Text, then annotations of GitHub Actions.
    Github,
}

impl ReportFormat {
    /// Whether the text of `human` is printed.
    pub(super) const fn has_text(self) -> bool {
        match self {
            Self::Human | Self::Github => true,
            Self::Json | Self::Junit | Self::Sarif => false,
        }
    }

    /// Returns the format for a report without cases.
    ///
    /// # Errors
    /// The formats for cases.
    pub(super) fn without_cases(self, option: &str) -> Result<Format> {
        let name = match self {
            Self::Human => return Ok(Format::Human),
            Self::Json => return Ok(Format::Json),
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::Github => "github",
        };
        Err(miette!(
            help = "use human or json",
            "--format {name} is not available with {option}: its result is no list of cases"
        ))
    }
}

/// Parses the number of a part and the number of parts.
pub(super) fn shard(text: &str) -> std::result::Result<Shard, String> {
    let parse = || {
        let (index, count) = text.split_once('/')?;
        let shard = Shard { index: index.parse().ok()?, count: count.parse().ok()? };
        (1..=shard.count).contains(&shard.index).then_some(shard)
    };
    parse()
        .ok_or_else(|| "expected a part such as 2/3: its number from 1, and the number of parts".to_owned())
}

/// Parses a whole number from 1.
pub(super) fn positive_number(text: &str) -> std::result::Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Parses the time limit of a command.
pub(super) fn duration(text: &str) -> std::result::Result<Duration, String> {
    let read: Option<SignedDuration> = text.parse().ok();
    read.filter(SignedDuration::is_positive)
        .and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| "expected a time with its unit, such as 90s, 10m or 1h 30m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{MemoryBytes, memory_size};

    #[test]
    fn memory_size_needs_its_unit() {
        let accepted = [("512MiB", 512 << 20), ("2GiB", 2 << 30), ("1 TiB", 1 << 40), ("3GB", 3_000_000_000)];
        for (text, bytes) in accepted {
            assert_eq!(memory_size(text), Ok(MemoryBytes(bytes)), "{text}");
        }
        for text in
            ["", "5", "GiB", "much", "-1GiB", "1.5GiB", "0MiB", "99999999999999TiB", "2PiB", "1GiBGiB"]
        {
            memory_size(text).unwrap_err();
        }
    }
}
