//! The oracle's own types: the published encoding of inputs and operations, read into plain data.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An input, as 000-4.4 and decision 0012 list them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleInput {
    SessionStart {
        user: String,
        /// 003-1.1.
        #[serde(default)]
        identity: Option<OracleIdentity>,
    },
    SessionEnd,
    UserMessage {
        user: String,
        text: String,
        /// Decision 0037.
        #[serde(default = "global")]
        scope: Value,
    },
    Reply {
        call: u64,
        report: OracleReply,
        /// 002-4.1, unparsed.
        #[serde(default)]
        summary_update: Value,
        /// 002-2.1, unparsed.
        #[serde(default)]
        action: Value,
    },
    CallFailed {
        call: u64,
        failure: String,
    },
    Step,
    Cancel,
    Tick,
    Resume,
    Write(Box<OracleWrite>),
}

/// The scope of what states none (decision 0037).
pub(super) fn global() -> Value {
    json!("global")
}

/// A write under a key (003, decision 0019).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleWrite {
    Fact(Box<OracleFact>),
    Working {
        key: String,
        text: String,
        expires_at: Option<u64>,
        depends_on: Vec<OracleReference>,
    },
    Environment {
        key: String,
        text: String,
        supersedes: Option<OracleReference>,
    },
    /// Decision 0037.
    Promote {
        key: String,
        scope: Value,
        source: OracleWriteSource,
    },
}

/// A written fact (003-2.2 to 003-2.14).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OracleFact {
    pub(super) kind: Value,
    pub(super) key: String,
    pub(super) text: String,
    pub(super) source: OracleWriteSource,
    #[serde(default)]
    pub(super) established_at: Option<u64>,
    pub(super) memory: String,
    pub(super) scope: Value,
    pub(super) audience: Value,
    pub(super) time_sensitive: bool,
    pub(super) supersedes: Option<OracleReference>,
    pub(super) detected_rule: Option<String>,
    pub(super) depends_on: Vec<OracleReference>,
    #[serde(default)]
    pub(super) is_from_text: bool,
}

/// The source of a write, before its rank is known (decision 0028).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OracleWriteSource {
    pub(super) name: Option<String>,
    pub(super) rank: Option<Rank>,
    pub(super) is_derived: bool,
}

/// The source of a fact.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OracleSource {
    pub(super) name: String,
    pub(super) rank: Rank,
    /// How the fact was derived from a text, if it was (decision 0032).
    pub(super) derivation: Option<Value>,
}

/// An identity, before its rank is known (003-1.1, decision 0028).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OracleIdentity {
    pub(super) name: String,
    pub(super) authority: String,
    pub(super) rank: Option<Rank>,
    pub(super) department: String,
    pub(super) organization: String,
    pub(super) permissions: Vec<String>,
}

/// The authority of a source, lowest first (003-6.3, DESIGN §2).
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

/// A reference to an item, by id or by key.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleReference {
    Id(u64),
    Key(String),
}

/// The five roles, in the order of their rounds (004-1.10 to 004-1.14).
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

/// The rating of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rating {
    pub(super) elo: u32,
    pub(super) successes: u32,
    pub(super) matches: u32,
}

pub(super) type Ratings = BTreeMap<Role, Rating>;

/// Returns the rating with which every role starts: 1200 points (DESIGN §2, Elo).
pub(super) fn starting_ratings() -> Ratings {
    ROLES.iter().map(|role| (*role, Rating { elo: 1200, successes: 0, matches: 0 })).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stance {
    Pro,
    Con,
}

/// The argument of a role: its stance, and its confidence in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct OracleArgument {
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
    /// Decision 0040; absent for the task before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depends_on: Option<Vec<u32>>,
    /// Decision 0037.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Value>,
    /// Decision 0042, unparsed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) step: Value,
}

/// A plan: its tasks, and how the results of its members are aggregated (decision 0042).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OraclePlan {
    Tasks(Vec<Task>),
    Aggregated { tasks: Vec<Task>, aggregation: Value },
}

impl OraclePlan {
    pub(super) fn tasks(&self) -> &[Task] {
        match self {
            Self::Tasks(tasks) | Self::Aggregated { tasks, .. } => tasks,
        }
    }

    pub(super) const fn aggregation(&self) -> Option<&Value> {
        match self {
            Self::Tasks(_) => None,
            Self::Aggregated { aggregation, .. } => Some(aggregation),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct PastRequest {
    pub(super) trace: Value,
    pub(super) text: String,
    #[serde(default = "global")]
    pub(super) scope: Value,
}

/// The report in a module's reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleReply {
    Identity {
        gcp: bool,
        mongodb: bool,
    },
    Context {
        ratings: Ratings,
        traces: Vec<PastRequest>,
    },
    Classification {
        tags: Vec<String>,
    },
    Summary {
        text: String,
        forgets: Option<Vec<u64>>,
    },
    Plan(OraclePlan),
    Argument {
        argument: OracleArgument,
        text: String,
        plan: Option<OraclePlan>,
    },
    Approval {
        approved: bool,
        text: String,
    },
    Repaired {
        text: String,
        plan: OraclePlan,
    },
    NoRepair {
        text: String,
    },
    Exit {
        code: i32,
        text: String,
        /// In millionths.
        #[serde(default)]
        number: Option<i64>,
    },
    Stored {
        held: bool,
    },
    Delivered,
}

/// The operation of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OracleOperation {
    VerifyIdentity,
    LoadContext,
    Summarize,
    Classify,
    DraftPlan,
    Argue(Role),
    ArgueAdditional { debater: usize },
    ReviewRevision,
    Approve,
    RunTask { task: u32, effect: &'static str },
    Diagnose,
    UndoTask { task: u32 },
    StoreMemory { store: &'static str, kind: &'static str },
    DeliverAudit,
}

impl OracleOperation {
    /// Returns the module that executes the operation (000-1.5, 000-3.2).
    pub(super) fn module(self) -> Value {
        match self {
            Self::VerifyIdentity => json!("identity_guard"),
            Self::LoadContext => json!("memory"),
            Self::Summarize => json!("summarizer"),
            Self::Classify => json!("classifier"),
            Self::DraftPlan => json!("planner"),
            Self::Argue(role) => json!({ "debater": role }),
            Self::ArgueAdditional { .. } => json!("additional_debater"), // decision 0039
            // 004-1.15: Security reviews a revision.
            Self::ReviewRevision => json!({ "debater": Role::Security }),
            Self::Approve => json!("approver"),
            // DESIGN §2, "who diagnoses": SelfHealingActive calls the Critic.
            Self::Diagnose => json!({ "debater": Role::Critic }),
            Self::RunTask { .. } | Self::UndoTask { .. } => json!("executor"),
            Self::StoreMemory { store, .. } => json!({ "store": store }),
            Self::DeliverAudit => json!("auditor"),
        }
    }

    /// Returns whether the module reads a context (DESIGN §2, "who reads").
    pub(super) const fn takes_context(self) -> bool {
        !matches!(self, Self::VerifyIdentity | Self::StoreMemory { .. } | Self::DeliverAudit)
    }

    /// Checks that a report has the type of this operation (000-0.3).
    pub(super) const fn accepts(self, report: &OracleReply) -> bool {
        match report {
            OracleReply::Identity { .. } => matches!(self, Self::VerifyIdentity),
            OracleReply::Context { .. } => matches!(self, Self::LoadContext),
            OracleReply::Summary { .. } => matches!(self, Self::Summarize),
            OracleReply::Classification { .. } => matches!(self, Self::Classify),
            OracleReply::Plan(_) => matches!(self, Self::DraftPlan),
            OracleReply::Argument { plan: None, .. } => {
                matches!(self, Self::Argue(_) | Self::ArgueAdditional { .. } | Self::ReviewRevision)
            }
            // 004-1.12 and 004-1.15: only Solution and the Optimizer submit a revision.
            OracleReply::Argument { plan: Some(_), .. } => {
                matches!(self, Self::Argue(Role::Solution | Role::Optimizer))
            }
            OracleReply::Approval { .. } => matches!(self, Self::Approve),
            OracleReply::Repaired { .. } | OracleReply::NoRepair { .. } => matches!(self, Self::Diagnose),
            OracleReply::Exit { .. } => matches!(self, Self::RunTask { .. } | Self::UndoTask { .. }),
            OracleReply::Stored { .. } => matches!(self, Self::StoreMemory { .. }),
            OracleReply::Delivered => matches!(self, Self::DeliverAudit),
        }
    }
}
