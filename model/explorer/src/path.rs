//! Paths to witnesses, rebuilt by running the model again.

use super::Exploration;
use super::error::{ErrorLocation, ExpandErrorKind, ModelError, short};
use super::fingerprint::fingerprint;
use super::model::FairModel;
use super::observations::ObservationSet;
use super::visited::NONE;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first witness of an observation. Observations of a state's actions come before those of its new successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The state, or the state in which the action was tried.
    pub node: u32,
    /// The position of the action among all actions of the state, whether taken or refused; `None` if the state itself
    /// is the witness.
    pub action: Option<u32>,
}

/// A shortest path from an initial state.
pub struct Path<M: FairModel> {
    /// The initial state.
    pub start: M::State,
    /// The actions, each with the state after it.
    pub steps: Vec<(M::Action, M::State)>,
    /// The action that was refused at the end, if that is the witness.
    pub refused: Option<M::Action>,
}

impl<M: FairModel> Path<M> {
    /// The last state.
    #[must_use]
    pub fn last(&self) -> &M::State {
        self.steps.last().map_or(&self.start, |(_, state)| state)
    }

    /// The actions, including the refused one.
    #[must_use]
    pub fn into_actions(self) -> Vec<M::Action> {
        self.steps.into_iter().map(|(action, _)| action).chain(self.refused).collect()
    }
}

/// The step at a position among the steps inside of the boundary.
pub fn step_at<M: FairModel>(model: &M, state: &M::State, position: u16) -> Option<(M::Action, M::State)> {
    let mut observations = ObservationSet::empty(model.observation_count());
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    let steps = actions.into_iter().enumerate();
    let steps = steps.filter_map(|(i, action)| Some((i, model.step(state, action, &mut observations)?)));
    let mut steps = steps.filter(|(_, next)| model.within_boundary(next));
    let (i, next) = steps.nth(position.into())?;
    Some((action_at(model, state, i)?, next))
}

/// The action at a position among all actions of a state.
pub(super) fn action_at<M: FairModel>(model: &M, state: &M::State, position: usize) -> Option<M::Action> {
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    (position < actions.len()).then(|| actions.swap_remove(position))
}

impl Exploration {
    /// Rebuilds a shortest path to a node. It is the same for every number of threads.
    ///
    /// # Errors
    ///
    /// [`ModelError`] if the model behaves differently from the exploration.
    pub fn path_to<M: FairModel>(&self, model: &M, node: u32) -> Result<Path<M>, ModelError>
    where
        M::State: Debug + Hash,
    {
        self.guarded(|| self.rebuild(model, node))
    }

    /// Rebuilds a shortest path to a witness, including its action.
    ///
    /// # Errors
    ///
    /// As [`path_to`](Self::path_to).
    pub fn path_to_witness<M: FairModel>(&self, model: &M, witness: Witness) -> Result<Path<M>, ModelError>
    where
        M::State: Debug + Hash,
    {
        self.guarded(|| {
            let mut path = self.rebuild(model, witness.node)?;
            if let Some(position) = witness.action {
                let ask = || action_at(model, path.last(), position as usize);
                let (Some(action), Some(again)) = (ask(), ask()) else {
                    return Err(changed("actions", "so many", "fewer", path.last()));
                };
                match model.step(path.last(), again, &mut ObservationSet::empty(model.observation_count())) {
                    Some(next) => path.steps.push((action, next)),
                    None => path.refused = Some(action),
                }
            }
            Ok(path)
        })
    }

    fn guarded<T>(&self, rebuild: impl FnOnce() -> Result<T, ModelError>) -> Result<T, ModelError> {
        let outcome = catch_unwind(AssertUnwindSafe(rebuild));
        outcome.unwrap_or_else(|payload| {
            Err(ExpandErrorKind::panicked("a way found before", &*payload).at(ErrorLocation::default()))
        })
    }

    fn rebuild<M: FairModel>(&self, model: &M, node: u32) -> Result<Path<M>, ModelError>
    where
        M::State: Debug + Hash,
    {
        let mut ways = Vec::new();
        let mut root = node;
        let initial = loop {
            match self.visited.from(root) {
                (NONE, position) => break position,
                (parent, position) => {
                    ways.push((root, position));
                    root = parent;
                }
            }
        };
        let is = |state: &M::State, node| {
            self.visited.find(fingerprint(state), |same| same.node() == node).is_ok()
        };
        let start = model.init_states().into_iter().nth(initial.into());
        let Some(start) = start.filter(|state| is(state, root)) else {
            let (first, second) = ("a state".to_owned(), "another one".to_owned());
            let what = ExpandErrorKind::NotDeterministic { function: "init_states", first, second };
            return Err(what.at(ErrorLocation::default()));
        };
        let mut path = Path { start, steps: Vec::new(), refused: None };
        for (node, position) in ways.into_iter().rev() {
            match step_at(model, path.last(), position) {
                Some(step) if is(&step.1, node) => path.steps.push(step),
                Some((_, state)) => {
                    return Err(changed("next_state", "another state", &short(&state), path.last()));
                }
                None => return Err(changed("next_state", "a step", "none", path.last())),
            }
        }
        Ok(path)
    }
}

impl ModelError {
    /// The error of a model that behaves differently from the exploration.
    pub fn changed(function: &'static str, first: &str, second: &str, state: &impl Debug) -> Self {
        changed(function, first, second, state)
    }
}

fn changed(function: &'static str, first: &str, second: &str, state: &impl Debug) -> ModelError {
    let place = ErrorLocation { state: Some(short(state)), ..ErrorLocation::default() };
    ExpandErrorKind::NotDeterministic { function, first: first.to_owned(), second: second.to_owned() }
        .at(place)
}
