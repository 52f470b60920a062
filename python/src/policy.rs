//! Policies, and their settings by the paths of a policy file.

use crate::error;
use crate::policy_value::{from_yaml, to_yaml};
use orchestrion_kernel::Policy as KernelPolicy;
use orchestrion_scenario::policy_file;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Policy>()
}

/// The configuration of the kernel. It does not change: `set` returns another policy.
#[pyclass(frozen, eq, hash, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Policy {
    pub(crate) policy: KernelPolicy,
}

/// A policy, or its name or path.
#[derive(FromPyObject)]
pub(crate) enum PolicyOrName<'py> {
    Policy(PyRef<'py, Policy>),
    Name(PathBuf),
}

impl PolicyOrName<'_> {
    /// Returns the policy; a path is relative to the current folder.
    pub(crate) fn resolve(&self, py: Python<'_>) -> PyResult<KernelPolicy> {
        match self {
            Self::Policy(policy) => Ok(policy.policy.clone()),
            Self::Name(name) => resolve(py, name),
        }
    }
}

fn resolve(py: Python<'_>, name: &Path) -> PyResult<KernelPolicy> {
    policy_file::resolve(&name.to_string_lossy(), Path::new(""))
        .map_err(|reason| error::read_error(py, &reason))
}

impl Policy {
    /// Returns the path of a setting by its path or a unique part of it. A policy may have settings that the built-in ones lack.
    fn setting_path(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        if policy_file::setting_values(&self.policy).iter().any(|(path, _)| path == name) {
            return Ok(name.to_owned());
        }
        policy_file::setting(name)
            .map_err(|(message, help)| error::with_help(py, error::PolicyError::new_err, message, help))
    }

    /// Returns a policy with these settings. A name is derived from them, as `check --sweep` derives it.
    fn with_settings(
        &self,
        py: Python<'_>,
        settings: &[(String, String)],
        name: Option<String>,
    ) -> PyResult<Self> {
        let assignments = || settings.iter().map(|(path, value)| format!("{path}={value}"));
        let derived =
            || format!("{} with {}", self.policy.name, assignments().collect::<Vec<_>>().join(", "));
        let name = name.unwrap_or_else(derived);
        let policy = policy_file::set(&self.policy, &name, settings)
            .map_err(|reason| error::from_diagnostic(py, error::PolicyError::new_err, &reason))?;
        policy.map(|policy| Self { policy }).map_err(|reason| error::contradiction(py, &reason))
    }
}

#[pymethods]
impl Policy {
    /// A built-in policy by its name, or a policy file by its path.
    #[new]
    #[pyo3(signature = (name=None), text_signature = "(name='hardened')")]
    fn new(py: Python<'_>, name: Option<PathBuf>) -> PyResult<Self> {
        match name {
            Some(name) => resolve(py, &name).map(|policy| Self { policy }),
            None => Ok(Self { policy: KernelPolicy::hardened() }),
        }
    }

    /// Reads a policy file and the files that it extends.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let policy = policy_file::read(&path).map_err(|reason| error::read_error(py, &reason))?;
        Ok(Self { policy })
    }

    /// Reads the text of a policy file. An extended file is relative to the current folder.
    #[staticmethod]
    #[pyo3(signature = (text, name="policy.yaml"))]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let policy = policy_file::parse(name, text, Path::new("."))
            .map_err(|reason| error::read_error(py, &reason))?;
        Ok(Self { policy })
    }

    /// The name, which reports and traces contain.
    #[getter]
    fn name(&self) -> &str {
        &self.policy.name
    }

    /// Returns this policy with another value of one setting.
    #[pyo3(signature = (path, value, name=None))]
    fn set(
        &self,
        py: Python<'_>,
        path: &str,
        value: &Bound<'_, PyAny>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let path = self.setting_path(py, path)?;
        let value = to_yaml(&path, value)?;
        self.with_settings(py, &[(path, value)], name)
    }

    /// Returns this policy with other values of several settings, which are validated together.
    #[pyo3(signature = (settings, name=None))]
    fn set_all(&self, py: Python<'_>, settings: &Bound<'_, PyDict>, name: Option<String>) -> PyResult<Self> {
        let setting = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let path = self.setting_path(py, &path.extract::<String>()?)?;
            let value = to_yaml(&path, &value)?;
            Ok((path, value))
        };
        let settings = settings.iter().map(setting).collect::<PyResult<Vec<_>>>()?;
        self.with_settings(py, &settings, name)
    }

    /// Returns all settings by their paths in a policy file.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        for (path, value) in policy_file::setting_values(&self.policy) {
            settings.set_item(path, from_yaml(py, &value)?)?;
        }
        Ok(settings)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let path = self.setting_path(py, path)?;
        let value = policy_file::setting_values(&self.policy).into_iter().find(|(other, _)| *other == path);
        from_yaml(py, &value.map(|(_, value)| value).unwrap_or_default())
    }

    /// Returns the settings in which another policy differs, with both values.
    fn differences<'py>(&self, py: Python<'py>, other: &Self) -> PyResult<Bound<'py, PyDict>> {
        let differences = PyDict::new(py);
        for setting in policy_file::changed_settings(&self.policy, &other.policy) {
            let value = |yaml: Option<String>| yaml.map(|yaml| from_yaml(py, &yaml)).transpose();
            differences.set_item(setting.path, (value(setting.before)?, value(setting.after)?))?;
        }
        Ok(differences)
    }

    /// Returns the policy as a policy file, with the meaning of each setting.
    fn to_yaml(&self) -> String {
        policy_file::write(&self.policy)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let parse = py.get_type::<Self>().getattr("parse")?;
        Ok((parse, PyTuple::new(py, [self.to_yaml()])?))
    }

    fn __repr__(&self) -> String {
        format!("Policy('{}')", self.policy.name.escape_debug())
    }
}
