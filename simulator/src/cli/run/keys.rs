//! The keys of `run --stdio`, checked before the conversation starts: a wrong key would make every handoff of its node fail.

use miette::{IntoDiagnostic, Report, Result, miette};
use orchestrion_handoff::{KeyError, KeyFolder, PublicKey};
use orchestrion_kernel::network::{NetworkInput, Node};
use orchestrion_kernel::{NodeId, State};
use orchestrion_runtime::NodeKeys;
use std::path::Path;

/// Returns the keys with which the nodes of a network sign, and notes for the user.
///
/// # Errors
/// A network without `--keys` whose nodes have public keys, or `--keys` without a network; a node without a public key; a key that is
/// missing for the orchestrator, malformed, readable by others, or of another node.
pub(super) fn checked_keys(
    folder: Option<&Path>,
    state: &State,
    new: Option<&NetworkInput>,
) -> Result<(NodeKeys, Vec<String>)> {
    let nodes = nodes(state, new);
    let Some(path) = folder else {
        return match nodes.iter().find(|node| !node.public_key.is_empty()) {
            Some(node) => Err(miette!(
                help = "name the folder with the secret keys, such as: --keys keys",
                "no keys: expected --keys, because node {} has a public key; simulated keys would not match it",
                node.id
            )),
            None => Ok((NodeKeys::Simulated, Vec::new())),
        };
    };
    let Some(orchestrator) = orchestrator(state, new) else {
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
    ensure_private(path, "folder", "700")?;
    let folder = KeyFolder::open(path).into_diagnostic()?;
    let mut notes = Vec::new();
    for node in nodes {
        match check_node(&folder, node) {
            Ok(()) => {}
            Err(NodeKeyError::Missing(error)) if node.id != *orchestrator => {
                notes.push(format!("{error}; calls that {} hands off fail", node.id));
            }
            Err(NodeKeyError::Missing(error)) => return Err(missing_key(&error)),
            Err(NodeKeyError::Invalid(report)) => return Err(report),
        }
    }
    Ok((NodeKeys::Folder(folder), notes))
}

fn nodes<'a>(state: &'a State, new: Option<&'a NetworkInput>) -> Vec<&'a Node> {
    match (state.network(), new) {
        (Some(network), _) => network.nodes().iter().collect(),
        (None, Some(NetworkInput::Create { nodes, .. })) => nodes.iter().collect(),
        (None, _) => Vec::new(),
    }
}

fn orchestrator<'a>(state: &'a State, new: Option<&'a NetworkInput>) -> Option<&'a NodeId> {
    match (state.network(), new) {
        (Some(network), _) => Some(network.orchestrator()),
        (None, Some(NetworkInput::Create { orchestrator, .. })) => Some(orchestrator),
        (None, _) => None,
    }
}

enum NodeKeyError {
    /// The node has no key file: its key may be on another machine.
    Missing(String),
    Invalid(Report),
}

fn check_node(folder: &KeyFolder, node: &Node) -> Result<(), NodeKeyError> {
    let invalid = |error: KeyError| NodeKeyError::Invalid(miette!("{error}"));
    let path = folder.key_path(&node.id).map_err(invalid)?;
    if path.exists() {
        ensure_private(&path, "key file", "600").map_err(NodeKeyError::Invalid)?;
    }
    let key = folder.load(&node.id).map_err(|error| match error {
        KeyError::Missing { .. } => {
            NodeKeyError::Missing(format!("{}: missing key of node {}", path.display(), node.id))
        }
        error => invalid(error),
    })?;
    if node.public_key.is_empty() {
        return Err(NodeKeyError::Invalid(miette!(
            help = "write it into the network file: orchestrion keys create NETWORK",
            "node {} has no public key: expected `public_key` in the network, found none; a handoff that it signs would be refused",
            node.id
        )));
    }
    let public_key = key.public_key();
    if node.public_key != public_key {
        return Err(NodeKeyError::Invalid(miette!(
            help = "restore the key file, or the `public_key` of the node; a resumed conversation keeps the keys with which it began",
            "{}: wrong key of node {}: expected the secret key of {}, found that of {}",
            path.display(),
            node.id,
            digits(&node.public_key),
            digits(&public_key as &PublicKey)
        )));
    }
    Ok(())
}

fn missing_key(error: &str) -> Report {
    miette!(
        help = "copy the key file into the folder; or create new keys for all nodes without one: orchestrion keys create NETWORK --all",
        "{error}: the orchestrator signs handoffs: expected a key file, found none"
    )
}

/// Returns the start of a public key, which identifies it.
fn digits(key: &[u8]) -> String {
    let digits: String = key.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}…")
}

/// Returns an error if others than the owner can read a path. Only Unix has these permissions.
#[cfg(unix)]
fn ensure_private(path: &Path, kind: &str, expected: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().into_diagnostic()?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(miette!(
        help = format!(
            "run: chmod {expected} {}; then replace the keys that others could read: orchestrion keys rotate NETWORK NODE",
            crate::cli::output::quoted(path)
        ),
        "{}: {kind} open to others: expected permissions {expected}, found {mode:o}",
        path.display()
    ))
}

#[cfg(not(unix))]
fn ensure_private(_: &Path, _: &str, _: &str) -> Result<()> {
    Ok(())
}
