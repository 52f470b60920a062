//! Both exports contain the whole table, and every claim or the reason why it is missing.

use super::ast::{Domain, Expr, Var};
use super::*;
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Phase;
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::policy::AdditionalDebater;
use std::collections::BTreeSet;

/// Both built-in policies, one with an approver, and one with additional debaters.
fn policies() -> Vec<Policy> {
    let mut approved = Policy::hardened();
    approved.name = "approved".to_string();
    approved.rules.approver = true;
    let mut debated = Policy::hardened();
    debated.name = "debated".to_string();
    debated.additional_debaters = ["validation", "compliance"].map(AdditionalDebater::new).to_vec();
    vec![Policy::hardened(), Policy::as_drawn(), approved, debated]
}

#[test]
fn exports_contain_every_phase_and_row() {
    for policy in policies() {
        let control = ControlModel::new(&policy);
        // A row with an approver or with additional debaters is above each of these two.
        let approver: &[&str] = if policy.rules.approver { &["T20", "H08"] } else { &[] };
        let debaters: &[&str] = if policy.additional_debaters.is_empty() { &[] } else { &["T12", "H03"] };
        let never = [approver, debaters, &control::ROWS_OF_PARALLEL_TASKS].concat();
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
fn every_claim_is_exported_or_excluded() {
    let excluded: Vec<&str> = claims::NOT_EXPORTED.iter().flat_map(|(ids, _)| ids.iter().copied()).collect();
    for (policy, claim) in
        policies().iter().flat_map(|policy| CLAIMS.iter().map(move |claim| (policy, claim)))
    {
        let exported = claims::form(policy, claim).is_some();
        assert_ne!(
            exported,
            excluded.contains(&claim.id),
            "{}: expected an export or a reason, not both",
            claim.id
        );
    }
    let known = |id: &str| CLAIMS.iter().any(|claim| claim.id == id);
    assert!(excluded.iter().chain(claims::PARTLY_EXPORTED.iter().map(|(id, _)| id)).all(|id| known(id)));
}

#[test]
fn exports_are_deterministic() {
    for policy in policies() {
        let [one, other] = [(); 2].map(|()| ControlModel::new(&policy));
        assert_eq!(promela::promela(&one), promela::promela(&other));
        assert_eq!(tla::module(&one), tla::module(&other));
    }
}

/// Promela assigns variables in sequence, TLA+ at once. They agree only if no assigned variable is read later.
#[test]
fn steps_read_variables_before_setting_them() {
    for policy in policies() {
        for step in ControlModel::new(&policy).steps {
            let mut set: Vec<Var> = Vec::new();
            for (var, values) in &step.effects.sets {
                let mut read = Vec::new();
                values.iter().for_each(|value: &Expr| value.collect_vars(&mut read));
                assert!(read.iter().all(|read| !set.contains(read)), "{}: {var:?}", step.name);
                set.push(*var);
            }
        }
    }
}

/// Promela has one namespace for variables and values. Both languages accept only ASCII everywhere.
#[test]
fn exported_names_are_unique_ascii() {
    for policy in policies() {
        let control = ControlModel::new(&policy);
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
fn unread_variables_are_omitted() {
    let vars = |policy: &Policy| ControlModel::new(policy).vars;
    let (hardened, as_drawn) = (vars(&Policy::hardened()), vars(&Policy::as_drawn()));
    assert!(hardened.contains(&Var::Repairs) && !as_drawn.contains(&Var::Repairs));
    assert!(hardened.contains(&Var::Cancelled) && !as_drawn.contains(&Var::Cancelled));
}

#[test]
fn empty_cells_are_never_chosen() {
    let mut policy = Policy::hardened();
    policy.thresholds.proceed_from = policy.thresholds.redebate_below;
    let chosen = |policy: &Policy| {
        let control = ControlModel::new(policy);
        let taken = control.steps.iter().find(|step| step.row.id == "T12").map(|step| &step.effects.sets);
        taken.and_then(|sets| sets.get(&Var::Consensus)).map_or(0, Vec::len)
    };
    assert_eq!([chosen(&policy), chosen(&Policy::hardened())], [2, 3]);
    assert!(matches!(Var::Consensus.domain(&policy), Domain::OneOf("Cell", _)));
}
