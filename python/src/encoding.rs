//! Values between Python and the published encoding, which traces and schemas use.

use crate::error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;

const HELP: &str =
    "the encoding is that of a trace; see specs/pages/trace-format.md, or print `to_dict()` of another value";

/// Returns a value in the published encoding, as dictionaries, lists, texts and numbers.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    without_tuples(pythonize::pythonize(py, value)?)
}

/// Replaces tuples by lists, as in JSON.
fn without_tuples(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let parts = tuple.iter().map(without_tuples).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(value.py(), parts)?.into_any());
    }
    if let Ok(list) = value.cast::<PyList>() {
        for (index, part) in list.iter().enumerate() {
            list.set_item(index, without_tuples(part)?)?;
        }
    } else if let Ok(dict) = value.cast::<PyDict>() {
        for (key, part) in dict.iter().collect::<Vec<_>>() {
            dict.set_item(key, without_tuples(part)?)?;
        }
    }
    Ok(value)
}

/// Reads a value in the published encoding. `noun` names it in the error.
///
/// # Errors
/// `InputError`, with the reason.
pub(crate) fn from_python<T: DeserializeOwned>(value: &Bound<'_, PyAny>, noun: &str) -> PyResult<T> {
    pythonize::depythonize(value)
        .map_err(|reason| error::input_error(value.py(), format!("invalid {noun}: {reason}"), HELP))
}
