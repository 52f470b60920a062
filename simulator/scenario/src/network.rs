//! The network of a scenario: a file, or a mapping in the scenario itself.

use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_network::{LoadedNetwork, NetworkFile};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// Trust network: the path of a network file relative to this file, or the network itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScenarioNetworkFile {
    /// Path of a network file, relative to this file.
    Path(StrictText),
    /// Network.
    Inline(Box<NetworkFile>),
}

impl<'de> Deserialize<'de> for ScenarioNetworkFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScenarioNetworkVisitor)
    }
}

/// Selects the form by the type of the value, since an untagged enum loses the places of errors.
struct ScenarioNetworkVisitor;

impl<'de> Visitor<'de> for ScenarioNetworkVisitor {
    type Value = ScenarioNetworkFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of a network file, or a network")
    }
    fn visit_str<E: Error>(self, path: &str) -> Result<Self::Value, E> {
        Ok(ScenarioNetworkFile::Path(path.into()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let file = NetworkFile::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ScenarioNetworkFile::Inline(Box::new(file)))
    }
}

/// The network of a scenario with the nodes that join it.
pub(crate) struct ScenarioNetwork {
    pub(crate) loaded: LoadedNetwork,
    /// The input that creates it.
    pub(crate) input: NetworkInput,
    /// The nodes that the requests let join.
    pub(crate) joining: BTreeSet<NodeId>,
}

impl ScenarioNetwork {
    /// Loads the network of a scenario. The path of a file is relative to `base_dir`.
    pub(crate) fn load(
        source: &Source,
        file: &Spanned<ScenarioNetworkFile>,
        joining: BTreeSet<NodeId>,
        base_dir: &Path,
    ) -> Result<Self, ReadError> {
        let in_source = |error| ReadError::in_source(source, error);
        let loaded = match &file.value {
            ScenarioNetworkFile::Inline(network) => LoadedNetwork::from_file(network).map_err(in_source)?,
            ScenarioNetworkFile::Path(name) => {
                let path = base_dir.join(name.as_str());
                if !path.is_file() {
                    let error = LabeledError::new(
                        format!("no network file `{}`", name.as_str().escape_debug()),
                        "write the path of a network file relative to this file, or the network itself",
                    );
                    return Err(in_source(error.with_label(file.span(), "no such file")));
                }
                LoadedNetwork::read(&path)?
            }
        };
        let input = loaded.conversation_input();
        let input = input.map_err(|error| in_source(error.with_label(file.span(), "this network")))?;
        Ok(Self { loaded, input, joining })
    }

    /// Checks that a node is in the network or joins it.
    pub(crate) fn check_node(&self, node: &Spanned<StrictText>) -> Result<NodeId, LabeledError> {
        let id = NodeId::new(node.value.text());
        if self.joining.contains(&id) {
            return Ok(id);
        }
        let known = self.loaded.find_node(node.value.as_str());
        known.map_err(|error| error.with_label(node.span(), "unknown"))
    }
}

/// Returns the error of a key that only a scenario with a network can have.
pub(crate) fn no_network_error(key: &str) -> LabeledError {
    LabeledError::new(
        format!("`{key}` without a network: expected `network` in the scenario, found none"),
        format!("add `network: …` to the scenario, or remove `{key}`"),
    )
}
