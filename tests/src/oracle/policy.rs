//! The policy as the oracle reads it: lines, bounds, weights, rules.

use super::encoding::{Rank, Role};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Scores in millionths, as policies are published in traces.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OraclePolicy {
    pub(super) thresholds: Thresholds,
    pub(super) bounds: Bounds,
    pub(super) weights: BTreeMap<Role, u32>,
    pub(super) elo: Elo,
    pub(super) writes: Writes,
    pub(super) compaction: Compaction,
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

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Bounds {
    pub(super) passes: u32,
    pub(super) repairs: Repairs,
    pub(super) audit_attempts: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Repairs {
    AtMost(u32),
    Unbounded,
}

/// From which rank on something may be written (003-9.3).
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Writes {
    pub(super) constraint_from: Rank,
    pub(super) organizational_from: Rank,
}

/// When what is known is compacted, and how much of it at once (decision 0021).
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Compaction {
    pub(super) from_items: usize,
    pub(super) from_tokens: usize,
    pub(super) cluster_items: usize,
}

/// Decision 0014.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Elo {
    Incremental,
    Standard,
}

/// The rules that depart from 004's drawing; each closes the finding that its policy file names.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rules {
    pub(super) audited_abort: bool,
    pub(super) rollback_ends: bool,
    pub(super) sticky_veto: bool,
    pub(super) veto_ends_debate: bool,
    pub(super) named_objections: bool,
    pub(super) below_threshold_label: bool,
    pub(super) cleared_revisions: bool,
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
    /// What a policy says in its published encoding.
    pub(super) fn read(policy: Value) -> Result<Self, String> {
        serde_json::from_value(policy).map_err(|error| format!("the policy cannot be read: {error}"))
    }
}
