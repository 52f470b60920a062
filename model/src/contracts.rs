//! The promises of `decide` and `apply` themselves, tried out state by state and step by step.

use orchestrion_kernel::claims::Contract;
use orchestrion_kernel::control::table::rows_for;
use orchestrion_kernel::module::{Ask, Failure, Report};
use orchestrion_kernel::{CallId, Event, Events, Input, Phase, Policy, Refusal, State, Text, UserId, decide};

/// Whether the contract holds in this state, for legal and illegal inputs of every kind.
#[must_use]
pub fn holds_in_state(contract: Contract, policy: &Policy, state: &State) -> bool {
    match contract {
        Contract::RefusalChangesNothing => {
            let mut untouched = state.clone();
            probes(state).iter().all(|input| match decide(policy, state, input) {
                Ok(_) => true,
                Err(refusal) => {
                    // A refusal gives no events; folding none of them is what a runtime does with it.
                    Events::new().iter().for_each(|event| untouched.apply(event));
                    untouched == *state && !refusal.to_string().is_empty()
                }
            })
        }
        Contract::Total => probes(state).iter().all(|input| match decide(policy, state, input) {
            Ok(events) => {
                let rows: Vec<_> = events
                    .iter()
                    .filter_map(|e| if let Event::Moved { row } = e { Some(*row) } else { None })
                    .collect();
                let mut allowed =
                    rows_for(policy, state.control.phase(), input.trigger()).map(|(row, _)| row);
                match rows.as_slice() {
                    [] => *input == Input::Resume && events == [Event::Resumed],
                    [row] => allowed.any(|name| name == *row),
                    _ => false,
                }
            }
            Err(_) => true,
        }),
        Contract::RefusesWhatDoesNotFit => refuses_what_does_not_fit(policy, state),
        Contract::Deterministic | Contract::FoldsFromLog => true,
    }
}

/// Whether the contract holds in this step.
#[must_use]
pub fn holds_in_step(
    contract: Contract,
    policy: &Policy,
    before: &State,
    input: &Input,
    events: &Events,
    after: &State,
) -> bool {
    match contract {
        Contract::Deterministic => decide(policy, before, input).as_ref() == Ok(events),
        Contract::FoldsFromLog => {
            let decoded =
                serde_json::to_string(events).and_then(|text| serde_json::from_str::<Events>(&text));
            let Ok(decoded) = decoded else { return false };
            let mut folded = before.clone();
            decoded.iter().for_each(|event| folded.apply(event));
            folded == *after
        }
        Contract::RefusalChangesNothing | Contract::RefusesWhatDoesNotFit | Contract::Total => true,
    }
}

/// Answers to another call, answers of another kind, and strangers are refused, each as what it is.
fn refuses_what_does_not_fit(policy: &Policy, state: &State) -> bool {
    let control = &state.control;
    let refused = |input: Input| decide(policy, state, &input).err();
    let live = control.waiting().map_or(CallId::FIRST, |call| call.id);
    let other = live.next();
    let wrong_call = [
        Input::Reply { call: other, report: Report::Delivered },
        Input::CallFailed { call: other, failure: Failure::Error },
    ];
    let wrong_report = control.waiting().is_none_or(|call| {
        let delivered = Input::Reply { call: live, report: Report::Delivered };
        matches!(call.ask, Ask::DeliverAudit)
            || matches!(refused(delivered), Some(Refusal::WrongReport { .. }))
    });
    let stranger = Input::UserMessage { user: UserId::new("stranger"), text: Text::from("?") };
    let open = control.phase() == Phase::Idle && control.session().is_some();
    wrong_call.into_iter().all(|input| matches!(refused(input), Some(Refusal::WrongCall { .. })))
        && wrong_report
        && (!open || matches!(refused(stranger), Some(Refusal::WrongUser { .. })))
}

/// At least one input of every kind, most of them out of place.
fn probes(state: &State) -> Vec<Input> {
    let live = state.control.waiting().map_or(CallId::FIRST, |call| call.id);
    let mut probes = vec![
        Input::Step,
        Input::Cancel,
        Input::Resume,
        Input::SessionEnd,
        Input::SessionStart { user: UserId::new("stranger") },
        Input::UserMessage { user: UserId::new("stranger"), text: Text::from("?") },
        Input::Reply { call: live.next(), report: Report::Delivered },
        Input::Reply { call: live, report: Report::Delivered },
        Input::Reply { call: live, report: Report::Identity { gcp: true, mongodb: true } },
        Input::CallFailed { call: live.next(), failure: Failure::Error },
        Input::CallFailed { call: live, failure: Failure::Timeout },
    ];
    if let Some(user) = state.control.session() {
        probes.push(Input::UserMessage { user: user.clone(), text: Text::from("?") });
    }
    probes
}
