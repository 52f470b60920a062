//! Our own models, which run the kernel itself.

use super::{CheckerReport, CheckerVerdict};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::{ModelError, Options};
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_model::check::{ModelRun, Verdict, explore, merge_verdicts};
use orchestrion_model::coverage::Observation;
use orchestrion_model::export::control::ROWS_OF_PARALLEL_TASKS;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{MODELS, Scope};

/// Returns the coverage of our kernel models under a policy, and their verdict on every claim.
///
/// # Errors
///
/// If the kernel does not behave as a model.
pub fn check_with_explorer(policy: &Policy, scope: &Scope) -> Result<CheckerReport, ModelError> {
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let run_model = |model| explore(&kernel, model, scope, &Options::default(), &mut |_| ());
    let runs = MODELS.into_iter().map(run_model).collect::<Result<Vec<ModelRun>, ModelError>>()?;
    let is_observed =
        |observation: Observation| runs.iter().any(|run| run.first_depth(observation).is_some());
    let checker_verdict = |verdict: &Verdict| match verdict {
        Verdict::Holds => CheckerVerdict::Holds,
        Verdict::Fails { .. } | Verdict::NotInductive { .. } => CheckerVerdict::Fails,
        Verdict::Vacuous | Verdict::Inconclusive => CheckerVerdict::Inconclusive,
        Verdict::NotChecked(_) => CheckerVerdict::NotChecked,
    };
    let verdicts = merge_verdicts(policy, &runs);
    Ok(CheckerReport {
        name: "ours",
        phases: Phase::ALL
            .into_iter()
            .filter(|phase| is_observed(Observation::Phase(*phase)))
            .map(Phase::name)
            .collect(),
        rows: (0..)
            .zip(TRANSITIONS)
            .filter(|(row, _)| is_observed(Observation::Row(*row)))
            .map(|(_, row)| row.id)
            .filter(|row| !ROWS_OF_PARALLEL_TASKS.contains(row))
            .collect(),
        states: None,
        verdicts: CLAIMS
            .iter()
            .zip(&verdicts)
            .map(|(claim, verdict)| (claim.id, checker_verdict(verdict)))
            .collect(),
    })
}
