//! Random walks, legal and not, under random policies: at every step the kernel does what the oracle expects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::policy::{Bound, Elo, Rule};
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, Policy, Refusal, Score, State, Weight, decide,
};
use orchestrion_tests::known::without_idle_updates;
use orchestrion_tests::oracle::Oracle;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Luck that is the same every time (SplitMix64).
struct Luck(u64);

impl Luck {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }
}

/// Which policies a walk runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Under {
    Hardened,
    AsDrawn,
    ApproverAndStandard,
    AnyValid,
}

fn policy(under: Under, luck: &mut Luck) -> Policy {
    match under {
        Under::Hardened => Policy::hardened(),
        Under::AsDrawn => Policy::as_drawn(),
        Under::ApproverAndStandard => {
            let mut policy = Policy { elo: Elo::Standard, ..Policy::hardened() };
            policy.rules.set(Rule::Approver, true);
            policy
        }
        Under::AnyValid => loop {
            let drawn = any_policy(luck);
            if drawn.validate().is_ok() {
                return drawn;
            }
        },
    }
}

fn any_policy(luck: &mut Luck) -> Policy {
    let mut policy = luck.one_of(&[Policy::hardened(), Policy::as_drawn()]);
    policy.elo = luck.one_of(&Elo::ALL);
    for rule in Rule::ALL {
        if luck.percent(30) {
            policy.rules.set(*rule, luck.percent(50));
        }
    }
    let score = |luck: &mut Luck| Score::from_millionths(luck.one_of(&LINES)).unwrap();
    if luck.percent(50) {
        let t = &mut policy.thresholds;
        for line in [
            &mut t.redebate_below,
            &mut t.proceed_from,
            &mut t.veto_from,
            &mut t.objection_from,
            &mut t.critique_above,
        ] {
            if luck.percent(40) {
                *line = score(luck);
            }
        }
    }
    if luck.percent(50) {
        policy.bounds.passes = luck.one_of(&[1, 2, 3, 4]);
        policy.bounds.repairs = luck.one_of(&[Bound::AtMost(0), Bound::AtMost(1), Bound::Unbounded]);
        policy.bounds.audit_attempts = luck.one_of(&[1, 2]);
    }
    if luck.percent(15) {
        // Equal voices, to be spoken in unison: the consensus is a fifth, two fifths, … and meets the lines.
        let w = &mut policy.weights;
        for weight in [&mut w.analyst, &mut w.solution, &mut w.critic, &mut w.security, &mut w.optimizer] {
            *weight = Weight::ONE;
        }
    } else if luck.percent(50) {
        let w = &mut policy.weights;
        for weight in [&mut w.analyst, &mut w.solution, &mut w.critic, &mut w.security, &mut w.optimizer] {
            *weight =
                Weight::from_millionths(luck.one_of(&[0, 1, 333_333, 1_000_000, 2_000_000, 1_000_000_000]))
                    .unwrap();
        }
    }
    policy
}

/// The lines of the built-in policies, their neighbours, and the ends.
const LINES: [u32; 16] = [
    0, 1, 500_000, 599_999, 600_000, 699_999, 700_000, 700_001, 799_999, 800_000, 800_001, 899_999, 900_000,
    950_000, 999_999, 1_000_000,
];

/// How the modules of one walk are disposed, in percent.
struct Mood {
    pro: u64,
    success: u64,
    failure: u64,
    illegal: u64,
    cancel: u64,
    /// The confidence of every argument, and ratings that nobody has earned yet.
    unison: Option<u32>,
}

fn mood(luck: &mut Luck) -> Mood {
    Mood {
        pro: luck.one_of(&[30, 60, 75, 90, 97]),
        success: luck.one_of(&[20, 60, 85, 97]),
        failure: luck.one_of(&[0, 1, 4, 15]),
        illegal: luck.one_of(&[0, 5, 30]),
        cancel: luck.one_of(&[0, 0, 1, 4]),
        unison: luck.one_of(&[None, None, Some(500_000)]),
    }
}

fn tasks(luck: &mut Luck) -> Value {
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

fn text(luck: &mut Luck) -> &'static str {
    luck.one_of(&["so be it", "not so", "perhaps", ""])
}

fn ratings(luck: &mut Luck) -> Value {
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

fn argument(luck: &mut Luck, mood: &Mood, plan: bool) -> Value {
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
fn report(question: &Value, luck: &mut Luck, mood: &Mood) -> Value {
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

const FAILURES: [&str; 5] = ["error", "timeout", "malformed", "no_candidates", "unknown"];

fn next_input(oracle: &Oracle, luck: &mut Luck, mood: &Mood) -> Value {
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

fn any_input(oracle: &Oracle, luck: &mut Luck, mood: &Mood) -> Value {
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

/// What the walks reached, and how often.
type Reached = BTreeMap<String, u64>;

/// A walk so far.
struct Walk {
    policy: Policy,
    oracle: Oracle,
    state: State,
    inputs: Vec<Value>,
    luck: Luck,
    mood: Mood,
}

impl Walk {
    fn new(under: Under, seed: u64) -> Self {
        let mut luck = Luck(seed);
        let policy = policy(under, &mut luck);
        let mood = mood(&mut luck);
        let conversation = ConversationId::new("walk");
        let (oracle, state) = (Oracle::new(&policy, &conversation), State::new(conversation));
        Self { policy, oracle, state, inputs: Vec::new(), luck, mood }
    }

    /// One step of the kernel, not yet judged.
    fn step(&mut self, reached: &mut Reached) -> (Input, Result<Events, Refusal>) {
        let input = if self.inputs.is_empty() && self.luck.percent(95) {
            json!({ "session_start": { "user": "ada" } })
        } else {
            next_input(&self.oracle, &mut self.luck, &self.mood)
        };
        self.inputs.push(input.clone());
        let input: Input = serde_json::from_value(input).unwrap();
        let mut decided = decide(&self.policy, &self.state, &input);
        match &mut decided {
            Ok(events) => {
                without_idle_updates(&self.state, events);
                for event in &*events {
                    self.state.apply(event);
                    if let Event::Moved { row } = event {
                        let row = serde_json::to_value(row).unwrap();
                        *reached.entry(row.as_str().unwrap().to_owned()).or_default() += 1;
                    }
                }
            }
            Err(refusal) => {
                let name = format!("{refusal:?}");
                let kind = name.split([' ', '{']).next().unwrap_or_default().to_owned();
                *reached.entry(kind).or_default() += 1;
            }
        }
        (input, decided)
    }

    /// Whether nothing but refusals can follow.
    fn is_over(&self) -> bool {
        matches!(self.oracle.phase(), "Done" | "Aborted" | "RollbackComplete")
            && self.inputs.len().is_multiple_of(16)
    }

    fn told(&self, wrong: &str) -> String {
        let inputs: Vec<String> = self.inputs.iter().map(Value::to_string).collect();
        format!("{wrong}\nunder {:?}\nafter\n{}", self.policy, inputs.join("\n"))
    }
}

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
