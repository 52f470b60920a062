//! The keys of `run --stdio` and of `fork --stdio`, checked before the conversation starts: a wrong key would make every handoff of its
//! node fail.

use miette::{IntoDiagnostic, Report, Result, miette};
use orchestrion_handoff::{KeyError, KeyFolder, PublicKey};
use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::{NetworkInput, Node};
use orchestrion_kernel::state::NetworkState;
use orchestrion_runtime::NodeKeys;
use std::path::Path;

/// The network whose nodes sign.
struct Signers<'a> {
    orchestrator: &'a NodeId,
    nodes: Vec<&'a Node>,
    /// Whether the journal has the network, so that no file is read for it.
    is_recorded: bool,
}

impl<'a> Signers<'a> {
    fn new(recorded: Option<&'a NetworkState>, new: Option<&'a NetworkInput>) -> Option<Self> {
        let (orchestrator, nodes) = match (recorded, new) {
            (Some(network), _) => (network.orchestrator(), network.nodes().iter().collect()),
            (None, Some(NetworkInput::Create { orchestrator, nodes, .. })) => {
                (orchestrator, nodes.iter().collect())
            }
            (None, _) => return None,
        };
        Some(Self { orchestrator, nodes, is_recorded: recorded.is_some() })
    }

    /// What to do if a key does not fit the network.
    const fn help(&self, of_file: &'static str) -> &'static str {
        match self.is_recorded {
            true => {
                "restore the key files with which the conversation began, or start a new conversation: this one keeps the public keys that it \
                 recorded, and reads none from the network file"
            }
            false => of_file,
        }
    }
}

/// Returns the keys with which the nodes of a network sign, and notes for the user. A recorded network is used instead of a new one.
///
/// # Errors
/// A network without `--keys` whose nodes have public keys, or `--keys` without a network; a node without a public key; a key that is
/// missing for the orchestrator, malformed, open to others, or of another node.
pub(super) fn checked_keys(
    folder: Option<&Path>,
    recorded: Option<&NetworkState>,
    new: Option<&NetworkInput>,
) -> Result<(NodeKeys, Vec<String>)> {
    let signers = Signers::new(recorded, new);
    let Some(path) = folder else {
        let mut nodes = signers.iter().flat_map(|signers| &signers.nodes);
        return match nodes.find(|node| !node.public_key.is_empty()) {
            Some(node) => Err(miette!(
                help = "name the folder with the secret keys, such as: --keys keys",
                "no keys: expected --keys, because node {} has a public key; simulated keys would not match it",
                node.id
            )),
            None => Ok((NodeKeys::Simulated, Vec::new())),
        };
    };
    let Some(signers) = signers else {
        return Err(miette!(
            help = "run a scenario with `network`, or leave out --keys",
            "--keys without a network: expected a scenario with nodes that hand off calls, found none"
        ));
    };
    if !path.is_dir() {
        return Err(miette!(
            help = "name the folder of the key files; `orchestrion keys create NETWORK` creates it beside the network file",
            "{}: no key folder: expected a folder, found {}",
            path.display(),
            if path.exists() { "a file" } else { "nothing" }
        ));
    }
    let folder = KeyFolder::open(path).into_diagnostic()?;
    let mut notes = Vec::new();
    for node in &signers.nodes {
        match check_node(&folder, node, &signers) {
            Ok(()) => {}
            Err(NodeKeyError::Missing(error)) if node.id != *signers.orchestrator => {
                notes.push(format!("{error}; calls that {} hands off fail", node.id));
            }
            Err(NodeKeyError::Missing(error)) => return Err(missing_key(&error, &signers)),
            Err(NodeKeyError::Invalid(report)) => return Err(report),
        }
    }
    Ok((NodeKeys::Folder(folder), notes))
}

enum NodeKeyError {
    /// The node has no key file: its key may be on another machine.
    Missing(String),
    Invalid(Report),
}

fn check_node(folder: &KeyFolder, node: &Node, signers: &Signers<'_>) -> Result<(), NodeKeyError> {
    let invalid = |error: KeyError| NodeKeyError::Invalid(miette!("{error}"));
    let path = folder.key_path(&node.id).map_err(invalid)?;
    let key = folder.load(&node.id).map_err(|error| match error {
        KeyError::Missing { .. } => {
            NodeKeyError::Missing(format!("{}: missing key of node {}", path.display(), node.id))
        }
        error => invalid(error),
    })?;
    if node.public_key.is_empty() {
        return Err(NodeKeyError::Invalid(miette!(
            help = match signers.is_recorded {
                true =>
                    "the conversation recorded none: leave out --keys if no node has a public key; else remove this key file, or \
                     start a new conversation",
                false => "write it into the network file: orchestrion keys create NETWORK",
            },
            "node {} has no public key: expected `public_key` in the network, found none; a handoff that it signs would be refused",
            node.id
        )));
    }
    let public_key = key.public_key();
    if node.public_key != public_key {
        return Err(NodeKeyError::Invalid(miette!(
            help = signers.help("restore the key file, or the `public_key` of the node"),
            "{}: wrong key of node {}: expected the secret key of {}, found that of {}",
            path.display(),
            node.id,
            digits(&node.public_key),
            digits(&public_key as &PublicKey)
        )));
    }
    Ok(())
}

fn missing_key(error: &str, signers: &Signers<'_>) -> Report {
    miette!(
        help = signers.help(
            "copy the key file into the folder; or create new keys for all nodes without one: orchestrion keys create NETWORK --all"
        ),
        "{error}: the orchestrator signs handoffs: expected a key file, found none"
    )
}

/// Returns the start of a public key, which identifies it.
fn digits(key: &[u8]) -> String {
    let digits: String = key.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}…")
}
