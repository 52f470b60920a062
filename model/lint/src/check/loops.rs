//! Loops without a limit.
//!
//! A loop is a cycle of states, none of which is idle: a cycle through an idle state is a new run. A loop is limited if one
//! of its own edges is. A limited edge beside it limits another loop, or none.

use super::{Linter, diagnostic};
use crate::{Edge, LintDiagnostic};
use std::collections::{BTreeSet, VecDeque};

impl Linter<'_> {
    /// Reports unlimited loops: for each step from state to state that is on one, the loops contain it.
    pub(super) fn check_unbounded_loops(&self) -> Vec<LintDiagnostic> {
        let mut steps = self.steps(|edge| !edge.is_limited);
        for state in self.counting_states() {
            steps.remove_state(state);
        }
        let mut cycles: Vec<Vec<usize>> = Vec::new();
        let mut covered = BTreeSet::new();
        for step in steps.in_components() {
            if covered.contains(&step) {
                continue;
            }
            if let Some(cycle) = steps.shortest_cycle(step) {
                covered.extend(cycle_steps(&cycle));
                cycles.push(cycle);
            }
        }
        cycles.sort();
        cycles
            .into_iter()
            .map(|cycle| {
                let path: Vec<&str> =
                    cycle.iter().chain(cycle.first()).map(|state| &self.state(*state).name[..]).collect();
                diagnostic(
                    cycle.iter().map(|state| self.state(*state).location),
                    format!(
                        "unbounded loop: no edge limits {}{}",
                        path.join(" → "),
                        self.explain_not_idle(&cycle)
                    ),
                    "limit an edge of the loop, and add an edge for the exhausted limit",
                )
            })
            .collect()
    }

    /// Returns the steps of the edges that can be part of a loop.
    fn steps(&self, is_included: impl Fn(&Edge) -> bool) -> Steps {
        let mut steps = Steps { next: vec![Vec::new(); self.machine.states.len()] };
        for edge in self.machine.edges.iter().filter(|edge| is_included(edge)) {
            let is_new = !steps.next[edge.from].contains(&edge.to);
            if is_new && !self.starts_run(edge.from) && !self.starts_run(edge.to) {
                steps.next[edge.from].push(edge.to);
            }
        }
        steps
    }

    /// Returns whether a run ends before it enters this state: the state is idle. A diagram cannot mark idle states. There
    /// its initial state counts as idle, unless a run leaves it on its own.
    fn starts_run(&self, state: usize) -> bool {
        let is_start = self.machine.is_guessed && self.machine.starts.contains(&state);
        self.is_idle(state) || is_start && self.automatic_edge(state).is_none()
    }

    /// Returns the states of a diagram that limit the only loop through them. A diagram often names the limit at the edge
    /// that leaves a loop, such as "attempts exhausted". If several loops pass the state, the diagram does not show
    /// which of them the limit is about. In a table, the limit of such an edge is no limit of a loop.
    fn counting_states(&self) -> Vec<usize> {
        let all = self.steps(|_| true);
        let leaves = |edge: &&Edge| edge.is_limited && all.shortest_cycle((edge.from, edge.to)).is_none();
        let exits = self.machine.edges.iter().filter(|_| self.machine.is_guessed).filter(leaves);
        exits.map(|edge| edge.from).filter(|state| all.has_one_cycle(*state)).collect()
    }
}

/// The steps of loops, from state to state; edges with the same ends are one step.
#[derive(Clone)]
struct Steps {
    next: Vec<Vec<usize>>,
}

impl Steps {
    fn remove_state(&mut self, state: usize) {
        self.next[state].clear();
    }

    /// Returns the steps inside strongly connected components: those that are on a cycle.
    fn in_components(&self) -> Vec<(usize, usize)> {
        let component = self.components();
        self.iter().filter(|(from, to)| component[*from] == component[*to]).collect()
    }

    fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..).zip(&self.next).flat_map(|(from, next)| next.iter().map(move |to| (from, *to)))
    }

    /// Returns for each state a representative of its strongly connected component (algorithm of Kosaraju).
    fn components(&self) -> Vec<Option<usize>> {
        let mut before = vec![Vec::new(); self.next.len()];
        self.iter().for_each(|(from, to)| before[to].push(from));
        let mut component = vec![None; self.next.len()];
        for root in self.by_completion().into_iter().rev() {
            let mut open = vec![root];
            while let Some(state) = open.pop() {
                if component[state].is_none() {
                    component[state] = Some(root);
                    open.extend(&before[state]);
                }
            }
        }
        component
    }

    /// Returns the states in the order in which a depth-first search completes them.
    fn by_completion(&self) -> Vec<usize> {
        let mut completed = Vec::with_capacity(self.next.len());
        let mut is_entered = vec![false; self.next.len()];
        for root in 0..self.next.len() {
            let mut path = Vec::new();
            if !std::mem::replace(&mut is_entered[root], true) {
                path.push((root, self.next[root].iter()));
            }
            while let Some((state, next)) = path.last_mut() {
                match next.next() {
                    Some(&to) if is_entered[to] => {}
                    Some(&to) => {
                        is_entered[to] = true;
                        path.push((to, self.next[to].iter()));
                    }
                    None => {
                        completed.push(*state);
                        path.pop();
                    }
                }
            }
        }
        completed
    }

    /// Returns the shortest cycle that begins with a step, its smallest state first.
    fn shortest_cycle(&self, (from, to): (usize, usize)) -> Option<Vec<usize>> {
        let mut before = vec![None; self.next.len()];
        let mut open = VecDeque::from([to]);
        while let Some(state) = open.pop_front().filter(|_| before[from].is_none() && from != to) {
            for &next in &self.next[state] {
                if next != to && before[next].is_none() {
                    before[next] = Some(state);
                    open.push_back(next);
                }
            }
        }
        let mut cycle = vec![from];
        let mut state = from;
        while state != to {
            state = before[state]?;
            cycle.push(state);
        }
        cycle.reverse();
        let smallest = cycle.iter().enumerate().min_by_key(|(_, state)| **state).map_or(0, |(i, _)| i);
        cycle.rotate_left(smallest);
        Some(cycle)
    }

    /// Returns whether exactly one cycle passes a state. Another cycle omits a step of the first one.
    fn has_one_cycle(&self, state: usize) -> bool {
        let cycle_of = |steps: &Self| {
            let mut cycles = steps.next[state].iter().map(|to| steps.shortest_cycle((state, *to)));
            cycles.find_map(|cycle| cycle)
        };
        let is_needed = |(from, to): (usize, usize)| {
            let mut without = self.clone();
            without.next[from].retain(|next| *next != to);
            cycle_of(&without).is_none()
        };
        cycle_of(self).is_some_and(|cycle| cycle_steps(&cycle).all(is_needed))
    }
}

/// Returns the steps of a cycle.
fn cycle_steps(cycle: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1))
}
