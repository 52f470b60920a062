//! Network events in a scenario: what happens to the nodes during a request (001 §7.2; decision 0042).

use crate::network::ScenarioNetwork;
use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{NetworkInput, Node};
use orchestrion_kernel::{CapabilityId, Score};
use orchestrion_network::{ById, NodeFile, PublicKeyText};
use orchestrion_yaml::{Decimal, LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Network event: a change of the network, or a defense signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkEventFile {
    /// Availability of a capability at a node.
    SetAvailable(AvailabilityFile),
    /// Load that a node reports.
    ReportLoad(LoadReportFile),
    /// Node that leaves. Not the orchestrator.
    Leave(StrictText),
    /// Node that joins, by its id. The network must declare its capabilities.
    Join(#[schemars(extend("minProperties" = 1, "maxProperties" = 1))] Spanned<ById<NodeFile>>),
    /// New key of a node.
    RotateKey(NewKeyFile),
    /// Defense signal that reaches a node.
    Signal(DefenseSignalFile),
    /// Resolved threat: a node no longer believes that another one is a threat.
    ResolveThreat(ResolvedThreatFile),
    /// Passage of time: primings decay, and idle connections become dormant.
    Tick(NetworkTickFile),
}

/// Availability of a capability at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvailabilityFile {
    /// Node.
    pub node: StrictText,
    /// Capability.
    pub capability: StrictText,
    /// Whether the node offers the capability from now on.
    pub available: bool,
}

/// Load that a node reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadReportFile {
    /// Node.
    pub node: StrictText,
    /// Load. Default: the largest load of its capabilities.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub load: Option<Decimal<Score>>,
}

/// New key of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeyFile {
    /// Node.
    pub node: StrictText,
    /// Ed25519 public key, 64 hexadecimal digits.
    pub public_key: PublicKeyText,
}

/// Defense signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefenseSignalFile {
    /// Receiver.
    pub to: StrictText,
    /// Sender.
    pub from: Spanned<StrictText>,
    /// Node that is a threat.
    pub about: Spanned<StrictText>,
    /// Node that observed the threat. Default: the sender.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub origin: Option<Spanned<StrictText>>,
    /// Confidence, from 0 to 1.
    pub confidence: Decimal<Score>,
    /// Number of hops from the origin to the sender. Default: 0.
    #[serde(default, skip_serializing_if = "crate::is_default::is_default")]
    pub hops: u32,
}

/// Resolved threat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolvedThreatFile {
    /// Node that believed in the threat.
    pub node: StrictText,
    /// Node that is no threat.
    pub about: Spanned<StrictText>,
}

/// Passage of time. It has no keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkTickFile {}

fn node_id(text: &StrictText) -> NodeId {
    NodeId::new(text.text())
}

impl NetworkEventFile {
    /// Returns the id of the node that joins, if one does.
    pub(crate) fn joining(&self) -> Option<NodeId> {
        match self {
            Self::Join(nodes) => nodes.value.0.first().map(|(id, _)| node_id(&id.value)),
            Self::SetAvailable(_)
            | Self::ReportLoad(_)
            | Self::Leave(_)
            | Self::RotateKey(_)
            | Self::Signal(_)
            | Self::ResolveThreat(_)
            | Self::Tick(_) => None,
        }
    }

    /// Returns the input. The kernel decides whether the node that it changes exists at this time. The other nodes of a signal and of a
    /// resolved threat are in the network or join it, which the kernel does not check: they may have left.
    pub(crate) fn to_kernel(&self, network: &ScenarioNetwork) -> Result<NetworkInput, LabeledError> {
        Ok(match self {
            Self::SetAvailable(AvailabilityFile { node, capability, available }) => {
                NetworkInput::SetAvailable {
                    node: node_id(node),
                    capability: CapabilityId::new(capability.text()),
                    available: *available,
                }
            }
            Self::ReportLoad(LoadReportFile { node, load }) => {
                NetworkInput::ReportLoad { node: node_id(node), load: load.map(|load| load.0) }
            }
            Self::Leave(node) => NetworkInput::Leave { node: node_id(node) },
            Self::Join(nodes) => NetworkInput::Join { node: joining_node(network, nodes)? },
            Self::RotateKey(NewKeyFile { node, public_key }) => {
                NetworkInput::RotateKey { node: node_id(node), public_key: public_key.0.clone() }
            }
            Self::Signal(DefenseSignalFile { to, from, about, origin, confidence, hops }) => {
                NetworkInput::Signal {
                    receiver: node_id(to),
                    signal: Signal {
                        origin: network.check_node(origin.as_ref().unwrap_or(from))?,
                        sender: network.check_node(from)?,
                        subject: network.check_node(about)?,
                        confidence: confidence.0,
                        hops: *hops,
                    },
                }
            }
            Self::ResolveThreat(ResolvedThreatFile { node, about }) => {
                NetworkInput::ResolveThreat { node: node_id(node), subject: network.check_node(about)? }
            }
            Self::Tick(NetworkTickFile {}) => NetworkInput::Tick,
        })
    }

    /// Returns the file that means this input in this network; `None` if none does: the network's creation, a handoff, a key of
    /// another length, a node with a history, or a signal or a resolved threat with an unknown node.
    pub(crate) fn from_kernel(input: &NetworkInput, network: &ScenarioNetwork) -> Option<Self> {
        let text = |id: &NodeId| StrictText::from(id.as_str());
        let file = match input {
            NetworkInput::Create { .. } | NetworkInput::Handoff(_) => return None,
            NetworkInput::Join { node } => {
                let file = network.loaded.joining_file(node)?;
                Self::Join(Spanned::from([(node.id.as_str(), file)].into_iter().collect::<ById<_>>()))
            }
            NetworkInput::Leave { node } => Self::Leave(text(node)),
            NetworkInput::SetAvailable { node, capability, available } => {
                let (node, capability) = (text(node), capability.as_str().into());
                Self::SetAvailable(AvailabilityFile { node, capability, available: *available })
            }
            NetworkInput::ReportLoad { node, load } => {
                Self::ReportLoad(LoadReportFile { node: text(node), load: load.map(Decimal) })
            }
            NetworkInput::RotateKey { node, public_key } => {
                let public_key = PublicKeyText::from_bytes(public_key)?;
                Self::RotateKey(NewKeyFile { node: text(node), public_key })
            }
            NetworkInput::Signal { receiver, signal } => {
                let Signal { origin, sender, subject, confidence, hops } = signal;
                Self::Signal(DefenseSignalFile {
                    to: text(receiver),
                    from: text(sender).into(),
                    about: text(subject).into(),
                    origin: Some(origin).filter(|origin| *origin != sender).map(|origin| text(origin).into()),
                    confidence: Decimal(*confidence),
                    hops: *hops,
                })
            }
            NetworkInput::ResolveThreat { node, subject } => {
                Self::ResolveThreat(ResolvedThreatFile { node: text(node), about: text(subject).into() })
            }
            NetworkInput::Tick => Self::Tick(NetworkTickFile {}),
        };
        (file.to_kernel(network).ok().as_ref() == Some(input)).then_some(file)
    }
}

fn joining_node(network: &ScenarioNetwork, nodes: &Spanned<ById<NodeFile>>) -> Result<Node, LabeledError> {
    match &nodes.value.0[..] {
        [(id, file)] => network.loaded.joining_node(id, file, &network.joining),
        found => Err(LabeledError::new(
            format!("expected one node that joins, found {}", found.len()),
            "write one `join` for each node, as in `join: {ana: {trust: 0.8}}`",
        )
        .with_label(nodes.span(), "not one node")),
    }
}
