//! The kinds of events, by the names of the trace format.

use orchestrion_kernel::Event;

macro_rules! event_kinds {
    ($($kind:ident $name:literal $meaning:literal $pattern:pat,)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $(#[doc = $meaning] $kind,)*
        }

        impl EventKind {
            /// All kinds, in their order.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The name in traces and claim files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            /// When the event occurs, as a clause of a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$kind => $meaning),* }
            }

            /// The kind of this event.
            #[must_use]
            pub const fn of(event: &Event) -> Self {
                match event { $($pattern => Self::$kind),* }
            }
        }
    };
}

event_kinds! {
    UserMsg "user_msg" "a message starts a request" Event::UserMsg { .. },
    ToolCall "tool_call" "a module is called" Event::ToolCall { .. },
    ToolResult "tool_result" "a module replies" Event::ToolResult { .. },
    AddItem "add_item" "an item is added" Event::AddItem { .. },
    UpdateItem "update_item" "an item is overwritten" Event::UpdateItem { .. },
    ForgetItems "forget_items" "items are forgotten" Event::ForgetItems { .. },
    FinalAnswer "final_answer" "the final answer ends a request" Event::FinalAnswer { .. },
    TimeAdvanced "time_advanced" "time passes" Event::TimeAdvanced { .. },
    ActionRecorded "action_recorded" "a module records an action" Event::ActionRecorded { .. },
    SessionStarted "session_started" "a session starts" Event::SessionStarted { .. },
    SessionEnded "session_ended" "the session ends" Event::SessionEnded,
    CallFailed "call_failed" "a call fails" Event::CallFailed { .. },
    OverBudget "over_budget" "a context exceeds its budget" Event::OverBudget { .. },
    Network "network" "the network or a handoff changes" Event::Network(_),
    Cancelled "cancelled" "the user cancels" Event::Cancelled,
    Resumed "resumed" "the runtime resumes after a crash" Event::Resumed,
    Transitioned "transitioned" "control takes a transition" Event::Transitioned { .. },
    PlanAdopted "plan_adopted" "a plan is adopted" Event::PlanAdopted { .. },
    VetoRaised "veto_raised" "Security vetoes the plan" Event::VetoRaised { .. },
    ConsensusScored "consensus_scored" "the consensus is scored" Event::ConsensusScored { .. },
    RatingsUpdated "ratings_updated" "the ratings are updated" Event::RatingsUpdated { .. },
    Decided "decided" "the debate is decided" Event::Decided { .. },
    ExecutionReported "execution_reported" "a run of the plan ends" Event::ExecutionReported { .. },
    RepairStarted "repair_started" "a repair starts" Event::RepairStarted,
    Concluded "concluded" "the conclusion is decided" Event::Concluded { .. },
    MemoryRecorded "memory_recorded" "the memory record is made" Event::MemoryRecorded { .. },
    AuditRecorded "audit_recorded" "the audit record is made" Event::AuditRecorded { .. },
    AuditUndelivered "audit_undelivered" "the audit record is not delivered" Event::AuditUndelivered,
}

impl EventKind {
    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventKinds(u32);

impl EventKinds {
    /// Every kind.
    pub(crate) const ALL: Self = Self(u32::MAX);

    /// No kind.
    pub(crate) const NONE: Self = Self(0);

    /// These kinds.
    pub(crate) const fn of(kinds: &[EventKind]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < kinds.len() {
            set |= 1 << (kinds[at] as u32);
            at += 1;
        }
        Self(set)
    }

    /// The kinds of both sets.
    #[must_use]
    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains a kind.
    #[must_use]
    pub(crate) const fn contains(self, kind: EventKind) -> bool {
        self.0 >> (kind as u32) & 1 == 1
    }

    /// The kinds, in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.iter().copied().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | 1 << (kind as u32)))
    }
}
