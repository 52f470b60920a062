//! Tables of results: columns of numbers and texts.

use crate::error::{self, ExperimentError};
use crate::experiment_result::RunRows;
use orchestrion_experiment::statistics::Estimate;
use orchestrion_experiment::{METRICS, Metric, MetricReport, Report, Summary};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// A column. Numbers become arrays of the standard library, which need eight bytes for each.
enum Column<'a> {
    Texts(Vec<&'a str>),
    Truths(Vec<bool>),
    Integers(Vec<i64>),
    /// NaN where there is no value.
    Floats(Vec<f64>),
}

impl<'a> Column<'a> {
    /// The values of a setting: numbers if all of them are numbers, and truth values if all of them are.
    fn from_settings(texts: Vec<&'a str>) -> Self {
        fn all<T>(texts: &[&str], parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
            texts.iter().map(|text| parse(text)).collect()
        }
        // Words such as `inf` are texts.
        let float =
            |text: &str| text.parse().ok().filter(|_| text.ends_with(|last: char| last.is_ascii_digit()));
        if let Some(values) = all(&texts, |text| text.parse().ok()) {
            Self::Integers(values)
        } else if let Some(values) = all(&texts, float) {
            Self::Floats(values)
        } else if let Some(values) = all(&texts, |text| text.parse().ok()) {
            Self::Truths(values)
        } else {
            Self::Texts(texts)
        }
    }

    /// Repeats each value.
    fn repeat_each(self, count: usize) -> Self {
        fn repeat<T: Copy>(values: &[T], count: usize) -> Vec<T> {
            values.iter().flat_map(|value| std::iter::repeat_n(*value, count)).collect()
        }
        match self {
            Self::Texts(values) => Self::Texts(repeat(&values, count)),
            Self::Truths(values) => Self::Truths(repeat(&values, count)),
            Self::Integers(values) => Self::Integers(repeat(&values, count)),
            Self::Floats(values) => Self::Floats(repeat(&values, count)),
        }
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = |code: &str, bytes: Vec<u8>| {
            py.import("array")?.getattr("array")?.call1((code, PyBytes::new(py, &bytes)))
        };
        match self {
            Self::Texts(texts) => Ok(PyList::new(py, texts)?.into_any()),
            Self::Truths(truths) => Ok(PyList::new(py, truths)?.into_any()),
            Self::Integers(values) => {
                array("q", values.iter().flat_map(|value| value.to_ne_bytes()).collect())
            }
            Self::Floats(values) => array("d", values.iter().flat_map(|value| value.to_ne_bytes()).collect()),
        }
    }
}

/// Returns the columns that name a policy: the policy whose settings vary, and the value of each setting.
fn policy_columns(summary: &Summary) -> Vec<(&str, Column<'_>)> {
    let policies = &summary.policies;
    let base = Column::Texts(policies.iter().map(|policy| policy.base.as_str()).collect());
    let settings = summary.settings.iter().enumerate().map(|(index, setting)| {
        let values = policies.iter().filter_map(|policy| policy.values.get(index)).map(String::as_str);
        (setting.as_str(), Column::from_settings(values.collect()))
    });
    [("policy", base)].into_iter().chain(settings).collect()
}

fn table<'py>(columns: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    columns.py().import("orchestrion._table")?.getattr("Table")?.call1((columns,))
}

/// Returns the table of the rows.
pub(crate) fn rows_table<'py>(
    py: Python<'py>,
    summary: &Summary,
    rows: &RunRows,
) -> PyResult<Bound<'py, PyAny>> {
    let numbers = py.detach(|| numbers_of(rows)).ok_or_else(|| {
        error::with_help(py, ExperimentError::new_err, "rows are not readable", "report this as a bug")
    })?;
    let columns = PyDict::new(py);
    let mut numbers = numbers.into_iter();
    columns.set_item("run", Column::Integers(numbers.next().unwrap_or_default()).to_python(py)?)?;
    for (name, column) in policy_columns(summary) {
        columns.set_item(name, column.to_python(py)?.mul(summary.completed_runs())?)?;
    }
    for (metric, values) in METRICS.iter().zip(numbers) {
        columns.set_item(metric.name, Column::Integers(values).to_python(py)?)?;
    }
    table(&columns)
}

/// Returns the column of the runs, and that of each metric. A row begins with the run and ends with the metrics; texts are between.
fn numbers_of(rows: &RunRows) -> Option<Vec<Vec<i64>>> {
    let mut columns = vec![Vec::new(); 1 + METRICS.len()];
    for part in rows.parts.values() {
        for line in std::str::from_utf8(part).ok()?.lines() {
            let (runs, metrics) = columns.split_first_mut()?;
            runs.push(line.split(',').next()?.parse().ok()?);
            let mut fields = line.rsplit(',');
            for column in metrics.iter_mut().rev() {
                column.push(fields.next()?.parse().ok()?);
            }
        }
    }
    Some(columns)
}

/// Returns the table of the statistics.
pub(crate) fn summary_table<'py>(
    py: Python<'py>,
    summary: &Summary,
    report: &Report,
    metrics: &[&'static Metric],
) -> PyResult<Bound<'py, PyAny>> {
    const NUMBERS: [&str; 7] =
        ["mean", "low", "high", "difference", "difference_low", "difference_high", "p"];
    let mut names = Vec::new();
    let mut numbers = NUMBERS.map(|name| (name, Vec::new()));
    for policy in &report.policies {
        for metric in metrics {
            names.push(metric.name);
            let values = numbers_of_metric(policy.metrics.get(metric.name));
            for ((_, column), value) in numbers.iter_mut().zip(values) {
                column.push(value);
            }
        }
    }
    let columns = PyDict::new(py);
    for (name, column) in policy_columns(summary) {
        columns.set_item(name, column.repeat_each(metrics.len()).to_python(py)?)?;
    }
    columns.set_item("metric", Column::Texts(names).to_python(py)?)?;
    for (name, values) in numbers {
        columns.set_item(name, Column::Floats(values).to_python(py)?)?;
    }
    table(&columns)
}

fn numbers_of_metric(found: Option<&MetricReport>) -> impl Iterator<Item = f64> {
    let of_estimate = |estimate: Estimate| [estimate.mean, estimate.low, estimate.high];
    let mean = found.map_or([f64::NAN; 3], |found| of_estimate(found.mean));
    let difference = found.and_then(|found| found.difference);
    let p = difference.map_or(f64::NAN, |difference| difference.adjusted_p);
    let difference = difference.map_or([f64::NAN; 3], |difference| of_estimate(difference.mean));
    mean.into_iter().chain(difference).chain([p])
}
