//! Confidences of arguments in recorded traces.

use orchestrion_kernel::event::Event;
use orchestrion_kernel::module::{Operation, Report, Role};
use orchestrion_kernel::{CallId, Input, Score};
use orchestrion_trace::{Reader, TraceError, TraceErrorKind};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

/// Returns the confidences of all arguments of a role in a trace, or of all additional debaters.
///
/// # Errors
/// [`TraceError`] if the trace cannot be read.
pub(crate) fn read_samples(path: &Path, role: Option<Role>) -> Result<Vec<Score>, TraceError> {
    let name = path.display().to_string();
    let file = orchestrion_files::open(path).map_err(|error| TraceError {
        file: name.clone(),
        line: 0,
        kind: TraceErrorKind::Io(error),
    })?;
    let mut operations: BTreeMap<CallId, Operation> = BTreeMap::new();
    let mut samples = Vec::new();
    for step in Reader::new(BufReader::new(file), &name)? {
        let step = step?;
        if let Input::Reply { call, report: Report::Argument { argument, .. }, .. } = &step.input
            && step.refused.is_none()
            && let Some(operation) = operations.get(call)
            && operation.arguing_role() == role
        {
            samples.push(argument.confidence);
        }
        for event in &step.events {
            if let Event::ToolCall { call, operation, .. } = event
                && operation.expects_argument()
            {
                operations.insert(*call, *operation);
            }
        }
    }
    Ok(samples)
}
