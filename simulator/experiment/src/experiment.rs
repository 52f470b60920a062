//! Experiments that are ready to run: the policies of the grid, and the world.

mod network;
mod policies;
mod resolve;

use crate::file::ExperimentFile;
use crate::metrics::{METRICS, Metric};
use crate::run::World;
use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_yaml::{LabeledError, ReadError, Source, schema_of, suggest_nearest};
use std::path::Path;

/// The maximum number of runs of each policy.
pub const RUNS_MAX: u64 = 1_000_000_000;
/// The maximum number of policies.
pub const POLICIES_MAX: u64 = 2_000;
/// The maximum number of facts before the first request.
pub const FACTS_MAX: u32 = 10_000;

/// The maximum number of requests of a run.
pub const REQUESTS_MAX: u32 = 10_000;

/// An experiment that is ready to run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file name without its extension.
    pub name: String,
    /// The question.
    pub description: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The number of runs of each policy.
    pub runs: u64,
    /// The policies, the baseline first.
    pub policies: Vec<Cell>,
    /// The paths of the settings that vary.
    pub settings: Vec<String>,
    /// The metrics of the report.
    pub metrics: Vec<&'static Metric>,
    /// The modules, the plans and the requests.
    pub world: World,
    /// What prevents an exact computation.
    pub(crate) obstacles: Obstacles,
    pub(crate) source: Source,
}

/// What prevents an exact computation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Obstacles {
    /// Always.
    pub(crate) always: Vec<Obstacle>,
    /// If calls are in flight at the same time: durations that vary.
    pub(crate) in_parallel: Vec<Obstacle>,
}

/// What prevents an exact computation, with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obstacle {
    pub(crate) reason: &'static str,
    pub(crate) help: &'static str,
    pub(crate) span: Option<SourceSpan>,
}

/// A policy of an experiment: one cell of its grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The policy, with a name that contains the settings.
    pub policy: Policy,
    /// The input that creates the network, if there is one.
    pub network: Option<NetworkInput>,
    /// The name of the policy whose settings vary.
    pub base: String,
    /// The value of each setting that varies, in the order of [`Experiment::settings`].
    pub values: Vec<String>,
}

impl Experiment {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// [`ReadError`] if a file cannot be opened, is not valid, or asks for too much.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let name = path
            .file_stem()
            .map_or_else(|| "experiment".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let base_dir = path.parent().unwrap_or_else(|| Path::new(""));
        Self::from_source(&name, Source::read(path)?, base_dir)
    }

    /// Parses an experiment. Paths in it are relative to `base_dir`.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn from_source(name: &str, source: Source, base_dir: &Path) -> Result<Self, ReadError> {
        let file: ExperimentFile = source.parse()?;
        let in_source = |error| ReadError::in_source(&source, error);
        let runs = file.runs.value;
        if runs == 0 || runs > RUNS_MAX {
            let error = LabeledError::new(
                format!("runs: expected 1 to {RUNS_MAX}, found {runs}"),
                "write the number of runs of each policy, such as 10000",
            );
            return Err(in_source(error.with_label(file.runs.span(), "out of range")));
        }
        let network = network::read(&source, &file, base_dir)?;
        let (settings, policies) = policies::resolve(&source, &file, network.as_ref(), base_dir)?;
        let metrics = resolve_metrics(&file).map_err(in_source)?;
        let (world, obstacles) = resolve::world(&source, &file, network.as_ref(), base_dir)?;
        Ok(Self {
            name: name.to_owned(),
            description: file.description.as_str().to_owned(),
            seed: file.seed,
            runs,
            policies,
            settings,
            metrics,
            world,
            obstacles,
            source,
        })
    }

    /// Returns the digest of all that the result depends on, in hexadecimal. Only shards with equal digests are merged.
    ///
    /// It covers the printed form of the resolved experiment, so files with other comments have the same digest, and another version of
    /// the program may have another one.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("orchestrion: a resolved experiment, version 1");
        let Self {
            name: _,
            description: _,
            seed,
            runs,
            policies,
            settings,
            metrics: _,
            world,
            obstacles: _,
            source: _,
        } = self;
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(format!("{seed} {runs} {settings:?} {policies:?} {world:?}").as_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

fn resolve_metrics(file: &ExperimentFile) -> Result<Vec<&'static Metric>, LabeledError> {
    if file.metrics.is_empty() {
        return Ok(METRICS.iter().collect());
    }
    let metric = |name: &orchestrion_yaml::Spanned<orchestrion_yaml::StrictText>| {
        let text = name.value.as_str();
        Metric::from_name(text).ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            let near = suggest_nearest(text, names.iter().copied());
            LabeledError::new(
                format!("unknown metric `{}`", text.escape_debug()),
                format!("{near}the metrics are {}", names.join(", ")),
            )
            .with_label(name.span(), "unknown")
        })
    };
    file.metrics.iter().map(metric).collect()
}

/// Returns the JSON Schema of experiment files.
#[must_use]
pub fn experiment_schema() -> serde_json::Value {
    schema_of::<ExperimentFile>("Orchestrion experiment")
}
