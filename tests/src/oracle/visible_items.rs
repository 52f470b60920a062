//! What a module is shown of S: what the speaker may see, and nothing that was replaced, denied or has expired (003).

use super::encoding::Rank;
use super::facts::{has_expired, is_valid, now, rank_of, stands_for};
use super::fold::{Entry, Fold};
use serde_json::{Value, json};

/// The ids, in order; in the session of this user.
pub(super) fn shown(known: &Fold, user: Option<&str>) -> Vec<u64> {
    let speaker = known.entries().find_map(|(_, entry)| entry.item["layer"].get("identity"));
    let now = now(known);
    let counts = |entry: &Entry| {
        // A context is of the session, and of no task, supposition or draft (003-2.21).
        let scope = &entry.item["layer"]["fact"]["scope"];
        // Decision 0004: what a request left is for its user alone.
        is_valid(entry) // 003-2.18
            && (entry.user().is_none() || entry.user() == user)
            && !has_expired(entry, now) // 003-3.5
            && (scope.is_null() || scope == "global" || scope == "session")
            && may_see(speaker, &entry.item["layer"]["fact"]["audience"])
    };
    let hides = |narrow: &Entry, id: u64, wide: &Entry| {
        // Decision 0019: what would supersede it, if it counted everywhere.
        let (narrow_fact, wide_fact) = (&narrow.item["layer"]["fact"], &wide.item["layer"]["fact"]);
        narrow_fact["scope"] == "session"
            && wide_fact["scope"] == "global"
            && rank_of(narrow) >= rank_of(wide) // 003-6.3
            && (narrow.speaks_for(wide) // decision 0021: a summary only as a whole
                || narrow_fact["supersedes"].as_u64().and_then(|named| stands_for(known, named)) == Some(id))
    };
    known
        .entries()
        .filter(|(id, entry)| {
            counts(entry) && !known.entries().any(|(_, other)| counts(other) && hides(other, *id, entry))
        })
        .map(|(id, _)| id)
        .collect()
}

/// Of these, what rests on these alone, however far (000-5.7).
pub(super) fn closed(known: &Fold, mut ids: Vec<u64>) -> Vec<u64> {
    loop {
        let rests = |id: &u64| {
            known
                .entries()
                .filter(|(of, _)| of == id)
                .all(|(_, entry)| entry.deps.iter().all(|dep| ids.contains(dep)))
        };
        let kept: Vec<u64> = ids.iter().copied().filter(rests).collect();
        if kept.len() == ids.len() {
            return kept;
        }
        ids = kept;
    }
}

/// 003-8.4: whether a fact for this audience may be shown to the speaker; who is not known has no rank.
fn may_see(speaker: Option<&Value>, audience: &Value) -> bool {
    let read = |rank: &Value| serde_json::from_value(rank.clone()).unwrap_or(Rank::Unverified);
    if let Some(least) = audience.get("at_least") {
        return speaker.map_or(Rank::Unverified, |speaker| read(&speaker["rank"])) >= read(least);
    }
    if let Some(granted) = audience.get("permitted") {
        let permissions = speaker.and_then(|speaker| speaker["permissions"].as_array());
        return permissions.is_some_and(|permissions| permissions.contains(granted));
    }
    audience.is_null() || *audience == json!("everybody")
}
