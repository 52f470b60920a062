//! The kinds of inputs and refusals that coverage counts.

use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::policy::Rule;
use orchestrion_kernel::{Input, Policy, Refusal};

/// Defines a fieldless enum with its names and the list of its variants.
macro_rules! kinds {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident => $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $(#[doc = $name] $variant,)*
        }

        impl $kind {
            /// Every kind, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The position in [`Self::ALL`].
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }
        }
    };
}

kinds! {
    /// The kinds of input: inputs without a call, replies by report, and failures of a call.
    InputKind {
        SessionStart => "session start",
        SessionStartWithIdentity => "session start with identity",
        SessionEnd => "session end",
        UserMessage => "user message",
        Step => "step",
        Cancel => "cancel",
        Resume => "resume",
        WriteFact => "fact write",
        WriteWorking => "working item write",
        WriteEnvironment => "signal write",
        Promote => "promotion",
        NetworkChange => "network change",
        Signal => "defense signal",
        Handoff => "handoff",
        Tick => "tick",
        IdentityLocks => "identity locks",
        Context => "ratings and traces",
        Summary => "summary",
        Classification => "tags",
        Plan => "plan",
        Argument => "argument",
        RevisingArgument => "argument with a new plan",
        Approval => "approval",
        RepairedPlan => "repaired plan",
        NoRepair => "diagnosis without repair",
        TaskResult => "task result",
        StoreReply => "store reply",
        Receipt => "receipt",
        Error => "call failed: error",
        Timeout => "call failed: timeout",
        Malformed => "call failed: malformed",
        NoCandidates => "call failed: no candidates",
        OverBudget => "call failed: over budget",
        OutcomeUnknown => "call failed: outcome unknown",
        Forbidden => "call failed: forbidden",
    }
}

kinds! {
    /// The kinds of [`Refusal`].
    RefusalKind {
        UnexpectedInput => "unexpected input",
        WrongCall => "wrong call",
        WrongReport => "wrong report",
        CallNotMade => "call not made",
        HandoffNotAccepted => "handoff not accepted",
        EffectChanged => "effect changed",
        OtherScope => "other scope",
        UnknownScope => "unknown scope",
        NothingToResume => "nothing to resume",
        NoSession => "no session",
        SessionAlreadyOpen => "session already open",
        WrongUser => "wrong user",
        InvalidWrite => "invalid write",
        InvalidNetworkInput => "invalid network input",
        TimeWentBack => "time went back",
        NothingExpires => "nothing expires",
    }
}

impl InputKind {
    /// Whether a policy accepts inputs of this kind.
    #[must_use]
    pub const fn is_accepted(self, policy: &Policy) -> bool {
        match self {
            Self::Cancel => policy.rules.has(Rule::Cancel),
            Self::Approval => policy.rules.has(Rule::Approver),
            Self::Summary => policy.rules.has(Rule::Compaction),
            Self::Error
            | Self::Timeout
            | Self::Malformed
            | Self::NoCandidates
            | Self::OverBudget
            | Self::OutcomeUnknown
            | Self::Forbidden => policy.rules.has(Rule::ErrorRows),
            Self::SessionStart
            | Self::SessionEnd
            | Self::UserMessage
            | Self::Step
            | Self::Resume
            | Self::SessionStartWithIdentity
            | Self::WriteFact
            | Self::WriteWorking
            | Self::WriteEnvironment
            | Self::Promote
            | Self::NetworkChange
            | Self::Signal
            | Self::Handoff
            | Self::Tick
            | Self::IdentityLocks
            | Self::Context
            | Self::Classification
            | Self::Plan
            | Self::Argument
            | Self::RevisingArgument
            | Self::RepairedPlan
            | Self::NoRepair
            | Self::TaskResult
            | Self::StoreReply
            | Self::Receipt => true,
        }
    }
}

impl From<&Input> for InputKind {
    fn from(input: &Input) -> Self {
        match input {
            Input::SessionStart { identity: None, .. } => Self::SessionStart,
            Input::SessionStart { identity: Some(_), .. } => Self::SessionStartWithIdentity,
            Input::SessionEnd => Self::SessionEnd,
            Input::UserMessage { .. } => Self::UserMessage,
            Input::Step => Self::Step,
            Input::Cancel => Self::Cancel,
            Input::Resume => Self::Resume,
            Input::Tick => Self::Tick,
            Input::Write(write) => match **write {
                Write::Fact(_) => Self::WriteFact,
                Write::Working { .. } => Self::WriteWorking,
                Write::Environment { .. } => Self::WriteEnvironment,
                Write::Promote { .. } => Self::Promote,
            },
            Input::Network(input) => match **input {
                NetworkInput::Create { .. }
                | NetworkInput::Join { .. }
                | NetworkInput::Leave { .. }
                | NetworkInput::SetAvailable { .. }
                | NetworkInput::ReportLoad { .. }
                | NetworkInput::RotateKey { .. }
                | NetworkInput::ResolveThreat { .. }
                | NetworkInput::Tick => Self::NetworkChange,
                NetworkInput::Signal { .. } => Self::Signal,
                NetworkInput::Handoff(_) => Self::Handoff,
            },
            Input::Reply { report, .. } => match report {
                Report::Identity { .. } => Self::IdentityLocks,
                Report::Context { .. } => Self::Context,
                Report::Summary { .. } => Self::Summary,
                Report::Classification { .. } => Self::Classification,
                Report::Plan(_) => Self::Plan,
                Report::Argument { plan: None, .. } => Self::Argument,
                Report::Argument { plan: Some(_), .. } => Self::RevisingArgument,
                Report::Approval { .. } => Self::Approval,
                Report::Repaired { .. } => Self::RepairedPlan,
                Report::NoRepair { .. } => Self::NoRepair,
                Report::Exit { .. } => Self::TaskResult,
                Report::Stored { .. } => Self::StoreReply,
                Report::Delivered => Self::Receipt,
            },
            Input::CallFailed { failure, .. } => match failure {
                Failure::Error => Self::Error,
                Failure::Timeout => Self::Timeout,
                Failure::Malformed => Self::Malformed,
                Failure::NoCandidates => Self::NoCandidates,
                Failure::OverBudget => Self::OverBudget,
                Failure::OutcomeUnknown => Self::OutcomeUnknown,
                Failure::Forbidden => Self::Forbidden,
            },
        }
    }
}

impl From<&Refusal> for RefusalKind {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::UnexpectedInput { .. } => Self::UnexpectedInput,
            Refusal::WrongCall { .. } => Self::WrongCall,
            Refusal::WrongReport { .. } => Self::WrongReport,
            Refusal::CallNotMade { .. } => Self::CallNotMade,
            Refusal::HandoffNotAccepted { .. } => Self::HandoffNotAccepted,
            Refusal::EffectChanged { .. } => Self::EffectChanged,
            Refusal::OtherScope { .. } => Self::OtherScope,
            Refusal::UnknownScope { .. } => Self::UnknownScope,
            Refusal::NothingToResume => Self::NothingToResume,
            Refusal::NoSession => Self::NoSession,
            Refusal::SessionAlreadyOpen { .. } => Self::SessionAlreadyOpen,
            Refusal::WrongUser { .. } => Self::WrongUser,
            Refusal::InvalidWrite(_) => Self::InvalidWrite,
            Refusal::InvalidNetworkInput(_) => Self::InvalidNetworkInput,
            Refusal::TimeWentBack { .. } => Self::TimeWentBack,
            Refusal::NothingExpires { .. } => Self::NothingExpires,
        }
    }
}
