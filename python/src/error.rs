//! Exceptions: the errors of the library, with the text that the command prints.
//!
//! Each has the attributes `message`, `help` and `location`, which is `None` where no place is known.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use orchestrion_kernel::Refusal as KernelRefusal;
use orchestrion_kernel::policy::PolicyError as KernelPolicyError;
use orchestrion_report::text::sanitize;
use orchestrion_trace::TraceError as KernelTraceError;
use orchestrion_yaml::LabeledError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(orchestrion, Error, PyException, "Base class of all errors of Orchestrion.");
create_exception!(
    orchestrion,
    Refusal,
    Error,
    "An input that the kernel refuses. The state does not change."
);
create_exception!(orchestrion, InputError, Error, "A value that is not in the published encoding.");
create_exception!(orchestrion, ReadError, Error, "A file that cannot be read, with its place.");
create_exception!(orchestrion, TraceError, ReadError, "A trace that cannot be read, with its line.");
create_exception!(orchestrion, ProblemError, ReadError, "A context problem that is not valid.");
create_exception!(
    orchestrion,
    PolicyError,
    Error,
    "A setting that does not exist, or that contradicts another one."
);
create_exception!(orchestrion, RunError, Error, "A scenario that cannot be run to its end.");
create_exception!(orchestrion, CheckError, Error, "A check that cannot be made.");
create_exception!(
    orchestrion,
    ExperimentError,
    Error,
    "An experiment that cannot be run, or results that do not merge."
);

/// The columns of a rendered error: those of the command where no terminal states another width.
const COLUMNS: usize = 100;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in [
        ("Error", py.get_type::<Error>()),
        ("Refusal", py.get_type::<Refusal>()),
        ("InputError", py.get_type::<InputError>()),
        ("ReadError", py.get_type::<ReadError>()),
        ("TraceError", py.get_type::<TraceError>()),
        ("ProblemError", py.get_type::<ProblemError>()),
        ("PolicyError", py.get_type::<PolicyError>()),
        ("RunError", py.get_type::<RunError>()),
        ("CheckError", py.get_type::<CheckError>()),
        ("ExperimentError", py.get_type::<ExperimentError>()),
    ] {
        module.add(name, class)?;
    }
    Ok(())
}

/// The attributes of an exception.
struct Details {
    message: String,
    help: Option<String>,
    location: Option<String>,
}

/// Creates an exception from its text and its attributes.
fn with_details(
    py: Python<'_>,
    new: fn(String) -> PyErr,
    text: String,
    Details { message, help, location }: Details,
) -> PyErr {
    let error = new(text);
    let value = error.value(py);
    let set = || {
        value.setattr("message", message)?;
        value.setattr("help", help)?;
        value.setattr("location", location)
    };
    match set() {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// Creates an exception from a sentence.
fn from_sentence(py: Python<'_>, new: fn(String) -> PyErr, sentence: &impl Display) -> PyErr {
    let message = sanitize_lines(&sentence.to_string());
    with_details(py, new, message.clone(), Details { message, help: None, location: None })
}

/// Creates an exception from a diagnostic, with its excerpt and its help.
pub(crate) fn from_diagnostic(
    py: Python<'_>,
    new: fn(String) -> PyErr,
    diagnostic: &(dyn Diagnostic + Send + Sync),
) -> PyErr {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(COLUMNS);
    let mut text = String::new();
    let message = sanitize_lines(&diagnostic.to_string());
    if handler.render_report(&mut text, diagnostic).is_err() {
        text.clone_from(&message);
    }
    let help = diagnostic.help().map(|help| sanitize_lines(&help.to_string()));
    let location = location_of(diagnostic).map(|location| sanitize(&location));
    with_details(py, new, sanitize_lines(&text), Details { message, help, location })
}

/// Returns file, line and column of the first label.
fn location_of(diagnostic: &dyn Diagnostic) -> Option<String> {
    let label = diagnostic.labels()?.next()?;
    let contents = diagnostic.source_code()?.read_span(label.inner(), 0, 0).ok()?;
    let place = format!("{}:{}", contents.line() + 1, contents.column() + 1);
    Some(match contents.name() {
        Some(name) => format!("{name}:{place}"),
        None => place,
    })
}

/// Returns the text with its line breaks, and every other control character made visible.
fn sanitize_lines(text: &str) -> String {
    text.split('\n').map(sanitize).collect::<Vec<_>>().join("\n")
}

/// A refused input.
pub(crate) fn refusal(py: Python<'_>, refusal: &KernelRefusal) -> PyErr {
    from_sentence(py, Refusal::new_err, refusal)
}

/// A value that is not in the published encoding.
pub(crate) fn input_error(py: Python<'_>, message: impl Into<String>, help: &str) -> PyErr {
    let (message, help) = (sanitize_lines(&message.into()), help.to_owned());
    let text = format!("{message}; {help}");
    with_details(py, InputError::new_err, text, Details { message, help: Some(help), location: None })
}

/// A file that cannot be read.
pub(crate) fn read_error(py: Python<'_>, error: &orchestrion_yaml::ReadError) -> PyErr {
    from_diagnostic(py, ReadError::new_err, error)
}

/// A trace that cannot be read.
pub(crate) fn trace_error(py: Python<'_>, error: &KernelTraceError) -> PyErr {
    let location = match error.line {
        0 => error.file.clone(),
        line => format!("{}:{line}", error.file),
    };
    let details = Details {
        message: sanitize_lines(&error.kind.to_string()),
        help: None,
        location: Some(sanitize(&location)),
    };
    with_details(py, TraceError::new_err, sanitize_lines(&error.to_string()), details)
}

/// A message with a help, without a place.
pub(crate) fn with_help(
    py: Python<'_>,
    new: fn(String) -> PyErr,
    message: impl Into<String>,
    help: impl Into<String>,
) -> PyErr {
    from_diagnostic(py, new, &LabeledError::new(message, help).into_file_error())
}

/// Settings of a policy that contradict each other.
pub(crate) fn contradiction(py: Python<'_>, error: &KernelPolicyError) -> PyErr {
    let help = match error.conflicts_with {
        Some(other) => format!("change {} or {other}", error.setting),
        None => format!("change {}", error.setting),
    };
    with_help(py, PolicyError::new_err, error.to_string(), help)
}
