//! Budgets and utilities of contexts (000 §5.1, `(w, c, σ, ser)`).

use crate::item::Topic;
use crate::module::{Module, Role};
use crate::score::Weight;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Budgets and utilities of contexts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ContextPolicy {
    /// The budget of a call's context and payload together with the module's reply.
    pub budget_tokens: u32,
    /// The part of the budget that is reserved for the reply.
    pub reserved_tokens: u32,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The newest item has `1 + recency` times the weight of its topic as utility, and an older one `1 + recency / n` times, where `n`
    /// grows by one each time the age doubles.
    pub recency: Weight,
    /// The utility of a fully relevant item exceeds that of an irrelevant one by the factor `1 + relevance`.
    pub relevance: Weight,
    /// The maximum number of nodes of the search for a selection, at least 1. A search that ends there has a bound instead of a
    /// proof.
    pub nodes_max: u32,
    /// Whether a context contains the authority and permissions of the identity, and the source, rank and time of each fact.
    pub provenance: bool,
    /// Whether a context contains facts that need review (003 §2). Without them, items that depend on them are absent too.
    pub needs_review: bool,
    /// Overrides for single modules, in module order; at most one per module.
    pub module_overrides: Vec<ModuleContextPolicy>,
}

/// The override for one module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ModuleContextPolicy {
    /// The module.
    pub module: Module,
    /// The budget; `None` for the common one.
    pub budget_tokens: Option<u32>,
    /// Utility weights by topic. Items of weight 0 enter a context only as dependencies.
    pub weights: BTreeMap<Topic, Weight>,
}

/// The tokenizer that counts the tokens of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Tokenizer {
    /// An estimate: four bytes per token.
    #[default]
    Bytes,
    /// The vocabulary `cl100k_base`.
    Cl100kBase,
    /// The vocabulary `o200k_base`.
    O200kBase,
}

impl Tokenizer {
    /// Every tokenizer.
    pub const ALL: [Self; 3] = [Self::Bytes, Self::Cl100kBase, Self::O200kBase];

    /// Returns the name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
        }
    }
}

impl ContextPolicy {
    pub(super) const HARDENED: Self = Self {
        budget_tokens: 32_000,
        reserved_tokens: 4_000,
        tokenizer: Tokenizer::Bytes,
        recency: millionths(500_000),
        relevance: millionths(2_000_000),
        nodes_max: 2_000,
        provenance: true,
        needs_review: true,
        module_overrides: Vec::new(),
    };

    fn module_override(&self, module: Module) -> Option<&ModuleContextPolicy> {
        self.module_overrides.iter().find(|policy| policy.module == module)
    }

    /// Returns the token budget of a call's context and payload, without the reserved part.
    #[must_use]
    pub fn token_limit(&self, module: Module) -> u64 {
        let budget = self
            .module_override(module)
            .and_then(|policy| policy.budget_tokens)
            .unwrap_or(self.budget_tokens);
        u64::from(budget.saturating_sub(self.reserved_tokens))
    }

    /// Returns the utility weight of a topic for a module.
    #[must_use]
    pub fn weight(&self, module: Module, topic: Topic) -> Weight {
        let overridden = self.module_override(module).and_then(|policy| policy.weights.get(&topic).copied());
        overridden.unwrap_or_else(|| {
            let matches = |(of, on, _): &&(Module, Topic, Weight)| (*of, *on) == (module, topic);
            MODULE_WEIGHTS
                .iter()
                .find(matches)
                .map_or_else(|| default_weight(topic), |(_, _, weight)| *weight)
        })
    }
}

/// Returns the weight of a topic for modules without an entry in [`MODULE_WEIGHTS`].
const fn default_weight(topic: Topic) -> Weight {
    millionths(match topic {
        Topic::Constraint => 3_000_000,
        Topic::Summary => 2_000_000,
        Topic::Trace | Topic::Tags | Topic::Approval => 500_000,
        Topic::Identity
        | Topic::Environment
        | Topic::Fact
        | Topic::Working
        | Topic::Situation
        | Topic::Request
        | Topic::FinalAnswer
        | Topic::Task
        | Topic::Output
        | Topic::Argument
        | Topic::Diagnosis => 1_000_000,
    })
}

/// The built-in weights that differ from the default.
const MODULE_WEIGHTS: &[(Module, Topic, Weight)] = &[
    (Module::Planner, Topic::Constraint, millionths(4_000_000)),
    (Module::Planner, Topic::Trace, millionths(1_500_000)),
    (Module::Debater(Role::Analyst), Topic::Fact, millionths(2_000_000)),
    (Module::Debater(Role::Analyst), Topic::Trace, millionths(1_500_000)),
    (Module::Debater(Role::Analyst), Topic::Tags, millionths(1_500_000)),
    (Module::Debater(Role::Solution), Topic::Task, millionths(2_000_000)),
    (Module::Debater(Role::Solution), Topic::Diagnosis, millionths(2_000_000)),
    (Module::Debater(Role::Critic), Topic::Task, millionths(3_000_000)),
    (Module::Debater(Role::Critic), Topic::Argument, millionths(2_000_000)),
    (Module::Debater(Role::Critic), Topic::Output, millionths(2_000_000)),
    (Module::Debater(Role::Security), Topic::Constraint, millionths(6_000_000)),
    (Module::Debater(Role::Security), Topic::Fact, millionths(2_000_000)),
    (Module::Debater(Role::Optimizer), Topic::Task, millionths(3_000_000)),
    (Module::Debater(Role::Optimizer), Topic::Argument, millionths(2_000_000)),
    (Module::Executor, Topic::Task, millionths(4_000_000)),
    (Module::Executor, Topic::Output, millionths(3_000_000)),
];

const fn millionths(millionths: u32) -> Weight {
    match Weight::from_millionths(millionths) {
        Some(weight) => weight,
        None => Weight::ONE,
    }
}
