//! Reachability: a shortest path to an observation.

use super::Counterexample;
use crate::contracts::find_refused_input;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::KernelModel;
use crate::scopes::{Model, Scope};
use orchestrion_explorer::{ModelError, ObservationSet, Options, Progress, Termination};

/// The result of a search for an observation in one model.
#[derive(Clone, Debug)]
pub struct ReachResult {
    /// The name of the model.
    pub model: &'static str,
    /// The number of distinct products of state and history.
    pub products: usize,
    /// The largest distance of a product from the initial state, in steps.
    pub depth: usize,
    /// [`Termination::ObservationFound`] if the observation occurred.
    pub ended: Termination,
    /// A shortest path. Its last input has the observation, or leads to the state that has it. `None` if the
    /// observation did not occur.
    pub path: Option<Counterexample>,
}

/// Explores a model until an observation occurs.
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn reach(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    mark: Observation,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ReachResult, ModelError> {
    let kernel =
        KernelModel::new(subject.clone(), model, scope).with_packing(options.limits.memory_bytes.is_some());
    let mut stop_at = ObservationSet::empty(OBSERVATION_COUNT);
    stop_at.insert(mark.index());
    let exploration =
        orchestrion_explorer::explore(&kernel, &Options { stop_at, ..options.clone() }, progress)?;
    let mut shortest = None;
    if let Some(witness) = exploration.witness(mark.index()) {
        let way = exploration.path_to_witness(&kernel, witness)?.into_actions();
        let (mut way, state) = Counterexample::of(kernel.subject(), &way, None);
        // Most refusals result from probing inputs, which are no steps of the model.
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
