//! Writes (003 §5 and §6, decision 0019), decided by a scan of the whole of S.

use super::authority;
use super::compaction::SUMMARY;
use super::encoding::{OracleFact, OracleReference, OracleSource, OracleWrite, OracleWriteSource, Rank};
use super::fold::{Entry, Fold};
use super::items::FINAL_ANSWER_PREFIX;
use super::policy::{OraclePolicy, Writes};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The effects of a write on S.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteEffects {
    /// The changes of S, as whole events.
    pub(super) events: Vec<Value>,
}

/// The write contradicts S. The oracle does not compare the reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvalidWrite;

/// Returns whether the write is about the session, and so requires one (decision 0019).
pub(super) fn requires_session(write: &OracleWrite) -> bool {
    match write {
        OracleWrite::Working { .. } => true,
        // Decision 0028: without a name, the session user is the source.
        OracleWrite::Fact(fact) => fact.scope == "session" || fact.source.name.is_none(),
        OracleWrite::Environment { .. } => false,
        OracleWrite::Promote { scope, source, .. } => scope == "session" || source.name.is_none(),
    }
}

/// Returns the ids of the written items that leave with the session (003-1.4, 003-2.10, 003-3.5).
pub(super) fn session_ids(semantic: &Fold) -> BTreeSet<u64> {
    let leaves = |(_, entry): &(u64, &Entry)| entry.is_written() && !persists(entry);
    semantic.entries().filter(leaves).map(|(id, _)| id).collect()
}

/// Decides a write.
pub(super) fn decide_write(
    semantic: &Fold,
    policy: &OraclePolicy,
    session: Option<&str>,
    write: &OracleWrite,
) -> Result<WriteEffects, InvalidWrite> {
    let mut batch = WriteBatch { semantic, effects: WriteEffects::default() };
    match write {
        OracleWrite::Fact(fact) => batch.decide_fact(policy, session, (**fact).clone())?,
        OracleWrite::Promote { key, scope, source } => {
            let fact = promoted(semantic, key, scope, source)?;
            batch.decide_fact(policy, session, fact)?;
        }
        OracleWrite::Working { key, text, expires_at, depends_on } => {
            let now = semantic.now;
            if expires_at.is_some_and(|expires_at| expires_at <= now) {
                return Err(InvalidWrite);
            }
            let key = json!({ "working": key });
            // Decision 0019: no item depends on itself.
            let own: BTreeSet<u64> = batch.id_by_key(&key.to_string()).into_iter().collect();
            let deps = batch.dependencies(depends_on, &json!("session"), &own)?;
            let layer = json!({ "working": { "created_at": now, "expires_at": expires_at } });
            batch.overwrite(key, text, layer, &deps);
        }
        OracleWrite::Environment { key, text, supersedes } => {
            let key = json!({ "environment": key });
            let referenced =
                supersedes.as_ref().map(|reference| batch.resolve_signal(reference)).transpose()?;
            let id = batch.id_by_key(&key.to_string()).unwrap_or(semantic.next_id());
            batch.overwrite(key, text, json!("environment"), &[]);
            if let Some(old) = referenced.filter(|old| *old != id) {
                batch.supersede(old, id, "temporal");
                batch.flag_dependents(&BTreeSet::from([old]), &BTreeMap::new(), Some(id));
            }
        }
    }
    Ok(batch.effects)
}

/// Returns the global fact that a promotion writes (decision 0037).
fn promoted(
    semantic: &Fold,
    key: &str,
    scope: &Value,
    source: &OracleWriteSource,
) -> Result<OracleFact, InvalidWrite> {
    let of_key =
        |entry: &Entry| entry.item["key"]["fact"] == key && entry.scope() == *scope && is_valid(entry);
    let found = semantic.entries().map(|(_, entry)| entry).find(|entry| of_key(entry));
    let entry = found.filter(|_| scope != "global").ok_or(InvalidWrite)?;
    let fact = &entry.item["layer"]["fact"];
    let is_global_fact =
        |entry: &Entry| entry.item["layer"].get("fact").is_some() && entry.scope() == "global";
    let shadowed = fact["supersedes"].as_u64().filter(|id| semantic.get(*id).is_some_and(is_global_fact));
    // "It depends on the global fact of the same key and text instead of a fact of the scope."
    let promoted_before = |id: u64| {
        let own = semantic.get(id).filter(|own| own.scope() == *scope)?;
        let own_key = own.item["key"]["fact"].as_str()?;
        let is_copy = |entry: &Entry| {
            is_global_fact(entry)
                && is_valid(entry)
                && entry.fact_keys().contains(own_key)
                && entry.text == own.text
        };
        semantic.entries().find(|(_, entry)| is_copy(entry)).map(|(id, _)| id)
    };
    let depends_on = entry.deps.iter().map(|id| OracleReference::Id(promoted_before(*id).unwrap_or(*id)));
    Ok(OracleFact {
        kind: entry.item["kind"].clone(),
        key: key.to_owned(),
        text: entry.text.clone(),
        source: source.clone(),
        established_at: fact["established_at"].as_u64(),
        memory: fact["memory"].as_str().unwrap_or_default().to_owned(),
        scope: json!("global"),
        audience: fact["audience"].clone(),
        time_sensitive: fact["time_sensitive"] == true,
        supersedes: shadowed.map(OracleReference::Id),
        detected_rule: None,
        depends_on: depends_on.collect(),
        is_from_text: false,
    })
}

/// Returns the refusal of an input for its time (decision 0036): an earlier time, and a tick at which nothing expires.
pub(super) fn time_refusal(semantic: &Fold, at: u64, is_tick: bool) -> Option<&'static str> {
    let expires = |(_, entry): (u64, &Entry)| has_expired(entry, at) && !has_expired(entry, semantic.now);
    if at < semantic.now {
        Some("TimeWentBack")
    } else {
        (is_tick && !semantic.entries().any(expires)).then_some("NothingExpires")
    }
}

/// Advances the time and removes the items that expire. Returns their ids.
pub(super) fn pass_time(semantic: &mut Fold, at: u64) -> BTreeSet<u64> {
    let expired = expired_ids(semantic, at);
    semantic.now = at;
    semantic.remove(&expired);
    expired
}

/// Returns whether the item is valid (003-2.6).
pub(super) fn is_valid(entry: &Entry) -> bool {
    entry.item["validity"] == "current" || entry.item["validity"] == "needs_review"
}

/// Returns whether the item has expired (003-3.5).
pub(super) fn has_expired(entry: &Entry, now: u64) -> bool {
    entry.item["layer"]["working"]["expires_at"].as_u64().is_some_and(|expires_at| expires_at <= now)
}

/// Returns the item at the end of the chain of successors (003-5.10).
pub(super) fn current_version(semantic: &Fold, id: u64) -> Option<u64> {
    match &semantic.get(id)?.item["validity"]["superseded"] {
        Value::Null => Some(id),
        superseded => current_version(semantic, superseded["superseded_by"].as_u64()?),
    }
}

/// Returns whether the item outlives the session (decisions 0004 and 0019).
pub(super) fn persists(entry: &Entry) -> bool {
    let layer = &entry.item["layer"];
    match &layer["fact"] {
        Value::Null if layer.get("request").is_some() => {
            entry.key.starts_with("{\"request\"")
                || entry.key.starts_with(FINAL_ANSWER_PREFIX)
                || entry.key == SUMMARY
        }
        Value::Null => layer == "environment",
        fact => fact["scope"] != "session",
    }
}

/// Returns the expired items on which no remaining item depends (decision 0036).
fn expired_ids(semantic: &Fold, now: u64) -> BTreeSet<u64> {
    let mut expired: BTreeSet<u64> =
        semantic.entries().filter(|(_, entry)| has_expired(entry, now)).map(|(id, _)| id).collect();
    loop {
        let needed: BTreeSet<u64> = semantic
            .entries()
            .filter(|(id, _)| !expired.contains(id))
            .flat_map(|(_, entry)| entry.deps.iter().copied())
            .collect();
        if expired.is_disjoint(&needed) {
            return expired;
        }
        expired.retain(|id| !needed.contains(id));
    }
}

/// Returns the direct and transitive dependents of these items (003-2.20).
pub(super) fn transitive_dependents(semantic: &Fold, ids: &BTreeSet<u64>) -> BTreeSet<u64> {
    let mut dependents: BTreeSet<u64> = BTreeSet::new();
    loop {
        let depends = |dep: &u64| ids.contains(dep) || dependents.contains(dep);
        let more: Vec<u64> = semantic
            .entries()
            .filter(|(id, entry)| !dependents.contains(id) && entry.deps.iter().any(depends))
            .map(|(id, _)| id)
            .collect();
        if more.is_empty() {
            return dependents;
        }
        dependents.extend(more);
    }
}

/// A write and its effects so far.
struct WriteBatch<'a> {
    /// S before the write.
    semantic: &'a Fold,
    effects: WriteEffects,
}

impl WriteBatch<'_> {
    /// Decides the write of a fact.
    fn decide_fact(
        &mut self,
        policy: &OraclePolicy,
        session: Option<&str>,
        fact: OracleFact,
    ) -> Result<(), InvalidWrite> {
        let source = authority::source(policy, self.semantic, session, &fact)?;
        // Decision 0036: without a time, the fact is established at the time of the write.
        let established_at = fact.established_at.or(Some(self.semantic.now));
        self.add_fact(policy.writes, &OracleFact { established_at, ..fact }, &source)
    }

    /// Adds a fact and compares it with its rivals (003-2.16, decision 0019).
    fn add_fact(
        &mut self,
        writes: Writes,
        fact: &OracleFact,
        source: &OracleSource,
    ) -> Result<(), InvalidWrite> {
        let rank = source.rank;
        let reference = fact
            .supersedes
            .as_ref()
            .map(|reference| self.resolve_superseded(reference, &fact.scope))
            .transpose()?;
        let key = json!({ "fact": fact.key });
        let has_key_and_scope = |entry: &Entry| {
            entry.fact_keys().contains(fact.key.as_str())
                && entry.item["layer"]["fact"]["scope"] == fact.scope
        };
        let valid_with_key =
            self.semantic.entries().find(|(_, entry)| has_key_and_scope(entry) && is_valid(entry));
        // Decision 0027: a write under a superseded key competes with the key's current successor.
        let of_key: Vec<(u64, &Entry)> =
            self.semantic.entries().filter(|(_, entry)| has_key_and_scope(entry)).collect();
        let successor = of_key
            .iter()
            .rev()
            .filter_map(|(id, _)| current_version(self.semantic, *id))
            .filter_map(|id| Some((id, self.semantic.get(id)?)))
            .find(|(_, entry)| {
                let has_scope = entry.item["layer"]["fact"]["scope"] == fact.scope;
                // Decision 0021: a summary is a rival only by the keys that it covers.
                is_valid(entry) && has_scope && entry.key != SUMMARY
            });
        let same_key = valid_with_key.or(successor);
        // Decision 0021: the keys that a summary keeps. The write affects a summary only if it takes a key of the summary
        // or refers to the whole summary.
        let takes = |key: &str| {
            key == fact.key || reference.as_ref().is_some_and(|(_, by)| by.as_deref() == Some(key))
        };
        let semantic = self.semantic;
        let kept_keys = |id: u64| -> BTreeSet<&str> {
            let is_whole = reference.as_ref().is_some_and(|(whole, by)| *whole == id && by.is_none());
            let Some(old) = semantic.get(id).filter(|old| old.key == SUMMARY && !is_whole) else {
                return BTreeSet::new();
            };
            old.fact_keys().into_iter().filter(|key| !takes(key)).collect()
        };
        let is_affected = |id: &u64| {
            let kept = kept_keys(*id);
            semantic.get(*id).is_none_or(|old| kept.is_empty() || kept != old.fact_keys())
        };
        let superseded = reference.as_ref().map(|(id, _)| *id).filter(is_affected);
        // A denied fact is no rival, so nothing supersedes it.
        let valid_superseded = superseded.filter(|id| self.semantic.get(*id).is_some_and(is_valid));
        let loses_all_keys = |id: &u64| kept_keys(*id).is_empty();
        let replaced: BTreeSet<u64> =
            superseded.into_iter().chain(same_key.map(|(id, _)| id)).filter(loses_all_keys).collect();
        let deps = self.dependencies(&fact.depends_on, &fact.scope, &replaced)?;

        // 003-9.3: a fact without write permission is kept as denied, and has no effect.
        let is_denied = fact.kind != "fact" && rank < writes.constraint_from
            || fact.memory == "organizational" && rank < writes.organizational_from;

        // Decision 0019: a write of the same value reaffirms the fact; also under a superseded key (decision 0027).
        let has_same_value = |(id, old): &(u64, &Entry)| {
            let has_own_key = old.item["key"]["fact"] == fact.key.as_str();
            old.item["key"].get("fact").is_some()
                && old.text == fact.text
                && old.item["kind"] == fact.kind
                && superseded.is_none_or(|superseded| superseded == *id && has_own_key)
        };
        if let Some((_, old)) = same_key.filter(has_same_value) {
            self.reaffirm(old, fact, source, &deps);
            return Ok(());
        }

        // Decision 0027: the repetition of a value that lost its validity to the successor is no write.
        let was_superseded = |(id, old): &(u64, &Entry)| {
            let later = old.item["validity"]["superseded"]["superseded_by"].as_u64();
            later.is_some_and(|later| later > *id) && old.text == fact.text && old.item["kind"] == fact.kind
        };
        if valid_with_key.is_none()
            && successor.is_some()
            && fact.supersedes.is_none()
            && of_key.iter().any(was_superseded)
        {
            return Ok(());
        }

        let id = self.semantic.next_id();
        let mut validity = json!(if is_denied { "denied" } else { "current" });
        let mut supersedes = None;
        let mut taken_keys = BTreeSet::new();
        if !is_denied {
            let scope_of = |id: u64| self.semantic.get(id).map(|entry| &entry.item["layer"]["fact"]["scope"]);
            let is_in_scope = |id: &u64| scope_of(*id) == Some(&fact.scope);
            let rivals: BTreeSet<u64> =
                valid_superseded.filter(is_in_scope).into_iter().chain(same_key.map(|(id, _)| id)).collect();
            let results: Vec<(u64, bool, String)> = rivals
                .iter()
                .filter_map(|rival| {
                    let is_referenced = superseded == Some(*rival);
                    let (wins, rule) = compare_rivals(fact, rank, self.semantic.get(*rival)?, is_referenced);
                    Some((*rival, wins, rule))
                })
                .collect();
            // A losing fact is superseded by the winner of the highest rank, otherwise by the fact with its key.
            let winner = results.iter().filter(|(_, wins, _)| !wins).max_by_key(|(rival, ..)| {
                (self.semantic.get(*rival).map(rank_of), superseded != Some(*rival))
            });
            if let Some((by, _, rule)) = winner {
                validity = json!({ "superseded": { "superseded_by": by, "rule": rule } });
            } else {
                for (rival, _, rule) in results.iter().filter(|(rival, ..)| loses_all_keys(rival)) {
                    self.supersede(*rival, id, rule);
                }
                let (ended, reduced): (BTreeSet<u64>, BTreeSet<u64>) =
                    rivals.into_iter().partition(loses_all_keys);
                let reduced: BTreeMap<u64, BTreeSet<&str>> =
                    reduced.into_iter().map(|id| (id, kept_keys(id))).collect();
                // Decision 0027: a fact covers the keys that it takes from a summary.
                for (id, kept) in &reduced {
                    let keys = semantic.get(*id).map(Entry::fact_keys).unwrap_or_default();
                    taken_keys.extend(keys.into_iter().filter(|key| !kept.contains(key) && *key != fact.key));
                }
                self.flag_dependents(&ended, &reduced, Some(id));
                // 003-2.8: the fact that it refers to and supersedes, or shadows in its narrower scope; otherwise the
                // fact with its key.
                supersedes = valid_superseded
                    .filter(loses_all_keys)
                    .filter(|old| {
                        let is_tentative =
                            fact.scope.get("hypothetical").or(fact.scope.get("draft")).is_some();
                        let is_outranked =
                            !is_tentative && self.semantic.get(*old).is_some_and(|old| rank_of(old) > rank);
                        scope_of(*old).is_some_and(|scope| {
                            *scope == fact.scope || (*scope == "global" && !is_outranked)
                        })
                    })
                    .or(same_key.map(|(id, _)| id).filter(loses_all_keys));
            }
        }
        let layer = json!({ "fact": {
            "source": source,
            "established_at": fact.established_at,
            "memory": fact.memory,
            "scope": fact.scope,
            "supersedes": supersedes,
            "time_sensitive": fact.time_sensitive,
            "summarized_keys": taken_keys,
            "audience": fact.audience,
        }});
        let item = json!({
            "id": id, "kind": fact.kind, "key": key, "text": fact.text, "layer": layer, "validity": validity,
        });
        self.effects.events.push(json!({ "add_item": { "item": item, "deps": deps } }));
        Ok(())
    }

    /// Reaffirms a fact. From its rank on, this clears the review flag, takes the later time, restricts the audience and
    /// adds dependencies. From a higher rank, the fact also takes the source of the write.
    fn reaffirm(&mut self, old: &Entry, fact: &OracleFact, source: &OracleSource, more_deps: &[u64]) {
        let (mut item, mut deps) = (old.item.clone(), old.deps.clone());
        if source.rank >= rank_of(old) {
            if fact.audience != "everybody" {
                item["layer"]["fact"]["audience"] = json!(fact.audience);
            }
            deps.extend(more_deps);
            deps.sort_unstable();
            deps.dedup();
            item["validity"] = json!("current");
            let time = item["layer"]["fact"]["established_at"].as_u64().unwrap_or_default();
            item["layer"]["fact"]["established_at"] = json!(Some(time).max(fact.established_at));
        }
        if source.rank > rank_of(old) {
            item["layer"]["fact"]["source"] = json!(source);
        }
        if item != old.item || deps != old.deps {
            self.effects.events.push(json!({ "update_item": { "item": item, "deps": deps } }));
        }
    }

    /// Returns the item of a key that is not shared.
    fn id_by_key(&self, key: &str) -> Option<u64> {
        self.semantic.entries().find(|(_, entry)| entry.key == key).map(|(id, _)| id)
    }

    /// Resolves a reference (decision 0019). A key refers to the valid fact of this scope, otherwise to the global one,
    /// otherwise to the latest valid one, otherwise to the latest. A signal has a key of its own.
    fn resolve(&self, reference: &OracleReference, kind: &str, scope: &Value) -> Result<u64, InvalidWrite> {
        let found = match reference {
            OracleReference::Id(id) => Some(*id),
            OracleReference::Key(key) => {
                let item_key = json!({ kind: key }).to_string();
                let preference = |entry: &Entry| {
                    let entry_scope = &entry.item["layer"]["fact"]["scope"];
                    match is_valid(entry) {
                        true if entry_scope == scope => 3,
                        true if entry_scope == "global" => 2,
                        is_valid => u8::from(is_valid),
                    }
                };
                // Decision 0021: a summary of facts counts as a fact of each key that it covers.
                let with_key = self.semantic.entries().filter(|(_, entry)| {
                    entry.key == item_key || kind == "fact" && entry.fact_keys().contains(key.as_str())
                });
                with_key.max_by_key(|(id, entry)| (preference(entry), *id)).map(|(id, _)| id)
            }
        };
        found.and_then(|id| current_version(self.semantic, id)).ok_or(InvalidWrite)
    }

    /// Resolves a reference to a superseded fact: its current version, and the key of the reference. A summary's id has
    /// no such key: it means the whole summary.
    fn resolve_superseded(
        &self,
        reference: &OracleReference,
        scope: &Value,
    ) -> Result<(u64, Option<String>), InvalidWrite> {
        let id = self.resolve(reference, "fact", scope)?;
        let key = match reference {
            OracleReference::Key(key) => Some(key.clone()),
            OracleReference::Id(id) => {
                self.semantic.get(*id).and_then(|old| Some(old.item["key"]["fact"].as_str()?.to_owned()))
            }
        };
        let is_fact =
            |id: u64| self.semantic.get(id).is_some_and(|old| old.item["layer"].get("fact").is_some());
        Some((id, key)).filter(|(id, _)| is_fact(*id)).ok_or(InvalidWrite)
    }

    fn resolve_signal(&self, reference: &OracleReference) -> Result<u64, InvalidWrite> {
        let id = self.resolve(reference, "environment", &Value::Null)?;
        let is_signal =
            |id: &u64| self.semantic.get(*id).is_some_and(|old| old.item["layer"] == "environment");
        Some(id).filter(is_signal).ok_or(InvalidWrite)
    }

    /// Returns the current versions of the dependencies (003-2.11), without repetition and in id order (000-2.6).
    fn dependencies(
        &self,
        depends_on: &[OracleReference],
        scope: &Value,
        replaced: &BTreeSet<u64>,
    ) -> Result<Vec<u64>, InvalidWrite> {
        let deps: BTreeSet<u64> = depends_on
            .iter()
            .map(|reference| self.resolve(reference, "fact", scope))
            .collect::<Result<_, _>>()?;
        let dependents = transitive_dependents(self.semantic, replaced);
        let is_permitted = |dep: &u64| {
            self.semantic.get(*dep).is_some_and(|entry| {
                // 003-2.1: an item that outlives the session depends only on items that do.
                let remains = *scope == "session" || persists(entry);
                // 003-2.21: an item of another scope is no basis here.
                let dep_scope = entry.scope();
                let is_in_scope = dep_scope == *scope || dep_scope == "global" || dep_scope == "session";
                // Decision 0034: the situation ends with the request.
                remains
                    && is_in_scope
                    && !entry.is_situation()
                    && !replaced.contains(dep)
                    && !dependents.contains(dep)
            })
        };
        if deps.iter().all(is_permitted) { Ok(deps.into_iter().collect()) } else { Err(InvalidWrite) }
    }

    /// Flags the valid facts that depend on changed items (003-2.20), and replaces superseded dependencies by the
    /// successor (DESIGN §2, dependency on a superseded fact).
    ///
    /// `changed` are superseded or overwritten items, `reduced` are summaries with the keys that they keep. Such a
    /// summary needs review, and so do its dependents (decision 0021).
    fn flag_dependents(
        &mut self,
        changed: &BTreeSet<u64>,
        reduced: &BTreeMap<u64, BTreeSet<&str>>,
        successor: Option<u64>,
    ) {
        let mut affected = changed.clone();
        affected.extend(reduced.keys());
        affected.extend(transitive_dependents(self.semantic, &affected));
        for id in affected.difference(changed).copied() {
            let Some(old) = self.semantic.get(id).filter(|old| is_valid(old)) else { continue };
            let mut item = old.item.clone();
            if item["layer"].get("fact").is_some() {
                item["validity"] = json!("needs_review");
            }
            if let Some(keys) = reduced.get(&id) {
                item["layer"]["fact"]["summarized_keys"] = json!(keys);
            }
            let mut deps = old.deps.clone();
            if let Some(successor) = successor {
                deps.retain(|dep| !changed.contains(dep));
                if deps.len() < old.deps.len() {
                    deps.push(successor);
                    deps.sort_unstable();
                    deps.dedup();
                }
            }
            if item != old.item || deps != old.deps {
                self.effects.events.push(json!({ "update_item": { "item": item, "deps": deps } }));
            }
        }
    }

    fn supersede(&mut self, id: u64, by: u64, rule: &str) {
        let Some(old) = self.semantic.get(id) else { return };
        let mut item = old.item.clone();
        item["validity"] = json!({ "superseded": { "superseded_by": by, "rule": rule } });
        self.effects.events.push(json!({ "update_item": { "item": item, "deps": old.deps } }));
    }

    /// Adds or overwrites the item of a key (003-5.4). With a new text, its dependents need review (decision 0019: it
    /// "counts as superseded by itself").
    fn overwrite(&mut self, key: Value, text: &str, layer: Value, deps: &[u64]) {
        let own = self.id_by_key(&key.to_string());
        self.put("fact".into(), key, text, layer, deps);
        if let Some(id) = own.filter(|id| self.semantic.get(*id).is_some_and(|old| old.text != text)) {
            self.flag_dependents(&BTreeSet::from([id]), &BTreeMap::new(), None);
        }
    }

    /// Adds or updates the item of a key that is not shared; no event without a change (0016).
    fn put(&mut self, kind: Value, key: Value, text: &str, layer: Value, deps: &[u64]) {
        let old = self.id_by_key(&key.to_string());
        let id = old.unwrap_or(self.semantic.next_id());
        let item = json!({
            "id": id, "kind": kind, "key": key, "text": text, "layer": layer, "validity": "current",
        });
        let event = if old.is_some() { "update_item" } else { "add_item" };
        if self.semantic.get(id).is_none_or(|old| old.item != item || old.deps != deps) {
            self.effects.events.push(json!({ event: { "item": item, "deps": deps } }));
        }
    }
}

/// Returns whether the new fact wins against an old one, and the deciding rule: authority, explicit, temporal, implicit
/// (DESIGN §2, precedence of rules).
fn compare_rivals(fact: &OracleFact, rank: Rank, old: &Entry, is_referenced: bool) -> (bool, String) {
    let old_fact = &old.item["layer"]["fact"];
    let old_rank = rank_of(old);
    if rank != old_rank {
        return (rank > old_rank, "authority".to_owned());
    }
    let rule = fact.detected_rule.as_deref().unwrap_or("explicit");
    if is_referenced && rule != "temporal" && rule != "implicit" {
        return (true, rule.to_owned());
    }
    // Of two facts with the same time the later write wins.
    let old_time = old_fact["established_at"].as_u64().unwrap_or_default();
    let is_timed = fact.time_sensitive || old_fact["time_sensitive"] == true;
    if is_timed || is_referenced && rule == "temporal" {
        return (fact.established_at >= Some(old_time), "temporal".to_owned());
    }
    (true, "implicit".to_owned())
}

pub(super) fn rank_of(fact: &Entry) -> Rank {
    serde_json::from_value(fact.item["layer"]["fact"]["source"]["rank"].clone()).unwrap_or(Rank::Unverified)
}
