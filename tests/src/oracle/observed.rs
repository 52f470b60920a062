//! The values of the kernel under test, read through their published encoding, and compared with the expected ones.

use super::contexts::{ExpectedContext, ObservedContext, OverBudget};
use super::conversation::{ExpectedConversation, PendingCall, StartedTask};
use super::encoding::{OracleInput, Task};
use super::fold::Fold;
use super::items::key;
use orchestrion_kernel::context::{ContextError, SelectionStatus};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{ModuleContext, Policy, Refusal, State, can_step};
use serde::Serialize;
use serde_json::{Value, json};

/// Encodes a kernel value.
pub(super) fn encode<T: Serialize>(value: &T) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| format!("value without an encoding: {error}"))
}

/// Returns the kind of a refusal.
pub(super) const fn refusal_kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::TimeWentBack { .. } => "TimeWentBack",
        Refusal::NothingExpires { .. } => "NothingExpires",
        Refusal::UnexpectedInput { .. } => "UnexpectedInput",
        Refusal::WrongCall { .. } => "WrongCall",
        Refusal::WrongReport { .. } => "WrongReport",
        Refusal::CallNotMade { .. } => "CallNotMade",
        Refusal::EffectChanged { .. } => "EffectChanged",
        Refusal::OtherScope { .. } => "OtherScope",
        Refusal::UnknownScope { .. } => "UnknownScope",
        Refusal::NothingToResume => "NothingToResume",
        Refusal::NoSession => "NoSession",
        Refusal::SessionAlreadyOpen { .. } => "SessionAlreadyOpen",
        Refusal::WrongUser { .. } => "WrongUser",
        Refusal::InvalidWrite(_) => "InvalidWrite",
        Refusal::HandoffNotAccepted { .. } => "HandoffNotAccepted",
        Refusal::InvalidNetworkInput(_) => "InvalidNetworkInput",
    }
}

/// Compares what a refusal says about the pending calls, before which the input was refused.
pub(super) fn compare_refusal(
    expected: &ExpectedConversation,
    input: &OracleInput,
    refusal: &Refusal,
) -> Result<(), String> {
    let compare_operation = |call: Option<PendingCall>, found: Option<&Operation>| {
        let operation = call.map(|call| call.operation);
        expect_equal("operation of the refusal", &json!(operation), &encode(&found)?)
    };
    let named = match input {
        OracleInput::Reply { call, .. } | OracleInput::CallFailed { call, .. } => {
            expected.pending_call(*call)
        }
        OracleInput::SessionStart { .. }
        | OracleInput::SessionEnd
        | OracleInput::UserMessage { .. }
        | OracleInput::Step
        | OracleInput::Cancel
        | OracleInput::Tick
        | OracleInput::Resume
        | OracleInput::Write(_) => None,
    };
    match refusal {
        Refusal::WrongCall { expected: found, .. } => {
            let ids: Vec<u64> = expected.pending_calls.iter().map(|call| call.id).collect();
            expect_equal("expected calls", &json!(ids), &encode(found)?)
        }
        Refusal::UnexpectedInput { pending, .. } => {
            compare_operation(expected.pending_calls.first().copied(), pending.as_ref())
        }
        Refusal::WrongReport { operation, .. } | Refusal::CallNotMade { operation, .. } => {
            compare_operation(named, Some(operation))
        }
        Refusal::TimeWentBack { .. }
        | Refusal::NothingExpires { .. }
        | Refusal::EffectChanged { .. }
        | Refusal::OtherScope { .. }
        | Refusal::UnknownScope { .. }
        | Refusal::NothingToResume
        | Refusal::NoSession
        | Refusal::SessionAlreadyOpen { .. }
        | Refusal::WrongUser { .. }
        | Refusal::HandoffNotAccepted { .. }
        | Refusal::InvalidWrite(_)
        | Refusal::InvalidNetworkInput(_) => Ok(()),
    }
}

/// Compares the state after a step with the expected one.
pub(super) fn compare_state(
    expected: &mut ExpectedConversation,
    fold: &Fold,
    policy: &Policy,
    after: &State,
) -> Result<(), String> {
    expect_equal("phase", &json!(expected.phase), &json!(after.control().phase().name()))?;
    // 000-7.6, decisions 0024 and 0040: the pending calls in id order, and which of them are not made.
    let pending = after.control().pending_calls().iter();
    let pending: Vec<_> = pending.map(|call| (call.id, call.operation, call.not_made.is_some())).collect();
    let expected_calls = expected.pending_calls.iter();
    let expected_calls: Vec<_> =
        expected_calls.map(|call| (call.id, call.operation, call.over_budget)).collect();
    expect_equal("pending calls", &json!(expected_calls), &encode(&pending)?)?;
    expect_equal("can_step", &json!(expected.accepts_step()), &json!(can_step(policy, after)))?;
    expect_equal("session user", &json!(expected.session), &encode(&after.control().session())?)?;
    compare_request(expected, after)?;
    compare_semantic(expected, fold, after)
}

/// Compares the over-budget events of a batch with the call that the batch makes (decision 0024).
pub(super) fn compare_over_budget(
    expected: &mut ExpectedConversation,
    fold: &Fold,
    call: Option<PendingCall>,
    events: &[Value],
) -> Result<(), String> {
    let Some(PendingCall { id, operation, .. }) = call else {
        return expect_equal("over-budget events", &json!([]), &json!(events));
    };
    let over = operation
        .takes_context()
        .then(|| ExpectedContext::new(expected, fold, operation).over_budget())
        .flatten();
    for pending in expected.pending_calls.iter_mut().filter(|pending| pending.id == id) {
        pending.over_budget = over.is_some();
    }
    let event = over.map(|OverBudget { required_tokens, budget_tokens }| {
        json!({ "over_budget": {
            "call": id, "required_tokens": required_tokens, "budget_tokens": budget_tokens,
        }})
    });
    expect_equal("over-budget events", &json!(event.as_slice()), &json!(events))
}

/// The shortest output that the check of the final answer considers, in bytes: the kernel's own words contain shorter texts.
const DISTINCT_OUTPUT_MIN: usize = 4;

/// Checks that the final answer contains the readable outputs of a completed plan, and no output of another scope (004-1.36,
/// decision 0037).
pub(super) fn compare_answer(expected: &ExpectedConversation) -> Result<(), String> {
    let Some(answer) = &expected.request.answer else { return Ok(()) };
    let scope = &expected.request.scope;
    let is_completed = expected.request.conclusion.as_ref().is_some_and(|(_, cause)| cause == "completed");
    // A run can complete without an optional task, whose output is no result.
    let has_succeeded = |task: &&Task| {
        expected.request.task_outcomes.get(&task.id).is_some_and(|outcome| *outcome == "succeeded")
    };
    // 001 §5.5: the aggregate is the result of the members.
    let members = expected.request.plan.members();
    let is_result = |task: &&Task| has_succeeded(task) && !members.contains(&task.id);
    let tasks = expected.request.plan.tasks().iter().filter(|_| is_completed).filter(is_result);
    let readable = |task: &Task| expected.items.readable_output(expected.requests, task.id, scope);
    if let Some(missing) = tasks.filter_map(readable).find(|output| !answer.contains(output)) {
        return Err(format!("the answer in {scope} lacks the output {missing:?}: {answer:?}"));
    }
    // Decision 0042: the aggregate is the first part of the final answer.
    let aggregate = expected.items.text(&key("aggregate", &json!(expected.requests)));
    let aggregate = aggregate.filter(|_| is_completed && expected.request.workflow.is_aggregated());
    if let Some(missing) = aggregate.filter(|text| !answer.contains(text)) {
        return Err(format!("the answer lacks the aggregate {missing:?}: {answer:?}"));
    }
    let mut hidden = expected.items.hidden_outputs(expected.requests, scope);
    match hidden.find(|output| output.len() >= DISTINCT_OUTPUT_MIN && answer.contains(output)) {
        Some(output) => {
            Err(format!("the answer in {scope} has the output {output:?} of another scope: {answer:?}"))
        }
        None => Ok(()),
    }
}

/// Compares the kernel's context for a pending call with the expected one (000 §5, decision 0024).
pub(super) fn compare_context(
    expected: &ExpectedConversation,
    fold: &Fold,
    call: u64,
    context: Result<&ModuleContext, &ContextError>,
) -> Result<(), String> {
    let Some(PendingCall { operation, .. }) = expected.pending_call(call) else {
        return Err(format!("context for call {call}, which is not pending"));
    };
    let should_be = ExpectedContext::new(expected, fold, operation);
    match (should_be.over_budget(), context) {
        (None, Ok(context)) => should_be.check(&ObservedContext {
            ids: context.ids.iter().map(|id| id.number()).collect(),
            cost_tokens: context.cost_tokens,
            payload_tokens: context.payload_tokens,
            text: context.text.clone(),
            utility: context.utility,
            bound: context.bound(),
            is_proven: context.status == SelectionStatus::Optimal,
        }),
        (Some(over), Err(ContextError::OverBudget(found))) => {
            let found =
                OverBudget { required_tokens: found.required_tokens, budget_tokens: found.budget_tokens };
            if over == found {
                Ok(())
            } else {
                Err(format!("wrong context error: expected {over:?}, found {found:?}"))
            }
        }
        (Some(over), Ok(context)) => {
            Err(format!("expected {over:?}, found a context of {} tokens", context.cost_tokens))
        }
        (_, Err(error)) => Err(format!("expected a context, found the error {error:?}")),
    }
}

/// Compares the ledger (decision 0003), the decisions (decision 0009), the conclusion and the latest actions (decision
/// 0020) of the running request.
fn compare_request(expected: &ExpectedConversation, after: &State) -> Result<(), String> {
    let Some(request) = after.control().request().filter(|_| expected.is_running()) else { return Ok(()) };
    let ledger: Vec<Value> = request
        .ledger
        .iter()
        .map(|started| {
            Ok(json!([encode(&started.task)?, encode(&started.effect)?, encode(&started.outcome)?]))
        })
        .collect::<Result<_, String>>()?;
    let entry = |started: &StartedTask| json!([started.task, started.effect, started.outcome]);
    let expected_ledger: Vec<Value> = expected.request.ledger.iter().map(entry).collect();
    expect_equal("ledger", &json!(expected_ledger), &json!(ledger))?;
    expect_equal("decisions", &json!(expected.request.decisions), &encode(&request.decisions)?)?;
    let conclusion = expected.request.conclusion.as_ref();
    let conclusion = conclusion.map(|(kind, cause)| json!({ "kind": kind, "cause": cause }));
    expect_equal("conclusion", &json!(conclusion), &encode(&request.conclusion)?)?;
    // Decision 0040: the outcomes of the run, which no document defines after it.
    if matches!(expected.phase, "RunningTasks" | "AssertingOutcomes") {
        let outcome = |(task, outcome): (&u32, &Value)| json!({ "task": task, "outcome": outcome });
        let outcomes: Vec<Value> = expected.request.task_outcomes.iter().map(outcome).collect();
        expect_equal("outcomes", &json!(outcomes), &encode(&request.outcomes)?)?;
    }
    let actions = expected.situation.latest_actions(&expected.policy.situation);
    expect_equal("latest actions", &json!(actions), &encode(&request.actions)?)
}

/// Compares S with the fold of the item events (000-4.8, 000-4.9), and each item of a request with the expected one.
fn compare_semantic(expected: &mut ExpectedConversation, fold: &Fold, after: &State) -> Result<(), String> {
    let mut entries = after.semantic().entries();
    for (_, folded) in fold.entries() {
        let Some(entry) = entries.next() else {
            return Err(format!("S lacks {}, which an event added (000-4.8)", folded.item));
        };
        expect_equal("item of S", &folded.item, &encode(&entry.item)?)?;
        expect_equal(&format!("dependencies of {}", folded.key), &json!(folded.deps), &encode(&entry.deps)?)?;
    }
    if let Some(extra) = entries.next() {
        return Err(format!("S has {:?}, which no event added (000-4.9)", extra.item));
    }
    let mut missing = expected.items.len();
    // The events of written items were compared as whole events.
    for (_, folded) in fold.entries().filter(|(_, entry)| !entry.is_written()) {
        let Some(item) = expected.items.record_text(&folded.key, &folded.text) else {
            return Err(format!("S has the unexpected item {}", folded.key));
        };
        // Decision 0019: an item of a request is never superseded.
        expect_equal("validity", &json!("current"), &folded.item["validity"])?;
        let deps = fold.keys(&folded.deps);
        let found = (&folded.item["kind"], Some(&folded.text), Some(&deps), folded.user(), folded.scope());
        let (user, scope) = (item.user.as_deref(), item.scope.clone());
        let should_be = (&item.kind, item.text.as_ref(), Some(&item.deps), user, scope);
        if found != should_be {
            return Err(format!("wrong item {}: expected {should_be:?}, found {found:?}", folded.key));
        }
        missing -= 1;
    }
    if missing > 0 {
        return Err(format!("S lacks {missing} expected items"));
    }
    Ok(())
}

fn expect_equal(what: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("wrong {what}: expected {expected}, found {found}")) }
}
