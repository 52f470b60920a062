//! The claims of the project in `check`.

use super::options::Args;
use super::plan::CheckPlan;
use super::report::{highlight_heading, steps_text, write_highlights};
pub(in crate::cli) use super::save::SavedEvidence;
use super::save::save;
use crate::cli::args::GlobalArgs;
use crate::cli::output::{quoted, text_width, write_command, write_hanging};
use crate::cli::test_report::{CaseVerdict, Diagnostic, Location, TestCase};
use crate::cli::user_claims::claim_rule;
use anstyle::{AnsiColor, Style};
use miette::Result;
use orchestrion_explorer::ResumeError;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::user_claims::{
    FoundPath, MergedUserClaim, UserClaimVerdict, explore_user_claims, merge_user_verdicts,
};
use orchestrion_report::text::{sanitize, wrap};
use orchestrion_user_claims::{Enforcement, UserClaim};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Column of a claim's statement.
const COLUMN: usize = 21;

/// A claim of the project with its verdict.
pub(super) struct CheckedUserClaim {
    claim: UserClaim,
    verdict: UserClaimVerdict,
    /// The counterexample as files, if the claim fails.
    evidence: Option<SavedEvidence>,
    /// A shortest run to a call that the claim forbids, or would forbid, as files.
    forbids: Option<(FoundPath, SavedEvidence)>,
    /// Only some models were explored: another one may have an event that decides the claim.
    is_partial: bool,
}

impl CheckedUserClaim {
    /// Returns the name of the verdict in JSON.
    pub(super) const fn verdict_name(&self) -> &'static str {
        match self.verdict {
            UserClaimVerdict::Vacuous if self.is_partial => "not_in_model",
            _ => self.verdict.as_str(),
        }
    }

    /// Returns the claim as a case for other tools.
    pub(super) fn case(&self, policy: &str) -> TestCase {
        let (claim, rule, place) =
            (&self.claim, claim_rule(&self.claim), Location::of_place(&self.claim.place));
        let failure = |FoundPath { model, counterexample }: &FoundPath, what: &str| {
            let steps = counterexample.inputs.len();
            let message = format!("fails under {policy}: {what}, {steps} steps in {model}");
            let found = Diagnostic::error(&rule, message, place.clone()).at_step(steps as u64);
            let show = self
                .evidence
                .as_ref()
                .map(|saved| format!("see: orchestrion show {} --step {steps}", quoted(&saved.trace)));
            Diagnostic { help: show, ..found }
        };
        let (verdict, diagnostic) = match &self.verdict {
            UserClaimVerdict::Holds => (CaseVerdict::Passed, None),
            UserClaimVerdict::Fails(path) => {
                (CaseVerdict::Failed, Some(failure(path, "shortest counterexample")))
            }
            UserClaimVerdict::Halts(path) => {
                let cause = "no transition handles the failure of a forbidden call, so that the conversation halts; shortest run";
                (CaseVerdict::Failed, Some(failure(path, cause)))
            }
            UserClaimVerdict::Vacuous if self.is_partial => (CaseVerdict::Skipped, None),
            UserClaimVerdict::Vacuous => {
                let message = format!("vacuous under {policy}: no event of any model decides it");
                (CaseVerdict::Incomplete, Some(Diagnostic::warning(&rule, message, place.clone())))
            }
            UserClaimVerdict::Inconclusive => {
                let message = format!("inconclusive under {policy}: the search hit a limit");
                (CaseVerdict::Incomplete, Some(Diagnostic::warning(&rule, message, place.clone())))
            }
        };
        let (suite, name) = (policy.to_owned(), claim.id.clone());
        TestCase { suite, name, verdict, diagnostics: diagnostic.into_iter().collect() }
    }
}

/// Explores the models with the monitors of the project's claims. Without claims it explores nothing.
pub(super) fn check_user_claims(
    kernel: &KernelUnderTest,
    plan: &CheckPlan,
    is_partial: bool,
    args: &Args,
    global: &GlobalArgs,
) -> Result<Vec<CheckedUserClaim>> {
    let claims = &plan.claims;
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let explore = |model, options: &_, progress: &mut dyn FnMut(&_)| {
        explore_user_claims(kernel, model, &plan.scope, claims, options, progress).map_err(ResumeError::from)
    };
    let runs = args.search.explore_models(&plan.models, &kernel.policy.name, global.quiet, explore)?;
    let merged = merge_user_verdicts(claims, &runs);
    let checked = claims.iter().zip(merged).map(|(claim, MergedUserClaim { verdict, forbids })| {
        let save = |path: &FoundPath| save(&claim.id, &path.counterexample, &global.out_dir);
        let evidence = failure_of(&verdict).map(save).transpose()?;
        let forbids = match forbids {
            Some(path) => {
                let saved = save(&path)?;
                Some((path, saved))
            }
            None => None,
        };
        Ok(CheckedUserClaim { claim: claim.clone(), verdict, evidence, forbids, is_partial })
    });
    checked.collect()
}

/// The path of a claim that fails.
const fn failure_of(verdict: &UserClaimVerdict) -> Option<&FoundPath> {
    match verdict {
        UserClaimVerdict::Fails(path) | UserClaimVerdict::Halts(path) => Some(path),
        UserClaimVerdict::Holds | UserClaimVerdict::Vacuous | UserClaimVerdict::Inconclusive => None,
    }
}

/// Writes a claim with its verdict and its counterexample.
pub(super) fn write_user_claim(
    checked: &CheckedUserClaim,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let CheckedUserClaim { claim, verdict, evidence, forbids, is_partial } = checked;
    let (word, color) = match verdict {
        UserClaimVerdict::Holds => ("holds", AnsiColor::Green),
        UserClaimVerdict::Fails(_) | UserClaimVerdict::Halts(_) => ("FAILS", AnsiColor::Red),
        UserClaimVerdict::Vacuous if *is_partial => ("not in model", AnsiColor::BrightBlack),
        UserClaimVerdict::Vacuous => ("VACUOUS", AnsiColor::Yellow),
        UserClaimVerdict::Inconclusive => ("INCONCLUSIVE", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(color.into()));
    writeln!(out, "       {style}{word:<13}{style:#} {}  ({})", claim.id, sanitize(&claim.place))?;
    for line in wrap(&claim.sentence, text_width(width, COLUMN)) {
        writeln!(out, "{:COLUMN$}{line}", "")?;
    }
    match verdict {
        UserClaimVerdict::Vacuous if !is_partial => {
            let text = "no event of any model decides it; the texts of the models are short and fixed";
            write_hanging(COLUMN, "", text, width, out)?;
        }
        UserClaimVerdict::Halts(_) => {
            let text = "no transition of this policy handles the failure of a call that it forbids, so the conversation \
                        halts; enable `error_rows`";
            write_hanging(COLUMN, "", text, width, out)?;
        }
        UserClaimVerdict::Fails(_)
        | UserClaimVerdict::Holds
        | UserClaimVerdict::Vacuous
        | UserClaimVerdict::Inconclusive => {}
    }
    if let (Some(path), Some(saved)) = (failure_of(verdict), evidence) {
        let trace = write_path("shortest counterexample", path, saved, width, out)?;
        let promote = format!("orchestrion promote {} {}", quoted(trace), claim.id);
        write_command("promote", &promote, width, out)?;
        writeln!(out)?;
    }
    let text = match (claim.enforcement, forbids) {
        (Enforcement::None, _) => return Ok(()),
        (Enforcement::Enforced, Some(_)) => "shortest run in which it forbids a call",
        (Enforcement::Shadow, Some(_)) => "shortest run in which it would forbid a call",
        (Enforcement::Enforced | Enforcement::Shadow, None) => {
            return write_hanging(COLUMN, "", "no call of any explored run violates it", width, out);
        }
    };
    if let Some((path, saved)) = forbids {
        write_path(text, path, saved, width, out)?;
    }
    Ok(())
}

/// Records the path of a claim, or of several, as files.
pub(in crate::cli) fn save_path(name: &str, path: &FoundPath, global: &GlobalArgs) -> Result<SavedEvidence> {
    save(name, &path.counterexample, &global.out_dir)
}

/// Writes a path with its last step, and the command that shows it. Returns the trace.
pub(in crate::cli) fn write_path<'e>(
    text: &str,
    FoundPath { model, counterexample }: &FoundPath,
    SavedEvidence { trace, evidence, .. }: &'e SavedEvidence,
    width: usize,
    out: &mut impl Write,
) -> io::Result<&'e Path> {
    let steps = counterexample.inputs.len();
    let highlights = evidence.last_highlights(steps as u64);
    let text = format!("{text}, {} in {model}{}", steps_text(steps), highlight_heading(highlights));
    write_hanging(2, "", &text, width, out)?;
    write_highlights(highlights, width, out)?;
    write_command("show", &format!("orchestrion show {} --step {steps}", quoted(trace)), width, out)?;
    Ok(trace)
}

/// A claim of the project as JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct UserClaimReport<'a> {
    id: &'a str,
    policy: &'a str,
    sentence: &'a str,
    /// The file and line that state it.
    place: &'a str,
    verdict: &'static str,
    /// `exhaustive`: all reachable states of the models at this scope; `partial`: up to a limit.
    evidence: &'static str,
    model: Option<&'static str>,
    steps: Option<usize>,
    trace: Option<&'a Path>,
    itf: Option<&'a Path>,
    /// `none`, `shadow` or `enforced`.
    enforcement: &'static str,
    /// A shortest run to a call that the claim forbids, or would forbid in its shadow mode.
    forbids: Option<ForbidsReport<'a>>,
}

/// A run to a call that a claim forbids, as JSON.
#[derive(Serialize, JsonSchema)]
struct ForbidsReport<'a> {
    model: &'static str,
    steps: usize,
    trace: &'a Path,
}

impl<'a> UserClaimReport<'a> {
    pub(super) fn new(policy: &'a str, checked: &'a CheckedUserClaim) -> Self {
        let failure = failure_of(&checked.verdict);
        Self {
            id: &checked.claim.id,
            policy,
            sentence: &checked.claim.sentence,
            place: &checked.claim.place,
            verdict: checked.verdict_name(),
            evidence: match checked.verdict {
                UserClaimVerdict::Inconclusive => "partial",
                UserClaimVerdict::Holds
                | UserClaimVerdict::Fails(_)
                | UserClaimVerdict::Halts(_)
                | UserClaimVerdict::Vacuous => "exhaustive",
            },
            model: failure.map(|path| path.model),
            steps: failure.map(|path| path.counterexample.inputs.len()),
            trace: checked.evidence.as_ref().map(|saved| saved.trace.as_path()),
            itf: checked.evidence.as_ref().map(|saved| saved.itf.as_path()),
            enforcement: match checked.claim.enforcement {
                Enforcement::None => "none",
                Enforcement::Shadow => "shadow",
                Enforcement::Enforced => "enforced",
            },
            forbids: checked.forbids.as_ref().map(|(path, saved)| ForbidsReport {
                model: path.model,
                steps: path.counterexample.inputs.len(),
                trace: &saved.trace,
            }),
        }
    }
}
