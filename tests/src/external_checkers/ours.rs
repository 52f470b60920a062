//! Our own models, which run the kernel itself.

use super::{CheckerReport, CheckerVerdict};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::{ModelError, Options};
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_model::check::{ModelRun, Verdict, explore, merge_verdicts};
use orchestrion_model::coverage::Observation;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{MODELS, Scope};

/// Returns the coverage of our kernel models under a policy, and their verdict on every claim.
///
/// # Errors If the kernel does not behave as a model.
pub fn check_with_explorer(policy: &Policy, scope: &Scope) -> Result<CheckerReport, ModelError> {
    let subject = KernelUnderTest::unmodified(policy.clone());
    let explored = |model| explore(&subject, model, scope, &Options::default(), &mut |_| ());
    let runs = MODELS.into_iter().map(explored).collect::<Result<Vec<ModelRun>, ModelError>>()?;
    let saw = |mark: Observation| runs.iter().any(|run| run.first_depth(mark).is_some());
    let said = |verdict: &Verdict| match verdict {
        Verdict::Holds => CheckerVerdict::Holds,
        Verdict::Fails { .. } => CheckerVerdict::Fails,
        Verdict::Vacuous | Verdict::Inconclusive => CheckerVerdict::Inconclusive,
        Verdict::NotChecked(_) => CheckerVerdict::NotChecked,
    };
    let verdicts = merge_verdicts(policy, &runs);
    Ok(CheckerReport {
        of: "ours",
        phases: Phase::ALL
            .into_iter()
            .filter(|phase| saw(Observation::Phase(*phase)))
            .map(Phase::name)
            .collect(),
        rows: (0..)
            .zip(TRANSITIONS)
            .filter(|(at, _)| saw(Observation::Row(*at)))
            .map(|(_, row)| row.id)
            .collect(),
        states: None,
        verdicts: CLAIMS.iter().zip(&verdicts).map(|(claim, verdict)| (claim.id, said(verdict))).collect(),
    })
}
