//! Heuristics: a closure within the budget is filled greedily, and then improved by an exchange.
//!
//! The exchange takes nodes that can leave or enter independently, and finds their best combination by the list of
//! undominated partial states (Nemhauser and Ullmann, 1969). Nothing is proven here.

use super::objective::Objective;
use super::search::Search;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The maximum number of nodes that leave, and that enter, in one exchange.
const MOVES: usize = 20;
/// The maximum number of partial states.
const PARTIAL_STATES_MAX: usize = 3_000;

/// A partial state: its value, its last move, and its predecessor.
#[derive(Clone, Copy)]
struct State {
    worth: Objective,
    mv: u32,
    from: u32,
}

impl Search<'_> {
    /// Fills a closed set greedily and offers it, with and without an exchange.
    pub(super) fn greedy_fill(&mut self, within: &[usize]) {
        let mut set = self.with(within.iter().copied());
        let mut worth = self.fixed;
        within.iter().for_each(|&node| worth.add(self.graph, node));
        let mut order: Vec<usize> = self.open().into_iter().filter(|&node| !set[node]).collect();
        order.sort_by_key(|&node| (Reverse(self.flow.excess[node]), self.graph.key[node]));
        for &node in &order {
            self.try_insert(node, &mut set, &mut worth);
        }
        self.offer_incumbent(worth, |_| set.clone());
        self.improve_by_exchange(set, worth);
    }

    /// Inserts a node with its closure, if it fits.
    fn try_insert(&mut self, node: usize, set: &mut [bool], worth: &mut Objective) {
        let graph = self.graph;
        if set[node] || graph.cost[node] > self.budget - worth.cost {
            return;
        }
        let mark = self.next_visit_mark();
        let (mut group, mut next, mut sum) = (vec![node], 0, *worth);
        self.seen[node] = mark;
        while let Some(&node) = group.get(next) {
            next += 1;
            sum.add(graph, node);
            if sum.cost > self.budget {
                return;
            }
            for arc in graph.needs(node) {
                let head = graph.head[arc];
                if !set[head] && self.seen[head] != mark {
                    self.seen[head] = mark;
                    group.push(head);
                }
            }
        }
        *worth = sum;
        group.iter().for_each(|&node| set[node] = true);
    }

    /// Improves a set by the best combination of independent moves.
    fn improve_by_exchange(&mut self, mut set: Vec<bool>, worth: Objective) {
        let moves = self.moves(&set);
        let graph = self.graph;
        let room = self.budget - worth.cost;
        // What the remaining moves can still return.
        let mut relief: i64 = moves.iter().filter(|&&node| set[node]).map(|&node| graph.cost[node]).sum();
        let mut arena = vec![State { worth: Objective::default(), mv: u32::MAX, from: 0 }];
        let mut states = arena.clone();
        for (mv, &node) in moves.iter().enumerate() {
            let leaves = set[node];
            if leaves {
                relief -= graph.cost[node];
            }
            let base = arena.len() - states.len();
            let moved: Vec<State> = states
                .iter()
                .enumerate()
                .map(|(place, state)| {
                    let mut worth = state.worth;
                    if leaves {
                        worth.remove(graph, node)
                    } else {
                        worth.add(graph, node)
                    }
                    State { worth, mv: mv as u32, from: (base + place) as u32 }
                })
                .collect();
            let kept: Vec<State> = states
                .iter()
                .enumerate()
                .map(|(place, state)| State { mv: u32::MAX, from: (base + place) as u32, ..*state })
                .collect();
            self.flow.work += 2 * states.len() as u64;
            states = merge(kept, moved, room + relief);
            if states.len() > PARTIAL_STATES_MAX {
                let middle = states.partition_point(|state| state.worth.cost <= room);
                let first =
                    middle.saturating_sub(PARTIAL_STATES_MAX * 3 / 4).min(states.len() - PARTIAL_STATES_MAX);
                states = states.split_off(first);
                states.truncate(PARTIAL_STATES_MAX);
            }
            arena.extend_from_slice(&states);
        }
        let fits = states.iter().filter(|state| state.worth.cost <= room);
        let Some(found) = fits.max_by_key(|state| (state.worth.utility, Reverse(state.worth.cost))) else {
            return;
        };
        let sum = Objective {
            utility: worth.utility + found.worth.utility,
            cost: worth.cost + found.worth.cost,
            count: worth.count + found.worth.count,
        };
        let mut state = *found;
        loop {
            if let Some(&node) = moves.get(state.mv as usize) {
                set[node] = !set[node];
            }
            if state.from == 0 {
                break;
            }
            state = arena[state.from as usize];
        }
        self.offer_incumbent(sum, |_| set);
    }

    /// Open nodes that can leave or enter a set independently, the most uncertain first.
    fn moves(&mut self, set: &[bool]) -> Vec<usize> {
        let graph = self.graph;
        let (mut leaving, mut entering): (Vec<usize>, Vec<usize>) =
            self.open().into_iter().partition(|&node| set[node]);
        leaving.retain(|&node| graph.users(node).iter().all(|&arc| !set[graph.tail[arc]]));
        leaving.sort_by_key(|&node| (self.flow.excess[node].abs(), Reverse(graph.key[node])));
        leaving.truncate(MOVES);
        let leaves = self.next_visit_mark();
        leaving.iter().for_each(|&node| self.seen[node] = leaves);
        entering.retain(|&node| {
            graph.needs(node).all(|arc| set[graph.head[arc]] && self.seen[graph.head[arc]] != leaves)
        });
        entering.sort_by_key(|&node| (self.flow.excess[node].abs(), graph.key[node]));
        entering.truncate(MOVES);
        leaving.append(&mut entering);
        leaving.sort_by_key(|&node| self.flow.excess[node].abs());
        leaving
    }
}

/// Merges both lists, ascending in cost, without dominated states and without states above the limit.
fn merge(kept: Vec<State>, moved: Vec<State>, limit: i64) -> Vec<State> {
    let mut merged: Vec<State> = Vec::with_capacity(kept.len() + moved.len());
    let (mut kept, mut moved) = (kept.into_iter().peekable(), moved.into_iter().peekable());
    loop {
        let first = match (kept.peek(), moved.peek()) {
            (Some(one), Some(other)) => {
                let key = |state: &State| (state.worth.cost, Reverse(state.worth.utility));
                if key(one) <= key(other) { kept.next() } else { moved.next() }
            }
            (Some(_), None) => kept.next(),
            (None, _) => moved.next(),
        };
        let Some(state) = first else { return merged };
        if state.worth.cost > limit {
            return merged;
        }
        if merged.last().is_none_or(|last| last.worth.utility < state.worth.utility) {
            merged.push(state);
        }
    }
}
