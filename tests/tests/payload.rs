//! The payload of a call fits the budget with its context (000 §5.3, decision 0033).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::context::TextMeasure;
use orchestrion_kernel::event::{
    AuditRecord, Cause, Conclusion, Decision, DecisionLabel, EffectOutcome, MemoryRecord, StoreStatus,
    StoreStatuses, TaskRecord,
};
use orchestrion_kernel::ids::Revision;
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Ratings};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::state::CallPayload;
use orchestrion_kernel::{ConversationId, RequestId, Score, State, TaskId, Text, TraceId, UserId};
use orchestrion_text::PolicyMeasure;
use orchestrion_trace::{Reader, emitted_call};
use std::fs;
use std::io::BufReader;
use std::path::Path;

/// Compares the text that the kernel counts with the JSON that a host receives.
fn check_text(payload: &CallPayload) {
    assert_eq!(payload.text(), serde_json::to_string(payload).unwrap());
}

/// Every character that JSON escapes, and some that it does not.
fn text() -> Text {
    let escaped: String = ('\0'..='\u{a0}').collect();
    format!("{escaped}größer → 𝄞").into()
}

fn trace_id() -> TraceId {
    TraceId { conversation: ConversationId::new(text()), request: RequestId::new(7) }
}

fn task(number: u32, effect: Effect) -> Task {
    Task { id: TaskId::new(number), text: text(), effect }
}

fn audit(kind: ConclusionKind, cause: Cause) -> AuditRecord {
    AuditRecord {
        trace: trace_id(),
        user: UserId::new(text()),
        conclusion: Conclusion { kind, cause },
        decisions: Vec::new(),
        stores: StoreStatuses::default(),
        tasks: Vec::new(),
    }
}

#[test]
fn text_of_plan_is_json() {
    let effects = [Effect::Pure, Effect::Undoable { compensation: text() }, Effect::Irreversible];
    let tasks: Vec<Task> = (1..).zip(effects).map(|(number, effect)| task(number, effect)).collect();
    tasks.iter().for_each(|task| check_text(&CallPayload::Task(task.clone())));
    check_text(&CallPayload::Plan(Plan::new(tasks).unwrap()));
}

#[test]
fn text_of_memory_record_is_json() {
    use ConclusionKind::{Aborted, Blocked, Outcome, RolledBack};
    for kind in [Outcome, Blocked, RolledBack, Aborted] {
        for ratings in [None, Some(Ratings::default())] {
            check_text(&CallPayload::Record(MemoryRecord { trace: trace_id(), kind, text: text(), ratings }));
        }
    }
}

#[test]
fn text_of_audit_record_is_json() {
    let failed = Module::ALL
        .into_iter()
        .flat_map(|module| Failure::ALL.map(|failure| Cause::CallFailed(module, failure)));
    let causes = [
        Cause::Completed,
        Cause::IdentityMismatch,
        Cause::Vetoed,
        Cause::Rejected,
        Cause::NoRepair,
        Cause::RepairsExhausted,
        Cause::RepairRejected,
        Cause::NotApproved,
        Cause::Cancelled,
    ];
    for cause in failed.chain(causes) {
        check_text(&CallPayload::Audit(audit(ConclusionKind::Blocked, cause)));
    }
    let labels = [
        DecisionLabel::ConsensusReached,
        DecisionLabel::ProceedBelowThreshold,
        DecisionLabel::Rejected,
        DecisionLabel::Vetoed,
    ];
    let decision = |label| Decision {
        revision: Revision::new(3),
        label,
        score: Score::from_millionths(850_000).unwrap(),
        objection: (label == DecisionLabel::Vetoed).then_some(Score::ONE),
    };
    let effects = [EffectOutcome::Kept, EffectOutcome::Undone, EffectOutcome::UndoFailed];
    let effects = effects.map(Some).into_iter().chain([None]);
    check_text(&CallPayload::Audit(AuditRecord {
        decisions: labels.map(decision).into(),
        stores: StoreStatuses { local: StoreStatus::Held, cloud: StoreStatus::Unknown },
        tasks: effects.map(|effect| TaskRecord { task: TaskId::new(2), effect }).collect(),
        ..audit(ConclusionKind::RolledBack, Cause::Vetoed)
    }));
}

/// In every golden trace, context and payload of each call that was sent fit its budget, by the policy's tokenizer. The record of
/// the context states the tokens of the JSON that a host receives.
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
            let Some(call) = emitted_call(&step.events) else { continue };
            let payload = state.control().request().and_then(|request| request.payload(call.operation));
            let payload_tokens =
                payload.map_or(0, |payload| measure.tokens(&serde_json::to_string(&payload).unwrap()));
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
    assert!(with_payload > 300 && not_made > 0, "{with_payload} with payload, {not_made} not made");
}
