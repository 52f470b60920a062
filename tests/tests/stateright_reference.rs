//! Our explorer and stateright's breadth-first checker on the same models: equal verdicts on safety claims, premises,
//! state counts, and lengths of counterexamples.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_claims::{CLAIMS, ClaimCheck};
use orchestrion_explorer::Options;
use orchestrion_kernel::Policy;
use orchestrion_model::check::explore;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::product::KernelModel;
use orchestrion_model::reference::premise_name;
use orchestrion_model::scopes::{MODELS, Model, SCOPES, Scope};
use stateright::{Checker, HasDiscoveries, Model as _};

fn check_agreement(policy: &Policy, model: Model, scope: &Scope) {
    let name = format!("{}, {}, {}", policy.name, model.name, scope.name);
    let subject = KernelUnderTest::unmodified(policy.clone());
    let theirs = KernelModel::new(subject.clone(), model, scope);
    // One thread: with more, stateright's counterexamples are not always shortest.
    let theirs = theirs.checker().threads(1).finish_when(HasDiscoveries::All).spawn_bfs().join();
    let ours = explore(&subject, model, scope, &Options::default(), &mut |_| ()).unwrap();
    assert!(ours.is_exhaustive(), "{name}");
    assert_eq!(ours.products, theirs.unique_state_count(), "{name}");
    for (i, claim) in CLAIMS.iter().enumerate() {
        let found = &ours.found[i];
        if (claim.not_applicable)(policy).is_some() {
            continue;
        }
        assert_eq!(
            found.premise_reached,
            theirs.discovery(premise_name(i)).is_some(),
            "{name}: {}",
            claim.id
        );
        if !matches!(claim.check, ClaimCheck::LeadsTo { .. }) {
            let steps =
                |way: Option<usize>| way.map_or("holds".to_string(), |steps| format!("fails in {steps}"));
            let ours = found.counterexample.as_ref().map(|way| way.inputs.len());
            let theirs = theirs.discovery(claim.id).map(|path| path.into_actions().len());
            assert_eq!(steps(ours), steps(theirs), "{name}: {}", claim.id);
        }
    }
}

#[test]
fn stateright_agrees_on_small_models() {
    let tiny = SCOPES.iter().find(|scope| scope.name == "tiny").unwrap();
    for model in MODELS.into_iter().filter(|model| ["debate", "lifecycle"].contains(&model.name)) {
        check_policies(model, tiny);
    }
}

#[test]
#[ignore = "takes minutes; .ci/nightly runs it"]
fn stateright_agrees_on_every_model() {
    for scope in &SCOPES {
        for model in MODELS {
            check_policies(model, scope);
        }
    }
}

fn check_policies(model: Model, scope: &Scope) {
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        check_agreement(&policy, model, scope);
    }
}
