//! What users and modules say in a walk, legal and not, in the published encoding.

use crate::luck::{LINES, Luck};
use orchestrion_tests::oracle::Oracle;
use serde_json::{Value, json};

/// How the modules of one walk are disposed, in percent.
pub(crate) struct Mood {
    pro: u64,
    success: u64,
    failure: u64,
    illegal: u64,
    cancel: u64,
    /// The confidence of every argument, and ratings that nobody has earned yet.
    unison: Option<u32>,
}

pub(crate) fn mood(luck: &mut Luck) -> Mood {
    Mood {
        pro: luck.one_of(&[30, 60, 75, 90, 97]),
        success: luck.one_of(&[20, 60, 85, 97]),
        failure: luck.one_of(&[0, 1, 4, 15]),
        illegal: luck.one_of(&[0, 5, 30]),
        cancel: luck.one_of(&[0, 0, 1, 4]),
        unison: luck.one_of(&[None, None, Some(500_000)]),
    }
}

pub(crate) fn tasks(luck: &mut Luck) -> Value {
    let mut numbers: Vec<u64> = (1..=4).collect();
    for place in (1..numbers.len()).rev() {
        let other = luck.below(place as u64 + 1) as usize;
        numbers.swap(place, other);
    }
    numbers.truncate(1 + luck.below(4) as usize);
    let task = |number: u64, luck: &mut Luck| {
        // Mostly a number keeps its kind of effect, as a later plan must.
        let kind = if luck.percent(92) { number % 3 } else { luck.below(3) };
        let effect = match kind {
            0 => json!("pure"),
            1 => json!({ "undoable": { "compensation": luck.one_of(&["put back", "delete"]) } }),
            _ => json!("irreversible"),
        };
        json!({ "id": number, "text": luck.one_of(&["write", "copy", "tell"]), "effect": effect })
    };
    numbers.into_iter().map(|number| task(number, luck)).collect()
}

pub(crate) fn text(luck: &mut Luck) -> &'static str {
    luck.one_of(&["so be it", "not so", "perhaps", ""])
}

pub(crate) fn ratings(luck: &mut Luck) -> Value {
    let mut ratings = serde_json::Map::new();
    for role in ["analyst", "solution", "critic", "security", "optimizer"] {
        let any = u32::try_from(luck.below(2400)).unwrap();
        let elo = luck.one_of(&[
            any,
            any,
            any,
            any,
            1200,
            1200,
            0,
            3,
            15,
            599,
            600,
            601,
            1150,
            1234,
            1799,
            1801,
            2400,
            u32::MAX,
        ]);
        let matches = luck.one_of(&[0, 0, 1, 3, 7, 1000, u32::MAX]);
        let successes = luck.one_of(&[0, 1, 2, 3, 500, u32::MAX]);
        ratings.insert(role.to_owned(), json!({ "elo": elo, "successes": successes, "matches": matches }));
    }
    Value::Object(ratings)
}

pub(crate) fn argument(luck: &mut Luck, mood: &Mood, plan: bool) -> Value {
    let plan = if plan { tasks(luck) } else { Value::Null };
    let stance = if luck.percent(mood.pro) { "pro" } else { "con" };
    let confidence = match mood.unison {
        Some(confidence) => confidence,
        None if luck.percent(70) => luck.one_of(&LINES),
        None => u32::try_from(luck.below(1_000_001)).unwrap(),
    };
    json!({ "argument": {
        "argument": { "stance": stance, "confidence": confidence }, "text": text(luck), "plan": plan,
    }})
}

/// A report of the right type for a question; its name is the first word of the question's encoding.
pub(crate) fn report(question: &Value, luck: &mut Luck, mood: &Mood) -> Value {
    let name = question.as_str().map(str::to_owned).unwrap_or_else(|| {
        question.as_object().and_then(|body| body.keys().next()).cloned().unwrap_or_default()
    });
    match name.as_str() {
        "verify_identity" => json!({ "identity": {
            "gcp": luck.percent(96), "mongodb": luck.percent(96),
        }}),
        "load_context" => {
            let traces: Vec<Value> = (0..luck.below(4))
                .map(|_| {
                    let trace =
                        json!({ "conversation": luck.one_of(&["old", "walk"]), "request": 1 + luck.below(2) });
                    json!({ "trace": trace, "text": text(luck) })
                })
                .collect();
            let fresh = json!({ "elo": 1200, "successes": 0, "matches": 0 });
            let fresh = json!({
                "analyst": fresh, "solution": fresh, "critic": fresh, "security": fresh, "optimizer": fresh,
            });
            let ratings = if mood.unison.is_some() || luck.percent(50) { fresh } else { ratings(luck) };
            json!({ "context": { "ratings": ratings, "traces": traces } })
        }
        "classify" => json!({ "classification": {
            "tags": luck.one_of(&[vec![], vec!["a"], vec!["a", "b"]]), "similarity": luck.one_of(&LINES),
        }}),
        "draft_plan" => json!({ "plan": tasks(luck) }),
        "argue" => {
            let revises = matches!(question["argue"].as_str(), Some("solution" | "optimizer"));
            let plan = revises && luck.percent(25);
            argument(luck, mood, plan)
        }
        "reread" => argument(luck, mood, false),
        "approve" => json!({ "approval": { "approved": luck.percent(80), "text": text(luck) } }),
        "diagnose" if luck.percent(mood.success.max(50)) => {
            json!({ "repaired": { "text": text(luck), "plan": tasks(luck) } })
        }
        "diagnose" => json!({ "no_repair": { "text": text(luck) } }),
        "run_task" | "undo_task" => {
            let code = if luck.percent(mood.success) { 0 } else { luck.one_of(&[1, -1, 124]) };
            json!({ "exit": { "code": code, "text": text(luck) } })
        }
        "remember" => json!({ "stored": { "held": luck.percent(85) } }),
        _ => json!("delivered"),
    }
}

pub(crate) const FAILURES: [&str; 5] = ["error", "timeout", "malformed", "no_candidates", "unknown"];

pub(crate) fn next_input(oracle: &Oracle, luck: &mut Luck, mood: &Mood) -> Value {
    if luck.percent(mood.illegal) {
        return any_input(oracle, luck, mood);
    }
    if luck.percent(mood.cancel) {
        return json!("cancel");
    }
    if let Some(call) = oracle.waiting() {
        let (id, question) = (call.id.number(), serde_json::to_value(call.ask).unwrap());
        if luck.percent(mood.failure) {
            return json!({ "call_failed": { "call": id, "failure": luck.one_of(&FAILURES) } });
        }
        return json!({ "reply": { "call": id, "report": report(&question, luck, mood) } });
    }
    match oracle.phase() {
        "Idle" if luck.percent(10) => json!("session_end"),
        "Idle" if luck.percent(20) => json!({ "session_start": { "user": "ada" } }),
        "Idle" => json!({ "user_message": { "user": "ada", "text": text(luck) } }),
        _ => json!("step"),
    }
}

pub(crate) fn any_input(oracle: &Oracle, luck: &mut Luck, mood: &Mood) -> Value {
    let user = luck.one_of(&["ada", "eve"]);
    let live = oracle.waiting().map_or(1, |call| call.id.number());
    let call = if luck.percent(70) { live } else { luck.one_of(&[0, 1, live.saturating_sub(1), live + 1]) };
    match luck.below(8) {
        0 => json!({ "session_start": { "user": user } }),
        1 => json!("session_end"),
        2 => json!({ "user_message": { "user": user, "text": text(luck) } }),
        3 | 4 => {
            let question = luck.one_of(&[
                json!("verify_identity"),
                json!("load_context"),
                json!("classify"),
                json!("draft_plan"),
                json!({ "argue": "solution" }),
                json!("approve"),
                json!("diagnose"),
                json!("run_task"),
                json!("remember"),
                json!("deliver_audit"),
            ]);
            json!({ "reply": { "call": call, "report": report(&question, luck, mood) } })
        }
        5 => json!({ "call_failed": { "call": call, "failure": luck.one_of(&FAILURES) } }),
        6 => json!("step"),
        _ => luck.one_of(&[json!("cancel"), json!("resume"), json!("resume")]),
    }
}
