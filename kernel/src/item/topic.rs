//! Topics: classes of items, by which a policy sets utilities.

use super::{Item, ItemKey, ItemKind};
use core::fmt;

/// The class of an item, by which a policy sets its utility for each module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Topic {
    /// The identity of the session user.
    Identity,
    /// A signal, or the current time.
    Environment,
    /// A constraint.
    Constraint,
    /// A written fact.
    Fact,
    /// A summary of forgotten items.
    Summary,
    /// A written working item.
    Working,
    /// A field of the situation summary.
    Situation,
    /// The user's message.
    Request,
    /// The final answer.
    FinalAnswer,
    /// A past request from memory.
    Trace,
    /// The classifier's tags.
    Tags,
    /// A task of a plan.
    Task,
    /// The output of a task.
    Output,
    /// A debater's argument.
    Argument,
    /// The Critic's diagnosis.
    Diagnosis,
    /// The approver's reply.
    Approval,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 16] = [
        Self::Identity,
        Self::Environment,
        Self::Constraint,
        Self::Fact,
        Self::Summary,
        Self::Working,
        Self::Situation,
        Self::Request,
        Self::FinalAnswer,
        Self::Trace,
        Self::Tags,
        Self::Task,
        Self::Output,
        Self::Argument,
        Self::Diagnosis,
        Self::Approval,
    ];

    /// Returns the topic of an item.
    #[must_use]
    pub const fn from_item(item: &Item) -> Self {
        match (&item.key, item.kind) {
            (_, ItemKind::Constraint(_)) => Self::Constraint,
            (ItemKey::Identity, _) => Self::Identity,
            (ItemKey::Environment(_), _) => Self::Environment,
            (ItemKey::Fact(_), _) => Self::Fact,
            (ItemKey::Summary, _) => Self::Summary,
            (ItemKey::Working(_), _) => Self::Working,
            (ItemKey::Situation(_), _) => Self::Situation,
            (ItemKey::Request(_), _) => Self::Request,
            (ItemKey::FinalAnswer(_), _) => Self::FinalAnswer,
            (ItemKey::Trace(_), _) => Self::Trace,
            (ItemKey::Tags(_), _) => Self::Tags,
            (ItemKey::Task(..), _) => Self::Task,
            (ItemKey::Output(..) | ItemKey::Aggregate(_), _) => Self::Output,
            (ItemKey::Argument(..) | ItemKey::AdditionalArgument(..), _) => Self::Argument,
            (ItemKey::Diagnosis(_), _) => Self::Diagnosis,
            (ItemKey::Approval(_), _) => Self::Approval,
        }
    }

    /// Returns the name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Environment => "environment",
            Self::Constraint => "constraint",
            Self::Fact => "fact",
            Self::Summary => "summary",
            Self::Working => "working",
            Self::Situation => "situation",
            Self::Request => "request",
            Self::FinalAnswer => "final_answer",
            Self::Trace => "trace",
            Self::Tags => "tags",
            Self::Task => "task",
            Self::Output => "output",
            Self::Argument => "argument",
            Self::Diagnosis => "diagnosis",
            Self::Approval => "approval",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
