//! Events, and the batch of one decision. They are converted to dictionaries only when asked.

use crate::encoding::to_python;
use orchestrion_kernel::Event as KernelEvent;
use orchestrion_user_claims::EventKind;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Event>()?;
    module.add_class::<Events>()
}

/// One recorded change of the state.
#[pyclass(frozen, eq, hash, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Event {
    pub(crate) event: KernelEvent,
}

#[pymethods]
impl Event {
    /// The kind, such as `tool_call`.
    #[getter]
    fn kind(&self) -> &'static str {
        EventKind::of(&self.event).name()
    }

    /// The fields in the published encoding; empty for an event without fields.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let encoded = to_python(py, &self.event)?;
        match encoded.cast::<PyDict>() {
            Ok(encoded) => Ok(encoded.get_item(self.kind())?.unwrap_or_else(|| PyDict::new(py).into_any())),
            Err(_) => Ok(PyDict::new(py).into_any()),
        }
    }

    /// Returns the event in the published encoding: `{kind: fields}`, or the kind if it has no fields.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.event)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Event({})", self.to_dict(py)?.repr()?))
    }
}

/// The events of one decision, as a sequence.
#[pyclass(frozen, eq, hash, sequence, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Events {
    pub(crate) events: Arc<Vec<KernelEvent>>,
}

impl Events {
    pub(crate) fn new(events: Vec<KernelEvent>) -> Self {
        Self { events: Arc::new(events) }
    }

    fn event_at(&self, index: usize) -> Option<Event> {
        self.events.get(index).cloned().map(|event| Event { event })
    }
}

#[pymethods]
impl Events {
    /// Returns the events in the published encoding.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.events.as_slice())
    }

    /// The kinds of the events.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| EventKind::of(event).name()).collect()
    }

    /// The id of the transition, such as `T13`; `None` if control took none.
    #[getter]
    fn transition(&self) -> Option<&'static str> {
        orchestrion_trace::transition(&self.events).map(|row| row.id)
    }

    fn __len__(&self) -> usize {
        self.events.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Event> {
        let position = if index < 0 { index.checked_add_unsigned(self.events.len()) } else { Some(index) };
        let position = position.and_then(|position| usize::try_from(position).ok());
        position.and_then(|position| self.event_at(position)).ok_or_else(|| {
            PyIndexError::new_err(format!("expected an index of {} events", self.events.len()))
        })
    }

    fn __iter__(&self) -> EventIterator {
        EventIterator { events: Self { events: Arc::clone(&self.events) }, next: 0 }
    }

    fn __repr__(&self) -> String {
        format!("Events([{}])", self.kinds().join(", "))
    }
}

/// An iterator over the events of a batch.
#[pyclass(module = "orchestrion")]
struct EventIterator {
    events: Events,
    next: usize,
}

#[pymethods]
impl EventIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<Event> {
        let event = self.events.event_at(self.next)?;
        self.next += 1;
        Some(event)
    }
}
