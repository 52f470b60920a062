//! The words of the control model: its variables, and conditions and values over them.

use super::effects::InputClass;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};

/// Defines the variables, each with its name, what forgets it, and its meaning.
macro_rules! variables {
    ($($variant:ident, $name:literal, $span:ident, $about:literal;)*) => {
        /// A variable of the control model, in the order in which they are printed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Var { $(#[doc = $about] $variant,)* }

        impl Var {
            /// Every variable.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in both languages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How long it is remembered.
            #[must_use]
            pub const fn span(self) -> Lifetime {
                match self { $(Self::$variant => Lifetime::$span,)* }
            }

            /// What it says.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }
        }
    };
}

variables! {
    Before, "before", Conversation, "the control state before the last step";
    Phase, "phase", Conversation, "the control state";
    Row, "row", Conversation, "the row that was taken last";
    Came, "came", Conversation, "what came, so that it was taken";
    WasAsked, "was_asked", Conversation, "the call that was waited for when it came";
    Asked, "asked", Conversation, "the call that is waited for";
    Session, "session", Conversation, "a session is open";
    Request, "request", Conversation, "whether the latest request still runs";
    Verified, "verified", Request, "both identity locks matched";
    Pass, "pass", Plan, "the pass of the debate, from 1";
    Heard, "heard", Plan, "how many roles argued in this pass; the Analyst's argument counts in every pass";
    Security, "security", Plan, "Security's latest argument";
    Read, "read", Plan, "that argument is about the plan as it stands";
    Vetoed, "vetoed", Plan, "Security vetoed, in whichever pass";
    Consensus, "consensus", Plan, "the consensus of the arguments, drawn when the last of them came";
    Scored, "scored", Plan, "the latest consensus that was calculated";
    Current, "current", Plan, "it is about the plan as it stands";
    Decision, "decision", Plan, "the latest decision";
    DecidedOn, "decided_on", Plan, "the consensus on which it was taken";
    Named, "named", Plan, "it names Security's objection";
    Approved, "approved", Plan, "the approver agreed to the plan as it stands";
    Succeeded, "succeeded", Request, "every task of the latest run succeeded";
    Task, "task", Plan, "how many tasks of the run succeeded";
    Failed, "failed", Plan, "a task of the run did not succeed";
    Undos, "undos", Request, "started effects that stand and have a compensation";
    Ran, "ran", Request, "some task was started";
    Repairs, "repairs", Request, "repairs started";
    Lost, "lost", Request, "nobody knows whether a task happened";
    Cancelled, "cancelled", Request, "the user cancelled in time";
    Blocked, "blocked", Request, "the plan was not let run";
    RolledBack, "rolled_back", Request, "a rollback was entered";
    Ending, "ending", Request, "as what the request ends";
    Stored, "stored", Request, "as what the stores are asked to keep it";
    Memories, "memories", Request, "memory records; counts to 2";
    Stores, "stores", Request, "how many of the two stores were asked";
    Audits, "audits", Request, "audit records; counts to 2";
    Tries, "tries", Request, "how often the audit sink was tried";
    Answers, "answers", Request, "final answers; counts to 2";
}

/// How long a variable is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lifetime {
    /// As long as the conversation.
    Conversation,
    /// Until the next request begins.
    Request,
    /// Until the request is stored: nothing can run after that.
    Plan,
}

/// The values of a variable. The first is its initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// False or true.
    Bool,
    /// From 0 to this.
    Count(Term),
    /// One of these names, under the name of their type.
    OneOf(&'static str, Vec<&'static str>),
}

/// A bound by which the model is finite, printed by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundName {
    /// Tasks of every plan: a choice of the export's, not of the policy's.
    Tasks,
    /// `bounds.passes`
    Passes,
    /// `bounds.repairs`, where there is such a bound.
    Repairs,
    /// `bounds.audit_attempts`
    Attempts,
}

impl BoundName {
    /// Every limit.
    pub const ALL: [Self; 4] = [Self::Tasks, Self::Passes, Self::Repairs, Self::Attempts];

    /// Its name in both languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "TASKS",
            Self::Passes => "PASSES",
            Self::Repairs => "REPAIRS",
            Self::Attempts => "ATTEMPTS",
        }
    }

    /// What it bounds.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Tasks => "tasks of every plan",
            Self::Passes => "bounds.passes of the policy",
            Self::Repairs => "bounds.repairs of the policy",
            Self::Attempts => "bounds.audit_attempts of the policy",
        }
    }

    /// Its value; none if the policy sets no such bound. Two tasks make a first, a last, and a run that stops between.
    #[must_use]
    pub const fn value(self, policy: &Policy) -> Option<u32> {
        match (self, policy.bounds.repairs) {
            (Self::Tasks, _) => Some(2),
            (Self::Passes, _) => Some(policy.bounds.passes),
            (Self::Repairs, Bound::AtMost(most)) => Some(most),
            (Self::Repairs, Bound::Unbounded) => None,
            (Self::Attempts, _) => Some(policy.bounds.audit_attempts),
        }
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// This one.
    Number(u32),
    /// A bound.
    Limit(BoundName),
    /// One more than a bound: where a counter stops that should never come there.
    AboveBound(BoundName),
    /// What a counter says.
    Of(Var),
    /// One more than it says.
    Next(Var),
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    True,
    /// Never.
    False,
    /// The flag is set.
    Flag(Var),
    /// The variable has one of these values.
    Is(Var, Vec<&'static str>),
    /// The first number is less than the second.
    Less(Term, Term),
    /// Both numbers are the same.
    Same(Term, Term),
    /// Somebody can take a step.
    Can(StepFilter),
    /// Not this.
    Not(Box<Condition>),
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// The second, if the first.
    Implies(Box<Condition>, Box<Condition>),
}

/// Whose step it may be; [`Cond::Can`] asks whether it is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFilter {
    /// Anybody's but the user's.
    System,
    /// A call's that fails in this way.
    Failing(InputClass),
    /// An answer's to the call that is waited for.
    Answering,
    /// The user's, who brings an input of this kind.
    User(Trigger),
}

/// What a variable is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// This value of an enumeration.
    Name(&'static str),
    /// A number.
    Number(u32),
    /// Whether a condition holds.
    Test(Condition),
    /// What another variable says.
    Of(Var),
    /// One more than this counter says, up to the end of its domain.
    OneMore(Var),
    /// One less than this counter says.
    OneLess(Var),
    /// The second if the first, otherwise the third.
    If(Condition, Box<Expr>, Box<Expr>),
}

impl Var {
    /// Its values under a policy.
    #[must_use]
    pub fn domain(self, policy: &Policy) -> Domain {
        let cells = || vec!["unscored", "below", "between", "above"];
        let kinds = || vec!["unsettled", "as_outcome", "as_blocked", "as_rolled_back", "as_aborted"];
        match self {
            Self::Before | Self::Phase => {
                Domain::OneOf("Phase", Phase::ALL.iter().map(|phase| phase.name()).collect())
            }
            Self::Row => {
                let on = TRANSITIONS.iter().filter(|row| row.switch.is_on(policy)).map(|row| row.id);
                Domain::OneOf("Row", std::iter::once("no_row").chain(on).collect())
            }
            Self::Came => Domain::OneOf(
                "Input",
                vec!["nothing", "word", "answer", "new_plan", "no_answer", "cancel", "late_cancel"],
            ),
            Self::WasAsked | Self::Asked => Domain::OneOf(
                "Ask",
                vec![
                    "nobody",
                    "VerifyIdentity",
                    "Summarize",
                    "LoadContext",
                    "Classify",
                    "DraftPlan",
                    "Argue",
                    "Reread",
                    "Approve",
                    "RunTask",
                    "Diagnose",
                    "UndoTask",
                    "RememberLocal",
                    "RememberCloud",
                    "DeliverAudit",
                ],
            ),
            Self::Request => Domain::OneOf("Course", vec!["no_request", "running", "ended"]),
            Self::Security => Domain::OneOf("Argument", vec!["unheard", "agrees", "objects", "vetoes"]),
            Self::Consensus | Self::Scored | Self::DecidedOn => Domain::OneOf("Cell", cells()),
            Self::Decision => Domain::OneOf(
                "Label",
                vec!["undecided", "VETO", "REJECT", "ProceedBelowLine", "ConsensusReached"],
            ),
            Self::Ending | Self::Stored => Domain::OneOf("Kind", kinds()),
            Self::Pass => Domain::Count(Term::AboveBound(BoundName::Passes)),
            Self::Heard => Domain::Count(Term::Number(6)),
            Self::Task | Self::Undos => Domain::Count(Term::Limit(BoundName::Tasks)),
            Self::Repairs => Domain::Count(Term::AboveBound(BoundName::Repairs)),
            Self::Tries => Domain::Count(Term::AboveBound(BoundName::Attempts)),
            Self::Memories | Self::Stores | Self::Audits | Self::Answers => Domain::Count(Term::Number(2)),
            Self::Session
            | Self::Verified
            | Self::Read
            | Self::Vetoed
            | Self::Current
            | Self::Named
            | Self::Approved
            | Self::Ran
            | Self::Succeeded
            | Self::Failed
            | Self::Lost
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

    /// All of these, said as shortly as that is possible.
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

    /// At least one of these, said as shortly as that is possible.
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

    /// This one, if the first.
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
