//! How a check searches, and how it tells how far it is.

use crate::cli::files;
use bytesize::ByteSize;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use jiff::SignedDuration;
use miette::{Result, miette};
use orchestrion_explorer::{ModelError, Options, Progress, ResourceLimits, StateStorage};
use orchestrion_model::scopes::{COMPOSED, MODELS, Model};
use std::num::NonZeroUsize;
use std::time::Duration;

/// How to search.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchArgs {
    /// Explore this model only; may be repeated. Without it, every model but `composed`.
    #[arg(long = "model", value_name = "MODEL", value_parser = names())]
    models: Vec<String>,
    /// Threads that explore; as many as there are cores, unless said otherwise. What is found does not depend on it.
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Keep whole states instead of 64-bit fingerprints: nothing can be missed by a collision, at many times the memory.
    #[arg(long)]
    exact: bool,
    /// Give a model up as inconclusive once it has so many states.
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one)]
    max_states: Option<NonZeroUsize>,
    /// Give a model up as inconclusive once it takes so much memory, such as 2GiB.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    max_memory: Option<ByteSize>,
    /// Give a model up as inconclusive after so long, such as 90s or 10m.
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
}

fn names() -> Vec<&'static str> {
    MODELS.iter().chain([&COMPOSED]).map(|model| model.name).collect()
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, 1 at least".to_owned())
}

fn memory(text: &str) -> Result<ByteSize, String> {
    const LEAST: ByteSize = ByteSize::mib(1);
    let read: Option<ByteSize> = text.parse().ok();
    read.filter(|size| *size >= LEAST)
        .ok_or_else(|| format!("expected a size with its unit, such as 512MiB or 2GiB, and {LEAST} at least"))
}

fn time(text: &str) -> Result<Duration, String> {
    let read: Option<SignedDuration> = text.parse().ok();
    read.filter(SignedDuration::is_positive)
        .and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| "expected a time with its unit, such as 90s, 10m or 1h 30m".to_owned())
}

impl SearchArgs {
    /// The models to be explored, each once.
    pub(super) fn models(&self) -> Vec<Model> {
        let named = |model: &Model| self.models.iter().any(|name| name == model.name);
        match self.models.as_slice() {
            [] => MODELS.to_vec(),
            _ => MODELS.into_iter().chain([COMPOSED]).filter(named).collect(),
        }
    }

    /// The threads to explore with.
    pub(super) fn jobs(&self) -> NonZeroUsize {
        let jobs = self.jobs.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        // More threads than any machine has cores only cost their stacks.
        jobs.min(NonZeroUsize::MIN.saturating_add(255))
    }

    /// The same for the explorer.
    pub(super) fn options(&self) -> Options {
        Options {
            threads: self.jobs(),
            store: if self.exact { StateStorage::Exact } else { StateStorage::Fingerprint },
            budget: ResourceLimits {
                memory: self.max_memory.map(|size| usize::try_from(size.as_u64()).unwrap_or(usize::MAX)),
                time: self.timeout,
                states: self.max_states.map(NonZeroUsize::get),
            },
            ..Options::default()
        }
    }

    /// Explores one model after the other under a policy, telling how far it is while somebody watches.
    pub(super) fn explore_models<T>(
        &self,
        policy: &str,
        quiet: bool,
        explore: impl Fn(Model, &Options, &mut dyn FnMut(&Progress)) -> Result<T, ModelError>,
    ) -> Result<Vec<T>> {
        let explored = |model: Model| {
            let (bar, mut pulse) = (bar(model.name), ProgressTimer::default());
            let explored = explore(model, &self.options(), &mut |progress| {
                let far = format_progress(progress);
                if bar.is_hidden() && !quiet && pulse.is_due(progress.time) {
                    files::print_error(&format!("{}: {far}", model.name));
                }
                bar.set_message(far);
                bar.tick();
            });
            bar.finish_and_clear();
            explored.map_err(|error| {
                miette!(
                    help = "this is a fault of the model or the kernel, not of your policy: please report it",
                    "the model `{}` cannot be judged under the policy {policy}: {error}",
                    model.name,
                )
            })
        };
        self.models().into_iter().map(explored).collect()
    }
}

/// When it is time to say again how far long work is, where no bar is drawn.
#[derive(Debug, Default)]
pub(super) struct ProgressTimer {
    told: Duration,
}

impl ProgressTimer {
    const EVERY: Duration = Duration::from_secs(30);

    /// Whether it is, so long after the beginning.
    pub(super) fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed.saturating_sub(self.told) >= Self::EVERY;
        if is_due {
            self.told = elapsed;
        }
        is_due
    }
}

/// A line that tells how far an exploration is, drawn where it is watched.
fn bar(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(name);
    bar
}

fn format_progress(progress: &Progress) -> String {
    format!(
        "{:.0} s, {} products, {}/s, depth {}, {} waiting, {}",
        progress.time.as_secs_f64(),
        HumanCount(progress.states as u64),
        HumanCount(progress.rate() as u64),
        progress.depth,
        HumanCount(progress.waiting as u64),
        ByteSize(progress.bytes as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::ProgressTimer;
    use std::time::Duration;

    #[test]
    fn how_far_it_is_is_told_every_half_a_minute_and_not_more_often() {
        let mut pulse = ProgressTimer::default();
        let seconds = [0, 12, 29, 30, 31, 59, 61, 90, 91, 500, 501];
        let due = seconds.into_iter().filter(|at| pulse.is_due(Duration::from_secs(*at)));
        assert_eq!(due.collect::<Vec<_>>(), [30, 61, 91, 500]);
    }
}
