//! Pending calls.

use crate::encoding::to_python;
use orchestrion_kernel::state::Call as KernelCall;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Call>()
}

/// A call that awaits its reply.
#[pyclass(frozen, eq, hash, module = "orchestrion")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) call: KernelCall,
}

#[pymethods]
impl Call {
    /// The id, which the reply names.
    #[getter]
    fn id(&self) -> u64 {
        self.call.id.number()
    }

    /// The name of the module, such as `security`.
    #[getter]
    fn module(&self) -> &'static str {
        self.call.operation.module().name()
    }

    /// The operation in the published encoding, such as `"draft_plan"` or `{"argue": "critic"}`.
    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.call.operation)
    }

    /// Whether the reply is an argument.
    #[getter]
    fn expects_argument(&self) -> bool {
        self.call.operation.expects_argument()
    }

    /// The failure that the call must have, because it is not made; `None` if it is made.
    #[getter]
    fn not_made<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.call.not_made)
    }

    fn __repr__(&self) -> String {
        format!("Call(id={}, module='{}')", self.id(), self.module())
    }
}
