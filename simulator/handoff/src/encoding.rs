//! The bytes of a handoff that are signed.
//!
//! The encoding is injective: different handoffs have different bytes, so a signature is valid for one handoff only. Each part of
//! variable length starts with its length or its number of elements, so no byte can move from one field to another. The fields
//! have this order:
//!
//! | field | encoding |
//! |---|---|
//! | [`DOMAIN`] | the bytes `orchestrion-handoff/1` and a zero byte |
//! | `from_node`, `to_node` | text, text |
//! | `call` | u64 |
//! | `capability`, `operation` | text, text |
//! | `task` | option of: `id` as u32, `text` as text, `metadata` as map |
//! | `context.workflow_id` | text |
//! | `context.step_index` | option of u32 |
//! | `context.prior_results` | list of: `task` as u32, `exit_code` as i32, `text` as text |
//! | `context.accumulated` | map |
//! | `context.lineage` | list of text |
//! | `timestamp` | u64, in milliseconds |
//!
//! | type | encoding |
//! |---|---|
//! | u32, i32, u64 | 4, 4 and 8 bytes, big-endian; i32 in two's complement |
//! | text | the number of bytes as u64, then the bytes in UTF-8 |
//! | option | the byte 0; or the byte 1, then the value |
//! | list | the number of elements as u64, then the elements |
//! | map | the number of entries as u64, then key and value of each as text, in the order of the bytes of the keys |
//!
//! A change of this table needs a new number in [`DOMAIN`]: an old signature is then invalid, and never valid for other content.

use super::context::{HandoffContext, StepResult};
use super::handoff::Handoff;
use super::task::HandoffTask;
use orchestrion_kernel::Text;
use std::collections::BTreeMap;

/// The start of every encoded handoff. It names the format and its version, so that no other signed message is a handoff.
pub const DOMAIN: &[u8] = b"orchestrion-handoff/1\0";

/// Encodes a handoff as the bytes that are signed (001 §6.3). The table of this module defines the format.
#[must_use]
pub fn encode(handoff: &Handoff) -> Vec<u8> {
    // A new field fails to compile here until it has a place in the table.
    let Handoff { from_node, to_node, call, capability, operation, task, context, timestamp } = handoff;
    let mut encoder = Encoder { bytes: DOMAIN.to_vec() };
    encoder.text(from_node.as_str());
    encoder.text(to_node.as_str());
    encoder.u64(call.number());
    encoder.text(capability.as_str());
    encoder.text(operation.as_str());
    encoder.option(task.as_ref(), Encoder::task);
    encoder.context(context);
    encoder.u64(timestamp.millis());
    encoder.bytes
}

struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    fn task(&mut self, task: &HandoffTask) {
        let HandoffTask { id, text, metadata } = task;
        self.u32(id.number());
        self.text(text.as_str());
        self.map(metadata);
    }

    fn context(&mut self, context: &HandoffContext) {
        let HandoffContext { workflow_id, step_index, prior_results, accumulated, lineage } = context;
        self.text(workflow_id.as_str());
        self.option(step_index.as_ref(), |encoder, index| encoder.u32(*index));
        self.len(prior_results.len());
        for result in prior_results {
            self.result(result);
        }
        self.map(accumulated);
        self.len(lineage.len());
        for node in lineage {
            self.text(node.as_str());
        }
    }

    fn result(&mut self, result: &StepResult) {
        let StepResult { task, exit_code, text } = result;
        self.u32(task.number());
        self.bytes.extend(exit_code.to_be_bytes());
        self.text(text.as_str());
    }

    fn map(&mut self, map: &BTreeMap<Text, Text>) {
        self.len(map.len());
        for (key, value) in map {
            self.text(key.as_str());
            self.text(value.as_str());
        }
    }

    fn option<T>(&mut self, value: Option<&T>, encode: impl FnOnce(&mut Self, &T)) {
        self.bytes.push(u8::from(value.is_some()));
        if let Some(value) = value {
            encode(self, value);
        }
    }

    fn text(&mut self, text: &str) {
        self.len(text.len());
        self.bytes.extend(text.as_bytes());
    }

    fn len(&mut self, len: usize) {
        // No length in memory exceeds 64 bits.
        self.u64(u64::try_from(len).unwrap_or(u64::MAX));
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_be_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes.extend(number.to_be_bytes());
    }
}
