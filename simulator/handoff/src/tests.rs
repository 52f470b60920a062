//! Tests of handoffs, signatures and key files.

mod decoder;
mod encoding;
mod generator;
mod keys;
mod signatures;

use crate::{Handoff, HandoffContext, HandoffTask, StepResult};
use orchestrion_kernel::{CallId, CapabilityId, NodeId, TaskId, Text, Timestamp};

/// Returns a handoff in which every field has a value.
fn full_handoff() -> Handoff {
    let text = |text: &str| Text::from(text);
    Handoff {
        from_node: NodeId::new("desk"),
        to_node: NodeId::new("ana"),
        call: CallId::new(7),
        capability: CapabilityId::new("translate"),
        operation: text("RunTask"),
        task: Some(HandoffTask {
            id: TaskId::new(2),
            text: text("Translate the invoice, 50 €"),
            metadata: [(text("language"), text("pt"))].into(),
        }),
        context: HandoffContext {
            workflow_id: text("invoices/1"),
            step_index: Some(1),
            prior_results: vec![StepResult { task: TaskId::new(1), exit_code: -1, text: text("no text") }],
            accumulated: [(text("pages"), text("3")), (text("total"), text("50"))].into(),
            lineage: vec![NodeId::new("desk")],
        },
        timestamp: Timestamp::from_millis(1_767_225_600_250),
    }
}

/// A change of a handoff.
type Change = fn(&mut Handoff);

/// Returns one change of every field, with the name of the field.
fn changes() -> Vec<(&'static str, Change)> {
    vec![
        ("from_node", |handoff| handoff.from_node = NodeId::new("dai")),
        ("to_node", |handoff| handoff.to_node = NodeId::new("cleo")),
        ("call", |handoff| handoff.call = handoff.call.next()),
        ("capability", |handoff| handoff.capability = CapabilityId::new("extract")),
        ("operation", |handoff| handoff.operation = "UndoTask".into()),
        ("task", |handoff| handoff.task = None),
        ("task.id", |handoff| task(handoff).id = TaskId::new(3)),
        ("task.text", |handoff| task(handoff).text = "Pay the invoice".into()),
        ("task.metadata", |handoff| task(handoff).metadata.clear()),
        ("task.metadata value", |handoff| {
            task(handoff).metadata.insert("language".into(), "de".into());
        }),
        ("workflow_id", |handoff| handoff.context.workflow_id = "invoices/2".into()),
        ("step_index", |handoff| handoff.context.step_index = None),
        ("prior_results", |handoff| handoff.context.prior_results.clear()),
        ("prior_results.task", |handoff| result(handoff).task = TaskId::new(9)),
        ("prior_results.exit_code", |handoff| result(handoff).exit_code = 0),
        ("prior_results.text", |handoff| result(handoff).text = "a text".into()),
        ("accumulated", |handoff| {
            handoff.context.accumulated.insert("total".into(), "500".into());
        }),
        ("lineage", |handoff| handoff.context.lineage.push(NodeId::new("ben"))),
        ("timestamp", |handoff| handoff.timestamp = Timestamp::from_millis(0)),
    ]
}

fn task(handoff: &mut Handoff) -> &mut HandoffTask {
    handoff.task.as_mut().unwrap()
}

fn result(handoff: &mut Handoff) -> &mut StepResult {
    handoff.context.prior_results.first_mut().unwrap()
}
