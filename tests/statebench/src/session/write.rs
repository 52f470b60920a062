//! Writes of a timeline as writes of the kernel.

use super::{Origin, Session, Superseded};
use crate::detect::Assertion;
use crate::diagnostic::WriteDiagnostic;
use crate::import::{self, Imported, import, import_on, is_time_sensitive};
use crate::order::in_order;
use crate::ranks;
use crate::stems::Stems;
use crate::timeline::{AnyText, At, Initial, Note, Turn, Write as Written, moment, written, written_like};
use orchestrion_kernel::item::{
    Audience, FactSource, Item, ItemKey, Layer, MemoryType, Rank, Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, ItemId, Text, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// How every key begins that is ours, and none of a timeline.
const OURS: &str = "\u{a0}";

/// What a signal is called that stands among the facts.
const SIGNAL: &str = "\u{a0}environment: ";

/// What something in hand is called that stands among the facts.
const NOTE: &str = "\u{a0}working set: ";

/// The signal that says what time it is.
const CLOCK: &str = "now";

impl Session<'_> {
    pub(super) fn write_initial(&mut self, initial: &Initial) {
        let who = &initial.identity_role;
        let name = Text::from(who.user_name.as_str());
        self.decide(
            "identity_role",
            &Write::Identity { name, identity: import::identity(who) },
            Origin::default(),
        );
        for layer in &initial.others {
            self.unfit.push(("initial_state".to_string(), WriteDiagnostic::UnknownLayer(layer.clone())));
        }
        for (key, AnyText(text)) in &initial.environment {
            self.signal(key, import(text), None);
        }
        for fact in in_order(&initial.persistent_facts) {
            self.write(fact, false);
        }
        self.end_superseded();
        self.derive();
        for (n, note) in initial.working_set.iter().enumerate() {
            let key = format!("{OURS}note {}", n + 1);
            if let Err(unfit) = self.first_note(&key, note) {
                self.unfit.push((key.trim().to_string(), unfit));
            }
        }
    }

    /// Writes what a timeline writes, into the layer that it names.
    pub(super) fn write(&mut self, write: &Written, is_of_session: bool) {
        let at = write.ts.map_or(self.at, |At(at)| at);
        if !self.knows_fields(&write.key, &write.others, &[]) {
            return;
        }
        let result = match write.layer.as_str() {
            "persistent_facts" => self.fact(write, at, is_of_session),
            "environment" => self.outside(write).and_then(|said| {
                self.refuse_expired(write.expires_at)?;
                self.signal(&write.key, said, write.expires_at);
                Ok(())
            }),
            "working_set" => {
                self.outside(write).and_then(|said| self.note(&write.key, said, at, write.expires_at))
            }
            "identity_role" => Err(WriteDiagnostic::ReadOnlyLayer),
            other => Err(WriteDiagnostic::UnknownLayer(other.to_string())),
        };
        if let Err(unfit) = result {
            self.unfit.push((write.key.clone(), unfit));
        }
    }

    /// Names the fields of something that nobody knows. One that may say for whom it is leaves it out.
    fn knows_fields(&mut self, key: &str, others: &BTreeMap<String, Value>, known: &[&str]) -> bool {
        let (unknown, unread) = import::unknown(others, known);
        let faults = match unread {
            Some(field) => vec![WriteDiagnostic::UnreadRestriction(field.to_string())],
            None => unknown.iter().map(|field| WriteDiagnostic::UnknownField((*field).to_string())).collect(),
        };
        self.unfit.extend(faults.into_iter().map(|unfit| (key.trim().to_string(), unfit)));
        unread.is_none()
    }

    /// What is written outside the facts; the fields that mean nothing there are named.
    fn outside(&mut self, write: &Written) -> Result<Imported, WriteDiagnostic> {
        let said = import_on(write.terms(), &write.key, &write.value.0)?;
        let of_facts = [
            ("supersedes", write.supersedes.is_some()),
            ("depends_on", !write.depends_on.is_empty()),
            ("derived_facts", !write.derived_facts.is_empty()),
            ("needs_review", write.needs_review),
            ("time_sensitive", write.time_sensitive.is_some()),
            ("is_constraint", write.is_constraint),
            ("memory_type", write.memory_type.is_some()),
        ];
        let told = of_facts.into_iter().filter(|(_, is_told)| *is_told);
        self.unfit.extend(told.map(|(field, _)| (write.key.clone(), WriteDiagnostic::OfFactsOnly(field))));
        Ok(said)
    }

    /// Something in hand at first.
    fn first_note(&mut self, key: &str, note: &Note) -> Result<(), WriteDiagnostic> {
        if !self.knows_fields(key, &note.others, &["item_type", "priority"]) {
            return Ok(());
        }
        let said = import_on(note.terms(), key, &note.content)?;
        self.note(key, said, note.ts.map_or(self.at, |At(at)| at), note.expires_at)
    }

    /// What the kernel does not let expire is refused if it has expired all the same.
    fn refuse_expired(&self, expires_at: Option<At>) -> Result<(), WriteDiagnostic> {
        let now = self.known.now();
        match expires_at {
            Some(At(at)) if at <= now => Err(WriteDiagnostic::Expired { at, now }),
            _ => Ok(()),
        }
    }

    /// Notes when an item is to end, or that it is not to.
    fn set_expiry(&mut self, id: ItemId, expires_at: Option<At>) {
        match expires_at {
            Some(At(at)) => self.ends.insert(id, at),
            None => self.ends.remove(&id),
        };
    }

    /// Ends what is to end by now.
    fn expire(&mut self) {
        let now = self.known.now();
        let over: Vec<ItemId> = self.ends.iter().filter(|(_, at)| **at <= now).map(|(id, _)| *id).collect();
        for id in over {
            self.ends.remove(&id);
            self.end(id, None);
        }
    }

    fn fact(&mut self, write: &Written, at: Timestamp, is_of_session: bool) -> Result<(), WriteDiagnostic> {
        self.refuse_expired(write.expires_at)?;
        let imported = import(&write.value.0);
        let scope = import::scope(&imported, write.terms(), &write.key)?;
        let is_withdrawn = write.terms().is_withdrawn();
        if is_withdrawn && write.supersedes.is_none() && self.has_other(&write.key, &imported.text, &scope) {
            return Err(WriteDiagnostic::Withdrawn);
        }
        let kind = import::kind(write).unwrap_or_else(|unfit| {
            self.unfit.push((write.key.clone(), unfit));
            FactKind::Constraint(None)
        });
        let memory = import::memory(write).unwrap_or_else(|unfit| {
            self.unfit.push((write.key.clone(), unfit));
            ranks::memory_of(&write.source.kind)
        });
        let source =
            import::determine_source(&imported, &write.source, self.known.session_principal(None).rank);
        let told_as_changing = is_time_sensitive(&write.key) || is_time_sensitive(&imported.text);
        let origin = Origin {
            name: write.id.clone(),
            speaker: imported.speaker.as_ref().map(|(name, _)| name.clone()),
            is_users: write.source.kind == "user",
            is_of_session,
            heard: self.conversation.turns().len(),
            is_verbatim: false,
            stems: Stems::of(&imported.text),
        };
        let named = self.follow(write);
        let found = if write.supersedes.is_some() || is_withdrawn {
            None
        } else {
            let claim = Assertion {
                key: &write.key,
                text: &imported.text,
                stems: &origin.stems,
                speaker: origin.speaker.as_deref(),
                rank: source.rank,
            };
            let mut valid = self.facts();
            valid.retain(|fact| fact.is_valid);
            self.detect.in_fact(&claim, &valid)
        };
        let new = NewFact {
            kind,
            key: Text::from(write.key.as_str()),
            text: Text::from(imported.text),
            source,
            established_at: at,
            memory,
            scope,
            audience: imported.audience,
            time_sensitive: write.time_sensitive.unwrap_or(told_as_changing),
            supersedes: named.or(found.map(|found| found.old)).map(Reference::Id),
            detected_rule: found.map(|found| found.rule),
            depends_on: self.rested_on(write),
        };
        let (rank, text, again) = (new.source.rank, new.text.clone(), new.scope.clone());
        let added = self.decide(&write.key, &Write::Fact(new), origin);
        self.name_denied(&write.key, added, rank);
        added.into_iter().for_each(|id| self.expect_derived(id, write));
        if write.needs_review {
            added.into_iter().for_each(|id| self.restand(id, Validity::NeedsReview));
        }
        // What says again what is known adds nothing, and may take it back.
        let Some(id) = added.or_else(|| self.saying(&write.key, &text, &again, rank)) else { return Ok(()) };
        self.set_expiry(id, write.expires_at);
        if let Some(by) = &write.superseded_by {
            let (key, by) = (write.key.clone(), by.clone());
            self.superseded.push(Superseded { id, key, by, is_valid: write.is_valid });
        } else if !write.is_valid {
            self.end(id, None);
        }
        if imported.retracted {
            self.end(id, None);
        }
        Ok(())
    }

    /// Whether a fact that holds says something else under this key, in this scope.
    fn has_other(&self, key: &str, text: &str, scope: &Scope) -> bool {
        let waits = |id: ItemId| self.superseded.iter().any(|superseded| superseded.id == id);
        self.known.by_key(&ItemKey::Fact(Text::from(key))).any(|Entry { item, .. }| {
            let is_there = item.fact().is_some_and(|fact| fact.scope == *scope);
            is_there && item.is_valid() && item.text.as_str() != text && !waits(item.id)
        })
    }

    /// The valid fact of this key and scope that says this, of no higher rank.
    fn saying(&self, key: &str, text: &Text, scope: &Scope, rank: Rank) -> Option<ItemId> {
        let mut all = self.known.by_key(&ItemKey::Fact(Text::from(key)));
        let is_its_own = |item: &Item| {
            item.fact().is_some_and(|fact| fact.scope == *scope && fact.source.rank <= rank)
                && item.text == *text
        };
        all.find(|entry| entry.item.is_valid() && is_its_own(&entry.item)).map(|entry| entry.item.id)
    }

    /// Ends what its own text, or its own record, says not to hold.
    pub(super) fn end(&mut self, id: ItemId, by: Option<ItemId>) {
        self.restand(id, Validity::Superseded { superseded_by: by, rule: SupersessionRule::Explicit });
    }

    /// Names a write that its source may not make.
    fn name_denied(&mut self, key: &str, added: Option<ItemId>, rank: Rank) {
        let entry = added.and_then(|id| self.known.get(id));
        if entry.is_some_and(|entry| entry.item.validity == Validity::Denied) {
            self.unfit.push((key.to_string(), WriteDiagnostic::Denied(rank)));
        }
    }

    /// Gives another standing to what is valid.
    fn restand(&mut self, id: ItemId, standing: Validity) {
        let Some(entry) = self.known.get(id).filter(|entry| entry.item.is_valid()) else { return };
        let event = Event::UpdateItem {
            item: Item { validity: standing, ..entry.item.clone() },
            deps: entry.deps.clone(),
        };
        self.apply(&event, &Origin::default());
    }

    /// What time it is, as it is said outside.
    fn set_clock(&mut self, text: &str) {
        let told = moment(text);
        if told.is_none() {
            self.unfit.push((CLOCK.to_string(), WriteDiagnostic::NoMoment(text.to_string())));
        }
        let now = told.unwrap_or_default().max(self.known.now());
        self.decide(CLOCK, &Write::Clock { now, text: Text::from(text) }, Origin::default());
        self.expire();
    }

    /// Lets the clock go on to the event in hand, said in the form of before. It never goes back.
    pub(super) fn advance_clock(&mut self) {
        if self.at > self.known.now() {
            let clock = self.known.latest_by_key(&ItemKey::Clock);
            let old = clock.map_or("", |entry| entry.item.text.as_str());
            let like = || written_like(old, self.at).unwrap_or_else(|| written(self.at));
            let text = Text::from(if old.is_empty() { String::new() } else { like() });
            self.decide(CLOCK, &Write::Clock { now: self.at, text }, Origin::default());
            self.expire();
        }
    }

    /// What comes from outside. One that is not for everybody, or counts only in a scope, is a fact of that audience and scope,
    /// because the kernel shows a signal to everybody; its rank is that of the rules, for no talk changes what is the case outside.
    fn signal(&mut self, key: &str, imported: Imported, expires_at: Option<At>) {
        if key == CLOCK && imported.is_for_all() {
            return self.set_clock(&imported.text);
        }
        let stems = Stems::of(&imported.text);
        let kept_apart = ItemKey::Fact(Text::from(format!("{SIGNAL}{key}")));
        let own = ItemKey::Environment(Text::from(key));
        let found = self.same_matter(key, &imported.text, &stems);
        let older = [self.valid(&own), self.valid(&kept_apart), found];
        let origin = Origin { is_verbatim: true, stems, ..Origin::default() };
        let is_signal =
            |id: &ItemId| self.known.get(*id).is_some_and(|entry| entry.item.layer == Layer::Environment);
        let (says_it, write) = if imported.is_for_all() {
            let supersedes = found.filter(is_signal).map(Reference::Id);
            let text = Text::from(imported.text.as_str());
            (own, Write::Environment { key: Text::from(key), text, supersedes })
        } else {
            let ItemKey::Fact(name) = &kept_apart else { return };
            let source = FactSource { name: Text::from("environment"), rank: Rank::Policy };
            let fact = self.unlinked(name.clone(), &imported, source, MemoryType::Organizational, self.at);
            (kept_apart, Write::Fact(fact))
        };
        self.decide(key, &write, origin);
        self.lasts_as(&says_it, expires_at);
        self.end_older(&older, &says_it, imported.retracted);
    }

    /// Notes when the valid item of a key is to end.
    fn lasts_as(&mut self, key: &ItemKey, expires_at: Option<At>) {
        self.valid(key).into_iter().for_each(|id| self.set_expiry(id, expires_at));
    }

    /// Ends what stood where something new stands now, among the facts or not; and the new too, if it was taken back.
    fn end_older(&mut self, older: &[Option<ItemId>], says_it: &ItemKey, is_retracted: bool) {
        let Some(by) = self.valid(says_it) else { return };
        for id in older.iter().flatten().filter(|id| **id != by) {
            self.end(*id, Some(by));
        }
        if is_retracted {
            self.end(by, None);
        }
    }

    /// The valid item of a key.
    fn valid(&self, key: &ItemKey) -> Option<ItemId> {
        self.known.by_key(key).find(|entry| entry.item.is_valid()).map(|entry| entry.item.id)
    }

    /// The current signal on the matter of a new one.
    fn same_matter(&self, key: &str, text: &str, stems: &Stems) -> Option<ItemId> {
        let claim = |key, text, stems| Assertion { key, text, stems, speaker: None, rank: Rank::Unverified };
        let signals = self.known.entries().filter(|entry| entry.item.is_valid()).filter_map(|entry| {
            let key = match &entry.item.key {
                ItemKey::Environment(key) => key.as_str(),
                ItemKey::Fact(key) => key.as_str().strip_prefix(SIGNAL)?,
                _ => return None,
            };
            let stems = &self.origins.get(&entry.item.id)?.stems;
            Some((entry.item.id, claim(key, entry.item.text.as_str(), stems)))
        });
        let found = self.detect.in_signal(&claim(key, text, stems), &signals.collect::<Vec<_>>());
        found.map(|found| found.old)
    }

    /// A fact that names no other.
    fn unlinked(
        &self,
        key: Text,
        imported: &Imported,
        source: FactSource,
        memory: MemoryType,
        at: Timestamp,
    ) -> NewFact {
        NewFact {
            kind: FactKind::Fact,
            key,
            text: Text::from(imported.text.as_str()),
            source,
            established_at: at,
            memory,
            scope: imported.scope.clone().unwrap_or_default(),
            audience: imported.audience.clone(),
            time_sensitive: false,
            supersedes: None,
            detected_rule: None,
            depends_on: Vec::new(),
        }
    }

    /// What the user says, as it is.
    fn users(&self, key: Text, imported: &Imported, rank: Rank, at: Timestamp) -> Write {
        let source = FactSource { name: Text::from("user"), rank };
        Write::Fact(self.unlinked(key, imported, source, MemoryType::User, at))
    }

    /// Something in hand. What is not for everybody, or counts only in a scope, is a fact of that audience and scope.
    fn note(
        &mut self,
        key: &str,
        imported: Imported,
        at: Timestamp,
        expires_at: Option<At>,
    ) -> Result<(), WriteDiagnostic> {
        let is_verbatim = !imported.is_for_all();
        let origin = Origin { stems: Stems::of(&imported.text), is_verbatim, ..Origin::default() };
        let (own, apart) = (Text::from(key), Text::from(format!("{NOTE}{key}")));
        let (in_hand, kept_apart) = (ItemKey::Working(own.clone()), ItemKey::Fact(apart.clone()));
        let older = [self.valid(&in_hand), self.valid(&kept_apart)];
        let (says_it, write) = if imported.is_for_all() {
            let (text, expires_at) = (Text::from(imported.text.as_str()), expires_at.map(|At(at)| at));
            (in_hand, Write::Working { key: own, text, expires_at, rests_on: Vec::new() })
        } else {
            self.refuse_expired(expires_at)?;
            (kept_apart, self.users(apart, &imported, self.known.session_principal(None).rank, at))
        };
        self.decide(key, &write, origin);
        if matches!(says_it, ItemKey::Fact(_)) {
            self.lasts_as(&says_it, expires_at);
        }
        self.end_older(&older, &says_it, imported.retracted);
        Ok(())
    }

    /// Hears a turn, and keeps what it states in the working set; what is not for everybody as a fact for its audience.
    pub(super) fn hear(&mut self, turn: &Turn) {
        let n = self.conversation.turns().len() + 1;
        if !self.knows_fields(&format!("turn {n}"), &turn.others, &["type", "implicit_supersession"]) {
            return;
        }
        let mut conversation = std::mem::take(&mut self.conversation);
        let said = match conversation.add_turn(turn) {
            Ok(said) => said,
            Err(unfit) => {
                self.conversation = conversation;
                self.unfit.push((format!("turn {n}"), unfit));
                return;
            }
        };
        let (at, rank, audience) = (said.at, self.rank_of(said), said.audience.clone());
        for (i, statement) in said.statements.iter_mut().enumerate() {
            let name = format!("{OURS}turn {n}, statement {}", i + 1);
            let key = Text::from(name.as_str());
            let origin = Origin { is_users: true, is_verbatim: true, ..Origin::default() };
            let write = if audience == Audience::Everybody {
                let text = Text::from(statement.text.as_str());
                Write::Working { key, text, expires_at: None, rests_on: Vec::new() }
            } else {
                let imported = Imported { audience: audience.clone(), ..import(&statement.text) };
                self.users(key, &imported, rank, at)
            };
            statement.item = self.decide(&name, &write, origin);
        }
        self.conversation = conversation;
    }
}
