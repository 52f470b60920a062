//! The context of a question: Identity, Environment, Facts, Working Set, joined by blank lines (003, design §2).
//!
//! What may stand there is the kernel's to say (`Semantic::selectable`); which of it does, and in which words, is decided here.
//! Deliberately absent: the answers, and whatever names the timeline.

use super::conversation::TurnRecord;
use super::present::{Presentation, RenderedFact};
use super::relevance::{Candidate, is_relevant, relevance, take_what_fits};
use super::session::Session;
use super::stems::{Stems, is_number};
use orchestrion_kernel::item::{Item, ItemKey, Layer};
use std::collections::BTreeSet;

/// How contexts are built.
#[derive(Clone, Copy, Debug)]
pub struct Contexts {
    /// How many characters facts and working set have together; identity and environment are pinned.
    pub chars_max: usize,
    /// How items are told.
    pub presentation: Presentation,
}

impl Default for Contexts {
    fn default() -> Self {
        Self { chars_max: 500, presentation: Presentation::default() }
    }
}

/// An item, and its stems.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) item: &'a Item,
    pub(super) stems: &'a Stems,
}

/// What is known, parted for one reader: what may be shown, and what may not. What was said in turns is in neither; it is held
/// against both.
pub(super) struct VisibleItems<'a> {
    pub(super) shown: Vec<Known<'a>>,
    pub(super) hidden: Vec<Known<'a>>,
}

impl<'a> VisibleItems<'a> {
    fn of(session: &'a Session<'_>) -> Self {
        let reader = session.known().session_principal(None);
        let selectable: BTreeSet<_> =
            session.known().selectable(&reader).map(|entry| entry.item.id).collect();
        let (mut shown, mut hidden) = (Vec::new(), Vec::new());
        for entry in session.known().entries() {
            let item = &entry.item;
            let counts = matches!(item.layer, Layer::Fact(_) | Layer::Environment) || session.is_note(item);
            let Some(origin) = session.origin(item.id).filter(|_| counts) else { continue };
            let known = Known { item, stems: &origin.stems };
            if selectable.contains(&item.id) { shown.push(known) } else { hidden.push(known) }
        }
        let before = session.overwritten().iter();
        hidden.extend(before.map(|old| Known { item: &old.item, stems: &old.stems }));
        Self { shown, hidden }
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &Known<'a>> {
        self.shown.iter().filter(|known| known.item.fact().is_some())
    }
}

impl Contexts {
    /// Builds the context of a question from what is known when it is asked.
    #[must_use]
    pub fn build(&self, session: &Session<'_>, question: &str) -> String {
        let question = Stems::of(question);
        let parted = VisibleItems::of(session);
        let mut chars_left = self.chars_max;
        let facts = self.facts(session, &parted, &question);
        let facts = take_what_fits(facts, &mut chars_left);
        let working = self.notes(&parted, &question).chain(statements(session, &parted, &question));
        let working = take_what_fits(working.collect(), &mut chars_left);
        let sections = [identity(session), environment(session, &parted), lines(&facts), lines(&working)];
        let sections: Vec<_> = sections.into_iter().filter(|section| !section.is_empty()).collect();
        sections.join("\n\n")
    }

    /// The facts, each line once: one turn may take the place of several.
    fn facts(&self, session: &Session<'_>, parted: &VisibleItems<'_>, question: &Stems) -> Vec<Candidate> {
        let told: Vec<RenderedFact<'_>> = parted
            .facts()
            .enumerate()
            .map(|(place, known)| self.presentation.tell(session, parted, place, *known, question))
            .collect();
        let kept = told.iter().filter(|fact| !self.presentation.leaves_out(session, parted, &told, fact));
        let mut lines = BTreeSet::new();
        kept.map(RenderedFact::candidate).filter(|candidate| lines.insert(candidate.line.clone())).collect()
    }

    /// Relevant notes of the working set.
    fn notes(&self, parted: &VisibleItems<'_>, question: &Stems) -> impl Iterator<Item = Candidate> {
        let notes = parted.shown.iter().filter(|known| matches!(known.item.layer, Layer::Working { .. }));
        let relevant = notes.filter(|known| is_relevant(question, known.stems));
        relevant.map(|known| Candidate {
            place: 0,
            relevance: relevance(question, known.stems),
            line: known.item.text.to_string(),
        })
    }
}

/// Who asks. The authority is applied, not told.
fn identity(session: &Session<'_>) -> String {
    let entry = session.known().latest_by_key(&ItemKey::Identity);
    let Some(Item { text, layer: Layer::Identity(identity), .. }) = entry.map(|entry| &entry.item) else {
        return String::new();
    };
    let told = [text, &identity.department, &identity.organization].map(|text| text.as_str());
    told.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn environment(session: &Session<'_>, parted: &VisibleItems<'_>) -> String {
    let clock = session.known().latest_by_key(&ItemKey::Clock).map(|entry| entry.item.text.as_str());
    let now = clock.filter(|text| !text.is_empty()).map(|text| format!("now: {text}"));
    let signals = parted.shown.iter().filter(|known| known.item.layer == Layer::Environment);
    now.into_iter().chain(signals.map(|known| known.item.text.to_string())).collect::<Vec<_>>().join("\n")
}

fn lines(candidates: &[Candidate]) -> String {
    candidates.iter().map(|candidate| candidate.line.as_str()).collect::<Vec<_>>().join("\n")
}

/// The statements of the conversation that nothing in the state stands for: of the task that the question is about, in relevant
/// turns, not said by a fact, and not saying again what may not be shown.
fn statements(session: &Session<'_>, parted: &VisibleItems<'_>, question: &Stems) -> Vec<Candidate> {
    let (conversation, reader) = (session.conversation(), session.known().session_principal(None));
    let task = conversation.task_of(question);
    let resumed = task == 0 && conversation.was_interrupted();
    let current: Stems =
        parted.shown.iter().flat_map(|known| known.stems.iter().map(str::to_string)).collect();
    let is_recorded = |turn: &TurnRecord| parted.facts().any(|fact| fact.stems.said_in(&turn.stems));
    let is_echo = |said: &Stems| {
        parted.shown.iter().any(|known| said.covered(known.stems, 60) || known.stems.covered(said, 60))
    };
    let is_stale = |said: &Stems| parted.hidden.iter().any(|known| says_hidden(said, known.stems, &current));
    let relevant = |turn: &TurnRecord| resumed || is_relevant(question, &turn.stems);
    let mut candidates = Vec::new();
    for (n, turn) in conversation.turns().iter().enumerate().filter(|(_, turn)| turn.task == task) {
        if turn.statements.is_empty() || !relevant(turn) || is_recorded(turn) {
            continue;
        }
        for statement in &turn.statements {
            let entry = statement.item.and_then(|id| session.known().get(id));
            let may_read = entry.is_some_and(|entry| reader.can_read(&entry.item));
            if may_read && !is_echo(&statement.stems) && !is_stale(&statement.stems) {
                let relevance = relevance(question, &turn.stems);
                candidates.push(Candidate { place: n + 1, relevance, line: statement.text.clone() });
            }
        }
    }
    candidates
}

/// Whether a statement says what may not be shown: a number that only that has, half of itself, or half of what only that says.
fn says_hidden(said: &Stems, hidden: &Stems, current: &Stems) -> bool {
    let own = hidden.without(current);
    own.shared(said).any(is_number) || said.covered(hidden, 50) || own.covered(said, 50)
}
