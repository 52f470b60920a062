//! Results of experiments: their bytes, their parts, their statistics, and their tables.

use crate::encoding::to_python;
use crate::error::{self, ExperimentError, ReadError};
use crate::table::{rows_table, summary_table};
use miette::{IntoDiagnostic, WrapErr, miette};
use orchestrion_experiment::{Experiment, METRICS, Metric, Report, Rows, Summary};
use orchestrion_files::limits::RESULT_FILE_BYTES_MAX;
use orchestrion_report::text::sanitize;
use orchestrion_yaml::suggest_nearest;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ExperimentResult>()
}

/// The rows of some runs, as CSV.
#[derive(Clone)]
pub(crate) struct RunRows {
    pub(crate) heading: String,
    /// Rows of consecutive runs, by the first of them.
    pub(crate) parts: BTreeMap<u64, Arc<[u8]>>,
}

impl RunRows {
    pub(crate) fn new(experiment: &Experiment, first_run: u64, rows: Vec<u8>) -> Self {
        Self { heading: Rows::heading(experiment), parts: BTreeMap::from([(first_run, rows.into())]) }
    }
}

/// The result of some runs of an experiment.
#[pyclass(frozen, module = "orchestrion")]
pub(crate) struct ExperimentResult {
    summary: Summary,
    rows: Option<RunRows>,
}

#[pymethods]
impl ExperimentResult {
    /// Reads a file that `explore run`, `explore merge` or `to_json` wrote.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::from_read(py, py.detach(|| read(&path)))
    }

    /// Reads what `to_json` returns.
    #[staticmethod]
    #[pyo3(signature = (json, name="the result"))]
    fn parse(py: Python<'_>, json: TextOrBytes<'_>, name: &str) -> PyResult<Self> {
        let bytes = match &json {
            TextOrBytes::Text(text) => text.as_bytes(),
            TextOrBytes::Bytes(bytes) => bytes.as_bytes(),
        };
        Self::from_read(py, py.detach(|| parse(name, bytes)))
    }

    /// Merges the results of disjoint parts of one experiment, in any order. The result of all parts has the bytes of one whole run.
    ///
    /// It has rows if every part has them.
    #[staticmethod]
    fn merge(py: Python<'_>, results: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some((first, others)) = results.split_first() else {
            return Err(error::input_error(
                py,
                "no result: expected at least one",
                "name the results of the parts",
            ));
        };
        let (mut summary, mut rows) = (first.summary.clone(), first.rows.clone());
        for (number, other) in (2..).zip(others) {
            summary.merge(&other.summary).map_err(|reason| {
                let reason = miette!(help = reason.help(), "result 1 and result {number}: {reason}");
                error::from_diagnostic(py, ExperimentError::new_err, &*reason)
            })?;
            match (&mut rows, &other.rows) {
                (Some(rows), Some(other)) => rows.parts.extend(other.parts.clone()),
                (_, None) | (None, _) => rows = None,
            }
        }
        Ok(Self { summary, rows })
    }

    /// The name of the experiment.
    #[getter]
    fn name(&self) -> &str {
        &self.summary.experiment
    }

    /// The digest of the experiment. Only results with equal digests merge.
    #[getter]
    fn digest(&self) -> &str {
        &self.summary.digest
    }

    /// The digest of all rows, whether they are kept or not. Equal rows in any order have the same digest.
    #[getter]
    fn rows_digest(&self) -> String {
        self.summary.rows_digest.to_string()
    }

    /// The number of runs of the whole experiment.
    #[getter]
    fn runs(&self) -> u64 {
        self.summary.runs
    }

    /// The number of requests of a run.
    #[getter]
    fn requests(&self) -> u32 {
        self.summary.requests
    }

    /// The runs of this result: the first one, and the one after the last, of each range.
    #[getter]
    fn ranges(&self) -> Vec<(u64, u64)> {
        self.summary.ranges.clone()
    }

    /// The number of runs of this result.
    #[getter]
    fn completed_runs(&self) -> u64 {
        self.summary.completed_runs()
    }

    /// The runs of the experiment that are not in this result, as `ranges`.
    #[getter]
    fn missing(&self) -> Vec<(u64, u64)> {
        self.summary.missing()
    }

    /// The paths of the settings that vary.
    #[getter]
    fn settings(&self) -> &[String] {
        &self.summary.settings
    }

    /// The names of the policies, the baseline first.
    #[getter]
    fn policies(&self) -> Vec<&str> {
        self.summary.policies.iter().map(|policy| policy.policy.as_str()).collect()
    }

    /// The names of the metrics of the report: those that the experiment names, or all.
    #[getter]
    fn metrics(&self) -> Vec<&'static str> {
        self.summary.report_metrics().iter().map(|metric| metric.name).collect()
    }

    /// Returns the bytes of the file that `explore run` writes.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let json = py.detach(|| self.summary.to_json()).into_diagnostic();
        let json = json.map_err(|reason| error::from_diagnostic(py, ExperimentError::new_err, &*reason))?;
        Ok(PyBytes::new(py, json.as_bytes()))
    }

    /// Returns the bytes of the rows that `explore run` writes. The runs need `rows=True`.
    fn to_csv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let rows = self.kept_rows(py)?;
        let parts = rows.parts.values().flat_map(|part| part.iter());
        let text: Vec<u8> = rows.heading.as_bytes().iter().chain(parts).copied().collect();
        Ok(PyBytes::new(py, &text))
    }

    /// Returns the statistics, as `explore run --format json` prints them: means with intervals, differences from the baseline with
    /// corrected p-values, sensitivities, and the positions of the policies on the Pareto front.
    ///
    /// The p-values depend on the metrics; `metrics` names others than those of the result.
    #[pyo3(signature = (metrics=None))]
    fn report<'py>(&self, py: Python<'py>, metrics: Option<Vec<String>>) -> PyResult<Bound<'py, PyAny>> {
        let metrics = self.metrics_of(py, metrics)?;
        to_python(py, &py.detach(|| Report::new(&self.summary, &metrics)))
    }

    /// Returns the statistics as a table, with one row for each policy and metric. The baseline has no difference and no p-value.
    #[pyo3(signature = (metrics=None))]
    fn summary<'py>(&self, py: Python<'py>, metrics: Option<Vec<String>>) -> PyResult<Bound<'py, PyAny>> {
        let metrics = self.metrics_of(py, metrics)?;
        let report = py.detach(|| Report::new(&self.summary, &metrics));
        summary_table(py, &self.summary, &report, &metrics)
    }

    /// Returns the rows as a table, with one row for each run and policy. The runs need `rows=True`.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows_table(py, &self.summary, self.kept_rows(py)?)
    }

    fn __repr__(&self) -> String {
        let Summary { experiment, runs, .. } = &self.summary;
        format!("ExperimentResult('{}', {} of {runs} runs)", experiment.escape_debug(), self.completed_runs())
    }
}

impl ExperimentResult {
    pub(crate) const fn new(summary: Summary, rows: Option<RunRows>) -> Self {
        Self { summary, rows }
    }

    fn from_read(py: Python<'_>, read: miette::Result<Summary>) -> PyResult<Self> {
        let summary = read.map_err(|reason| error::from_diagnostic(py, ReadError::new_err, &*reason))?;
        Ok(Self::new(summary, None))
    }

    fn kept_rows(&self, py: Python<'_>) -> PyResult<&RunRows> {
        self.rows.as_ref().ok_or_else(|| {
            let message = "no rows: expected a result of runs with rows, found one without";
            error::input_error(py, message, "run the experiment with rows=True")
        })
    }

    /// Returns the metrics with these names, or those of the result.
    fn metrics_of(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<Vec<&'static Metric>> {
        let Some(names) = names else { return Ok(self.summary.report_metrics()) };
        let metric = |name: &String| {
            Metric::from_name(name).ok_or_else(|| {
                let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
                let near = suggest_nearest(name, known.iter().copied());
                let help = format!("{near}the metrics are {}", known.join(", "));
                error::input_error(py, format!("unknown metric `{}`", name.escape_debug()), &help)
            })
        };
        names.iter().map(metric).collect()
    }
}

/// A text, or its bytes.
#[derive(FromPyObject)]
enum TextOrBytes<'py> {
    Text(String),
    Bytes(Bound<'py, PyBytes>),
}

/// Reads a result, with the errors of the command.
fn read(path: &Path) -> miette::Result<Summary> {
    let shown = path.display().to_string();
    let bytes = orchestrion_files::read(path, RESULT_FILE_BYTES_MAX);
    let unreadable = || format!("{}: unreadable result", sanitize(&shown));
    parse(&shown, &bytes.into_diagnostic().wrap_err_with(unreadable)?)
}

/// Parses a result, with the errors of the command.
fn parse(name: &str, json: &[u8]) -> miette::Result<Summary> {
    let shown = sanitize(name);
    Summary::from_json(json)
        .map_err(|reason| miette!(help = reason.help(), "{shown}: {}", sanitize(&reason.to_string())))
}
