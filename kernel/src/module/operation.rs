//! What may be asked, and of whom.

use super::{ConclusionKind, Module, Role, Store};
use crate::ids::TaskId;
use crate::plan::EffectKind;

/// What a call asks of its module. The module follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Operation {
    /// Do both identity locks match the workspace?
    VerifyIdentity,
    /// Which ratings and past traces are known?
    LoadContext,
    /// What do the items of the cluster come to, and which of them may be forgotten? (000 §6, `f_sum`)
    Summarize,
    /// Which tags does the request carry, and how near is the nearest past one?
    Classify,
    /// What is the baseline plan? (`build_initial_plan()`)
    DraftPlan,
    /// What does this role say of the plan as it stands?
    Argue(Role),
    /// What does Security say of a revision that came after its round? Not drawn in 004.
    ReviewRevision,
    /// May the plan run, now that the debate let it pass? Not drawn in 004.
    Approve,
    /// Run a task of the plan. One with an effect may not be asked again blindly after a crash.
    RunTask {
        /// The task.
        task: TaskId,
        /// What kind of effect it leaves behind.
        effect: EffectKind,
    },
    /// What went wrong, and which plan repairs it? Asked of the Critic.
    Diagnose,
    /// Run the declared compensation of a task.
    UndoTask {
        /// The task.
        task: TaskId,
    },
    /// Keep the memory record of the request (`store_all_in_memory()`). Idempotent by request.
    StoreMemory {
        /// Where.
        store: Store,
        /// Under which kind.
        kind: ConclusionKind,
    },
    /// Take the audit record outside (`audit_log()`). Idempotent by request: it may be asked several times.
    DeliverAudit,
}

impl Operation {
    /// The module that is asked.
    #[must_use]
    pub const fn module(self) -> Module {
        match self {
            Self::VerifyIdentity => Module::IdentityGuard,
            Self::LoadContext => Module::Memory,
            Self::Summarize => Module::Summarizer,
            Self::Classify => Module::Classifier,
            Self::DraftPlan => Module::Planner,
            Self::Argue(role) => Module::Debater(role),
            Self::ReviewRevision => Module::Debater(Role::Security),
            Self::Approve => Module::Approver,
            Self::Diagnose => Module::Debater(Role::Critic),
            Self::RunTask { .. } | Self::UndoTask { .. } => Module::Executor,
            Self::StoreMemory { store, .. } => Module::Store(store),
            Self::DeliverAudit => Module::Auditor,
        }
    }

    /// The role that argues, if an argument is asked for.
    #[must_use]
    pub const fn argued_by(self) -> Option<Role> {
        match self {
            Self::Argue(role) => Some(role),
            Self::ReviewRevision => Some(Role::Security),
            _ => None,
        }
    }

    /// Whether asking twice may do harm, so that after a crash it may not be asked again blindly (decision 0015). Stores
    /// and the audit sink leave something outside as well, but are idempotent by trace id.
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
            | Self::ReviewRevision
            | Self::Approve
            | Self::Diagnose
            | Self::StoreMemory { .. }
            | Self::DeliverAudit => false,
        }
    }

    /// What a well-typed answer consists of, as a noun phrase.
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
            Self::ReviewRevision => "Security's argument on the new revision",
            Self::Approve => "the approver's yes or no",
            Self::RunTask { .. } => "the executor's task result",
            Self::Diagnose => "the Critic's diagnosis",
            Self::UndoTask { .. } => "the executor's result of a compensation",
            Self::StoreMemory { store: Store::Local, .. } => "the local store's answer",
            Self::StoreMemory { store: Store::Cloud, .. } => "the cloud store's answer",
            Self::DeliverAudit => "the auditor's receipt",
        }
    }
}
