//! The payload of a call fits the budget with its context (000 §5.3, decision 0033).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::context::TextMeasure;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Operation, Role};
use orchestrion_kernel::plan::{Effect, EffectKind, Plan, StepOptions, Task};
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{CallId, ConversationId, Event, RequestId, Revision, State, TaskId, UserId};
use orchestrion_text::PolicyMeasure;
use orchestrion_trace::{Reader, emitted_context_call};
use serde_json::{Value, json};
use std::fs;
use std::io::BufReader;
use std::path::Path;

/// The payload of a call as the derived encoding writes it.
fn derived_payload(request: &Request, operation: Operation) -> Option<Value> {
    match operation {
        Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::Diagnose => request.plan.as_ref().map(|revised| {
            let tasks: Vec<Task> = revised.plan.tasks().iter().map(without_step).collect();
            json!({ "plan": tasks })
        }),
        Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
            let started = request.ledger.iter().find(|started| started.task == task)?;
            Some(json!({ "task": started.version.as_ref().map(without_step) }))
        }
        _ => None,
    }
}

/// A task without its options for routing, which no module reads.
fn without_step(task: &Task) -> Task {
    Task { step: StepOptions::default(), ..task.clone() }
}

/// The text that the kernel counts is the JSON that a host receives.
#[test]
fn payload_text_is_json() {
    // Every character that JSON escapes, and some that it does not.
    let escaped: String = ('\0'..='\u{a0}').collect();
    let text = || format!("{escaped}größer → 𝄞").into();
    let tasks = [
        (Effect::Pure, None),
        (Effect::Undoable { compensation: text() }, Some(Scope::Global)),
        (Effect::Irreversible, Some(Scope::Session)),
        (Effect::Pure, Some(Scope::Task(text()))),
        (Effect::Pure, Some(Scope::Hypothetical(text()))),
        (Effect::Pure, Some(Scope::Draft(text()))),
    ];
    // The last three tasks declare none, one and two dependencies.
    let depends_on = |id: u32| id.checked_sub(4).map(|tasks| (1..=tasks).map(TaskId::new).collect());
    let task = |(id, (effect, scope))| {
        let depends_on = depends_on(id);
        Task { id: TaskId::new(id), text: text(), effect, depends_on, scope, step: StepOptions::default() }
    };
    let tasks = (1..).zip(tasks).map(task);
    let mut state = State::new(ConversationId::new("payload"));
    state.apply(&Event::UserMsg {
        request: RequestId::FIRST,
        user: UserId::new("ada"),
        text: text(),
        scope: Scope::Global,
    });
    state.apply(&Event::PlanAdopted { revision: Revision::FIRST, plan: Plan::new(tasks.collect()).unwrap() });
    let started = [(1, EffectKind::Pure), (2, EffectKind::Undoable), (3, EffectKind::Irreversible)];
    let runs = started.map(|(task, effect)| Operation::RunTask { task: TaskId::new(task), effect });
    for (call, operation) in (1..).zip(runs) {
        state.apply(&Event::ToolCall { call: CallId::new(call), operation });
    }
    let request = state.control().request().unwrap();
    let undo = Operation::UndoTask { task: TaskId::new(2) };
    for operation in runs.into_iter().chain([undo, Operation::Argue(Role::Critic), Operation::Approve]) {
        let json = request.payload_text(operation).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&json).unwrap(),
            derived_payload(request, operation).unwrap()
        );
        assert_eq!(json.len(), derived_payload(request, operation).unwrap().to_string().len());
    }
    assert_eq!(request.payload_text(Operation::DraftPlan), None);
}

/// In every golden trace, context and payload of each call that was sent fit its budget, by the policy's tokenizer. The record of
/// the context states the tokens of the JSON that a host receives. A call without a context has no record.
#[test]
fn context_and_payload_fit_budget() {
    let (mut with_payload, mut not_made) = (0, 0);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/scenarios");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "ndjson")) {
        let name = path.display().to_string();
        let reader = Reader::new(BufReader::new(fs::File::open(&path).unwrap()), &name).unwrap();
        let policy = reader.header().policy.clone();
        let measure = PolicyMeasure::from_policy(&policy).unwrap();
        let mut state = State::new(reader.header().conversation.clone());
        for step in reader {
            let step = step.unwrap();
            step.events.iter().for_each(|event| state.apply(event));
            let Some(call) = emitted_context_call(&step.events) else {
                assert_eq!(step.context, None, "{name}, step {}", step.n);
                continue;
            };
            let payload = derived_payload(state.control().request().unwrap(), call.operation);
            let payload_tokens = payload.map_or(0, |payload| measure.tokens(&payload.to_string()));
            let limit = policy.contexts.token_limit(call.operation.module());
            match &step.context {
                Some(context) => {
                    assert_eq!(context.payload_tokens, payload_tokens, "{name}, step {}", step.n);
                    assert!(context.cost_tokens + payload_tokens <= limit, "{name}, step {}", step.n);
                    with_payload += usize::from(payload_tokens > 0);
                }
                None => not_made += usize::from(payload_tokens > limit),
            }
        }
    }
    assert!(with_payload > 200 && not_made > 0, "{with_payload} with payload, {not_made} not made");
}
