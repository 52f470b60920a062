//! Keyed writes and their compaction on random sequences over a small universe: every kernel step and the resulting
//! contexts match the oracle.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod actions;
mod coverage;
mod writes;

use actions::{KnowledgeAction, SummarizerReply, policy};
use coverage::{COMPACTIONS, KINDS, KindCounts, compaction_effects};
use orchestrion_kernel::context::{ByteMeasure, build_context};
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Event, Input, ItemId, Phase, Policy, State, TimedInput, Timestamp, decide};
use orchestrion_optimizer::ExactSelector;
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::random_walk::conversation;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};

/// The number of sequences.
const SEQUENCES: u32 = 1_500;
/// The minimum number of inputs in all sequences.
const STEPS_MIN: usize = 20_000;

#[test]
fn writes_match_oracle() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()).unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: SEQUENCES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let counts = RefCell::new(KindCounts::new());
    let result = runner.run(&(policy(), actions::actions()), |(policy, actions)| {
        run_actions(&policy, &actions, &mut counts.borrow_mut()).map_err(TestCaseError::fail)
    });
    match result {
        Err(TestError::Fail(message, (policy, actions))) => {
            panic!("{message}\n{:?} {:?} {:?}\n{actions:#?}", policy.writes, policy.compaction, policy.rules)
        }
        result => result.unwrap_or_else(|error| panic!("{error}")),
    }
    let counts = counts.into_inner();
    println!("{counts:?}");
    assert!(counts["step"] >= STEPS_MIN, "expected at minimum {STEPS_MIN} steps, found {}", counts["step"]);
    let find_rare = |kinds: &'static [&'static str], minimum: usize| {
        kinds.iter().find(|kind| counts.get(**kind).is_none_or(|times| *times < minimum))
    };
    let rare = find_rare(KINDS, 50).or(find_rare(COMPACTIONS, 10));
    assert!(rare.is_none(), "too few {rare:?} in {counts:?}");
}

/// Runs the actions one by one and counts the observed kinds.
fn run_actions(policy: &Policy, actions: &[KnowledgeAction], counts: &mut KindCounts) -> Result<(), String> {
    let (mut oracle, mut state) = (Oracle::new(policy, &conversation()), State::new(conversation()));
    let time = Cell::new(0);
    let mut submit = |state: &mut State, counts: &mut KindCounts, input: &Value| {
        let input: Input =
            serde_json::from_value(input.clone()).map_err(|error| format!("{input}: {error}"))?;
        let input = TimedInput { at: Timestamp::from_millis(time.get()), input };
        let decided = decide(policy, state, input.at, &input.input);
        for kind in decided.iter().flat_map(|events| compaction_effects(state, &json!(events))) {
            *counts.entry(kind).or_default() += 1;
        }
        decided.iter().flatten().for_each(|event| state.apply(event));
        if matches!(&input.input, Input::Write(write) if matches!(**write, Write::Promote { .. }))
            && decided.as_ref().is_ok_and(|events| !events.is_empty())
        {
            *counts.entry("promotion").or_default() += 1;
        }
        let is_scoped_output = |event: &Event| match event {
            Event::AddItem { item, .. } => {
                matches!(item.key, ItemKey::Output(..)) && item.scope().name().is_some()
            }
            _ => false,
        };
        let is_global = state.control().request().is_some_and(|request| request.scope.is_global());
        if is_global && decided.iter().flatten().any(is_scoped_output) {
            *counts.entry("scoped output").or_default() += 1;
        }
        let text = decided.as_ref().map_or("refusal".into(), |events| match events.as_slice() {
            [] => "nothing".into(),
            events => serde_json::to_string(events).unwrap_or_default(),
        });
        *counts.entry("step").or_default() += 1;
        for kind in KINDS.iter().filter(|kind| text.contains(**kind)) {
            *counts.entry(kind).or_default() += 1;
        }
        oracle.judge(&input, decided.as_ref(), state)
    };
    for action in actions {
        match action {
            KnowledgeAction::Submit(input) => submit(&mut state, counts, input)?,
            KnowledgeAction::Tick(at) => {
                time.set(*at);
                submit(&mut state, counts, &json!("tick"))?;
                // Later inputs are not refused for their time.
                time.set(state.now().millis().max(*at));
            }
            KnowledgeAction::Request { trace, scope, meanwhile, reply: summarizer_reply }
                if state.control().session().is_some() =>
            {
                end_request(&mut state, counts, &mut submit)?;
                let user = json!(state.control().session());
                let message = json!({ "user_message": { "user": user, "text": "1", "scope": scope } });
                submit(&mut state, counts, &message)?;
                if state.control().phase() == Phase::Idle {
                    *counts.entry("unknown scope").or_default() += 1;
                    continue;
                }
                let identified = reply(&state, *trace);
                submit(&mut state, counts, &identified)?;
                submit(&mut state, counts, &json!("step"))?;
                if state.control().phase() == Phase::Compacting {
                    let cluster = build_context(
                        policy,
                        &state,
                        Operation::Summarize,
                        &ByteMeasure,
                        &ExactSelector::from_policy(policy),
                    )
                    .unwrap()
                    .ids;
                    if let Some(write) = meanwhile {
                        time.set(time.get() + 1);
                        submit(&mut state, counts, write)?;
                        *counts.entry("write during the call").or_default() += 1;
                    }
                    let call = json!(state.control().pending_calls().first().unwrap().id);
                    submit(&mut state, counts, &summarizer_reply.input(&call, &cluster))?;
                    let kind = match (summarizer_reply, state.control().phase()) {
                        (_, Phase::Compacting) => "refused reply",
                        (SummarizerReply::Fails(_), _) => "failed call",
                        (SummarizerReply::Cancelled, _) => "cancelled call",
                        (SummarizerReply::All, _) => "all of the context",
                        _ => "a part of the context",
                    };
                    *counts.entry(kind).or_default() += 1;
                    if state.control().phase() == Phase::Compacting {
                        submit(&mut state, counts, &SummarizerReply::All.input(&call, &cluster))?;
                    }
                }
                if state.control().phase() == Phase::LoadingContext {
                    let loaded = reply(&state, *trace);
                    submit(&mut state, counts, &loaded)?;
                }
            }
            KnowledgeAction::Advance(steps) => {
                for _ in 0..*steps {
                    if state.control().phase() != Phase::Idle {
                        let input = reply(&state, 1);
                        submit(&mut state, counts, &input)?;
                    }
                }
            }
            KnowledgeAction::EndRequest => end_request(&mut state, counts, &mut submit)?,
            KnowledgeAction::Request { .. } => {}
            KnowledgeAction::EndSession(next) if state.control().session().is_some() => {
                end_request(&mut state, counts, &mut submit)?;
                submit(&mut state, counts, &json!("session_end"))?;
                if let Some(user) = next {
                    submit(&mut state, counts, &json!({ "session_start": { "user": user } }))?;
                }
            }
            KnowledgeAction::EndSession(_) => {}
            KnowledgeAction::ShadowInTask(about) => {
                for (text, supersedes) in [("1", json!({ "key": about })), ("2", Value::Null)] {
                    let fact = json!({
                        "kind": "fact", "key": "aside", "text": text, "established_at": 1, "memory": "user",
                        "source": { "name": "policy", "rank": null, "is_derived": false }, "scope": { "task": "aside" },
                        "audience": "everybody", "time_sensitive": false, "supersedes": supersedes,
                        "detected_rule": null, "depends_on": [],
                    });
                    submit(&mut state, counts, &json!({ "write": { "fact": fact } }))?;
                }
            }
            KnowledgeAction::WriteAbout { summary, supersedes, fact } => {
                let summaries: Vec<ItemId> = state
                    .semantic()
                    .entries()
                    .filter(|entry| entry.item.key == ItemKey::Summary && entry.item.fact().is_some())
                    .map(|entry| entry.item.id)
                    .collect();
                if !summaries.is_empty() {
                    let named = json!({ "id": summaries[summary % summaries.len()] });
                    let mut write = json!({ "write": fact });
                    let text = &mut write["write"]["fact"];
                    text["supersedes"] = if *supersedes { named.clone() } else { Value::Null };
                    text["depends_on"] = if *supersedes { json!([]) } else { json!([named]) };
                    submit(&mut state, counts, &write)?;
                }
            }
        }
    }
    Ok(())
}

/// Cancels the running request, if any, and completes it.
fn end_request(
    state: &mut State,
    counts: &mut KindCounts,
    submit: &mut impl FnMut(&mut State, &mut KindCounts, &Value) -> Result<(), String>,
) -> Result<(), String> {
    if state.control().phase() != Phase::Idle {
        submit(state, counts, &json!("cancel"))?;
    }
    while state.control().phase() != Phase::Idle {
        let input = reply(state, 1);
        submit(state, counts, &input)?;
    }
    Ok(())
}

/// Returns the reply to the pending call.
fn reply(state: &State, trace: u32) -> Value {
    let Some(call) = state.control().pending_calls().first() else { return json!("step") };
    let report = match call.operation {
        Operation::VerifyIdentity => json!({ "identity": { "gcp": true, "mongodb": true } }),
        Operation::LoadContext => {
            let rating = json!({ "elo": 1200, "successes": 0, "matches": 0 });
            let ratings = json!({
                "analyst": rating, "solution": rating, "critic": rating, "security": rating, "optimizer": rating,
            });
            let trace = json!({ "conversation": "past", "request": trace });
            let scope = match call.id.number() % 3 {
                0 => json!("global"),
                1 => json!({ "task": "x" }),
                _ => json!({ "draft": "x" }),
            };
            let past = json!({ "trace": trace, "text": "2", "scope": scope });
            json!({ "context": { "ratings": ratings, "traces": [past] } })
        }
        Operation::Classify => json!({ "classification": { "tags": ["3"], "similarity": 0 } }),
        Operation::DraftPlan => {
            let (global, task) = (json!("global"), json!({ "task": "x" }));
            let scopes = match call.id.number() % 5 {
                0 => [&task, &task],
                1 => [&task, &Value::Null],
                2 => [&Value::Null, &task],
                3 => [&global, &global],
                _ => [&Value::Null; 2],
            };
            let undoable = json!({ "undoable": { "compensation": "3" } });
            json!({ "plan": [
                { "id": 1, "text": "1", "effect": undoable, "scope": scopes[0] },
                { "id": 2, "text": "2", "effect": "pure", "scope": scopes[1] },
            ]})
        }
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            let argument = json!({ "stance": "pro", "confidence": 1_000_000 });
            json!({ "argument": { "argument": argument, "text": "3", "plan": null } })
        }
        Operation::RunTask { .. } | Operation::UndoTask { .. } => {
            json!({ "exit": { "code": 0, "text": "1" } })
        }
        Operation::StoreMemory { .. } => json!({ "stored": { "held": true } }),
        _ => json!("delivered"),
    };
    let goal = json!({ "goal": call.id.to_string() });
    let update = if matches!(call.operation, Operation::RunTask { .. }) { goal } else { Value::Null };
    json!({ "reply": { "call": call.id, "report": report, "summary_update": update } })
}
