//! The events of a step as a journal stores them.

use crate::digest::digest;
use crate::facts::emitted_call;
use orchestrion_kernel::{CallId, Event};
use serde::{Deserialize, Serialize};

/// A digest of a batch, which the kernel decides again from the input. The call shows in the line that the host may know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsDigest {
    /// The digest of the events as JSON.
    pub(crate) digest: String,
    /// The call that the batch emits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call: Option<CallId>,
}

impl EventsDigest {
    /// Digests a batch. Returns `None` if it is empty. `json` is a buffer.
    ///
    /// # Errors
    /// An event cannot be serialized.
    pub(crate) fn of_step(events: &[Event], json: &mut Vec<u8>) -> serde_json::Result<Option<Self>> {
        if events.is_empty() {
            return Ok(None);
        }
        json.clear();
        serde_json::to_writer(&mut *json, events)?;
        Ok(Some(Self { digest: digest(json), tool_call: emitted_call(events).map(|call| call.id) }))
    }
}
