//! Generated handoffs: short texts of few characters, so that fields are often equal or continue each other.

use crate::{Handoff, HandoffContext, HandoffTask, StepResult};
use orchestrion_kernel::{CallId, CapabilityId, NodeId, TaskId, Text, Timestamp};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn handoff() -> impl Strategy<Value = Handoff> {
    let ids = (text(), text(), number(), text(), text());
    (ids, option::of(task()), context(), number()).prop_map(|(ids, task, context, timestamp)| {
        let (from_node, to_node, call, capability, operation) = ids;
        Handoff {
            from_node: NodeId::new(from_node),
            to_node: NodeId::new(to_node),
            call: CallId::new(call),
            capability: CapabilityId::new(capability),
            operation,
            task,
            context,
            timestamp: Timestamp::from_millis(timestamp),
        }
    })
}

fn task() -> impl Strategy<Value = HandoffTask> {
    (small(), text(), map()).prop_map(|(id, text, metadata)| HandoffTask {
        id: TaskId::new(id),
        text,
        metadata,
    })
}

fn context() -> impl Strategy<Value = HandoffContext> {
    let result = (small(), any::<i32>(), text()).prop_map(|(task, exit_code, text)| StepResult {
        task: TaskId::new(task),
        exit_code,
        text,
    });
    (text(), option::of(small()), vec(result, 0..3), map(), vec(text().prop_map(NodeId::new), 0..3)).prop_map(
        |(workflow_id, step_index, prior_results, accumulated, lineage)| HandoffContext {
            workflow_id,
            step_index,
            prior_results,
            accumulated,
            lineage,
        },
    )
}

/// A zero byte and a byte 1 look like lengths and options.
pub(super) fn text() -> impl Strategy<Value = Text> {
    "[ab\u{0}\u{1}é]{0,3}".prop_map(Text::from)
}

fn map() -> impl Strategy<Value = BTreeMap<Text, Text>> {
    btree_map(text(), text(), 0..3)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..3_u64, any::<u64>()]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0..3_u32, any::<u32>()]
}
