//! Writes of a timeline as writes of the kernel.

use super::{Origin, Session};
use crate::statebench::detect::Claim;
use crate::statebench::fault::Unfit;
use crate::statebench::import::{self, import};
use crate::statebench::ranks;
use crate::statebench::timeline::{AnyText, At, Initial, Note, Turn, Write as Written, moment};
use crate::statebench::words::Stems;
use orchestrion_kernel::item::{Audience, Item, Key, MemoryType, Rank, Source, Standing, SupersessionRule};
use orchestrion_kernel::knowledge::{FactKind, Misuse, NewFact, Reference, Write};
use orchestrion_kernel::{Event, ItemId, Text, Time};

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
        for layer in initial.others.keys() {
            self.unfit.push(("initial_state".to_string(), Unfit::UnknownLayer(layer.clone())));
        }
        for (key, AnyText(text)) in &initial.environment {
            self.signal(key, text);
        }
        let facts: Vec<_> =
            initial.persistent_facts.iter().map(|fact| (self.write(fact, false), fact)).collect();
        self.end_superseded(&facts);
        for (n, note) in initial.working_set.iter().enumerate() {
            self.note(&format!("note {}", n + 1), note);
        }
    }

    /// Writes what a timeline writes, into the layer that it names. Gives the id of a fact that was added.
    pub(super) fn write(&mut self, write: &Written, is_of_session: bool) -> Option<ItemId> {
        let at = write.ts.map_or(self.at, |At(at)| at);
        let result = match write.layer.as_str() {
            "persistent_facts" => self.fact(write, at, is_of_session),
            "environment" => self.refuse_expired(write).map(|()| {
                self.signal(&write.key, &write.value.0);
                None
            }),
            "working_set" => {
                let (content, expires_at) = (write.value.0.clone(), write.expires_at);
                self.note(&write.key, &Note { content, ts: write.ts, expires_at });
                Ok(None)
            }
            "identity_role" => Err(Unfit::ReadOnlyLayer),
            other => Err(Unfit::UnknownLayer(other.to_string())),
        };
        result.unwrap_or_else(|unfit| {
            self.unfit.push((write.key.clone(), unfit));
            None
        })
    }

    /// What does not expire is refused if it has expired all the same, and kept otherwise.
    fn refuse_expired(&mut self, write: &Written) -> Result<(), Unfit> {
        let now = self.known.now();
        match write.expires_at {
            Some(At(at)) if at <= now => Err(Unfit::Misuse(Misuse::Expired { at, now })),
            Some(_) => {
                self.unfit.push((write.key.clone(), Unfit::DoesNotExpire));
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn fact(&mut self, write: &Written, at: Time, is_of_session: bool) -> Result<Option<ItemId>, Unfit> {
        self.refuse_expired(write)?;
        let imported = import(&write.value.0);
        let scope = import::scope(&imported, write)?;
        let kind = import::kind(write).unwrap_or_else(|unfit| {
            self.unfit.push((write.key.clone(), unfit));
            FactKind::Constraint(None)
        });
        let source = import::determine_source(&imported, &write.source);
        let origin = Origin {
            name: write.id.clone(),
            speaker: imported.speaker.as_ref().map(|(name, _)| name.clone()),
            is_users: write.source.kind == "user",
            is_of_session,
            is_verbatim: false,
            stems: Stems::of(&imported.text),
        };
        let named = self.follow(write);
        let found = if write.supersedes.is_some() {
            None
        } else {
            let claim = Claim {
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
            at,
            memory: ranks::memory_of(&write.source.kind),
            scope,
            audience: imported.audience,
            time_sensitive: false,
            supersedes: named.or(found.map(|found| found.old)).map(Reference::Id),
            detected: found.map(|found| found.rule),
            rests_on: self.rested_on(write),
        };
        let added = self.decide(&write.key, &Write::Fact(new), origin);
        let ended_later = write.superseded_by.is_some();
        if imported.retracted || !(write.is_valid || ended_later) {
            added.into_iter().for_each(|id| self.end(id, None));
        }
        Ok(added)
    }

    /// Ends what its own text, or its own record, says not to hold.
    pub(super) fn end(&mut self, id: ItemId, by: Option<ItemId>) {
        let Some(entry) = self.known.get(id).filter(|entry| entry.item.is_valid()) else { return };
        let standing = Standing::Superseded { by, rule: SupersessionRule::Explicit };
        let event =
            Event::UpdateItem { item: Item { standing, ..entry.item.clone() }, deps: entry.deps.clone() };
        self.apply(&event, &Origin::default());
    }

    /// What time it is, as it is said outside.
    fn set_clock(&mut self, text: &str) {
        let told = moment(text);
        if told.is_none() {
            self.unfit.push((CLOCK.to_string(), Unfit::NoMoment(text.to_string())));
        }
        let now = told.unwrap_or_default().max(self.known.now());
        self.decide(CLOCK, &Write::Clock { now, text: Text::from(text) }, Origin::default());
    }

    /// Lets the clock go on to the event in hand, said as before. It never goes back.
    pub(super) fn tick(&mut self) {
        if self.at > self.known.now() {
            let clock = self.known.find(&Key::Clock);
            let text = clock.map_or_else(|| Text::from(""), |entry| entry.item.text.clone());
            self.decide(CLOCK, &Write::Clock { now: self.at, text }, Origin::default());
        }
    }

    fn signal(&mut self, key: &str, text: &str) {
        if key == CLOCK {
            return self.set_clock(text);
        }
        let stems = Stems::of(text);
        let claim = |key, text, stems| Claim { key, text, stems, speaker: None, rank: Rank::Unverified };
        let current = self.known.entries().filter_map(|entry| match &entry.item.key {
            Key::Environment(key) if entry.item.is_valid() => {
                let stems = &self.origins.get(&entry.item.id)?.stems;
                Some((entry.item.id, claim(key.as_str(), entry.item.text.as_str(), stems)))
            }
            _ => None,
        });
        let found = self.detect.in_signal(&claim(key, text, &stems), &current.collect::<Vec<_>>());
        let write = Write::Environment {
            key: Text::from(key),
            text: Text::from(text),
            supersedes: found.map(|found| Reference::Id(found.old)),
        };
        self.decide(key, &write, Origin { stems, ..Origin::default() });
    }

    /// Something in hand; in a scope of its own it is a fact of that scope, which nobody outside reads.
    fn note(&mut self, key: &str, note: &Note) {
        let imported = import(&note.content);
        let origin = Origin { stems: Stems::of(&imported.text), ..Origin::default() };
        let (key, text) = (Text::from(key), Text::from(imported.text.as_str()));
        let name = key.to_string();
        let everybodys = imported.audience == Audience::Everybody;
        let write = match imported.scope {
            None if everybodys => {
                let expires_at = note.expires_at.map(|At(at)| at);
                Write::Working { key, text, expires_at, rests_on: Vec::new() }
            }
            scope => Write::Fact(NewFact {
                kind: FactKind::Fact,
                key,
                text,
                source: Source { name: Text::from("user"), rank: Rank::Employee },
                at: note.ts.map_or(self.at, |At(at)| at),
                memory: MemoryType::User,
                scope: scope.unwrap_or_default(),
                audience: imported.audience,
                time_sensitive: false,
                supersedes: None,
                detected: None,
                rests_on: Vec::new(),
            }),
        };
        self.decide(&name, &write, origin);
    }

    /// Hears a turn, and keeps what it states in the working set.
    pub(super) fn hear(&mut self, turn: &Turn) {
        let n = self.conversation.turns().len() + 1;
        let mut said = std::mem::take(&mut self.conversation);
        for (i, statement) in said.hear(turn).statements.iter_mut().enumerate() {
            let key = format!("turn {n}, statement {}", i + 1);
            let write = Write::Working {
                key: Text::from(key.as_str()),
                text: Text::from(statement.text.as_str()),
                expires_at: None,
                rests_on: Vec::new(),
            };
            let origin = Origin { is_users: true, is_verbatim: true, ..Origin::default() };
            statement.item = self.decide(&key, &write, origin);
        }
        self.conversation = said;
    }
}
