//! The recorded network of a conversation, and its conversion to the network and the network events of a scenario file.

use crate::network::ScenarioNetwork;
use crate::{NetworkEventFile, PhaseVisitFile, RequestFile, ScriptedFile};
use orchestrion_kernel::network::{NetworkInput, Node};
use orchestrion_network::{LoadedNetwork, NetworkFile};

const REPLAY: &str = "keep the trace itself; it can be replayed";

/// A step that a scenario cannot express: its number, the reason and the remedy.
pub(super) type InexpressibleStep = (u64, &'static str, &'static str);

/// The recorded inputs about the network.
#[derive(Debug, Default)]
pub(super) struct RecordedNetwork {
    /// The input that creates the network, with its step.
    created: Option<(u64, NetworkInput)>,
    /// Converted at the end, since the network declares the capabilities of the nodes that join.
    events: Vec<RecordedEvent>,
}

/// A change of the network during a request.
#[derive(Debug)]
struct RecordedEvent {
    n: u64,
    /// The position of the request.
    request: usize,
    /// `None` for the start of the request.
    at: Option<PhaseVisitFile>,
    input: NetworkInput,
}

impl RecordedNetwork {
    /// Sets the input that creates the network.
    pub(super) fn create(&mut self, n: u64, input: &NetworkInput) {
        self.created = Some((n, input.clone()));
    }

    /// Adds a change of the network during a request.
    pub(super) fn push(&mut self, n: u64, request: usize, at: Option<PhaseVisitFile>, input: &NetworkInput) {
        self.events.push(RecordedEvent { n, request, at, input: input.clone() });
    }

    /// Adds the network events to their requests. Returns the network, if there is one.
    pub(super) fn to_file(
        &self,
        requests: &mut [RequestFile],
    ) -> Result<Option<NetworkFile>, InexpressibleStep> {
        let Some((n, input)) = &self.created else { return Ok(None) };
        let joining: Vec<&Node> = self.events.iter().filter_map(|event| joining_node(&event.input)).collect();
        let loaded = NetworkFile::from_kernel(input, &joining)
            .and_then(|file| Some((LoadedNetwork::from_file(&file).ok()?, file)));
        let Some((loaded, file)) = loaded else {
            return Err((
                *n,
                "a network whose nodes have a history, or with two declarations of a capability",
                REPLAY,
            ));
        };
        let joining = joining.into_iter().map(|node| node.id.clone()).collect();
        let network = ScenarioNetwork { loaded, input: input.clone(), joining };
        for RecordedEvent { n, request, at, input } in &self.events {
            let event = NetworkEventFile::from_kernel(input, &network);
            let reason = "a node with a history, a malformed key, or a signal or a resolved threat with an unknown node";
            let event = event.ok_or((*n, reason, REPLAY))?;
            if let Some(request) = requests.get_mut(*request) {
                let at = at.clone();
                request.network_events.0.push(ScriptedFile { at, ..event.into() }.into());
            }
        }
        Ok(Some(file))
    }
}

fn joining_node(input: &NetworkInput) -> Option<&Node> {
    match input {
        NetworkInput::Join { node } => Some(node),
        NetworkInput::Create { .. }
        | NetworkInput::Leave { .. }
        | NetworkInput::SetAvailable { .. }
        | NetworkInput::ReportLoad { .. }
        | NetworkInput::RotateKey { .. }
        | NetworkInput::Signal { .. }
        | NetworkInput::ResolveThreat { .. }
        | NetworkInput::Tick
        | NetworkInput::Handoff(_) => None,
    }
}
