//! Search options of `check`, and progress of an exploration.

use crate::cli::args::duration;
use crate::cli::output;
use indicatif::{BinaryBytes, HumanCount, ProgressBar, ProgressStyle};
use miette::{Result, miette};
use orchestrion_explorer::{Options, Progress, ResourceLimits, ResumeError, StateStorage};
use orchestrion_model::induction::{ENUMERATIONS, Enumeration};
use orchestrion_model::scopes::{COMPOSED, MODELS, Model};
use orchestrion_report::text::sanitize;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Search options.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchArgs {
    /// Check only this model, or this enumeration of states for induction; may be repeated [default: all except composed].
    #[arg(long = "model", value_name = "MODEL", value_parser = model_names())]
    models: Vec<String>,
    /// Explore with this many threads [default: the number of processors]. The result does not depend on it.
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    jobs: Option<NonZeroUsize>,
    /// Store whole states instead of 64-bit fingerprints. Excludes hash collisions, and needs much more memory.
    #[arg(long)]
    exact: bool,
    /// Stop a model at this number of states and report its claims as inconclusive.
    #[arg(long, value_name = "NUMBER", value_parser = positive_number)]
    max_states: Option<NonZeroUsize>,
    /// Stop a model at this memory limit (for example 2GiB) and report its claims as inconclusive.
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    max_memory: Option<MemoryBytes>,
    /// Stop a model after this time (for example 90s or 10m) and report its claims as inconclusive.
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

pub(super) fn positive_number(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// A limit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemoryBytes(u64);

fn memory_size(text: &str) -> Result<MemoryBytes, String> {
    const MIN: u64 = 1 << 20;
    const UNITS: [(&str, u64); 6] = [
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    let read = UNITS.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(*bytes)
    });
    read.filter(|bytes| *bytes >= MIN).map(MemoryBytes).ok_or_else(|| {
        "expected a whole number with its unit, such as 512MiB or 2GiB, of at least 1 MiB".to_owned()
    })
}

impl SearchArgs {
    /// Whether a resource limit ends explorations.
    pub(super) const fn has_limit(&self) -> bool {
        self.max_states.is_some() || self.max_memory.is_some() || self.timeout.is_some()
    }

    /// Whether models are named.
    pub(super) const fn names_models(&self) -> bool {
        !self.models.is_empty()
    }

    /// Returns the models to explore, each once.
    pub(super) fn models(&self) -> Vec<Model> {
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
    pub(super) fn enumerations(&self) -> Vec<Enumeration> {
        let is_named =
            |enumeration: &Enumeration| self.models.iter().any(|name| name == enumeration.model.name);
        ENUMERATIONS
            .into_iter()
            .filter(|enumeration| self.models.is_empty() || is_named(enumeration))
            .collect()
    }

    /// Returns the number of threads.
    pub(super) fn jobs(&self) -> NonZeroUsize {
        let jobs = self.jobs.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        // More threads than processors only cost memory for their stacks.
        jobs.min(NonZeroUsize::MIN.saturating_add(255))
    }

    /// Returns the options of the explorer.
    pub(super) fn options(&self) -> Options {
        Options {
            threads: self.jobs(),
            storage: if self.exact { StateStorage::Exact } else { StateStorage::Fingerprint },
            limits: ResourceLimits {
                memory_bytes: self.max_memory.map(|size| usize::try_from(size.0).unwrap_or(usize::MAX)),
                time: self.timeout,
                states: self.max_states.map(NonZeroUsize::get),
            },
            ..Options::default()
        }
    }

    /// Explores one model after the other under a policy, and shows the progress.
    pub(super) fn explore_models<T, E: Into<ResumeError>>(
        &self,
        models: &[Model],
        policy: &str,
        quiet: bool,
        explore: impl Fn(Model, &Options, &mut dyn FnMut(&Progress)) -> Result<T, E>,
    ) -> Result<Vec<T>> {
        let explored = |model: Model| {
            let mut line = ProgressLine::new(model.name, quiet);
            let explored = explore(model, &self.options(), &mut |progress| {
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
        };
        models.iter().copied().map(explored).collect()
    }
}

/// Interval timer for progress messages where no progress bar is drawn.
#[derive(Debug, Default)]
pub(super) struct ProgressTimer {
    last: Duration,
}

impl ProgressTimer {
    const EVERY: Duration = Duration::from_secs(30);

    /// Whether a message is due, this long after the start.
    pub(super) fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed.saturating_sub(self.last) >= Self::EVERY;
        if is_due {
            self.last = elapsed;
        }
        is_due
    }
}

/// The progress of one model: a line of the terminal, or else messages at intervals.
pub(super) struct ProgressLine {
    name: &'static str,
    bar: ProgressBar,
    timer: ProgressTimer,
    quiet: bool,
}

impl ProgressLine {
    /// The line of a model. A quiet one writes no messages.
    pub(super) fn new(name: &'static str, quiet: bool) -> Self {
        Self { name, bar: progress_bar(name), timer: ProgressTimer::default(), quiet }
    }

    /// Shows the progress, this long after the start.
    pub(super) fn show(&mut self, elapsed: Duration, text: String) {
        if self.bar.is_hidden() && !self.quiet && self.timer.is_due(elapsed) {
            output::print_error(&format!("{}: {text}", self.name));
        }
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Removes the line.
    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

fn progress_bar(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(name);
    bar
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
    use super::{MemoryBytes, ProgressTimer, memory_size};
    use std::time::Duration;

    #[test]
    fn timer_is_due_every_half_minute() {
        let mut timer = ProgressTimer::default();
        let seconds = [0, 12, 29, 30, 31, 59, 61, 90, 91, 500, 501];
        let due = seconds.into_iter().filter(|at| timer.is_due(Duration::from_secs(*at)));
        assert_eq!(due.collect::<Vec<_>>(), [30, 61, 91, 500]);
    }

    #[test]
    fn memory_size_needs_its_unit() {
        let accepted = [("512MiB", 512 << 20), ("2GiB", 2 << 30), ("1 TiB", 1 << 40), ("3GB", 3_000_000_000)];
        for (text, bytes) in accepted {
            assert_eq!(memory_size(text), Ok(MemoryBytes(bytes)), "{text}");
        }
        for text in
            ["", "5", "GiB", "much", "-1GiB", "1.5GiB", "0MiB", "99999999999999TiB", "2PiB", "1GiBGiB"]
        {
            memory_size(text).unwrap_err();
        }
    }
}
