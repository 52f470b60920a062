//! States, and the decision on one input. A decision takes microseconds, so it keeps the interpreter lock.

use crate::call::Call;
use crate::encoding::to_python;
use crate::error;
use crate::event::{Event, Events};
use crate::input::Input;
use crate::policy::Policy;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::{
    ConversationId, Events as KernelEvents, Input as KernelInput, State as KernelState, Text, Timestamp,
    can_step,
};
use orchestrion_scenario::script::default_report;
use pyo3::prelude::*;
use pyo3::types::PyAny;
use std::hash::{DefaultHasher, Hash, Hasher};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<State>()?;
    module.add_function(wrap_pyfunction!(decide, module)?)
}

/// One conversation: its semantic state, its control state and its time. `apply` and `step` change it.
#[pyclass(eq, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) state: KernelState,
}

/// Returns the events of an input, or raises `Refusal`. The state does not change.
#[pyfunction]
#[pyo3(signature = (policy, state, input, at_ms=None))]
fn decide(
    py: Python<'_>,
    policy: &Policy,
    state: &State,
    input: &Input,
    at_ms: Option<u64>,
) -> PyResult<Events> {
    state.decide(py, policy, input, at_ms).map(Events::new)
}

impl State {
    fn decide(
        &self,
        py: Python<'_>,
        policy: &Policy,
        input: &Input,
        at_ms: Option<u64>,
    ) -> PyResult<KernelEvents> {
        let now = at_ms.map_or(self.state.now(), Timestamp::from_millis);
        orchestrion_kernel::decide(&policy.policy, &self.state, now, &input.input)
            .map_err(|refusal| error::refusal(py, &refusal))
    }

    fn apply_all<'e>(&mut self, events: impl IntoIterator<Item = &'e orchestrion_kernel::Event>) {
        events.into_iter().for_each(|event| self.state.apply(event));
    }
}

#[pymethods]
impl State {
    /// The initial state of a conversation.
    #[new]
    #[pyo3(signature = (conversation="python"))]
    fn new(conversation: &str) -> Self {
        Self { state: KernelState::new(ConversationId::new(conversation)) }
    }

    /// Applies the events of a decision, or any events in their order.
    fn apply(&mut self, events: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(batch) = events.cast::<Events>() {
            self.apply_all(batch.get().events.iter());
            return Ok(());
        }
        for event in events.try_iter()? {
            self.state.apply(&event?.cast::<Event>()?.get().event);
        }
        Ok(())
    }

    /// Decides an input and applies its events. Returns them, or raises `Refusal`.
    #[pyo3(signature = (policy, input, at_ms=None))]
    fn step(
        &mut self,
        py: Python<'_>,
        policy: &Policy,
        input: &Input,
        at_ms: Option<u64>,
    ) -> PyResult<Events> {
        let events = self.decide(py, policy, input, at_ms)?;
        self.apply_all(&events);
        Ok(Events::new(events))
    }

    /// Returns the input that continues without a choice: a step, or the reply of success to the first pending call. `None` while
    /// a debater must argue, and while no request runs.
    fn next_input(&self, policy: &Policy) -> Option<Input> {
        let Some(call) = self.state.control().pending_calls().first() else {
            return can_step(&policy.policy, &self.state).then(|| KernelInput::Step.into());
        };
        let fail = |failure| Some(KernelInput::CallFailed { call: call.id, failure }.into());
        if let Some(failure) = call.not_made {
            return fail(failure);
        }
        if call.operation == Operation::Summarize {
            return fail(Failure::NoCandidates);
        }
        let text =
            self.state.control().request().map_or_else(|| Text::from(""), |request| request.text.clone());
        default_report(call.operation, &text).map(|report| KernelInput::reply(call.id, report).into())
    }

    /// The conversation.
    #[getter]
    fn conversation(&self) -> &str {
        self.state.control().conversation().as_str()
    }

    /// The phase, as in the transition table.
    #[getter]
    fn phase(&self) -> &'static str {
        self.state.control().phase().name()
    }

    /// The user of the open session; `None` without a session.
    #[getter]
    fn session(&self) -> Option<&str> {
        self.state.control().session().map(|user| user.as_str())
    }

    /// The time of the last accepted input, in milliseconds since 1970.
    #[getter]
    fn now_ms(&self) -> u64 {
        self.state.now().millis()
    }

    /// The calls that await a reply, in the order of their ids.
    #[getter]
    fn pending_calls(&self) -> Vec<Call> {
        self.state.control().pending_calls().iter().map(|call| Call { call: *call }).collect()
    }

    /// The running request in the encoding of snapshots; `None` while no request runs.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.state.control().request())
    }

    /// The debate of the running request: pass, latest arguments, veto and consensus; `None` while no request runs.
    #[getter]
    fn debate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.state.control().request().map(|request| &request.debate))
    }

    /// Returns the whole state in the encoding of snapshots.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.state)
    }

    /// Returns a copy. It shares its items with this state until one of the two changes.
    fn copy(&self) -> Self {
        Self { state: self.state.clone() }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    /// The hash of the content, which `apply` changes: use a copy as the key of a dictionary.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("State('{}', phase='{}')", self.conversation().escape_debug(), self.phase())
    }
}
