//! Inputs: what can happen to the kernel.

use crate::call::Call;
use crate::encoding::{from_python, to_python};
use crate::error;
use orchestrion_kernel::module::{Argument, Report, Stance};
use orchestrion_kernel::{CallId, Input as KernelInput, Score, Text, UserId};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Input>()
}

/// One input of the kernel. The methods create the inputs, each with the published encoding of its parts.
#[pyclass(frozen, eq, hash, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Input {
    pub(crate) input: KernelInput,
}

/// A call, or its id.
#[derive(FromPyObject)]
enum CallOrId<'py> {
    Id(u64),
    Call(PyRef<'py, Call>),
}

impl CallOrId<'_> {
    fn id(&self) -> CallId {
        match self {
            Self::Id(id) => CallId::new(*id),
            Self::Call(call) => call.call.id,
        }
    }
}

impl From<KernelInput> for Input {
    fn from(input: KernelInput) -> Self {
        Self { input }
    }
}

#[pymethods]
impl Input {
    /// A user opens a session.
    #[staticmethod]
    #[pyo3(signature = (user, identity=None))]
    fn session_start(user: &str, identity: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let identity = identity.map(|identity| from_python(identity, "identity")).transpose()?;
        Ok(KernelInput::SessionStart { user: UserId::new(user), identity }.into())
    }

    /// The session ends.
    #[staticmethod]
    fn session_end() -> Self {
        KernelInput::SessionEnd.into()
    }

    /// The session user sends a message, which starts a request.
    #[staticmethod]
    #[pyo3(signature = (user, text, scope=None))]
    fn user_message(user: &str, text: &str, scope: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let message = KernelInput::user_message(UserId::new(user), Text::from(text));
        Ok(match (message, scope) {
            (KernelInput::UserMessage { user, text, .. }, Some(scope)) => {
                KernelInput::UserMessage { user, text, scope: from_python(scope, "scope")? }.into()
            }
            (message, _) => message.into(),
        })
    }

    /// A module replies to a call with a report.
    #[staticmethod]
    #[pyo3(signature = (call, report, summary_update=None, action=None, interaction=None))]
    fn reply(
        call: CallOrId<'_>,
        report: &Bound<'_, PyAny>,
        summary_update: Option<&Bound<'_, PyAny>>,
        action: Option<&Bound<'_, PyAny>>,
        interaction: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(KernelInput::Reply {
            call: call.id(),
            report: from_python(report, "report")?,
            summary_update: summary_update.map(|part| from_python(part, "summary update")).transpose()?,
            action: action.map(|part| from_python(part, "action record")).transpose()?,
            interaction: interaction.map(|part| from_python(part, "interaction")).transpose()?,
        }
        .into())
    }

    /// A debater replies with an argument: `pro` or `con`, with a confidence from 0 to 1.
    #[staticmethod]
    #[pyo3(signature = (call, stance, confidence, text=""))]
    fn argument(
        py: Python<'_>,
        call: CallOrId<'_>,
        stance: &str,
        confidence: f64,
        text: &str,
    ) -> PyResult<Self> {
        let stance = match stance {
            "pro" => Stance::Pro,
            "con" => Stance::Con,
            other => {
                let message = format!("invalid stance: expected pro or con, found {other}");
                return Err(error::input_error(py, message, "write one of the two"));
            }
        };
        let argument = Argument { stance, confidence: score(py, confidence)? };
        let report = Report::Argument { argument, text: Text::from(text), plan: None };
        Ok(KernelInput::reply(call.id(), report).into())
    }

    /// A call ends without a reply, for example by `timeout`.
    #[staticmethod]
    fn failure(call: CallOrId<'_>, failure: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(KernelInput::CallFailed { call: call.id(), failure: from_python(failure, "failure")? }.into())
    }

    /// The kernel continues without external input.
    #[staticmethod]
    fn step() -> Self {
        KernelInput::Step.into()
    }

    /// The user cancels the running request.
    #[staticmethod]
    fn cancel() -> Self {
        KernelInput::Cancel.into()
    }

    /// Time passes, and an item expires.
    #[staticmethod]
    fn tick() -> Self {
        KernelInput::Tick.into()
    }

    /// The runtime restarts after a crash.
    #[staticmethod]
    fn resume() -> Self {
        KernelInput::Resume.into()
    }

    /// A write to the semantic state.
    #[staticmethod]
    fn write(write: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(KernelInput::Write(from_python(write, "write")?).into())
    }

    /// A change of the network.
    #[staticmethod]
    fn network(network: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(KernelInput::Network(from_python(network, "network input")?).into())
    }

    /// Reads an input in the published encoding, as in a trace.
    #[staticmethod]
    fn from_dict(input: &Bound<'_, PyAny>) -> PyResult<Self> {
        from_python::<KernelInput>(input, "input").map(Self::from)
    }

    /// The kind, as refusals name it.
    #[getter]
    fn kind(&self) -> String {
        self.input.trigger().to_string()
    }

    /// Returns the input in the published encoding.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.input)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Input.from_dict({})", self.to_dict(py)?.repr()?))
    }
}

/// Converts a number from 0 to 1, rounded to millionths.
fn score(py: Python<'_>, number: f64) -> PyResult<Score> {
    let decimal = format!("{number:.6}");
    Score::from_decimal(&decimal).map_err(|reason| {
        let message = format!("invalid confidence: {reason}, found {number}");
        error::input_error(py, message, "write a number from 0 to 1")
    })
}
