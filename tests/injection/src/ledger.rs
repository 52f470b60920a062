//! What the host knows: the inputs that it sends, their acknowledgements, and the effects that it executed. It survives every crash,
//! and no code of the runtime computes it.

use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Timestamp, UserId};
use orchestrion_runtime::Call;
use std::collections::BTreeMap;

/// An input that the host sends.
#[derive(Clone, Debug)]
pub(crate) struct PlannedInput {
    /// `None`: at most once, without an acknowledgement.
    pub(crate) key: Option<String>,
    pub(crate) content: Content,
    pub(crate) sent: u32,
    pub(crate) acknowledgement: Option<InputAcknowledgement>,
}

impl PlannedInput {
    /// Whether the host has to send it.
    pub(crate) const fn is_open(&self) -> bool {
        match self.key {
            Some(_) => self.acknowledgement.is_none(),
            None => self.sent == 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputAcknowledgement {
    pub(crate) step: u64,
    pub(crate) is_accepted: bool,
}

/// The content of an input. Its text occurs in no other input.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Request(String),
    Signal(String),
    Working(String, u64),
    Cancel,
}

impl Content {
    pub(crate) const fn is_request(&self) -> bool {
        matches!(self, Self::Request(_))
    }

    /// The text that the recorded input contains.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Request(text) | Self::Signal(text) | Self::Working(text, _) => text,
            Self::Cancel => "cancel",
        }
    }

    /// The write, if it is one.
    pub(crate) fn write(&self) -> Option<Write> {
        match self {
            Self::Signal(text) => {
                Some(Write::Environment { key: "rain".into(), text: text.as_str().into(), supersedes: None })
            }
            Self::Working(text, expires_at) => Some(Write::Working {
                key: "desk".into(),
                text: text.as_str().into(),
                expires_at: Some(Timestamp::from_millis(*expires_at)),
                depends_on: Vec::new(),
            }),
            Self::Request(_) | Self::Cancel => None,
        }
    }
}

/// The user of all requests.
pub(crate) fn user() -> UserId {
    UserId::new("ada")
}

/// The scope of all requests.
pub(crate) const SCOPE: Scope = Scope::Global;

/// An effect in the world: what was done, for which request. Its identity depends on no id of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Effect {
    pub(crate) request: String,
    pub(crate) task: u32,
    pub(crate) is_undone: bool,
}

/// The effect of a call, if it has one.
pub(crate) fn effect(call: &Call) -> Option<Effect> {
    let (task, is_undone) = match call.operation {
        Operation::RunTask { task, .. } => (task, false),
        Operation::UndoTask { task } => (task, true),
        _ => return None,
    };
    let effect = Effect { request: call.request.to_string(), task: task.number(), is_undone };
    call.operation.is_effectful().then_some(effect)
}

/// An executed effect with the names that the runtime gave it.
#[derive(Clone, Debug)]
pub(crate) struct ExecutedEffect {
    pub(crate) trace: String,
    pub(crate) step: u64,
    pub(crate) times: u32,
    /// Whether the journal lost its call, so that no audit has to list it.
    pub(crate) is_lost: bool,
}

/// The host's own records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) inputs: Vec<PlannedInput>,
    pub(crate) effects: BTreeMap<Effect, ExecutedEffect>,
    /// The largest step of an acknowledgement or of an executed call.
    pub(crate) step: u64,
    pub(crate) is_close_sent: bool,
}

impl Ledger {
    /// Records an executed effect. Returns a violation if it happened before.
    pub(crate) fn execute(&mut self, call: &Call, effect: Effect) -> Result<(), String> {
        let executed = self.effects.entry(effect.clone()).or_insert_with(|| ExecutedEffect {
            trace: call.trace.to_string(),
            step: call.step,
            times: 0,
            is_lost: false,
        });
        executed.times += 1;
        if executed.times > 1 {
            return Err(format!("an effect happens twice: {effect:?}, now as {call} of {}", call.trace));
        }
        Ok(())
    }

    pub(crate) fn has_effect(&self, effect: &Effect) -> bool {
        self.effects.contains_key(effect)
    }

    /// Whether an effect happened and was undone: its call can neither be completed nor sent.
    pub(crate) fn is_undone(&self, effect: &Effect) -> bool {
        !effect.is_undone && self.has_effect(&Effect { is_undone: true, ..effect.clone() })
    }

    /// Whether another effect has the trace and the task of this one.
    pub(crate) fn has_other_effect(&self, call: &Call, effect: &Effect) -> bool {
        let trace = call.trace.to_string();
        self.effects.iter().any(|(other, executed)| {
            other != effect
                && executed.trace == trace
                && (other.task, other.is_undone) == (effect.task, effect.is_undone)
        })
    }

    pub(crate) fn input(&mut self, key: &str) -> Option<&mut PlannedInput> {
        self.inputs.iter_mut().find(|input| input.key.as_deref() == Some(key))
    }

    /// Whether every input with a key was acknowledged, and every other one was sent.
    pub(crate) fn is_complete(&self) -> bool {
        !self.inputs.iter().any(PlannedInput::is_open)
    }
}
