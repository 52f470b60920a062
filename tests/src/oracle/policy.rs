//! The policy as the oracle reads it: thresholds, bounds, weights, contexts, rules.

use super::encoding::{OracleOperation, Rank, Role};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A policy, with scores and weights in millionths, as traces publish it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OraclePolicy {
    pub(super) thresholds: Thresholds,
    pub(super) bounds: Bounds,
    pub(super) weights: BTreeMap<Role, u32>,
    /// Decision 0039; absent if there are none.
    #[serde(default)]
    pub(super) additional_debaters: Vec<AdditionalDebater>,
    pub(super) elo: Elo,
    /// Ranks by title, role or system (decision 0028).
    pub(super) ranks: BTreeMap<String, Rank>,
    pub(super) writes: Writes,
    pub(super) compaction: Compaction,
    pub(super) contexts: Contexts,
    pub(super) situation: SituationLimits,
    pub(super) rules: Rules,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Thresholds {
    pub(super) redebate_below: u32,
    pub(super) proceed_from: u32,
    pub(super) veto_from: u32,
    pub(super) objection_from: u32,
    pub(super) critique_above: u32,
}

/// A debater after the five roles, with its weight in millionths.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct AdditionalDebater {
    pub(super) name: String,
    pub(super) weight: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Bounds {
    pub(super) passes: u32,
    pub(super) repairs: Repairs,
    pub(super) audit_attempts: u32,
    /// Decision 0040; absent in policies that were recorded before it.
    #[serde(default = "sequential")]
    pub(super) parallel_tasks: usize,
}

/// Before decision 0040 tasks ran one after the other.
const fn sequential() -> usize {
    1
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Repairs {
    AtMost(u32),
    Unbounded,
}

/// The lowest ranks that may write constraints and organizational facts (003-9.3).
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Writes {
    pub(super) constraint_from: Rank,
    pub(super) organizational_from: Rank,
    pub(super) strict_ranks: bool,
}

/// The limits from which compaction is due, the size of a cluster, and the capacity of a session (decision 0021).
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Compaction {
    pub(super) from_items: usize,
    pub(super) from_tokens: usize,
    pub(super) cluster_items: usize,
    pub(super) session_items_max: usize,
}

/// The budget of contexts and the utility of items (000 §5, decision 0024).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Contexts {
    pub(super) budget_tokens: u32,
    pub(super) reserved_tokens: u32,
    pub(super) recency: u32,
    pub(super) provenance: bool,
    pub(super) needs_review: bool,
    pub(super) module_overrides: Vec<ModuleOverride>,
}

/// The limits of the situation, and the modes of operations (decision 0034).
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs, reason = "decision 0034 describes the settings")]
pub struct SituationLimits {
    pub max_history: usize,
    pub summary_chars_max: usize,
    pub result_chars_max: usize,
    pub compressed_args_chars_max: usize,
    pub compressed_result_chars_max: usize,
    classify_mode: Option<String>,
    draft_plan_mode: Option<String>,
    argue_mode: Option<String>,
    review_revision_mode: Option<String>,
    approve_mode: Option<String>,
    run_task_mode: Option<String>,
    undo_task_mode: Option<String>,
    diagnose_mode: Option<String>,
}

impl SituationLimits {
    /// Returns the mode in which a module receives the situation (002-3.5 to 002-3.9). Other operations have none.
    pub(super) fn mode(&self, operation: OracleOperation) -> Option<&str> {
        let mode = match operation {
            OracleOperation::Classify => &self.classify_mode,
            OracleOperation::DraftPlan => &self.draft_plan_mode,
            OracleOperation::Argue(_) | OracleOperation::ArgueAdditional { .. } => &self.argue_mode,
            OracleOperation::ReviewRevision => &self.review_revision_mode,
            OracleOperation::Approve => &self.approve_mode,
            OracleOperation::RunTask { .. } => &self.run_task_mode,
            OracleOperation::UndoTask { .. } => &self.undo_task_mode,
            OracleOperation::Diagnose => &self.diagnose_mode,
            _ => return None,
        };
        mode.as_deref()
    }
}

/// The settings of one module that differ.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ModuleOverride {
    pub(super) module: Value,
    pub(super) budget_tokens: Option<u32>,
    /// Weights in millionths, by topic.
    pub(super) weights: BTreeMap<String, u32>,
}

/// Decision 0014.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Elo {
    Incremental,
    Standard,
}

/// The rules that depart from 004's drawing. The policy file names the finding that each of them closes.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rules {
    pub(super) audited_abort: bool,
    pub(super) rollback_ends: bool,
    pub(super) sticky_veto: bool,
    pub(super) veto_ends_debate: bool,
    pub(super) named_objections: bool,
    pub(super) below_threshold_label: bool,
    pub(super) cleared_revisions: bool,
    pub(super) current_facts: bool,
    pub(super) recorded_stores: bool,
    pub(super) typed_kinds: bool,
    pub(super) error_rows: bool,
    pub(super) effects_ledger: bool,
    pub(super) next_request: bool,
    pub(super) cancel: bool,
    pub(super) approver: bool,
    pub(super) compaction: bool,
    pub(super) compacted_constraints: bool,
    pub(super) repointed_dependents: bool,
}

impl OraclePolicy {
    /// Reads a policy from its published encoding.
    pub(super) fn from_json(policy: Value) -> Result<Self, String> {
        serde_json::from_value(policy).map_err(|error| format!("unreadable policy: {error}"))
    }
}

impl Contexts {
    /// Returns the token limit of a context: the budget of the module, otherwise the common one, minus the tokens
    /// reserved for the reply (decision 0024).
    pub(super) fn token_limit(&self, module: &Value) -> u64 {
        let own = self.override_for(module).and_then(|settings| settings.budget_tokens);
        u64::from(own.unwrap_or(self.budget_tokens)).saturating_sub(u64::from(self.reserved_tokens))
    }

    /// Returns the settings of one module that differ, if any.
    pub(super) fn override_for(&self, module: &Value) -> Option<&ModuleOverride> {
        self.module_overrides.iter().find(|settings| settings.module == *module)
    }
}
