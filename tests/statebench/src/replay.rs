//! The replay of a timeline: each record becomes a typed input of a session.

use crate::diagnostic::WriteDiagnostic;
use crate::fields;
use crate::order::in_order;
use crate::time;
use crate::timeline::{AnyText, Event, InitialState, NoteRecord, Time, TurnRecord, WriteRecord};
use orchestrion_ingest::identity::identity_from_title;
use orchestrion_ingest::{
    FactInput, IngestDiagnostic, NoteInput, RESERVED_PREFIX, Session, SignalInput, SupersessionDetector,
    TaggedText, TurnInput,
};
use orchestrion_kernel::knowledge::FactKind;
use orchestrion_kernel::{Policy, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// The signal with the current time.
const CLOCK: &str = "now";

/// A session with the events so far.
pub struct Replay<'a> {
    session: Session<'a>,
    /// The time of the current event. It may precede the clock, because times may decrease.
    at: Timestamp,
    diagnostics: Vec<(String, WriteDiagnostic)>,
}

impl<'a> Replay<'a> {
    /// Starts a session with an initial state.
    #[must_use]
    pub fn new(initial: &InitialState, detector: &'a dyn SupersessionDetector) -> Self {
        let session = Session::new(Policy::hardened(), detector).with_declared_speakers();
        let mut replay = Self { session, at: Timestamp::default(), diagnostics: Vec::new() };
        let user = &initial.identity_role;
        let (department, organization) = (&user.department, &user.organization);
        let (name, permissions) = (&user.user_name, &user.permissions);
        let identity = identity_from_title(name, &user.authority, department, organization, permissions);
        replay.session.set_identity(&identity);
        for layer in &initial.unknown_layers {
            replay.report("initial_state", WriteDiagnostic::UnknownLayer(layer.clone()));
        }
        for (key, AnyText(text)) in &initial.environment {
            replay.write_signal(key, TaggedText::parse(text), None);
        }
        for fact in in_order(&initial.persistent_facts) {
            replay.write(fact, false);
        }
        replay.session.resolve_references();
        replay.collect_diagnostics();
        for (i, note) in initial.working_set.iter().enumerate() {
            replay.write_initial_note(&format!("{RESERVED_PREFIX}note {}", i + 1), note);
        }
        replay
    }

    /// Applies an event. A query only advances the clock and applies detected supersessions.
    pub fn apply(&mut self, event: &Event) {
        self.at = event.at();
        self.advance_clock();
        match event {
            Event::Turn(turn) => self.add_turn(turn),
            Event::Writes { writes, .. } => {
                writes.iter().for_each(|write| self.write(write, true));
                self.session.resolve_references();
            }
            Event::Query { .. } => self.session.apply_detected(),
        }
        self.collect_diagnostics();
    }

    /// Reports the references that no event resolved.
    pub fn finish(&mut self) {
        self.session.report_unresolved();
        self.collect_diagnostics();
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &Session<'a> {
        &self.session
    }

    /// The problems of writes, each with the key.
    #[must_use]
    pub fn diagnostics(&self) -> &[(String, WriteDiagnostic)] {
        &self.diagnostics
    }

    fn report(&mut self, key: &str, problem: WriteDiagnostic) {
        self.diagnostics.push((key.trim().to_string(), problem));
    }

    fn collect_diagnostics(&mut self) {
        let ingest = self.session.take_diagnostics();
        self.diagnostics.extend(ingest.into_iter().map(|(key, problem)| (key, problem.into())));
    }

    fn write(&mut self, record: &WriteRecord, is_from_session: bool) {
        if !self.check_fields(&record.key, &record.others, &[]) {
            return;
        }
        let result = match record.layer.as_str() {
            "persistent_facts" => self.write_fact(record, is_from_session),
            "environment" => self.tagged_text(record).map(|text| {
                self.write_signal(&record.key, text, record.expires_at);
            }),
            "working_set" => self.tagged_text(record).map(|text| {
                self.write_note(&record.key, text, record.ts, record.expires_at);
            }),
            "identity_role" => Err(WriteDiagnostic::ReadOnlyLayer),
            other => Err(WriteDiagnostic::UnknownLayer(other.to_string())),
        };
        if let Err(problem) = result {
            self.report(&record.key, problem);
        }
        self.collect_diagnostics();
    }

    fn write_fact(&mut self, record: &WriteRecord, is_from_session: bool) -> Result<(), WriteDiagnostic> {
        let text = TaggedText::parse(&record.value.0);
        let scope = fields::scope(&text, record.validity_fields(), &record.key)?;
        let kind = fields::fact_kind(record).unwrap_or_else(|problem| {
            self.report(&record.key, problem);
            FactKind::Constraint(None)
        });
        let memory = fields::memory_type(record).unwrap_or_else(|problem| {
            self.report(&record.key, problem);
            None
        });
        self.session.write_fact(&FactInput {
            id: record.id.clone(),
            key: record.key.clone(),
            text,
            kind,
            source: record.source.clone(),
            memory,
            scope,
            established_at: self.time(record.ts),
            expires_at: record.expires_at.map(|Time(at)| at),
            time_sensitive: record.time_sensitive,
            supersedes: record.supersedes.clone(),
            superseded_by: record.superseded_by.clone(),
            depends_on: record.depends_on.clone(),
            derived_facts: record.derived_facts.clone(),
            is_valid: record.is_valid,
            needs_review: record.needs_review,
            is_from_session,
        });
        Ok(())
    }

    /// Parses the text of a signal or a note, and reports the fields that only facts have.
    fn tagged_text(&mut self, record: &WriteRecord) -> Result<TaggedText, WriteDiagnostic> {
        let text = fields::tagged_text(&record.value.0, record.validity_fields(), &record.key)?;
        fields::fact_fields(record)
            .for_each(|field| self.report(&record.key, WriteDiagnostic::FactField(field)));
        Ok(text)
    }

    fn write_signal(&mut self, key: &str, text: TaggedText, expires_at: Option<Time>) {
        let expires_at = expires_at.map(|Time(at)| at);
        let now = self.session.now();
        match expires_at.filter(|at| *at <= now) {
            Some(at) => self.report(key, IngestDiagnostic::Expired { at, now }.into()),
            None if key == CLOCK && text.is_public() => self.set_clock(&text.text),
            None => {
                let at = self.at;
                self.session.write_signal(&SignalInput { key: key.to_string(), text, at, expires_at });
            }
        }
    }

    fn write_note(&mut self, key: &str, text: TaggedText, ts: Option<Time>, expires_at: Option<Time>) {
        let (at, expires_at) = (self.time(ts), expires_at.map(|Time(at)| at));
        self.session.write_note(&NoteInput { key: key.to_string(), text, at, expires_at });
    }

    fn write_initial_note(&mut self, key: &str, note: &NoteRecord) {
        if !self.check_fields(key, &note.others, &["item_type", "priority"]) {
            return;
        }
        match fields::tagged_text(&note.content, note.validity_fields(), key) {
            Ok(text) => self.write_note(key, text, note.ts, note.expires_at),
            Err(problem) => self.report(key, problem),
        }
        self.collect_diagnostics();
    }

    fn add_turn(&mut self, turn: &TurnRecord) {
        let key = format!("turn {}", self.session.conversation().turns().len() + 1);
        if !self.check_fields(&key, &turn.others, &["type", "implicit_supersession"]) {
            return;
        }
        match fields::tagged_text(&turn.text, turn.validity_fields(), "turn") {
            Ok(text) => self.session.add_turn(TurnInput { speaker: turn.speaker, text, at: turn.at.0 }),
            Err(problem) => self.report(&key, problem),
        }
    }

    /// Reports unknown fields. Returns whether the record may be written.
    fn check_fields(&mut self, key: &str, others: &BTreeMap<String, Value>, known: &[&str]) -> bool {
        match fields::unknown_fields(others, known) {
            Ok(unknown) => {
                unknown
                    .into_iter()
                    .for_each(|field| self.report(key, WriteDiagnostic::UnknownField(field.to_string())));
                true
            }
            Err(problem) => {
                self.report(key, problem);
                false
            }
        }
    }

    fn time(&self, ts: Option<Time>) -> Timestamp {
        ts.map_or(self.at, |Time(at)| at)
    }

    /// Sets the clock to the time of a text; the clock does not move back.
    fn set_clock(&mut self, text: &str) {
        let time = time::parse(text);
        if time.is_none() {
            self.report(CLOCK, WriteDiagnostic::InvalidTime(text.to_string()));
        }
        let now = time.unwrap_or_default().max(self.session.now());
        self.session.set_time(now, text);
    }

    /// Advances the clock to the current event, in the form of its text.
    fn advance_clock(&mut self) {
        if self.at > self.session.now() {
            let form = self.session.time_text();
            let text = if form.is_empty() { String::new() } else { time::format_like(form, self.at) };
            self.session.set_time(self.at, &text);
        }
    }
}
