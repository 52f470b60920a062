//! The items that the principal of the session can read: valid, in scope, unexpired, not shadowed (003).

use super::encoding::Rank;
use super::facts::{current_version, has_expired, is_valid, rank_of};
use super::fold::{Entry, Fold};
use serde_json::{Value, json};

/// Returns the ids in order, for the session of this user in this scope.
pub(super) fn readable_ids(semantic: &Fold, user: Option<&str>, scope: &Value) -> Vec<u64> {
    let identity = semantic.entries().find_map(|(_, entry)| entry.item["layer"].get("identity"));
    let now = semantic.now;
    let is_readable = |entry: &Entry| {
        // Decision 0037: the items of the reader's scope, global ones and those of the session.
        let own = entry.scope();
        // Decision 0004: only its user can read an item of a request.
        is_valid(entry) // 003-2.18
            && (entry.user().is_none() || entry.user() == user)
            && !has_expired(entry, now) // 003-3.5
            && (own == *scope || own == "global" || own == "session")
            && is_in_audience(identity, &entry.item["layer"]["fact"]["audience"])
    };
    let readable: Vec<(u64, &Entry)> = semantic.entries().filter(|(_, entry)| is_readable(entry)).collect();
    // Decision 0019: a fact of a narrower scope shadows the fact that it would supersede in its scope.
    let width = |entry: &Entry| match entry.item["layer"]["fact"]["scope"].as_str() {
        Some("global") => 2,
        Some(_) => 1,
        None => 0,
    };
    let is_fact = |entry: &Entry| entry.item["layer"].get("fact").is_some();
    let is_shadowed = |id: u64, wide: &Entry| {
        is_fact(wide)
            && readable.iter().map(|(_, entry)| *entry).filter(|narrow| is_fact(narrow)).any(|narrow| {
                let superseded = narrow.item["layer"]["fact"]["supersedes"].as_u64();
                let scope = &narrow.item["layer"]["fact"]["scope"];
                let is_tentative = scope.get("hypothetical").or(scope.get("draft")).is_some();
                width(narrow) < width(wide)
                    && (is_tentative || rank_of(narrow) >= rank_of(wide)) // 003-6.3
                    && (narrow.covers(wide) // decision 0021: a summary only with all of its keys
                        || superseded.and_then(|superseded| current_version(semantic, superseded)) == Some(id))
            })
    };
    readable.iter().filter(|(id, entry)| !is_shadowed(*id, entry)).map(|(id, _)| *id).collect()
}

/// Returns the largest closed subset: the ids whose direct and transitive dependencies are among them (000-5.7).
pub(super) fn largest_closed_subset(semantic: &Fold, mut ids: Vec<u64>) -> Vec<u64> {
    loop {
        let has_all_deps =
            |id: &u64| semantic.get(*id).is_some_and(|entry| entry.deps.iter().all(|dep| ids.contains(dep)));
        let closed: Vec<u64> = ids.iter().copied().filter(has_all_deps).collect();
        if closed.len() == ids.len() {
            return closed;
        }
        ids = closed;
    }
}

/// Returns whether the principal is in the audience of a fact (003-8.4). Without an identity the rank is unverified.
fn is_in_audience(identity: Option<&Value>, audience: &Value) -> bool {
    let rank = |rank: &Value| serde_json::from_value(rank.clone()).unwrap_or(Rank::Unverified);
    if let Some(least) = audience.get("at_least") {
        return identity.map_or(Rank::Unverified, |identity| rank(&identity["rank"])) >= rank(least);
    }
    if let Some(permission) = audience.get("permitted") {
        let permissions = identity.and_then(|identity| identity["permissions"].as_array());
        return permissions.is_some_and(|permissions| permissions.contains(permission));
    }
    audience.is_null() || *audience == json!("everybody")
}
