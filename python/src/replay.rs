//! Replays: the recorded inputs of a trace, decided again.

use crate::error;
use crate::policy::PolicyOrName;
use crate::trace::{PathOrBytes, in_memory, open};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::{Difference as TraceDifference, Replay, replay as replay_trace};
use orchestrion_trace::{ChangedDecision, Reader};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReplayResult>()?;
    module.add_class::<Difference>()?;
    module.add_function(wrap_pyfunction!(replay, module)?)
}

/// Decides the recorded inputs of a trace or a journal again, under its recorded policy or another one.
#[pyfunction]
#[pyo3(signature = (trace, policy=None))]
fn replay(
    py: Python<'_>,
    trace: PathOrBytes<'_>,
    policy: Option<PolicyOrName<'_>>,
) -> PyResult<ReplayResult> {
    let policy = policy.map(|policy| policy.resolve(py)).transpose()?;
    let reader = match trace {
        PathOrBytes::Path(path) => open(&path, Reader::new_segment),
        PathOrBytes::Bytes(bytes) => Reader::new_segment(in_memory(bytes.as_bytes().to_vec()), "the trace"),
    };
    let reader = reader.map_err(|reason| error::trace_error(py, &reason))?;
    let replay = py.detach(|| replay_trace(reader, policy.as_ref(), &StandardContexts));
    Ok(ReplayResult { replay })
}

/// The result of a replay.
#[pyclass(frozen, module = "orchestrion")]
struct ReplayResult {
    replay: Replay,
}

#[pymethods]
impl ReplayResult {
    /// `equal`, `differs`, `differs_in_texts`, `not_verified` where texts were erased, or `incomplete`.
    #[getter]
    fn verdict(&self) -> &'static str {
        let Replay { difference, text_difference, read_error, .. } = &self.replay;
        match (difference, text_difference, read_error) {
            _ if self.replay.is_equal() => "equal",
            (Some(_), _, _) => "differs",
            (None, Some(_), _) => "differs_in_texts",
            (None, None, Some(_)) => "incomplete",
            (None, None, None) => "not_verified",
        }
    }

    /// Whether every step was replayed without a difference.
    #[getter]
    fn is_equal(&self) -> bool {
        self.replay.is_equal()
    }

    /// The number of replayed steps, including the first that differs.
    #[getter]
    fn steps(&self) -> u64 {
        self.replay.steps
    }

    /// The first difference of a decision; `None` if there is none.
    #[getter]
    fn difference(&self) -> Option<Difference> {
        self.replay.difference.clone().map(Difference::from)
    }

    /// The first difference of texts only; `None` if there is none.
    #[getter]
    fn text_difference(&self) -> Option<Difference> {
        self.replay.text_difference.clone().map(Difference::from)
    }

    /// The first decision on the path of control that differs, as the recorded and the current sentence; `None` if there is none.
    #[getter]
    fn changed(&self) -> Option<(String, String)> {
        let ChangedDecision { recorded, current, .. } = self.replay.changed.as_ref()?;
        Some((recorded.to_string(), current.to_string()))
    }

    /// Differences between the header and this version, as sentences.
    #[getter]
    fn header_differences(&self) -> &[String] {
        &self.replay.header_differences
    }

    /// The error that ended reading, as a sentence; `None` if the whole trace was read.
    #[getter]
    fn error(&self) -> Option<String> {
        self.replay.read_error.as_ref().map(ToString::to_string)
    }

    fn __repr__(&self) -> String {
        format!("ReplayResult('{}', steps={})", self.verdict(), self.steps())
    }
}

/// A difference between a trace and its replay.
#[pyclass(frozen, eq, get_all, module = "orchestrion")]
#[derive(PartialEq, Eq)]
struct Difference {
    /// The step.
    step: u64,
    /// The part that differs, as a noun phrase.
    subject: String,
    /// The value in the trace.
    recorded: String,
    /// The value of this kernel.
    replayed: String,
}

impl From<TraceDifference> for Difference {
    fn from(TraceDifference { step, subject, recorded, replayed }: TraceDifference) -> Self {
        Self { step, subject, recorded, replayed }
    }
}

#[pymethods]
impl Difference {
    fn __repr__(&self) -> String {
        format!("Difference(step={}, '{}')", self.step, self.subject.escape_debug())
    }
}
