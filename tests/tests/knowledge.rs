//! Keyed writes and their compaction on random sequences over a small universe: every kernel step and the resulting
//! contexts match the oracle.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod actions;
mod coverage;
mod writes;

use actions::{KnowledgeAction, SummarizerReply, deeds, policy};
use coverage::{COMPACTIONS, KINDS, Met, compacted};
use orchestrion_kernel::context::{ByteMeasure, build_context};
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Input, ItemId, Phase, Policy, State, decide};
use orchestrion_optimizer::ExactSelector;
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::random_walk::conversation;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::RefCell;

/// The number of sequences.
const SEQUENCES: u32 = 1_500;
/// The minimum number of inputs in all sequences.
const STEPS_MIN: usize = 20_000;

#[test]
fn writes_do_what_the_oracle_expects() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()).unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: SEQUENCES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let met = RefCell::new(Met::new());
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

/// Runs the actions one by one and counts the observed kinds.
fn follow(policy: &Policy, deeds: &[KnowledgeAction], met: &mut Met) -> Result<(), String> {
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
            KnowledgeAction::Take(input) => take(&mut state, met, input)?,
            KnowledgeAction::Ask { trace, meanwhile, answer } if state.control().session().is_some() => {
                end(&mut state, met, &mut take)?;
                let user = json!(state.control().session());
                take(&mut state, met, &json!({ "user_message": { "user": user, "text": "1" } }))?;
                let identified = reply(&state, *trace);
                take(&mut state, met, &identified)?;
                take(&mut state, met, &json!("step"))?;
                if state.control().phase() == Phase::Compacting {
                    let cluster = build_context(
                        policy,
                        &state,
                        Operation::Summarize,
                        &ByteMeasure,
                        &ExactSelector::default(),
                    )
                    .unwrap()
                    .ids;
                    if let Some(write) = meanwhile {
                        take(&mut state, met, write)?;
                        *met.entry("a write meanwhile").or_default() += 1;
                    }
                    let call = json!(state.control().pending_call().unwrap().id);
                    take(&mut state, met, &answer.input(&call, &cluster))?;
                    let kind = match (answer, state.control().phase()) {
                        (_, Phase::Compacting) => "a forgetful answer is refused",
                        (SummarizerReply::Fails(_), _) => "a failure",
                        (SummarizerReply::Cancelled, _) => "a cancel",
                        (SummarizerReply::All, _) => "of all that was shown",
                        _ => "of a part",
                    };
                    *met.entry(kind).or_default() += 1;
                    if state.control().phase() == Phase::Compacting {
                        take(&mut state, met, &SummarizerReply::All.input(&call, &cluster))?;
                    }
                }
                if state.control().phase() == Phase::LoadingContext {
                    let loaded = reply(&state, *trace);
                    take(&mut state, met, &loaded)?;
                }
            }
            KnowledgeAction::Go(steps) => {
                for _ in 0..*steps {
                    if state.control().phase() != Phase::Idle {
                        let answer = reply(&state, 1);
                        take(&mut state, met, &answer)?;
                    }
                }
            }
            KnowledgeAction::End => end(&mut state, met, &mut take)?,
            KnowledgeAction::Ask { .. } => {}
            KnowledgeAction::Close(next) if state.control().session().is_some() => {
                end(&mut state, met, &mut take)?;
                take(&mut state, met, &json!("session_end"))?;
                if let Some(user) = next {
                    take(&mut state, met, &json!({ "session_start": { "user": user } }))?;
                }
            }
            KnowledgeAction::Close(_) => {}
            KnowledgeAction::Aside(about) => {
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
            KnowledgeAction::About { summary, supersedes, fact } => {
                let summaries: Vec<ItemId> = state
                    .semantic()
                    .entries()
                    .filter(|entry| entry.item.key == ItemKey::Summary && entry.item.fact().is_some())
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

/// Cancels the running request, if any, and completes it.
fn end(
    state: &mut State,
    met: &mut Met,
    take: &mut impl FnMut(&mut State, &mut Met, &Value) -> Result<(), String>,
) -> Result<(), String> {
    if state.control().phase() != Phase::Idle {
        take(state, met, &json!("cancel"))?;
    }
    while state.control().phase() != Phase::Idle {
        let answer = reply(state, 1);
        take(state, met, &answer)?;
    }
    Ok(())
}

/// Returns the reply to the pending call.
fn reply(state: &State, trace: u32) -> Value {
    let Some(call) = state.control().pending_call() else { return json!("step") };
    let report = match call.operation {
        Operation::VerifyIdentity => json!({ "identity": { "gcp": true, "mongodb": true } }),
        Operation::LoadContext => {
            let rating = json!({ "elo": 1200, "successes": 0, "matches": 0 });
            let ratings = json!({
                "analyst": rating, "solution": rating, "critic": rating, "security": rating, "optimizer": rating,
            });
            let trace = json!({ "conversation": "past", "request": trace });
            json!({ "context": { "ratings": ratings, "traces": [{ "trace": trace, "text": "2" }] } })
        }
        Operation::Classify => json!({ "classification": { "tags": ["3"], "similarity": 0 } }),
        Operation::DraftPlan => json!({ "plan": [
            { "id": 1, "text": "1", "effect": "pure" }, { "id": 2, "text": "2", "effect": "pure" },
        ]}),
        Operation::Argue(_) | Operation::ReviewRevision => {
            let argument = json!({ "stance": "pro", "confidence": 1_000_000 });
            json!({ "argument": { "argument": argument, "text": "3", "plan": null } })
        }
        Operation::RunTask { .. } => json!({ "exit": { "code": 0, "text": "1" } }),
        Operation::StoreMemory { .. } => json!({ "stored": { "held": true } }),
        _ => json!("delivered"),
    };
    json!({ "reply": { "call": call.id, "report": report } })
}
