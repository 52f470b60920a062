//! The syntax of the control model: variables, and conditions and expressions over them.

use super::input_class::InputClass;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};

/// Defines the variables: variant, name in the exported models, lifetime, description.
macro_rules! variables {
    ($($variant:ident, $name:literal, $lifetime:ident, $description:literal;)*) => {
        /// A variable of the control model, in the order in which they are printed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Var { $(#[doc = $description] $variant,)* }

        impl Var {
            /// Every variable.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in the exported models.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its lifetime.
            #[must_use]
            pub const fn lifetime(self) -> Lifetime {
                match self { $(Self::$variant => Lifetime::$lifetime,)* }
            }

            /// Its meaning.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)* }
            }
        }
    };
}

variables! {
    Before, "before", Conversation, "the phase before the last step";
    Phase, "phase", Conversation, "the phase";
    Row, "row", Conversation, "the row of the last step";
    Input, "input", Conversation, "the input of the last step";
    CallBefore, "call_before", Conversation, "the pending call before the last step";
    Call, "call", Conversation, "the pending call";
    Session, "session", Conversation, "a session is open";
    Request, "request", Conversation, "whether the latest request is still running";
    Verified, "verified", Request, "both identity locks matched";
    Pass, "pass", Plan, "the pass of the debate, from 1";
    Argued, "argued", Plan, "roles that argued in this pass; the Analyst's argument counts in every pass";
    Additional, "additional", Plan, "additional debaters that argued in this pass";
    Decision, "decision", Plan, "the latest decision";
    DecidedOn, "decided_on", Plan, "the consensus of the latest decision";
    ObjectionNamed, "objection_named", Plan, "the latest decision names Security's objection";
    Security, "security", Plan, "Security's latest argument";
    Reviewed, "reviewed", Plan, "Security's latest argument is about the current plan";
    Outdated, "outdated", Plan, "a fact changed since Security's latest argument";
    Vetoed, "vetoed", Plan, "Security vetoed in some pass";
    Consensus, "consensus", Plan, "the consensus of the arguments, chosen after the last one";
    Scored, "scored", Plan, "the latest scored consensus";
    ScoreCurrent, "score_current", Plan, "the scored consensus is about the current plan";
    Approved, "approved", Plan, "the approver approved the current plan";
    Succeeded, "succeeded", Request, "every task of the latest run succeeded";
    Task, "task", Plan, "tasks of the run that succeeded";
    Failed, "failed", Plan, "a task of the run failed";
    Undoable, "undoable", Request, "started effects that have a compensation and are not undone";
    Ran, "ran", Request, "some task was started";
    Repairs, "repairs", Request, "started repairs";
    OutcomeUnknown, "outcome_unknown", Request, "the outcome of a task is unknown";
    Cancelled, "cancelled", Request, "the user cancelled in time";
    Blocked, "blocked", Request, "the plan was blocked";
    RolledBack, "rolled_back", Request, "a rollback started";
    Conclusion, "conclusion", Request, "the kind of the conclusion";
    Stored, "stored", Request, "the kind under which the stores keep the request";
    Memories, "memories", Request, "memory records, at most 2";
    Stores, "stores", Request, "stores that were called";
    Audits, "audits", Request, "audit records, at most 2";
    Attempts, "attempts", Request, "attempts to deliver the audit record";
    FinalAnswers, "final_answers", Request, "final answers, at most 2";
}

/// When a variable is reset to its initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lifetime {
    /// Never.
    Conversation,
    /// When the next request starts.
    Request,
    /// When the request is stored: no task can run after that.
    Plan,
}

/// The values of a variable. The first is its initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// False or true.
    Bool,
    /// From 0 to this number.
    Count(Term),
    /// An enumeration: its name and its values.
    OneOf(&'static str, Vec<&'static str>),
}

/// A bound that keeps the model finite, exported by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundName {
    /// Tasks of every plan: a choice of the export, not of the policy.
    Tasks,
    /// `bounds.passes`
    Passes,
    /// The length of `additional_debaters`, if it is not empty.
    AdditionalDebaters,
    /// `bounds.repairs`, where there is such a bound.
    Repairs,
    /// `bounds.audit_attempts`
    Attempts,
}

impl BoundName {
    /// Every bound.
    pub const ALL: [Self; 5] =
        [Self::Tasks, Self::Passes, Self::AdditionalDebaters, Self::Repairs, Self::Attempts];

    /// Its name in the exported models.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "TASKS",
            Self::Passes => "PASSES",
            Self::AdditionalDebaters => "ADDITIONAL_DEBATERS",
            Self::Repairs => "REPAIRS",
            Self::Attempts => "ATTEMPTS",
        }
    }

    /// Its meaning.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Tasks => "tasks of every plan",
            Self::Passes => "bounds.passes of the policy",
            Self::AdditionalDebaters => "the length of additional_debaters of the policy",
            Self::Repairs => "bounds.repairs of the policy",
            Self::Attempts => "bounds.audit_attempts of the policy",
        }
    }

    /// Its value; none if the policy sets no such bound. Two tasks are enough for a first task, a last task, and a run that
    /// stops between them.
    #[must_use]
    pub fn value(self, policy: &Policy) -> Option<u32> {
        match (self, policy.bounds.repairs) {
            (Self::Tasks, _) => Some(2),
            (Self::Passes, _) => Some(policy.bounds.passes),
            (Self::AdditionalDebaters, _) => {
                u32::try_from(policy.additional_debaters.len()).ok().filter(|debaters| *debaters > 0)
            }
            (Self::Repairs, Bound::AtMost(most)) => Some(most),
            (Self::Repairs, Bound::Unbounded) => None,
            (Self::Attempts, _) => Some(policy.bounds.audit_attempts),
        }
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A constant.
    Number(u32),
    /// A bound.
    Limit(BoundName),
    /// One more than a bound: the last value of a counter, reached only by a violation.
    AboveBound(BoundName),
    /// The value of a counter.
    Of(Var),
    /// One more than the value of a counter.
    Next(Var),
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always true.
    True,
    /// Always false.
    False,
    /// The flag is set.
    Flag(Var),
    /// The variable has one of these values.
    Is(Var, Vec<&'static str>),
    /// The first number is less than the second.
    Less(Term, Term),
    /// Both numbers are equal.
    Same(Term, Term),
    /// A step that matches the filter is enabled.
    Can(StepFilter),
    /// The negation.
    Not(Box<Condition>),
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// The first implies the second.
    Implies(Box<Condition>, Box<Condition>),
}

/// A set of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFilter {
    /// Steps of the kernel and the modules.
    System,
    /// Failures of the pending call, of this class.
    Failing(InputClass),
    /// Replies to the pending call.
    Replying,
    /// Inputs of the user, with this trigger.
    User(Trigger),
}

/// The value to which a variable is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A value of an enumeration.
    Name(&'static str),
    /// A number.
    Number(u32),
    /// Whether a condition holds.
    Test(Condition),
    /// The value of another variable.
    Of(Var),
    /// One more than the value of the counter, at most the last value of its domain.
    OneMore(Var),
    /// One less than the value of the counter, at least 0.
    OneLess(Var),
    /// The second if the first, otherwise the third.
    If(Condition, Box<Expr>, Box<Expr>),
}

impl Var {
    /// Its domain under a policy.
    #[must_use]
    pub fn domain(self, policy: &Policy) -> Domain {
        let cells = || vec!["unscored", "below", "between", "above"];
        let kinds = || vec!["not_concluded", "as_outcome", "as_blocked", "as_rolled_back", "as_aborted"];
        match self {
            Self::Before | Self::Phase => {
                Domain::OneOf("Phase", Phase::ALL.iter().map(|phase| phase.name()).collect())
            }
            Self::Row => {
                let on = TRANSITIONS.iter().filter(|row| row.switch.is_on(policy)).map(|row| row.id);
                Domain::OneOf("Row", std::iter::once("no_row").chain(on).collect())
            }
            Self::Input => Domain::OneOf(
                "Input",
                vec!["no_input", "user_input", "reply", "new_plan", "call_failed", "cancel", "late_cancel"],
            ),
            Self::CallBefore | Self::Call => Domain::OneOf(
                "Call",
                vec![
                    "no_call",
                    "VerifyIdentity",
                    "Summarize",
                    "LoadContext",
                    "Classify",
                    "DraftPlan",
                    "Argue",
                    "ArgueAdditional",
                    "ReviewRevision",
                    "Approve",
                    "RunTask",
                    "Diagnose",
                    "UndoTask",
                    "StoreLocal",
                    "StoreCloud",
                    "DeliverAudit",
                ],
            ),
            Self::Request => Domain::OneOf("Progress", vec!["no_request", "running", "ended"]),
            Self::Security => Domain::OneOf("Argument", vec!["no_argument", "agrees", "objects", "vetoes"]),
            Self::Consensus | Self::Scored | Self::DecidedOn => Domain::OneOf("Cell", cells()),
            Self::Decision => Domain::OneOf(
                "Label",
                vec!["undecided", "VETO", "REJECT", "OUTDATED", "ProceedBelowThreshold", "ConsensusReached"],
            ),
            Self::Conclusion | Self::Stored => Domain::OneOf("Kind", kinds()),
            Self::Pass => Domain::Count(Term::AboveBound(BoundName::Passes)),
            Self::Argued => Domain::Count(Term::Number(6)),
            Self::Additional => Domain::Count(Term::AboveBound(BoundName::AdditionalDebaters)),
            Self::Task | Self::Undoable => Domain::Count(Term::Limit(BoundName::Tasks)),
            Self::Repairs => Domain::Count(Term::AboveBound(BoundName::Repairs)),
            Self::Attempts => Domain::Count(Term::AboveBound(BoundName::Attempts)),
            Self::Memories | Self::Stores | Self::Audits | Self::FinalAnswers => {
                Domain::Count(Term::Number(2))
            }
            Self::Session
            | Self::Verified
            | Self::Reviewed
            | Self::Outdated
            | Self::Vetoed
            | Self::ScoreCurrent
            | Self::ObjectionNamed
            | Self::Approved
            | Self::Ran
            | Self::Succeeded
            | Self::Failed
            | Self::OutcomeUnknown
            | Self::Cancelled
            | Self::Blocked
            | Self::RolledBack => Domain::Bool,
        }
    }
}

impl Condition {
    /// The variable has this value.
    #[must_use]
    pub fn is(var: Var, value: &'static str) -> Self {
        Self::Is(var, vec![value])
    }

    /// The conjunction, simplified.
    #[must_use]
    pub fn all(conds: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for cond in conds {
            match cond {
                Self::True => {}
                Self::False => return Self::False,
                Self::All(more) => all.extend(more),
                cond => all.push(cond),
            }
        }
        match all.len() {
            0 => Self::True,
            1 => all.remove(0),
            _ => Self::All(all),
        }
    }

    /// The disjunction, simplified.
    #[must_use]
    pub fn any(conds: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for cond in conds {
            match cond {
                Self::False => {}
                Self::True => return Self::True,
                Self::Any(more) => any.extend(more),
                cond => any.push(cond),
            }
        }
        match any.len() {
            0 => Self::False,
            1 => any.remove(0),
            _ => Self::Any(any),
        }
    }

    /// This condition implies `then`.
    #[must_use]
    pub fn implies(self, then: Self) -> Self {
        Self::Implies(Box::new(self), Box::new(then))
    }
}

impl std::ops::Not for Condition {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(cond) => *cond,
            cond => Self::Not(Box::new(cond)),
        }
    }
}
