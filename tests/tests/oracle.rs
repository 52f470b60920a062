//! The judge is judged: what the oracle takes, and what it does not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::policy::EloMethod;
use orchestrion_kernel::{ConversationId, Events, Input, Policy, State, decide};
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::random_walk::conversation;
use orchestrion_tests::regressions::random_walks;
use serde_json::{Value, json};

/// Random walks in which every batch is tampered with in every way.
const WALKS: u32 = 40;

/// Whatever is changed in a batch, the oracle complains.
#[test]
fn tampered_batch_is_detected() {
    let mut noticed = 0;
    for (policy, inputs) in random_walks(WALKS) {
        let (mut oracle, mut state) = (Oracle::new(&policy, &conversation()), State::new(conversation()));
        for input in &inputs {
            let decided = decide(&policy, &state, input);
            decided.iter().flatten().for_each(|event| state.apply(event));
            for events in decided.iter().flat_map(tampered) {
                let found = oracle.clone().judge(input, Ok(&events), &state);
                let given = || serde_json::to_string(&events).unwrap();
                assert!(found.is_err(), "{input:?}: a tampered batch was taken: {}", given());
                noticed += 1;
            }
            oracle.judge(input, decided.as_ref(), &state).unwrap();
        }
    }
    assert!(noticed > 10_000, "only {noticed} batches were tampered with");
}

/// The batch, each time with one thing changed: an event left out, an event given twice, or a number, a word or a yes
/// within an event.
fn tampered(events: &Events) -> Vec<Events> {
    let whole = serde_json::to_value(events).unwrap();
    let list = whole.as_array().unwrap();
    let mut all = Vec::new();
    for (place, event) in list.iter().enumerate() {
        let (mut without, mut twice) = (list.clone(), list.clone());
        without.remove(place);
        twice.push(event.clone());
        all.extend([without, twice]);
        let mut leaves = Vec::new();
        collect_leaves(event, String::new(), &mut leaves);
        for leaf in leaves {
            let mut changed = list.clone();
            let value = changed[place].pointer_mut(&leaf).unwrap();
            match value {
                Value::Number(number) => *value = json!(number.as_i64().map_or(1, |n| n + 1)),
                Value::Bool(yes) => *value = json!(!*yes),
                Value::String(text) => text.push('!'),
                _ => continue,
            }
            all.push(changed);
        }
    }
    // What cannot be an event any more is no batch that a kernel could give.
    all.into_iter().filter_map(|events| serde_json::from_value(Value::Array(events)).ok()).collect()
}

/// The places within an event at which a value stands. Which row was taken is not judged, and no document fixes
/// what a record and an answer say.
fn collect_leaves(value: &Value, path: String, leaves: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "moved") {
                let composed = path.ends_with("/record") || path.ends_with("/final_answer");
                if !(composed && name == "text") {
                    collect_leaves(field, format!("{path}/{name}"), leaves);
                }
            }
        }
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                collect_leaves(value, format!("{path}/{place}"), leaves);
            }
        }
        _ => leaves.push(path),
    }
}

/// Decision 0014 lead by lead: a Critic who objects without weight, and four voices that win against it.
#[test]
fn expected_score_follows_formula() {
    let policy = Policy { elo: EloMethod::Standard, ..Policy::hardened() };
    let leads: Vec<i64> = (-1000..=1000).collect();
    for four in leads.chunks(4) {
        let points = |place: usize| 1000 + four.get(place).copied().unwrap_or_default();
        let rating = |elo: i64| json!({ "elo": elo, "successes": 0, "matches": 0 });
        let voice = |stance: &str, confidence: u32| {
            json!({ "argument": {
                "argument": { "stance": stance, "confidence": confidence }, "text": "", "plan": null,
            }})
        };
        let (pro, con) = (voice("pro", 1_000_000), voice("con", 1));
        let reports = [
            json!({ "identity": { "gcp": true, "mongodb": true } }),
            json!({ "context": { "traces": [], "ratings": {
                "analyst": rating(points(0)), "solution": rating(points(1)), "critic": rating(1000),
                "security": rating(points(2)), "optimizer": rating(points(3)),
            }}}),
            json!({ "classification": { "tags": [], "similarity": 0 } }),
            json!({ "plan": [{ "id": 1, "text": "", "effect": "pure" }] }),
            pro.clone(),
            pro.clone(),
            con,
            pro.clone(),
            pro,
        ];
        let conversation = ConversationId::new("leads");
        let (mut oracle, mut state) = (Oracle::new(&policy, &conversation), State::new(conversation));
        let mut reports = reports.into_iter();
        let mut input = json!({ "session_start": { "user": "ada" } });
        while oracle.phase() != "RunningTasks" {
            let typed: Input = serde_json::from_value(input).unwrap();
            let decided = decide(&policy, &state, &typed);
            for event in decided.iter().flatten() {
                state.apply(event);
            }
            oracle
                .judge(&typed, decided.as_ref(), &state)
                .unwrap_or_else(|wrong| panic!("{four:?}: {wrong}"));
            input = match (oracle.waiting(), oracle.phase()) {
                (Some(call), _) => {
                    json!({ "reply": { "call": call.id.number(), "report": reports.next() } })
                }
                (None, "Idle") => json!({ "user_message": { "user": "ada", "text": "" } }),
                (None, _) => json!("step"),
            };
        }
    }
}
