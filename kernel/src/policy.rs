//! What may be varied. The control FSM is fixed; a policy sets its numbers and says which of 004's holes are
//! closed. Reading a policy from a file is the border's work.

mod contexts;
mod rules;

pub use contexts::{ContextPolicy, ModuleContextPolicy, Tokenizer, mode};
pub use rules::{Rule, Rules};

use crate::item::Rank;
use crate::module::Role;
use crate::score::{Score, Weight};
use alloc::string::{String, ToString};
use core::fmt;

/// Everything a run depends on besides its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Policy {
    /// How the policy is called.
    pub name: String,
    /// The lines that scores are compared with.
    pub thresholds: Thresholds,
    /// How often things may happen.
    pub bounds: Bounds,
    /// How much each voice counts.
    pub weights: Weights,
    /// How the roles' ratings move after a debate.
    pub elo: EloMethod,
    /// Who may write what into what is known.
    pub writes: WritePolicy,
    /// When what is known is compacted, and how much of it at once.
    pub compaction: CompactionPolicy,
    /// How much modules are shown, and what matters most to whom.
    pub contexts: ContextPolicy,
    /// Which rules that go beyond 004's drawing are in force.
    pub rules: Rules,
}

/// The lines that scores are compared with; all of them scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Thresholds {
    /// Debate again below this consensus, while passes last (004 §2: 0.8).
    pub redebate_below: Score,
    /// Proceed from this consensus on (004 §3: 0.6).
    pub proceed_from: Score,
    /// A Security CON from this confidence on is a veto (004 §3: 0.9).
    pub veto_from: Score,
    /// A Security CON from this confidence on weighs extra, and is rated by incremental Elo (0.8).
    pub objection_from: Score,
    /// A Critic CON above this confidence is rated by incremental Elo (0.7).
    pub critique_above: Score,
}

/// How often things may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Bounds {
    /// Passes of the debate (004 §2: 3).
    pub passes: u32,
    /// Repairs in one request; 004 draws no bound.
    pub repairs: Bound,
    /// Times the outside audit sink is tried.
    pub audit_attempts: u32,
}

/// A bound, or explicitly none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Bound {
    /// At most so many.
    AtMost(u32),
    /// No bound, and it is meant so.
    Unbounded,
}

/// How the roles' ratings move after a debate (decision 0014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EloMethod {
    /// Fixed steps for a rated critique and a strong objection; no match is counted.
    Incremental,
    /// Each PRO role duels each CON role; PRO wins if the plan may run.
    Standard,
}

impl EloMethod {
    /// Every way.
    pub const ALL: [Self; 2] = [Self::Incremental, Self::Standard];

    /// Its name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Incremental => "incremental",
            Self::Standard => "standard",
        }
    }
}

/// How much each voice counts in the consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Weights {
    /// The Analyst's voice.
    pub analyst: Weight,
    /// Solution's voice.
    pub solution: Weight,
    /// The Critic's voice.
    pub critic: Weight,
    /// Security's voice.
    pub security: Weight,
    /// The Optimizer's voice.
    pub optimizer: Weight,
}

impl Weights {
    /// The weight of a role.
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

/// From which rank on something may be written (003, "check authority before write"). What a lower rank writes is kept, and
/// never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct WritePolicy {
    /// Constraints.
    pub constraint_from: Rank,
    /// What the organization knows.
    pub organizational_from: Rank,
}

/// When what is known is compacted, and how much of it at once (000 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CompactionPolicy {
    /// From so many items on that can be summarized together.
    pub from_items: u32,
    /// From so many tokens on, in all that the speaker may be shown: the pressure of the budget.
    pub from_tokens: u32,
    /// Items that are summarized at once, the oldest first; at most.
    pub cluster_items: u32,
}

/// Two settings that contradict each other, or one that makes no sense. Reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The setting that is wrong, as its path in a policy file.
    pub setting: &'static str,
    /// The setting that it contradicts, if it is not wrong by itself.
    pub conflicts_with: Option<&'static str>,
    /// What is wrong, and what would be right.
    pub reason: &'static str,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.conflicts_with {
            Some(against) => write!(f, "{} contradicts {against}: {}", self.setting, self.reason),
            None => write!(f, "{}: {}", self.setting, self.reason),
        }
    }
}

impl core::error::Error for PolicyError {}

impl Policy {
    /// 004 to the letter: no error rows, rollback is a dead end, an abort halts, repair has no bound, and
    /// Security's last argument wins.
    #[must_use]
    pub fn as_drawn() -> Self {
        Self {
            name: "as-drawn".to_string(),
            bounds: Bounds { passes: 3, repairs: Bound::Unbounded, audit_attempts: 1 },
            rules: Rules::all(false),
            ..Self::hardened()
        }
    }

    /// The default: 004 with its holes closed.
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
            bounds: Bounds { passes: 3, repairs: Bound::AtMost(2), audit_attempts: 3 },
            weights: Weights {
                analyst: Weight::ONE,
                solution: weight(1_200_000),
                critic: weight(1_500_000),
                security: weight(2_000_000),
                optimizer: weight(800_000),
            },
            elo: EloMethod::Incremental,
            writes: WritePolicy { constraint_from: Rank::Manager, organizational_from: Rank::Employee },
            compaction: CompactionPolicy { from_items: 64, from_tokens: 6_000, cluster_items: 32 },
            contexts: ContextPolicy::HARDENED,
            rules: Rules { approver: false, compacted_constraints: false, ..Rules::all(true) },
        }
    }

    /// The built-in policies, by name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "as-drawn" => Some(Self::as_drawn()),
            "hardened" => Some(Self::hardened()),
            _ => None,
        }
    }

    /// Finds what contradicts itself.
    ///
    /// # Errors
    /// The first [`Contradiction`] found.
    pub fn validate(&self) -> Result<(), PolicyError> {
        let (t, b, r, w) = (&self.thresholds, &self.bounds, &self.rules, &self.weights);
        let wrong = |setting, against, because| {
            Err(PolicyError { setting, conflicts_with: against, reason: because })
        };
        if t.proceed_from > t.redebate_below {
            return wrong(
                "thresholds.proceed_from",
                Some("thresholds.redebate_below"),
                "a consensus that ends the debate must be enough to proceed; expected proceed_from ≤ redebate_below",
            );
        }
        let c = &self.contexts;
        if c.reserved_tokens >= c.budget_tokens {
            return wrong(
                "contexts.reserved",
                Some("contexts.budget"),
                "something must be left for the context; expected reserved < budget",
            );
        }
        if c.module_overrides
            .iter()
            .any(|view| view.budget_tokens.is_some_and(|budget| c.reserved_tokens >= budget))
        {
            return wrong(
                "views",
                Some("contexts.reserved"),
                "something must be left for the context; expected every budget > reserved",
            );
        }
        if t.objection_from > t.veto_from {
            return wrong(
                "thresholds.objection_from",
                Some("thresholds.veto_from"),
                "a veto must also weigh as an objection; expected objection_from ≤ veto_from",
            );
        }
        if b.passes == 0 {
            return wrong("bounds.passes", None, "the debate needs at least one pass");
        }
        if self.compaction.cluster_items < 2 {
            return wrong(
                "compaction.cluster_items",
                None,
                "a summary stands for several items; expected at least 2",
            );
        }
        if b.audit_attempts == 0 {
            return wrong("bounds.audit_attempts", None, "the audit sink must be tried at least once");
        }
        if b.audit_attempts > 1 && !r.error_rows {
            return wrong(
                "bounds.audit_attempts",
                Some("rules.error_rows"),
                "a second attempt needs a row for the failure of the first; expected 1, or error_rows: true",
            );
        }
        if r.error_rows && !r.next_request {
            return wrong(
                "rules.error_rows",
                Some("rules.next_request"),
                "an error row leads back to Idle, where the next request must be accepted; expected both or neither",
            );
        }
        if r.cancel && !r.rollback_ends {
            return wrong(
                "rules.cancel",
                Some("rules.rollback_ends"),
                "a cancelled run is rolled back, and must be able to end; expected rollback_ends: true, or no cancel",
            );
        }
        if r.approver && !r.cleared_revisions {
            return wrong(
                "rules.approver",
                Some("rules.cleared_revisions"),
                "a repaired plan would run although nobody approved it; expected cleared_revisions: true, or no approver",
            );
        }
        if Role::ALL.iter().all(|role| w.for_role(*role) == Weight::ZERO) {
            return wrong("weights", None, "at least one voice must count, or no plan can ever proceed");
        }
        Ok(())
    }
}
