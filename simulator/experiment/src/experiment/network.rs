//! The network of an experiment: its file, how its nodes execute tasks, and the lines that show them.

use crate::file::{ExperimentFile, NodeFile};
use crate::nodes::{LaterSuccess, NodeBehavior, NodeBehaviors};
use crate::trajectories::{Line, POSITIONS_MAX, Trajectory};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{NodeId, Score};
use orchestrion_network::LoadedNetwork;
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, suggest_nearest};
use std::path::Path;

/// Returns the nodes that a network starts with.
fn node_ids(network: Option<&NetworkInput>) -> impl Iterator<Item = &NodeId> {
    let nodes = match network {
        Some(NetworkInput::Create { nodes, .. }) => nodes.as_slice(),
        Some(_) | None => &[],
    };
    nodes.iter().map(|node| &node.id)
}

/// Reads the network of an experiment, as the input that creates it.
pub(super) fn read(
    source: &Source,
    file: &ExperimentFile,
    base_dir: &Path,
) -> Result<Option<NetworkInput>, ReadError> {
    let Some(path) = &file.network else { return Ok(None) };
    let loaded = LoadedNetwork::read(&base_dir.join(path.value.as_str()))?;
    let mut input = loaded
        .conversation_input()
        .map_err(|error| ReadError::in_source(source, error.with_label(path.span(), "this network")))?;
    // Handoffs of a simulation are not signed.
    if let NetworkInput::Create { nodes, .. } = &mut input {
        nodes.iter_mut().for_each(|node| node.public_key.clear());
    }
    Ok(Some(input))
}

pub(super) fn nodes(
    file: &ExperimentFile,
    network: Option<&NetworkInput>,
) -> Result<NodeBehaviors, LabeledError> {
    let known: Vec<&str> = node_ids(network).map(NodeId::as_str).collect();
    let behavior = |(name, node): (&String, &NodeFile)| {
        if !known.contains(&name.as_str()) {
            let near = suggest_nearest(name, known.iter().copied());
            let help = match known.is_empty() {
                true => "add `network` with the path of a network file".to_owned(),
                false => format!("{near}the nodes are {}", known.join(", ")),
            };
            return Err(LabeledError::new(format!("unknown node `{}`", name.escape_debug()), help)
                .with_label(file.nodes.span(), "these nodes"));
        }
        let later = node
            .later
            .map(|later| LaterSuccess { from_request: later.from_request.0.get(), success: later.success.0 });
        let behavior = NodeBehavior {
            success: node.success.0,
            later,
            lies: node.lies.map_or(Score::ZERO, |lies| lies.0),
        };
        Ok((NodeId::new(name.as_str()), behavior))
    };
    file.nodes.value.iter().map(behavior).collect::<Result<_, _>>().map(NodeBehaviors)
}

/// Returns the lines of the trajectories.
pub(super) fn lines(
    file: &ExperimentFile,
    network: Option<&NetworkInput>,
) -> Result<Vec<Line>, LabeledError> {
    let nodes: Vec<NodeId> = node_ids(network).cloned().collect();
    let mut trajectories = Vec::new();
    for name in &file.trajectories {
        let text = name.value.as_str();
        let error = |message: String, help: String, label| {
            Err(LabeledError::new(message, help).with_label(name.span(), label))
        };
        let Some(trajectory) = Trajectory::from_name(text) else {
            let names = Trajectory::names();
            let near = suggest_nearest(text, names.iter().copied());
            let help = format!("{near}the trajectories are {}", names.join(", "));
            return error(format!("unknown trajectory `{}`", text.escape_debug()), help, "unknown");
        };
        if trajectory.is_of_nodes() && nodes.is_empty() {
            let help = "add `network` with the path of a network file";
            return error(
                format!("trajectory {text}: expected a network, found none"),
                help.into(),
                "of nodes",
            );
        }
        if trajectories.contains(&trajectory) {
            return error(format!("trajectory {text} is repeated"), "write each name once".into(), "again");
        }
        trajectories.push(trajectory);
    }
    let requests = file.requests.value.0.get();
    if !trajectories.is_empty() && requests > POSITIONS_MAX {
        return Err(LabeledError::new(
            format!("trajectories: expected at most {POSITIONS_MAX} requests, found {requests}"),
            "write fewer requests, or remove `trajectories`",
        )
        .with_label(file.trajectories.first().and_then(Spanned::span), "too many positions"));
    }
    Ok(Line::all(&trajectories, &nodes))
}
