//! The simulated memory: the records that the stores hold, as later requests read them (decision 0031).
//!
//! It lasts for one run of a scenario, so it survives sessions and crashes. Deliberately absent: a search. The memory returns
//! all past requests of the user, and the selection of contexts decides what a module sees.

use super::ScriptedReply;
use orchestrion_kernel::event::MemoryRecord;
use orchestrion_kernel::module::{PastRequest, Report};
use orchestrion_kernel::{Text, TraceId, UserId};
use orchestrion_runtime::Reply;
use std::collections::BTreeMap;

/// The records of all requests that at least one store holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimulatedMemory {
    /// Storing is idempotent by trace id. The order is the order of the requests.
    stored: BTreeMap<TraceId, StoredRequest>,
}

#[derive(Clone, Debug)]
struct StoredRequest {
    user: UserId,
    text: Text,
    record: MemoryRecord,
}

impl SimulatedMemory {
    /// Keeps the record of a request if the store's reply says that the store holds it.
    pub(crate) fn store(&mut self, reply: &ScriptedReply, user: &UserId, text: &Text, record: &MemoryRecord) {
        if let ScriptedReply::Reply(Reply { report: Report::Stored { held: true }, .. }) = reply {
            let stored = StoredRequest { user: user.clone(), text: text.clone(), record: record.clone() };
            self.stored.insert(record.trace.clone(), stored);
        }
    }

    /// Returns the latest ratings, and the past requests of this user. Ratings belong to the roles, so every user has the same;
    /// a record may derive from facts that only its user may read (decision 0004).
    pub(super) fn load_context(&self, user: &UserId) -> Report {
        let ratings = self.stored.values().rev().find_map(|stored| stored.record.ratings);
        let own = self.stored.values().filter(|stored| stored.user == *user);
        let traces = own.map(StoredRequest::to_past_request).collect();
        Report::Context { ratings: ratings.unwrap_or_default(), traces }
    }
}

impl StoredRequest {
    fn to_past_request(&self) -> PastRequest {
        let Self { text, record: MemoryRecord { trace, text: conclusion, scope, .. }, .. } = self;
        let text = format!("{text} → {conclusion}").into();
        PastRequest { trace: trace.clone(), text, scope: scope.clone() }
    }
}
