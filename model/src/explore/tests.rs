//! Explorations of small models, held against a plain search that shares nothing with the engine.

mod bad;
mod bounds;
mod drawn;

use super::{Exploration, FairModel, Marks, Options, explore};
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

fn only(mark: usize, of: usize) -> Marks {
    let mut marks = Marks::none_of(of);
    marks.show(mark);
    marks
}
