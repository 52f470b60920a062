//! The operations of modules.

use super::{ConclusionKind, Module, Role, Store};
use crate::ids::TaskId;
use crate::plan::EffectKind;

/// The operation of a call; it determines the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Operation {
    /// Check both identity locks.
    VerifyIdentity,
    /// Load ratings and past requests.
    LoadContext,
    /// Summarize the cluster and choose the items to forget (000 §6, `f_sum`).
    Summarize,
    /// Tag the request and measure its similarity to past ones.
    Classify,
    /// Draft the baseline plan (`build_initial_plan()`).
    DraftPlan,
    /// Argue for or against the current revision.
    Argue(Role),
    /// An additional debater argues for or against the current revision (decision 0039).
    ArgueAdditional {
        /// The position of the debater in [`Policy::additional_debaters`](crate::Policy::additional_debaters), from 0.
        debater: u32,
    },
    /// Security reviews a revision that is newer than its last argument. Not drawn in 004.
    ReviewRevision,
    /// Approve or reject the plan after the debate. Not drawn in 004.
    Approve,
    /// Run a task of the plan.
    RunTask {
        /// The task.
        task: TaskId,
        /// The kind of its declared effect.
        effect: EffectKind,
    },
    /// The Critic diagnoses a failed run and proposes a repaired plan.
    Diagnose,
    /// Run the declared compensation of a task.
    UndoTask {
        /// The task.
        task: TaskId,
    },
    /// Store the memory record of the request (`store_all_in_memory()`). Idempotent per request.
    StoreMemory {
        /// The store.
        store: Store,
        /// The kind of the record.
        kind: ConclusionKind,
    },
    /// Deliver the audit record (`audit_log()`). Idempotent per request.
    DeliverAudit,
}

impl Operation {
    /// Returns the module that performs the operation.
    #[must_use]
    pub const fn module(self) -> Module {
        match self {
            Self::VerifyIdentity => Module::IdentityGuard,
            Self::LoadContext => Module::Memory,
            Self::Summarize => Module::Summarizer,
            Self::Classify => Module::Classifier,
            Self::DraftPlan => Module::Planner,
            Self::Argue(role) => Module::Debater(role),
            Self::ArgueAdditional { .. } => Module::AdditionalDebater,
            Self::ReviewRevision => Module::Debater(Role::Security),
            Self::Approve => Module::Approver,
            Self::Diagnose => Module::Debater(Role::Critic),
            Self::RunTask { .. } | Self::UndoTask { .. } => Module::Executor,
            Self::StoreMemory { store, .. } => Module::Store(store),
            Self::DeliverAudit => Module::Auditor,
        }
    }

    /// Returns the task that the operation runs or undoes.
    #[must_use]
    pub const fn task(self) -> Option<TaskId> {
        match self {
            Self::RunTask { task, .. } | Self::UndoTask { task } => Some(task),
            Self::VerifyIdentity
            | Self::LoadContext
            | Self::Summarize
            | Self::Classify
            | Self::DraftPlan
            | Self::Argue(_)
            | Self::ArgueAdditional { .. }
            | Self::ReviewRevision
            | Self::Approve
            | Self::Diagnose
            | Self::StoreMemory { .. }
            | Self::DeliverAudit => None,
        }
    }

    /// Returns whether the module reads a context.
    #[must_use]
    pub const fn takes_context(self) -> bool {
        self.module().takes_context()
    }

    /// Returns the role that argues; `None` for an additional debater, and if the reply is no argument.
    #[must_use]
    pub const fn arguing_role(self) -> Option<Role> {
        match self {
            Self::Argue(role) => Some(role),
            Self::ReviewRevision => Some(Role::Security),
            Self::VerifyIdentity
            | Self::LoadContext
            | Self::Summarize
            | Self::Classify
            | Self::DraftPlan
            | Self::ArgueAdditional { .. }
            | Self::Approve
            | Self::RunTask { .. }
            | Self::Diagnose
            | Self::UndoTask { .. }
            | Self::StoreMemory { .. }
            | Self::DeliverAudit => None,
        }
    }

    /// Returns whether the reply is an argument.
    #[must_use]
    pub const fn expects_argument(self) -> bool {
        self.arguing_role().is_some() || matches!(self, Self::ArgueAdditional { .. })
    }

    /// Returns whether a repeated call may repeat an effect, so that the host must recover it after a crash (decision 0015).
    /// Stores and the audit sink are idempotent by trace id, and so not effectful.
    #[must_use]
    pub const fn is_effectful(self) -> bool {
        match self {
            Self::RunTask { effect, .. } => !matches!(effect, EffectKind::Pure),
            Self::UndoTask { .. } => true,
            Self::VerifyIdentity
            | Self::LoadContext
            | Self::Summarize
            | Self::Classify
            | Self::DraftPlan
            | Self::Argue(_)
            | Self::ArgueAdditional { .. }
            | Self::ReviewRevision
            | Self::Approve
            | Self::Diagnose
            | Self::StoreMemory { .. }
            | Self::DeliverAudit => false,
        }
    }

    /// Returns the expected reply, as a noun phrase.
    #[must_use]
    pub const fn expected_reply(self) -> &'static str {
        match self {
            Self::VerifyIdentity => "the identity guard's two locks",
            Self::LoadContext => "the memory's ratings and traces",
            Self::Summarize => "the summarizer's summary",
            Self::Classify => "the classifier's tags",
            Self::DraftPlan => "the planner's plan",
            Self::Argue(role) => match role {
                Role::Analyst => "the Analyst's argument",
                Role::Solution => "Solution's argument",
                Role::Critic => "the Critic's argument",
                Role::Security => "Security's argument",
                Role::Optimizer => "the Optimizer's argument",
            },
            Self::ArgueAdditional { .. } => "the additional debater's argument",
            Self::ReviewRevision => "Security's argument on the new revision",
            Self::Approve => "the approver's yes or no",
            Self::RunTask { .. } => "the executor's task result",
            Self::Diagnose => "the Critic's diagnosis",
            Self::UndoTask { .. } => "the executor's result of a compensation",
            Self::StoreMemory { store: Store::Local, .. } => "the local store's reply",
            Self::StoreMemory { store: Store::Cloud, .. } => "the cloud store's reply",
            Self::DeliverAudit => "the auditor's receipt",
        }
    }
}
