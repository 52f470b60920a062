//! How much modules are shown, and what matters most to whom (000 §5.1, `(w, c, σ, ser)`).

use crate::item::Topic;
use crate::module::{Module, Role};
use crate::score::Weight;
use crate::situation::Mode;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How much modules are shown, and what matters most to whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ContextPolicy {
    /// The tokens of a context and of what a module answers to it.
    pub budget_tokens: u32,
    /// Of these, the tokens that are left to the answer.
    pub reserved_tokens: u32,
    /// What counts tokens.
    pub tokenizer: Tokenizer,
    /// How much more the latest item counts than the oldest: the factor is one more than this.
    pub recency: Weight,
    /// How much more counts what is all about the request than what has nothing to do with it: again one less than the
    /// factor.
    pub relevance: Weight,
    /// What is different for some modules, in their order; one view each.
    pub module_overrides: Vec<ModuleContextPolicy>,
}

/// What one module is shown differently.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ModuleContextPolicy {
    /// The module.
    pub module: Module,
    /// Its own budget, if it has one.
    pub budget_tokens: Option<u32>,
    /// How much what is worth to it. What is worth nothing is shown only where something shown rests on it.
    pub weights: BTreeMap<Topic, Weight>,
}

/// What counts the tokens of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Tokenizer {
    /// Nothing: a token is estimated as four bytes.
    #[default]
    Bytes,
    /// The vocabulary `cl100k_base`.
    Cl100kBase,
    /// The vocabulary `o200k_base`.
    O200kBase,
}

impl Tokenizer {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Bytes, Self::Cl100kBase, Self::O200kBase];

    /// Its name in a policy file.
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
        module_overrides: Vec::new(),
    };

    fn view(&self, module: Module) -> Option<&ModuleContextPolicy> {
        self.module_overrides.iter().find(|view| view.module == module)
    }

    /// The tokens that a context of the module may have.
    #[must_use]
    pub fn token_limit(&self, module: Module) -> u64 {
        let budget = self.view(module).and_then(|view| view.budget_tokens).unwrap_or(self.budget_tokens);
        u64::from(budget.saturating_sub(self.reserved_tokens))
    }

    /// How much an item of the topic is worth to the module.
    #[must_use]
    pub fn weight(&self, module: Module, topic: Topic) -> Weight {
        let own = self.view(module).and_then(|view| view.weights.get(&topic).copied());
        own.unwrap_or_else(|| {
            let given = |(to, of, _): &&(Module, Topic, Weight)| (*to, *of) == (module, topic);
            MODULE_WEIGHTS.iter().find(given).map_or_else(|| default_weight(topic), |(_, _, weight)| *weight)
        })
    }
}

/// How a module reasons, if it does: in deep mode who plans and argues, in fast mode who does as planned (002).
#[must_use]
pub const fn mode(module: Module) -> Option<Mode> {
    match module {
        Module::Planner | Module::Debater(_) => Some(Mode::Deep),
        Module::Approver | Module::Executor => Some(Mode::Fast),
        Module::IdentityGuard
        | Module::Memory
        | Module::Summarizer
        | Module::Classifier
        | Module::Store(_)
        | Module::Auditor => None,
    }
}

/// How much an item of a topic is worth to most.
const fn default_weight(topic: Topic) -> Weight {
    millionths(match topic {
        Topic::Constraint => 3_000_000,
        Topic::Summary => 2_000_000,
        Topic::Trace | Topic::Tags | Topic::Approval => 500_000,
        _ => 1_000_000,
    })
}

/// To whom something is worth more than to most.
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
