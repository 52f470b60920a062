//! Result of checking one policy.

use super::checkpoint::{PolicyCheckpoints, note_continued};
use super::coverage;
use super::options::Args;
use super::plan::CheckPlan;
use super::save::{SavedEvidence, save};
use super::user_claims::{CheckedUserClaim, check_user_claims};
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use miette::Result;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_explorer::ResumeError;
use orchestrion_kernel::Policy;
use orchestrion_model::check::{
    Counterexample, ModelRun, Verdict, explore, explore_counting, explore_with_checkpoints, merge_verdicts,
};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::transition_counts::TransitionCounts;
use orchestrion_project::Waiver;

/// The explored models and checked claims of one policy.
pub(super) struct PolicyResult {
    pub(super) policy: Policy,
    pub(super) scope: String,
    pub(super) runs: Vec<ModelRun>,
    pub(super) claims: Vec<CheckedClaim>,
    /// The claims of the project.
    pub(super) user_claims: Vec<CheckedUserClaim>,
}

impl PolicyResult {
    /// Whether a claim has one of these verdicts.
    pub(super) fn has_verdict(&self, names: &[&str]) -> bool {
        let of_claims = self.claims.iter().map(CheckedClaim::verdict_name);
        let of_user_claims = self.user_claims.iter().map(CheckedUserClaim::verdict_name);
        of_claims.chain(of_user_claims).any(|name| names.contains(&name))
    }

    /// Returns the names of the explored models.
    pub(super) fn models(&self) -> Vec<&'static str> {
        self.runs.iter().map(|run| run.model).collect()
    }

    /// Returns the number of states whose context is not proven optimal, over all models.
    pub(super) fn unproven_contexts(&self) -> usize {
        self.runs.iter().map(|run| run.unproven_contexts).sum()
    }

    /// Marks vacuous claims as not in the model, unless all models were explored: others may reach their premises.
    pub(super) fn mark_not_in_model(mut self) -> Self {
        let is_partial = coverage::partial_models(&self.models()).is_some();
        for claim in &mut self.claims {
            claim.is_not_in_model = is_partial && claim.verdict == Verdict::Vacuous;
        }
        self
    }
}

/// A claim with its verdict.
pub(super) struct CheckedClaim {
    pub(super) claim: &'static Claim,
    pub(super) verdict: Verdict,
    /// The counterexample as files, if the claim fails.
    pub(super) evidence: Option<SavedEvidence>,
    /// The shortest counterexamples in other models.
    pub(super) others: Vec<OtherCounterexample>,
    /// The waiver that excuses the verdict.
    pub(super) waiver: Option<Waiver>,
    /// No explored model reaches the premise, and only some models were explored.
    pub(super) is_not_in_model: bool,
}

/// A counterexample in a model, beside a shorter one in another.
pub(super) struct OtherCounterexample {
    pub(super) model: &'static str,
    pub(super) counterexample: Counterexample,
    pub(super) evidence: SavedEvidence,
}

impl CheckedClaim {
    /// Returns the name of the verdict in JSON, waivers applied.
    pub(super) fn verdict_name(&self) -> &'static str {
        match (&self.waiver, self.is_not_in_model) {
            (Some(_), _) => "waived",
            (None, true) => "not_in_model",
            (None, false) => self.verdict.as_str(),
        }
    }
}

/// Checks the claims under one policy, and counts transitions if a drawing is requested.
pub(super) fn check_policy(
    policy: &Policy,
    plan: &CheckPlan,
    checkpoints: Option<&PolicyCheckpoints<'_>>,
    args: &Args,
    global: &GlobalArgs,
) -> Result<(PolicyResult, TransitionCounts)> {
    let (kernel, scope) = (KernelUnderTest::unmodified(policy.clone()), &plan.scope);
    let explored = args.search.explore_models(
        &plan.models,
        &policy.name,
        global.quiet,
        |model, options, progress| {
            let run = match (checkpoints, &args.dot) {
                (Some(checkpoints), _) => {
                    let checkpoint = checkpoints.of_model(model);
                    note_continued(&checkpoint, model.name, global);
                    explore_with_checkpoints(&kernel, model, scope, options, &checkpoint, progress)?
                }
                (None, Some(_)) => return Ok(explore_counting(&kernel, model, scope, options, progress)?),
                (None, None) => explore(&kernel, model, scope, options, progress)?,
            };
            Ok::<_, ResumeError>((run, TransitionCounts::default()))
        },
    )?;
    let mut counts = TransitionCounts::default();
    explored.iter().for_each(|(_, of_model)| counts.add(of_model));
    let explored = explored.into_iter().map(|(run, _)| run);
    let enumerated = args.search.check_enumerations(&plan.enumerations, &kernel, scope);
    let runs: Vec<ModelRun> = explored.chain(enumerated).collect();
    let claims = CLAIMS.iter().zip(merge_verdicts(policy, &runs)).map(|(claim, verdict)| {
        let evidence = match &verdict {
            Verdict::Fails { counterexample, .. } => Some(save(claim.id, counterexample, &global.out_dir)?),
            Verdict::Holds
            | Verdict::Vacuous
            | Verdict::Inconclusive
            | Verdict::NotInductive { .. }
            | Verdict::NotChecked(_) => None,
        };
        let others = other_counterexamples(claim, &verdict, &runs, args.counterexamples.get() - 1, global)?;
        Ok(CheckedClaim { claim, verdict, evidence, others, waiver: None, is_not_in_model: false })
    });
    let claims = claims.collect::<Result<Vec<CheckedClaim>>>()?;
    let models: Vec<&str> = runs.iter().map(|run| run.model).collect();
    let is_partial = coverage::partial_models(&models).is_some();
    let user_claims = check_user_claims(&kernel, plan, is_partial, args, global)?;
    let result =
        PolicyResult { policy: policy.clone(), scope: scope.name.to_string(), runs, claims, user_claims };
    Ok((result.mark_not_in_model(), counts))
}

/// Saves up to `count` counterexamples of a claim in other models than that of its verdict, the shortest first.
fn other_counterexamples(
    claim: &Claim,
    verdict: &Verdict,
    runs: &[ModelRun],
    count: usize,
    global: &GlobalArgs,
) -> Result<Vec<OtherCounterexample>> {
    let Verdict::Fails { run: shown, .. } = verdict else { return Ok(Vec::new()) };
    let position = CLAIMS.iter().position(|other| other.id == claim.id);
    let mut found: Vec<(&ModelRun, &Counterexample)> = runs
        .iter()
        .enumerate()
        .filter(|(at, _)| at != shown)
        .filter_map(|(_, run)| Some((run, run.found.get(position?)?.counterexample.as_ref()?)))
        .collect();
    found.sort_by_key(|(_, counterexample)| counterexample.inputs.len());
    let others = found.into_iter().take(count).map(|(run, counterexample)| {
        let evidence = save(claim.id, counterexample, &global.out_dir)?;
        Ok(OtherCounterexample { model: run.model, counterexample: counterexample.clone(), evidence })
    });
    others.collect()
}

/// Returns the status of a check.
pub(super) fn exit_status(results: &[PolicyResult], waivers: &[(&Waiver, WaiverStatus)]) -> ExitStatus {
    let has_any = |names: &[&str]| results.iter().any(|result| result.has_verdict(names));
    if has_any(&["fails", "not_inductive"]) {
        ExitStatus::Failure
    } else if has_any(&["vacuous", "inconclusive"])
        || waivers.iter().any(|(_, status)| *status == WaiverStatus::Expired)
    {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}

/// Whether a waiver is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaiverStatus {
    /// The claim fails or is vacuous, and the waiver excuses it.
    Needed,
    /// The claim holds.
    NotNeeded,
    /// The waiver's last day is past; it excuses nothing.
    Expired,
    /// The claim was not checked, or not in all models, or not exhaustively.
    Undetermined,
}

impl WaiverStatus {
    /// Returns the name of the status in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::NotNeeded => "not_needed",
            Self::Expired => "expired",
            Self::Undetermined => "undetermined",
        }
    }
}
