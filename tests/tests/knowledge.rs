//! What is written by name, tried on random sequences of writes over a small universe: every step of the kernel, and what it
//! then shows, is what the oracle expects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::item::Rank;
use orchestrion_kernel::module::Ask;
use orchestrion_kernel::{Input, Phase, Policy, State, decide};
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::walk::conversation;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Sequences, and the most deeds of each.
const SEQUENCES: u32 = 2_000;
const DEEDS_MAX: usize = 60;
/// Inputs that all of them come to at least.
const STEPS_MIN: usize = 20_000;

/// What happens next.
#[derive(Clone)]
enum Deed {
    /// This comes in.
    Take(Value),
    /// The user asks for something, and memory is reloaded.
    Ask,
    /// The request is cancelled, and ended.
    End,
}

impl fmt::Debug for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take(input) => write!(f, "{input}"),
            Self::Ask => f.write_str("ask"),
            Self::End => f.write_str("end"),
        }
    }
}

#[test]
fn writes_do_what_the_oracle_expects() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()).unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: SEQUENCES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let met = RefCell::new(BTreeMap::new());
    let tried = runner.run(&(policy(), vec(deed(), 1..=DEEDS_MAX)), |(policy, deeds)| {
        follow(&policy, &deeds, &mut met.borrow_mut()).map_err(TestCaseError::fail)
    });
    match tried {
        Err(TestError::Fail(why, (policy, deeds))) => panic!("{why}\n{:?}\n{deeds:#?}", policy.writes),
        tried => tried.unwrap_or_else(|failed| panic!("{failed}")),
    }
    let met = met.into_inner();
    println!("{met:?}");
    assert!(met["step"] >= STEPS_MIN, "only {} steps", met["step"]);
    for kind in KINDS {
        assert!(met.get(kind).is_some_and(|times| *times >= 50), "hardly any `{kind}` in {met:?}");
    }
}

/// What the sequences are to come to, by what the encoding of a batch has in it.
const KINDS: &[&str] = &[
    "\"rule\":\"authority\"",
    "\"rule\":\"explicit\"",
    "\"rule\":\"temporal\"",
    "\"rule\":\"implicit\"",
    "\"denied\"",
    "\"needs_review\"",
    "\"cause\":\"expiry\"",
    "\"cause\":\"session_end\"",
    "\"trace\"",
    "nothing",
    "refusal",
];

/// Takes the deeds one by one, and counts what was met.
fn follow(policy: &Policy, deeds: &[Deed], met: &mut BTreeMap<&'static str, usize>) -> Result<(), String> {
    let (mut oracle, mut state) = (Oracle::new(policy, &conversation()), State::new(conversation()));
    let mut take = |state: &mut State, input: &Value| {
        let input: Input =
            serde_json::from_value(input.clone()).map_err(|error| format!("{input}: {error}"))?;
        let decided = decide(policy, state, &input);
        decided.iter().flatten().for_each(|event| state.apply(event));
        let said = decided.as_ref().map_or("refusal".into(), |events| match events.as_slice() {
            [] => "nothing".into(),
            events => serde_json::to_string(events).unwrap_or_default(),
        });
        *met.entry("step").or_default() += 1;
        for kind in KINDS.iter().filter(|kind| said.contains(**kind)) {
            *met.entry(kind).or_default() += 1;
        }
        oracle.judge(&input, decided.as_ref(), state)
    };
    for deed in deeds {
        match deed {
            Deed::Take(input) => take(&mut state, input)?,
            Deed::Ask if state.control.phase() == Phase::Idle && state.control.session().is_some() => {
                take(&mut state, &json!({ "user_message": { "user": "ada", "text": "1" } }))?;
                let answer = reply(&state);
                take(&mut state, &answer)?;
                take(&mut state, &json!("step"))?;
                let answer = reply(&state);
                take(&mut state, &answer)?;
            }
            Deed::End if state.control.phase() != Phase::Idle => {
                take(&mut state, &json!("cancel"))?;
                while state.control.phase() != Phase::Idle {
                    let answer = reply(&state);
                    take(&mut state, &answer)?;
                }
            }
            Deed::Ask | Deed::End => {}
        }
    }
    Ok(())
}

/// The answer that is waited for.
fn reply(state: &State) -> Value {
    let Some(call) = state.control.waiting() else { return json!("step") };
    let report = match call.ask {
        Ask::VerifyIdentity => json!({ "identity": { "gcp": true, "mongodb": true } }),
        Ask::LoadContext => {
            let rating = json!({ "elo": 1200, "successes": 0, "matches": 0 });
            let ratings = json!({
                "analyst": rating, "solution": rating, "critic": rating, "security": rating, "optimizer": rating,
            });
            let trace = json!({ "conversation": "past", "request": 1 });
            json!({ "context": { "ratings": ratings, "traces": [{ "trace": trace, "text": "2" }] } })
        }
        Ask::Remember { .. } => json!({ "stored": { "held": true } }),
        _ => json!("delivered"),
    };
    json!({ "reply": { "call": call.id, "report": report } })
}

/// Who may write what differs.
fn policy() -> impl Strategy<Value = Policy> {
    let both = (select(&Rank::ALL[..]), select(&Rank::ALL[..]));
    both.prop_map(|(one, other)| {
        let (organizational_from, constraint_from) = (one, other);
        let mut policy = serde_json::to_value(Policy::hardened()).unwrap();
        policy["writes"] =
            json!({ "constraint_from": constraint_from, "organizational_from": organizational_from });
        serde_json::from_value(policy).unwrap()
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    let written = |write: Value| Deed::Take(json!({ "write": write }));
    Union::new_weighted(vec![
        (1, Just(Deed::Ask).boxed()),
        (1, Just(Deed::End).boxed()),
        (3, Just(Deed::Take(json!({ "session_start": { "user": "ada" } }))).boxed()),
        (1, Just(Deed::Take(json!("session_end"))).boxed()),
        (30, fact().prop_map(written).boxed()),
        (5, working().prop_map(written).boxed()),
        (6, signal().prop_map(written).boxed()),
        (4, clock().prop_map(written).boxed()),
        (1, identity().prop_map(written).boxed()),
    ])
}

fn fact() -> impl Strategy<Value = Value> {
    let what = (kind(), key(), text(), source(), 0..3_u64, memory());
    let how =
        (scope(), audience(), any::<bool>(), option::weighted(0.5, reference()), detected(), rests_on());
    (what, how).prop_map(
        |(
            (kind, key, text, source, at, memory),
            (scope, audience, time_sensitive, supersedes, detected, rests_on),
        )| {
            json!({ "fact": {
                "kind": kind, "key": key, "text": text, "source": source, "at": at,
                "memory": memory, "scope": scope, "audience": audience, "time_sensitive": time_sensitive,
                "supersedes": supersedes, "detected": detected, "rests_on": rests_on,
            }})
        },
    )
}

fn working() -> impl Strategy<Value = Value> {
    (key(), text(), option::of(0..6_u64), rests_on()).prop_map(|(key, text, expires_at, rests_on)| {
        json!({ "working": { "key": key, "text": text, "expires_at": expires_at, "rests_on": rests_on } })
    })
}

fn signal() -> impl Strategy<Value = Value> {
    (key(), text(), option::weighted(0.3, reference())).prop_map(|(key, text, supersedes)| {
        json!({ "environment": { "key": key, "text": text, "supersedes": supersedes } })
    })
}

fn clock() -> impl Strategy<Value = Value> {
    (0..6_u64, text()).prop_map(|(now, text)| json!({ "clock": { "now": now, "text": text } }))
}

fn identity() -> impl Strategy<Value = Value> {
    (rank(), select(vec![json!([]), json!(["audit"])])).prop_map(|(rank, permissions)| {
        json!({ "identity": { "name": "Ada", "identity": {
            "authority": "1", "rank": rank, "department": "2", "organization": "3", "permissions": permissions,
        }}})
    })
}

fn one_of(values: &[(u32, Value)]) -> impl Strategy<Value = Value> + use<> {
    Union::new_weighted(values.iter().map(|(weight, value)| (*weight, Just(value.clone()))).collect())
}

fn key() -> impl Strategy<Value = Value> {
    one_of(&[(1, json!("a")), (1, json!("b")), (1, json!("c"))])
}

fn text() -> impl Strategy<Value = Value> {
    one_of(&[(1, json!("1")), (1, json!("2")), (1, json!("3"))])
}

fn rank() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("employee")),
        (1, json!("unverified")),
        (1, json!("guest")),
        (2, json!("manager")),
        (1, json!("executive")),
        (1, json!("policy")),
    ])
}

fn source() -> impl Strategy<Value = Value> {
    (one_of(&[(4, json!("ada")), (1, json!("bob"))]), rank())
        .prop_map(|(name, rank)| json!({ "name": name, "rank": rank }))
}

fn kind() -> impl Strategy<Value = Value> {
    one_of(&[(6, json!("fact")), (1, json!({ "constraint": null })), (1, json!({ "constraint": "budget" }))])
}

fn memory() -> impl Strategy<Value = Value> {
    one_of(&[(4, json!("user")), (1, json!("capability")), (1, json!("organizational"))])
}

fn scope() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("global")),
        (3, json!("session")),
        (1, json!({ "task": "x" })),
        (1, json!({ "task": "y" })),
        (1, json!({ "hypothetical": "x" })),
        (1, json!({ "draft": "x" })),
    ])
}

fn audience() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("everybody")),
        (1, json!({ "at_least": "manager" })),
        (1, json!({ "permitted": "audit" })),
    ])
}

fn detected() -> impl Strategy<Value = Value> {
    one_of(&[
        (4, Value::Null),
        (1, json!("explicit")),
        (1, json!("implicit")),
        (1, json!("temporal")),
        (1, json!("authority")),
    ])
}

fn reference() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (2, key().prop_map(|key| json!({ "key": key })).boxed()),
        (1, (1..7_u64).prop_map(|id| json!({ "id": id })).boxed()),
    ])
}

fn rests_on() -> impl Strategy<Value = Vec<Value>> {
    Union::new_weighted(vec![(2, Just(Vec::new()).boxed()), (1, vec(reference(), 1..=2).boxed())])
}
