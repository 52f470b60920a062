//! The border: what the kernel shows, read through its published encoding.

use super::conversation::{ExpectedConversation, Started};
use super::fold::Fold;
use super::visible_items;
use orchestrion_kernel::context::ByteMeasure;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Policy, Refusal, State, build_context};
use orchestrion_optimizer::ExactSelector;
use serde::Serialize;
use serde_json::{Value, json};

/// A kernel value in the published encoding.
pub(super) fn value<T: Serialize>(of: &T) -> Result<Value, String> {
    serde_json::to_value(of).map_err(|error| format!("no encoding: {error}"))
}

/// The kind of a refusal.
pub(super) const fn refusal(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::UnexpectedInput { .. } => "NotExpected",
        Refusal::WrongCall { .. } => "WrongCall",
        Refusal::WrongReport { .. } => "WrongReport",
        Refusal::CallNotMade { .. } => "NotAsked",
        Refusal::EffectChanged { .. } => "EffectChanged",
        Refusal::NothingToResume => "NothingToResume",
        Refusal::NoSession => "NoSession",
        Refusal::SessionAlreadyOpen { .. } => "SessionOpen",
        Refusal::WrongUser { .. } => "WrongUser",
        Refusal::InvalidWrite(_) => "Misuse",
    }
}

/// Holds what a state shows against what should be.
pub(super) fn compare(
    course: &mut ExpectedConversation,
    policy: &Policy,
    fold: &Fold,
    after: &State,
) -> Result<(), String> {
    same("control is in", &json!(course.phase), &json!(after.control().phase().name()))?;
    // 000-7.6: the one call that is out.
    let call = after.control().pending_call();
    let waiting = call.map(|call| value(&(call.id, call.operation))).transpose()?;
    same("the call that is waited for is", &json!(course.waiting), &json!(waiting))?;
    same("the session is of", &json!(course.session), &value(&after.control().session())?)?;
    compare_request(course, after)?;
    compare_semantic(course, fold, after)?;
    compare_situation(course, after)?;
    // Nobody is shown anything new while the summarizer's answer is out of date already.
    if course.request.outdated && course.phase == "Compacting" {
        return Ok(());
    }
    let Some(call) = after.control().pending_call() else { return Ok(()) };
    let context = build_context(policy, after, call.operation, &ByteMeasure, &ExactSelector::default())
        .map_err(|over| over.to_string())?;
    // Decision 0021: the summarizer is shown the cluster, and nothing else.
    let expected = if course.phase == "Compacting" {
        course.request.cluster.clone()
    } else {
        visible_items::shown(fold, course.session.as_deref())
    };
    // Where there is room for all, all is shown but what rests on what may not be (000-5.7).
    let expected =
        if course.phase == "Compacting" { expected } else { visible_items::closed(fold, expected) };
    let mut roomy = policy.clone();
    (roomy.contexts.budget_tokens, roomy.contexts.module_overrides) = (u32::MAX, Vec::new());
    let all = build_context(&roomy, after, call.operation, &ByteMeasure, &ExactSelector::default())
        .map_err(|over| over.to_string())?;
    same("a module might be shown", &json!(expected), &value(&all.ids)?)?;
    let room = policy.contexts.token_limit(call.operation.module());
    if all.cost_tokens <= room && policy.contexts.module_overrides.is_empty() {
        same("a module is shown", &json!(all.ids), &value(&context.ids)?)?;
    } else {
        // Which of it is best the claims know; here it is part of that, closed, and fits.
        let ids: Vec<u64> = context.ids.iter().map(|id| id.number()).collect();
        same(
            "a module is shown what rests on",
            &json!(ids),
            &json!(visible_items::closed(fold, ids.clone())),
        )?;
        if !ids.iter().all(|id| expected.contains(id)) || context.cost_tokens > room {
            return Err(format!(
                "a module is shown {ids:?} of {expected:?}, {} tokens of {room}",
                context.cost_tokens
            ));
        }
    }
    compare_reasoning(course, call.operation, &context.text)
}

/// The ledger (decision 0003), the decisions (decision 0009) and the ending, while a request runs.
fn compare_request(course: &ExpectedConversation, after: &State) -> Result<(), String> {
    let Some(request) = after.control().request().filter(|_| course.runs()) else { return Ok(()) };
    let ledger: Vec<Value> = request
        .ledger
        .iter()
        .map(|started| Ok(json!([value(&started.task)?, value(&started.effect)?, value(&started.outcome)?])))
        .collect::<Result<_, String>>()?;
    let expected = |started: &Started| json!([started.task, started.effect, started.end]);
    let expected: Vec<Value> = course.request.ledger.iter().map(expected).collect();
    same("the ledger is", &json!(expected), &json!(ledger))?;
    same("the decisions are", &json!(course.request.decisions), &value(&request.decisions)?)?;
    let ending = course.request.ending.as_ref();
    let ending = ending.map(|(kind, cause)| json!({ "kind": kind, "cause": cause }));
    same("the ending is", &json!(ending), &value(&request.conclusion)?)
}

/// 002-3.5 to 002-3.9, as they can be read while a request runs; and as many actions as they need (decision 0020).
fn compare_situation(course: &ExpectedConversation, after: &State) -> Result<(), String> {
    let Some(request) = after.control().request().filter(|_| course.runs()) else { return Ok(()) };
    same("the latest actions are", &json!(course.situation.latest(3)), &value(&request.actions)?)?;
    Ok(())
}

/// 002-3.5 to 002-3.9: who plans and argues reasons in deep mode, who does as planned in fast mode, the others not at all; and
/// where nothing was said or done, nothing is told (decision 0024).
fn compare_reasoning(course: &ExpectedConversation, ask: Operation, text: &str) -> Result<(), String> {
    let mode = match ask {
        Operation::DraftPlan | Operation::Argue(_) | Operation::ReviewRevision | Operation::Diagnose => {
            Some("deep")
        }
        Operation::Approve | Operation::RunTask { .. } | Operation::UndoTask { .. } => Some("fast"),
        _ => None,
    };
    let told = mode
        .filter(|_| course.situation.is_told())
        .map(|mode| format!("# Situation\n{}\n", course.situation.build_reasoning_context(mode, 3)));
    match told {
        Some(told) if text.ends_with(&told) => Ok(()),
        None if !text.contains("# Situation\n") => Ok(()),
        told => Err(format!("a module that reasons is shown {text:?}; expected {told:?} at the end")),
    }
}

/// 000-4.8 and 000-4.9: S is the fold of the item events, and nothing else; and each item is what it should be.
fn compare_semantic(course: &mut ExpectedConversation, fold: &Fold, after: &State) -> Result<(), String> {
    let mut shown = after.semantic().entries();
    for (_, folded) in fold.entries() {
        let Some(entry) = shown.next() else {
            return Err(format!("S lacks {}, which the events put there (000-4.8)", folded.item));
        };
        same("an item of S is", &folded.item, &value(&entry.item)?)?;
        same(&folded.key, &json!(folded.deps), &value(&entry.deps)?)?;
    }
    if let Some(more) = shown.next() {
        return Err(format!("S has {:?}, which no event put there (000-4.9)", more.item));
    }
    let mut known = course.things.len();
    // What was written by name is as it should be since each of its events was.
    for (_, folded) in fold.entries().filter(|(_, entry)| !entry.is_written()) {
        let Some(thing) = course.things.learn(&folded.key, &folded.text) else {
            return Err(format!("S has {}, which should not be there", folded.key));
        };
        // Decision 0020: it is of the working set, and does not expire.
        let working = &folded.item["layer"]["working"];
        if folded.is_situation() && !(working["created_at"].is_u64() && working["expires_at"].is_null()) {
            return Err(format!("{} is of the layer {}", folded.key, folded.item["layer"]));
        }
        // Decision 0019: what a request leaves says so, and nothing takes its place.
        same("the standing is", &json!("current"), &folded.item["standing"])?;
        let rests_on = fold.keys(&folded.deps);
        let is = (&folded.item["variant"], Some(&folded.text), Some(&rests_on), folded.user());
        let should_be = (&thing.variant, thing.text.as_ref(), Some(&thing.rests_on), thing.user.as_deref());
        if is != should_be {
            return Err(format!("the item {} is {is:?}; expected was {should_be:?}", folded.key));
        }
        known -= 1;
    }
    if known > 0 {
        return Err(format!("S lacks {known} items that should be there"));
    }
    Ok(())
}

fn same(what: &str, expected: &Value, came: &Value) -> Result<(), String> {
    if expected == came { Ok(()) } else { Err(format!("{what} {came}; expected was {expected}")) }
}
