//! Properties of every state of some conversations: equality, digests and encodings agree, and so do steps.

use crate::conversation::states_of;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::control::transition::TransitionId;
use orchestrion_kernel::digest::digest;
use orchestrion_kernel::item::Layer;
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Input, Policy, State, can_step, decide};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hash};

/// Conversations that fill every part of a state.
const CONVERSATIONS: [&str; 4] = [
    "conversation hardened; session_start ada authority=manager; fact a 1; fact b 2 scope=task:t; fact a 3
working c 4 expires_at=9 depends_on=a; environment d 5; advance RunningTasks; reply exit 0 done; advance Idle",
    "conversation hardened; create_network desk; join ana read trust=0.9; join ben check trust=0.8; session_start ada
advance Planning; reply pipeline read check; advance RunningTasks; handoff; signal desk mal
reply exit 0 draft feedback=5; handoff; reply exit 1 wrong; handoff; reply exit 0 better; handoff; reply exit 0 right",
    "conversation hardened; create_network desk; join ana read trust=0.9; join ben read trust=0.8; session_start ada
advance Planning; reply redundant read 2; advance RunningTasks; step; handoff; handoff
reply exit 0 yes call=10; reply exit 0 no call=11; report_load ana 0.5; rotate_key ben new; leave ana",
    "conversation hardened; session_start ada; fact a 1 scope=task:t; advance Planning
reply plan effect=undoable:undo second_effect=irreversible task_scope=task:t; advance RunningTasks; reply exit 0 one; cancel",
];

/// Returns every state of the conversations.
fn states() -> Vec<State> {
    CONVERSATIONS.into_iter().flat_map(states_of).collect()
}

fn encode(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

#[test]
fn states_are_equal_if_their_encodings_are() {
    let states = states();
    let encoded: Vec<String> = states.iter().map(encode).collect();
    let mut differing = 0;
    for (one, text) in states.iter().zip(&encoded) {
        for (other, other_text) in states.iter().zip(&encoded) {
            let is_equal = text == other_text;
            assert!((one == other) == is_equal, "equality of\n{text}\n{other_text}");
            assert!((digest(one) == digest(other)) == is_equal, "digests of\n{text}\n{other_text}");
            differing += usize::from(!is_equal);
        }
    }
    assert!(differing > 1_000, "{differing}");
}

#[test]
fn states_survive_their_encoding() {
    for state in states() {
        let encoded = encode(&state);
        let decoded: State = serde_json::from_str(&encoded).unwrap();
        assert!(decoded == state, "{encoded}");
        assert!(decoded.semantic().is_consistent(), "{encoded}");
        assert_eq!(encode(&decoded), encoded);
    }
}

#[test]
fn step_is_possible_if_it_is_accepted() {
    let policy = Policy::hardened();
    let mut possible = 0;
    for state in states() {
        let is_accepted = decide(&policy, &state, state.now(), &Input::Step).is_ok();
        assert_eq!(can_step(&policy, &state), is_accepted, "{}", encode(&state));
        possible += usize::from(is_accepted);
    }
    assert!(possible > 0);
}

/// Checks that equal values, and only they, have equal hashes, and that different ones print differently.
fn check_hashes<T: Debug + Eq + Hash>(values: impl IntoIterator<Item = T>) {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let describe = |value: T| (hasher.hash_one(&value), format!("{value:?}"), value);
    let values: Vec<(u64, String, T)> = values.into_iter().map(describe).collect();
    let mut differing = 0;
    for (hash, text, one) in &values {
        for (other_hash, other_text, other) in &values {
            assert_eq!(one == other, hash == other_hash, "{text}\n{other_text}");
            assert!(one == other || text != other_text, "{text}");
            differing += usize::from(one != other);
        }
    }
    assert!(differing > 0, "all values are equal");
}

#[test]
fn hashes_distinguish_values() {
    let states = states();
    let requests: Vec<&Request> = states.iter().filter_map(|state| state.control().request()).collect();
    check_hashes(TRANSITIONS.iter().map(TransitionId::from_transition));
    check_hashes(states.iter().map(State::semantic));
    check_hashes(states.iter().map(State::network));
    check_hashes(requests.iter().map(|request| &request.ledger));
    check_hashes(requests.iter().map(|request| &request.outcomes));
    check_hashes(requests.iter().map(|request| request.plan.as_ref().map(|plan| &plan.plan)));
}

#[test]
fn mutable_parts_equal_shared_parts() {
    for mut state in states() {
        assert_eq!(state.network_mut().cloned(), state.network().cloned());
        assert_eq!(state.control_mut().request_mut().cloned(), state.control().request().cloned());
    }
}

#[test]
fn items_of_requests_have_a_user() {
    for state in states() {
        for Entry { item, .. } in state.semantic().entries() {
            let user = if let Layer::Request { user, .. } = &item.layer { Some(user) } else { None };
            assert_eq!(item.user(), user);
        }
    }
}

#[test]
fn cleared_ledger_is_empty() {
    for request in states().iter().filter_map(|state| state.control().request()) {
        let mut ledger = request.ledger.clone();
        assert_eq!(ledger.is_empty(), ledger.iter().next().is_none());
        ledger.clear();
        assert!(ledger.is_empty());
    }
}

#[test]
fn plan_converts_to_its_tasks() {
    let states = states();
    let requests = states.iter().filter_map(|state| state.control().request());
    let plans: Vec<&Plan> =
        requests.filter_map(|request| request.plan.as_ref()).map(|plan| &plan.plan).collect();
    assert!(!plans.is_empty());
    for plan in plans {
        assert_eq!(Vec::<Task>::from(plan.clone()), plan.tasks());
    }
}
