//! Summary of `run --check` and `run --accept`.

use super::{GoldenMode, Verdict};
use crate::cli::differences::{GOLDEN, setting_text};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, quoted, write_command, write_hanging};
use orchestrion_report::text::count;
use orchestrion_scenario::policy_file::{ChangedSetting, changed_settings};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Scenarios that are listed for one change of settings.
const FILES_MAX: usize = 3;

/// The results so far.
#[derive(Default)]
pub(super) struct GoldenSummary {
    pub(super) statuses: Vec<ExitStatus>,
    /// Scenarios that could not be played, or whose files could not be written.
    pub(super) unplayed: usize,
    equal: usize,
    changed: usize,
    missing: usize,
    not_kept: usize,
    unreadable: usize,
    /// Scenarios whose golden trace has other policy settings and the same decisions, by these settings.
    stale: BTreeMap<Vec<ChangedSetting>, Vec<PathBuf>>,
    /// The scenarios whose golden traces `--accept` would write.
    acceptable: Vec<PathBuf>,
}

impl GoldenSummary {
    /// Adds a scenario.
    pub(super) fn add(&mut self, path: &Path, verdict: &Verdict, status: ExitStatus) {
        match verdict {
            Verdict::Equal => self.equal += 1,
            Verdict::Missing => self.missing += 1,
            Verdict::NotKept => self.not_kept += 1,
            Verdict::Unreadable(_) => self.unreadable += 1,
            Verdict::Changed(comparison) => {
                self.changed += 1;
                if comparison.first.is_none() {
                    let settings = changed_settings(&comparison.golden.policy, &comparison.current.policy);
                    self.stale.entry(settings).or_default().push(path.to_owned());
                }
            }
        }
        if status == ExitStatus::Failure && !matches!(verdict, Verdict::Equal | Verdict::NotKept) {
            self.acceptable.push(path.to_owned());
        }
    }

    /// Writes the settings without a changed decision, the command that accepts the changes, and the last line.
    pub(super) fn write(
        &self,
        mode: GoldenMode,
        arguments: &[PathBuf],
        scenarios: usize,
        style: ReportStyle,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let width = style.width;
        let (verb, nouns) = match mode {
            GoldenMode::Check => ("checked", ["equal", "differ", "without a golden trace"]),
            GoldenMode::Accept => ("played", ["unchanged", "changed", "new"]),
        };
        if mode == GoldenMode::Check {
            for (settings, files) in &self.stale {
                write_stale(settings, files, width, out)?;
            }
            let arguments =
                if let [one] = &self.acceptable[..] { std::slice::from_ref(one) } else { arguments };
            if !self.acceptable.is_empty() {
                let arguments = arguments.iter().map(|path| format!(" {}", quoted(path)));
                let command: String =
                    std::iter::once("orchestrion run --accept".to_owned()).chain(arguments).collect();
                write_command("accept", &command, width, out)?;
            }
        }
        let played = self.statuses.len();
        let mut text = format!("{verb} {played} of {scenarios}: {} {}", self.equal, nouns[0]);
        for (number, noun) in [
            (self.changed, nouns[1]),
            (self.missing, nouns[2]),
            (self.not_kept, "judged by expectations"),
            (self.unreadable, "unreadable"),
            (self.unplayed, "not played"),
            (scenarios - played, "skipped"),
        ] {
            if number > 0 {
                text.push_str(&format!(", {number} {noun}"));
            }
        }
        write_hanging(0, "", &text, width, out)
    }
}

/// Writes changed settings that change no decision, and the scenarios with them.
fn write_stale(
    settings: &[ChangedSetting],
    files: &[PathBuf],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let first: Vec<String> = files.iter().take(FILES_MAX).map(|file| file.display().to_string()).collect();
    let more = match files.len().saturating_sub(FILES_MAX) {
        0 => String::new(),
        further => format!(" and {further} more"),
    };
    let text = format!(
        "{}{more}: the policy DIFFERS from that of {}, and no decision",
        first.join(", "),
        if files.len() == 1 { "the golden trace".to_owned() } else { count(files.len(), "golden trace") }
    );
    write_hanging(0, "", &text, width, out)?;
    for setting in settings {
        write_hanging(11, "  policy", &setting_text(setting, GOLDEN), width, out)?;
    }
    Ok(())
}
