//! The inputs that a host sent with an idempotency key.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The number of inputs with a key that a conversation remembers. The oldest is forgotten first; a repetition of it is a new input.
pub const RECENT_INPUTS_MAX: usize = 1024;

/// The idempotency key of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idempotency {
    /// The key. The host chooses it.
    pub key: String,
    /// The digest of what the host sent under the key.
    pub digest: String,
}

/// A recorded input with a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedInput {
    /// Its key.
    pub idempotency: Idempotency,
    /// Its step.
    pub step: u64,
    /// Whether the kernel accepted it: it neither refused it nor denied its write.
    pub is_accepted: bool,
}

/// The latest inputs with a key, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentInputs(VecDeque<RecordedInput>);

impl RecentInputs {
    /// Returns the input that was recorded under the key, if it is not forgotten.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RecordedInput> {
        self.0.iter().rev().find(|input| input.idempotency.key == key)
    }

    pub(crate) fn record(&mut self, input: RecordedInput) {
        self.0.push_back(input);
        if self.0.len() > RECENT_INPUTS_MAX {
            self.0.pop_front();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_key_is_forgotten_first() {
        let mut inputs = RecentInputs::default();
        for step in 0..=RECENT_INPUTS_MAX as u64 {
            let idempotency = Idempotency { key: format!("w-{step}"), digest: String::new() };
            inputs.record(RecordedInput { idempotency, step, is_accepted: true });
        }
        assert_eq!(inputs.get("w-0"), None);
        assert_eq!(inputs.get("w-1").map(|input| input.step), Some(1));
        assert_eq!(inputs.get("w-1024").map(|input| input.step), Some(1024));
    }
}
