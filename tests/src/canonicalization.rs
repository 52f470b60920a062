//! Canonical names lose no information: stepping and renaming commute (design §2, rule 3).
//!
//! Each walk runs twice: with the kernel's names, and with canonical names after every step. The model checker relies
//! on their equivalence.

use crate::random_walk::{Property, conversation};
use orchestrion_claims::{History, step_violations};
use orchestrion_kernel::knowledge::{Reference, Write};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::{CallId, Input, ItemId, Policy, State, TimedInput, decide};
use std::mem;

/// A conversation under the kernel's names and under canonical names.
#[derive(Debug)]
pub struct CanonicalizedRun {
    policy: Policy,
    raw: (State, History),
    short: (State, History),
}

impl Property for CanonicalizedRun {
    const STATEMENT: &'static str = "a step and its renaming commute";

    fn new(policy: &Policy) -> Self {
        let fresh = || (State::new(conversation()), History::default());
        Self { policy: policy.clone(), raw: fresh(), short: fresh() }
    }

    fn submit(&mut self, timed: &TimedInput) -> Result<(), String> {
        let input = &timed.input;
        let renamed = TimedInput { at: timed.at, input: rename(input, &self.raw.0, &self.short.0) };
        let kind = |refused: Option<_>| refused.as_ref().map(mem::discriminant);
        let raw = kind(step(&self.policy, &mut self.raw, timed));
        let short = kind(step(&self.policy, &mut self.short, &renamed));
        if raw != short {
            return Err(format!(
                "{input:?} is accepted under only one kind of names, or refused with another refusal"
            ));
        }
        self.short.0.canonicalize();
        self.short.1.canonicalize();
        if canonical(&self.raw.0) != self.short.0 {
            return Err(format!("after {input:?} the states differ in more than names"));
        }
        let control = self.short.0.control();
        if control.pending_calls().iter().any(|call| call.id >= control.next_call()) {
            return Err(format!("after {input:?} the next call has the id of a pending call"));
        }
        let mut history = self.raw.1.clone();
        history.canonicalize();
        if history != self.short.1 {
            return Err(format!("after {input:?} the histories differ in more than the ids of calls"));
        }
        Ok(())
    }

    fn finish(self) -> Result<(), String> {
        let once = canonical(&self.raw.0);
        if canonical(&once) == once { Ok(()) } else { Err("canonicalization is not idempotent".to_string()) }
    }
}

fn step(
    policy: &Policy,
    (state, history): &mut (State, History),
    TimedInput { at, input }: &TimedInput,
) -> Option<orchestrion_kernel::Refusal> {
    match decide(policy, state, *at, input) {
        Ok(events) => {
            let before = state.clone();
            events.iter().for_each(|event| state.apply(event));
            step_violations(policy, &before, input, &events, state, history).for_each(drop);
            None
        }
        Err(refusal) => Some(refusal),
    }
}

fn canonical(state: &State) -> State {
    let mut state = state.clone();
    state.canonicalize();
    state
}

/// Translates an input to the other names: a pending call maps to the one at its place, any other to an unknown one; items
/// likewise.
fn rename(input: &Input, raw: &State, short: &State) -> Input {
    let renamed = |call: CallId| {
        let (raw, short) = (raw.control().pending_calls(), short.control().pending_calls());
        let place = raw.iter().position(|pending| pending.id == call);
        match place.and_then(|place| short.get(place)) {
            Some(pending) => pending.id,
            None => short.last().map_or(call, |last| last.id.next()),
        }
    };
    let item = |id: ItemId| {
        let position = raw.semantic().entries().position(|entry| entry.item.id == id);
        let translated =
            position.and_then(|position| short.semantic().entries().nth(position)).map(|entry| entry.item.id);
        translated.unwrap_or(short.semantic().next_id())
    };
    match input.clone() {
        Input::Reply { call, mut report, summary_update, action, interaction } => {
            if let Report::Summary { forgets: Some(ids), .. } = &mut report {
                ids.iter_mut().for_each(|id| *id = item(*id));
            }
            Input::Reply { call: renamed(call), report, summary_update, action, interaction }
        }
        Input::CallFailed { call, failure } => Input::CallFailed { call: renamed(call), failure },
        Input::Write(mut write) => {
            if let Write::Fact(fact) = &mut *write {
                for reference in &mut fact.depends_on {
                    if let Reference::Id(id) = reference {
                        *id = item(*id);
                    }
                }
            }
            Input::Write(write)
        }
        input => input,
    }
}
