//! The lint of a set of claims.

use super::Args;
use crate::cli::args::{GlobalArgs, ReportFormat};
use crate::cli::check::user_claims::{SavedEvidence, save_path, write_path};
use crate::cli::exit_status::ExitStatus;
use crate::cli::test_report::{
    CaseVerdict, Diagnostic, Location, TestCase, TestReport, rules, text_output, write_json,
};
use crate::cli::user_claims::{claim_rule, read_claims};
use crate::cli::{output, targets};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_files::limits::TEXT_FILE_BYTES_MAX;
use orchestrion_model::claim_lint::{ClaimDefect, ClaimDiagnostic, ClaimLint, lint_claims};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{MODELS, SCOPES};
use orchestrion_report::text::{count, sanitize, wrap};
use orchestrion_user_claims::UserClaim;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Column of a claim's statement.
const COLUMN: usize = 22;

/// Whether a file states claims.
pub(super) fn is_claim_file(path: &Path) -> bool {
    orchestrion_files::read(path, TEXT_FILE_BYTES_MAX as u64).is_ok_and(|text| states_claims(&text))
}

/// Whether `claims` is one of the outermost keys: it is indented as the first line that has content.
fn states_claims(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(|line| (line, line.trim_ascii_start()));
    let has_content = |rest: &[u8]| !(rest.is_empty() || rest.starts_with(b"#") || rest.starts_with(b"---"));
    let mut lines =
        lines.filter(|(_, rest)| has_content(rest)).map(|(line, rest)| (line.len() - rest.len(), rest));
    let Some((outermost, first)) = lines.next() else { return false };
    let is_key = |rest: &[u8]| rest.starts_with(b"claims:");
    is_key(first) || lines.any(|(indent, rest)| indent == outermost && is_key(rest))
}

/// A diagnostic with the files of its example.
struct Reported {
    diagnostic: ClaimDiagnostic,
    saved: Option<SavedEvidence>,
}

/// Lints the claims of some files together.
pub(super) fn run(files: &[PathBuf], args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let is_for_machines = [(args.reach.is_some(), "--reach"), (args.dot.is_some(), "--dot")];
    if let Some((_, option)) = is_for_machines.iter().find(|(is_set, _)| *is_set) {
        return Err(miette!(
            help = "remove it, or name a state machine",
            "{option} is for state machines, found claims in {}",
            names(files)
        ));
    }
    let claims = read_claims(files)?;
    let policy = targets::default_policy(global)?;
    let name = policy.name.clone();
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let [_, tiny, _] = SCOPES;
    let lint = lint_claims(&KernelUnderTest::unmodified(policy), &MODELS, &tiny, &claims, threads);
    let ClaimLint { diagnostics, incomplete, states } = lint;
    let reported = diagnostics.into_iter().map(|diagnostic| {
        let claim = diagnostic.claim.or(diagnostic.causes.first().copied());
        let id = claim.and_then(|claim| claims.get(claim)).map_or("claims", |claim| claim.id.as_str());
        let saved = diagnostic.example.as_ref().map(|path| save_path(id, path, global)).transpose()?;
        Ok(Reported { diagnostic, saved })
    });
    let reported: Vec<Reported> = reported.collect::<Result<_>>()?;
    let fails = |reported: &Reported| is_failure(reported.diagnostic.defect);
    let status = match (reported.iter().any(fails), incomplete.is_empty()) {
        (true, _) => ExitStatus::Failure,
        (false, true) => ExitStatus::Success,
        (false, false) => ExitStatus::Incomplete,
    };
    let summary = Summary { files, claims: &claims, policy: &name, states, incomplete: &incomplete };
    let mut out = text_output(args.format, output::stdout());
    summary.write(&reported, output::width(), global.quiet, &mut out).into_diagnostic()?;
    drop(out);
    match args.format {
        ReportFormat::Json => {
            summary.write_json(&reported, status, &mut output::stdout()).into_diagnostic()?;
        }
        format => TestReport::new("lint", status, summary.cases(&reported)).print(format)?,
    }
    Ok(status)
}

/// The names of the files, in one text.
fn names(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

const fn is_failure(defect: ClaimDefect) -> bool {
    match defect {
        ClaimDefect::Implied => false,
        ClaimDefect::UnreachablePremise
        | ClaimDefect::Excluded
        | ClaimDefect::Contradiction
        | ClaimDefect::Trap => true,
    }
}

/// The name of a defect in JSON, its word in the report, what it means, and what its example is.
const fn texts(defect: ClaimDefect) -> (&'static str, &'static str, &'static str, &'static str) {
    match defect {
        ClaimDefect::UnreachablePremise => (
            "unreachable_premise",
            "UNREACHABLE",
            "no event of any run decides it; the texts of the models are short and fixed",
            "",
        ),
        ClaimDefect::Excluded => (
            "excluded",
            "EXCLUDED",
            "no run that abides by these claims has an event that decides it:",
            "shortest run to an event that decides it",
        ),
        ClaimDefect::Contradiction => (
            "contradiction",
            "CONTRADICTION",
            "no request ends in a run that abides by these claims:",
            "shortest run in which a request ends",
        ),
        ClaimDefect::Trap => (
            "trap",
            "TRAP",
            "after the run below, no request ends in a run that abides by these claims:",
            "shortest run into the trap",
        ),
        ClaimDefect::Implied => (
            "implied",
            "implied",
            "every run that violates it violates one of these claims in the same step or before:",
            "shortest run that violates it",
        ),
    }
}

/// What was linted.
struct Summary<'a> {
    files: &'a [PathBuf],
    claims: &'a [UserClaim],
    policy: &'a str,
    states: usize,
    incomplete: &'a [&'static str],
}

impl Summary<'_> {
    fn write(
        &self,
        reported: &[Reported],
        width: usize,
        quiet: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for Reported { diagnostic: ClaimDiagnostic { defect, claim, causes, example }, saved } in reported {
            let (_, word, meaning, run) = texts(*defect);
            let color = if is_failure(*defect) { AnsiColor::Red } else { AnsiColor::Yellow };
            let style = Style::new().fg_color(Some(color.into()));
            let claim = claim.and_then(|claim| self.claims.get(claim));
            let named =
                claim.map_or_else(String::new, |claim| format!("{}  ({})", claim.id, sanitize(&claim.place)));
            writeln!(out, "{}", format!("       {style}{word:<14}{style:#} {named}").trim_end())?;
            for line in claim.iter().flat_map(|claim| wrap(&claim.sentence, width.saturating_sub(COLUMN))) {
                writeln!(out, "{:COLUMN$}{line}", "")?;
            }
            output::write_hanging(COLUMN, "", meaning, width, out)?;
            for cause in causes.iter().filter_map(|cause| self.claims.get(*cause)) {
                let text = format!("{}  ({}): {}", cause.id, sanitize(&cause.place), cause.sentence);
                output::write_hanging(COLUMN, "", &text, width, out)?;
            }
            if let (Some(path), Some(saved)) = (example, saved) {
                write_path(run, path, saved, width, out)?;
            }
            writeln!(out)?;
        }
        for model in self.incomplete {
            let text = format!("the model {model} is too large: only traps of other models are known");
            output::write_hanging(0, "", &text, width, out)?;
        }
        if quiet && reported.is_empty() {
            return Ok(());
        }
        let text = format!(
            "{}: {} together under the policy {}, {} of {}: {}",
            sanitize(&names(self.files)),
            count(self.claims.len(), "claim"),
            sanitize(self.policy),
            count(self.states, "state"),
            count(MODELS.len(), "model"),
            match reported.len() {
                0 => "no defect".to_owned(),
                defects => count(defects, "defect"),
            }
        );
        output::write_hanging(0, "", &text, width, out)
    }

    /// The claims as cases for other tools. A diagnostic without a claim of its own is one of its first cause.
    fn cases(&self, reported: &[Reported]) -> Vec<TestCase> {
        let of_claim = |position: usize, claim: &UserClaim| {
            let of_this = |reported: &&Reported| {
                let ClaimDiagnostic { claim, causes, .. } = &reported.diagnostic;
                claim.or(causes.first().copied()) == Some(position)
            };
            let found: Vec<&Reported> = reported.iter().filter(of_this).collect();
            let is_failed = found.iter().any(|reported| is_failure(reported.diagnostic.defect));
            TestCase {
                suite: Location::of_place(&claim.place).file,
                name: claim.id.clone(),
                verdict: if is_failed { CaseVerdict::Failed } else { CaseVerdict::Passed },
                diagnostics: found.into_iter().map(|reported| self.diagnostic(claim, reported)).collect(),
            }
        };
        let mut cases: Vec<TestCase> =
            self.claims.iter().enumerate().map(|(position, claim)| of_claim(position, claim)).collect();
        let Some(first) = self.files.first() else { return cases };
        cases.extend(self.incomplete.iter().map(|model| TestCase {
            suite: names(self.files),
            name: (*model).to_owned(),
            verdict: CaseVerdict::Incomplete,
            diagnostics: vec![Diagnostic::warning(
                &rules::INCOMPLETE_LINT,
                format!("the model {model} is too large: only traps of other models are known"),
                Location::of_file(first),
            )],
        }));
        cases
    }

    fn diagnostic(&self, claim: &UserClaim, Reported { diagnostic, saved }: &Reported) -> Diagnostic {
        let (name, _, meaning, run) = texts(diagnostic.defect);
        let causes = diagnostic.causes.iter().filter_map(|cause| self.claims.get(*cause));
        let causes: Vec<&str> = causes.map(|cause| cause.id.as_str()).collect();
        let message = format!("{name}: {meaning} {}", causes.join(", "));
        let help =
            saved.as_ref().map(|saved| format!("{run}: orchestrion show {}", output::quoted(&saved.trace)));
        let place = Location::of_place(&claim.place);
        let found = Diagnostic::error(&claim_rule(claim), message.trim_end(), place);
        let found = if is_failure(diagnostic.defect) { found } else { found.into_warning() };
        Diagnostic { help, ..found }
    }

    fn write_json(&self, reported: &[Reported], status: ExitStatus, out: &mut impl Write) -> io::Result<()> {
        let id = |claim: usize| self.claims.get(claim).map(|claim| claim.id.as_str());
        let diagnostics = reported.iter().map(|Reported { diagnostic, saved }| DiagnosticReport {
            defect: texts(diagnostic.defect).0,
            is_failure: is_failure(diagnostic.defect),
            claim: diagnostic.claim.and_then(id),
            causes: diagnostic.causes.iter().filter_map(|cause| id(*cause)).collect(),
            model: diagnostic.example.as_ref().map(|path| path.model),
            steps: diagnostic.example.as_ref().map(|path| path.counterexample.inputs.len()),
            trace: saved.as_ref().map(|saved| saved.trace.clone()),
        });
        let report = LintReport {
            files: self.files.iter().map(|file| file.display().to_string()).collect(),
            policy: self.policy,
            verdict: match status {
                ExitStatus::Success => "passes",
                ExitStatus::Failure => "fails",
                ExitStatus::Incomplete | ExitStatus::Error => "incomplete",
            },
            states: self.states,
            incomplete: self.incomplete,
            diagnostics: diagnostics.collect(),
        };
        write_json(&report, out)
    }
}

/// The lint as JSON.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct LintReport<'a> {
    files: Vec<String>,
    policy: &'a str,
    verdict: &'static str,
    states: usize,
    /// The models that are too large.
    incomplete: &'a [&'static str],
    diagnostics: Vec<DiagnosticReport<'a>>,
}

/// A diagnostic as JSON.
#[derive(Serialize, JsonSchema)]
struct DiagnosticReport<'a> {
    defect: &'static str,
    /// Whether the exit code is 1.
    is_failure: bool,
    claim: Option<&'a str>,
    /// A minimal set of claims that cause it.
    causes: Vec<&'a str>,
    model: Option<&'static str>,
    steps: Option<usize>,
    trace: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_outermost_key_states_claims() {
        for text in
            ["claims:\n", "# Ours.\n---\n  claims:\n  - id: a\n", "name: a\nclaims: []", "\n\tclaims:\r\n"]
        {
            assert!(states_claims(text.as_bytes()), "{text:?}");
        }
        for text in ["", "# claims:\n", "states:\n  claims: {}\n", "  name: a\n    claims:\n", "claims\n"] {
            assert!(!states_claims(text.as_bytes()), "{text:?}");
        }
    }
}
