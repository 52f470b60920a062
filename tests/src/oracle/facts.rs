//! What a write means (003 §5 and §6, decision 0019), told by looking through all of S each time.

use super::compaction::SUMMARY;
use super::encoding::{OracleFact, OracleReference, OracleWrite, Rank};
use super::fold::{Entry, Fold};
use super::policy::Writes;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What a write leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteEffects {
    /// The changes of S, as whole events.
    pub(super) events: Vec<Value>,
    /// What is forgotten because its time has come.
    pub(super) expired: BTreeSet<u64>,
}

/// The write does not fit what is known. Which words say so is not judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvalidWrite;

/// Decision 0019: what is about the session, and so needs one.
pub(super) fn is_of_session(wrote: &OracleWrite) -> bool {
    match wrote {
        OracleWrite::Identity { .. } | OracleWrite::Working { .. } => true,
        OracleWrite::Fact(said) => said.scope == "session",
        OracleWrite::Environment { .. } | OracleWrite::Clock { .. } => false,
    }
}

/// What is written by name and leaves with the session (003-1.4, 003-2.10, 003-3.5).
pub(super) fn of_the_session(known: &Fold) -> BTreeSet<u64> {
    known.entries().filter(|(_, entry)| entry.is_written() && !persists(entry)).map(|(id, _)| id).collect()
}

/// What a write leads to in what is known.
pub(super) fn write(known: &Fold, writes: Writes, wrote: &OracleWrite) -> Result<WriteEffects, InvalidWrite> {
    let mut writing = Writing { known, told: WriteEffects::default() };
    match wrote {
        OracleWrite::Identity { name, identity } => {
            // 003-1.3: once; 003-1.4: read-only.
            if writing.holding("\"identity\"").is_some() {
                return Err(InvalidWrite);
            }
            writing.put("fact".into(), json!("identity"), name, json!({ "identity": identity }), &[]);
        }
        OracleWrite::Fact(said) => writing.fact(writes, said)?,
        OracleWrite::Working { key, text, expires_at, depends_on: rests_on } => {
            let now = now(known);
            if expires_at.is_some_and(|expires_at| expires_at <= now) {
                return Err(InvalidWrite);
            }
            let key = json!({ "working": key });
            // Decision 0019: nothing rests on itself.
            let own: BTreeSet<u64> = writing.holding(&key.to_string()).into_iter().collect();
            let deps = writing.bases(rests_on, &json!("session"), &own)?;
            let layer = json!({ "working": { "created_at": now, "expires_at": expires_at } });
            writing.overwrite(key, text, layer, &deps);
        }
        OracleWrite::Environment { key, text, supersedes } => {
            let key = json!({ "environment": key });
            let named = supersedes.as_ref().map(|named| writing.signal(named)).transpose()?;
            let own = writing.holding(&key.to_string());
            let id = own.unwrap_or(known.next_id());
            writing.overwrite(key, text, json!("environment"), &[]);
            if let Some(named) = named.filter(|named| *named != id) {
                writing.supersede(named, id, "temporal");
                writing.review(&BTreeSet::from([named]), &BTreeMap::new(), Some(id));
            }
        }
        OracleWrite::Clock { now: then, text } => {
            if *then < now(known) {
                return Err(InvalidWrite);
            }
            writing.overwrite(json!("clock"), text, json!({ "clock": { "now": then } }), &[]);
            writing.told.expired = expired(known, *then);
        }
    }
    Ok(writing.told)
}

/// 003-4.5: what time it is, by the clock.
pub(super) fn now(known: &Fold) -> u64 {
    known.entries().find_map(|(_, entry)| entry.item["layer"]["clock"]["now"].as_u64()).unwrap_or_default()
}

/// 003-2.6: the item is to be believed.
pub(super) fn is_valid(entry: &Entry) -> bool {
    entry.item["standing"] == "current" || entry.item["standing"] == "needs_review"
}

/// 003-3.5: whether its time has come.
pub(super) fn has_expired(entry: &Entry, now: u64) -> bool {
    entry.item["layer"]["working"]["expires_at"].as_u64().is_some_and(|expires_at| expires_at <= now)
}

/// 003-5.10: what stands in the place of an item today.
pub(super) fn stands_for(known: &Fold, id: u64) -> Option<u64> {
    match &known.get(id)?.item["standing"]["superseded"] {
        Value::Null => Some(id),
        superseded => stands_for(known, superseded["by"].as_u64()?),
    }
}

/// Whether the item outlives the session (decisions 0004 and 0019).
pub(super) fn persists(entry: &Entry) -> bool {
    let layer = &entry.item["layer"];
    match &layer["fact"] {
        Value::Null if layer.get("request").is_some() => {
            entry.key.starts_with("{\"request\"")
                || entry.key.starts_with("{\"answer\"")
                || entry.key == SUMMARY
        }
        Value::Null => layer == "environment" || layer.get("clock").is_some(),
        fact => fact["scope"] != "session",
    }
}

/// What has expired and is not needed by anything that stays (decision 0019, the clock).
fn expired(known: &Fold, now: u64) -> BTreeSet<u64> {
    let mut gone: BTreeSet<u64> =
        known.entries().filter(|(_, entry)| has_expired(entry, now)).map(|(id, _)| id).collect();
    loop {
        let needed: BTreeSet<u64> = known
            .entries()
            .filter(|(id, _)| !gone.contains(id))
            .flat_map(|(_, entry)| entry.deps.iter().copied())
            .collect();
        if gone.is_disjoint(&needed) {
            return gone;
        }
        gone.retain(|id| !needed.contains(id));
    }
}

/// Everything that rests on these, however far (003-2.20).
pub(super) fn resting_on(known: &Fold, these: &BTreeSet<u64>) -> BTreeSet<u64> {
    let mut derived: BTreeSet<u64> = BTreeSet::new();
    loop {
        let more: Vec<u64> = known
            .entries()
            .filter(|(id, entry)| {
                let rests = |dep: &u64| these.contains(dep) || derived.contains(dep);
                !derived.contains(id) && entry.deps.iter().any(rests)
            })
            .map(|(id, _)| id)
            .collect();
        if more.is_empty() {
            return derived;
        }
        derived.extend(more);
    }
}

/// A write on its way.
struct Writing<'a> {
    /// S before it.
    known: &'a Fold,
    told: WriteEffects,
}

impl Writing<'_> {
    /// 003-2.16: a fact meets its rivals (decision 0019).
    fn fact(&mut self, writes: Writes, said: &OracleFact) -> Result<(), InvalidWrite> {
        let rank = said.source.rank;
        let meant = said.supersedes.as_ref().map(|named| self.named_fact(named, &said.scope)).transpose()?;
        let key = json!({ "fact": said.key });
        let own = self.known.entries().find(|(_, entry)| {
            entry.names().contains(said.key.as_str())
                && is_valid(entry)
                && entry.item["layer"]["fact"]["scope"] == said.scope
        });
        // Decision 0021: which names a summary goes on standing for; it is touched only if it loses one, or is meant itself.
        let taken = |name: &str| {
            name == said.key || meant.as_ref().is_some_and(|(_, by)| by.as_deref() == Some(name))
        };
        let known = self.known;
        let kept = |id: u64| -> BTreeSet<&str> {
            let is_meant = meant.as_ref().is_some_and(|(meant, by)| *meant == id && by.is_none());
            let Some(old) = known.get(id).filter(|old| old.key == SUMMARY && !is_meant) else {
                return BTreeSet::new();
            };
            old.names().into_iter().filter(|name| !taken(name)).collect()
        };
        let is_touched =
            |id: &u64| known.get(*id).is_none_or(|old| kept(*id).is_empty() || kept(*id) != old.names());
        let named = meant.as_ref().map(|(id, _)| *id).filter(is_touched);
        // What was denied bears on nothing, and so nothing takes its place.
        let believed = named.filter(|named| self.known.get(*named).is_some_and(is_valid));
        let ends = |id: &u64| kept(*id).is_empty();
        let replaced: BTreeSet<u64> = named.into_iter().chain(own.map(|(id, _)| id)).filter(ends).collect();
        let deps = self.bases(&said.rests_on, &said.scope, &replaced)?;

        // 003-9.3: what its source may not write is kept, and bears on nothing.
        let denied = said.kind != "fact" && rank < writes.constraint_from
            || said.memory == "organizational" && rank < writes.organizational_from;

        // Saying it again affirms (decision 0019).
        let says_the_same = |(id, old): &(u64, &Entry)| {
            old.key != SUMMARY
                && old.text == said.text
                && old.item["variant"] == said.kind
                && named.is_none_or(|named| named == *id)
        };
        if let Some((_, old)) = own.filter(says_the_same) {
            self.affirm(old, said, &deps);
            return Ok(());
        }

        let id = self.known.next_id();
        let mut standing = json!(if denied { "denied" } else { "current" });
        let mut takes_the_place_of = None;
        if !denied {
            let scope_of = |id: u64| self.known.get(id).map(|entry| &entry.item["layer"]["fact"]["scope"]);
            let in_scope = |id: &u64| scope_of(*id) == Some(&said.scope);
            let rivals: BTreeSet<u64> =
                believed.filter(in_scope).into_iter().chain(own.map(|(id, _)| id)).collect();
            let met: Vec<(u64, bool, String)> = rivals
                .iter()
                .filter_map(|rival| {
                    let (wins, rule) = meets(said, self.known.get(*rival)?, named == Some(*rival));
                    Some((*rival, wins, rule))
                })
                .collect();
            // What it lost against: that of the highest rank, or else its namesake.
            let strongest = met
                .iter()
                .filter(|(_, wins, _)| !wins)
                .max_by_key(|(rival, ..)| (self.known.get(*rival).map(rank_of), named != Some(*rival)));
            if let Some((by, _, rule)) = strongest {
                standing = json!({ "superseded": { "by": by, "rule": rule } });
            } else {
                for (rival, _, rule) in met.iter().filter(|(rival, ..)| ends(rival)) {
                    self.supersede(*rival, id, rule);
                }
                let (ended, shaken): (BTreeSet<u64>, BTreeSet<u64>) = rivals.into_iter().partition(ends);
                let shaken = shaken.into_iter().map(|id| (id, kept(id))).collect();
                self.review(&ended, &shaken, Some(id));
                // 003-2.8: what it names and took the place of, or hides in its narrower scope; or else its namesake.
                takes_the_place_of = believed
                    .filter(ends)
                    .filter(|named| {
                        let is_supposed =
                            said.scope.get("hypothetical").or(said.scope.get("draft")).is_some();
                        let outranks =
                            !is_supposed && self.known.get(*named).is_some_and(|old| rank_of(old) > rank);
                        scope_of(*named)
                            .is_some_and(|old| *old == said.scope || (*old == "global" && !outranks))
                    })
                    .or(own.map(|(id, _)| id).filter(ends));
            }
        }
        let layer = json!({ "fact": {
            "source": said.source,
            "at": said.at,
            "memory": said.memory,
            "scope": said.scope,
            "supersedes": takes_the_place_of,
            "time_sensitive": said.time_sensitive,
            "stands_for": [],
            "audience": said.audience,
        }});
        let item = json!({
            "id": id, "variant": said.kind, "key": key, "text": said.text, "layer": layer, "standing": standing,
        });
        self.told.events.push(json!({ "add_item": { "item": item, "deps": deps } }));
        Ok(())
    }

    /// Said again by somebody of its rank it loses the mark of review, and is as recent as that. By a higher rank, it counts
    /// as much. It may be restricted by that, but not opened to everybody, and may rest on more.
    fn affirm(&mut self, old: &Entry, said: &OracleFact, more: &[u64]) {
        let (mut item, mut deps) = (old.item.clone(), old.deps.clone());
        if said.source.rank >= rank_of(old) {
            if said.audience != "everybody" {
                item["layer"]["fact"]["audience"] = json!(said.audience);
            }
            deps.extend(more);
            deps.sort_unstable();
            deps.dedup();
            item["standing"] = json!("current");
            let at = item["layer"]["fact"]["at"].as_u64().unwrap_or_default();
            item["layer"]["fact"]["at"] = json!(at.max(said.at));
        }
        if said.source.rank > rank_of(old) {
            item["layer"]["fact"]["source"] = json!(said.source);
        }
        if item != old.item || deps != old.deps {
            self.told.events.push(json!({ "update_item": { "item": item, "deps": deps } }));
        }
    }

    /// The item of a key that no two share.
    fn holding(&self, key: &str) -> Option<u64> {
        self.known.entries().find(|(_, entry)| entry.key == key).map(|(id, _)| id)
    }

    /// What is named (decision 0019): of a key the valid fact of this scope, or of everywhere, or the latest valid one, or the
    /// latest; for signals, the signal.
    fn find(&self, named: &OracleReference, kind: &str, scope: &Value) -> Result<u64, InvalidWrite> {
        let found = match named {
            OracleReference::Id(id) => Some(*id),
            OracleReference::Key(key) => {
                let spelt = json!({ kind: key }).to_string();
                let preferred = |entry: &Entry| {
                    let theirs = &entry.item["layer"]["fact"]["scope"];
                    match is_valid(entry) {
                        true if theirs == scope => 3,
                        true if theirs == "global" => 2,
                        valid => u8::from(valid),
                    }
                };
                // Decision 0021: a summary of facts counts as a fact of each name that it stands for.
                let of_key = self.known.entries().filter(|(_, entry)| {
                    entry.key == spelt || kind == "fact" && entry.names().contains(key.as_str())
                });
                of_key.max_by_key(|(id, entry)| (preferred(entry), *id)).map(|(id, _)| id)
            }
        };
        found.and_then(|id| stands_for(self.known, id)).ok_or(InvalidWrite)
    }

    /// The fact that stands today where this leads, and the name by which it leads there: none, if a summary's id is given.
    fn named_fact(
        &self,
        named: &OracleReference,
        scope: &Value,
    ) -> Result<(u64, Option<String>), InvalidWrite> {
        let id = self.find(named, "fact", scope)?;
        let by = match named {
            OracleReference::Key(name) => Some(name.clone()),
            OracleReference::Id(id) => {
                self.known.get(*id).and_then(|old| Some(old.item["key"]["fact"].as_str()?.to_owned()))
            }
        };
        Some((id, by))
            .filter(|(id, _)| self.known.get(*id).is_some_and(|old| old.item["layer"].get("fact").is_some()))
            .ok_or(InvalidWrite)
    }

    fn signal(&self, named: &OracleReference) -> Result<u64, InvalidWrite> {
        let id = self.find(named, "environment", &Value::Null)?;
        Some(id)
            .filter(|id| self.known.get(*id).is_some_and(|old| old.item["layer"] == "environment"))
            .ok_or(InvalidWrite)
    }

    /// 003-2.11: what is rested on, as what stands there today; without repetition and in id order (000-2.6).
    fn bases(
        &self,
        rests_on: &[OracleReference],
        scope: &Value,
        replaced: &BTreeSet<u64>,
    ) -> Result<Vec<u64>, InvalidWrite> {
        let bases: BTreeSet<u64> =
            rests_on.iter().map(|named| self.find(named, "fact", scope)).collect::<Result<_, _>>()?;
        let round = resting_on(self.known, replaced);
        let bears = |base: &u64| {
            self.known.get(*base).is_some_and(|entry| {
                // 003-2.1: what outlives the session rests on what does.
                let stays = *scope == "session" || persists(entry);
                // 003-2.21: what counts elsewhere bears on nothing here.
                let theirs = &entry.item["layer"]["fact"]["scope"];
                let counts = theirs.is_null() || theirs == scope || theirs == "global" || theirs == "session";
                stays && counts && !replaced.contains(base) && !round.contains(base)
            })
        };
        if bases.iter().all(bears) { Ok(bases.into_iter().collect()) } else { Err(InvalidWrite) }
    }

    /// 003-2.20: what is derived from these is marked; facts only, and those that are believed. Whatever is believed rests
    /// on what took their place (DESIGN §2, dependency on a superseded fact). So is a summary that goes on standing for some
    /// names, and what is derived from it (decision 0021).
    fn review(
        &mut self,
        these: &BTreeSet<u64>,
        shaken: &BTreeMap<u64, BTreeSet<&str>>,
        instead: Option<u64>,
    ) {
        let mut unsound = these.clone();
        unsound.extend(shaken.keys());
        unsound.extend(resting_on(self.known, &unsound));
        for id in unsound.difference(these).copied() {
            let Some(old) = self.known.get(id).filter(|old| is_valid(old)) else { continue };
            let mut item = old.item.clone();
            if item["layer"].get("fact").is_some() {
                item["standing"] = json!("needs_review");
            }
            if let Some(names) = shaken.get(&id) {
                item["layer"]["fact"]["stands_for"] = json!(names);
            }
            let mut deps = old.deps.clone();
            if let Some(instead) = instead {
                deps.retain(|dep| !these.contains(dep));
                if deps.len() < old.deps.len() {
                    deps.push(instead);
                    deps.sort_unstable();
                    deps.dedup();
                }
            }
            if item != old.item || deps != old.deps {
                self.told.events.push(json!({ "update_item": { "item": item, "deps": deps } }));
            }
        }
    }

    fn supersede(&mut self, old: u64, by: u64, rule: &str) {
        self.stand(old, json!({ "superseded": { "by": by, "rule": rule } }));
    }

    /// The same item with another standing.
    fn stand(&mut self, id: u64, standing: Value) {
        let Some(old) = self.known.get(id) else { return };
        let mut item = old.item.clone();
        item["standing"] = standing;
        self.told.events.push(json!({ "update_item": { "item": item, "deps": old.deps } }));
    }

    /// 003-5.4: the key is added or overwritten. What rests on what says something else now is reviewed
    /// (decision 0019: it "counts as superseded by itself").
    fn overwrite(&mut self, key: Value, text: &str, layer: Value, deps: &[u64]) {
        let own = self.holding(&key.to_string());
        self.put("fact".into(), key, text, layer, deps);
        if let Some(id) = own.filter(|id| self.known.get(*id).is_some_and(|old| old.text != text)) {
            self.review(&BTreeSet::from([id]), &BTreeMap::new(), None);
        }
    }

    /// An item of a key that no two share, as it stands now; no event if nothing about it changed (0016).
    fn put(&mut self, variant: Value, key: Value, text: &str, layer: Value, deps: &[u64]) {
        let old = self.holding(&key.to_string());
        let id = old.unwrap_or(self.known.next_id());
        let item = json!({
            "id": id, "variant": variant, "key": key, "text": text, "layer": layer, "standing": "current",
        });
        let event = if old.is_some() { "update_item" } else { "add_item" };
        if self.known.get(id).is_none_or(|old| old.item != item || old.deps != deps) {
            self.told.events.push(json!({ event: { "item": item, "deps": deps } }));
        }
    }
}

/// Whether the new fact wins against an old one, and by which rule: authority, explicit, temporal, implicit
/// (DESIGN §2, precedence of rules).
fn meets(said: &OracleFact, old: &Entry, is_named: bool) -> (bool, String) {
    let theirs = &old.item["layer"]["fact"];
    let (mine, other) = (said.source.rank, rank_of(old));
    if mine != other {
        return (mine > other, "authority".to_owned());
    }
    let said_so = said.detected.as_deref().unwrap_or("explicit");
    if is_named && said_so != "temporal" && said_so != "implicit" {
        return (true, said_so.to_owned());
    }
    // Of two with the same time the later write counts.
    let at = theirs["at"].as_u64().unwrap_or_default();
    let timed = said.time_sensitive || theirs["time_sensitive"] == true;
    if timed || is_named && said_so == "temporal" {
        return (said.at >= at, "temporal".to_owned());
    }
    (true, "implicit".to_owned())
}

pub(super) fn rank_of(fact: &Entry) -> Rank {
    serde_json::from_value(fact.item["layer"]["fact"]["source"]["rank"].clone()).unwrap_or(Rank::Unverified)
}
