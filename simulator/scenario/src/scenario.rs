//! Scenarios that are ready to run.

use crate::expectations::{Expectations, ProjectClaims};
use crate::handoffs::HandoffScript;
use crate::script::Script;
use orchestrion_ingest::SourceText;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{ConversationId, Phase, Policy, Text, Timestamp};
use orchestrion_runtime::{Deadlines, NewRequest, SessionUser};
use orchestrion_trace::{ScenarioRef, digest};
use orchestrion_yaml::{Source, Spanned};
use std::time::Duration;

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file name without its extension.
    pub name: String,
    /// The purpose of the scenario.
    pub description: String,
    /// The policy.
    pub policy: Policy,
    /// The id of the conversation.
    pub conversation: ConversationId,
    /// The time at which the simulated time starts.
    pub starts_at: Timestamp,
    /// The input that creates the network, if the scenario has one.
    pub network: Option<Box<NetworkInput>>,
    /// The faults of handoffs.
    pub handoffs: HandoffScript,
    /// The requests, in order.
    pub requests: Vec<ScriptedRequest>,
    /// The replies of the modules.
    pub script: Script,
    /// The deadlines of calls.
    pub deadlines: Deadlines,
    /// Whether the scenario has a golden trace.
    pub has_golden: bool,
    pub(crate) expectations: Expectations,
    pub(crate) source: Source,
    /// The seed that replaced that of the file.
    pub(crate) seed: Option<String>,
}

/// One request of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedRequest {
    /// The time that passes before the request.
    pub after: Duration,
    /// The user of the request, with the identity of a session that it starts.
    pub user: SessionUser,
    /// The text of the request, and its scope.
    pub request: NewRequest,
    /// The scripted events, in this order within one phase visit.
    pub events: Vec<(PhaseVisit, ScriptedEvent)>,
}

/// An event during a request that no module causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedEvent {
    /// A write.
    Write(Box<ScriptedWrite>),
    /// A network event.
    Network(Box<ScriptedNetworkEvent>),
    /// A text from which writes are derived, with its place in the file.
    Ingest(Box<Spanned<SourceText>>),
    /// A user message, which the kernel refuses.
    Interrupt(Text),
    /// A crash of the runtime and its resume from the journal.
    Crash,
    /// The user cancels the request.
    Cancel,
}

/// A write with its expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedWrite {
    /// The write, with its place in the file.
    pub write: Spanned<Write>,
    /// Whether the kernel must refuse the write.
    pub refused: bool,
}

/// A network event with its expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedNetworkEvent {
    /// The input, with its place in the file.
    pub input: Spanned<NetworkInput>,
    /// Whether the kernel must refuse the input.
    pub refused: bool,
}

/// A point in a request: the n-th time that control enters a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseVisit {
    /// The phase.
    pub phase: Phase,
    /// The number of the visit, from 1.
    pub visit: u32,
}

impl PhaseVisit {
    /// The start of the request.
    pub const START: Self = Self { phase: Phase::VerifyingIdentity, visit: 1 };
}

impl Scenario {
    /// Returns the reference to this scenario in the header of a trace.
    #[must_use]
    pub fn reference(&self) -> ScenarioRef {
        let digest = digest(self.text().as_bytes());
        ScenarioRef { name: self.name.clone(), digest, seed: self.seed.clone() }
    }

    /// What the scenario expects of claims of the project.
    #[must_use]
    pub fn project_claims(&self) -> ProjectClaims {
        self.expectations.project_claims(&self.source)
    }

    /// Replaces the seed of the file, which starts every random stream anew.
    #[must_use]
    pub fn with_seed(self, seed: &str) -> Self {
        Self { script: self.script.with_seed(seed), seed: Some(seed.to_owned()), ..self }
    }

    /// Whether a reply or a delay of the script is random, so that the seed matters.
    #[must_use]
    pub fn has_random_choice(&self) -> bool {
        self.script.has_random_choice()
    }

    /// Whether an event of the script is a crash.
    pub(crate) fn has_crash(&self) -> bool {
        let events = self.requests.iter().flat_map(|request| &request.events);
        events.into_iter().any(|(_, event)| matches!(event, ScriptedEvent::Crash))
    }

    /// Returns the source text of the scenario.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text()
    }
}
