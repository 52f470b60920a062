//! The oracle's own words: what the published encoding says, read into plain types.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An input, as 000-4.4 and decision 0012 list them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleInput {
    SessionStart {
        user: String,
    },
    SessionEnd,
    UserMessage {
        user: String,
        text: String,
    },
    Reply {
        call: u64,
        report: OracleReply,
        /// 002-4.1, as it came.
        #[serde(default)]
        summary_update: Value,
        /// 002-2.1, as it came.
        #[serde(default)]
        action: Value,
    },
    CallFailed {
        call: u64,
        failure: String,
    },
    Step,
    Cancel,
    Resume,
    Write(Box<OracleWrite>),
}

/// What is written by name (003, decision 0019).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleWrite {
    Identity { name: String, identity: Value },
    Fact(Box<OracleFact>),
    Working { key: String, text: String, expires_at: Option<u64>, depends_on: Vec<OracleReference> },
    Environment { key: String, text: String, supersedes: Option<OracleReference> },
    Clock { now: u64, text: String },
}

/// A fact as it is said (003-2.2 to 003-2.14).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OracleFact {
    pub(super) kind: Value,
    pub(super) key: String,
    pub(super) text: String,
    pub(super) source: OracleSource,
    pub(super) at: u64,
    pub(super) memory: String,
    pub(super) scope: Value,
    pub(super) audience: Value,
    pub(super) time_sensitive: bool,
    pub(super) supersedes: Option<OracleReference>,
    pub(super) detected: Option<String>,
    pub(super) rests_on: Vec<OracleReference>,
}

/// Who said it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OracleSource {
    pub(super) name: String,
    pub(super) rank: Rank,
}

/// How much a word counts, lowest first (003-6.3, DESIGN §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rank {
    Unverified,
    Guest,
    Employee,
    Manager,
    Executive,
    Policy,
}

/// What a write refers to.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleReference {
    Id(u64),
    Key(String),
}

/// The five voices, in the order of their rounds (004-1.10 to 004-1.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    Analyst,
    Solution,
    Critic,
    Security,
    Optimizer,
}

pub(super) const ROLES: [Role; 5] =
    [Role::Analyst, Role::Solution, Role::Critic, Role::Security, Role::Optimizer];

/// What a role has earned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rating {
    pub(super) elo: u32,
    pub(super) successes: u32,
    pub(super) matches: u32,
}

pub(super) type Ratings = BTreeMap<Role, Rating>;

/// Everybody starts at 1200 (DESIGN §2, Elo).
pub(super) fn starting_ratings() -> Ratings {
    ROLES.iter().map(|role| (*role, Rating { elo: 1200, successes: 0, matches: 0 })).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stance {
    Pro,
    Con,
}

/// A voice: for or against, and how surely, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Voice {
    pub(super) stance: Stance,
    pub(super) confidence: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Effect {
    Pure,
    Undoable { compensation: String },
    Irreversible,
}

impl Effect {
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Undoable { .. } => "undoable",
            Self::Irreversible => "irreversible",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) id: u32,
    pub(super) text: String,
    pub(super) effect: Effect,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct PastTrace {
    pub(super) trace: Value,
    pub(super) text: String,
}

/// A module's answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleReply {
    Identity { gcp: bool, mongodb: bool },
    Context { ratings: Ratings, traces: Vec<PastTrace> },
    Classification { tags: Vec<String> },
    Summary { text: String, forgets: Option<Vec<u64>> },
    Plan(Vec<Task>),
    Argument { argument: Voice, text: String, plan: Option<Vec<Task>> },
    Approval { approved: bool, text: String },
    Repaired { text: String, plan: Vec<Task> },
    NoRepair { text: String },
    Exit { code: i32, text: String },
    Stored { held: bool },
    Delivered,
}

/// What a module is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleOperation {
    VerifyIdentity,
    LoadContext,
    Summarize,
    Classify,
    DraftPlan,
    Argue(Role),
    Reread,
    Approve,
    RunTask { task: u32, effect: &'static str },
    Diagnose,
    UndoTask { task: u32 },
    Remember { store: &'static str, kind: &'static str },
    DeliverAudit,
}

impl OracleOperation {
    /// Who is asked (000-1.5, 000-3.2: the module follows from the question).
    pub(super) fn module(self) -> Value {
        match self {
            Self::VerifyIdentity => json!("identity_guard"),
            Self::LoadContext => json!("memory"),
            Self::Summarize => json!("summarizer"),
            Self::Classify => json!("classifier"),
            Self::DraftPlan => json!("planner"),
            Self::Argue(role) => json!({ "debater": role }),
            // 004-1.15: it is Security who reads a revision again.
            Self::Reread => json!({ "debater": Role::Security }),
            Self::Approve => json!("approver"),
            // DESIGN §2, who diagnoses: SelfHealingActive asks the Critic.
            Self::Diagnose => json!({ "debater": Role::Critic }),
            Self::RunTask { .. } | Self::UndoTask { .. } => json!("executor"),
            Self::Remember { store, .. } => json!({ "store": store }),
            Self::DeliverAudit => json!("auditor"),
        }
    }

    /// 000-0.3: whether the answer is of the type that was asked for.
    pub(super) const fn is_answered_by(self, answer: &OracleReply) -> bool {
        match answer {
            OracleReply::Identity { .. } => matches!(self, Self::VerifyIdentity),
            OracleReply::Context { .. } => matches!(self, Self::LoadContext),
            OracleReply::Summary { .. } => matches!(self, Self::Summarize),
            OracleReply::Classification { .. } => matches!(self, Self::Classify),
            OracleReply::Plan(_) => matches!(self, Self::DraftPlan),
            OracleReply::Argument { plan: None, .. } => matches!(self, Self::Argue(_) | Self::Reread),
            // 004-1.12 and 004-1.15: only Solution and the Optimizer bring a revision.
            OracleReply::Argument { plan: Some(_), .. } => {
                matches!(self, Self::Argue(Role::Solution | Role::Optimizer))
            }
            OracleReply::Approval { .. } => matches!(self, Self::Approve),
            OracleReply::Repaired { .. } | OracleReply::NoRepair { .. } => matches!(self, Self::Diagnose),
            OracleReply::Exit { .. } => matches!(self, Self::RunTask { .. } | Self::UndoTask { .. }),
            OracleReply::Stored { .. } => matches!(self, Self::Remember { .. }),
            OracleReply::Delivered => matches!(self, Self::DeliverAudit),
        }
    }
}
