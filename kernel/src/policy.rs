//! Policies: the numbers and rules that configure the control FSM of 004.
//!
//! Deliberately absent: reading a policy from a file.

mod contexts;
mod debaters;
mod ranks;
mod rules;
mod situation;

pub use contexts::{ContextPolicy, ModuleContextPolicy, Tokenizer};
pub use debaters::AdditionalDebater;
pub use ranks::RankTable;
pub use rules::{Rule, Rules};
pub use situation::SituationPolicy;

use crate::ids::Text;
use crate::item::Rank;
use crate::module::{Operation, Role};
use crate::score::{Score, Weight};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The configuration of the kernel. Decisions depend on it and on the inputs only.
///
/// ```
/// use orchestrion_kernel::policy::Bound;
/// use orchestrion_kernel::{Policy, Score};
///
/// let mut policy = Policy::hardened();
/// policy.bounds.repairs = Bound::AtMost(1);
/// assert_eq!(policy.validate(), Ok(()));
/// policy.thresholds.proceed_from = Score::ONE;
/// let error = policy.validate().unwrap_err();
/// assert_eq!(error.setting, "thresholds.proceed_from");
/// assert_eq!(error.conflicts_with, Some("thresholds.redebate_below"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Policy {
    /// The name of the policy.
    pub name: String,
    /// The thresholds for scores.
    pub thresholds: Thresholds,
    /// The bounds on repetition.
    pub bounds: Bounds,
    /// The weights of the roles in the consensus.
    pub weights: Weights,
    /// The debaters that argue after the five roles, in this order (decision 0039). None in both built-in policies.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub additional_debaters: Vec<AdditionalDebater>,
    /// The method that updates the ratings after a debate.
    pub elo: EloMethod,
    /// The ranks of titles, roles and systems.
    pub ranks: RankTable,
    /// The ranks required to write.
    pub writes: WritePolicy,
    /// The limits of compaction.
    pub compaction: CompactionPolicy,
    /// Budgets and utilities of contexts.
    pub contexts: ContextPolicy,
    /// The limits of the situation, and the reasoning modes.
    pub situation: SituationPolicy,
    /// The enabled departures from 004's drawing.
    pub rules: Rules,
}

/// Thresholds for confidences and the consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Thresholds {
    /// Below this consensus the debate starts another pass, if one is left (004 §2: 0.8).
    pub redebate_below: Score,
    /// The minimum consensus to proceed (004 §3: 0.6).
    pub proceed_from: Score,
    /// The minimum confidence at which a Security CON is a veto (004 §3: 0.9).
    pub veto_from: Score,
    /// The minimum confidence at which a Security CON has extra weight and earns incremental Elo points (0.8).
    pub objection_from: Score,
    /// A Critic CON above this confidence earns incremental Elo points (0.7).
    pub critique_above: Score,
}

/// Bounds on repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Bounds {
    /// The maximum number of debate passes (004 §2: 3).
    pub passes: u32,
    /// The maximum number of repairs per request; 004 draws no bound.
    pub repairs: Bound,
    /// The maximum number of delivery attempts to the audit sink.
    pub audit_attempts: u32,
    /// The maximum number of tasks that run at once (001 §5.5, §5.6).
    #[cfg_attr(feature = "serde", serde(default = "sequential"))]
    pub parallel_tasks: u32,
}

/// The bound of policies that were recorded before tasks ran in parallel.
#[cfg(feature = "serde")]
const fn sequential() -> u32 {
    1
}

/// A bound, or explicitly none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Bound {
    /// At most this number.
    AtMost(u32),
    /// No bound.
    Unbounded,
}

/// The method that updates the ratings after a debate (decision 0014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EloMethod {
    /// Fixed points for a strong critique and a strong objection; counts no matches.
    Incremental,
    /// Each PRO role duels each CON role; PRO wins if the plan may run.
    Standard,
}

impl EloMethod {
    /// Every method.
    pub const ALL: [Self; 2] = [Self::Incremental, Self::Standard];

    /// Returns the name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Incremental => "incremental",
            Self::Standard => "standard",
        }
    }
}

/// The weights of the roles in the consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Weights {
    /// The Analyst's weight.
    pub analyst: Weight,
    /// Solution's weight.
    pub solution: Weight,
    /// The Critic's weight.
    pub critic: Weight,
    /// Security's weight.
    pub security: Weight,
    /// The Optimizer's weight.
    pub optimizer: Weight,
}

impl Weights {
    /// Returns the weight of a role.
    #[must_use]
    pub const fn for_role(&self, role: Role) -> Weight {
        match role {
            Role::Analyst => self.analyst,
            Role::Solution => self.solution,
            Role::Critic => self.critic,
            Role::Security => self.security,
            Role::Optimizer => self.optimizer,
        }
    }
}

/// The minimum ranks for writes (003, "check authority before write"). A write of a lower rank is kept as denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct WritePolicy {
    /// The minimum rank for constraints.
    pub constraint_from: Rank,
    /// The minimum rank for organizational memory.
    pub organizational_from: Rank,
    /// Whether an identity or a declared source outside [`Policy::ranks`] is refused.
    pub strict_ranks: bool,
}

/// The limits of compaction (000 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CompactionPolicy {
    /// Compaction is due at this number of items in one compaction group.
    pub from_items: u32,
    /// Compaction is due at this number of tokens in all selectable items.
    pub from_tokens: u32,
    /// The maximum number of items in a cluster, oldest first.
    pub cluster_items: u32,
    /// While no request runs, at most this number of valid items end with the session; the identity does not count.
    pub session_items_max: u32,
}

/// An invalid setting, or two settings that conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyError {
    /// The invalid setting, as its path in a policy file.
    pub setting: &'static str,
    /// The setting that it conflicts with, if any.
    pub conflicts_with: Option<&'static str>,
    /// The reason, and the expected value.
    pub reason: &'static str,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conflicts_with {
            Some(other) => write!(f, "{} conflicts with {other}: {}", self.setting, self.reason),
            None => write!(f, "{}: {}", self.setting, self.reason),
        }
    }
}

impl core::error::Error for PolicyError {}

impl Policy {
    /// Returns the literal implementation of 004's diagram: no error rows, a dead end after rollback, halt on abort, unbounded
    /// repair, and no sticky veto.
    #[must_use]
    pub fn as_drawn() -> Self {
        Self {
            name: "as-drawn".to_string(),
            bounds: Bounds { passes: 3, repairs: Bound::Unbounded, audit_attempts: 1, parallel_tasks: 1 },
            rules: Rules::all(false),
            ..Self::hardened()
        }
    }

    /// Returns the default policy, in which the findings F1 to F16 and F18 do not occur.
    #[must_use]
    pub fn hardened() -> Self {
        const fn score(millionths: u32) -> Score {
            match Score::from_millionths(millionths) {
                Some(score) => score,
                None => Score::ONE,
            }
        }
        const fn weight(millionths: u32) -> Weight {
            match Weight::from_millionths(millionths) {
                Some(weight) => weight,
                None => Weight::ONE,
            }
        }
        Self {
            name: "hardened".to_string(),
            thresholds: Thresholds {
                redebate_below: score(800_000),
                proceed_from: score(600_000),
                veto_from: score(900_000),
                objection_from: score(800_000),
                critique_above: score(700_000),
            },
            bounds: Bounds { passes: 3, repairs: Bound::AtMost(2), audit_attempts: 3, parallel_tasks: 4 },
            weights: Weights {
                analyst: Weight::ONE,
                solution: weight(1_200_000),
                critic: weight(1_500_000),
                security: weight(2_000_000),
                optimizer: weight(800_000),
            },
            additional_debaters: Vec::new(),
            elo: EloMethod::Incremental,
            ranks: RankTable::built_in(),
            writes: WritePolicy {
                constraint_from: Rank::Manager,
                organizational_from: Rank::Employee,
                strict_ranks: false,
            },
            compaction: CompactionPolicy {
                from_items: 64,
                from_tokens: 6_000,
                cluster_items: 32,
                session_items_max: 1_000,
            },
            contexts: ContextPolicy::HARDENED,
            situation: SituationPolicy::HARDENED,
            rules: Rules { approver: false, compacted_constraints: false, ..Rules::all(true) },
        }
    }

    /// Returns the built-in policy with this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "as-drawn" => Some(Self::as_drawn()),
            "hardened" => Some(Self::hardened()),
            _ => None,
        }
    }

    /// Returns the name of the additional debater that performs the operation; `None` for every other operation.
    #[must_use]
    pub fn debater_name(&self, operation: Operation) -> Option<&Text> {
        AdditionalDebater::by_operation(&self.additional_debaters, operation).map(|debater| &debater.name)
    }

    /// Checks that the settings do not conflict.
    ///
    /// # Errors
    /// [`PolicyError`] for the first conflict.
    pub fn validate(&self) -> Result<(), PolicyError> {
        let (t, b, r, w) = (&self.thresholds, &self.bounds, &self.rules, &self.weights);
        let error = |setting, conflicts_with, reason| Err(PolicyError { setting, conflicts_with, reason });
        if t.proceed_from > t.redebate_below {
            return error(
                "thresholds.proceed_from",
                Some("thresholds.redebate_below"),
                "a consensus that ends the debate must suffice to proceed; expected proceed_from ≤ redebate_below",
            );
        }
        let c = &self.contexts;
        if c.reserved_tokens >= c.budget_tokens {
            return error(
                "contexts.reserved_tokens",
                Some("contexts.budget_tokens"),
                "no budget is left for the context; expected reserved_tokens < budget_tokens",
            );
        }
        if c.module_overrides
            .iter()
            .any(|module| module.budget_tokens.is_some_and(|budget| c.reserved_tokens >= budget))
        {
            return error(
                "module_overrides",
                Some("contexts.reserved_tokens"),
                "no budget is left for the context; expected every budget_tokens > reserved_tokens",
            );
        }
        if c.module_overrides.iter().any(|settings| !settings.module.takes_context()) {
            return error(
                "module_overrides",
                None,
                "identity guard, stores and audit sink read no context; expected other modules",
            );
        }
        if c.nodes_max == 0 {
            return error("contexts.nodes_max", None, "the search needs a node; expected at least 1");
        }
        self.situation.validate()?;
        debaters::validate(&self.additional_debaters)?;
        if t.objection_from > t.veto_from {
            return error(
                "thresholds.objection_from",
                Some("thresholds.veto_from"),
                "a veto must also count as an objection; expected objection_from ≤ veto_from",
            );
        }
        if b.passes == 0 {
            return error("bounds.passes", None, "the debate needs a pass; expected at least 1");
        }
        if self.compaction.cluster_items < 2 {
            return error(
                "compaction.cluster_items",
                None,
                "a summary replaces several items; expected at least 2",
            );
        }
        if self.compaction.session_items_max == 0 {
            return error(
                "compaction.session_items_max",
                None,
                "a session has items while no request runs; expected at least 1",
            );
        }
        if b.audit_attempts == 0 {
            return error(
                "bounds.audit_attempts",
                None,
                "the audit record needs a delivery attempt; expected at least 1",
            );
        }
        if b.parallel_tasks == 0 {
            return error("bounds.parallel_tasks", None, "a plan needs a running task; expected at least 1");
        }
        if b.audit_attempts > 1 && !r.error_rows {
            return error(
                "bounds.audit_attempts",
                Some("rules.error_rows"),
                "a second attempt needs a transition for the failure of the first; expected 1, or error_rows: true",
            );
        }
        if r.error_rows && !r.next_request {
            return error(
                "rules.error_rows",
                Some("rules.next_request"),
                "error rows lead to Idle, which must accept the next request; expected both or neither",
            );
        }
        if r.cancel && !r.rollback_ends {
            return error(
                "rules.cancel",
                Some("rules.rollback_ends"),
                "a cancelled run is rolled back, and the rollback must end; expected rollback_ends: true, or cancel: false",
            );
        }
        if r.current_facts && !r.cleared_revisions {
            return error(
                "rules.current_facts",
                Some("rules.cleared_revisions"),
                "a plan whose facts changed is reviewed like a repaired plan; expected cleared_revisions: true, or current_facts: false",
            );
        }
        if r.approver && !r.cleared_revisions {
            return error(
                "rules.approver",
                Some("rules.cleared_revisions"),
                "a repaired plan would run without approval; expected cleared_revisions: true, or approver: false",
            );
        }
        let mut weights = (Role::ALL.into_iter().map(|role| w.for_role(role)))
            .chain(self.additional_debaters.iter().map(|debater| debater.weight));
        if weights.all(|weight| weight == Weight::ZERO) {
            return error("weights", None, "no plan can proceed; expected at least one weight above 0");
        }
        Ok(())
    }
}
