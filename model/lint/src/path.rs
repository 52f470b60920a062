//! A shortest path to a state.

use crate::Machine;
use std::collections::VecDeque;

/// Returns the edges of a shortest path from an initial state to `target`: positions in [`Machine::edges`]. Empty for an initial
/// state; `None` if no path exists. Guards are not evaluated: every edge can be taken.
#[must_use]
pub fn shortest_path(machine: &Machine, target: usize) -> Option<Vec<usize>> {
    if machine.starts.contains(&target) {
        return Some(Vec::new());
    }
    // The edge by which each state was reached first.
    let mut reached_by: Vec<Option<usize>> = vec![None; machine.states.len()];
    let mut queue: VecDeque<usize> = machine.starts.iter().copied().collect();
    while let Some(state) = queue.pop_front() {
        for (position, edge) in machine.edges.iter().enumerate().filter(|(_, edge)| edge.from == state) {
            if machine.starts.contains(&edge.to) || reached_by[edge.to].is_some() {
                continue;
            }
            reached_by[edge.to] = Some(position);
            queue.push_back(edge.to);
        }
    }
    let mut path = Vec::new();
    let mut state = target;
    while let Some(position) = reached_by[state] {
        path.push(position);
        state = machine.edges[position].from;
    }
    path.reverse();
    (!path.is_empty()).then_some(path)
}
