//! Our own models, on the kernel itself.

use super::{Opinion, Said};
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::CLAIMS;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_model::check::{Run, Verdict, explore, verdicts};
use orchestrion_model::coverage::Mark;
use orchestrion_model::explore::{ModelError, Options};
use orchestrion_model::scopes::{MODELS, Scope};
use orchestrion_model::subject::Subject;

/// What our models of the kernel reach under a policy, and say of every claim.
///
/// # Errors
/// If the kernel does not behave as a model.
pub fn ours(policy: &Policy, scope: &Scope) -> Result<Opinion, ModelError> {
    let subject = Subject::real(policy.clone());
    let explored = |model| explore(&subject, model, scope, &Options::default(), &mut |_| ());
    let runs = MODELS.into_iter().map(explored).collect::<Result<Vec<Run>, ModelError>>()?;
    let saw = |mark: Mark| runs.iter().any(|run| run.saw(mark).is_some());
    let said = |verdict: &Verdict| match verdict {
        Verdict::Holds => Said::Holds,
        Verdict::Fails { .. } => Said::Fails,
        Verdict::Vacuous | Verdict::Inconclusive => Said::Unsettled,
        Verdict::NotChecked(_) => Said::Nothing,
    };
    let verdicts = verdicts(policy, &runs);
    Ok(Opinion {
        of: "ours",
        phases: (0..)
            .zip(Phase::ALL)
            .filter(|(at, _)| saw(Mark::Phase(*at)))
            .map(|(_, phase)| phase.name())
            .collect(),
        rows: (0..).zip(TRANSITIONS).filter(|(at, _)| saw(Mark::Row(*at))).map(|(_, row)| row.id).collect(),
        states: None,
        verdicts: CLAIMS.iter().zip(&verdicts).map(|(claim, verdict)| (claim.id, said(verdict))).collect(),
    })
}
