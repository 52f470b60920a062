//! Reaching: a shortest way to something that a state or a step shows.

use super::Counterexample;
use crate::contracts::find_refused_input;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::KernelModel;
use crate::scopes::{Model, Scope};
use orchestrion_explorer::{ModelError, ObservationSet, Options, Progress, Termination};

/// How looking for a mark ended in one model.
#[derive(Clone, Debug)]
pub struct ReachResult {
    /// The model's name.
    pub model: &'static str,
    /// Different products of state and history that were looked at.
    pub products: usize,
    /// The most steps that any of them is away from the start.
    pub depth: usize,
    /// [`Ended::Stopped`] if the mark was seen.
    pub ended: Termination,
    /// A shortest way there; its last input shows the mark, or leads to where it is shown. None if the mark was not seen.
    pub path: Option<Counterexample>,
}

/// Explores a model until it shows a mark.
///
/// # Errors
/// A [`ModelError`] if the model does not behave as one.
pub fn reach(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    mark: Observation,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ReachResult, ModelError> {
    let kernel =
        KernelModel::new(subject.clone(), model, scope).with_packing(options.budget.memory.is_some());
    let mut stop_at = ObservationSet::empty(OBSERVATION_COUNT);
    stop_at.insert(mark.index());
    let exploration =
        orchestrion_explorer::explore(&kernel, &Options { stop_at, ..options.clone() }, progress)?;
    let mut shortest = None;
    if let Some(witness) = exploration.witness(mark.index()) {
        let way = exploration.path_to_witness(&kernel, witness)?.into_actions();
        let (mut way, state) = Counterexample::of(&kernel, &way, None);
        // Most refusals are seen by trying inputs out of place in a state, which are no steps of the model.
        if witness.action.is_none() && matches!(mark, Observation::Refusal(_)) {
            way.inputs.extend(find_refused_input(kernel.subject(), &state, mark));
        }
        shortest = Some(way);
    }
    Ok(ReachResult {
        model: model.name,
        products: exploration.states(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        path: shortest,
    })
}
