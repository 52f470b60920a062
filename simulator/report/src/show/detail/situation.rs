//! What was said beside an answer.

use super::super::phrases;
use super::super::renderer::{Line, Renderer};
use orchestrion_kernel::situation::{ActionRecord, SummaryUpdate, ToolCall};
use std::io;

/// What a module said of the situation, as it came, and all that it told of what it thought and did.
pub(super) fn said(
    page: &mut dyn Renderer,
    update: Option<&SummaryUpdate>,
    action: Option<&ActionRecord>,
) -> io::Result<()> {
    if let Some(SummaryUpdate(texts)) = update {
        for (key, says) in texts {
            page.section("situation", Line::text(key))?;
            page.whole(says.as_str())?;
        }
    }
    let Some(record) = action else { return Ok(()) };
    page.section("action", phrases::action(record).and(format_args!(", {}", record.timestamp)))?;
    let ActionRecord { thinking, planning, reflection, approach, .. } = record;
    let told =
        [("thinking", thinking), ("planning", planning), ("reflection", reflection), ("approach", approach)];
    for (name, text) in told.into_iter().filter(|(_, text)| !text.as_str().is_empty()) {
        page.section("", Line::faint(name))?;
        page.whole(text.as_str())?;
    }
    record.tool_calls.iter().try_for_each(|call| tool(page, call))
}

fn tool(page: &mut dyn Renderer, call: &ToolCall) -> io::Result<()> {
    let args: Vec<String> = call.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    page.section("", Line::text(format_args!("{}({}) {}", call.name, args.join(", "), call.outcome)))?;
    page.whole(call.result.as_str())
}
