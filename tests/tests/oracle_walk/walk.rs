//! A walk: the kernel, the oracle beside it, and what was said so far.

use crate::luck::{Luck, Under, policy};
use crate::modules::{Mood, mood, next_input};
use orchestrion_kernel::{ConversationId, Event, Events, Input, Policy, Refusal, State, decide};
use orchestrion_tests::oracle::Oracle;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the walks reached, and how often.
pub(crate) type Reached = BTreeMap<String, u64>;

/// A walk so far.
pub(crate) struct Walk {
    pub(crate) policy: Policy,
    pub(crate) oracle: Oracle,
    pub(crate) state: State,
    pub(crate) inputs: Vec<Value>,
    pub(crate) luck: Luck,
    pub(crate) mood: Mood,
}

impl Walk {
    pub(crate) fn new(under: Under, seed: u64) -> Self {
        let mut luck = Luck(seed);
        let policy = policy(under, &mut luck);
        let mood = mood(&mut luck);
        let conversation = ConversationId::new("walk");
        let (oracle, state) = (Oracle::new(&policy, &conversation), State::new(conversation));
        Self { policy, oracle, state, inputs: Vec::new(), luck, mood }
    }

    /// One step of the kernel, not yet judged.
    pub(crate) fn step(&mut self, reached: &mut Reached) -> (Input, Result<Events, Refusal>) {
        let input = if self.inputs.is_empty() && self.luck.percent(95) {
            json!({ "session_start": { "user": "ada" } })
        } else {
            next_input(&self.oracle, &mut self.luck, &self.mood)
        };
        self.inputs.push(input.clone());
        let input: Input = serde_json::from_value(input).unwrap();
        let decided = decide(&self.policy, &self.state, &input);
        match &decided {
            Ok(events) => {
                for event in events {
                    self.state.apply(event);
                    if let Event::Moved { row } = event {
                        let row = serde_json::to_value(row).unwrap();
                        *reached.entry(row.as_str().unwrap().to_owned()).or_default() += 1;
                    }
                }
            }
            Err(refusal) => {
                let name = format!("{refusal:?}");
                let kind = name.split([' ', '{']).next().unwrap_or_default().to_owned();
                *reached.entry(kind).or_default() += 1;
            }
        }
        (input, decided)
    }

    /// Whether nothing but refusals can follow.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.oracle.phase(), "Done" | "Aborted" | "RollbackComplete")
            && self.inputs.len().is_multiple_of(16)
    }

    pub(crate) fn told(&self, wrong: &str) -> String {
        let inputs: Vec<String> = self.inputs.iter().map(Value::to_string).collect();
        format!("{wrong}\nunder {:?}\nafter\n{}", self.policy, inputs.join("\n"))
    }
}
