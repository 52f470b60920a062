//! Search options of `check`, and progress of an exploration.

use crate::cli::args::{MemoryBytes, duration, memory_size, positive_number};
use crate::cli::parallel::{jobs, run_tasks};
use crate::cli::progress::ProgressLine;
use indicatif::{BinaryBytes, HumanCount, MultiProgress};
use miette::{Result, miette};
use orchestrion_explorer::{Options, Progress, ResourceLimits, ResumeError, StateStorage};
use orchestrion_model::check::ModelRun;
use orchestrion_model::induction::{ENUMERATIONS, Enumeration};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{COMPOSED, MODELS, Model, Scope};
use orchestrion_report::text::sanitize;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Search options.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub(in crate::cli) struct SearchArgs {
    /// Explore only this model, in `check` also an enumeration of states for induction; may be repeated [default: all except composed].
    #[arg(long = "model", value_name = "MODEL", value_parser = model_names())]
    models: Vec<String>,
    /// Explore with this many threads [default: the number of processors]. The result does not depend on it.
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    jobs: Option<NonZeroUsize>,
    /// Store whole states instead of 64-bit fingerprints. Excludes hash collisions, and needs much more memory.
    #[arg(long)]
    exact: bool,
    /// Stop a model at this number of states. What it did not decide by then is inconclusive.
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    max_states: Option<NonZeroUsize>,
    /// Stop a model at this memory limit (for example 2GiB). What it did not decide by then is inconclusive.
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    max_memory: Option<MemoryBytes>,
    /// Stop a model after this time (for example 90s or 10m). What it did not decide by then is inconclusive.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
}

const MODEL_HELP: &str = "this is a bug of the model or the kernel, not of your policy; please report it";
const CHECKPOINT_HELP: &str =
    "choose another folder with --checkpoint, or delete this file to explore the model from the start";

fn model_names() -> Vec<&'static str> {
    let models = MODELS.iter().chain([&COMPOSED]).map(|model| model.name);
    models.chain(ENUMERATIONS.iter().map(|enumeration| enumeration.model.name)).collect()
}

impl SearchArgs {
    /// Whether a resource limit ends explorations.
    pub(super) const fn has_limit(&self) -> bool {
        self.max_states.is_some() || self.max_memory.is_some() || self.timeout.is_some()
    }

    /// Whether models are named.
    pub(in crate::cli) const fn names_models(&self) -> bool {
        !self.models.is_empty()
    }

    /// Returns the option that names models, if it is given.
    pub(in crate::cli) fn model_option(&self) -> Option<&'static str> {
        self.names_models().then_some("--model")
    }

    /// Returns the models to explore, each once.
    pub(in crate::cli) fn models(&self) -> Vec<Model> {
        let named = |model: &Model| self.models.iter().any(|name| name == model.name);
        match self.models.as_slice() {
            [] => MODELS.to_vec(),
            _ => MODELS.into_iter().chain([COMPOSED]).filter(named).collect(),
        }
    }

    /// Returns the time limit.
    pub(super) const fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns the enumerations to check, each once.
    pub(in crate::cli) fn enumerations(&self) -> Vec<Enumeration> {
        let is_named =
            |enumeration: &Enumeration| self.models.iter().any(|name| name == enumeration.model.name);
        ENUMERATIONS
            .into_iter()
            .filter(|enumeration| self.models.is_empty() || is_named(enumeration))
            .collect()
    }

    /// Returns the number of threads.
    pub(in crate::cli) fn jobs(&self) -> NonZeroUsize {
        jobs(self.jobs)
    }

    /// Returns how many of these models are explored at the same time, and the number of threads of each. Two that share the threads
    /// take less time than one after the other with all threads, which then wait for each other. A limit of time or memory is that of
    /// one model.
    fn share_threads(&self, models: usize) -> (NonZeroUsize, NonZeroUsize) {
        let at_once = if self.has_limit() { 1 } else { models.min(2) };
        let at_once = NonZeroUsize::new(at_once).unwrap_or(NonZeroUsize::MIN).min(self.jobs());
        let threads = NonZeroUsize::new(self.jobs().get().div_ceil(at_once.get()));
        (at_once, threads.unwrap_or(NonZeroUsize::MIN))
    }

    /// Returns the options of the explorer with this number of threads.
    fn options(&self, threads: NonZeroUsize) -> Options {
        Options {
            threads,
            storage: if self.exact { StateStorage::Exact } else { StateStorage::Fingerprint },
            limits: ResourceLimits {
                memory_bytes: self.max_memory.map(|size| usize::try_from(size.0).unwrap_or(usize::MAX)),
                time: self.timeout,
                states: self.max_states.map(NonZeroUsize::get),
            },
            ..Options::default()
        }
    }

    /// Explores models under a policy, and shows the progress.
    pub(in crate::cli) fn explore_models<T: Send, E: Into<ResumeError>>(
        &self,
        models: &[Model],
        policy: &str,
        quiet: bool,
        explore: impl Fn(Model, &Options, &mut dyn FnMut(&Progress)) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>> {
        let (at_once, threads) = self.share_threads(models.len());
        let lines = MultiProgress::new();
        run_tasks(models, at_once, |model| {
            let mut line = ProgressLine::beside(&lines, model.name, quiet);
            let explored = explore(*model, &self.options(threads), &mut |progress| {
                line.show(progress.time, format_progress(progress));
            });
            line.finish();
            explored.map_err(|error| {
                let (help, error) = match error.into() {
                    ResumeError::Model(error) => (MODEL_HELP, error.to_string()),
                    ResumeError::Checkpoint(error) => (CHECKPOINT_HELP, sanitize(&error.to_string())),
                };
                let name = model.name;
                miette!(help = help, "cannot check the model `{name}` under the policy {policy}: {error}")
            })
        })
    }

    /// Checks enumerations of states under a policy.
    pub(super) fn check_enumerations(
        &self,
        enumerations: &[Enumeration],
        kernel: &KernelUnderTest,
        scope: &Scope,
    ) -> Vec<ModelRun> {
        let (at_once, threads) = self.share_threads(enumerations.len());
        let check =
            |enumeration: &Enumeration| Ok::<_, Infallible>(enumeration.check(kernel, scope, threads));
        let Ok(runs) = run_tasks(enumerations, at_once, check);
        runs
    }
}

fn format_progress(progress: &Progress) -> String {
    format!(
        "{:.0} s, {} product states, {}/s, depth {}, {} in the frontier, {}",
        progress.time.as_secs_f64(),
        HumanCount(progress.states as u64),
        HumanCount(progress.rate() as u64),
        progress.depth,
        HumanCount(progress.frontier as u64),
        BinaryBytes(progress.bytes as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        search: SearchArgs,
    }

    #[test]
    fn two_models_share_the_threads_unless_there_is_a_limit() {
        let shared = |args: &[&str], models: usize| {
            let command = Command::try_parse_from(["check"].iter().chain(args)).unwrap();
            let (at_once, threads) = command.search.share_threads(models);
            (at_once.get(), threads.get())
        };
        assert_eq!(shared(&["--jobs", "1"], 20), (1, 1));
        assert_eq!(shared(&["--jobs", "2"], 20), (2, 1));
        assert_eq!(shared(&["--jobs", "5"], 20), (2, 3));
        assert_eq!(shared(&["--jobs", "4"], 1), (1, 4), "one model has all threads");
        assert_eq!(shared(&["--jobs", "4"], 0), (1, 4));
        assert_eq!(shared(&["--jobs", "4", "--max-memory", "1GiB"], 20), (1, 4));
    }
}
