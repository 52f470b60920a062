//! `promote`: keep what happened, as a scenario with a golden trace.

use super::files::{self, open_trace};
use super::{ExitStatus, GlobalArgs, targets};
use clap::ValueEnum;
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_scenario::promote::{PromoteError, Promotion, Target, from_debate, from_trace};
use orchestrion_yaml::FILE_BYTES_MAX;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Make a scenario of a trace, such as a counterexample, or of a debate that another system recorded, and keep
/// the trace that it plays beside it. Nothing is ever overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion promote .orchestrion/C-02-9f31c2aa.trace.ndjson veto-survives
                                       specs/scenarios/veto-survives.yaml, and .ndjson beside it
  orchestrion promote debate.json encryption --as debate
                                       a recorded debate: the five roles argue as they did
  orchestrion promote happy.trace.ndjson happy --to cases
                                       the scenario in cases/happy.yaml

Of a trace that stops in the middle of a request, the end is added: every module succeeds.")]
pub(super) struct Args {
    /// What happened: a trace, or what --as says.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The scenario's name: small letters, digits and hyphens.
    #[arg(value_name = "NAME")]
    name: String,
    /// A foreign record.
    #[arg(long = "as", value_name = "FORMAT")]
    format: Option<ImportFormat>,
    /// Where the scenario is kept; without it, in the first folder of scenarios that the project file names, or in
    /// specs/scenarios.
    #[arg(long, value_name = "DIR")]
    scenario_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// A recorded debate, as JSON with `debates` and `arguments`.
    Debate,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let to = match &args.scenario_dir {
        Some(to) => to.clone(),
        None => folder_of_project(global)?.unwrap_or_else(|| PathBuf::from("specs/scenarios")),
    };
    let target = Target::new(&args.name, &to)?;
    let promotion = match args.format {
        None => promote_trace(&args.file, &target)?,
        Some(ImportFormat::Debate) => {
            let text = read_text(&args.file)?;
            from_debate(&args.file.display().to_string(), &text, &target)?
        }
    };
    let written = write(&promotion, &to)?;
    tell(&promotion, &written, &mut files::plain()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

fn promote_trace(path: &Path, target: &Target) -> Result<Promotion, PromoteError> {
    from_trace(open_trace(path)?, &path.display().to_string(), target)
}

fn read_text(path: &Path) -> Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let file = File::open(path).into_diagnostic().wrap_err_with(cannot)?;
    let mut bytes = Vec::new();
    // One byte more than is allowed is enough to see that it is too much.
    let most = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).into_diagnostic().wrap_err_with(cannot)?;
    String::from_utf8(bytes).map_err(|error| {
        miette!(
            help = "give a recorded debate as JSON, in UTF-8",
            "{} is no UTF-8 text, from byte {} on",
            path.display(),
            error.utf8_error().valid_up_to()
        )
    })
}

/// Writes all of it or nothing.
fn write(promotion: &Promotion, folder: &Path) -> Result<Vec<PathBuf>> {
    files::create_all(promotion.files().into_iter().map(|(name, bytes)| (folder.join(name), bytes)))
}

/// The first folder of scenarios that the project file names.
fn folder_of_project(global: &GlobalArgs) -> Result<Option<PathBuf>> {
    let scenarios = targets::project(global)?.map(|project| project.scenarios()).unwrap_or_default();
    Ok(scenarios.into_iter().find(|path| path.is_dir()))
}

fn tell(promotion: &Promotion, written: &[PathBuf], out: &mut impl Write) -> std::io::Result<()> {
    match &promotion.halted {
        None => writeln!(out, "promoted: played to its end, {} steps", promotion.steps)?,
        Some(refusal) => writeln!(out, "promoted: halts after {} steps: {refusal}", promotion.steps)?,
    }
    for note in &promotion.notes {
        writeln!(out, "  note   {note}")?;
    }
    for path in written {
        writeln!(out, "  wrote  {}", path.display())?;
    }
    match written.first() {
        Some(scenario) => writeln!(out, "  run    orchestrion run {}", files::quoted(scenario)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const DEBATE: &str = include_str!("../../scenario/src/promote/samples/debate.json");

    fn promotion(folder: &Path) -> Promotion {
        from_debate("debate.json", DEBATE, &Target::new("case", folder).unwrap()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_promotion_is_written_whole_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("not-there-yet");
        let promotion = promotion(&to);
        let written = write(&promotion, &to).unwrap();
        assert_eq!(names(&to), ["case.ndjson", "case.yaml"]);
        let mut told = Vec::new();
        tell(&promotion, &written, &mut told).unwrap();
        let told = String::from_utf8(told).unwrap().replace(&to.display().to_string(), "DIR");
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(told) });
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_half_written() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path();
        for there in ["case.ndjson", "case.yaml"] {
            fs::write(to.join(there), "mine").unwrap();
            let error = write(&promotion(to), to).unwrap_err();
            assert!(error.to_string().contains(there), "{error}");
            assert_eq!(names(to), [there]);
            assert_eq!(fs::read_to_string(to.join(there)).unwrap(), "mine");
            fs::remove_file(to.join(there)).unwrap();
        }
        // A folder in the place of the second file's draft: it can be neither seen before nor written.
        let draft = to.join(format!("case.ndjson.{}.draft", std::process::id()));
        fs::create_dir(&draft).unwrap();
        write(&promotion(to), to).unwrap_err();
        assert!(!to.join("case.yaml").exists() && !to.join("case.ndjson").exists());
    }
}
