//! Scenario runs.

use crate::encoding::to_python;
use crate::error::{self, RunError};
use crate::policy::PolicyOrName;
use crate::trace::in_memory;
use orchestrion_kernel::event::{Conclusion, DecisionLabel};
use orchestrion_kernel::{Event, Policy as KernelPolicy};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::{ScenarioResult, ScenarioRunError, run_scenario};
use orchestrion_trace::{ConversationFold, Reader, TraceError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RunResult>()?;
    module.add_class::<RequestEnding>()?;
    module.add_function(wrap_pyfunction!(run, module)?)
}

/// Runs a scenario with its scripted modules, under its own policy or another one, with its own seed or another one.
#[pyfunction]
#[pyo3(signature = (scenario, policy=None, seed=None))]
fn run(
    py: Python<'_>,
    scenario: PathBuf,
    policy: Option<PolicyOrName<'_>>,
    seed: Option<u64>,
) -> PyResult<RunResult> {
    let policy = policy.map(|policy| policy.resolve(py)).transpose()?;
    let run = py.detach(|| read_and_run(&scenario, policy, seed));
    run.map_err(|failed| match failed {
        Failed::Read(reason) => error::read_error(py, &reason),
        Failed::Run(reason) => error::from_diagnostic(py, RunError::new_err, &*reason),
        Failed::Trace(reason) => error::trace_error(py, &reason),
    })
}

/// Why a run has no result.
enum Failed {
    Read(orchestrion_yaml::ReadError),
    Run(Box<ScenarioRunError>),
    Trace(TraceError),
}

fn read_and_run(path: &Path, policy: Option<KernelPolicy>, seed: Option<u64>) -> Result<RunResult, Failed> {
    let scenario = match policy {
        Some(policy) => Scenario::read_under(path, policy),
        None => Scenario::read(path),
    };
    let scenario = scenario.map_err(Failed::Read)?;
    let (name, conversation) = (scenario.name.clone(), scenario.conversation.clone());
    let scenario = match seed {
        Some(seed) => scenario.with_seed(&seed.to_string()),
        None => scenario,
    };
    let result = run_scenario(scenario).map_err(|reason| Failed::Run(Box::new(reason)))?;
    let mut summary = Summary::new(ConversationFold::new(conversation));
    summary.read(&result.trace).map_err(Failed::Trace)?;
    let Summary { endings, refusals, .. } = summary;
    Ok(RunResult { name, result, endings, refusals })
}

/// What the trace of a run shows about its requests.
struct Summary {
    fold: ConversationFold,
    endings: Vec<RequestEnding>,
    refusals: Vec<(u64, String)>,
}

impl Summary {
    const fn new(fold: ConversationFold) -> Self {
        Self { fold, endings: Vec::new(), refusals: Vec::new() }
    }

    fn read(&mut self, trace: &[u8]) -> Result<(), TraceError> {
        for step in Reader::new(in_memory(trace.to_vec()), "the trace")? {
            let step = step?;
            step.events.iter().for_each(|event| self.start_or_extend(event));
            self.fold.apply(step.n, &step.events);
            if let (Some(ending), Some(facts)) = (self.endings.last_mut(), self.fold.facts()) {
                ending.passes = facts.passes;
            }
            self.refusals.extend(step.refused.map(|sentence| (step.n, sentence)));
        }
        Ok(())
    }

    /// Adds an event to the ending of its request.
    fn start_or_extend(&mut self, event: &Event) {
        if let Event::UserMsg { request, .. } = event {
            let request = request.number();
            self.endings.push(RequestEnding { request, label: None, conclusion: None, passes: 0, calls: 0 });
        }
        let Some(ending) = self.endings.last_mut() else { return };
        if let Event::ToolCall { .. } = event {
            ending.calls += 1;
        }
        if let Event::Decided { decision } = event {
            ending.label = Some(decision.label);
        }
        if let Event::Concluded { conclusion } = event {
            ending.conclusion = Some(*conclusion);
        }
    }
}

/// How one request of a run ended.
#[pyclass(frozen, eq, module = "orchestrion")]
#[derive(Clone, Debug, PartialEq, Eq)]
struct RequestEnding {
    /// The number of the request, from 1.
    #[pyo3(get)]
    request: u32,
    label: Option<DecisionLabel>,
    conclusion: Option<Conclusion>,
    /// The passes of the debate.
    #[pyo3(get)]
    passes: u32,
    /// The calls of modules.
    #[pyo3(get)]
    calls: u64,
}

#[pymethods]
impl RequestEnding {
    /// The label of the latest decision, such as `vetoed`; `None` if the debate did not decide.
    #[getter]
    fn label<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.label)
    }

    /// `outcome`, `blocked`, `rolled_back` or `aborted`; `None` if the request did not conclude.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.conclusion.map(|conclusion| conclusion.kind))
    }

    /// The cause of the conclusion in the published encoding; `None` if the request did not conclude.
    #[getter]
    fn cause<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.conclusion.map(|conclusion| conclusion.cause))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (outcome, label) = (self.outcome(py)?.repr()?, self.label(py)?.repr()?);
        Ok(format!("RequestEnding({}, outcome={outcome}, label={label})", self.request))
    }
}

/// The result of a scenario run.
#[pyclass(frozen, module = "orchestrion")]
struct RunResult {
    /// The name of the scenario.
    #[pyo3(get)]
    name: String,
    result: ScenarioResult,
    endings: Vec<RequestEnding>,
    /// The refused inputs, each with its step.
    #[pyo3(get)]
    refusals: Vec<(u64, String)>,
}

#[pymethods]
impl RunResult {
    /// The endings of the requests, in their order.
    #[getter]
    fn requests(&self) -> Vec<RequestEnding> {
        self.endings.clone()
    }

    /// The outcome of the last request.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.endings.last() {
            Some(ending) => ending.outcome(py),
            None => to_python(py, &()),
        }
    }

    /// The trace, as the command writes it.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.result.trace)
    }

    /// The number of steps, including refused inputs.
    #[getter]
    fn steps(&self) -> u64 {
        self.result.steps
    }

    /// The refusal at which the conversation halted; `None` if it completed.
    #[getter]
    fn halted(&self) -> Option<String> {
        self.result.halted.as_ref().map(ToString::to_string)
    }

    /// Scripted events and replies that did not occur.
    #[getter]
    fn unused(&self) -> &[String] {
        &self.result.unused_events
    }

    /// Expectations of the scenario that the run does not meet, and writes that were refused or accepted against its script.
    #[getter]
    fn unmet(&self) -> Vec<String> {
        let unmet = self.result.unexpected_writes.iter().chain(&self.result.unmet_expectations);
        unmet.map(ToString::to_string).collect()
    }

    /// Whether the scenario ran as scripted: the command would exit with 0.
    #[getter]
    fn succeeded(&self) -> bool {
        let ScenarioResult { halted, unused_events, unexpected_writes, unmet_expectations, .. } =
            &self.result;
        halted.is_none()
            && unused_events.is_empty()
            && unexpected_writes.is_empty()
            && unmet_expectations.is_empty()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "RunResult('{}', outcome={}, steps={})",
            self.name,
            self.outcome(py)?.repr()?,
            self.steps()
        ))
    }
}
