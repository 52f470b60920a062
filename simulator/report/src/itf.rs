//! Traces in the Informal Trace Format (ITF), for external viewers and checkers.
//!
//! A state contains the phase, the session, the expected reply, the request, and the number of items. Refused inputs are not
//! part of the format.

use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Events, Input, State};
use orchestrion_model::export::itf::ItfState;
use orchestrion_trace::{Reader, TraceError, transition};
use serde_json::{Map, Value, json};
use std::io::BufRead;

/// Builds the ITF states of a conversation, step by step.
#[derive(Debug)]
pub struct ItfBuilder {
    state: State,
    states: Vec<ItfState>,
}

impl ItfBuilder {
    /// Starts at a state without a step.
    #[must_use]
    pub fn new(state: State) -> Self {
        let states = vec![(None, itf_value(&state))];
        Self { state, states }
    }

    /// Adds a step and the state after it.
    pub fn step(&mut self, input: &Input, events: &Events) {
        events.iter().for_each(|event| self.state.apply(event));
        let row = transition(events).map(|row| format!(", {}", row.id));
        let action = format!("{}{}", input.trigger(), row.unwrap_or_default());
        self.states.push((Some(action), itf_value(&self.state)));
    }

    /// Returns the states.
    #[must_use]
    pub fn into_states(self) -> Vec<ItfState> {
        self.states
    }
}

/// Returns the ITF states of a trace, and the error that ended reading, if any.
pub fn states_from_trace<R: BufRead>(mut reader: Reader<R>) -> (Vec<ItfState>, Option<TraceError>) {
    let mut builder = ItfBuilder::new(State::new(reader.header().conversation.clone()));
    let result = reader.try_for_each(|step| {
        let step = step?;
        if step.refused.is_none() {
            builder.step(&step.input, &step.events);
        }
        Ok(())
    });
    (builder.into_states(), result.err())
}

/// Returns the variables of a state. ITF requires one type for each variable; absent values are empty or 0.
fn itf_value(state: &State) -> Value {
    let control = state.control();
    let mut variables = Map::new();
    let mut set = |name: &str, value: Value| drop(variables.insert(name.to_string(), value));
    set("phase", json!(control.phase().name()));
    set("session", json!(control.session().map_or_else(String::new, ToString::to_string)));
    set(
        "expected_reply",
        json!(
            control
                .pending_calls()
                .first()
                .map_or_else(String::new, |call| call.operation.expected_reply().to_string())
        ),
    );
    set("items", json!(state.semantic().len()));
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
    let of_roles =
        Role::ALL.into_iter().filter_map(|role| Some((role.to_string(), debate?.latest.get(role).as_ref()?)));
    let additional = debate.into_iter().flat_map(|debate| (1u32..).zip(&debate.additional));
    let additional = additional.map(|(number, argument)| (format!("additional debater {number}"), argument));
    let arguments = of_roles.chain(additional).map(|(debater, argument)| {
        json!({
            "role": debater,
            "stance": argument.stance.to_string(),
            "confidence_millionths": argument.confidence.millionths(),
        })
    });
    set("arguments", arguments.collect());
    let decisions = request.into_iter().flat_map(|request| &request.decisions);
    set("decisions", decisions.map(|decision| json!(decision.label.to_string())).collect());
    set("outcomes", request.map_or_else(|| json!([]), |request| json!(request.outcomes)));
    set("repairs", json!(request.map_or(0, |request| request.repairs)));
    let effects = request.into_iter().flat_map(|request| request.ledger.iter());
    set(
        "effects",
        effects
            .map(|effect| json!({"task": effect.task, "kind": effect.effect, "outcome": effect.outcome}))
            .collect(),
    );
    Value::Object(variables)
}
