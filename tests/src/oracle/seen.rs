//! The border: what the kernel shows, read through its published encoding.

use super::course::{Course, Started};
use super::fold::Fold;
use orchestrion_kernel::{Refusal, State};
use serde::Serialize;
use serde_json::{Value, json};

/// A kernel value in the published encoding.
pub(super) fn value<T: Serialize>(of: &T) -> Result<Value, String> {
    serde_json::to_value(of).map_err(|error| format!("no encoding: {error}"))
}

/// The kind of a refusal.
pub(super) const fn refusal(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotExpected { .. } => "NotExpected",
        Refusal::WrongCall { .. } => "WrongCall",
        Refusal::WrongReport { .. } => "WrongReport",
        Refusal::EffectChanged { .. } => "EffectChanged",
        Refusal::NothingToResume => "NothingToResume",
        Refusal::NoSession => "NoSession",
        Refusal::SessionOpen { .. } => "SessionOpen",
        Refusal::WrongUser { .. } => "WrongUser",
    }
}

/// Holds what a state shows against what should be.
pub(super) fn compare(course: &mut Course, fold: &Fold, after: &State) -> Result<(), String> {
    same("control is in", &json!(course.phase), &json!(after.control.phase().name()))?;
    // 000-7.6: the one call that is out.
    let call = after.control.waiting();
    let waiting = call.map(|call| value(&(call.id, call.ask))).transpose()?;
    same("the call that is waited for is", &json!(course.waiting), &json!(waiting))?;
    same("the session is of", &json!(course.session), &value(&after.control.session())?)?;
    compare_request(course, after)?;
    compare_semantic(course, fold, after)
}

/// The ledger (decision 0003), the decisions (decision 0009) and the ending, while a request runs.
fn compare_request(course: &Course, after: &State) -> Result<(), String> {
    let Some(request) = after.control.request().filter(|_| course.runs()) else { return Ok(()) };
    let ledger: Vec<Value> = request
        .ledger
        .iter()
        .map(|started| Ok(json!([value(&started.task)?, value(&started.effect)?, value(&started.end)?])))
        .collect::<Result<_, String>>()?;
    let expected = |started: &Started| json!([started.task, started.effect, started.end]);
    let expected: Vec<Value> = course.request.ledger.iter().map(expected).collect();
    same("the ledger is", &json!(expected), &json!(ledger))?;
    same("the decisions are", &json!(course.request.decisions), &value(&request.decisions)?)?;
    let ending = course.request.ending.as_ref();
    let ending = ending.map(|(kind, cause)| json!({ "kind": kind, "cause": cause }));
    same("the ending is", &json!(ending), &value(&request.ending)?)
}

/// 000-4.8 and 000-4.9: S is the fold of the item events, and nothing else; and each item is what it should be.
fn compare_semantic(course: &mut Course, fold: &Fold, after: &State) -> Result<(), String> {
    let folded = fold.entries();
    let mut shown = after.semantic.entries();
    for entry in &folded {
        let Some(seen) = shown.next() else {
            return Err(format!("S lacks {entry}, which the events put there (000-4.8)"));
        };
        same("an item of S is", entry, &json!({ "item": value(&seen.item)?, "deps": value(&seen.deps)? }))?;
    }
    if let Some(more) = shown.next() {
        return Err(format!("S has {:?}, which no event put there (000-4.9)", more.item));
    }
    for entry in &folded {
        let key = entry["item"]["key"].to_string();
        course.things.learn(&key, entry["item"]["text"].as_str().unwrap_or_default());
    }
    let by_id = |id: &Value| folded.iter().find(|entry| entry["item"]["id"] == *id);
    let is: std::collections::BTreeMap<String, Value> = folded
        .iter()
        .map(|entry| {
            let deps = entry["deps"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut deps: Vec<String> =
                deps.iter().filter_map(by_id).map(|dep| dep["item"]["key"].to_string()).collect();
            deps.sort();
            let item = &entry["item"];
            (item["key"].to_string(), json!([item["variant"], item["text"], deps]))
        })
        .collect();
    let should_be: std::collections::BTreeMap<String, Value> = course
        .things
        .iter()
        .map(|(key, thing)| (key.clone(), json!([thing.variant, thing.text, thing.rests_on])))
        .collect();
    for key in should_be.keys().chain(is.keys()) {
        same(&format!("the item {key} is"), &json!(should_be.get(key)), &json!(is.get(key)))?;
    }
    Ok(())
}

fn same(what: &str, expected: &Value, came: &Value) -> Result<(), String> {
    if expected == came { Ok(()) } else { Err(format!("{what} {came}; expected was {expected}")) }
}
