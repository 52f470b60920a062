//! Explorations of small models, compared with a naive search that shares no code with the engine.

mod checkpoints;
mod errors;
mod limits;
mod random_graphs;

use super::{Exploration, FairModel, ObservationSet, Options, explore};
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;

fn threads(threads: usize) -> Options {
    Options { threads: NonZeroUsize::new(threads).unwrap(), ..Options::default() }
}

fn explored<M>(model: &M, options: &Options) -> Exploration
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    explore(model, options, &mut |_| {}).unwrap()
}

fn only(observation: usize, of: usize) -> ObservationSet {
    let mut observations = ObservationSet::empty(of);
    observations.insert(observation);
    observations
}
