//! Reaching: a shortest way to something that a state or a step shows.

use super::Counterexample;
use crate::contracts::refused_so;
use crate::coverage::{MARKS, Mark};
use crate::explore::{self, Ended, Marks, ModelError, Options, Progress};
use crate::product::KernelModel;
use crate::scopes::{Model, Scope};
use crate::subject::Subject;

/// How looking for a mark ended in one model.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The model's name.
    pub model: &'static str,
    /// Different products of state and history that were looked at.
    pub products: usize,
    /// The most steps that any of them is away from the start.
    pub depth: usize,
    /// [`Ended::Stopped`] if the mark was seen.
    pub ended: Ended,
    /// A shortest way there; its last input shows the mark, or leads to where it is shown. None if the mark was not seen.
    pub way: Option<Counterexample>,
}

/// Explores a model until it shows a mark.
///
/// # Errors
/// A [`ModelError`] if the model does not behave as one.
pub fn reach(
    subject: &Subject,
    model: Model,
    scope: &Scope,
    mark: Mark,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Reached, ModelError> {
    let kernel = KernelModel::new(subject.clone(), model, scope).packed(options.budget.memory.is_some());
    let mut stop_at = Marks::none_of(MARKS);
    stop_at.show(mark.number());
    let exploration = explore::explore(&kernel, &Options { stop_at, ..options.clone() }, progress)?;
    let mut shortest = None;
    if let Some(witness) = exploration.witness(mark.number()) {
        let way = exploration.path_to_witness(&kernel, witness)?.into_actions();
        let (mut way, state) = Counterexample::of(&kernel, &way, None);
        // Most refusals are seen by trying inputs out of place in a state, which are no steps of the model.
        if witness.action.is_none() && matches!(mark, Mark::Refusal(_)) {
            way.inputs.extend(refused_so(kernel.subject(), &state, mark));
        }
        shortest = Some(way);
    }
    Ok(Reached {
        model: model.name,
        products: exploration.states(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        way: shortest,
    })
}
