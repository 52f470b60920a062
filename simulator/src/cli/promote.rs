//! `promote`: turns a recording into a scenario with a golden trace.

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::files::{self, open_trace};
use super::paths::relative_to;
use super::targets::ProjectPolicies;
use super::user_claims::{TraceVerdicts, project_claims};
use super::{output, targets};
use clap::ValueEnum;
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_files::limits::TEXT_FILE_BYTES_MAX;
use orchestrion_kernel::Policy;
use orchestrion_project::PolicyReference;
use orchestrion_scenario::promote::{
    ProjectPolicy, PromoteError, Promotion, Target, from_debate, from_trace, from_trace_in_project,
};
use orchestrion_trace::Reader;
use orchestrion_user_claims::Enforcement;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Convert a trace or a foreign recording to a scenario: a counterexample to a test, other traces to a golden trace.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion promote .orchestrion/C-06-9f31c2aa.trace.ndjson veto-survives
                   a test in a project; elsewhere also the policy and a trace
  orchestrion promote .orchestrion/C-06-9f31c2aa.trace.ndjson fault --pin-policy
                   keeps the policy of the fault, and repeats the fault
  orchestrion promote debate.json encryption --from debate
                   a recorded debate: the five roles repeat their arguments
  orchestrion promote happy.trace.ndjson happy --scenario-dir cases
                   the scenario is cases/happy.yaml

In a project, the scenario runs under the project's policy. If the trace
violates claims, also those of the project, as a counterexample does, the
scenario is a test: it fails until they hold. It has no golden trace, and
replies that the corrected policy does not request are no failure. Outside a
project, and with --pin-policy, the scenario keeps the policy of the trace, and
expects that the claims fail. Example: after `init`, add `sticky_veto: false`
below `rules:` in policies/team.yaml:
  orchestrion check                                       C-06 fails
  orchestrion promote .orchestrion/C-06-*.trace.ndjson veto-survives
  orchestrion run scenarios/veto-survives.yaml            exit code 1
With `sticky_veto: true`, `orchestrion run` has exit code 0.

If a trace stops within a request, the scenario completes the request: every
module succeeds. Existing files are not overwritten.

Exit codes: 0 success; 2 error, no file was written.")]
pub(super) struct Args {
    /// Read this trace, or the format of --from.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name the scenario: lowercase letters, digits and hyphens.
    #[arg(value_name = "NAME")]
    name: String,
    /// Read a foreign format.
    #[arg(long, value_name = "FORMAT")]
    from: Option<ImportFormat>,
    /// Keep the policy of the trace beside the scenario, instead of the project's policy.
    #[arg(long, conflicts_with = "from")]
    pin_policy: bool,
    /// Write the scenario to this folder [default: the first scenario folder of the project file, or specs/scenarios].
    #[arg(long, value_name = "DIR")]
    scenario_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// Recorded debate: JSON with `debates` and `arguments`.
    Debate,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let folder = match &args.scenario_dir {
        Some(folder) => folder.clone(),
        None => scenario_folder(global)?.unwrap_or_else(|| PathBuf::from("specs/scenarios")),
    };
    let target = Target::new(&args.name, &folder)?;
    let promotion = match args.from {
        None => promote_trace(args, &target, &folder, global)?,
        Some(ImportFormat::Debate) => {
            let text = read_text(&args.file)?;
            from_debate(&args.file.display().to_string(), &text, &target)?
        }
    };
    let written = write_files(&promotion, &folder)?;
    print_report(&promotion, &written, &mut output::plain_stdout()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

fn promote_trace(args: &Args, target: &Target, folder: &Path, global: &GlobalArgs) -> Result<Promotion> {
    let open = || open_trace(&args.file);
    let reader = open().map_err(PromoteError::from)?;
    let policies = if args.pin_policy { None } else { ProjectPolicies::read(global)? };
    let policy =
        policies.map(|policies| project_policy(&policies, &reader.header().policy, folder)).transpose()?;
    let file = args.file.display().to_string();
    let claims = project_claims(global)?;
    let of_trace = TraceVerdicts::of_trace(open, &claims).map_err(PromoteError::from)?;
    let violated: Vec<String> = of_trace.violated(&claims).map(|claim| claim.id.clone()).collect();
    let mut promotion = match policy {
        Some(policy) => from_trace_in_project(reader, &file, target, &violated, policy)?,
        None => from_trace(reader, &file, target, &violated)?,
    };
    if promotion.has_golden {
        return Ok(promotion);
    }
    let run = || Reader::new(promotion.golden.as_slice(), &args.name);
    let of_run = TraceVerdicts::of_trace(run, &claims).map_err(PromoteError::from)?;
    // An enforced claim holds in every run, because what would violate it is not sent.
    let unmet = of_run.violated(&claims).filter(|claim| claim.enforcement != Enforcement::Enforced);
    let unmet: Vec<String> = unmet.map(|claim| format!("claim {}: expected to hold", claim.id)).collect();
    promotion.unmet.extend(unmet);
    Ok(promotion)
}

/// Returns the policy of the project with the recorded name, or the first one, as a scenario in this folder names it.
fn project_policy(policies: &ProjectPolicies, recorded: &Policy, folder: &Path) -> Result<ProjectPolicy> {
    let Some((reference, policy)) = policies.named(&recorded.name) else {
        return Ok(ProjectPolicy { policy: policies.first().clone(), reference: None });
    };
    let reference = match reference {
        PolicyReference::BuiltIn(name) => name.clone(),
        PolicyReference::File(path) => {
            relative_to(folder, path).into_diagnostic()?.to_string_lossy().into_owned()
        }
    };
    Ok(ProjectPolicy { policy: policy.clone(), reference: Some(reference) })
}

fn read_text(path: &Path) -> Result<String> {
    let cannot_read = || format!("cannot read {}", path.display());
    let bytes = orchestrion_files::read(path, TEXT_FILE_BYTES_MAX as u64)
        .into_diagnostic()
        .wrap_err_with(cannot_read)?;
    String::from_utf8(bytes).map_err(|error| {
        miette!(
            help = "save the recorded debate as JSON in UTF-8",
            "{} is not UTF-8 text: invalid byte at offset {}",
            path.display(),
            error.utf8_error().valid_up_to()
        )
    })
}

/// Writes all files or none.
fn write_files(promotion: &Promotion, folder: &Path) -> Result<Vec<PathBuf>> {
    let files = promotion.files().into_iter().map(|(name, bytes)| (folder.join(name), bytes));
    let (written, ()) = files::create_all(files, || Ok(()))?;
    Ok(written)
}

/// Returns the first scenario folder of the project file.
fn scenario_folder(global: &GlobalArgs) -> Result<Option<PathBuf>> {
    let scenarios = targets::project(global)?.map(|project| project.scenarios()).unwrap_or_default();
    Ok(scenarios.into_iter().find(|path| path.is_dir()))
}

fn print_report(promotion: &Promotion, written: &[PathBuf], out: &mut impl Write) -> std::io::Result<()> {
    let width = output::width();
    let result = match &promotion.halted {
        None => format!("promoted: completed in {} steps", promotion.steps),
        Some(refusal) => format!("promoted: halts after {} steps: {refusal}", promotion.steps),
    };
    output::write_hanging(0, "", &result, width, out)?;
    if let Some(text) = claims_text(promotion) {
        output::write_hanging(11, "  claims", &text, width, out)?;
    }
    for note in &promotion.notes {
        output::write_hanging(11, "  note", note, width, out)?;
    }
    for path in written {
        writeln!(out, "  wrote    {}", path.display())?;
    }
    match written.first() {
        Some(scenario) => {
            output::write_command("run", &format!("orchestrion run {}", output::quoted(scenario)), width, out)
        }
        None => Ok(()),
    }
}

/// Returns what the scenario expects of claims; nothing if the recording violates none.
fn claims_text(promotion: &Promotion) -> Option<String> {
    let claims = match &promotion.violated[..] {
        [] => return None,
        claims => claims.join(", "),
    };
    Some(match (promotion.has_golden, promotion.unmet.is_empty()) {
        (true, _) => format!("expected to fail, as recorded: {claims}"),
        (false, false) => {
            format!("expected to hold: {claims}; the scenario fails until the policy is corrected")
        }
        (false, true) => format!("expected to hold: {claims}; they hold under the policy of the project"),
    })
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
    fn promotion_writes_files_and_reports() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new-folder");
        let promotion = promotion(&to);
        let written = write_files(&promotion, &to).unwrap();
        assert_eq!(names(&to), ["case.ndjson", "case.yaml"]);
        let mut out = Vec::new();
        print_report(&promotion, &written, &mut out).unwrap();
        let report = String::from_utf8(out).unwrap().replace(&to.display().to_string(), "DIR");
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(report) });
    }

    #[test]
    fn existing_file_prevents_promotion() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path();
        for existing in ["case.ndjson", "case.yaml"] {
            fs::write(to.join(existing), "mine").unwrap();
            let error = write_files(&promotion(to), to).unwrap_err();
            assert!(error.to_string().contains(existing), "{error}");
            assert_eq!(names(to), [existing]);
            assert_eq!(fs::read_to_string(to.join(existing)).unwrap(), "mine");
            fs::remove_file(to.join(existing)).unwrap();
        }
        // The folder of the second file is the first file: the error occurs after the first file is written.
        let paths = ["case", "case/golden"].map(|name| (to.join(name), b"text".as_slice()));
        files::create_all(paths, || Ok(())).unwrap_err();
        assert!(names(to).is_empty(), "{:?}", names(to));
    }
}
