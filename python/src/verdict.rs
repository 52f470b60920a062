//! The verdict on a claim, its counterexample, and the explored models.

use crate::input::Input;
use crate::policy::Policy;
use orchestrion_claims::Claim;
use orchestrion_model::check::{
    Counterexample as ModelCounterexample, ModelRun as KernelModelRun, Verdict as ModelVerdict,
};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<VerdictView>()?;
    module.add_class::<CounterexampleView>()?;
    module.add_class::<ModelRun>()
}

/// A claim with its verdict.
#[derive(Clone)]
pub(crate) struct Verdict {
    pub(crate) claim: String,
    pub(crate) statement: String,
    pub(crate) clause: String,
    pub(crate) verdict: &'static str,
    pub(crate) reason: Option<&'static str>,
    pub(crate) counterexample: Option<Counterexample>,
}

/// A shortest path to a violation, with its model.
#[derive(Clone)]
pub(crate) struct Counterexample {
    pub(crate) model: &'static str,
    pub(crate) path: ModelCounterexample,
}

impl Verdict {
    pub(crate) fn of_claim(
        claim: &Claim,
        verdict: ModelVerdict,
        runs: &[KernelModelRun],
        is_partial: bool,
    ) -> Self {
        let name = match verdict {
            ModelVerdict::Vacuous if is_partial => "not_in_model",
            _ => verdict.as_str(),
        };
        let (reason, counterexample) = match verdict {
            ModelVerdict::NotChecked(reason) => (Some(reason), None),
            ModelVerdict::Fails { run, counterexample } => {
                let model = runs.get(run).map_or("", |run| run.model);
                (None, Some(Counterexample { model, path: *counterexample }))
            }
            ModelVerdict::Holds
            | ModelVerdict::Vacuous
            | ModelVerdict::Inconclusive
            | ModelVerdict::NotInductive { .. } => (None, None),
        };
        Self {
            claim: claim.id.to_owned(),
            statement: claim.statement.to_owned(),
            clause: claim.clause.to_owned(),
            verdict: name,
            reason,
            counterexample,
        }
    }
}

/// The verdict on one claim.
#[pyclass(frozen, name = "Verdict", module = "orchestrion")]
pub(crate) struct VerdictView {
    verdict: Verdict,
}

impl From<Verdict> for VerdictView {
    fn from(verdict: Verdict) -> Self {
        Self { verdict }
    }
}

#[pymethods]
impl VerdictView {
    /// The id of the claim.
    #[getter]
    fn claim(&self) -> &str {
        &self.verdict.claim
    }

    /// The claim as a sentence.
    #[getter]
    fn statement(&self) -> &str {
        &self.verdict.statement
    }

    /// The clause of the source documents; for a claim of a project, its file and line.
    #[getter]
    fn clause(&self) -> &str {
        &self.verdict.clause
    }

    /// `holds`, `fails`, `not_inductive`, `vacuous`, `inconclusive`, `not_in_model` or `not_checked`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.verdict.verdict
    }

    /// Why the claim was not checked; `None` if it was.
    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.verdict.reason
    }

    /// A shortest counterexample; `None` unless the claim fails.
    #[getter]
    fn counterexample(&self) -> Option<CounterexampleView> {
        self.verdict.counterexample.clone().map(|counterexample| CounterexampleView { counterexample })
    }

    fn __repr__(&self) -> String {
        format!("Verdict('{}', '{}')", self.verdict.claim.escape_debug(), self.verdict.verdict)
    }
}

/// A shortest path to a violation, as inputs to a new conversation.
#[pyclass(frozen, name = "Counterexample", module = "orchestrion")]
pub(crate) struct CounterexampleView {
    counterexample: Counterexample,
}

#[pymethods]
impl CounterexampleView {
    /// The model.
    #[getter]
    fn model(&self) -> &'static str {
        self.counterexample.model
    }

    /// The policy, with the limits that the model sets.
    #[getter]
    fn policy(&self) -> Policy {
        Policy { policy: self.counterexample.path.policy.clone() }
    }

    /// The inputs, each with its time in milliseconds. Those of a cycle occur twice.
    #[getter]
    fn inputs(&self) -> Vec<(u64, Input)> {
        let inputs = &self.counterexample.path.inputs;
        inputs.iter().map(|timed| (timed.at.millis(), timed.input.clone().into())).collect()
    }

    /// The number of inputs before the cycle; `None` without one.
    #[getter]
    fn stem_len(&self) -> Option<usize> {
        self.counterexample.path.stem_len
    }

    fn __repr__(&self) -> String {
        format!("Counterexample('{}', {} inputs)", self.model(), self.counterexample.path.inputs.len())
    }
}

/// One explored model.
#[pyclass(frozen, get_all, module = "orchestrion")]
pub(crate) struct ModelRun {
    /// The name of the model.
    model: &'static str,
    /// The name of the scope.
    scope: String,
    /// The distinct states of the kernel.
    states: usize,
    /// The accepted inputs.
    steps: u64,
    /// The largest distance of a state from the start.
    depth: usize,
    /// Whether every state was expanded.
    is_exhaustive: bool,
}

impl From<&KernelModelRun> for ModelRun {
    fn from(run: &KernelModelRun) -> Self {
        Self {
            model: run.model,
            scope: run.scope.clone(),
            states: run.states,
            steps: run.steps,
            depth: run.depth,
            is_exhaustive: run.is_exhaustive(),
        }
    }
}

#[pymethods]
impl ModelRun {
    fn __repr__(&self) -> String {
        format!("ModelRun('{}', '{}', states={})", self.model, self.scope, self.states)
    }
}
