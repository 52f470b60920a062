//! The claims of the project in `check`.

use super::options::Args;
use super::plan::CheckPlan;
use super::report::{highlight_heading, steps_text, write_highlights};
use super::save::{SavedEvidence, save};
use crate::cli::args::GlobalArgs;
use crate::cli::output::{quoted, text_width, write_command, write_hanging};
use crate::cli::test_report::{CaseVerdict, Diagnostic, Location, TestCase};
use crate::cli::user_claims::claim_rule;
use anstyle::{AnsiColor, Style};
use miette::Result;
use orchestrion_explorer::ResumeError;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::user_claims::{UserClaimVerdict, explore_user_claims, merge_user_verdicts};
use orchestrion_report::text::{sanitize, wrap};
use orchestrion_user_claims::UserClaim;
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
}

impl CheckedUserClaim {
    /// Returns the claim as a case for other tools.
    pub(super) fn case(&self, policy: &str) -> TestCase {
        let (claim, rule, place) =
            (&self.claim, claim_rule(&self.claim), Location::of_place(&self.claim.place));
        let (verdict, diagnostic) = match &self.verdict {
            UserClaimVerdict::Holds => (CaseVerdict::Passed, None),
            UserClaimVerdict::Fails { model, counterexample } => {
                let steps = counterexample.inputs.len();
                let message =
                    format!("fails under {policy}: shortest counterexample, {steps} steps in {model}");
                let found = Diagnostic::error(&rule, message, place).at_step(steps as u64);
                let show = self
                    .evidence
                    .as_ref()
                    .map(|saved| format!("see: orchestrion show {} --step {steps}", quoted(&saved.trace)));
                (CaseVerdict::Failed, Some(Diagnostic { help: show, ..found }))
            }
            UserClaimVerdict::Vacuous if self.is_partial => (CaseVerdict::Skipped, None),
            UserClaimVerdict::Vacuous => {
                let message = format!("vacuous under {policy}: no event of any model decides it");
                (CaseVerdict::Incomplete, Some(Diagnostic::warning(&rule, message, place)))
            }
            UserClaimVerdict::Inconclusive => {
                let message = format!("inconclusive under {policy}: the search hit a limit");
                (CaseVerdict::Incomplete, Some(Diagnostic::warning(&rule, message, place)))
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
    let verdicts = merge_user_verdicts(claims, &runs);
    let checked = claims.iter().zip(verdicts).map(|(claim, verdict)| {
        let evidence = match &verdict {
            UserClaimVerdict::Fails { counterexample, .. } => {
                Some(save(&claim.id, counterexample, &global.out_dir)?)
            }
            UserClaimVerdict::Holds | UserClaimVerdict::Vacuous | UserClaimVerdict::Inconclusive => None,
        };
        Ok(CheckedUserClaim { claim: claim.clone(), verdict, evidence, is_partial })
    });
    checked.collect()
}

/// Writes a claim with its verdict and its counterexample.
pub(super) fn write_user_claim(
    checked: &CheckedUserClaim,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let CheckedUserClaim { claim, verdict, evidence, is_partial } = checked;
    let (word, color) = match verdict {
        UserClaimVerdict::Holds => ("holds", AnsiColor::Green),
        UserClaimVerdict::Fails { .. } => ("FAILS", AnsiColor::Red),
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
        UserClaimVerdict::Fails { model, counterexample } => {
            let Some(SavedEvidence { trace, evidence, .. }) = evidence else { return Ok(()) };
            let steps = counterexample.inputs.len();
            let highlights = evidence.last_highlights(steps as u64);
            let text = format!(
                "shortest counterexample, {} in {model}{}",
                steps_text(steps),
                highlight_heading(highlights)
            );
            write_hanging(2, "", &text, width, out)?;
            write_highlights(highlights, width, out)?;
            write_command("show", &format!("orchestrion show {} --step {steps}", quoted(trace)), width, out)?;
            let promote = format!("orchestrion promote {} {}", quoted(trace), claim.id);
            write_command("promote", &promote, width, out)?;
            writeln!(out)?;
        }
        UserClaimVerdict::Holds | UserClaimVerdict::Vacuous | UserClaimVerdict::Inconclusive => {}
    }
    Ok(())
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
}

impl<'a> UserClaimReport<'a> {
    pub(super) fn new(policy: &'a str, checked: &'a CheckedUserClaim) -> Self {
        let (model, steps) = match &checked.verdict {
            UserClaimVerdict::Fails { model, counterexample } => {
                (Some(*model), Some(counterexample.inputs.len()))
            }
            UserClaimVerdict::Holds | UserClaimVerdict::Vacuous | UserClaimVerdict::Inconclusive => {
                (None, None)
            }
        };
        Self {
            id: &checked.claim.id,
            policy,
            sentence: &checked.claim.sentence,
            place: &checked.claim.place,
            verdict: checked.verdict_name(),
            evidence: match checked.verdict {
                UserClaimVerdict::Inconclusive => "partial",
                UserClaimVerdict::Holds | UserClaimVerdict::Fails { .. } | UserClaimVerdict::Vacuous => {
                    "exhaustive"
                }
            },
            model,
            steps,
            trace: checked.evidence.as_ref().map(|saved| saved.trace.as_path()),
            itf: checked.evidence.as_ref().map(|saved| saved.itf.as_path()),
        }
    }
}
