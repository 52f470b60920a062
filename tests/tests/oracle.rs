//! Tests of the oracle: which batches and contexts it accepts, and which it rejects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::context::{ByteMeasure, ContextError};
use orchestrion_kernel::event::TaskOutcome;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::policy::EloMethod;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, ModuleContext, Policy, Refusal, State, TaskId, TimedInput,
    Timestamp, build_context, decide,
};
use orchestrion_optimizer::ExactSelector;
use orchestrion_tests::generators::RandomSource;
use orchestrion_tests::oracle::Oracle;
use orchestrion_tests::random_walk::conversation;
use orchestrion_tests::regressions::random_walks;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Random walks whose batches are changed in every possible place.
const WALKS: u32 = 40;
/// Conversations with small budgets.
const CONVERSATIONS: u32 = 100;
/// Inputs of one such conversation.
const INPUTS: u32 = 150;
/// Random walks whose tasks must run in parallel.
const PARALLEL_WALKS: u32 = 2_000;

#[test]
fn tampered_batches_are_rejected() {
    let mut rejected = 0;
    for (policy, inputs) in random_walks(WALKS) {
        let (mut oracle, mut state) = (Oracle::new(&policy, &conversation()), State::new(conversation()));
        for input in &inputs {
            let decided = decide(&policy, &state, input.at, &input.input);
            decided.iter().flatten().for_each(|event| state.apply(event));
            for events in decided.iter().flat_map(tampered_batches) {
                let result = oracle.clone().judge(input, Ok(&events), &state);
                let batch = || serde_json::to_string(&events).unwrap();
                assert!(result.is_err(), "{input:?}: tampered batch accepted: {}", batch());
                rejected += 1;
            }
            oracle.judge(input, decided.as_ref(), &state).unwrap();
        }
    }
    assert!(rejected > 10_000, "only {rejected} tampered batches");
}

/// Copies of the batch with one change each: an event removed or repeated, or a number, a text or a flag of an event
/// changed.
fn tampered_batches(events: &Events) -> Vec<Events> {
    let encoded = serde_json::to_value(events).unwrap();
    let list = encoded.as_array().unwrap();
    let mut all = Vec::new();
    for (index, event) in list.iter().enumerate() {
        let (mut without, mut repeated) = (list.clone(), list.clone());
        without.remove(index);
        repeated.push(event.clone());
        all.extend([without, repeated]);
        let mut leaves = Vec::new();
        collect_leaves(event, String::new(), &mut leaves);
        // The oracle aggregates numbers in floating point, and allows for the rounding to millionths.
        let is_rounded = event.pointer("/network/results_aggregated").is_some();
        let difference = if is_rounded { 10 } else { 1 };
        for leaf in leaves {
            let mut changed = list.clone();
            let value = changed[index].pointer_mut(&leaf).unwrap();
            match value {
                Value::Number(number) => {
                    *value = json!(number.as_i64().map_or(1, |number| number + difference))
                }
                Value::Bool(flag) => *value = json!(!*flag),
                Value::String(text) => text.push('!'),
                _ => continue,
            }
            all.push(changed);
        }
    }
    // A kernel cannot return a batch without a valid encoding.
    all.into_iter().filter_map(|events| serde_json::from_value(Value::Array(events)).ok()).collect()
}

/// Collects the pointers to all values of an event. Absent are the values that the oracle does not compare: the row of a
/// transition, and the text of a record and of a final answer.
fn collect_leaves(value: &Value, path: String, leaves: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "transitioned") {
                let is_composed = path.ends_with("/record") || path.ends_with("/final_answer");
                if !(is_composed && name == "text") {
                    collect_leaves(field, format!("{path}/{name}"), leaves);
                }
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_leaves(value, format!("{path}/{index}"), leaves);
            }
        }
        _ => leaves.push(path),
    }
}

/// Decision 0014 for every lead: the Critic objects with next to no weight, and four roles win against it.
#[test]
fn duel_gain_matches_formula_for_every_lead() {
    let policy = Policy { elo: EloMethod::Standard, ..Policy::hardened() };
    let leads: Vec<i64> = (-1000..=1000).collect();
    for four in leads.chunks(4) {
        let elo = |index: usize| 1000 + four.get(index).copied().unwrap_or_default();
        let rating = |elo: i64| json!({ "elo": elo, "successes": 0, "matches": 0 });
        let argument = |stance: &str, confidence: u32| {
            json!({ "argument": {
                "argument": { "stance": stance, "confidence": confidence }, "text": "", "plan": null,
            }})
        };
        let (pro, con) = (argument("pro", 1_000_000), argument("con", 1));
        let reports = [
            json!({ "identity": { "gcp": true, "mongodb": true } }),
            json!({ "context": { "traces": [], "ratings": {
                "analyst": rating(elo(0)), "solution": rating(elo(1)), "critic": rating(1000),
                "security": rating(elo(2)), "optimizer": rating(elo(3)),
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
            submit(&policy, &mut oracle, &mut state, Timestamp::default(), &input)
                .unwrap_or_else(|wrong| panic!("{four:?}: {wrong}"));
            input = match (oracle.pending_calls().first(), oracle.phase()) {
                (Some(call), _) => {
                    json!({ "reply": { "call": call.id.number(), "report": reports.next() } })
                }
                (None, "Idle") => json!({ "user_message": { "user": "ada", "text": "" } }),
                (None, _) => json!("step"),
            };
        }
    }
}

/// Decides and applies an input, and lets the oracle check the step.
fn submit(
    policy: &Policy,
    oracle: &mut Oracle,
    state: &mut State,
    at: Timestamp,
    input: &Value,
) -> Result<(), String> {
    let input: Input = serde_json::from_value(input.clone()).map_err(|error| format!("{input}: {error}"))?;
    let timed = TimedInput { at, input };
    let decided = decide(policy, state, timed.at, &timed.input);
    decided.iter().flatten().for_each(|event| state.apply(event));
    oracle.judge(&timed, decided.as_ref(), state)
}

/// Decision 0024 under budgets that exclude items, and under budgets that the pinned content exceeds.
#[test]
fn contexts_match_oracle_under_small_budgets() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..CONVERSATIONS {
        let mut conversation = SmallBudgets::new(number);
        for _ in 0..INPUTS {
            conversation.submit_next();
            let ample_policy = with_budget(&conversation.policy, u32::MAX);
            let calls = conversation.oracle.pending_calls();
            *counts.entry("several calls").or_default() += u32::from(calls.len() > 1);
            for call in calls {
                let Some(context) = conversation.context(call, &conversation.policy) else { continue };
                *counts.entry("context").or_default() += 1;
                let ample = conversation.context(call, &ample_policy).unwrap();
                match (context, ample) {
                    (Ok(context), Ok(ample)) if context.ids != ample.ids => {
                        *counts.entry("omitted items").or_default() += 1;
                    }
                    (Err(_), _) => *counts.entry("over budget").or_default() += 1,
                    _ => {}
                }
            }
        }
    }
    let is_rare = |kind: &&str| counts.get(*kind).is_none_or(|count| *count < 1_000);
    let kinds = ["context", "omitted items", "over budget"];
    let rare = kinds.into_iter().find(is_rare);
    assert!(counts["several calls"] > 50, "too few parallel tasks: {counts:?}");
    assert!(rare.is_none(), "too few cases of {rare:?}: {counts:?}");
}

/// Decision 0040 is untested in walks whose tasks never run at once, so each of its cases must occur in several walks.
#[test]
fn random_walks_run_tasks_in_parallel() {
    let mut counts: BTreeMap<&str, u32> = PARALLEL_CASES.iter().map(|case| (*case, 0)).collect();
    for (policy, inputs) in random_walks(PARALLEL_WALKS) {
        let mut state = State::new(conversation());
        for TimedInput { at, input } in &inputs {
            let before = state.clone();
            let decided = decide(&policy, &state, *at, input);
            decided.iter().flatten().for_each(|event| state.apply(event));
            for case in PARALLEL_CASES.iter().filter(|case| occurs(case, &before, input, &decided, &state)) {
                *counts.entry(case).or_default() += 1;
            }
        }
    }
    println!("{counts:?}");
    let rare: Vec<_> = counts.iter().filter(|(_, times)| **times < 5).collect();
    assert!(rare.is_empty(), "rare cases of parallel tasks in {PARALLEL_WALKS} walks: {rare:?}");
}

/// The cases of decision 0040 that walks must contain.
const PARALLEL_CASES: [&str; 7] = [
    "three running tasks",
    "later call ends first",
    "wrong call beside several",
    "cancel of several tasks",
    "unknown outcome beside others",
    "start after a failure",
    "dependency in another scope",
];

/// Returns whether the case occurs in a step.
fn occurs(
    case: &str,
    before: &State,
    input: &Input,
    decided: &Result<Events, Refusal>,
    after: &State,
) -> bool {
    let calls = before.control().pending_calls();
    let events = decided.as_deref().unwrap_or_default();
    let outcomes = || after.control().request().into_iter().flat_map(|request| request.outcomes.iter());
    let ends = |call: &Call| matches!(input, Input::Reply { call: ended, .. } | Input::CallFailed { call: ended, .. } if *ended == call.id);
    let starts_task = || {
        let is_start =
            |event: &Event| matches!(event, Event::ToolCall { operation: Operation::RunTask { .. }, .. });
        events.iter().any(is_start)
    };
    match case {
        "three running tasks" => decided.is_ok() && after.control().pending_calls().len() == 3,
        "later call ends first" => decided.is_ok() && calls.iter().skip(1).any(ends),
        "wrong call beside several" => calls.len() > 1 && matches!(decided, Err(Refusal::WrongCall { .. })),
        "cancel of several tasks" => calls.len() > 1 && decided.is_ok() && *input == Input::Cancel,
        "unknown outcome beside others" => {
            let unknown = TaskOutcome::NoResult(Failure::OutcomeUnknown);
            !after.control().pending_calls().is_empty() && outcomes().any(|result| result.outcome == unknown)
        }
        "start after a failure" => {
            starts_task() && outcomes().any(|result| result.outcome != TaskOutcome::Succeeded)
        }
        "dependency in another scope" => events
            .iter()
            .any(|event| matches!(event, Event::PlanAdopted { plan, .. } if has_hidden_dependency(plan))),
        case => panic!("unknown case {case}"),
    }
}

/// Returns whether a task declares a dependency whose scope differs from its own.
fn has_hidden_dependency(plan: &Plan) -> bool {
    let scope = |id: TaskId| plan.tasks().iter().find(|task| task.id == id).map(|task| &task.scope);
    plan.tasks()
        .iter()
        .any(|task| task.depends_on.iter().flatten().any(|dep| scope(*dep) != Some(&task.scope)))
}

/// A context that the kernel builds under another policy is wrong, unless it is the same.
#[test]
fn tampered_contexts_are_rejected() {
    let (mut rejected, mut accepted) = (0, 0);
    for number in 0..CONVERSATIONS / 3 {
        let mut conversation = SmallBudgets::new(number);
        for _ in 0..INPUTS {
            conversation.submit_next();
            // A write during the summarizer's call changes the cluster, not the context that was sent.
            if conversation.oracle.phase() == "Compacting" {
                continue;
            }
            let policy = conversation.policy.clone();
            // Of several running tasks the last one, whose context is new.
            let Some(call) = conversation.oracle.pending_calls().pop() else { continue };
            let Some(Ok(context)) = conversation.context(call, &policy) else { continue };
            for other in tampered_policies(&policy) {
                let found = conversation.context(call, &other).unwrap();
                if found.as_ref() == Ok(&context) {
                    continue;
                }
                match conversation.oracle.check_context(call.id, found.as_ref()) {
                    Err(_) => rejected += 1,
                    Ok(()) => accepted += 1,
                }
            }
            for other in tampered_contexts(&context) {
                conversation.oracle.check_context(call.id, Ok(&other)).unwrap_err();
                rejected += 1;
            }
        }
    }
    // With too many candidates to enumerate, the oracle cannot reject every selection that is not the best.
    assert!(rejected > 10_000 && accepted * 50 < rejected, "{rejected} rejected, {accepted} accepted");
}

/// Policies with one setting of the contexts changed.
fn tampered_policies(policy: &Policy) -> Vec<Policy> {
    let budget = policy.contexts.budget_tokens;
    let mut recency = policy.clone();
    recency.contexts.recency = orchestrion_kernel::Weight::from_millionths(100_000).unwrap();
    let mut unweighted = policy.clone();
    unweighted.contexts.module_overrides.clear();
    vec![with_budget(policy, budget - 1), with_budget(policy, budget + 1), recency, unweighted]
}

/// Contexts with one field changed.
fn tampered_contexts(context: &ModuleContext) -> Vec<ModuleContext> {
    let change = |change: &dyn Fn(&mut ModuleContext)| {
        let mut context = context.clone();
        change(&mut context);
        context
    };
    let mut tampered = vec![
        change(&|context| context.cost_tokens += 1),
        change(&|context| context.payload_tokens += 1),
        change(&|context| context.utility += 1),
        change(&|context| context.text.push(' ')),
    ];
    if !context.ids.is_empty() {
        let last = context.ids.len() - 1;
        tampered.push(change(&|context| context.ids = context.ids[1..].to_vec()));
        tampered.push(change(&|context| context.ids.truncate(last)));
    }
    tampered
}

fn with_budget(policy: &Policy, budget: u32) -> Policy {
    let mut policy = policy.clone();
    policy.contexts.budget_tokens = budget;
    if budget == u32::MAX {
        policy.contexts.module_overrides.iter_mut().for_each(|settings| settings.budget_tokens = None);
    }
    policy
}

/// A random conversation under a policy with small budgets.
struct SmallBudgets {
    rng: TestRng,
    policy: Policy,
    oracle: Oracle,
    state: State,
    time: u64,
}

/// Words of random texts. The lengths differ, so the costs of items differ.
const WORDS: [&str; 8] = ["a", "roof", "region", "archive of customers", "ten", "größer", "two\nlines", "x"];
const TOPICS: [&str; 16] = [
    "identity",
    "environment",
    "constraint",
    "fact",
    "summary",
    "working",
    "situation",
    "request",
    "final_answer",
    "trace",
    "tags",
    "task",
    "output",
    "argument",
    "diagnosis",
    "approval",
];
const RANKS: [&str; 6] = ["unverified", "guest", "employee", "manager", "executive", "policy"];

impl SmallBudgets {
    fn new(number: u32) -> Self {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut policy = serde_json::to_value(Policy::hardened()).unwrap();
        policy["name"] = json!("small-budgets");
        policy["rules"]["approver"] = json!(rng.percent(30));
        policy["compaction"]["from_items"] = json!(rng.one_of(&[3, 6, 64]));
        let modules = ["planner", "classifier", "memory", "executor"].map(|module| json!(module));
        let roles = ["analyst", "solution", "critic", "security", "optimizer"];
        let roles = roles.map(|role| json!({ "debater": role }));
        let mut overrides = Vec::new();
        for module in modules.into_iter().chain(roles) {
            if rng.percent(75) {
                continue;
            }
            let mut weights = serde_json::Map::new();
            for topic in TOPICS {
                if rng.percent(20) {
                    let weight = rng.one_of(&[0, 0, 1, 333_333, 2_000_000, 7_000_000]);
                    weights.insert(topic.to_owned(), json!(weight));
                }
            }
            let budget = rng.percent(50).then(|| 20 + rng.below(200));
            overrides.push(json!({ "module": module, "budget_tokens": budget, "weights": weights }));
        }
        let contexts = &mut policy["contexts"];
        contexts["budget_tokens"] = json!(20 + rng.below(180));
        contexts["reserved_tokens"] = json!(rng.one_of(&[0, 0, 5, 17]));
        contexts["recency"] = json!(rng.one_of(&[500_000, 0, 333_333, 7_000_000]));
        // One node proves hardly any selection that needs a search.
        contexts["nodes_max"] = json!(rng.one_of(&[2_000, 2_000, 1]));
        contexts["module_overrides"] = json!(overrides);
        let policy: Policy = serde_json::from_value(policy).unwrap();
        let oracle = Oracle::new(&policy, &conversation());
        Self { rng, policy, oracle, state: State::new(conversation()), time: 0 }
    }

    /// Submits a random input and checks the step.
    fn submit_next(&mut self) {
        let input = self.next_input();
        let at = Timestamp::from_millis(self.time);
        submit(&self.policy, &mut self.oracle, &mut self.state, at, &input)
            .unwrap_or_else(|wrong| panic!("{wrong}\nunder {:?}", self.policy.contexts));
    }

    /// Builds the kernel's context for a pending call under a policy; `None` if the call reads no context.
    fn context(&self, call: Call, policy: &Policy) -> Option<Result<ModuleContext, ContextError>> {
        if !call.operation.takes_context() {
            return None;
        }
        let selector = ExactSelector::from_policy(policy);
        Some(build_context(policy, &self.state, call.operation, &ByteMeasure, &selector))
    }

    fn next_input(&mut self) -> Value {
        let phase = self.oracle.phase().to_owned();
        let calls = self.oracle.pending_calls();
        if phase == "RunningTasks" && self.rng.percent(50) {
            return json!("step");
        }
        let call = (!calls.is_empty()).then(|| self.rng.one_of(&calls));
        match (self.rng.below(100), call) {
            (0, _) => json!("cancel"),
            (1, _) => json!("resume"),
            (2, None) if phase == "Idle" => json!("session_end"),
            (3..40, _) => json!({ "write": self.write() }),
            (_, Some(call)) if call.not_made.is_some() && self.rng.percent(80) => {
                json!({ "call_failed": { "call": call.id.number(), "failure": "over_budget" } })
            }
            (_, Some(call)) => {
                let report = self.report(&serde_json::to_value(call.operation).unwrap());
                let mut reply = json!({ "call": call.id.number(), "report": report });
                if self.rng.percent(10) {
                    reply["summary_update"] = json!({ "goal": self.text(), "next_focus": self.text() });
                }
                if self.rng.percent(10) {
                    reply["action"] = self.action();
                }
                json!({ "reply": reply })
            }
            // The kernel refuses whichever of the two does not fit; then the other one follows soon.
            (40..60, None) if phase == "Idle" => {
                let identity = json!({
                    "name": self.text(), "authority": "lead", "rank": self.rng.one_of(&RANKS), "department": "d",
                    "organization": "o", "permissions": [],
                });
                json!({ "session_start": { "user": "ada", "identity": identity } })
            }
            (_, None) if phase == "Idle" => json!({ "user_message": { "user": "ada", "text": self.text() } }),
            (_, None) => json!("step"),
        }
    }

    fn text(&mut self) -> String {
        let words = self.rng.one_of(&[1, 1, 2, 3, 5]);
        (0..words).map(|_| self.rng.one_of(&WORDS)).collect::<Vec<_>>().join(" ")
    }

    fn key(&mut self) -> String {
        format!("k{}", self.rng.below(9))
    }

    fn write(&mut self) -> Value {
        let text = self.text();
        let key = self.key();
        let depends_on: Vec<Value> =
            (0..self.rng.one_of(&[0, 0, 1, 2])).map(|_| json!({ "key": self.key() })).collect();
        match self.rng.below(20) {
            0 | 1 => {
                json!({ "environment": { "key": self.rng.one_of(&["rain", "load"]), "text": text, "supersedes": null }})
            }
            2..6 => {
                self.time += u64::from(self.rng.percent(25));
                let expires_at = self.rng.percent(30).then_some(self.time + 2);
                json!({ "working": { "key": key, "text": text, "expires_at": expires_at, "depends_on": depends_on }})
            }
            kind => {
                let constraint = json!({ "constraint": self.rng.one_of(&[json!("policy"), Value::Null]) });
                json!({ "fact": {
                    "kind": if kind > 16 { constraint } else { json!("fact") },
                    "key": key,
                    "text": text,
                    "source": { "name": self.rng.one_of(&RANKS[2..]), "rank": null, "is_derived": false },
                    "established_at": self.time,
                    "memory": "user",
                    "scope": self.rng.one_of(&["global", "global", "session"]),
                    "audience": self.rng.one_of(&[json!("everybody"), json!({ "at_least": "manager" })]),
                    "time_sensitive": false,
                    "supersedes": null,
                    "detected_rule": null,
                    "depends_on": depends_on,
                }})
            }
        }
    }

    fn action(&mut self) -> Value {
        let tool = json!({
            "name": "search", "args": { "q": self.text() }, "result": self.text(), "outcome": "success",
        });
        json!({
            "iteration": 1, "timestamp": "2026-01-01T00:00:00Z", "mode": "fast", "thinking": "", "planning": "", "reflection": "",
            "approach": "", "tool_calls": if self.rng.percent(80) { vec![tool] } else { Vec::new() },
        })
    }

    fn plan(&mut self) -> Value {
        let effects =
            [json!("pure"), json!({ "undoable": { "compensation": "undo" } }), json!("irreversible")];
        let tasks = 1 + self.rng.below(4);
        let task = |id: u32| {
            let effect = &effects[usize::try_from(id % 3).unwrap_or_default()];
            let text = self.text();
            let mut task = json!({ "id": id, "text": text, "effect": effect });
            if self.rng.percent(75) {
                let depends_on: Vec<u32> = (1..id).filter(|_| self.rng.percent(20)).collect();
                task["depends_on"] = json!(depends_on);
            }
            task
        };
        json!((1..=tasks).map(task).collect::<Vec<_>>())
    }

    /// A report of the type of the operation.
    fn report(&mut self, operation: &Value) -> Value {
        let text = self.text();
        let kind = operation.as_object().and_then(|operation| operation.keys().next());
        match kind.map_or_else(|| operation.as_str().unwrap_or_default(), String::as_str) {
            "verify_identity" => json!({ "identity": { "gcp": true, "mongodb": true } }),
            "load_context" => {
                let rating = json!({ "elo": 1200, "successes": 0, "matches": 0 });
                let trace = json!({ "trace": { "conversation": "past", "request": 4 }, "text": text });
                json!({ "context": { "traces": [trace], "ratings": {
                    "analyst": rating, "solution": rating, "critic": rating, "security": rating, "optimizer": rating,
                }}})
            }
            "summarize" => json!({ "summary": { "text": text, "forgets": null } }),
            "classify" => json!({ "classification": { "tags": [text], "similarity": 500_000 } }),
            "draft_plan" => json!({ "plan": self.plan() }),
            "argue" | "review_revision" => {
                let stance = self.rng.one_of(&["pro", "pro", "con"]);
                let confidence = self.rng.one_of(&[500_000, 850_000, 100_000]);
                let argument = json!({ "stance": stance, "confidence": confidence });
                json!({ "argument": { "argument": argument, "text": text, "plan": null } })
            }
            "approve" => json!({ "approval": { "approved": true, "text": text } }),
            "run_task" | "undo_task" => {
                json!({ "exit": { "code": self.rng.one_of(&[0, 0, 0, 1]), "text": text } })
            }
            "diagnose" => json!({ "repaired": { "text": text, "plan": self.plan() } }),
            "store_memory" => json!({ "stored": { "held": true } }),
            _ => json!("delivered"),
        }
    }
}
