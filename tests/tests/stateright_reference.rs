//! Our explorer and stateright's breadth-first checker on the same models: equal verdicts on safety claims, premises,
//! state counts, and lengths of counterexamples.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_claims::{CLAIMS, ClaimCheck};
use orchestrion_explorer::{Options, StaterightModel};
use orchestrion_kernel::Policy;
use orchestrion_model::check::explore;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::product::KernelModel;
use orchestrion_model::reference::premise_name;
use orchestrion_model::scopes::{MODELS, Model, SCOPES, Scope};
use orchestrion_tests::protocols::{abd, paxos, single_copy, two_phase_commit::TwoPhaseCommit};
use stateright::actor::Network;
use stateright::{Checker, Expectation, HasDiscoveries, Model as _};
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;

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
    let tiny = &Scope::by_name("tiny").unwrap();
    for model in MODELS.into_iter().filter(|model| ["ratings", "lifecycle"].contains(&model.name)) {
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

/// Explores a protocol with both explorers. The number of states is the one that stateright publishes for its example.
fn check_protocol<M>(name: &str, make: impl Fn() -> M, states: usize)
where
    M: stateright::Model + Send + Sync + 'static,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    let theirs = make().checker().threads(1).spawn_bfs().join();
    assert_eq!(theirs.unique_state_count(), states, "{name}");
    let ours = StaterightModel::new(make());
    for threads in 1..=3 {
        let options = Options { threads: NonZeroUsize::new(threads).unwrap(), ..Options::default() };
        let found = orchestrion_explorer::explore(&ours, &options, &mut |_| {}).unwrap();
        assert_eq!(found.states(), states, "{name}, {threads} threads");
        assert_eq!(found.generated(), theirs.state_count() as u64, "{name}, {threads} threads");
        for (i, property) in make().properties().into_iter().enumerate() {
            assert!(!matches!(property.expectation, Expectation::Eventually), "{name}: {}", property.name);
            let path = |witness| found.path_to_witness(&ours, witness).unwrap().into_actions().len();
            let shortest = theirs.discovery(property.name).map(|path| path.into_actions().len());
            assert_eq!(found.witness(i).map(path), shortest, "{name}, {threads} threads: {}", property.name);
        }
    }
}

#[test]
fn explorers_agree_on_protocols() {
    let unordered = || Network::new_unordered_nonduplicating([]);
    check_protocol("two-phase commit", || TwoPhaseCommit { participants: 3 }, 288);
    check_protocol("two-phase commit", || TwoPhaseCommit { participants: 5 }, 8_832);
    check_protocol("Paxos", || paxos::model(2, 3), 16_668);
    check_protocol("ABD", || abd::model(2, 2, unordered()), 544);
    check_protocol("single copy", || single_copy::model(2), 93);
}
