//! Random walks, legal and not, under random policies: at every step the kernel does what the oracle expects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod luck;
mod modules;
mod walk;

use luck::{Luck, Under};
use orchestrion_kernel::policy::Elo;
use orchestrion_kernel::{ConversationId, Events, Input, Policy, State, decide};
use orchestrion_tests::oracle::Oracle;
use serde_json::{Value, json};
use walk::{Reached, Walk};

/// Every refusal, and rows from all over the table: else the walks did not see what they should.
const TO_BE_REACHED: [&str; 18] = [
    "NotExpected",
    "WrongCall",
    "WrongReport",
    "EffectChanged",
    "NothingToResume",
    "NoSession",
    "SessionOpen",
    "WrongUser",
    "S02",
    "T13",
    "T29",
    "T34",
    "H04",
    "H08",
    "A05",
    "E14",
    "E15",
    "X08",
];

#[test]
fn the_kernel_does_what_the_documents_say() {
    let mut reached = Reached::new();
    let mut steps = 0;
    let start = std::time::Instant::now();
    for under in [Under::Hardened, Under::AsDrawn, Under::ApproverAndStandard, Under::AnyValid] {
        for seed in 0..walks() {
            let mut walk = Walk::new(under, seed);
            while walk.inputs.len() < 150 && !walk.is_over() {
                steps += 1;
                let (input, decided) = walk.step(&mut reached);
                if let Err(wrong) = walk.oracle.judge(&input, decided.as_ref(), &walk.state) {
                    panic!("{}", walk.told(&wrong));
                }
            }
        }
    }
    println!("{steps} steps in {:?}; reached {reached:?}", start.elapsed());
    for name in TO_BE_REACHED {
        assert!(reached.contains_key(name), "no walk reached {name}: {reached:?}");
    }
}

/// Walks for each kind of policy; more of them where somebody wants to wait.
fn walks() -> u64 {
    std::env::var("ORCHESTRION_WALKS").ok().and_then(|walks| walks.parse().ok()).unwrap_or(150)
}

/// A batch in which one thing was changed: an event left out, an event given twice, or a number, a word or a yes
/// within an event.
fn tampered(events: &Events, luck: &mut Luck) -> Option<Events> {
    let mut events = serde_json::to_value(events).unwrap();
    let list = events.as_array_mut().unwrap();
    if list.is_empty() {
        return None;
    }
    let place = luck.below(list.len() as u64) as usize;
    match luck.below(4) {
        0 => drop(list.remove(place)),
        1 => list.push(list[place].clone()),
        _ => {
            let mut leaves = Vec::new();
            collect_leaves(&list[place], String::new(), &mut leaves);
            if leaves.is_empty() {
                return None;
            }
            let leaf = list[place].pointer_mut(&luck.one_of(&leaves)).unwrap();
            match leaf {
                Value::Number(number) => *leaf = json!(number.as_i64().map_or(1, |n| n + 1)),
                Value::Bool(yes) => *leaf = json!(!*yes),
                Value::String(text) => text.push('!'),
                _ => return None,
            }
        }
    }
    // What cannot be an event any more is no batch that a kernel could give.
    serde_json::from_value(events).ok()
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

/// The judge is judged: whatever is changed in a batch, it complains.
#[test]
fn a_tampered_batch_is_noticed() {
    let mut noticed = 0;
    for under in [Under::Hardened, Under::AsDrawn, Under::ApproverAndStandard, Under::AnyValid] {
        for seed in 1000..1000 + walks() / 3 {
            let mut walk = Walk::new(under, seed);
            while walk.inputs.len() < 150 && !walk.is_over() {
                let (input, decided) = walk.step(&mut Reached::new());
                if let Some(events) =
                    decided.as_ref().ok().and_then(|events| tampered(events, &mut walk.luck))
                {
                    if walk.oracle.clone().judge(&input, Ok(&events), &walk.state).is_ok() {
                        let given = serde_json::to_string(&events).unwrap();
                        panic!("{}", walk.told(&format!("a tampered batch was taken: {given}")));
                    }
                    noticed += 1;
                }
                walk.oracle.judge(&input, decided.as_ref(), &walk.state).unwrap();
            }
        }
    }
    assert!(noticed > 1000, "only {noticed} batches were tampered with");
}

/// Decision 0014 lead by lead: a Critic who objects without weight, and four voices that win against it.
#[test]
fn every_lead_is_weighed_by_the_formula() {
    let policy = Policy { elo: Elo::Standard, ..Policy::hardened() };
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
