//! Both exports hold the whole table, state every claim or say why not, and can be read as the languages want it.

use super::ast::{Domain, Expr, Var};
use super::*;
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Phase;
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::table::TRANSITIONS;
use std::collections::BTreeSet;

/// Both built-in policies, and one with an approver.
fn policies() -> Vec<Policy> {
    let mut approved = Policy::hardened();
    approved.name = "approved".to_string();
    approved.rules.approver = true;
    vec![Policy::hardened(), Policy::as_drawn(), approved]
}

#[test]
fn every_state_and_every_row_that_may_be_taken_stands_in_both() {
    for policy in policies() {
        let control = ControlModel::of(&policy);
        // An approver comes before these two.
        let never: &[&str] = if policy.rules.approver { &["T20", "H08"] } else { &[] };
        let (promela, tla) = (promela::promela(&control), tla::module(&control));
        for row in TRANSITIONS {
            let may = row.switch.is_on(&policy) && !never.contains(&row.id);
            assert_eq!(promela.contains(&format!("row = {}", row.id)), may, "{} of {promela}", row.id);
            assert_eq!(tla.contains(&format!("row' = \"{}\"\n", row.id)), may, "{} of {tla}", row.id);
        }
        for phase in Phase::ALL {
            assert!(promela.contains(phase.name()) && tla.contains(&format!("\"{phase}\"")), "{phase}");
        }
    }
}

#[test]
fn every_claim_is_stated_or_left_out_with_a_reason() {
    let left_out: Vec<&str> = claims::NOT_EXPORTED.iter().flat_map(|(ids, _)| ids.iter().copied()).collect();
    for (policy, claim) in
        policies().iter().flat_map(|policy| CLAIMS.iter().map(move |claim| (policy, claim)))
    {
        let stated = claims::form(policy, claim).is_some();
        assert_ne!(stated, left_out.contains(&claim.id), "{}: state it, or say why it is not", claim.id);
    }
    let known = |id: &str| CLAIMS.iter().any(|claim| claim.id == id);
    assert!(left_out.iter().chain(claims::PARTLY_EXPORTED.iter().map(|(id, _)| id)).all(|id| known(id)));
}

#[test]
fn the_same_policy_gives_the_same_text() {
    for policy in policies() {
        let [one, other] = [(); 2].map(|()| ControlModel::of(&policy));
        assert_eq!(promela::promela(&one), promela::promela(&other));
        assert_eq!(tla::module(&one), tla::module(&other));
    }
}

/// Promela sets one variable after the other, TLA+ all at once: they mean the same only if no value is read that was set.
#[test]
fn no_step_reads_what_it_has_set() {
    for policy in policies() {
        for step in ControlModel::of(&policy).steps {
            let mut set: Vec<Var> = Vec::new();
            for (var, values) in &step.effects.sets {
                let mut read = Vec::new();
                values.iter().for_each(|value: &Expr| value.reads(&mut read));
                assert!(read.iter().all(|read| !set.contains(read)), "{}: {var:?}", step.name);
                set.push(*var);
            }
        }
    }
}

/// Promela has one namespace for variables and all values; neither language takes other than ASCII everywhere.
#[test]
fn every_name_means_one_thing() {
    for policy in policies() {
        let control = ControlModel::of(&policy);
        let mut names: Vec<&str> = control.vars.iter().map(|var| var.name()).collect();
        for (name, values) in control.types() {
            names.push(name);
            names.extend(values);
        }
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len());
        let steps: BTreeSet<&str> = control.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps.len(), control.steps.len());
        assert!(promela::promela(&control).is_ascii() && tla::module(&control).is_ascii());
    }
}

#[test]
fn what_nobody_reads_is_no_variable() {
    let vars = |policy: &Policy| ControlModel::of(policy).vars;
    let (hardened, as_drawn) = (vars(&Policy::hardened()), vars(&Policy::as_drawn()));
    assert!(hardened.contains(&Var::Repairs) && !as_drawn.contains(&Var::Repairs));
    assert!(hardened.contains(&Var::Cancelled) && !as_drawn.contains(&Var::Cancelled));
}

#[test]
fn an_empty_cell_is_never_drawn() {
    let mut policy = Policy::hardened();
    policy.thresholds.proceed_from = policy.thresholds.redebate_below;
    let drawn = |policy: &Policy| {
        let control = ControlModel::of(policy);
        let taken = control.steps.iter().find(|step| step.row.id == "T12").map(|step| &step.effects.sets);
        taken.and_then(|sets| sets.get(&Var::Consensus)).map_or(0, Vec::len)
    };
    assert_eq!([drawn(&policy), drawn(&Policy::hardened())], [2, 3]);
    assert!(matches!(Var::Consensus.domain(&policy), Domain::OneOf("Cell", _)));
}
