//! What the nodes of a network did over a trace: who handed to whom, who executed, and how trust changed.

use super::network::short;
use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use crate::text::count;
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{Event, NodeId, Score};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

/// The most nodes that are listed or drawn.
const NODES_MAX: usize = 30;

/// The handoffs between nodes, and the trust in each node over the steps.
#[derive(Debug, Default)]
pub(super) struct NetworkActivity {
    orchestrator: Option<NodeId>,
    handoffs: BTreeMap<(NodeId, NodeId), usize>,
    refused: BTreeMap<NodeId, usize>,
    /// The values of the trust in each node, first and changed ones.
    trust: BTreeMap<NodeId, Vec<Score>>,
}

impl NetworkActivity {
    /// Adds a step.
    pub(super) fn observe(&mut self, view: &StepView<'_>) {
        let Some(network) = view.after.network() else { return };
        let mut changes = false;
        for event in &view.step.events {
            let Event::Network(event) = event else { continue };
            changes = true;
            match event {
                NetworkEvent::CallRouted { from, to, .. } if from != to => {
                    *self.handoffs.entry((from.clone(), to.clone())).or_default() += 1;
                }
                NetworkEvent::HandoffRefused { receipt, .. } => {
                    *self.refused.entry(receipt.to.clone()).or_default() += 1;
                }
                _ => {}
            }
        }
        if changes {
            self.observe_trust(network);
        }
    }

    fn observe_trust(&mut self, network: &NetworkState) {
        self.orchestrator.get_or_insert_with(|| network.orchestrator().clone());
        for node in network.nodes().iter() {
            let values = self.trust.entry(node.id.clone()).or_default();
            if values.last() != Some(&node.trust) {
                values.push(node.trust);
            }
        }
    }

    /// Writes who handed to whom, and the trust in each node that took part.
    pub(super) fn write(&self, out: &mut dyn Renderer) -> io::Result<()> {
        if self.handoffs.is_empty() {
            return Ok(());
        }
        out.write_blank()?;
        out.write_paragraph(Line::new().styled(TextStyle::Heading, "Network"), 0)?;
        for ((from, to), handoffs) in self.handoffs.iter().take(NODES_MAX) {
            let mut line = Line::text(format_args!("  {from} → "))
                .styled(TextStyle::Actor, to)
                .and(format_args!("  {}", count(*handoffs, "handoff")));
            if let Some(refused) = self.refused.get(to) {
                line = line.styled(TextStyle::Warn, format_args!(", {} refused", refused));
            }
            if let Some(trust) = self.trust_change(to) {
                line = line.styled(TextStyle::Dim, format_args!(", trust {trust}"));
            }
            out.write_paragraph(line, 4)?;
        }
        Ok(())
    }

    /// Returns the first and the last trust in a node, as text.
    fn trust_change(&self, node: &NodeId) -> Option<String> {
        let values = self.trust.get(node)?;
        match (values.first()?, values.last()?) {
            (first, last) if first == last => Some(short(first.millionths())),
            (first, last) => Some(format!("{} → {}", short(first.millionths()), short(last.millionths()))),
        }
    }

    /// Returns the drawing: nodes in columns by their distance from the orchestrator, and the handoffs between them; `None` without
    /// handoffs.
    pub(super) fn drawing(&self) -> Option<Drawing> {
        let orchestrator = self.orchestrator.as_ref().filter(|_| !self.handoffs.is_empty())?;
        let mut columns: Vec<Vec<NodeId>> = Vec::new();
        let mut placed = BTreeSet::from([orchestrator.clone()]);
        let mut queue = VecDeque::from([(orchestrator.clone(), 0)]);
        while let Some((node, column)) = queue.pop_front() {
            if columns.len() <= column {
                columns.push(Vec::new());
            }
            columns[column].push(node.clone());
            for (from, to) in self.handoffs.keys() {
                if *from == node && placed.len() < NODES_MAX && placed.insert(to.clone()) {
                    queue.push_back((to.clone(), column + 1));
                }
            }
        }
        let nodes: Vec<DrawnNode> = columns
            .iter()
            .enumerate()
            .flat_map(|(column, nodes)| nodes.iter().enumerate().map(move |(row, node)| (column, row, node)))
            .map(|(column, row, node)| DrawnNode {
                name: node.as_str().to_owned(),
                column,
                row,
                trust: self.trust.get(node).cloned().unwrap_or_default(),
            })
            .collect();
        let place = |node: &NodeId| nodes.iter().position(|drawn| drawn.name == node.as_str());
        let handoffs = self
            .handoffs
            .iter()
            .filter_map(|((from, to), count)| Some((place(from)?, place(to)?, *count)))
            .collect();
        Some(Drawing { nodes, handoffs })
    }
}

/// A drawing of the network.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) nodes: Vec<DrawnNode>,
    /// Sender and receiver by their positions in `nodes`, and the number of handoffs.
    pub(super) handoffs: Vec<(usize, usize, usize)>,
}

/// A node with its place.
#[derive(Debug)]
pub(super) struct DrawnNode {
    pub(super) name: String,
    pub(super) column: usize,
    pub(super) row: usize,
    /// The values of the trust in the node, oldest first.
    pub(super) trust: Vec<Score>,
}
