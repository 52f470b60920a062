//! Checks: every claim against all reachable states of the models.

use crate::error::{self, CheckError};
use crate::policy::PolicyOrName;
use crate::user_claims::check_user_claims;
use crate::verdict::{ModelRun, Verdict, VerdictView};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::{Options, ResourceLimits};
use orchestrion_kernel::Policy as KernelPolicy;
use orchestrion_model::check::{self as model_check, ModelRun as KernelModelRun};
use orchestrion_model::induction::{ENUMERATIONS, Enumeration};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{COMPOSED, MODELS, Model, Scope};
use orchestrion_project::scope_file::ScopeChoice;
use orchestrion_user_claims::{ClaimFile, UserClaim};
use orchestrion_yaml::suggest_nearest;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MODEL_HELP: &str = "this is a bug of the model or the kernel, not of your policy; please report it";

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CheckResult>()?;
    module.add_function(wrap_pyfunction!(check, module)?)
}

/// Checks every claim against all reachable states of the models. `scope` is a name or the path of a scope file, `claims` the file of
/// further claims.
#[pyfunction]
#[pyo3(
    signature = (policy, scope=PathBuf::from("small"), models=None, claims=None, *, jobs=None, max_states=None, timeout_s=None),
    text_signature = "(policy, scope='small', models=None, claims=None, *, jobs=None, max_states=None, timeout_s=None)"
)]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn check(
    py: Python<'_>,
    policy: PolicyOrName<'_>,
    scope: PathBuf,
    models: Option<Vec<String>>,
    claims: Option<PathBuf>,
    jobs: Option<NonZeroUsize>,
    max_states: Option<NonZeroUsize>,
    timeout_s: Option<f64>,
) -> PyResult<CheckResult> {
    let choice = scope_of(py, &scope)?;
    let only_model = choice.only_model(models.as_ref().map(|_| "`models`"));
    let (models, enumerations) = match only_model.map_err(|reason| error::read_error(py, &reason))? {
        Some(model) => (vec![model], Vec::new()),
        None => models_of(py, models)?,
    };
    let claims = match claims {
        Some(path) => ClaimFile::read(&path).map_err(|reason| error::read_error(py, &reason))?.claims,
        None => Vec::new(),
    };
    let time = timeout_s.map(Duration::try_from_secs_f64).transpose().map_err(|reason| {
        error::input_error(py, format!("invalid timeout_s: {reason}"), "write a number of seconds")
    })?;
    let states = max_states.map(NonZeroUsize::get);
    let threads = jobs.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let limits = ResourceLimits { time, states, ..ResourceLimits::default() };
    let options = Options { threads, limits, ..Options::default() };
    let plan =
        Plan { policy: policy.resolve(py)?, scope: choice.scope, models, enumerations, claims, options };
    let result = py.detach(|| plan.check());
    result.map_err(|CheckFailure(message)| error::with_help(py, CheckError::new_err, message, MODEL_HELP))
}

fn scope_of(py: Python<'_>, name_or_path: &Path) -> PyResult<ScopeChoice> {
    let name_or_path = name_or_path.to_string_lossy();
    let base_dir = Path::new("");
    ScopeChoice::ensure_exists(&name_or_path, base_dir)
        .map_err(|reason| error::from_diagnostic(py, CheckError::new_err, &reason.into_file_error()))?;
    ScopeChoice::resolve(&name_or_path, base_dir).map_err(|reason| error::read_error(py, &reason))
}

/// Returns the models and enumerations with these names, each once; by default all but the composed model.
fn models_of(py: Python<'_>, names: Option<Vec<String>>) -> PyResult<(Vec<Model>, Vec<Enumeration>)> {
    let Some(names) = names else { return Ok((MODELS.to_vec(), ENUMERATIONS.to_vec())) };
    let models = || MODELS.into_iter().chain([COMPOSED]);
    let known: Vec<&str> = models()
        .map(|model| model.name)
        .chain(ENUMERATIONS.iter().map(|enumeration| enumeration.model.name))
        .collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let near = suggest_nearest(unknown, known.iter().copied());
        let message = format!("unknown model `{}`: expected the name of a model", unknown.escape_debug());
        let help = format!("{near}write one of {}", known.join(", "));
        return Err(error::with_help(py, CheckError::new_err, message, help));
    }
    let is_named = |name: &str| names.iter().any(|other| other == name);
    let enumerations = ENUMERATIONS.into_iter().filter(|enumeration| is_named(enumeration.model.name));
    Ok((models().filter(|model| is_named(model.name)).collect(), enumerations.collect()))
}

/// What to check.
struct Plan {
    policy: KernelPolicy,
    scope: Scope,
    models: Vec<Model>,
    enumerations: Vec<Enumeration>,
    claims: Vec<UserClaim>,
    options: Options,
}

/// Why a model cannot be checked, as a sentence.
pub(crate) struct CheckFailure(String);

impl CheckFailure {
    pub(crate) fn new(model: &str, policy: &str, reason: &impl Display) -> Self {
        Self(format!("cannot check the model `{model}` under the policy {policy}: {reason}"))
    }
}

impl Plan {
    fn check(&self) -> Result<CheckResult, CheckFailure> {
        let kernel = KernelUnderTest::unmodified(self.policy.clone());
        let explore = |model: &Model| {
            model_check::explore(&kernel, *model, &self.scope, &self.options, &mut |_| {})
                .map_err(|reason| CheckFailure::new(model.name, &self.policy.name, &reason))
        };
        let mut runs = self.models.iter().map(explore).collect::<Result<Vec<_>, _>>()?;
        let check = |enumeration: &Enumeration| enumeration.check(&kernel, &self.scope, self.options.threads);
        runs.extend(self.enumerations.iter().map(check));
        let is_partial = self.is_partial();
        let merged = model_check::merge_verdicts(&self.policy, &runs);
        let verdicts = CLAIMS.iter().zip(merged);
        let mut verdicts: Vec<Verdict> =
            verdicts.map(|(claim, merged)| Verdict::of_claim(claim, merged, &runs, is_partial)).collect();
        let (models, scope, options) = (&self.models, &self.scope, &self.options);
        let of_project = check_user_claims(&kernel, models, scope, &self.claims, options, is_partial)?;
        verdicts.extend(of_project);
        Ok(CheckResult { verdicts, runs })
    }

    /// Whether another model may reach what these do not.
    fn is_partial(&self) -> bool {
        let contains = |name: &str| self.models.iter().any(|model| model.name == name);
        let is_complete = contains(COMPOSED.name) || MODELS.iter().all(|model| contains(model.name));
        !is_complete || self.enumerations.len() < ENUMERATIONS.len()
    }
}

/// The verdicts of a check, and the explored models. It is a sequence of the verdicts.
#[pyclass(frozen, module = "orchestrion")]
struct CheckResult {
    verdicts: Vec<Verdict>,
    runs: Vec<KernelModelRun>,
}

#[pymethods]
impl CheckResult {
    /// The verdicts, those of the catalogue first.
    #[getter]
    fn verdicts(&self) -> Vec<VerdictView> {
        self.verdicts.iter().cloned().map(VerdictView::from).collect()
    }

    /// The explored models.
    #[getter]
    fn runs(&self) -> Vec<ModelRun> {
        self.runs.iter().map(ModelRun::from).collect()
    }

    /// `holds`, `fails` or `incomplete`, as the exit codes 0, 1 and 3 of the command.
    #[getter]
    fn verdict(&self) -> &'static str {
        let has = |names: &[&str]| self.verdicts.iter().any(|verdict| names.contains(&verdict.verdict));
        if has(&["fails", "not_inductive"]) {
            "fails"
        } else if has(&["vacuous", "inconclusive"]) {
            "incomplete"
        } else {
            "holds"
        }
    }

    /// Returns the verdict on the claim with this id.
    fn __getitem__(&self, claim: &str) -> PyResult<VerdictView> {
        let verdict = self.verdicts.iter().find(|verdict| verdict.claim == claim).cloned();
        verdict.map(VerdictView::from).ok_or_else(|| PyKeyError::new_err(claim.to_owned()))
    }

    fn __len__(&self) -> usize {
        self.verdicts.len()
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let verdicts = self.verdicts().into_pyobject(py)?;
        Ok(verdicts.try_iter()?.into_any().unbind())
    }

    fn __repr__(&self) -> String {
        format!(
            "CheckResult('{}', {} claims, {} models)",
            self.verdict(),
            self.verdicts.len(),
            self.runs.len()
        )
    }
}
