//! What is chosen from: the problem of one context, with the item that each candidate stands for.
//!
//! Headings are candidates too: worth nothing, needed by what stands under them. So what they cost is counted exactly
//! where they are written.

use super::error::BudgetError;
use super::sections::{Section, line};
use super::text_measure::{ByteMeasure, TextMeasure};
use crate::ids::{ItemId, UserId};
use crate::item::{Item, ItemKey, Topic};
use crate::knowledge::{Principal, compaction};
use crate::module::{Module, Operation, Role};
use crate::policy::{ContextPolicy, Policy, mode};
use crate::score::Score;
use crate::selection::{Candidate, Inclusion, Problem, ProblemError, Selection};
use crate::semantic::{Entry, SemanticState};
use crate::situation::{build_reasoning_context, has_content};
use crate::state::{Request, State};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The problem of one context.
#[derive(Clone, Debug)]
pub struct ContextProblem {
    /// What may be chosen, and how much of it. The items come first, in id order; then the headings.
    pub problem: Problem,
    /// The item that each candidate stands for, as far as they are items.
    pub ids: Vec<ItemId>,
    /// Where each item stands, and its line. What stands in 002's words has none.
    lines: Vec<(Section, String)>,
    /// The situation in 002's words.
    situation: String,
}

/// The problem of the context of a call that asks this, for a budget.
///
/// # Errors
/// [`OverBudget`] if what must be shown does not fit.
pub fn context_problem(
    policy: &Policy,
    state: &State,
    ask: Operation,
    budget: u64,
    measure: &impl TextMeasure,
) -> Result<ContextProblem, BudgetError> {
    let reader = state.session_principal();
    let asked = ContextRequest {
        policy,
        known: &state.semantic,
        request: state.control.request(),
        ask,
        reader: &reader,
    };
    asked.question(asked.entries(), budget, measure)
}

/// Whether what must be shown in the session of this user fits, as the kernel itself counts.
pub(crate) fn pinned_fit(
    policy: &Policy,
    known: &SemanticState,
    user: Option<&UserId>,
    request: Option<&Request>,
    ask: Operation,
) -> Result<(), BudgetError> {
    let room = policy.contexts.token_limit(ask.module());
    if fits_by_bytes(known, request, room) {
        return Ok(());
    }
    let reader = known.session_principal(user);
    let asked = ContextRequest { policy, known, request, ask, reader: &reader };
    let needs = asked.needs(&asked.entries());
    if needs > room { Err(BudgetError { required_tokens: needs, budget_tokens: room }) } else { Ok(()) }
}

/// Whether the texts of all that is known are so short that nobody needs to write them down to see that they fit.
fn fits_by_bytes(known: &SemanticState, request: Option<&Request>, room: u64) -> bool {
    /// More than a line, or a heading, has beside its text and the name in its key.
    const LINE_OVERHEAD_BYTES: usize = 200;
    let name = |key: &ItemKey| match key {
        ItemKey::Fact(name) | ItemKey::Working(name) | ItemKey::Environment(name) => name.as_str().len(),
        ItemKey::Trace(trace) => trace.conversation.as_str().len(),
        _ => 0,
    };
    let bytes = known
        .entries()
        .map(|Entry { item, .. }| {
            item.text.as_str().len().saturating_add(name(&item.key)).saturating_add(LINE_OVERHEAD_BYTES)
        })
        .fold(LINE_OVERHEAD_BYTES.saturating_mul(Section::ALL.len()), usize::saturating_add);
    request.is_none_or(|request| request.actions.is_empty())
        && u64::try_from(bytes).is_ok_and(|bytes| bytes <= room.saturating_mul(4))
}

/// The problem, in which nothing must be shown that rests on what may not be.
fn build_problem(budget: u64, mut candidates: Vec<Candidate>) -> Result<Problem, BudgetError> {
    // Mostly everything may be shown that something rests on.
    while candidates.iter().any(|candidate| candidate.inclusion == Inclusion::Forbidden)
        && let Err(ProblemError::PinnedDependsOnForbidden { pinned: item, .. }) =
            Problem::new(budget, candidates.clone())
    {
        if let Some(candidate) = candidates.get_mut(item) {
            candidate.inclusion = Inclusion::Forbidden;
        }
    }
    Problem::new(budget, candidates).map_err(|flaw| match flaw {
        ProblemError::PinnedOverBudget { needs, budget } => {
            BudgetError { required_tokens: needs, budget_tokens: budget }
        }
        // Only sums beyond 2^62, which no memory holds.
        _ => BudgetError { required_tokens: u64::MAX, budget_tokens: budget },
    })
}

impl ContextProblem {
    /// Whether a candidate is of the working set, where 003 packs all of it or nothing.
    #[must_use]
    pub fn is_working(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|(section, _)| *section >= Section::WorkingSet)
    }

    /// What a selection shows: the items, and the text.
    #[must_use]
    pub fn render(&self, selection: &Selection) -> (Vec<ItemId>, String) {
        let chosen =
            || selection.selected.iter().filter_map(|&at| Some((*self.ids.get(at)?, self.lines.get(at)?)));
        let mut text = String::new();
        for section in Section::ALL {
            let before = text.len();
            for (_, (_, line)) in chosen().filter(|(_, (of, _))| *of == section) {
                if text.len() == before {
                    text.push_str(section.heading());
                }
                text.push_str(line);
            }
            if section == Section::Situation && !self.situation.is_empty() {
                text.truncate(before);
                text.push_str(&heading(section, &self.situation));
            }
        }
        // Nothing stands before the first heading.
        if text.starts_with('\n') {
            text.remove(0);
        }
        (chosen().map(|(id, _)| id).collect(), text)
    }
}

/// A call, and what is known as it is made.
struct ContextRequest<'a> {
    policy: &'a Policy,
    known: &'a SemanticState,
    request: Option<&'a Request>,
    ask: Operation,
    reader: &'a Principal,
}

impl<'a> ContextRequest<'a> {
    fn module(&self) -> Module {
        self.ask.module()
    }

    /// What the module might be shown, in id order.
    fn entries(&self) -> Vec<&'a Entry> {
        if self.ask == Operation::Summarize {
            let running = self.request.map(|request| request.id);
            let cluster = compaction::cluster_for(self.policy, self.known, self.reader, running);
            return cluster.into_iter().filter_map(|id| self.known.get(id)).collect();
        }
        self.known.selectable(self.reader).collect()
    }

    /// The problem of these items.
    fn question(
        &self,
        entries: Vec<&'a Entry>,
        budget: u64,
        measure: &impl TextMeasure,
    ) -> Result<ContextProblem, BudgetError> {
        let positions: BTreeMap<ItemId, usize> =
            (0..).zip(&entries).map(|(at, entry)| (entry.item.id, at)).collect();
        let situation = self.situation();
        let texts: Vec<&str> = entries.iter().map(|entry| entry.item.text.as_str()).collect();
        let relevance = measure.relevance(self.request.map_or("", |request| request.text.as_str()), &texts);
        let (mut lines, mut candidates) =
            (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for (at, entry) in entries.iter().enumerate() {
            let (section, line) = self.line(&entry.item);
            let heading = Section::ALL.iter().position(|one| *one == section).unwrap_or_default();
            let found: Option<Vec<usize>> =
                self.deps(entry).iter().map(|dep| positions.get(dep).copied()).collect();
            candidates.push(Candidate {
                utility: self.utility(&entry.item, at, entries.len(), relevance.get(at).copied()),
                cost: if line.is_empty() { 0 } else { measure.tokens(&line) },
                inclusion: match &found {
                    // It rests on what may not be shown.
                    None => Inclusion::Forbidden,
                    Some(_) if self.is_pinned(&entry.item) => Inclusion::Pinned,
                    Some(_) => Inclusion::Free,
                },
                deps: found
                    .unwrap_or_default()
                    .into_iter()
                    .chain([entries.len().saturating_add(heading)])
                    .collect(),
            });
            lines.push((section, line));
        }
        for section in Section::ALL {
            let told = section == Section::Situation && !situation.is_empty();
            let mark = if told { Inclusion::Pinned } else { Inclusion::Free };
            let cost = measure.tokens(&heading(section, &situation));
            candidates.push(Candidate { utility: 0, cost, deps: Vec::new(), inclusion: mark });
        }
        let ids = entries.iter().map(|entry| entry.item.id).collect();
        let problem = build_problem(budget, candidates)?;
        Ok(ContextProblem { problem, ids, lines, situation })
    }

    /// What the pinned items cost with all that they need, headings included, as the kernel itself counts. No problem is posed
    /// for that, as this is asked with every call.
    fn needs(&self, entries: &[&'a Entry]) -> u64 {
        let mut needed = BTreeSet::new();
        for pinned in entries.iter().filter(|entry| self.is_pinned(&entry.item)) {
            needed.extend(self.rests_on(pinned, entries).unwrap_or_default());
        }
        let situation = self.situation();
        let mut sections = BTreeSet::new();
        if !situation.is_empty() {
            sections.insert(Section::Situation);
        }
        let mut needs = 0_u64;
        for entry in entries.iter().filter(|entry| needed.contains(&entry.item.id)) {
            let (section, line) = self.line(&entry.item);
            sections.insert(section);
            needs = needs.saturating_add(ByteMeasure.tokens(&line));
        }
        let headings = sections.into_iter().map(|section| ByteMeasure.tokens(&heading(section, &situation)));
        headings.fold(needs, u64::saturating_add)
    }

    /// An item with all that it rests on; nothing if some of that may not be shown.
    fn rests_on(&self, entry: &'a Entry, entries: &[&'a Entry]) -> Option<BTreeSet<ItemId>> {
        let (mut reached, mut waiting) = (BTreeSet::from([entry.item.id]), Vec::from([entry]));
        while let Some(entry) = waiting.pop() {
            for dep in self.deps(entry) {
                let at = entries.binary_search_by_key(dep, |entry| entry.item.id).ok()?;
                if reached.insert(*dep) {
                    waiting.extend(entries.get(at));
                }
            }
        }
        Some(reached)
    }

    /// What an item is not shown without.
    fn deps(&self, entry: &'a Entry) -> &'a [ItemId] {
        if self.ask == Operation::Summarize { &[] } else { &entry.deps }
    }

    /// Where an item stands, and its line; what stands in 002's words has none.
    fn line(&self, item: &Item) -> (Section, String) {
        let running = self.request.map(|request| request.id);
        let section = Section::of(item, running, mode(self.module()).is_some());
        (section, if section == Section::Situation { String::new() } else { line(item) })
    }

    /// The situation in 002's words; empty where the module does not reason, or where there is nothing to tell.
    fn situation(&self) -> String {
        let Some(mode) = mode(self.module()) else { return String::new() };
        let summary = self.known.situation();
        let actions = self.request.map_or(&[][..], |request| &request.actions);
        if has_content(&summary, actions) {
            build_reasoning_context(mode, &summary, actions)
        } else {
            String::new()
        }
    }

    /// Whether it must be shown: who speaks and what comes from outside (003), what the user asks for, the situation as it
    /// stands, to Solution the reviews of the pass before, and to the summarizer all that it is asked about.
    fn is_pinned(&self, item: &Item) -> bool {
        let running = self.request.map(|request| request.id);
        let own = running.is_some() && item.key.request() == running;
        match (&item.key, self.ask) {
            (_, Operation::Summarize) => true,
            (ItemKey::Identity | ItemKey::Environment(_) | ItemKey::Clock, _) => true,
            (ItemKey::Situation(_), _) => mode(self.module()).is_some(),
            (ItemKey::Request(_), _) => own,
            (ItemKey::Argument(_, role), Operation::Argue(Role::Solution)) => {
                own && self.was_reviewed_by(*role)
            }
            _ => false,
        }
    }

    /// Whether the role's latest argument is a review of the pass before.
    fn was_reviewed_by(&self, role: Role) -> bool {
        self.request.is_some_and(|request| request.debate.reviews.contains(&role))
    }

    /// What an item is worth: by topic, more if it is recent, and more if it is about the request.
    fn utility(&self, item: &Item, at: usize, of: usize, relevance: Option<Score>) -> u64 {
        let contexts: &ContextPolicy = &self.policy.contexts;
        let weight = u64::from(contexts.weight(self.module(), Topic::from_item(item)).millionths());
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let recency = ONE.saturating_mul(wide(at).saturating_add(1)).checked_div(wide(of)).unwrap_or(ONE);
        let part = |factor: u32, share: u64| u64::from(factor).saturating_mul(share) / ONE;
        let factor = ONE.saturating_add(part(contexts.recency.millionths(), recency)).saturating_add(part(
            contexts.relevance.millionths(),
            u64::from(relevance.unwrap_or_default().millionths()),
        ));
        weight.saturating_mul(factor).div_ceil(ONE)
    }
}

/// A heading as it is written, with the situation where it is told.
fn heading<'a>(section: Section, situation: &str) -> Cow<'a, str> {
    if section == Section::Situation && !situation.is_empty() {
        Cow::from([section.heading(), situation, "\n"].concat())
    } else {
        Cow::from(section.heading())
    }
}

/// One, in millionths.
const ONE: u64 = 1_000_000;
