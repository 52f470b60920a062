//! The delays by which the replies to parallel tasks arrive in the recorded order.
//!
//! A scenario without delays gives all replies at once, in the order of the calls. A simulated clock advances by a millisecond with
//! each reply to a task; a delay is the time of the reply on this clock since the call was sent.

use orchestrion_kernel::state::{Call, Control};
use orchestrion_kernel::{CallId, Input};
use std::collections::BTreeMap;
use std::time::Duration;

/// The clock of the replies to tasks.
#[derive(Debug, Default)]
pub(super) struct TaskDelays {
    /// The time of the latest reply to a task, in milliseconds.
    now_ms: u64,
    /// The times at which the pending tasks were called.
    called_at_ms: BTreeMap<CallId, u64>,
}

impl TaskDelays {
    /// Returns the delay of a reply. It is zero if the task runs alone and no reply came since its call.
    pub(super) fn delay(&self, control: &Control, call: CallId) -> Duration {
        let Some(called_at_ms) = self.called_at_ms.get(&call) else { return Duration::ZERO };
        let waited_ms = self.now_ms - called_at_ms;
        if waited_ms == 0 && control.pending_calls().len() < 2 {
            return Duration::ZERO;
        }
        Duration::from_millis(waited_ms + 1)
    }

    /// Adds an accepted input, after its events were applied.
    pub(super) fn observe(&mut self, control: &Control, input: &Input) {
        let answered = match input {
            Input::Reply { call, .. } | Input::CallFailed { call, .. } => self.called_at_ms.remove(call),
            // After a crash the pending tasks are called again.
            Input::Resume => {
                self.called_at_ms.clear();
                None
            }
            Input::SessionStart { .. }
            | Input::SessionEnd
            | Input::UserMessage { .. }
            | Input::Step
            | Input::Cancel
            | Input::Write(_)
            | Input::Network(_)
            | Input::Tick => None,
        };
        self.now_ms += u64::from(answered.is_some());
        let tasks = control.pending_calls().iter().filter(|call| call.running_task().is_some());
        for Call { id, .. } in tasks {
            self.called_at_ms.entry(*id).or_insert(self.now_ms);
        }
    }
}
