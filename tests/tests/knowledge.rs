//! What is written by name and what becomes of it when it is compacted, tried on random sequences over a small universe:
//! every step of the kernel, and what it then shows, is what the oracle expects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::item::{Key, Rank};
use orchestrion_kernel::module::Ask;
use orchestrion_kernel::{Input, ItemId, Phase, Policy, State, decide, present};
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::walk::conversation;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Sequences, and the most deeds of each.
const SEQUENCES: u32 = 1_500;
const DEEDS_MAX: usize = 80;
/// Inputs that all of them come to at least.
const STEPS_MIN: usize = 20_000;

/// What happens next.
#[derive(Clone)]
enum Deed {
    /// This comes in.
    Take(Value),
    /// The user asks for something, what is known is compacted if it is due, and memory gives back this trace.
    Ask {
        /// Of which request.
        trace: u32,
        /// What comes in while the summarizer is at work.
        meanwhile: Option<Value>,
        /// What the summarizer answers.
        answer: Answer,
    },
    /// So many questions are answered, so that the request gets on.
    Go(u32),
    /// The request is cancelled, and ended.
    End,
    /// The same, and the session ends; the next may start at once.
    Close(bool),
    /// In a task something else counts than this key says everywhere, and then nothing does: what was said there keeps its link.
    Aside(Value),
    /// This fact, about one of the summaries of facts: it supersedes it, or else rests on it.
    About {
        /// Which of them.
        summary: usize,
        /// Whether it supersedes it.
        supersedes: bool,
        /// Everything else of the fact.
        fact: Value,
    },
}

/// What the summarizer does with what it is shown.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// It leaves out what it forgets.
    All,
    /// It forgets those of the cluster that have their bit set.
    Part(u32),
    /// The same, each of them twice, the last first.
    Twice(u32),
    /// It forgets another item as well.
    Stranger(u64),
    /// It forgets nothing.
    Nothing,
    /// It does not answer.
    Fails(&'static str),
    /// The user cancels before it does.
    Cancelled,
}

impl Answer {
    /// What it says about this cluster, as an input. A stranger in the cluster is none.
    fn input(self, call: &Value, cluster: &[ItemId]) -> Value {
        let of = |bits: u32| cluster.iter().enumerate().filter(move |(at, _)| bits & (1 << at) != 0);
        let part = |bits: u32| of(bits).map(|(_, id)| json!(id)).collect::<Vec<Value>>();
        let forgets = match self {
            Self::All => Value::Null,
            Self::Part(bits) => json!(part(bits)),
            Self::Twice(bits) => {
                json!(part(bits).into_iter().rev().chain(part(bits)).collect::<Vec<Value>>())
            }
            Self::Stranger(id) => {
                json!(part(u32::MAX).into_iter().chain([json!(id)]).collect::<Vec<Value>>())
            }
            Self::Nothing => json!([]),
            Self::Fails(failure) => return json!({ "call_failed": { "call": call, "failure": failure } }),
            Self::Cancelled => return json!("cancel"),
        };
        json!({ "reply": { "call": call, "report": { "summary": { "text": "summed", "forgets": forgets } } } })
    }
}

impl fmt::Debug for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take(input) => write!(f, "{input}"),
            Self::Ask { trace, meanwhile: None, answer } => {
                write!(f, "ask, trace {trace}, summarizer: {answer:?}")
            }
            Self::Ask { trace, meanwhile: Some(input), answer } => {
                write!(f, "ask, trace {trace}, meanwhile {input}, summarizer: {answer:?}")
            }
            Self::Go(steps) => write!(f, "go {steps}"),
            Self::End => f.write_str("end"),
            Self::Aside(key) => write!(f, "aside about {key}"),
            Self::Close(again) => write!(f, "close, and open: {again}"),
            Self::About { summary, supersedes: true, fact } => {
                write!(f, "about summary {summary}, superseding it: {fact}")
            }
            Self::About { summary, supersedes: false, fact } => {
                write!(f, "about summary {summary}, resting on it: {fact}")
            }
        }
    }
}

/// How often each kind was met.
type Met = BTreeMap<&'static str, usize>;

#[test]
fn writes_do_what_the_oracle_expects() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()).unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: SEQUENCES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let met = RefCell::new(BTreeMap::new());
    let tried = runner.run(&(policy(), deeds()), |(policy, deeds)| {
        follow(&policy, &deeds, &mut met.borrow_mut()).map_err(TestCaseError::fail)
    });
    match tried {
        Err(TestError::Fail(why, (policy, deeds))) => {
            panic!("{why}\n{:?} {:?} {:?}\n{deeds:#?}", policy.writes, policy.compaction, policy.rules)
        }
        tried => tried.unwrap_or_else(|failed| panic!("{failed}")),
    }
    let met = met.into_inner();
    println!("{met:?}");
    assert!(met["step"] >= STEPS_MIN, "only {} steps", met["step"]);
    let seldom = |kinds: &'static [&'static str], least: usize| {
        kinds.iter().find(|kind| met.get(**kind).is_none_or(|times| *times < least))
    };
    let rare = seldom(KINDS, 50).or(seldom(COMPACTIONS, 10));
    assert!(rare.is_none(), "hardly any {rare:?} in {met:?}");
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
    "\"cause\":{\"compaction\"",
    "\"module\":\"summarizer\",\"call\"",
];

/// What the compactions are to come to, by what [`compacted`] finds in them, or where they stand.
const COMPACTIONS: &[&str] = &[
    "of facts",
    "of facts of the session",
    "of constraints",
    "of what requests left for good",
    "of what leaves with the session",
    "of a summary",
    "of all that was shown",
    "of a part",
    "to be reviewed",
    "with what was superseded",
    "with a base",
    "re-pointing",
    "only unlinking",
    "clearing a link",
    "a forgetful answer is refused",
    "a write meanwhile",
    "a failure",
    "a cancel",
    "a summary is superseded",
    "a summary leaves with the session",
];

/// What a batch does to the items, by the names of [`COMPACTIONS`].
fn compacted(before: &State, batch: &Value) -> Vec<&'static str> {
    let old: BTreeMap<u64, (Value, Value)> = before
        .semantic
        .entries()
        .map(|entry| (entry.item.id.number(), (json!(entry.item), json!(entry.deps))))
        .collect();
    let events = batch.as_array().unwrap();
    let of = |kind: &'static str| events.iter().map(move |event| &event[kind]).filter(|body| !body.is_null());
    let updated: Vec<(&Value, &Value, &(Value, Value))> = of("update_item")
        .filter_map(|body| {
            Some((&body["item"], &body["deps"], old.get(&body["item"]["id"].as_u64().unwrap())?))
        })
        .collect();
    let mut found = Vec::new();
    let mut note = |kind: &'static str, met: bool| found.extend(met.then_some(kind));
    let superseded = |(item, _, _): &(&Value, &Value, &(Value, Value))| {
        item["key"] == "summary" && !item["standing"]["superseded"].is_null()
    };
    note("a summary is superseded", updated.iter().any(superseded));
    for body in of("forget_items") {
        let gone: Vec<&Value> =
            body["ids"].as_array().unwrap().iter().map(|id| &old[&id.as_u64().unwrap()].0).collect();
        let of_summaries = gone.iter().any(|item| item["key"] == "summary");
        let into = &body["cause"]["compaction"]["into"];
        if into.is_null() {
            note("a summary leaves with the session", of_summaries);
            continue;
        }
        let (summary, deps) = of("add_item")
            .find(|body| body["item"]["id"] == *into)
            .map(|body| (&body["item"], body["deps"].as_array().unwrap()))
            .unwrap();
        let fact = &summary["layer"]["fact"];
        note("of facts", !fact.is_null());
        note("of facts of the session", fact["scope"] == "session");
        note("of constraints", !summary["variant"]["constraint"].is_null() || summary["variant"] != "fact");
        note("of what requests left for good", summary["layer"] == "request");
        note("of what leaves with the session", !summary["layer"]["working"].is_null());
        note("of a summary", of_summaries);
        note("to be reviewed", summary["standing"] == "needs_review");
        note("with what was superseded", gone.iter().any(|item| !item["standing"]["superseded"].is_null()));
        note("with a base", !deps.is_empty());
        let rests = |deps: &Value| deps.as_array().unwrap().contains(into);
        note("re-pointing", updated.iter().any(|(_, deps, _)| rests(deps)));
        note("only unlinking", updated.iter().any(|(_, deps, old)| **deps != old.1 && !rests(deps)));
        let link = |item: &Value| item["layer"]["fact"]["supersedes"].clone();
        note("clearing a link", updated.iter().any(|(item, _, old)| link(item) != link(&old.0)));
    }
    found
}

/// Takes the deeds one by one, and counts what was met.
fn follow(policy: &Policy, deeds: &[Deed], met: &mut Met) -> Result<(), String> {
    let (mut oracle, mut state) = (Oracle::new(policy, &conversation()), State::new(conversation()));
    let mut take = |state: &mut State, met: &mut Met, input: &Value| {
        let input: Input =
            serde_json::from_value(input.clone()).map_err(|error| format!("{input}: {error}"))?;
        let decided = decide(policy, state, &input);
        for kind in decided.iter().flat_map(|events| compacted(state, &json!(events))) {
            *met.entry(kind).or_default() += 1;
        }
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
            Deed::Take(input) => take(&mut state, met, input)?,
            Deed::Ask { trace, meanwhile, answer } if state.control.session().is_some() => {
                end(&mut state, met, &mut take)?;
                take(&mut state, met, &json!({ "user_message": { "user": "ada", "text": "1" } }))?;
                let identified = reply(&state, *trace);
                take(&mut state, met, &identified)?;
                take(&mut state, met, &json!("step"))?;
                if state.control.phase() == Phase::Compacting {
                    if let Some(write) =
                        meanwhile.as_ref().filter(|write| leaves_the_cluster(policy, &state, write))
                    {
                        take(&mut state, met, write)?;
                        *met.entry("a write meanwhile").or_default() += 1;
                    }
                    let cluster = present(policy, &state).ids;
                    let call = json!(state.control.waiting().unwrap().id);
                    take(&mut state, met, &answer.input(&call, &cluster))?;
                    let kind = match (answer, state.control.phase()) {
                        (_, Phase::Compacting) => "a forgetful answer is refused",
                        (Answer::Fails(_), _) => "a failure",
                        (Answer::Cancelled, _) => "a cancel",
                        (Answer::All, _) => "of all that was shown",
                        _ => "of a part",
                    };
                    *met.entry(kind).or_default() += 1;
                    if state.control.phase() == Phase::Compacting {
                        take(&mut state, met, &Answer::All.input(&call, &cluster))?;
                    }
                }
                if state.control.phase() == Phase::LoadingContext {
                    let loaded = reply(&state, *trace);
                    take(&mut state, met, &loaded)?;
                }
            }
            Deed::Go(steps) => {
                for _ in 0..*steps {
                    if state.control.phase() != Phase::Idle {
                        let answer = reply(&state, 1);
                        take(&mut state, met, &answer)?;
                    }
                }
            }
            Deed::End => end(&mut state, met, &mut take)?,
            Deed::Ask { .. } => {}
            Deed::Close(again) if state.control.session().is_some() => {
                end(&mut state, met, &mut take)?;
                take(&mut state, met, &json!("session_end"))?;
                if *again {
                    take(&mut state, met, &json!({ "session_start": { "user": "ada" } }))?;
                }
            }
            Deed::Close(_) => {}
            Deed::Aside(about) => {
                for (text, supersedes) in [("1", json!({ "key": about })), ("2", Value::Null)] {
                    let fact = json!({
                        "kind": "fact", "key": "aside", "text": text, "at": 1, "memory": "user",
                        "source": { "name": "ada", "rank": "policy" }, "scope": { "task": "aside" },
                        "audience": "everybody", "time_sensitive": false, "supersedes": supersedes,
                        "detected": null, "rests_on": [],
                    });
                    take(&mut state, met, &json!({ "write": { "fact": fact } }))?;
                }
            }
            Deed::About { summary, supersedes, fact } => {
                let summaries: Vec<ItemId> = state
                    .semantic
                    .entries()
                    .filter(|entry| entry.item.key == Key::Summary && entry.item.fact().is_some())
                    .map(|entry| entry.item.id)
                    .collect();
                if !summaries.is_empty() {
                    let named = json!({ "id": summaries[summary % summaries.len()] });
                    let mut write = json!({ "write": fact });
                    let said = &mut write["write"]["fact"];
                    said["supersedes"] = if *supersedes { named.clone() } else { Value::Null };
                    said["rests_on"] = if *supersedes { json!([]) } else { json!([named]) };
                    take(&mut state, met, &write)?;
                }
            }
        }
    }
    Ok(())
}

/// Cancels the request that runs, if any, and lets it end.
fn end(
    state: &mut State,
    met: &mut Met,
    take: &mut impl FnMut(&mut State, &mut Met, &Value) -> Result<(), String>,
) -> Result<(), String> {
    if state.control.phase() != Phase::Idle {
        take(state, met, &json!("cancel"))?;
    }
    while state.control.phase() != Phase::Idle {
        let answer = reply(state, 1);
        take(state, met, &answer)?;
    }
    Ok(())
}

/// Whether the summarizer is shown the same after an input. No document says what becomes of a cluster whose items change
/// while it is summarized, so such inputs do not come.
fn leaves_the_cluster(policy: &Policy, state: &State, input: &Value) -> bool {
    let input: Input = serde_json::from_value(input.clone()).unwrap();
    let mut after = state.clone();
    decide(policy, state, &input).iter().flatten().for_each(|event| after.apply(event));
    present(policy, state).ids == present(policy, &after).ids
}

/// The answer that is waited for.
fn reply(state: &State, trace: u32) -> Value {
    let Some(call) = state.control.waiting() else { return json!("step") };
    let report = match call.ask {
        Ask::VerifyIdentity => json!({ "identity": { "gcp": true, "mongodb": true } }),
        Ask::LoadContext => {
            let rating = json!({ "elo": 1200, "successes": 0, "matches": 0 });
            let ratings = json!({
                "analyst": rating, "solution": rating, "critic": rating, "security": rating, "optimizer": rating,
            });
            let trace = json!({ "conversation": "past", "request": trace });
            json!({ "context": { "ratings": ratings, "traces": [{ "trace": trace, "text": "2" }] } })
        }
        Ask::Classify => json!({ "classification": { "tags": ["3"], "similarity": 0 } }),
        Ask::DraftPlan => json!({ "plan": [
            { "id": 1, "text": "1", "effect": "pure" }, { "id": 2, "text": "2", "effect": "pure" },
        ]}),
        Ask::Argue(_) | Ask::Reread => {
            let argument = json!({ "stance": "pro", "confidence": 1_000_000 });
            json!({ "argument": { "argument": argument, "text": "3", "plan": null } })
        }
        Ask::RunTask { .. } => json!({ "exit": { "code": 0, "text": "1" } }),
        Ask::Remember { .. } => json!({ "stored": { "held": true } }),
        _ => json!("delivered"),
    };
    json!({ "reply": { "call": call.id, "report": report } })
}

/// Who may write what differs, and when and how is compacted.
fn policy() -> impl Strategy<Value = Policy> {
    let writes = (select(&Rank::ALL[..]), select(&Rank::ALL[..]));
    let limits = (
        select(vec![0, 1, 2, 3, 4, 6, 64, 64]),
        select(vec![0, 4, 6, 7, 8, 9, 6_000, 6_000, 6_000]),
        2..=5_u32,
    );
    let rules = (weighted(0.9), any::<bool>(), weighted(0.7));
    (writes, limits, rules).prop_map(
        |(
            (constraint_from, organizational_from),
            (from_items, from_tokens, cluster_items),
            (compaction, compacted_constraints, repointed_dependents),
        )| {
            let mut policy = serde_json::to_value(Policy::hardened()).unwrap();
            policy["writes"] =
                json!({ "constraint_from": constraint_from, "organizational_from": organizational_from });
            policy["compaction"] =
                json!({ "from_items": from_items, "from_tokens": from_tokens, "cluster_items": cluster_items });
            policy["rules"]["compaction"] = json!(compaction);
            policy["rules"]["compacted_constraints"] = json!(compacted_constraints);
            policy["rules"]["repointed_dependents"] = json!(repointed_dependents);
            let policy: Policy = serde_json::from_value(policy).unwrap();
            assert_eq!(policy.validate(), Ok(()));
            policy
        },
    )
}

/// Mostly, a session is open from the beginning. Some ask often, so that what requests leave grows; more note, so that facts do.
fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let start = Deed::Take(json!({ "session_start": { "user": "ada" } }));
    let asking = vec(
        deed(15, 60, plain_fact(read_one_of(KINDS_OF_FACTS), read_one_of(SCOPES)).boxed()),
        1..=DEEDS_MAX,
    );
    let noting = (read_one_of(KINDS_OF_FACTS), read_one_of(&SCOPES[..2])).prop_flat_map(|(kind, scope)| {
        let scope = prop_oneof![4 => Just(scope), 1 => read_one_of(SCOPES)];
        vec(deed(8, 10, plain_fact(Just(kind), scope).boxed()), 1..=DEEDS_MAX)
    });
    (option::weighted(0.9, Just(start)), prop_oneof![2 => asking, 3 => noting])
        .prop_map(|(start, deeds)| start.into_iter().chain(deeds).collect())
}

fn ask() -> impl Strategy<Value = Deed> {
    let answer = Union::new_weighted(vec![
        (6, Just(Answer::All).boxed()),
        (5, any::<u32>().prop_map(Answer::Part).boxed()),
        (1, any::<u32>().prop_map(Answer::Twice).boxed()),
        (1, (1..30_u64).prop_map(Answer::Stranger).boxed()),
        (1, Just(Answer::Nothing).boxed()),
        (1, select(vec!["error", "timeout", "no_candidates", "unknown"]).prop_map(Answer::Fails).boxed()),
        (1, Just(Answer::Cancelled).boxed()),
    ]);
    (1..4_u32, option::weighted(0.2, write()), answer).prop_map(|(trace, meanwhile, answer)| Deed::Ask {
        trace,
        meanwhile,
        answer,
    })
}

fn deed(asks: u32, wild: u32, plain: BoxedStrategy<Value>) -> impl Strategy<Value = Deed> {
    let about = (any::<usize>(), weighted(0.7), plain_fact(read_one_of(KINDS_OF_FACTS), read_one_of(SCOPES)))
        .prop_map(|(summary, supersedes, fact)| Deed::About { summary, supersedes, fact });
    let aside = plain_key().prop_map(Deed::Aside);
    Union::new_weighted(vec![
        (asks, ask().boxed()),
        (2, Just(Deed::End).boxed()),
        (2, (1..12_u32).prop_map(Deed::Go).boxed()),
        (5, Just(Deed::Take(json!({ "session_start": { "user": "ada" } }))).boxed()),
        (1, Just(Deed::Take(json!("session_end"))).boxed()),
        (1, any::<bool>().prop_map(Deed::Close).boxed()),
        (8, about.boxed()),
        (2, aside.boxed()),
        (50, plain.prop_map(|write| Deed::Take(json!({ "write": write }))).boxed()),
        (wild, write().prop_map(Deed::Take).boxed()),
    ])
}

fn write() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (12, fact().boxed()),
        (5, working().boxed()),
        (6, signal().boxed()),
        (4, clock().boxed()),
        (1, identity().boxed()),
    ])
    .prop_map(|write| json!({ "write": write }))
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

/// The kinds and scopes of facts that count alike, by their weights.
const KINDS_OF_FACTS: &[(u32, &str)] = &[(2, r#""fact""#), (1, r#"{"constraint":null}"#)];
const SCOPES: &[(u32, &str)] = &[(3, r#""global""#), (2, r#""session""#), (1, r#"{"task":"x"}"#)];

/// Facts that count alike, so that several of them can be summarized.
fn plain_fact(
    kind: impl Strategy<Value = Value>,
    scope: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let what = (plain_key(), text(), 0..3_u64, scope);
    let rests_on = option::weighted(0.5, vec(plain_reference(), 1..=2)).prop_map(Option::unwrap_or_default);
    (kind, what, option::weighted(0.3, plain_reference()), rests_on).prop_map(
        |(kind, (key, text, at, scope), supersedes, rests_on)| {
            json!({ "fact": {
                "kind": kind, "key": key, "text": text, "source": { "name": "ada", "rank": "executive" }, "at": at,
                "memory": "user", "scope": scope, "audience": "everybody", "time_sensitive": false,
                "supersedes": supersedes, "detected": null, "rests_on": rests_on,
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

fn read_one_of(values: &[(u32, &str)]) -> impl Strategy<Value = Value> + use<> {
    let read = |(weight, text): &(u32, &str)| (*weight, serde_json::from_str(text).unwrap());
    one_of(&values.iter().map(read).collect::<Vec<(u32, Value)>>())
}

fn key() -> impl Strategy<Value = Value> {
    one_of(&[(3, json!("a")), (3, json!("b")), (2, json!("c")), (1, json!("d"))])
}

fn plain_reference() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (5, plain_key().prop_map(|key| json!({ "key": key })).boxed()),
        (1, (1..40_u64).prop_map(|id| json!({ "id": id })).boxed()),
    ])
}

fn plain_key() -> impl Strategy<Value = Value> {
    one_of(&[
        (1, json!("a")),
        (2, json!("d")),
        (4, json!("e")),
        (4, json!("f")),
        (4, json!("g")),
        (3, json!("h")),
        (3, json!("i")),
    ])
}

fn text() -> impl Strategy<Value = Value> {
    one_of(&[(2, json!("1")), (2, json!("2")), (1, json!("3")), (1, json!("größer"))])
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
        (2, plain_key().prop_map(|key| json!({ "key": key })).boxed()),
        (1, (1..7_u64).prop_map(|id| json!({ "id": id })).boxed()),
        (1, (7..40_u64).prop_map(|id| json!({ "id": id })).boxed()),
    ])
}

fn rests_on() -> impl Strategy<Value = Vec<Value>> {
    Union::new_weighted(vec![(2, Just(Vec::new()).boxed()), (1, vec(reference(), 1..=2).boxed())])
}
