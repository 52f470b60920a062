//! The context of a query: Identity, Environment, Facts and Working Set, separated by blank lines (003, design §2).
//!
//! The kernel determines the readable items (`SemanticState::selectable`). This file selects among them, and
//! [`Presentation`] renders them. Deliberately absent: the ground truth, and the name of the timeline.

use crate::presentation::{Presentation, RenderedFact};
use crate::relevance::{Candidate, is_relevant, relevance, select_within_budget};
use crate::statements;
use crate::visible_items::VisibleItems;
use orchestrion_ingest::Session;
use orchestrion_ingest::stems::Stems;
use orchestrion_kernel::item::{Item, ItemKey, Layer};
use std::collections::BTreeSet;

/// Builds contexts.
#[derive(Clone, Copy, Debug)]
pub struct ContextBuilder {
    /// The budget of facts and working set together, in characters. Identity and environment are pinned.
    pub chars_max: usize,
    /// The rendering of facts.
    pub presentation: Presentation,
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self { chars_max: 500, presentation: Presentation::default() }
    }
}

impl ContextBuilder {
    /// Builds the context of a query from the current state of a session.
    #[must_use]
    pub fn build(&self, session: &Session<'_>, query: &str) -> String {
        let query = Stems::from_text(query);
        let items = VisibleItems::new(session);
        let mut chars_left = self.chars_max;
        let facts = select_within_budget(self.facts(session, &items, &query), &mut chars_left);
        let mut working_set = notes(&items, &query);
        working_set.extend(statements::candidates(session, &items, &query));
        let working_set = select_within_budget(working_set, &mut chars_left);
        let sections = [identity(session), environment(session, &items), lines(&facts), lines(&working_set)];
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the facts, each line once: one turn may supersede several facts.
    fn facts(&self, session: &Session<'_>, items: &VisibleItems<'_>, query: &Stems) -> Vec<Candidate> {
        let facts = items.facts().enumerate();
        let rendered: Vec<RenderedFact<'_>> = facts
            .map(|(position, fact)| self.presentation.render(session, items, position, *fact, query))
            .collect();
        let is_kept =
            |fact: &&RenderedFact<'_>| !self.presentation.omits_fact(session, items, &rendered, fact);
        let mut lines = BTreeSet::new();
        let candidates = rendered.iter().filter(is_kept).map(RenderedFact::candidate);
        candidates.filter(|candidate| lines.insert(candidate.line.clone())).collect()
    }
}

/// Returns the relevant notes.
fn notes(items: &VisibleItems<'_>, query: &Stems) -> Vec<Candidate> {
    let notes = items.visible.iter().filter(|known| matches!(known.item.layer, Layer::Working { .. }));
    let relevant = notes.filter(|known| is_relevant(query, known.stems));
    let candidate = |stems: &Stems, item: &Item| Candidate {
        position: 0,
        relevance: relevance(query, stems),
        line: item.text.to_string(),
    };
    relevant.map(|known| candidate(known.stems, known.item)).collect()
}

/// Returns name, department and organization of the session user. The authority is applied rather than rendered.
fn identity(session: &Session<'_>) -> String {
    let entry = session.state().latest_by_key(&ItemKey::Identity);
    let Some(Item { text, layer: Layer::Identity(identity), .. }) = entry.map(|entry| &entry.item) else {
        return String::new();
    };
    let parts = [text, &identity.department, &identity.organization].map(|text| text.as_str());
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Returns the time and the signals.
fn environment(session: &Session<'_>, items: &VisibleItems<'_>) -> String {
    let now = Some(session.time_text()).filter(|text| !text.is_empty()).map(|text| format!("now: {text}"));
    let signals = items.visible.iter().filter(|known| known.item.layer == Layer::Environment);
    now.into_iter().chain(signals.map(|known| known.item.text.to_string())).collect::<Vec<_>>().join("\n")
}

fn lines(candidates: &[Candidate]) -> String {
    candidates.iter().map(|candidate| candidate.line.as_str()).collect::<Vec<_>>().join("\n")
}
