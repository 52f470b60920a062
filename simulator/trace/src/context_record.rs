//! The record of a context in a trace. It is a function of the state, so it is no event.

use crate::digest::digest;
use orchestrion_kernel::context::SelectionStatus;
use orchestrion_kernel::{CallId, ItemId, ModuleContext};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// The context of a call: the selection, its proven quality and a digest of its text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ContextLine")]
pub struct ContextRecord {
    /// The call.
    pub call: CallId,
    /// The selected items, in the order of the text.
    pub items: Vec<ItemId>,
    /// The cost of the text in tokens.
    pub cost_tokens: u64,
    /// The cost of the payload of the call in tokens. The budget covers both.
    pub payload_tokens: u64,
    /// The sum of the utilities of the items.
    pub utility: u64,
    /// The proven quality of the selection.
    pub status: SelectionStatus,
    /// The digest of the text.
    pub digest: String,
}

impl ContextRecord {
    /// Creates the record of a context whose text has this digest.
    pub(crate) fn new(call: CallId, context: &ModuleContext, digest: String) -> Self {
        let ModuleContext { ids, cost_tokens, payload_tokens, text: _, utility, status } = context;
        Self {
            call,
            items: ids.clone(),
            cost_tokens: *cost_tokens,
            payload_tokens: *payload_tokens,
            utility: *utility,
            status: *status,
            digest,
        }
    }

    /// The digest of the record, which a journal stores in its place.
    #[must_use]
    pub fn record_digest(&self) -> String {
        // Numbers and names are always serialized.
        digest(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The upper bound on the utility of every valid selection.
    #[must_use]
    pub const fn bound(&self) -> u64 {
        self.status.bound(self.utility)
    }

    /// Whether the selection is proven optimal, tie-break included.
    #[must_use]
    pub const fn is_proven(&self) -> bool {
        matches!(self.status, SelectionStatus::Optimal)
    }
}

/// The name of a status in a trace.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Optimal,
    NotProven,
}

/// A record as it is written. Its numbers may contradict its status.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextLine {
    call: CallId,
    items: Vec<ItemId>,
    cost_tokens: u64,
    payload_tokens: u64,
    utility: u64,
    bound: u64,
    status: StatusName,
    digest: String,
}

impl TryFrom<ContextLine> for ContextRecord {
    type Error = String;

    fn try_from(line: ContextLine) -> Result<Self, String> {
        let ContextLine { call, items, cost_tokens, payload_tokens, utility, bound, status, digest } = line;
        let status = match status {
            StatusName::Optimal if bound == utility => SelectionStatus::Optimal,
            StatusName::NotProven if bound >= utility => SelectionStatus::NotProven { bound },
            StatusName::Optimal => {
                return Err(format!(
                    "context of call {call}: expected the bound {utility} of an optimal utility, found {bound}"
                ));
            }
            StatusName::NotProven => {
                return Err(format!(
                    "context of call {call}: expected a bound of at least the utility {utility}, found {bound}"
                ));
            }
        };
        Ok(Self { call, items, cost_tokens, payload_tokens, utility, status, digest })
    }
}

impl Serialize for ContextRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(&self.items, serializer)
    }
}

impl ContextRecord {
    /// Serializes the record with another encoding of its items.
    pub(crate) fn serialize_with<S: Serializer>(
        &self,
        items: &impl Serialize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("ContextRecord", 8)?;
        line.serialize_field("call", &self.call)?;
        line.serialize_field("items", items)?;
        line.serialize_field("cost_tokens", &self.cost_tokens)?;
        line.serialize_field("payload_tokens", &self.payload_tokens)?;
        line.serialize_field("utility", &self.utility)?;
        line.serialize_field("bound", &self.bound())?;
        line.serialize_field("status", self.status.name())?;
        line.serialize_field("digest", &self.digest)?;
        line.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(utility: u64, bound: u64, status: &str) -> String {
        format!(
            r#"{{"call":3,"items":[1,4],"cost_tokens":9,"payload_tokens":2,"utility":{utility},"bound":{bound},"status":"{status}","digest":"d"}}"#
        )
    }

    #[test]
    fn record_survives_a_round_trip() {
        for text in [line(5, 5, "optimal"), line(5, 5, "not_proven"), line(5, 8, "not_proven")] {
            let record: ContextRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), text);
        }
    }

    #[test]
    fn contradictory_status_is_refused() {
        let error = |text: &str| serde_json::from_str::<ContextRecord>(text).unwrap_err().to_string();
        assert!(error(&line(5, 6, "optimal")).contains("expected the bound 5"));
        assert!(error(&line(5, 4, "optimal")).contains("expected the bound 5"));
        assert!(error(&line(5, 4, "not_proven")).contains("at least the utility 5, found 4"));
        assert!(error(&line(5, 5, "proven")).contains("unknown variant"));
    }
}
