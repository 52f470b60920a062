//! Experiments: random runs under many policies.

use crate::error::{self, ExperimentError};
use crate::experiment_result::{ExperimentResult, RunRows};
use crate::policy::Policy;
use miette::miette;
use orchestrion_experiment::{Experiment as Resolved, RUNS_MAX, RunError, Shard, Sink, Summary, run_range};
use orchestrion_yaml::{ReadError, Source};
use pyo3::prelude::*;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Experiment>()
}

/// An experiment: random modules, policies, and the number of runs.
#[pyclass(frozen, module = "orchestrion")]
struct Experiment {
    experiment: Resolved,
}

#[pymethods]
impl Experiment {
    /// Reads an experiment file and the files that it names.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::from_result(py, py.detach(|| Resolved::read(&path)))
    }

    /// Reads the text of an experiment file. Files that it names are relative to `base_dir`.
    #[staticmethod]
    #[pyo3(
        signature = (text, name="experiment.yaml", base_dir=None),
        text_signature = "(text, name='experiment.yaml', base_dir='.')"
    )]
    fn parse(py: Python<'_>, text: &str, name: &str, base_dir: Option<PathBuf>) -> PyResult<Self> {
        let base_dir = base_dir.unwrap_or_else(|| PathBuf::from("."));
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        let parse = || Resolved::from_source(&stem, Source::from_text(name, text)?, &base_dir);
        Self::from_result(py, py.detach(parse))
    }

    /// The file name without its extension.
    #[getter]
    fn name(&self) -> &str {
        &self.experiment.name
    }

    /// The question.
    #[getter]
    fn description(&self) -> &str {
        &self.experiment.description
    }

    /// The seed of all random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.experiment.seed
    }

    /// The number of runs of each policy.
    #[getter]
    fn runs(&self) -> u64 {
        self.experiment.runs
    }

    /// The paths of the settings that vary.
    #[getter]
    fn settings(&self) -> &[String] {
        &self.experiment.settings
    }

    /// The policies, the baseline first.
    #[getter]
    fn policies(&self) -> Vec<Policy> {
        self.experiment.policies.iter().map(|cell| Policy { policy: cell.policy.clone() }).collect()
    }

    /// The names of the metrics of the report.
    #[getter]
    fn metrics(&self) -> Vec<&'static str> {
        self.experiment.metrics.iter().map(|metric| metric.name).collect()
    }

    /// The digest of all that the result depends on. Only results with equal digests merge.
    #[getter]
    fn digest(&self) -> String {
        self.experiment.digest()
    }

    /// Runs the experiment, or a part of it: `shard=(2, 3)` is the second of three parts. `runs` and `seed` replace those of the file.
    ///
    /// The result does not depend on the number of threads. With `rows`, it keeps one row for each run and policy. An interrupt stops
    /// the runs.
    #[pyo3(signature = (runs=None, seed=None, shard=None, threads=None, rows=false))]
    fn run(
        &self,
        py: Python<'_>,
        runs: Option<u64>,
        seed: Option<u64>,
        shard: Option<(u64, u64)>,
        threads: Option<NonZeroUsize>,
        rows: bool,
    ) -> PyResult<ExperimentResult> {
        let mut experiment = self.experiment.clone();
        experiment.runs = runs.unwrap_or(experiment.runs);
        experiment.seed = seed.unwrap_or(experiment.seed);
        if !(1..=RUNS_MAX).contains(&experiment.runs) {
            let message = format!("runs: expected 1 to {RUNS_MAX}, found {}", experiment.runs);
            let help = "write the number of runs of each policy, such as 10000";
            return Err(error::input_error(py, message, help));
        }
        let range = shard_of(py, shard)?.range(experiment.runs);
        let threads = threads.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        let mut collector = Collector { text: Vec::new(), interrupt: None, checked: Instant::now() };
        let mut summary = Summary::empty(&experiment);
        let ran = py.detach(|| run_range(&experiment, range, threads, rows, &mut summary, &mut collector));
        if let Some(interrupt) = collector.interrupt {
            return Err(interrupt);
        }
        ran.map_err(|reason| run_error(py, &reason))?;
        let rows = rows.then(|| RunRows::new(&experiment, range.0, collector.text));
        Ok(ExperimentResult::new(summary, rows))
    }

    fn __repr__(&self) -> String {
        let Resolved { name, runs, policies, .. } = &self.experiment;
        format!("Experiment('{}', runs={runs}, policies={})", name.escape_debug(), policies.len())
    }
}

impl Experiment {
    fn from_result(py: Python<'_>, read: Result<Resolved, ReadError>) -> PyResult<Self> {
        let experiment = read.map_err(|reason| error::read_error(py, &reason))?;
        Ok(Self { experiment })
    }
}

fn shard_of(py: Python<'_>, shard: Option<(u64, u64)>) -> PyResult<Shard> {
    match shard {
        None => Ok(Shard::WHOLE),
        Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
        Some((index, count)) => {
            let message =
                format!("shard: expected a number from 1 and the number of parts, found ({index}, {count})");
            Err(error::input_error(py, message, "write (2, 3) for the second of three parts"))
        }
    }
}

/// Returns the exception with the text of the command.
fn run_error(py: Python<'_>, reason: &RunError) -> PyErr {
    let help = match reason {
        RunError::Refused { .. } => "correct the network or the facts of the experiment",
        RunError::Rows(_) | RunError::Merge(_) | _ => "report this as a bug",
    };
    error::from_diagnostic(py, ExperimentError::new_err, &*miette!(help = help, "{reason}"))
}

/// The time between two looks at signals. A look waits for the interpreter lock.
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// Collects rows, and stops at an interrupt.
struct Collector {
    text: Vec<u8>,
    interrupt: Option<PyErr>,
    checked: Instant,
}

impl Sink for Collector {
    fn receive(&mut self, rows: &[u8], _: &Summary) -> io::Result<()> {
        self.text.extend_from_slice(rows);
        if self.checked.elapsed() < SIGNALS_EVERY {
            return Ok(());
        }
        self.checked = Instant::now();
        // An interpreter that ends handles no signals any more.
        let Some(Err(interrupt)) = Python::try_attach(|py| py.check_signals()) else { return Ok(()) };
        self.interrupt = Some(interrupt);
        Err(io::Error::other("interrupted"))
    }
}
