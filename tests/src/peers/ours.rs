//! Our own models, on the kernel itself.

use super::{Opinion, Said};
use orchestrion_kernel::claims::CLAIMS;
use orchestrion_kernel::{Event, Policy, decide};
use orchestrion_model::check::{LIMIT, Verdict, explore, verdicts};
use orchestrion_model::product::KernelModel;
use orchestrion_model::scopes::{MODELS, Model, Scope};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What our models of the kernel reach under a policy, and say of every claim.
#[must_use]
pub fn ours(policy: &Policy, scope: &Scope) -> Opinion {
    let (mut phases, mut rows) = (BTreeSet::new(), BTreeSet::new());
    for model in MODELS {
        reach(policy, model, scope, &mut phases, &mut rows);
    }
    let runs: Vec<_> =
        MODELS.into_iter().map(|model| explore(policy, model, scope, LIMIT, &|_| ())).collect();
    let said = |verdict: &Verdict| match verdict {
        Verdict::Holds => Said::Holds,
        Verdict::Fails { .. } => Said::Fails,
        Verdict::Vacuous | Verdict::Inconclusive => Said::Unsettled,
        Verdict::NotChecked(_) => Said::Nothing,
    };
    let verdicts = verdicts(policy, &runs);
    let verdicts: BTreeMap<&'static str, Said> =
        CLAIMS.iter().zip(&verdicts).map(|(claim, verdict)| (claim.id, said(verdict))).collect();
    Opinion { of: "ours", phases, rows, states: None, verdicts }
}

/// Adds the control states that a model comes to, and the rows that it takes.
fn reach(
    policy: &Policy,
    model: Model,
    scope: &Scope,
    phases: &mut BTreeSet<&'static str>,
    rows: &mut BTreeSet<&'static str>,
) {
    let model = KernelModel::new(policy.clone(), model, scope);
    let mut frontier = vec![model.start()];
    let mut seen: HashSet<_> = frontier.iter().cloned().collect();
    while let Some(product) = frontier.pop() {
        phases.insert(product.state.control.phase().name());
        for input in model.inputs(&product) {
            let Some(after) = model.step(&product, &input) else { continue };
            let events = decide(policy, &product.state, &input).unwrap_or_default();
            rows.extend(events.iter().filter_map(|event| match event {
                Event::Moved { row } => Some(row.row().id),
                _ => None,
            }));
            if seen.insert(after.clone()) {
                frontier.push(after);
            }
        }
    }
}
