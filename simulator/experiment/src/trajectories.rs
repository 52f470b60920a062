//! Values over the requests of a run, and over the passes of a debate.

use crate::metrics::{METRICS, Meter, Metric};
use crate::tally::Moments;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::{NodeId, State};
use std::collections::BTreeMap;

/// The maximum number of positions of a line: of requests, and of passes.
pub const POSITIONS_MAX: u32 = 1000;

/// What the lines of a trajectory show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trajectory {
    /// The consensus in millionths, by pass.
    Consensus,
    /// The stored trust in each node in millionths, by request.
    Trust,
    /// The tasks of each node, by request.
    Tasks,
    /// A metric, by request.
    Metric(&'static Metric),
}

impl Trajectory {
    /// Returns the trajectory with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        // The metric `tasks` is the sum of the tasks of all nodes.
        match name {
            "consensus" => Some(Self::Consensus),
            "trust" => Some(Self::Trust),
            "tasks_by_node" => Some(Self::Tasks),
            _ => Metric::from_name(name).map(Self::Metric),
        }
    }

    /// Returns the name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Consensus => "consensus",
            Self::Trust => "trust",
            Self::Tasks => "tasks_by_node",
            Self::Metric(metric) => metric.name,
        }
    }

    /// Returns every name.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let own = [Self::Consensus, Self::Trust, Self::Tasks].map(Self::name);
        own.into_iter().chain(METRICS.iter().map(|metric| metric.name)).collect()
    }

    /// Whether it has a line for each node of the network.
    #[must_use]
    pub const fn is_of_nodes(self) -> bool {
        match self {
            Self::Trust | Self::Tasks => true,
            Self::Consensus | Self::Metric(_) => false,
        }
    }

    /// Returns what a position of its lines is.
    #[must_use]
    pub const fn position(self) -> &'static str {
        match self {
            Self::Consensus => "pass",
            Self::Trust | Self::Tasks | Self::Metric(_) => "request",
        }
    }

    /// Returns the number by which a value is divided to get its unit.
    #[must_use]
    pub const fn divisor(self) -> f64 {
        match self {
            Self::Consensus | Self::Trust => 1e6,
            Self::Tasks | Self::Metric(_) => 1.0,
        }
    }
}

/// A line of a trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The trajectory.
    pub trajectory: Trajectory,
    /// The node; `None` for a trajectory with one line.
    pub node: Option<NodeId>,
}

impl Line {
    /// Returns the lines of some trajectories, in a network with these nodes.
    pub(crate) fn all(trajectories: &[Trajectory], nodes: &[NodeId]) -> Vec<Self> {
        let lines = |trajectory: &Trajectory| -> Vec<Self> {
            let line = |node| Self { trajectory: *trajectory, node };
            match trajectory.is_of_nodes() {
                true => nodes.iter().cloned().map(|node| line(Some(node))).collect(),
                false => vec![line(None)],
            }
        };
        trajectories.iter().flat_map(lines).collect()
    }

    /// Returns the key in a result: the node, or the empty text.
    pub(crate) fn key(&self) -> &str {
        self.node.as_ref().map_or("", NodeId::as_str)
    }
}

/// A value of a line, at a position from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The position of the line among all lines.
    pub line: usize,
    /// The pass or the request, from 1.
    pub position: u32,
    /// The value.
    pub value: i64,
}

/// Records the points of a run.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    lines: &'a [Line],
    /// The value of each line at the start of the request, of those that grow over the run.
    at_start: Vec<i64>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        Self { lines, at_start: vec![0; lines.len()] }
    }

    /// Records the consensus of a pass.
    pub(crate) fn observe(&self, event: &Event, state: &State, points: &mut Vec<Point>) {
        let Event::ConsensusScored { score, .. } = event else { return };
        let position = state.control().request().map_or(0, |request| request.debate.pass);
        if position == 0 || position > POSITIONS_MAX {
            return;
        }
        for (line, found) in self.lines.iter().enumerate() {
            if found.trajectory == Trajectory::Consensus {
                points.push(Point { line, position, value: score.millionths().into() });
            }
        }
    }

    /// Records the values after a request.
    pub(crate) fn end_request(
        &mut self,
        request: u32,
        state: &State,
        meter: &Meter,
        points: &mut Vec<Point>,
    ) {
        for (line, (found, at_start)) in self.lines.iter().zip(&mut self.at_start).enumerate() {
            let value = match found.trajectory {
                Trajectory::Consensus => continue,
                Trajectory::Trust => {
                    let node = found.node.as_ref().and_then(|id| state.network()?.node(id));
                    let Some(node) = node else { continue };
                    node.trust.millionths().into()
                }
                Trajectory::Tasks => {
                    let node = found.node.as_ref();
                    let total = node.and_then(|node| meter.tasks_by_node.get(node)).copied().unwrap_or(0);
                    total - std::mem::replace(at_start, total)
                }
                Trajectory::Metric(metric) => {
                    let total = meter.measurements.value(metric);
                    total - std::mem::replace(at_start, total)
                }
            };
            points.push(Point { line, position: request, value });
        }
    }
}

/// The values of each line by position: of each trajectory, by node.
pub type TrajectorySums = BTreeMap<String, BTreeMap<String, Vec<Moments>>>;

/// Adds the moments of a line.
pub(crate) fn merge_line(into: &mut Vec<Moments>, other: &[Moments]) {
    if into.len() < other.len() {
        into.resize(other.len(), Moments::default());
    }
    into.iter_mut().zip(other).for_each(|(into, other)| into.merge(other));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[i64]) -> Vec<Moments> {
        let moments = |value: &i64| {
            let mut moments = Moments::default();
            moments.add(*value);
            moments
        };
        values.iter().map(moments).collect()
    }

    /// A part whose runs end earlier has a shorter line.
    #[test]
    fn lines_of_different_lengths_merge() {
        let (mut first, mut second) = (line(&[1, 2]), line(&[10, 20, 30]));
        merge_line(&mut first, &line(&[10, 20, 30]));
        merge_line(&mut second, &line(&[1, 2]));
        assert_eq!(first, second);
        let sums: Vec<(u64, i128)> = first.iter().map(|moments| (moments.count, moments.sum)).collect();
        assert_eq!(sums, [(2, 11), (2, 22), (1, 30)]);
    }
}
