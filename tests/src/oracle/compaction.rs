//! Several items become one (000 §6, decision 0021), told by looking through all of S each time.

use super::facts::{is_valid, now, persists, rank_of, resting_on, stands_for};
use super::fold::{Entry, Fold};
use super::policy::OraclePolicy;
use super::visible_items::shown;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The key of every summary, as one text.
pub(super) const SUMMARY: &str = "\"summary\"";

/// What a summary leads to in what is known.
#[derive(Clone, Debug)]
pub(super) struct Compacted {
    /// The summary.
    pub(super) into: u64,
    /// The changes of S, as whole events.
    pub(super) events: Vec<Value>,
    /// What is forgotten: F, and what its items had taken the place of.
    pub(super) gone: BTreeSet<u64>,
    /// What each item that stays rests on from now on, where that changes; without the summary itself.
    pub(super) rests_on: BTreeMap<u64, Vec<u64>>,
    /// Whether these rest on the summary as well.
    pub(super) repointed: bool,
}

/// The cluster, in order; nothing if compaction is not due, or not in force. `running` is the number of the request,
/// `user` whose it is.
pub(super) fn cluster(
    known: &Fold,
    lines: &OraclePolicy,
    running: u32,
    user: Option<&str>,
) -> Option<Vec<u64>> {
    let limits = lines.compaction;
    let mut families: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut tokens = 0;
    for id in shown(known, user) {
        let Some(entry) = known.get(id) else { continue };
        tokens += entry.text.len().div_ceil(4);
        if is_hidden_somewhere(known, id, entry) {
            continue;
        }
        if let Some(family) = family(entry, lines.rules.compacted_constraints, running) {
            families.entry(family).or_default().push(id);
        }
    }
    let size = |family: &&Vec<u64>| family.len();
    let largest = families.values().map(|family| size(&family)).max()?;
    let oldest = families.values().filter(|family| size(family) == largest).min_by_key(|family| family[0])?;
    let due = largest >= limits.from_items || tokens >= limits.from_tokens;
    (lines.rules.compaction && due && largest >= 2)
        .then(|| oldest.iter().copied().take(limits.cluster_items).collect())
}

/// With which others an item may be summarized: what counts alike. Nothing, if with none.
fn family(entry: &Entry, constraints: bool, running: u32) -> Option<String> {
    let layer = &entry.item["layer"];
    if let Some(fact) = layer.get("fact") {
        let kind = &entry.item["variant"];
        let alike = json!([kind, fact["source"]["rank"], fact["memory"], fact["scope"], fact["audience"]]);
        return (kind == "fact" || constraints).then(|| alike.to_string());
    }
    if entry.is_situation() {
        return None; // decision 0020
    }
    if let Some(working) = layer.get("working") {
        return working["expires_at"].is_null().then(|| "session".to_owned());
    }
    let left_earlier = layer.get("request").is_some() && request_of(entry) != Some(u64::from(running));
    // Decision 0004: what is for one user alone is summarized for that one.
    left_earlier.then(|| if persists(entry) { layer.to_string() } else { "session".to_owned() })
}

/// The request that left the item, if its key says so.
fn request_of(entry: &Entry) -> Option<u64> {
    let key = entry.item["key"].as_object()?;
    let (kind, of) = key.iter().next()?;
    // What memory gave back is of another request than the one that asked for it.
    if kind == "trace" { None } else { of.as_u64().or_else(|| of.get(0)?.as_u64()) }
}

/// Whether a fact of any narrower scope hides this one, whoever may see it (decision 0019).
fn is_hidden_somewhere(known: &Fold, id: u64, wide: &Entry) -> bool {
    let width = |entry: &Entry| match &entry.item["layer"]["fact"]["scope"] {
        Value::Null => None,
        scope if scope == "global" => Some(2),
        scope if scope == "session" => Some(1),
        _ => Some(0),
    };
    known.entries().any(|(_, narrow)| {
        let names = narrow.item["layer"]["fact"]["supersedes"].as_u64();
        let meant = narrow.speaks_for(wide) || names.and_then(|named| stands_for(known, named)) == Some(id);
        let is_narrower = width(narrow).is_some() && width(narrow) < width(wide);
        let scope = &narrow.item["layer"]["fact"]["scope"];
        let is_supposed = scope.get("hypothetical").or(scope.get("draft")).is_some();
        is_valid(narrow) && is_narrower && (is_supposed || rank_of(narrow) >= rank_of(wide)) && meant
    })
}

/// What the summarizer's answer leads to; nothing, if it forgets what it may not: one at least, and only of the cluster.
pub(super) fn compact(
    known: &Fold,
    lines: &OraclePolicy,
    cluster: &[u64],
    text: &str,
    forgets: Option<&[u64]>,
) -> Option<Compacted> {
    let cluster: BTreeSet<u64> = cluster.iter().copied().collect();
    let parts: BTreeSet<u64> =
        forgets.map_or_else(|| cluster.clone(), |forgets| forgets.iter().copied().collect());
    if parts.is_empty() || !parts.is_subset(&cluster) {
        return None;
    }
    let into = known.next_id();
    let had_its_place = |id: &u64| stands_for(known, *id).is_some_and(|today| parts.contains(&today));
    let gone: BTreeSet<u64> = known.entries().map(|(id, _)| id).filter(had_its_place).collect();
    let after = |deps: &[u64]| deps.iter().copied().filter(|dep| !gone.contains(dep)).collect::<Vec<u64>>();

    let round = resting_on(known, &gone);
    let under: BTreeSet<u64> = parts
        .iter()
        .filter_map(|id| known.get(*id))
        .flat_map(|part| part.deps.iter().copied())
        .filter(|dep| !gone.contains(dep) && !round.contains(dep))
        .collect();
    let summary = summary(known, into, &parts, text)?;
    let mut events = vec![json!({ "add_item": { "item": summary, "deps": under } })];

    let mut rests_on = BTreeMap::new();
    for (id, old) in known.entries().filter(|(id, _)| !gone.contains(id)) {
        let mut item = old.item.clone();
        if item["layer"]["fact"]["supersedes"].as_u64().is_some_and(|named| gone.contains(&named)) {
            item["layer"]["fact"]["supersedes"] = Value::Null;
        }
        let mut deps = after(&old.deps);
        if deps != old.deps {
            rests_on.insert(id, deps.clone());
            if lines.rules.repointed_dependents {
                deps.push(into);
            }
        }
        if item != old.item || deps != old.deps {
            events.push(json!({ "update_item": { "item": item, "deps": deps } }));
        }
    }
    Some(Compacted { into, events, gone, rests_on, repointed: lines.rules.repointed_dependents })
}

/// The item that stands for these from now on.
fn summary(known: &Fold, id: u64, parts: &BTreeSet<u64>, text: &str) -> Option<Value> {
    let parts: Vec<&Entry> = parts.iter().filter_map(|part| known.get(*part)).collect();
    let first = &parts.first()?.item;
    let is_fact = first["layer"].get("fact").is_some();
    let layer = if is_fact {
        let mut fact = first["layer"]["fact"].clone();
        fact["source"]["name"] = json!("summarizer");
        fact["at"] = json!(parts.iter().filter_map(|part| part.item["layer"]["fact"]["at"].as_u64()).max());
        fact["time_sensitive"] = json!(false);
        fact["supersedes"] = Value::Null;
        // What writes will call what the summary says.
        fact["stands_for"] = json!(parts.iter().flat_map(|part| part.names()).collect::<BTreeSet<&str>>());
        json!({ "fact": fact })
    } else if parts.iter().all(|part| persists(part)) {
        first["layer"].clone()
    } else {
        json!({ "working": { "created_at": now(known), "expires_at": null } })
    };
    let reviewed = parts.iter().any(|part| part.item["standing"] == "needs_review");
    Some(json!({
        "id": id,
        "variant": if is_fact { first["variant"].clone() } else { json!("fact") },
        "key": "summary",
        "text": text,
        "layer": layer,
        "standing": if reviewed { "needs_review" } else { "current" },
    }))
}
