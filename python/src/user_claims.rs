//! The claims of a project in a check.

use crate::check::CheckFailure;
use crate::verdict::{Counterexample, Verdict};
use orchestrion_explorer::Options;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{Model, Scope};
use orchestrion_model::user_claims::{FoundPath, UserClaimVerdict, explore_user_claims, merge_user_verdicts};
use orchestrion_user_claims::UserClaim;

/// Explores the models with the monitors of these claims. Without claims it explores nothing.
pub(crate) fn check_user_claims(
    kernel: &KernelUnderTest,
    models: &[Model],
    scope: &Scope,
    claims: &[UserClaim],
    options: &Options,
    is_partial: bool,
) -> Result<Vec<Verdict>, CheckFailure> {
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let explore = |model: &Model| {
        explore_user_claims(kernel, *model, scope, claims, options, &mut |_| {})
            .map_err(|reason| CheckFailure::new(model.name, &kernel.policy.name, &reason))
    };
    let runs = models.iter().map(explore).collect::<Result<Vec<_>, _>>()?;
    let merged = merge_user_verdicts(claims, &runs);
    Ok(claims.iter().zip(merged).map(|(claim, merged)| verdict(claim, merged.verdict, is_partial)).collect())
}

fn verdict(claim: &UserClaim, verdict: UserClaimVerdict, is_partial: bool) -> Verdict {
    let name = match verdict {
        UserClaimVerdict::Vacuous if is_partial => "not_in_model",
        _ => verdict.as_str(),
    };
    let counterexample = match verdict {
        UserClaimVerdict::Fails(path) | UserClaimVerdict::Halts(path) => {
            let FoundPath { model, counterexample } = path;
            Some(Counterexample { model, path: *counterexample })
        }
        UserClaimVerdict::Holds | UserClaimVerdict::Vacuous | UserClaimVerdict::Inconclusive => None,
    };
    Verdict {
        claim: claim.id.clone(),
        statement: claim.sentence.clone(),
        clause: claim.place.clone(),
        verdict: name,
        reason: None,
        counterexample,
    }
}
