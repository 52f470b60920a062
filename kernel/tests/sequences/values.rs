//! Properties of every state of some conversations: equality, digests and encodings agree, and so do steps.

use crate::conversation::states_of;
use orchestrion_kernel::digest::digest;
use orchestrion_kernel::{Input, Policy, State, can_step, decide};

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
