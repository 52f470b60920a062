//! Explorations that continue after a kill: now and then, the progress is written to a file.
//!
//! A checkpoint has all that the search knows between two batches: fingerprints, parents, graph, witnesses and the packed
//! frontier. States before the frontier are not stored; paths are rebuilt by running the model. So a model needs
//! [`FairModel::pack`], and [`FairModel::save_counts`] if it counts.

mod decode;
mod encode;
mod error;
mod file;

pub use error::{CheckpointError, ResumeError};

use crate::Exploration;
use crate::model::FairModel;
use crate::options::{Options, Progress, StateStorage, Termination};
use crate::search::{RunError, Search};
use std::fmt::Debug;
use std::hash::Hash;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where and when the progress of an exploration is written.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file. A draft is written beside it and then takes its name, so a kill at any time leaves a complete file.
    pub file: PathBuf,
    /// What the exploration depends on, as names with values: a checkpoint with other values is refused.
    pub identity: Vec<(&'static str, String)>,
    /// The number of new states after which a checkpoint is written.
    pub states: usize,
    /// The time after which a checkpoint is written. It is prolonged if writing takes more than a tenth of it.
    pub time: Duration,
}

/// Explores as [`explore`](crate::explore()) does, and writes checkpoints. Continues from the checkpoint if there is one. The result
/// is the same as without interruption, except for the peak memory. A time limit counts from the start of this call.
///
/// # Errors
///
/// [`ResumeError`] if the model cannot be explored, or if the checkpoint is damaged, belongs to another exploration or cannot be
/// written.
pub fn explore_with_checkpoints<M>(
    model: &M,
    options: &Options,
    checkpoint: &Checkpoint,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Exploration, ResumeError>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    if options.storage == StateStorage::Exact {
        return Err(CheckpointError::ExactStorage.into());
    }
    let content = file::read(checkpoint)?;
    let mut search = Search::new(model, options);
    let mut schedule = Schedule::new(checkpoint);
    let outcome = match search.start() {
        Ok(Some(observation)) => Ok(Termination::ObservationFound { observation }),
        Ok(None) => {
            if !search.packs && search.waiting() > 0 {
                return Err(CheckpointError::NotPacked.into());
            }
            if let Some(content) = content {
                decode::restore(&mut search, &content, checkpoint)?;
            }
            schedule.wrote(search.states.len(), Duration::ZERO);
            search.run(progress, &mut |search: &Search<'_, M>| schedule.write_if_due(search))
        }
        Err(fault) => Err(RunError::Model(fault)),
    };
    match outcome {
        Ok(Termination::Exhausted) => {
            schedule.write(&search)?;
            Ok(search.finish(Termination::Exhausted))
        }
        Ok(ended @ (Termination::ObservationFound { .. } | Termination::LimitReached { .. })) => {
            Ok(search.finish(ended))
        }
        Err(RunError::Model(fault)) => Err(ResumeError::Model(search.explain(fault))),
        Err(RunError::Boundary(error)) => Err(ResumeError::Checkpoint(error)),
    }
}

/// When the next checkpoint is due.
struct Schedule<'a> {
    checkpoint: &'a Checkpoint,
    written_at: Instant,
    /// The number of states in the last checkpoint.
    states: usize,
    /// The time that the last checkpoint took.
    took: Duration,
}

impl<'a> Schedule<'a> {
    fn new(checkpoint: &'a Checkpoint) -> Self {
        Self { checkpoint, written_at: Instant::now(), states: 0, took: Duration::ZERO }
    }

    fn wrote(&mut self, states: usize, took: Duration) {
        (self.states, self.took, self.written_at) = (states, took, Instant::now());
    }

    fn write_if_due<M: FairModel>(&mut self, search: &Search<'_, M>) -> Result<(), CheckpointError> {
        let time = self.checkpoint.time.max(self.took * 9);
        let new = search.states.len() - self.states;
        if new >= self.checkpoint.states || self.written_at.elapsed() >= time {
            self.write(search)?;
        }
        Ok(())
    }

    fn write<M: FairModel>(&mut self, search: &Search<'_, M>) -> Result<(), CheckpointError> {
        let began = Instant::now();
        file::write(self.checkpoint, |out| encode::write(search, out))?;
        self.wrote(search.states.len(), began.elapsed());
        Ok(())
    }
}
