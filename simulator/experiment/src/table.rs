//! The rows of an experiment as CSV: one for each run and policy.

use crate::experiment::Experiment;
use crate::metrics::METRICS;
use crate::run::RunRecord;
use std::io::Write;

/// The rows of an experiment. The columns are the run, the policy, the settings that vary, and the metrics.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The fields between the run and the metrics, by policy.
    prefixes: Vec<String>,
}

impl Rows {
    /// Creates the rows of an experiment.
    #[must_use]
    pub fn new(experiment: &Experiment) -> Self {
        let prefix = |cell: &crate::experiment::Cell| {
            let fields = [&cell.base].into_iter().chain(&cell.values);
            fields.map(|field| format!(",{}", quoted(field))).collect::<String>()
        };
        Self { prefixes: experiment.policies.iter().map(prefix).collect() }
    }

    /// Returns the line with the names of the columns.
    #[must_use]
    pub fn heading(experiment: &Experiment) -> String {
        let names = ["run", "policy"].into_iter().map(quoted);
        let settings = experiment.settings.iter().map(|setting| quoted(setting));
        let metrics = METRICS.iter().map(|metric| metric.name.to_owned());
        names.chain(settings).chain(metrics).collect::<Vec<_>>().join(",") + "\n"
    }

    /// Appends the rows of one run, in the order of the policies.
    pub fn write(&self, run: u64, records: &[RunRecord], text: &mut Vec<u8>) {
        for (prefix, record) in self.prefixes.iter().zip(records) {
            // Writing to memory does not fail.
            let _ = write!(text, "{run}{prefix}");
            for value in record.measurements.values() {
                let _ = write!(text, ",{value}");
            }
            text.push(b'\n');
        }
    }
}

/// Quotes a field that contains a separator (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
