//! Coverage of the sequences.

use orchestrion_kernel::State;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The number of occurrences of each kind.
pub(super) type KindCounts = BTreeMap<&'static str, usize>;

/// The required kinds of events, by a text in the encoding of the batch.
pub(super) const KINDS: &[&str] = &[
    "\"rule\":\"authority\"",
    "\"rule\":\"explicit\"",
    "\"rule\":\"temporal\"",
    "\"rule\":\"implicit\"",
    "\"denied\"",
    "\"needs_review\"",
    "\"cause\":\"expiry\"",
    "time_advanced",
    "\"cause\":\"session_end\"",
    "\"trace\"",
    "nothing",
    "refusal",
    "\"cause\":{\"compaction\"",
    "\"module\":\"summarizer\",\"call\"",
    // An item of a request in a scope, and a task that declares one.
    "\"user\":\"ada\",\"scope\":{",
    "\"effect\":\"pure\",\"scope\":{",
];

/// The required kinds of compaction, by the names that [`compaction_effects`] returns.
pub(super) const COMPACTIONS: &[&str] = &[
    "facts",
    "session facts",
    "constraints",
    "request items",
    "request items of two users",
    "session items",
    "a summary",
    "all of the context",
    "a part of the context",
    "needs review",
    "superseded items",
    "dependencies",
    "redirected dependency",
    "removed dependency",
    "cleared supersedes",
    "over the capacity",
    "over the capacity: a superseded item",
    "over the capacity: a dependency",
    "refused reply",
    "write during the call",
    "failed call",
    "cancelled call",
    "promotion",
    "scoped output",
    "unknown scope",
    "superseded summary",
    "summary loses_last_key with the session",
    "summary is_superseded_by_summary a key",
    "fact superseded by a summary",
    "summary is_superseded_by_summary its has_one_key key",
];

/// Returns the effects of a batch on items, by the names of [`COMPACTIONS`].
pub(super) fn compaction_effects(before: &State, batch: &Value) -> Vec<&'static str> {
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
    let mut count_if = |kind: &'static str, is_met: bool| found.extend(is_met.then_some(kind));
    let superseded = |(item, _, _): &(&Value, &Value, &(Value, Value))| {
        item["key"] == "summary" && !item["validity"]["superseded"].is_null()
    };
    count_if("superseded summary", updated.iter().any(superseded));
    let summary_keys = |item: &Value| item["layer"]["fact"]["summarized_keys"].clone();
    count_if(
        "summary is_superseded_by_summary a key",
        updated.iter().any(|(item, _, old)| summary_keys(item) != summary_keys(&old.0)),
    );
    let added: Vec<&Value> = of("add_item").map(|body| &body["item"]).collect();
    let is_key_of = |item: &Value, summary: &Value| {
        summary_keys(summary)
            .as_array()
            .is_some_and(|summary_keys| summary_keys.contains(&item["key"]["fact"]))
    };
    let is_superseded_by_summary = |item: &&Value| {
        let by = item["validity"]["superseded"]["superseded_by"].as_u64().and_then(|by| old.get(&by));
        by.is_some_and(|(by, _)| by["key"] == "summary")
    };
    count_if("fact superseded by a summary", added.iter().any(is_superseded_by_summary));
    let has_one_key = |item: &Value| {
        item["key"] == "summary"
            && summary_keys(item).as_array().is_some_and(|summary_keys| summary_keys.len() == 1)
    };
    let loses_last_key = |one: &(&Value, &Value, &(Value, Value))| {
        superseded(one) && has_one_key(one.0) && added.iter().any(|fact| is_key_of(fact, one.0))
    };
    count_if("summary is_superseded_by_summary its has_one_key key", updated.iter().any(loses_last_key));
    for body in of("forget_items") {
        // An item that its own batch adds may be over the capacity.
        let forgotten: Vec<&Value> = body["ids"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|id| old.get(&id.as_u64().unwrap()))
            .map(|(item, _)| item)
            .collect();
        let of_summaries = forgotten.iter().any(|item| item["key"] == "summary");
        let into = &body["cause"]["compaction"]["into"];
        if body["cause"] == "capacity" {
            count_if("over the capacity", true);
            let is_superseded = |item: &&Value| !item["validity"]["superseded"].is_null();
            count_if("over the capacity: a superseded item", forgotten.iter().any(is_superseded));
            let loses = |(_, deps, old): &(&Value, &Value, &(Value, Value))| **deps != old.1;
            count_if("over the capacity: a dependency", updated.iter().any(loses));
            continue;
        }
        if into.is_null() {
            count_if("summary loses_last_key with the session", of_summaries);
            continue;
        }
        let (summary, deps) = of("add_item")
            .find(|body| body["item"]["id"] == *into)
            .map(|body| (&body["item"], body["deps"].as_array().unwrap()))
            .unwrap();
        let fact = &summary["layer"]["fact"];
        count_if("facts", !fact.is_null());
        count_if("session facts", fact["scope"] == "session");
        count_if("constraints", !summary["kind"]["constraint"].is_null() || summary["kind"] != "fact");
        let user = &summary["layer"]["request"]["user"];
        let is_of_another = |(item, _): &(Value, Value)| {
            let of = &item["layer"]["request"]["user"];
            !of.is_null() && of != user
        };
        count_if("request items", !user.is_null());
        count_if("request items of two users", !user.is_null() && old.values().any(is_of_another));
        count_if("session items", !summary["layer"]["working"].is_null());
        count_if("a summary", of_summaries);
        count_if("needs review", summary["validity"] == "needs_review");
        count_if("superseded items", forgotten.iter().any(|item| !item["validity"]["superseded"].is_null()));
        count_if("dependencies", !deps.is_empty());
        let depends_on_summary = |deps: &Value| deps.as_array().unwrap().contains(into);
        count_if("redirected dependency", updated.iter().any(|(_, deps, _)| depends_on_summary(deps)));
        count_if(
            "removed dependency",
            updated.iter().any(|(_, deps, old)| **deps != old.1 && !depends_on_summary(deps)),
        );
        let supersedes = |item: &Value| item["layer"]["fact"]["supersedes"].clone();
        count_if(
            "cleared supersedes",
            updated.iter().any(|(item, _, old)| supersedes(item) != supersedes(&old.0)),
        );
    }
    found
}
