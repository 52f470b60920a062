//! Modules, the operations that they perform, and their replies (000 §5.1, 004 §1).
//!
//! The boundary parses a module's text once, into a [`Report`]. Control reads reports, never texts. Deliberately absent:
//! how the runtime reaches a module, and what a call costs.

mod operation;
mod report;

pub use operation::Operation;
pub use report::{Argument, Failure, PastRequest, Rating, Ratings, Report, Stance};

use crate::ids::CapabilityId;
use core::fmt;

/// A module of 000 §5.1: an agent, a store or the audit sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Module {
    /// Compares the workspace with the two identity locks.
    IdentityGuard,
    /// Returns ratings and past requests.
    Memory,
    /// Summarizes several items in one (000 §6, `Sum`).
    Summarizer,
    /// Tags a request and finds similar past ones.
    Classifier,
    /// Drafts the baseline plan.
    Planner,
    /// A debater; the Critic also diagnoses failures.
    Debater(Role),
    /// One of the debaters that the policy adds to the five (decision 0039). They share one module.
    AdditionalDebater,
    /// Approves or rejects a plan after the debate; called only if the policy enables it.
    Approver,
    /// Runs tasks and compensations.
    Executor,
    /// One of the two persistent stores.
    Store(Store),
    /// Delivers audit records to an outside sink.
    Auditor,
}

impl Module {
    /// Every module.
    pub const ALL: [Self; 16] = [
        Self::IdentityGuard,
        Self::Memory,
        Self::Summarizer,
        Self::Classifier,
        Self::Planner,
        Self::Debater(Role::Analyst),
        Self::Debater(Role::Solution),
        Self::Debater(Role::Critic),
        Self::Debater(Role::Security),
        Self::Debater(Role::Optimizer),
        Self::AdditionalDebater,
        Self::Approver,
        Self::Executor,
        Self::Store(Store::Local),
        Self::Store(Store::Cloud),
        Self::Auditor,
    ];

    /// Returns whether the module reads a context (000 §5). Identity guard, stores and audit sink read only the data of the call.
    #[must_use]
    pub const fn takes_context(self) -> bool {
        match self {
            Self::Memory
            | Self::Summarizer
            | Self::Classifier
            | Self::Planner
            | Self::Debater(_)
            | Self::AdditionalDebater
            | Self::Approver
            | Self::Executor => true,
            Self::IdentityGuard | Self::Store(_) | Self::Auditor => false,
        }
    }

    /// Returns the capability that a node needs to execute calls of this module (decision 0042): its name.
    #[must_use]
    pub fn capability(self) -> CapabilityId {
        CapabilityId::new(self.name())
    }

    /// Returns the name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdentityGuard => "identity_guard",
            Self::Memory => "memory",
            Self::Summarizer => "summarizer",
            Self::Classifier => "classifier",
            Self::Planner => "planner",
            Self::Debater(Role::Analyst) => "analyst",
            Self::Debater(Role::Solution) => "solution",
            Self::Debater(Role::Critic) => "critic",
            Self::Debater(Role::Security) => "security",
            Self::Debater(Role::Optimizer) => "optimizer",
            Self::AdditionalDebater => "additional_debater",
            Self::Approver => "approver",
            Self::Executor => "executor",
            Self::Store(Store::Local) => "local_store",
            Self::Store(Store::Cloud) => "cloud_store",
            Self::Auditor => "auditor",
        }
    }
}

/// A role of the debate, in the order of its rounds (004 §1, Arena_Debate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Role {
    /// Analyzes the request.
    Analyst,
    /// Argues for the plan and refines it.
    Solution,
    /// Reviews the plan.
    Critic,
    /// Reviews the plan for danger; may veto.
    Security,
    /// Improves the plan.
    Optimizer,
}

impl Role {
    /// Every role, in the order of the rounds.
    pub const ALL: [Self; 5] = [Self::Analyst, Self::Solution, Self::Critic, Self::Security, Self::Optimizer];

    /// Returns whether an argument of this role may contain a new revision of the plan.
    #[must_use]
    pub const fn revises_plan(self) -> bool {
        matches!(self, Self::Solution | Self::Optimizer)
    }
}

/// One value for each role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PerRole<T> {
    /// The Analyst's.
    pub analyst: T,
    /// Solution's.
    pub solution: T,
    /// The Critic's.
    pub critic: T,
    /// Security's.
    pub security: T,
    /// The Optimizer's.
    pub optimizer: T,
}

impl<T> PerRole<T> {
    /// Returns the value of one role.
    pub const fn get(&self, role: Role) -> &T {
        match role {
            Role::Analyst => &self.analyst,
            Role::Solution => &self.solution,
            Role::Critic => &self.critic,
            Role::Security => &self.security,
            Role::Optimizer => &self.optimizer,
        }
    }

    /// Returns the mutable value of one role.
    pub const fn get_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Analyst => &mut self.analyst,
            Role::Solution => &mut self.solution,
            Role::Critic => &mut self.critic,
            Role::Security => &mut self.security,
            Role::Optimizer => &mut self.optimizer,
        }
    }
}

/// The two stores of 004 §2: "local SQLite and cloud Atlas collections".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Store {
    /// The local store, called first.
    Local,
    /// The cloud store, called second.
    Cloud,
}

/// The kind of a conclusion, in the stores and in the audit (finding F13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ConclusionKind {
    /// Every task succeeded.
    Outcome,
    /// The plan did not run: the debate or the approver stopped it, or a debater's call failed.
    Blocked,
    /// The plan ran and was rolled back.
    RolledBack,
    /// The request ended before the plan could run.
    Aborted,
}

impl fmt::Display for ConclusionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outcome => "outcome",
            Self::Blocked => "blocked",
            Self::RolledBack => "rolled back",
            Self::Aborted => "aborted",
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Analyst => "Analyst",
            Self::Solution => "Solution",
            Self::Critic => "Critic",
            Self::Security => "Security",
            Self::Optimizer => "Optimizer",
        })
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local store",
            Self::Cloud => "cloud store",
        })
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdentityGuard => f.write_str("identity guard"),
            Self::Memory => f.write_str("memory"),
            Self::Summarizer => f.write_str("summarizer"),
            Self::Classifier => f.write_str("classifier"),
            Self::Planner => f.write_str("planner"),
            Self::Debater(role) => role.fmt(f),
            Self::AdditionalDebater => f.write_str("additional debater"),
            Self::Approver => f.write_str("approver"),
            Self::Executor => f.write_str("executor"),
            Self::Store(store) => store.fmt(f),
            Self::Auditor => f.write_str("auditor"),
        }
    }
}
