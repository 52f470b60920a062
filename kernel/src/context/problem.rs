//! The selection problem of a context, and the rendering of a selection.
//!
//! Headings are candidates of utility 0, on which the items of their sections depend. So a selection includes the cost of exactly
//! the headings that its text contains. The payload of the call is a pinned candidate of utility 0: it uses a part of the budget.

use super::error::BudgetError;
use super::measured_items::{MeasureAll, MeasuredItem, MeasuredItems};
use super::sections::{Section, line};
use super::text_measure::{ByteMeasure, TextMeasure};
use crate::ids::{ItemId, Timestamp};
use crate::item::{Item, ItemKey, Topic};
use crate::knowledge::{Principal, compaction};
use crate::module::{Module, Operation, Role};
use crate::policy::{ContextPolicy, Policy};
use crate::score::Score;
use crate::selection::{Candidate, Inclusion, Problem, ProblemError, Selection};
use crate::semantic::{Entry, SemanticState};
use crate::situation::{Mode, build_reasoning_context, has_content};
use crate::state::{Request, State};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The problem of one context.
#[derive(Clone, Debug)]
pub struct ContextProblem {
    /// The problem: first the items, in id order, then the headings, then the payload of the call, if it has one.
    pub problem: Problem,
    /// The item ids of the first candidates.
    pub ids: Vec<ItemId>,
    /// The tokens of the payload.
    pub payload_tokens: u64,
    /// The section and line of each item. Items of the situation have an empty line.
    lines: Vec<(Section, Arc<str>)>,
    preambles: Preambles,
}

/// The texts that follow headings: of the environment the time, of the situation its summary and actions.
#[derive(Clone, Debug)]
struct Preambles {
    /// The time as a line; empty if the context omits it.
    time: String,
    /// The situation, in 002's format; empty if it has no content.
    situation: String,
}

impl Preambles {
    /// Returns the text that follows the heading of a section.
    fn of(&self, section: Section) -> &str {
        match section {
            Section::Environment => &self.time,
            Section::Situation => &self.situation,
            Section::Identity | Section::Facts | Section::WorkingSet => "",
        }
    }

    /// Returns a heading with the text that follows it.
    fn heading(&self, section: Section) -> Cow<'static, str> {
        match self.of(section) {
            "" => Cow::from(section.heading()),
            preamble => Cow::from([section.heading(), preamble].concat()),
        }
    }

    /// Returns the sections that a context always contains.
    fn pinned_sections(&self) -> impl Iterator<Item = Section> {
        Section::ALL.into_iter().filter(|section| !self.of(*section).is_empty())
    }
}

/// Creates the selection problem of a call with this operation, for a budget in tokens.
///
/// # Errors
/// [`BudgetError`] if the pinned items and the payload exceed the budget.
pub fn context_problem(
    policy: &Policy,
    state: &State,
    operation: Operation,
    budget: u64,
    measure: &impl TextMeasure,
) -> Result<ContextProblem, BudgetError> {
    problem_of_items(policy, state, operation, budget, &mut MeasureAll(measure))
}

/// Creates the problem as [`context_problem`] does, from items that a caller measured.
pub(super) fn problem_of_items(
    policy: &Policy,
    state: &State,
    operation: Operation,
    budget: u64,
    items: &mut impl MeasuredItems,
) -> Result<ContextProblem, BudgetError> {
    let principal = state.call_principal(operation);
    let call = ContextRequest {
        policy,
        semantic: state.semantic(),
        request: state.control().request(),
        operation,
        principal: &principal,
    };
    call.create_problem(&call.candidates(), budget, items)
}

/// Checks that the pinned items and the payload of a call fit the budget, by [`ByteMeasure`].
pub(crate) fn pinned_fit(
    policy: &Policy,
    semantic: &SemanticState,
    principal: &Principal,
    request: Option<&Request>,
    operation: Operation,
) -> Result<(), BudgetError> {
    let budget_tokens = policy.contexts.token_limit(operation.module());
    let payload = request.and_then(|request| request.payload_text(operation));
    let call = ContextRequest { policy, semantic, request, operation, principal };
    let payload_tokens = payload.map_or(0, |payload| ByteMeasure.tokens(&payload));
    let required_tokens = call.required_tokens().saturating_add(payload_tokens);
    if required_tokens > budget_tokens { Err(BudgetError { required_tokens, budget_tokens }) } else { Ok(()) }
}

/// Returns whether all items and the payload of a call certainly fit the budget, by an upper bound on the bytes of the lines of all
/// items, which needs no rendering. Then [`pinned_fit`] returns no error.
pub(crate) fn certainly_fits(
    policy: &Policy,
    line_bytes_max: usize,
    request: Option<&Request>,
    operation: Operation,
) -> bool {
    /// An upper bound on the bytes of a heading.
    const HEADING_BYTES: usize = 200;
    let budget_tokens = policy.contexts.token_limit(operation.module());
    let bytes = HEADING_BYTES
        .saturating_mul(Section::ALL.len())
        .saturating_add(line_bytes_max)
        .saturating_add(request.map_or(0, |request| request.payload_bytes_max(operation)));
    request.is_none_or(|request| request.actions.is_empty())
        && u64::try_from(bytes).is_ok_and(|bytes| bytes <= budget_tokens.saturating_mul(4))
}

/// Creates the problem. A pinned candidate that depends on a forbidden one becomes forbidden.
fn build_problem(budget: u64, mut candidates: Vec<Candidate>) -> Result<Problem, BudgetError> {
    // The usual problem has no forbidden candidate, and is created only once.
    while candidates.iter().any(|candidate| candidate.inclusion == Inclusion::Forbidden)
        && let Err(ProblemError::PinnedDependsOnForbidden { pinned, .. }) =
            Problem::new(budget, candidates.clone())
    {
        if let Some(candidate) = candidates.get_mut(pinned) {
            candidate.inclusion = Inclusion::Forbidden;
        }
    }
    Problem::new(budget, candidates).map_err(|error| match error {
        ProblemError::PinnedOverBudget { required: needs, budget } => {
            BudgetError { required_tokens: needs, budget_tokens: budget }
        }
        // The candidates are well-formed and their sums fit memory, so these do not occur.
        ProblemError::UnknownDependency { .. }
        | ProblemError::TooLarge { .. }
        | ProblemError::PinnedDependsOnForbidden { .. } => {
            BudgetError { required_tokens: u64::MAX, budget_tokens: budget }
        }
    })
}

impl ContextProblem {
    /// Returns whether a candidate belongs to the working set, which 003 includes as a whole or not at all.
    #[must_use]
    pub fn is_working(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|(section, _)| *section >= Section::WorkingSet)
    }

    /// Renders a selection: its item ids and its text.
    #[must_use]
    pub fn render(&self, selection: &Selection) -> (Vec<ItemId>, String) {
        let selected =
            || selection.selected.iter().filter_map(|&at| Some((*self.ids.get(at)?, self.lines.get(at)?)));
        let mut text = String::new();
        for section in Section::ALL {
            let before = text.len();
            if !self.preambles.of(section).is_empty() {
                text.push_str(&self.preambles.heading(section));
            }
            for (_, (_, line)) in selected().filter(|(_, (of, _))| *of == section) {
                if text.len() == before {
                    text.push_str(section.heading());
                }
                text.push_str(line);
            }
        }
        // The first heading has no preceding empty line.
        if text.starts_with('\n') {
            text.remove(0);
        }
        (selected().map(|(id, _)| id).collect(), text)
    }
}

/// A call with the state from which its context is built.
struct ContextRequest<'a> {
    policy: &'a Policy,
    semantic: &'a SemanticState,
    request: Option<&'a Request>,
    operation: Operation,
    principal: &'a Principal,
}

impl<'a> ContextRequest<'a> {
    fn module(&self) -> Module {
        self.operation.module()
    }

    const fn mode(&self) -> Option<Mode> {
        self.policy.situation.mode(self.operation)
    }

    /// Returns the candidate items, in id order.
    fn candidates(&self) -> Vec<&'a Entry> {
        if self.operation == Operation::Summarize {
            let running = self.request.map(|request| request.id);
            let cluster = compaction::cluster_for(self.policy, self.semantic, self.principal, running);
            return cluster.into_iter().filter_map(|id| self.semantic.get(id)).collect();
        }
        let includes_needs_review = self.policy.contexts.needs_review;
        let is_candidate = |entry: &&Entry| includes_needs_review || !entry.item.is_fact_in_review();
        self.semantic.selectable(self.principal).filter(is_candidate).collect()
    }

    /// Creates the problem of these candidate items, which are in id order.
    fn create_problem(
        &self,
        entries: &[&'a Entry],
        budget: u64,
        measures: &mut impl MeasuredItems,
    ) -> Result<ContextProblem, BudgetError> {
        let position = |id: &ItemId| entries.binary_search_by_key(id, |entry| entry.item.id).ok();
        let preambles = self.preambles();
        let items: Vec<&Item> = entries.iter().map(|entry| &entry.item).collect();
        let text = self.request.map_or("", |request| request.text.as_str());
        let measured = measures.measure(text, &items, &|item| line(item, self.policy.contexts.provenance));
        let (mut lines, mut candidates) =
            (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        // The newest item has the age 1.
        for (age, (entry, MeasuredItem { line, tokens, relevance })) in
            (1..=entries.len()).rev().zip(entries.iter().zip(measured))
        {
            let section = self.section(&entry.item);
            // The situation is one text.
            let (line, cost) = if section == Section::Situation { ("".into(), 0) } else { (line, tokens) };
            let heading = Section::ALL.iter().position(|one| *one == section).unwrap_or_default();
            let mut deps = Vec::with_capacity(self.deps(entry).len().saturating_add(1));
            deps.extend(self.deps(entry).iter().filter_map(position));
            let is_selectable = deps.len() == self.deps(entry).len();
            if !is_selectable {
                deps.clear();
            }
            deps.push(entries.len().saturating_add(heading));
            candidates.push(Candidate {
                utility: self.utility(&entry.item, age, relevance),
                cost,
                inclusion: match is_selectable {
                    // A dependency is not a candidate.
                    false => Inclusion::Forbidden,
                    true if self.is_pinned(&entry.item) => Inclusion::Pinned,
                    true => Inclusion::Free,
                },
                deps,
            });
            lines.push((section, line));
        }
        for section in Section::ALL {
            let is_pinned = !preambles.of(section).is_empty();
            let inclusion = if is_pinned { Inclusion::Pinned } else { Inclusion::Free };
            let cost = measures.tokens(&preambles.heading(section));
            candidates.push(Candidate { utility: 0, cost, deps: Vec::new(), inclusion });
        }
        let payload = self.request.and_then(|request| request.payload_text(self.operation));
        let payload_tokens = payload.as_ref().map_or(0, |payload| measures.tokens(payload));
        candidates.extend(payload.map(|_| Candidate {
            utility: 0,
            cost: payload_tokens,
            deps: Vec::new(),
            inclusion: Inclusion::Pinned,
        }));
        let ids = entries.iter().map(|entry| entry.item.id).collect();
        let problem = build_problem(budget, candidates)?;
        Ok(ContextProblem { problem, ids, payload_tokens, lines, preambles })
    }

    /// Returns the tokens of the pinned items with their headings, by [`ByteMeasure`]. It creates no problem and visits no other item,
    /// because it runs for every call. Dependencies add nothing: an argument depends only on its request, which is pinned too, the
    /// other pinned items depend on nothing, and the summarizer's context ignores dependencies.
    fn required_tokens(&self) -> u64 {
        let preambles = self.preambles();
        let mut sections: BTreeSet<Section> = preambles.pinned_sections().collect();
        let mut tokens = 0_u64;
        for entry in self.pinned() {
            let (section, line) = self.line(&entry.item);
            sections.insert(section);
            tokens = tokens.saturating_add(ByteMeasure.tokens(&line));
        }
        let headings = sections.into_iter().map(|section| ByteMeasure.tokens(&preambles.heading(section)));
        headings.fold(tokens, u64::saturating_add)
    }

    /// Returns the pinned candidates.
    fn pinned(&self) -> Vec<&'a Entry> {
        if self.operation == Operation::Summarize {
            return self.candidates();
        }
        let own = self.request.into_iter().flat_map(|request| {
            let reviews = request.debate.reviews.iter().map(|role| ItemKey::Argument(request.id, *role));
            reviews.chain([ItemKey::Request(request.id)])
        });
        let by_key = own.chain([ItemKey::Identity]).flat_map(|key| self.semantic.by_key(&key));
        let situation = self.semantic.situation_items();
        let situation = situation.filter_map(|item| self.semantic.get(item.id));
        let pinned = by_key.chain(self.semantic.signals()).chain(situation);
        let can_read = |entry: &&Entry| self.principal.can_read(&entry.item);
        pinned.filter(|entry| self.is_pinned(&entry.item)).filter(can_read).collect()
    }

    /// Returns the dependencies of an item in a context. The summarizer's context ignores them.
    fn deps(&self, entry: &'a Entry) -> &'a [ItemId] {
        if self.operation == Operation::Summarize { &[] } else { &entry.deps }
    }

    fn section(&self, item: &Item) -> Section {
        let running = self.request.map(|request| request.id);
        Section::from_item(item, running, self.mode().is_some())
    }

    /// Returns the section and line of an item; the line is empty in the situation section.
    fn line(&self, item: &Item) -> (Section, String) {
        let section = self.section(item);
        let text = match section {
            Section::Situation => String::new(),
            Section::Identity | Section::Environment | Section::Facts | Section::WorkingSet => {
                line(item, self.policy.contexts.provenance)
            }
        };
        (section, text)
    }

    fn preambles(&self) -> Preambles {
        Preambles { time: self.time(), situation: self.situation() }
    }

    /// Returns the time as a line (003 layer 4); empty before the first input with a time, and if the policy omits provenance.
    /// The summarizer's context has no time.
    fn time(&self) -> String {
        let now = self.principal.now;
        let is_shown = now > Timestamp::default() && self.policy.contexts.provenance;
        match is_shown && self.operation != Operation::Summarize {
            true => format!("time: {now}\n"),
            false => String::new(),
        }
    }

    /// Returns the situation in 002's format; empty if the module does not reason or there is no content.
    fn situation(&self) -> String {
        let Some(mode) = self.mode() else { return String::new() };
        let summary = self.semantic.situation();
        let actions = self.request.map_or(&[][..], |request| &request.actions);
        if has_content(&summary, actions) {
            let mut situation = build_reasoning_context(&self.policy.situation, mode, &summary, actions);
            situation.push('\n');
            situation
        } else {
            String::new()
        }
    }

    /// Returns whether the item is pinned: identity and signals (003), the user's message, the situation, for Solution the reviews of
    /// the previous pass, and for the summarizer the whole cluster.
    fn is_pinned(&self, item: &Item) -> bool {
        let running = self.request.map(|request| request.id);
        let own = running.is_some() && item.key.request() == running;
        match (&item.key, self.operation) {
            (_, Operation::Summarize) => true,
            (ItemKey::Identity | ItemKey::Environment(_), _) => true,
            (ItemKey::Situation(_), _) => self.mode().is_some(),
            (ItemKey::Request(_), _) => own,
            (ItemKey::Argument(_, role), Operation::Argue(Role::Solution)) => {
                own && self.was_reviewed_by(*role)
            }
            _ => false,
        }
    }

    /// Returns whether the role's latest argument is a review of the previous pass.
    fn was_reviewed_by(&self, role: Role) -> bool {
        self.request.is_some_and(|request| request.debate.reviews.contains(&role))
    }

    /// Returns the utility of an item: its topic's weight, times a factor for recency and relevance.
    fn utility(&self, item: &Item, age: usize, relevance: Score) -> u64 {
        let contexts: &ContextPolicy = &self.policy.contexts;
        let weight = u64::from(contexts.weight(self.module(), Topic::from_item(item)).millionths());
        let part = |factor: u32, share: u64| u64::from(factor).saturating_mul(share) / ONE;
        let factor = ONE
            .saturating_add(part(contexts.recency.millionths(), recency(age)))
            .saturating_add(part(contexts.relevance.millionths(), u64::from(relevance.millionths())));
        weight.saturating_mul(factor).div_ceil(ONE)
    }
}

/// Returns the recency of an item of this age in millionths: one for the newest, a half from the age 2, a third from 4, and so on.
/// A new item changes it only for the items whose age becomes a power of two, so most utilities stay as they were.
fn recency(age: usize) -> u64 {
    let class = age.checked_ilog2().unwrap_or_default().saturating_add(1);
    ONE.checked_div(u64::from(class)).unwrap_or(ONE)
}

/// One, in millionths.
const ONE: u64 = 1_000_000;
