//! The serialized form of a scenario file. The doc comments are the descriptions in the JSON Schema.

use crate::deadlines::DeadlinesFile;
use crate::expect::{RequestExpectFile, ScenarioExpectFile, ScriptForm};
use crate::handoffs::HandoffFile;
use crate::ingest::IngestFile;
use crate::is_default::is_default;
use crate::modules::ModulesFile;
use crate::names::{Count, PhaseName, Seed};
use crate::network::ScenarioNetworkFile;
use crate::one_or_many::OneOrMany;
use crate::policy_file::EnumName;
use crate::scripted::{ScriptedNetworkEventFile, ScriptedWriteFile};
use crate::time::DurationText;
use crate::timestamp::TimeText;
use crate::writes::{IdentityFile, request_scope_schema};
use orchestrion_kernel::item::Scope;
use orchestrion_yaml::{ReadError, Source, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario: the requests of users and the replies of modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The purpose of the scenario, in a sentence.
    pub description: StrictText,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file relative to this file. Default: the first policy of the
    /// project file, or hardened outside a project.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Spanned<StrictText>>,
    /// The id of the conversation. Default: the file name without its extension.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub conversation: Option<StrictText>,
    /// The user of the requests.
    pub user: StrictText,
    /// The identity of the user, set at the start of each of the user's sessions. Default: none, with the lowest rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<IdentityFile>,
    /// The time at which the simulated time starts. Default: 2026-01-01T00:00:00Z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<TimeText>,
    /// The seed of all random streams. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: Seed,
    /// Trust network whose nodes execute the calls (001): the path of a network file relative to this file, or the network itself.
    /// It needs an `orchestrator`. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub network: Option<Spanned<ScenarioNetworkFile>>,
    /// Faults of handoffs between nodes of the network. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub handoffs: Spanned<Vec<Spanned<HandoffFile>>>,
    /// What the run must give, beside what each request expects. Default: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expect: ScenarioExpectFile,
    /// Whether the script determines every reply. Under `partial`, replies and events may remain unused, and a call after the last reply
    /// succeeds: a test of a correction does not depend on the calls of the corrected policy. Default: exact.
    #[serde(default, skip_serializing_if = "is_default")]
    pub script: EnumName<ScriptForm>,
    /// Whether the scenario has a golden trace. Write false for a scenario that only its expectations judge. Default: true.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub golden: Option<Spanned<bool>>,
    /// The requests, in order.
    #[schemars(length(min = 1))]
    pub requests: Spanned<Vec<RequestFile>>,
    /// The deadlines of calls. Default: one minute each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadlines: DeadlinesFile,
    /// The replies of each module. Modules without replies succeed, except the debate roles and the summarizer. A memory without
    /// replies is simulated: it returns what earlier requests of the run stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub modules: Spanned<ModulesFile>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// The text of the request.
    pub text: StrictText,
    /// The scope in which the request runs: global, or `task`, `hypothetical` or `draft` with a name, which a write to an earlier request
    /// opened. Default: global.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "request_scope_schema")]
    pub scope: Scope,
    /// The user of the request. A change of user ends the session and starts another. Default: the scenario's user.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// The time that passes before the request. Default: 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<DurationText>,
    /// The identity of the user, if the request starts a session. Default: the scenario's identity for the scenario's user,
    /// none for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<IdentityFile>,
    /// Writes, each at the start of the request or in its `phase`, in order; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: OneOrMany<ScriptedWriteFile>,
    /// Network events, each at the start of the request or in its `phase`, after the writes, in order; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub network_events: OneOrMany<ScriptedNetworkEventFile>,
    /// Texts from which facts are derived at the start of the request, after the writes; one, or a list. `{}` is the text of the
    /// request. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ingest: OneOrMany<IngestFile>,
    /// User messages during the request, which the kernel refuses; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupt: OneOrMany<InterruptFile>,
    /// Crashes of the runtime, each followed by a resume from the journal; one, or a list. The next reply to the pending
    /// call is its recovery result; `fail: outcome_unknown` means that the outcome is unknown. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crash: OneOrMany<PhaseVisitFile>,
    /// Cancellations by the user; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cancel: OneOrMany<PhaseVisitFile>,
    /// What the request must give. Default: nothing.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub expect: Option<Spanned<RequestExpectFile>>,
}

impl RequestFile {
    /// Returns a request of the scenario's user without scripted events.
    #[must_use]
    pub const fn new(text: StrictText) -> Self {
        Self {
            text,
            scope: Scope::Global,
            user: None,
            after: None,
            identity: None,
            write: OneOrMany::none(),
            network_events: OneOrMany::none(),
            ingest: OneOrMany::none(),
            interrupt: OneOrMany::none(),
            crash: OneOrMany::none(),
            cancel: OneOrMany::none(),
            expect: None,
        }
    }
}

/// A point in a request: the n-th time that control enters a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseVisitFile {
    /// The phase.
    pub phase: PhaseName,
    /// The number of the visit in this request, from 1. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
}

/// A user message during a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptFile {
    /// The phase.
    pub phase: PhaseName,
    /// The number of the visit in this request, from 1. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
    /// The text of the message.
    pub text: StrictText,
}

impl ScenarioFile {
    /// Parses the serialized form without resolving the policy.
    ///
    /// # Errors
    /// [`ReadError`] if the text does not have this form.
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        Source::from_text(name, text)?.parse()
    }
}
