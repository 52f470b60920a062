//! Who is asked, what is asked, and what may be answered (000 §5.1, 004 §1).
//!
//! Modules answer in text; the border parses that text once, into a [`Report`]. Control reads reports,
//! never texts. Deliberately absent: how a module is reached, and what it costs.

use crate::ids::{TaskId, Text, TraceId};
use crate::plan::{EffectKind, Plan};
use crate::score::Score;
use core::fmt;

/// A module of 000 §5.1: an agent, a store or the outside audit sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Module {
    /// Compares the workspace with the two identity locks.
    IdentityGuard,
    /// Gives back ratings and traces of earlier requests.
    Memory,
    /// Tags a request and finds similar ones.
    Classifier,
    /// Drafts the baseline plan.
    Planner,
    /// A voice of the debate; the Critic also diagnoses failures.
    Debater(Role),
    /// Lets a plan run that the debate let pass, or not; only asked where the policy wants one.
    Approver,
    /// Runs and undoes tasks.
    Executor,
    /// One of the two memories that outlive a request.
    Store(Store),
    /// Takes audit records outside.
    Auditor,
}

/// A role of the debate, in the order of its rounds (004 §1, Arena_Debate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Role {
    /// Opens the debate with an analysis of the request.
    Analyst,
    /// Argues for the plan and refines it.
    Solution,
    /// Reviews the plan.
    Critic,
    /// Looks for danger; may veto.
    Security,
    /// Improves the plan.
    Optimizer,
}

impl Role {
    /// Every role, in the order of the rounds.
    pub const ALL: [Self; 5] = [Self::Analyst, Self::Solution, Self::Critic, Self::Security, Self::Optimizer];

    /// Whether an argument of this role may bring a new revision of the plan.
    #[must_use]
    pub const fn revises_plan(self) -> bool {
        matches!(self, Self::Solution | Self::Optimizer)
    }
}

/// One value for each role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ByRole<T> {
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

impl<T> ByRole<T> {
    /// The value of one role.
    pub const fn get(&self, role: Role) -> &T {
        match role {
            Role::Analyst => &self.analyst,
            Role::Solution => &self.solution,
            Role::Critic => &self.critic,
            Role::Security => &self.security,
            Role::Optimizer => &self.optimizer,
        }
    }

    /// The value of one role, to be changed.
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

/// The two memories of 004 §2: "local SQLite and cloud Atlas collections".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Store {
    /// Asked first.
    Local,
    /// Asked second.
    Cloud,
}

/// What a call asks of its module. The module follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Ask {
    /// Do both identity locks match the workspace?
    VerifyIdentity,
    /// Which ratings and past traces are known?
    LoadContext,
    /// Which tags does the request carry, and how near is the nearest past one?
    Classify,
    /// What is the baseline plan? (`build_initial_plan()`)
    DraftPlan,
    /// What does this role say of the plan as it stands?
    Argue(Role),
    /// What does Security say of a revision that came after its round? Not drawn in 004.
    Reread,
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
    Remember {
        /// Where.
        store: Store,
        /// Under which kind.
        kind: Kind,
    },
    /// Take the audit record outside (`audit_log()`).
    DeliverAudit,
}

impl Ask {
    /// The module that is asked.
    #[must_use]
    pub const fn module(self) -> Module {
        match self {
            Self::VerifyIdentity => Module::IdentityGuard,
            Self::LoadContext => Module::Memory,
            Self::Classify => Module::Classifier,
            Self::DraftPlan => Module::Planner,
            Self::Argue(role) => Module::Debater(role),
            Self::Reread => Module::Debater(Role::Security),
            Self::Approve => Module::Approver,
            Self::Diagnose => Module::Debater(Role::Critic),
            Self::RunTask { .. } | Self::UndoTask { .. } => Module::Executor,
            Self::Remember { store, .. } => Module::Store(store),
            Self::DeliverAudit => Module::Auditor,
        }
    }

    /// The role that argues, if an argument is asked for.
    #[must_use]
    pub const fn arguing(self) -> Option<Role> {
        match self {
            Self::Argue(role) => Some(role),
            Self::Reread => Some(Role::Security),
            _ => None,
        }
    }

    /// Whether the call may leave something behind outside. After a crash it may not be asked again blindly
    /// (decision 0015).
    #[must_use]
    pub const fn is_effectful(self) -> bool {
        match self {
            Self::RunTask { effect, .. } => !matches!(effect, EffectKind::Pure),
            Self::UndoTask { .. } => true,
            _ => false,
        }
    }

    /// What a well-typed answer consists of, as a noun phrase.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::VerifyIdentity => "the identity guard's two locks",
            Self::LoadContext => "the memory's ratings and traces",
            Self::Classify => "the classifier's tags",
            Self::DraftPlan => "the planner's plan",
            Self::Argue(role) => match role {
                Role::Analyst => "the Analyst's argument",
                Role::Solution => "Solution's argument",
                Role::Critic => "the Critic's argument",
                Role::Security => "Security's argument",
                Role::Optimizer => "the Optimizer's argument",
            },
            Self::Reread => "Security's argument on the new revision",
            Self::Approve => "the approver's yes or no",
            Self::RunTask { .. } => "the executor's task result",
            Self::Diagnose => "the Critic's diagnosis",
            Self::UndoTask { .. } => "the executor's result of a compensation",
            Self::Remember { store: Store::Local, .. } => "the local store's answer",
            Self::Remember { store: Store::Cloud, .. } => "the cloud store's answer",
            Self::DeliverAudit => "the auditor's receipt",
        }
    }
}

/// A module's answer, typed at the border.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Report {
    /// Answers [`Ask::VerifyIdentity`].
    Identity {
        /// The GCP lock matches.
        gcp: bool,
        /// The MongoDB lock matches.
        mongodb: bool,
    },
    /// Answers [`Ask::LoadContext`].
    Context {
        /// The ratings that each role has earned so far.
        ratings: Ratings,
        /// What is remembered of earlier requests.
        traces: alloc::vec::Vec<PastTrace>,
    },
    /// Answers [`Ask::Classify`].
    Classification {
        /// The tags, in the classifier's order.
        tags: alloc::vec::Vec<Text>,
        /// The cosine similarity of the nearest past request.
        similarity: Score,
    },
    /// Answers [`Ask::DraftPlan`].
    Plan(Plan),
    /// Answers [`Ask::Argue`] and [`Ask::Reread`].
    Argument {
        /// For or against the plan, and how surely.
        argument: Argument,
        /// What was said.
        text: Text,
        /// A new revision of the plan; only Solution and the Optimizer may bring one.
        plan: Option<Plan>,
    },
    /// Answers [`Ask::Approve`].
    Approval {
        /// The plan may run.
        approved: bool,
        /// Why, or on which condition.
        text: Text,
    },
    /// Answers [`Ask::Diagnose`] with a repaired plan.
    Repaired {
        /// What went wrong.
        text: Text,
        /// The tasks that are to run now. A completed task that it does not name does not run again.
        plan: Plan,
    },
    /// Answers [`Ask::Diagnose`]: there is no repair.
    NoRepair {
        /// Why.
        text: Text,
    },
    /// Answers [`Ask::RunTask`] and [`Ask::UndoTask`].
    Exit {
        /// 0 is success (004 §2, "exit code ≠ 0").
        code: i32,
        /// What the task printed.
        text: Text,
    },
    /// Answers [`Ask::Remember`].
    Stored {
        /// Whether the store now holds the record.
        held: bool,
    },
    /// Answers [`Ask::DeliverAudit`].
    Delivered,
}

impl Report {
    /// Whether this kind of report answers that question.
    #[must_use]
    pub const fn answers(&self, ask: Ask) -> bool {
        match self {
            Self::Identity { .. } => matches!(ask, Ask::VerifyIdentity),
            Self::Context { .. } => matches!(ask, Ask::LoadContext),
            Self::Classification { .. } => matches!(ask, Ask::Classify),
            Self::Plan(_) => matches!(ask, Ask::DraftPlan),
            Self::Argument { plan: None, .. } => ask.arguing().is_some(),
            Self::Argument { plan: Some(_), .. } => match ask {
                Ask::Argue(role) => role.revises_plan(),
                _ => false,
            },
            Self::Approval { .. } => matches!(ask, Ask::Approve),
            Self::Repaired { .. } | Self::NoRepair { .. } => matches!(ask, Ask::Diagnose),
            Self::Exit { .. } => matches!(ask, Ask::RunTask { .. } | Ask::UndoTask { .. }),
            Self::Stored { .. } => matches!(ask, Ask::Remember { .. }),
            Self::Delivered => matches!(ask, Ask::DeliverAudit),
        }
    }

    /// The plan that the report brings, if it brings one.
    #[must_use]
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(plan) | Self::Argument { plan: Some(plan), .. } | Self::Repaired { plan, .. } => {
                Some(plan)
            }
            _ => None,
        }
    }

    /// What the report is, as a noun phrase.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Identity { .. } => "identity locks",
            Self::Context { .. } => "ratings and traces",
            Self::Classification { .. } => "tags",
            Self::Plan(_) => "a plan",
            Self::Argument { plan: None, .. } => "an argument",
            Self::Argument { plan: Some(_), .. } => "an argument with a new plan",
            Self::Approval { .. } => "an approval",
            Self::Repaired { .. } => "a repaired plan",
            Self::NoRepair { .. } => "a diagnosis without repair",
            Self::Exit { .. } => "a task result",
            Self::Stored { .. } => "a store's answer",
            Self::Delivered => "a receipt",
        }
    }
}

/// How a call ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Failure {
    /// The module said that it failed.
    Error,
    /// No answer came in time; whether anything happened is not known.
    Timeout,
    /// An answer came that the border could not type.
    Malformed,
    /// Nobody was there to be asked.
    NoCandidates,
    /// The runtime crashed while it waited, and cannot find out whether the call happened.
    Unknown,
}

impl Failure {
    /// Every way to fail.
    pub const ALL: [Self; 5] =
        [Self::Error, Self::Timeout, Self::Malformed, Self::NoCandidates, Self::Unknown];
}

/// For or against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Stance {
    /// For the plan.
    Pro,
    /// Against the plan.
    Con,
}

/// What control keeps of an argument: its stance and its confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Argument {
    /// For or against.
    pub stance: Stance,
    /// How surely.
    pub confidence: Score,
}

impl Argument {
    /// Whether it is an objection of at least this confidence.
    #[must_use]
    pub fn objects_from(self, confidence: Score) -> bool {
        self.stance == Stance::Con && self.confidence >= confidence
    }
}

/// What a role has earned: its Elo rating in points, and its matches and how many of them it won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rating {
    /// Elo points; everybody starts at 1200.
    pub elo: u32,
    /// Matches won.
    pub successes: u32,
    /// Matches played.
    pub matches: u32,
}

impl Rating {
    /// Where everybody starts.
    pub const START: Self = Self { elo: 1200, successes: 0, matches: 0 };
}

impl Default for Rating {
    fn default() -> Self {
        Self::START
    }
}

/// The ratings of the five roles.
pub type Ratings = ByRole<Rating>;

/// What memory knows of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PastTrace {
    /// The earlier request.
    pub trace: TraceId,
    /// What it was about and how it ended.
    pub text: Text,
}

/// As what a request ends, in the stores and in the audit (finding F13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Kind {
    /// Every task succeeded.
    Outcome,
    /// The debate did not let the plan run.
    Blocked,
    /// It ran, and was rolled back.
    RolledBack,
    /// It ended before anything ran.
    Aborted,
}

impl fmt::Display for Kind {
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
            Self::Classifier => f.write_str("classifier"),
            Self::Planner => f.write_str("planner"),
            Self::Debater(role) => role.fmt(f),
            Self::Approver => f.write_str("approver"),
            Self::Executor => f.write_str("executor"),
            Self::Store(store) => store.fmt(f),
            Self::Auditor => f.write_str("auditor"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Malformed => "malformed answer",
            Self::NoCandidates => "no candidates",
            Self::Unknown => "fate unknown",
        })
    }
}

impl fmt::Display for Stance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pro => "PRO",
            Self::Con => "CON",
        })
    }
}
