//! Calls the functions of a model again and compares the results, at a sample of the states.

use super::error::ExpandErrorKind;
use super::expand::{Expander, SearchSnapshot, packs, satisfied, triggered};
use super::fingerprint::fingerprint;
use super::model::FairModel;
use std::fmt::Debug;
use std::hash::Hash;

/// Whether the determinism of the model is checked at this state: the first 1,000 states, and one in 64 of the others.
pub(super) fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    /// Calls the functions of a state again. Returns its actions again.
    pub(super) fn check_state(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        state: &M::State,
        actions: &Vec<M::Action>,
    ) -> Result<Vec<M::Action>, ExpandErrorKind> {
        let (model, properties) = (known.model, known.properties);
        self.function = "actions";
        let mut again = Vec::new();
        model.actions(state, &mut again);
        same("actions", actions, &again)?;
        self.function = "is_triggered";
        let triggers = || triggered(model, properties, state).collect::<Vec<_>>();
        same("is_triggered", &triggers(), &triggers())?;
        self.function = "is_satisfied";
        let satisfies = || satisfied(model, properties, state).collect::<Vec<_>>();
        same("is_satisfied", &satisfies(), &satisfies())?;
        self.function = "observe";
        let mut twice = self.observations.clone();
        self.observations.clear();
        twice.clear();
        model.observe(state, known.seen, &mut self.observations);
        model.observe(state, known.seen, &mut twice);
        same("observe", &self.observations, &twice)?;
        Ok(again)
    }

    /// Takes a step again, and packs its successor. The observations of the first time are in `observations`.
    pub(super) fn check_step(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        state: &M::State,
        action: M::Action,
        next: Option<&M::State>,
    ) -> Result<(), ExpandErrorKind> {
        let mut observations = self.observations.clone();
        observations.clear();
        let again = known.model.step(state, action, &mut observations);
        same("next_state", &next, &again.as_ref())?;
        same("next_state", &self.observations, &observations)?;
        self.function = "hash";
        same("hash", &next.map(fingerprint), &again.as_ref().map(fingerprint))?;
        if let (true, Some(next)) = (known.packs, next) {
            self.function = "pack";
            packs(known.model, next)?;
        }
        Ok(())
    }
}

pub(super) fn same<T: Debug + PartialEq>(
    function: &'static str,
    first: &T,
    second: &T,
) -> Result<(), ExpandErrorKind> {
    if first == second { Ok(()) } else { Err(ExpandErrorKind::differs(function, first, second)) }
}
