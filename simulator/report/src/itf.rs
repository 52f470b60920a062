//! Runs in the Informal Trace Format, for other people's viewers and checkers.
//!
//! A state is shown as what a reader follows: the phase, the session, the call that is waited for, the request and what
//! is known. A refused input is no step, and not in it.

use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Event, Events, Input, State};
use orchestrion_model::export::itf::ItfState;
use orchestrion_trace::{Reader, TraceError};
use serde_json::{Map, Value, json};
use std::io::BufRead;

/// A conversation as it is shown, from its beginning.
#[derive(Debug)]
pub struct ItfBuilder {
    state: State,
    shots: Vec<ItfState>,
}

impl ItfBuilder {
    /// The course of a conversation in which nothing has happened.
    #[must_use]
    pub fn new(state: State) -> Self {
        let shots = vec![(None, shown(&state))];
        Self { state, shots }
    }

    /// Goes one step on.
    pub fn step(&mut self, input: &Input, events: &Events) {
        events.iter().for_each(|event| self.state.apply(event));
        let row = events.iter().find_map(|event| match event {
            Event::Transitioned { row } => Some(format!(", {row}")),
            _ => None,
        });
        let action = format!("{}{}", input.trigger(), row.unwrap_or_default());
        self.shots.push((Some(action), shown(&self.state)));
    }

    /// What was shown.
    #[must_use]
    pub fn into_shots(self) -> Vec<ItfState> {
        self.shots
    }
}

/// The course of a trace, and why it was not read to its end, if it was not.
pub fn of_trace<R: BufRead>(mut reader: Reader<R>) -> (Vec<ItfState>, Option<TraceError>) {
    let mut course = ItfBuilder::new(State::new(reader.header().conversation.clone()));
    let unread = reader.try_for_each(|step| {
        let step = step?;
        if step.refused.is_none() {
            course.step(&step.input, &step.events);
        }
        Ok(())
    });
    (course.into_shots(), unread.err())
}

/// A state, as variables that each have one type in every state: what is not there is empty, or 0.
fn shown(state: &State) -> Value {
    let control = &state.control;
    let mut shown = Map::new();
    let mut set = |name: &str, value: Value| drop(shown.insert(name.to_string(), value));
    set("phase", json!(control.phase().name()));
    set("session", json!(control.session().map_or_else(String::new, ToString::to_string)));
    set(
        "waits_for",
        json!(
            control
                .pending_call()
                .map_or_else(String::new, |call| call.operation.expected_reply().to_string())
        ),
    );
    set("items", json!(state.semantic.len()));
    let request = control.request();
    set("request", json!(request.map_or(0, |request| request.id.number())));
    set("verified", json!(request.is_some_and(|request| request.verified)));
    let plan = request.and_then(|request| request.plan.as_ref());
    set("revision", json!(plan.map_or(0, |plan| plan.revision.number())));
    let debate = request.map(|request| &request.debate);
    set("pass", json!(debate.map_or(0, |debate| debate.pass)));
    set("vetoed", json!(debate.is_some_and(|debate| debate.vetoed)));
    let scored = debate.and_then(|debate| debate.scored);
    set("consensus_millionths", json!(scored.map_or(0, |scored| scored.score.millionths())));
    let arguments = Role::ALL.into_iter().filter_map(|role| {
        let argument = debate?.latest.get(role).as_ref()?;
        Some(json!({
            "role": role.to_string(),
            "stance": argument.stance.to_string(),
            "confidence_millionths": argument.confidence.millionths(),
        }))
    });
    set("arguments", arguments.collect());
    let decisions = request.into_iter().flat_map(|request| &request.decisions);
    set("decisions", decisions.map(|decision| json!(decision.label.to_string())).collect());
    set("outcomes", request.map_or_else(|| json!([]), |request| json!(request.outcomes)));
    set("repairs", json!(request.map_or(0, |request| request.repairs)));
    let effects = request.into_iter().flat_map(|request| &request.ledger);
    set(
        "effects",
        effects
            .map(|effect| json!({"task": effect.task, "kind": effect.effect, "end": effect.outcome}))
            .collect(),
    );
    Value::Object(shown)
}
