//! The network of a resumed conversation: a change of its file would have no effect, so it is refused.

use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_runtime::{Journal, RecoveredConversation};
use orchestrion_scenario::run::clear_public_keys;
use orchestrion_trace::replay::excerpts;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Compares the network of a scenario with the one that a journal records. Public keys may differ: the conversation keeps its own, and
/// the key files are compared with these. Returns a note if the journal does not have the network.
///
/// # Errors
/// The journal cannot be read, or records another network.
pub(super) fn check_network(
    path: &Path,
    journal: &mut RecoveredConversation<impl Journal>,
    found: &NetworkInput,
) -> Result<Option<String>> {
    if journal.state().network().is_none() {
        return Ok(None);
    }
    let Some(mut recorded) = journal.read_created_network().into_diagnostic()? else {
        return Ok(Some(format!(
            "{}: the network is that of an earlier segment, and is not compared with the network of the scenario",
            path.display()
        )));
    };
    let mut found = found.clone();
    clear_public_keys(&mut recorded);
    clear_public_keys(&mut found);
    let (recorded, found) = (parts(&recorded), parts(&found));
    let mut names = recorded.keys().chain(found.keys());
    let Some(name) = names.find(|name| recorded.get(*name) != found.get(*name)) else { return Ok(None) };
    let text = |parts: &BTreeMap<String, String>| parts.get(name).map_or("none", String::as_str).to_owned();
    let (recorded, found) = excerpts(&text(&recorded), &text(&found));
    Err(miette!(
        help = "restore the network of the scenario, or start a new conversation with another journal",
        "{}: network mismatch in {name}: expected {recorded} (recorded), found {found}",
        path.display()
    ))
}

/// The parts of a network as texts, by name.
fn parts(network: &NetworkInput) -> BTreeMap<String, String> {
    let NetworkInput::Create { orchestrator, policy, nodes } = network else { return BTreeMap::new() };
    let of_network = [("the orchestrator", text(orchestrator)), ("the constants", text(policy))];
    let nodes = nodes.iter().map(|node| (format!("node {}", node.id), text(node)));
    of_network.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(nodes).collect()
}

fn text(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}
