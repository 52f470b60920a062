//! Trust networks (001) and tasks as YAML files, with errors at their place in the file.
//!
//! Entry points: [`LoadedNetwork::read`], [`LoadedNetwork::read_task`] and [`LoadedNetwork::conversation_input`];
//! [`KeyPlaces`] writes public keys into a network file. Numbers are read exactly into millionths; a missing
//! value is that of the policy. Deliberately absent: the history of a node (its counters and recent partners), because routing
//! does not read it.

mod build;
mod by_id;
mod conversation;
mod edit;
mod format;
mod from_kernel;
mod policy;
mod public_key;
mod routing_order;
mod signed;
mod task;

pub use by_id::ById;
pub use edit::KeyPlaces;
pub use format::{
    CapabilityConstraintsFile, CapabilityFile, ConnectionFile, HeldCapabilityFile, NetworkFile, NodeFile,
};
pub use policy::{
    ConnectionPolicyFile, ConvergencePolicyFile, DefensePolicyFile, FeedbackPolicyFile, PolicyFile,
    RoutingPolicyFile, StartPolicyFile, StatusPolicyFile, TRUST_SETTINGS, TrustWeightsFile,
    WorkflowPolicyFile, set_trust_policy,
};
pub use public_key::PublicKeyText;
pub use routing_order::RoutingOrderFile;
pub use signed::{Number, Reciprocity, Tone};
pub use task::{RequirementsFile, TaskConstraintsFile};

use orchestrion_files::limits::{NETWORK_FILE_BYTES_MAX, NETWORK_FILE_VALUES_MAX};
use orchestrion_kernel::network::{Network, Requirements, TrustPolicy};
use orchestrion_kernel::{CapabilityId, NodeId};
use orchestrion_yaml::{FileLimits, LabeledError, ReadError, Source, schema_of};
use std::collections::BTreeMap;
use std::path::Path;

/// The limits of a network file: room for 10,000 nodes of 100 values each.
pub const NETWORK_LIMITS: FileLimits = FileLimits {
    bytes_max: NETWORK_FILE_BYTES_MAX,
    values_max: NETWORK_FILE_VALUES_MAX,
    help: "remove the nodes that cannot get the task, or the connections that the routing node does not have",
};

/// A trust network as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedNetwork {
    /// The policy: the defaults with the overrides of the file. It is valid.
    pub policy: TrustPolicy,
    /// The node from whose view a conversation routes its calls.
    pub orchestrator: Option<NodeId>,
    /// The nodes.
    pub network: Network,
    /// The declared capabilities. A node may hold none of them.
    pub capabilities: BTreeMap<CapabilityId, CapabilityFile>,
}

impl LoadedNetwork {
    /// Reads a network file.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be opened, is larger than [`NETWORK_LIMITS`], is not valid, refers to an undeclared
    /// capability or to a node that is not in it, or has a policy with a contradiction.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::from_source(&Source::read_within(path, NETWORK_LIMITS)?)
    }

    /// Parses the network of a source.
    ///
    /// # Errors
    /// As [`LoadedNetwork::read`].
    pub fn from_source(source: &Source) -> Result<Self, ReadError> {
        build::load(source)
    }

    /// Parses a network. `name` is the file name for errors.
    ///
    /// # Errors
    /// As [`LoadedNetwork::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        Self::from_source(&Source::from_text_within(name, text, NETWORK_LIMITS)?)
    }

    /// Returns the network of a file that is part of another one.
    ///
    /// # Errors
    /// [`LabeledError`] as for a network file, at a place of the other file.
    pub fn from_file(file: &NetworkFile) -> Result<Self, LabeledError> {
        build::build(file)
    }

    /// Reads the requirements of a task file for this network.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be opened, is too large, is not valid, or names a capability or a node that the network
    /// does not have: a misspelled exclusion would exclude no node.
    pub fn read_task(&self, path: &Path) -> Result<Requirements, ReadError> {
        task::load(&Source::read(path)?, self)
    }

    /// Parses the requirements of a task for this network. `name` is the file name for errors.
    ///
    /// # Errors
    /// As [`LoadedNetwork::read_task`].
    pub fn parse_task(&self, name: &str, text: &str) -> Result<Requirements, ReadError> {
        task::load(&Source::from_text(name, text)?, self)
    }
}

/// Returns the JSON Schema of network files.
#[must_use]
pub fn network_schema() -> serde_json::Value {
    schema_of::<NetworkFile>("Orchestrion trust network")
}

/// Returns the JSON Schema of task files.
#[must_use]
pub fn task_schema() -> serde_json::Value {
    schema_of::<RequirementsFile>("Orchestrion task")
}

#[cfg(test)]
mod tests;
