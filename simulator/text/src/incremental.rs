//! The standard contexts of one conversation, built incrementally.
//!
//! Of each item that was a candidate lately, the cache keeps its line with the tokens, the words of its text, and how often the
//! words of the current request occur in it. A new version of an item replaces the old one, because entries are compared with
//! the item itself. Of each module, the latest problem is kept with its result. Nothing that the cache returns depends on what it
//! contains.

use crate::PolicyMeasure;
use crate::bm25::{self, TextWords, Weights, WordCounts};
use crate::known_problem::{KnownProblem, KnownProblemSelector};
use orchestrion_kernel::context::{
    ContextError, IncrementalContexts, MeasuredItem, MeasuredItems, TextMeasure, build_context_of_items,
};
use orchestrion_kernel::item::Item;
use orchestrion_kernel::module::{Module, Operation};
use orchestrion_kernel::policy::ContextPolicy;
use orchestrion_kernel::{ItemId, ModuleContext, Policy, State};
use orchestrion_optimizer::ExactSelector;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An item that was no candidate in so many successive contexts is removed from the cache.
const CONTEXTS_KEPT: u64 = 64;

/// Builds the contexts of one conversation as [`crate::StandardContexts`] does.
#[derive(Debug, Default)]
pub(super) struct StandardIncremental {
    /// The policy of the cached items; `None` before the first context.
    policy: Option<ContextPolicy>,
    cache: ItemCache,
    /// The latest problem of each module.
    known: BTreeMap<Module, KnownProblem>,
}

#[derive(Debug, Default)]
struct ItemCache {
    items: HashMap<ItemId, CachedItem>,
    /// The text of the request whose words are counted, and its words.
    request: String,
    request_words: Vec<String>,
    /// The number of the request text, from 0.
    request_number: u64,
    weights: Weights,
    /// The number of built contexts.
    contexts: u64,
}

#[derive(Debug)]
struct CachedItem {
    item: Item,
    line: Arc<str>,
    tokens: u64,
    words: TextWords,
    /// The counts of the words of the request with this number.
    counts: WordCounts,
    request_number: u64,
    /// The number of the latest context that had the item as a candidate.
    used_in: u64,
}

/// The cache with the measure of the policy.
struct CachedItems<'a> {
    cache: &'a mut ItemCache,
    measure: PolicyMeasure,
}

impl IncrementalContexts for StandardIncremental {
    fn build(
        &mut self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        if self.policy.as_ref() != Some(&policy.contexts) {
            *self = Self { policy: Some(policy.contexts.clone()), ..Self::default() };
        }
        let measure = crate::checked_measure(policy, state, operation)?;
        let mut items = CachedItems { cache: &mut self.cache, measure };
        let module = operation.module();
        let known = self.known.get(&module);
        let selector = KnownProblemSelector::new(ExactSelector::from_policy(policy), known);
        let built = build_context_of_items(policy, state, operation, &mut items, &selector);
        self.cache.finish_context();
        let (problem, context) = built?;
        let known = selector.into_known(problem.problem);
        self.known.extend(known.map(|known| (module, known)));
        Ok(context)
    }
}

impl ItemCache {
    fn set_request(&mut self, request: &str) {
        if self.request != request {
            request.clone_into(&mut self.request);
            self.request_words = bm25::request_words(request);
            self.request_number += 1;
        }
    }

    /// Measures an item unless its cached version equals it.
    fn update(&mut self, item: &Item, measure: PolicyMeasure, line: &dyn Fn(&Item) -> String) {
        let (request_number, used_in) = (self.request_number, self.contexts);
        match self.items.get_mut(&item.id) {
            Some(cached) if cached.item == *item => {
                cached.used_in = used_in;
                if cached.request_number != request_number {
                    cached.counts = cached.words.count(&self.request_words);
                    cached.request_number = request_number;
                }
            }
            Some(_) | None => {
                let (line, words) = (line(item), TextWords::new(item.text.as_str()));
                let cached = CachedItem {
                    item: item.clone(),
                    tokens: measure.tokens(&line),
                    line: line.into(),
                    counts: words.count(&self.request_words),
                    words,
                    request_number,
                    used_in,
                };
                self.items.insert(item.id, cached);
            }
        }
    }

    fn finish_context(&mut self) {
        self.contexts += 1;
        if self.contexts.is_multiple_of(CONTEXTS_KEPT) {
            let oldest = self.contexts - CONTEXTS_KEPT;
            self.items.retain(|_, cached| cached.used_in >= oldest);
        }
    }
}

impl MeasuredItems for CachedItems<'_> {
    fn tokens(&mut self, text: &str) -> u64 {
        self.measure.tokens(text)
    }

    fn measure(
        &mut self,
        request: &str,
        items: &[&Item],
        line: &dyn Fn(&Item) -> String,
    ) -> Vec<MeasuredItem> {
        self.cache.set_request(request);
        for item in items {
            self.cache.update(item, self.measure, line);
        }
        let cached: Vec<&CachedItem> =
            items.iter().filter_map(|item| self.cache.items.get(&item.id)).collect();
        let counts: Vec<&WordCounts> = cached.iter().map(|cached| &cached.counts).collect();
        let scores = bm25::scores(self.cache.request_words.len(), &counts, &mut self.cache.weights);
        let measured = |(cached, relevance): (&CachedItem, _)| MeasuredItem {
            line: Arc::clone(&cached.line),
            tokens: cached.tokens,
            relevance,
        };
        cached.into_iter().zip(scores).map(measured).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StandardContexts;
    use orchestrion_kernel::context::ContextBuilder;
    use orchestrion_kernel::event::{Event, ForgetCause};
    use orchestrion_kernel::item::{ItemKey, ItemKind, Layer, Scope, SupersessionRule, Validity};
    use orchestrion_kernel::module::Role;
    use orchestrion_kernel::{ConversationId, RequestId, Timestamp, UserId};

    /// Reproducible random numbers: a linear congruential generator.
    struct Lcg(u64);

    impl Lcg {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        fn text(&mut self) -> String {
            const WORDS: [&str; 8] = ["order", "paper", "for", "room", "the", "Straße", "budget", "ink"];
            (0..self.below(9)).map(|_| format!("{} ", WORDS[self.below(8) as usize])).collect()
        }

        fn item(&mut self, id: ItemId) -> Item {
            let layer = match self.below(3) {
                0 => Layer::Environment,
                1 => Layer::Working { created_at: Timestamp::default(), expires_at: None },
                _ => Layer::Request { user: UserId::new("ada"), scope: Scope::Global },
            };
            let validity = match self.below(6) {
                0 => Validity::NeedsReview,
                1 => Validity::Superseded { superseded_by: None, rule: SupersessionRule::Explicit },
                _ => Validity::Current,
            };
            let key = ItemKey::Working(format!("note {}", self.below(20)).into());
            Item { id, kind: ItemKind::Fact, key, text: self.text().into(), layer, validity }
        }

        fn event(&mut self, state: &State) -> Event {
            let ids: Vec<ItemId> = state.semantic().entries().map(|entry| entry.item.id).collect();
            let known = ids.get(self.below(ids.len() as u64 + 1) as usize).copied();
            let deps: Vec<ItemId> = known.into_iter().filter(|_| self.0.is_multiple_of(3)).collect();
            match (self.below(10), known) {
                (0, _) => Event::UserMsg {
                    request: RequestId::FIRST,
                    user: UserId::new("ada"),
                    text: self.text().into(),
                    scope: Scope::Global,
                },
                (1, Some(id)) if state.semantic().dependents(id).next().is_none() => {
                    Event::ForgetItems { ids: vec![id], cause: ForgetCause::SessionEnd }
                }
                (2..5, Some(id)) => Event::UpdateItem { item: self.item(id), deps: Vec::new() },
                (0..=u64::MAX, _) => Event::AddItem { item: self.item(state.semantic().next_id()), deps },
            }
        }
    }

    /// Random events change the items and the request, under a budget that many contexts do not fit. The cache forgets items
    /// several times.
    #[test]
    fn incremental_contexts_equal_contexts_from_scratch() {
        let mut policy = Policy::hardened();
        policy.contexts.reserved_tokens = policy.contexts.budget_tokens - 300;
        let operations = [
            Operation::Classify,
            Operation::DraftPlan,
            Operation::Argue(Role::Critic),
            Operation::Argue(Role::Security),
            Operation::Summarize,
        ];
        let (mut partial, mut failed) = (0, 0);
        for seed in 0..40 {
            let mut random = Lcg(seed);
            let mut incremental = StandardIncremental::default();
            let mut state = State::new(ConversationId::new("office"));
            state.apply(&Event::SessionStarted { user: UserId::new("ada") });
            for step in 0..120 {
                let event = random.event(&state);
                state.apply(&event);
                assert!(state.semantic().is_consistent(), "seed {seed}, step {step}: {event:?}");
                let operation = operations[random.below(5) as usize];
                let expected = StandardContexts.build(&policy, &state, operation);
                // The second context has the problem of the first.
                for _ in 0..2 {
                    let found = incremental.build(&policy, &state, operation);
                    assert_eq!(found, expected, "seed {seed}, step {step}: {event:?}, {operation:?}");
                }
                let valid = state.semantic().valid_entries().count();
                partial += u32::from(expected.as_ref().is_ok_and(|context| context.ids.len() < valid));
                failed += u32::from(expected.is_err());
            }
        }
        assert!(partial > 100 && failed > 0, "{partial} partial, {failed} failed");
    }

    #[test]
    fn cache_keeps_recent_candidates_only() {
        let policy = Policy::hardened();
        let mut incremental = StandardIncremental::default();
        let mut state = State::new(ConversationId::new("office"));
        for _ in 0..3 * CONTEXTS_KEPT {
            let id = state.semantic().next_id();
            let item = Item { layer: Layer::Environment, validity: Validity::Current, ..Lcg(1).item(id) };
            state.apply(&Event::AddItem { item, deps: Vec::new() });
            incremental.build(&policy, &state, Operation::Classify).unwrap();
            state.apply(&Event::ForgetItems { ids: vec![id], cause: ForgetCause::Expiry });
        }
        assert!(incremental.cache.items.len() as u64 <= 2 * CONTEXTS_KEPT);
    }
}
