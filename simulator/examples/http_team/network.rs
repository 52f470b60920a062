//! The team as a trust network: every node has an HTTP endpoint and a key. Handoffs and calls go to the endpoint of their node.

use crate::models::Models;
use crate::node;
use crate::team::{self, Team};
use orchestrion_handoff::{KeyFolder, PublicKey};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{Input, NodeId, Policy};
use orchestrion_network::LoadedNetwork;
use orchestrion_runtime::{Conversation, NodeKeys, StepResult};
use orchestrion_text::StandardContexts;
use orchestrion_yaml::{ReadError, Source};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Runs one request over the nodes, and prints who did what.
pub(crate) async fn run(folder: &Path, request: &str) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    team::write_locks(folder)?;
    let source = Source::from_text("network.yaml", include_str!("network.yaml"))?;
    let network = LoadedNetwork::from_source(&source)?;
    let mut input = network.conversation_input().map_err(|error| ReadError::in_source(&source, error))?;
    let keys = KeyFolder::open(folder.join("keys"))?;
    let public_keys = create_keys(&keys, &mut input)?;
    let mut endpoints = BTreeMap::new();
    for name in public_keys.keys() {
        let base_url = node::start(name.clone(), public_keys.clone(), folder.join("effects.txt"))?;
        println!("  {name} is at {base_url}");
        endpoints.insert(name.clone(), Models::at(&base_url));
    }
    let office = endpoints.get(&NodeId::new("office")).ok_or("no node office")?.clone();
    let mut team = Team::new(office, folder);
    team.endpoints = endpoints;
    let conversation =
        Conversation::open(folder.join("network.ndjson"), Policy::hardened(), &StandardContexts)?;
    let mut conversation = conversation.with_keys(NodeKeys::Folder(keys));
    if conversation.state().network().is_none() {
        match conversation.run(&team)?.submit(&Input::Network(Box::new(input)))? {
            StepResult::Accepted => {}
            StepResult::Refused(refusal) | StepResult::Halted(refusal) => return Err(refusal.into()),
        }
    }
    let answered = conversation.run_request(&team, "ada", request).await?;
    println!("\nThe answer to {}:", answered.trace);
    answered.text.as_str().lines().for_each(|line| println!("  {}", team::plain(line)));
    println!("\nWho executed which call:");
    for (name, calls) in team.calls_by_node() {
        println!("  {name}: {}", calls.join(", "));
    }
    Ok(())
}

/// Creates the missing keys of the nodes, and sets their public keys.
fn create_keys(
    keys: &KeyFolder,
    input: &mut NetworkInput,
) -> Result<BTreeMap<NodeId, PublicKey>, Box<dyn Error>> {
    let NetworkInput::Create { nodes, .. } = input else { return Err("expected a new network".into()) };
    let mut public_keys = BTreeMap::new();
    for node in nodes {
        let key =
            if keys.key_path(&node.id)?.exists() { keys.load(&node.id)? } else { keys.create(&node.id)? };
        node.public_key = key.public_key().to_vec();
        public_keys.insert(node.id.clone(), key.public_key());
    }
    Ok(public_keys)
}
