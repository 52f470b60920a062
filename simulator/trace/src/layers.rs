//! Two layers of events: decisions and texts.
//!
//! Two batches have the same decisions if their events are equal after all module texts, and all texts derived from them, are
//! blanked.

use orchestrion_kernel::Event;
use orchestrion_kernel::ids::{Text, Timestamp};
use orchestrion_kernel::item::Item;
use orchestrion_kernel::module::{PastRequest, Report};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::situation::{ActionRecord, ToolCall};
use std::collections::BTreeMap;

/// The layer in which two batches differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The decisions differ.
    Decisions,
    /// Only texts differ.
    Texts,
}

/// Returns the event with all texts blanked.
#[must_use]
pub fn without_texts(event: &Event) -> Event {
    let mut event = event.clone();
    match &mut event {
        Event::ToolResult { report, .. } => blank_report(report),
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
            *item = Item { text: blank(), ..item.clone() };
        }
        Event::FinalAnswer { text, .. } => *text = blank(),
        Event::MemoryRecorded { record } => record.text = blank(),
        Event::PlanAdopted { plan, .. } => *plan = blank_plan(plan),
        Event::ActionRecorded { record, .. } => *record = blank_record(record),
        _ => {}
    }
    event
}

fn blank() -> Text {
    Text::from("")
}

fn blank_report(report: &mut Report) {
    match report {
        Report::Context { traces, .. } => {
            for PastRequest { text, .. } in traces {
                *text = blank();
            }
        }
        Report::Classification { tags, .. } => tags.fill(blank()),
        Report::Plan(plan) => *plan = blank_plan(plan),
        Report::Argument { text, plan, .. } => {
            *text = blank();
            *plan = plan.as_ref().map(blank_plan);
        }
        Report::Repaired { text, plan } => {
            *text = blank();
            *plan = blank_plan(plan);
        }
        Report::Summary { text, .. }
        | Report::Approval { text, .. }
        | Report::NoRepair { text }
        | Report::Exit { text, .. } => *text = blank(),
        Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
    }
}

/// Keeps the iteration, the reasoning mode and the outcomes of calls.
fn blank_record(record: &ActionRecord) -> ActionRecord {
    let call = |call: &ToolCall| ToolCall {
        name: blank(),
        args: BTreeMap::new(),
        result: blank(),
        outcome: call.outcome,
    };
    ActionRecord {
        iteration: record.iteration,
        timestamp: Timestamp::default(),
        mode: record.mode,
        thinking: blank(),
        planning: blank(),
        reflection: blank(),
        approach: blank(),
        tool_calls: record.tool_calls.iter().map(call).collect(),
    }
}

fn blank_plan(plan: &Plan) -> Plan {
    let tasks = plan.tasks().iter().map(|task| Task {
        text: blank(),
        effect: match &task.effect {
            Effect::Undoable { .. } => Effect::Undoable { compensation: blank() },
            other => other.clone(),
        },
        ..task.clone()
    });
    // Task ids and order are unchanged, so the plan stays valid.
    Plan::new(tasks.collect()).unwrap_or_else(|_| plan.clone())
}
