//! The nodes of the network that a step changes, as they are after it (001 §2.2).

use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::state::write_property;
use crate::text::count;
use orchestrion_kernel::network::{CapabilityCategory, CapabilityState, Node, NodeStatus};
use std::io;

/// The maximum number of listed nodes.
const NODES_MAX: usize = 20;

pub(super) fn write(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let Some(network) = view.after.network() else { return Ok(()) };
    let before = view.before.network();
    let is_changed = |node: &&Node| before.and_then(|before| before.node(&node.id)) != Some(*node);
    let changed: Vec<&Node> = network.nodes().iter().filter(is_changed).collect();
    for (i, node) in changed.iter().take(NODES_MAX).enumerate() {
        let line = Line::new().styled(TextStyle::Actor, &node.id);
        let line = line.and(format_args!(
            ": {}, trust {}, load {}",
            status_name(node.status),
            node.trust,
            node.load()
        ));
        let line = match &node.cluster {
            Some(cluster) => line.and(format_args!(", cluster {cluster}")),
            None => line,
        };
        write_property(out, if i == 0 { "nodes" } else { "" }, line)?;
        for held in node.capabilities.values() {
            write_property(out, "", capability(held))?;
        }
    }
    match changed.len().checked_sub(NODES_MAX) {
        None | Some(0) => Ok(()),
        Some(more) => {
            write_property(out, "", Line::dim(format_args!("and {} more", count(more, "changed node"))))
        }
    }
}

/// Returns a held capability with its state (001 §2.1, §2.2).
fn capability(held: &CapabilityState) -> Line {
    let about = &held.capability;
    let types = |types: &[orchestrion_kernel::Text]| {
        let names: Vec<&str> = types.iter().map(|name| name.as_str()).collect();
        if names.is_empty() { "any".to_owned() } else { names.join(" or ") }
    };
    let mut line =
        Line::text(format_args!("  {} \"{}\", {}", about.id, about.name, category_name(about.category)));
    if !about.input_types.is_empty() || !about.output_types.is_empty() {
        line = line.and(format_args!(", {} to {}", types(&about.input_types), types(&about.output_types)));
    }
    if let Some(size) = about.constraints.max_input_size {
        line = line.and(format_args!(", input at most {size}"));
    }
    if let Some(timeout_ms) = about.constraints.timeout_ms {
        line = line.and(format_args!(", timeout {timeout_ms} ms"));
    }
    line = line.and(format_args!(
        ": quality {}, volume {}, load {}/{}",
        held.quality, held.volume, held.current_tasks, about.max_capacity
    ));
    line = match held.last_used {
        Some(at) => line.and(format_args!(", last used {at}")),
        None => line,
    };
    if held.available { line } else { line.and(", unavailable") }
}

/// Returns the name of a status, as in a network file.
const fn status_name(status: NodeStatus) -> &'static str {
    match status {
        NodeStatus::Probationary => "probationary",
        NodeStatus::Member => "member",
        NodeStatus::Established => "established",
        NodeStatus::Hub => "hub",
        NodeStatus::Expelled => "expelled",
    }
}

/// Returns the name of a category, as in a network file.
const fn category_name(category: CapabilityCategory) -> &'static str {
    match category {
        CapabilityCategory::Analysis => "analysis",
        CapabilityCategory::Generation => "generation",
        CapabilityCategory::Transformation => "transformation",
        CapabilityCategory::Validation => "validation",
    }
}
