//! The claims on summaries detect faults in the events of a summary. `sequences/compaction.txt` shows compaction itself.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod write_helpers;

use orchestrion_claims::{CLAIMS, History, state_violations, step_violations};
use orchestrion_kernel::item::{FactRecord, ItemKey, Layer, Rank};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::Report;
use orchestrion_kernel::policy::CompactionPolicy;
use orchestrion_kernel::{ConversationId, Event, Events, Input, Policy, State, UserId, decide};
use write_helpers::new;

fn policy() -> Policy {
    let compaction = CompactionPolicy { from_items: 2, from_tokens: 1_000, cluster_items: 2 };
    Policy { compaction, ..Policy::hardened() }
}

fn submit(state: &mut State, input: &Input) {
    let events = decide(&policy(), state, input).unwrap();
    events.iter().for_each(|event| state.apply(event));
}

fn write(key: &str, text: &str) -> Input {
    Input::Write(Box::new(Write::Fact(new(key, text, Rank::Employee))))
}

fn reply(state: &State, report: Report) -> Input {
    Input::reply(state.control().pending_call().unwrap().id, report)
}

/// Returns the claims on summaries and keys that detect a fault in the events of a summary.
fn detecting_claims(before: &State, mut events: Events, spoil: fn(&mut FactRecord)) -> Vec<&'static str> {
    for event in &mut events {
        if let Event::AddItem { item, .. } | Event::UpdateItem { item, .. } = event
            && let (ItemKey::Summary, Layer::Fact(fact)) = (&item.key, &mut item.layer)
        {
            spoil(fact);
        }
    }
    let (policy, mut after) = (policy(), before.clone());
    events.iter().for_each(|event| after.apply(event));
    let by_step = step_violations(&policy, before, &events, &after, &mut History::default());
    let all = by_step.chain(state_violations(&policy, &after)).map(|claim| CLAIMS[claim].id);
    all.filter(|id| ["C-53", "C-58", "C-90", "C-100"].contains(id)).collect()
}

#[test]
fn claims_detect_wrong_covered_keys() {
    let mut state = State::new(ConversationId::new("c"));
    let user = UserId::new("ada");
    submit(&mut state, &Input::SessionStart { user: user.clone() });
    submit(&mut state, &write("a", "1"));
    submit(&mut state, &write("b", "2"));
    submit(&mut state, &Input::UserMessage { user, text: "what now?".into() });
    let identity = reply(&state, Report::Identity { gcp: true, mongodb: true });
    submit(&mut state, &identity);
    submit(&mut state, &Input::Step);
    let summary = reply(&state, Report::Summary { text: "a is 1, b is 2".into(), forgets: None });
    let events = decide(&policy(), &state, &summary).unwrap();
    assert_eq!(detecting_claims(&state, events.clone(), |_| ()), [""; 0]);
    assert_eq!(detecting_claims(&state, events, |fact| fact.summarized_keys.clear()), ["C-90"]);
    submit(&mut state, &summary);
    let events = decide(&policy(), &state, &write("a", "9")).unwrap();
    assert_eq!(detecting_claims(&state, events.clone(), |_| ()), [""; 0]);
    let added = detecting_claims(&state, events.clone(), |fact| fact.summarized_keys.insert(0, "a".into()));
    assert_eq!(added, ["C-58", "C-100", "C-53"]);
    assert_eq!(detecting_claims(&state, events, |fact| fact.summarized_keys.push("c".into())), ["C-100"]);
}
