//! Values of settings between Python and YAML.

use crate::encoding::to_python;
use crate::error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use serde_json::Value;

/// Returns a value as YAML. Numbers are rounded to the six places that the kernel has; a text is YAML itself.
///
/// # Errors
/// `InputError` for a number that is not finite, and for a text of several lines.
pub(crate) fn to_yaml(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        return number(path, value);
    }
    if value.is_instance_of::<PyString>() {
        let text: String = value.extract()?;
        if text.chars().any(char::is_control) {
            let message =
                format!("invalid value of {path}: expected one line of text, found control characters");
            return Err(error::input_error(value.py(), message, "write a value of a policy file"));
        }
        return Ok(text);
    }
    // JSON is YAML. Numbers of other libraries, as those of NumPy, are no instances of the types above.
    match pythonize::depythonize::<Value>(value) {
        Ok(value) => Ok(value.to_string()),
        Err(_) => match value.extract::<i64>() {
            Ok(integer) => Ok(integer.to_string()),
            Err(_) => number(path, value),
        },
    }
}

fn number(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let number: f64 = value.extract()?;
    if !number.is_finite() {
        let message = format!("invalid value of {path}: expected a finite number, found {number}");
        return Err(error::input_error(value.py(), message, "write a value of a policy file"));
    }
    let decimal = format!("{number:.6}");
    let shortest = decimal.trim_end_matches('0');
    Ok(shortest.strip_suffix('.').map_or(shortest, |whole| whole).to_owned())
}

/// Returns a value of a policy file. What is no YAML remains a text.
pub(crate) fn from_yaml<'py>(py: Python<'py>, yaml: &str) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_saphyr::from_str::<Value>(yaml).unwrap_or_else(|_| Value::from(yaml));
    to_python(py, &value)
}
