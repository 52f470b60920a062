//! The summary update and the action record of a reply.

use super::super::phrases;
use super::super::renderer::{Line, Renderer};
use orchestrion_kernel::situation::{ActionRecord, SummaryUpdate, ToolCall};
use std::io;

/// Writes the summary update as the module sent it, and the texts of the action record.
pub(super) fn write(
    out: &mut dyn Renderer,
    update: Option<&SummaryUpdate>,
    action: Option<&ActionRecord>,
) -> io::Result<()> {
    if let Some(SummaryUpdate(fields)) = update {
        for (key, text) in fields {
            out.write_section("situation", Line::text(key))?;
            out.write_text(text.as_str())?;
        }
    }
    let Some(record) = action else { return Ok(()) };
    out.write_section("action", phrases::action(record).and(format_args!(", {}", record.timestamp)))?;
    let ActionRecord { thinking, planning, reflection, approach, .. } = record;
    let texts =
        [("thinking", thinking), ("planning", planning), ("reflection", reflection), ("approach", approach)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.as_str().is_empty()) {
        out.write_section("", Line::dim(name))?;
        out.write_text(text.as_str())?;
    }
    record.tool_calls.iter().try_for_each(|call| write_tool_call(out, call))
}

fn write_tool_call(out: &mut dyn Renderer, call: &ToolCall) -> io::Result<()> {
    let args: Vec<String> = call.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out.write_section("", Line::text(format_args!("{}({}) {}", call.name, args.join(", "), call.outcome)))?;
    out.write_text(call.result.as_str())
}
