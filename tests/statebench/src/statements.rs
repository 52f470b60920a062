//! Statements of the conversation that no item of the state covers.

use crate::relevance::{Candidate, is_relevant, relevance};
use crate::visible_items::VisibleItems;
use orchestrion_ingest::stems::{Stems, is_number};
use orchestrion_ingest::{Session, TurnRecord};

/// Returns the statements of relevant turns in the task of the query. It omits statements that a fact records, that repeat a
/// visible item, or that disclose a hidden one.
pub(crate) fn candidates(session: &Session<'_>, items: &VisibleItems<'_>, query: &Stems) -> Vec<Candidate> {
    let (conversation, principal) = (session.conversation(), session.principal());
    let task = conversation.task_of(query);
    let is_resumed = task == 0 && conversation.has_interruption();
    let current: Stems =
        items.visible.iter().flat_map(|known| known.stems.iter().map(str::to_string)).collect();
    let is_recorded = |turn: &TurnRecord| items.facts().any(|fact| fact.stems.is_stated_by(&turn.stems));
    let is_repetition = |stems: &Stems| {
        let repeats = |known: &Stems| stems.is_covered_by(known, 60) || known.is_covered_by(stems, 60);
        items.visible.iter().any(|known| repeats(known.stems))
    };
    let is_disclosure =
        |stems: &Stems| items.hidden.iter().any(|known| discloses(stems, known.stems, &current));
    let is_relevant = |turn: &TurnRecord| is_resumed || is_relevant(query, &turn.stems);
    let mut candidates = Vec::new();
    for (i, turn) in conversation.turns().iter().enumerate().filter(|(_, turn)| turn.task == task) {
        if turn.statements.is_empty() || !is_relevant(turn) || is_recorded(turn) {
            continue;
        }
        for statement in &turn.statements {
            let entry = statement.item.and_then(|id| session.state().get(id));
            let is_readable = entry.is_some_and(|entry| principal.can_read(&entry.item));
            if is_readable && !is_repetition(&statement.stems) && !is_disclosure(&statement.stems) {
                let relevance = relevance(query, &turn.stems);
                candidates.push(Candidate { position: i + 1, relevance, line: statement.text.clone() });
            }
        }
    }
    candidates
}

/// Whether a statement discloses a hidden item: it has a number that only this item has, half of its own stems are from the item,
/// or it has half of the stems that only the item has.
fn discloses(statement: &Stems, hidden: &Stems, current: &Stems) -> bool {
    let own = hidden.difference(current);
    own.intersection(statement).any(is_number)
        || statement.is_covered_by(hidden, 50)
        || own.is_covered_by(statement, 50)
}
