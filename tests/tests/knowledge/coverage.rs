//! Coverage of the sequences.

use orchestrion_kernel::State;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The number of occurrences of each kind.
pub(super) type Met = BTreeMap<&'static str, usize>;

/// The required kinds of events, by a text in the encoding of the batch.
pub(super) const KINDS: &[&str] = &[
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

/// The required kinds of compaction, by the names that [`compacted`] returns.
pub(super) const COMPACTIONS: &[&str] = &[
    "of facts",
    "of facts of the session",
    "of constraints",
    "of what requests left for good",
    "of that, beside what another user's left",
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
    "a name is taken from a summary",
    "a fact loses against a summary",
    "a summary without a name ends",
];

/// Returns the effects of a batch on items, by the names of [`COMPACTIONS`].
pub(super) fn compacted(before: &State, batch: &Value) -> Vec<&'static str> {
    let old: BTreeMap<u64, (Value, Value)> = before
        .semantic()
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
    let names = |item: &Value| item["layer"]["fact"]["stands_for"].clone();
    note("a name is taken from a summary", updated.iter().any(|(item, _, old)| names(item) != names(&old.0)));
    let added: Vec<&Value> = of("add_item").map(|body| &body["item"]).collect();
    let is_named = |item: &Value, summary: &Value| {
        names(summary).as_array().is_some_and(|names| names.contains(&item["key"]["fact"]))
    };
    let loses = |item: &&Value| {
        let by = item["standing"]["superseded"]["by"].as_u64().and_then(|by| old.get(&by));
        by.is_some_and(|(by, _)| by["key"] == "summary")
    };
    note("a fact loses against a summary", added.iter().any(loses));
    let last = |item: &Value| {
        item["key"] == "summary" && names(item).as_array().is_some_and(|names| names.len() == 1)
    };
    let ends = |one: &(&Value, &Value, &(Value, Value))| {
        superseded(one) && last(one.0) && added.iter().any(|fact| is_named(fact, one.0))
    };
    note("a summary without a name ends", updated.iter().any(ends));
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
        let user = &summary["layer"]["request"]["user"];
        let is_of_another = |(item, _): &(Value, Value)| {
            let of = &item["layer"]["request"]["user"];
            !of.is_null() && of != user
        };
        note("of what requests left for good", !user.is_null());
        note("of that, beside what another user's left", !user.is_null() && old.values().any(is_of_another));
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
