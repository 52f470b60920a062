//! Compaction (000 §6, decision 0021), decided by a scan of the whole of S.

use super::facts::{current_version, is_valid, persists, rank_of, transitive_dependents};
use super::fold::{Entry, Fold};
use super::policy::OraclePolicy;
use super::visible_items::readable_ids;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The key of every summary, as one text.
pub(super) const SUMMARY: &str = "\"summary\"";

/// The effects of a summary on S.
#[derive(Clone, Debug)]
pub(super) struct CompactionEffects {
    /// The id of the summary.
    pub(super) into: u64,
    /// The changes of S, as whole events.
    pub(super) events: Vec<Value>,
    /// The forgotten items: F, and the items that the items of F superseded.
    pub(super) forgotten: BTreeSet<u64>,
    /// The changed dependencies of the remaining items, without the dependency on the summary.
    pub(super) deps: BTreeMap<u64, Vec<u64>>,
    /// Whether these items also depend on the summary.
    pub(super) repointed: bool,
}

/// Returns the cluster in id order; `None` if compaction is not due or not enabled.
///
/// `request` is the number of the running request, `user` its user, `scope` its scope.
pub(super) fn cluster(
    semantic: &Fold,
    policy: &OraclePolicy,
    request: u32,
    user: Option<&str>,
    scope: &Value,
) -> Option<Vec<u64>> {
    let limits = policy.compaction;
    let mut groups: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut tokens = 0;
    for id in readable_ids(semantic, user, scope) {
        let Some(entry) = semantic.get(id) else { continue };
        tokens += entry.text.len().div_ceil(4);
        if is_shadowed_in_any_scope(semantic, id, entry) {
            continue;
        }
        if let Some(group) = compaction_group(entry, policy.rules.compacted_constraints, request) {
            groups.entry(group).or_default().push(id);
        }
    }
    let size = |group: &&Vec<u64>| group.len();
    let largest = groups.values().map(|group| size(&group)).max()?;
    let oldest = groups.values().filter(|group| size(group) == largest).min_by_key(|group| group[0])?;
    let is_due = largest >= limits.from_items || tokens >= limits.from_tokens;
    (policy.rules.compaction && is_due && largest >= 2)
        .then(|| oldest.iter().copied().take(limits.cluster_items).collect())
}

/// Returns the group of items with which an item may be summarized; `None` for an item that is never summarized.
fn compaction_group(entry: &Entry, constraints: bool, request: u32) -> Option<String> {
    let layer = &entry.item["layer"];
    if let Some(fact) = layer.get("fact") {
        let kind = &entry.item["kind"];
        let group = json!([kind, fact["source"]["rank"], fact["memory"], fact["scope"], fact["audience"]]);
        return (kind == "fact" || constraints).then(|| group.to_string());
    }
    if entry.is_situation() {
        return None; // decision 0020
    }
    if let Some(working) = layer.get("working") {
        return working["expires_at"].is_null().then(|| "session".to_owned());
    }
    let is_earlier = layer.get("request").is_some() && request_of(entry) != Some(u64::from(request));
    // Decision 0004: persistent items of one user are a group of their own.
    match persists(entry) {
        _ if !is_earlier => None,
        true => Some(layer.to_string()),
        // Decision 0037: a summary of the session has no scope.
        false => (entry.scope() == "global").then(|| "session".to_owned()),
    }
}

/// Returns the number of the request that left the item, if its key contains one.
pub(super) fn request_of(entry: &Entry) -> Option<u64> {
    let key = entry.item["key"].as_object()?;
    let (kind, of) = key.iter().next()?;
    // A past trace belongs to another request than the one that loaded it.
    if kind == "trace" { None } else { of.as_u64().or_else(|| of.get(0)?.as_u64()) }
}

/// Returns whether a fact of any narrower scope shadows this one, for any principal (decision 0019).
fn is_shadowed_in_any_scope(semantic: &Fold, id: u64, wide: &Entry) -> bool {
    let width = |entry: &Entry| match &entry.item["layer"]["fact"]["scope"] {
        Value::Null => None,
        scope if scope == "global" => Some(2),
        scope if scope == "session" => Some(1),
        _ => Some(0),
    };
    semantic.entries().any(|(_, narrow)| {
        let superseded = narrow.item["layer"]["fact"]["supersedes"].as_u64();
        let is_same_subject = narrow.covers(wide)
            || superseded.and_then(|superseded| current_version(semantic, superseded)) == Some(id);
        let is_narrower = width(narrow).is_some() && width(narrow) < width(wide);
        let scope = &narrow.item["layer"]["fact"]["scope"];
        let is_tentative = scope.get("hypothetical").or(scope.get("draft")).is_some();
        is_valid(narrow)
            && is_narrower
            && (is_tentative || rank_of(narrow) >= rank_of(wide))
            && is_same_subject
    })
}

/// Returns the effects of the summarizer's reply; `None` if it forgets no item, or an item outside the cluster.
pub(super) fn compact(
    semantic: &Fold,
    policy: &OraclePolicy,
    cluster: &[u64],
    text: &str,
    forgets: Option<&[u64]>,
) -> Option<CompactionEffects> {
    let cluster: BTreeSet<u64> = cluster.iter().copied().collect();
    let parts: BTreeSet<u64> =
        forgets.map_or_else(|| cluster.clone(), |forgets| forgets.iter().copied().collect());
    if parts.is_empty() || !parts.is_subset(&cluster) {
        return None;
    }
    let into = semantic.next_id();
    let forgotten = ended_in(semantic, &parts);

    let dependents = transitive_dependents(semantic, &forgotten);
    let summary_deps: BTreeSet<u64> = parts
        .iter()
        .filter_map(|id| semantic.get(*id))
        .flat_map(|part| part.deps.iter().copied())
        .filter(|dep| !forgotten.contains(dep) && !dependents.contains(dep))
        .collect();
    let summary = summary(semantic, into, &parts, &forgotten, text)?;
    let mut events = vec![json!({ "add_item": { "item": summary, "deps": summary_deps } })];

    let repointed = policy.rules.repointed_dependents;
    let Unlinked { events: unlinked, deps } = unlinked(semantic, &forgotten, repointed.then_some(into));
    events.extend(unlinked);
    Some(CompactionEffects { into, events, forgotten, deps, repointed })
}

/// Returns the items whose current version is one of these.
pub(super) fn ended_in(semantic: &Fold, items: &BTreeSet<u64>) -> BTreeSet<u64> {
    let ends_in = |id: &u64| current_version(semantic, *id).is_some_and(|current| items.contains(&current));
    semantic.entries().map(|(id, _)| id).filter(ends_in).collect()
}

/// What changes for the remaining items when others are forgotten.
pub(super) struct Unlinked {
    /// The updates, as whole events.
    pub(super) events: Vec<Value>,
    /// The changed dependencies, without the successor.
    pub(super) deps: BTreeMap<u64, Vec<u64>>,
}

/// Removes the links to forgotten items. A dependent depends on the successor instead, if there is one.
pub(super) fn unlinked(semantic: &Fold, forgotten: &BTreeSet<u64>, successor: Option<u64>) -> Unlinked {
    let remaining_deps =
        |deps: &[u64]| deps.iter().copied().filter(|dep| !forgotten.contains(dep)).collect::<Vec<u64>>();
    let (mut events, mut changed_deps) = (Vec::new(), BTreeMap::new());
    for (id, old) in semantic.entries().filter(|(id, _)| !forgotten.contains(id)) {
        let mut item = old.item.clone();
        if item["layer"]["fact"]["supersedes"].as_u64().is_some_and(|old| forgotten.contains(&old)) {
            item["layer"]["fact"]["supersedes"] = Value::Null;
        }
        let mut deps = remaining_deps(&old.deps);
        if deps != old.deps {
            changed_deps.insert(id, deps.clone());
            deps.extend(successor);
        }
        if item != old.item || deps != old.deps {
            events.push(json!({ "update_item": { "item": item, "deps": deps } }));
        }
    }
    Unlinked { events, deps: changed_deps }
}

/// Returns the item that represents the summarized items.
fn summary(
    semantic: &Fold,
    id: u64,
    parts: &BTreeSet<u64>,
    forgotten: &BTreeSet<u64>,
    text: &str,
) -> Option<Value> {
    let parts: Vec<&Entry> = parts.iter().filter_map(|part| semantic.get(*part)).collect();
    let first = &parts.first()?.item;
    let is_fact = first["layer"].get("fact").is_some();
    let layer = if is_fact {
        let time = |part: &&Entry| part.item["layer"]["fact"]["established_at"].as_u64();
        let mut fact = first["layer"]["fact"].clone();
        fact["source"] = json!({ "name": "summarizer", "rank": fact["source"]["rank"], "derivation": null });
        fact["established_at"] = json!(parts.iter().filter_map(time).max());
        fact["time_sensitive"] = json!(false);
        fact["supersedes"] = Value::Null;
        // The keys by which later writes refer to the summary.
        let keys = forgotten.iter().filter_map(|id| semantic.get(*id)).flat_map(Entry::fact_keys);
        // Decision 0027: of a superseded key that has a remaining fact, later writes find that fact.
        let has_remaining_fact = |key: &str| {
            semantic.entries().any(|(id, entry)| {
                let has_scope = entry.item["layer"]["fact"]["scope"] == fact["scope"];
                !forgotten.contains(&id) && is_valid(entry) && has_scope && entry.fact_keys().contains(key)
            })
        };
        let keys: BTreeSet<&str> = keys.filter(|key| !has_remaining_fact(key)).collect();
        fact["summarized_keys"] = json!(keys);
        json!({ "fact": fact })
    } else if parts.iter().all(|part| persists(part)) {
        first["layer"].clone()
    } else {
        json!({ "working": { "created_at": semantic.now, "expires_at": null } })
    };
    let needs_review = parts.iter().any(|part| part.item["validity"] == "needs_review");
    Some(json!({
        "id": id,
        "kind": if is_fact { first["kind"].clone() } else { json!("fact") },
        "key": "summary",
        "text": text,
        "layer": layer,
        "validity": if needs_review { "needs_review" } else { "current" },
    }))
}
