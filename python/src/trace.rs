//! Traces, read one step after the other.

use crate::encoding::to_python;
use crate::error;
use crate::event::Events;
use crate::input::Input;
use crate::policy::Policy;
use orchestrion_trace::{Header, Reader, Step, TraceError, TraceErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a trace that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// The input of a reader.
pub(crate) type TraceInput = Box<dyn BufRead + Send + Sync>;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TraceReader>()?;
    module.add_class::<TraceStep>()?;
    module.add_function(wrap_pyfunction!(read_trace, module)?)
}

/// A file, or the bytes of one.
#[derive(FromPyObject)]
pub(crate) enum PathOrBytes<'py> {
    Bytes(Bound<'py, PyBytes>),
    Path(PathBuf),
}

/// Opens a trace, and checks its header. The result is an iterator over its steps.
#[pyfunction]
fn read_trace(py: Python<'_>, trace: PathOrBytes<'_>) -> PyResult<TraceReader> {
    let reader = match trace {
        PathOrBytes::Path(path) => open(&path, Reader::new),
        PathOrBytes::Bytes(bytes) => Reader::new(in_memory(bytes.as_bytes().to_vec()), "the trace"),
    };
    Ok(TraceReader { reader: reader.map_err(|reason| error::trace_error(py, &reason))? })
}

/// Returns the input of a trace in memory.
pub(crate) fn in_memory(bytes: Vec<u8>) -> TraceInput {
    Box::new(Cursor::new(bytes))
}

/// Opens a trace by a constructor of its reader.
pub(crate) fn open(
    path: &Path,
    new: fn(TraceInput, &str) -> Result<Reader<TraceInput>, TraceError>,
) -> Result<Reader<TraceInput>, TraceError> {
    let name = path.display().to_string();
    match orchestrion_files::open(path) {
        Ok(file) => new(Box::new(BufReader::with_capacity(READ_BYTES, file)), &name),
        Err(reason) => Err(TraceError { file: name, line: 0, kind: TraceErrorKind::Io(reason) }),
    }
}

/// The steps of a trace, as an iterator. It checks the hash chain while it reads.
#[pyclass(module = "orchestrion")]
struct TraceReader {
    reader: Reader<TraceInput>,
}

impl TraceReader {
    fn header_of(&self) -> &Header {
        self.reader.header()
    }
}

#[pymethods]
impl TraceReader {
    /// The policy under which the trace was recorded.
    #[getter]
    fn policy(&self) -> Policy {
        Policy { policy: self.header_of().policy.clone() }
    }

    /// The conversation.
    #[getter]
    fn conversation(&self) -> &str {
        self.header_of().conversation.as_str()
    }

    /// The name of the scenario; `None` if the trace was not recorded from one.
    #[getter]
    fn scenario(&self) -> Option<&str> {
        self.header_of().scenario.as_ref().map(|scenario| scenario.name.as_str())
    }

    /// The header in the published encoding.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.header_of())
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<TraceStep>> {
        let reader = &mut self.reader;
        match py.detach(|| reader.next()) {
            None => Ok(None),
            Some(Ok(step)) => Ok(Some(TraceStep::from(step))),
            Some(Err(reason)) => Err(error::trace_error(py, &reason)),
        }
    }
}

/// One input of a trace, with its events or its refusal.
#[pyclass(frozen, module = "orchestrion")]
struct TraceStep {
    step: Step,
    events: Arc<Vec<orchestrion_kernel::Event>>,
}

impl From<Step> for TraceStep {
    fn from(mut step: Step) -> Self {
        let events = Arc::new(std::mem::take(&mut step.events));
        Self { step, events }
    }
}

#[pymethods]
impl TraceStep {
    /// The number, from 1.
    #[getter]
    fn number(&self) -> u64 {
        self.step.n
    }

    /// The time of the input, in milliseconds since 1970.
    #[getter]
    fn at_ms(&self) -> u64 {
        self.step.at_ms
    }

    /// What the runtime noted about the input.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.step.note.as_deref()
    }

    /// The input.
    #[getter]
    fn input(&self) -> Input {
        self.step.input.clone().into()
    }

    /// The events; empty if the input was refused.
    #[getter]
    fn events(&self) -> Events {
        Events { events: Arc::clone(&self.events) }
    }

    /// The refusal as a sentence; `None` if the input was accepted.
    #[getter]
    fn refused(&self) -> Option<&str> {
        self.step.refused.as_deref()
    }

    /// The context of the call that the step emitted, in the published encoding; `None` without one.
    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.step.context)
    }

    fn __repr__(&self) -> String {
        let result = match (&self.step.refused, orchestrion_trace::transition(&self.events)) {
            (Some(_), _) => "refused",
            (None, Some(row)) => row.id,
            (None, None) => "accepted",
        };
        format!("TraceStep({}, {}, {result})", self.step.n, self.step.input.trigger())
    }
}
