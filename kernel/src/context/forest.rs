//! Forests by dynamic programming: never more than nodes times budget steps, however costs and utilities are made.
//!
//! In preorder a node is taken, and the next one is asked about, or it is left out with its whole tree (Johnson and
//! Niemi, 1983). Which of the two is best is kept as two bits for every node and every cost, so that all best sets
//! can be walked, and sets of costs at once. With the largest subtree last, only logarithmically many rows of values
//! are in use at a time.

use super::condense::Graph;
use super::search::{Fate, Search, Worth};
use alloc::vec;
use alloc::vec::Vec;

/// How many values a table may have.
const CELLS_MAX: i64 = 1 << 29;
/// How many values a node of the graph are about as much work as it is in one visit of the search tree.
const COSTS_PER_VISIT: i64 = 256;
/// A search tree is given as much as this in any case.
const VISITS_MIN: u64 = 200;
/// Below zero whatever utilities are added to it.
const NEVER: i64 = i64::MIN / 4 * 3;

/// Where each node of a forest stands in preorder, and where its tree ends.
#[derive(Debug)]
struct Preorder {
    node: Vec<usize>,
    end: Vec<usize>,
}

/// For every node and every cost of what is still to come, whether taking it and whether leaving it is best.
#[derive(Debug)]
pub(super) struct Table {
    order: Preorder,
    take: Vec<Vec<u64>>,
    leave: Vec<Vec<u64>>,
    /// The utility and cost of the best set, without what is held.
    pub(super) best: Worth,
}

/// How many visits of a search tree a table for this search would be worth; `None` if there can be no table.
pub(super) fn visits(search: &Search<'_>) -> Option<u64> {
    let costs = search.room().checked_add(1)?;
    let cells = i64::try_from(search.graph.len()).ok()?.checked_mul(costs)?;
    let fits = search.graph.is_forest() && cells <= CELLS_MAX;
    fits.then_some((costs / COSTS_PER_VISIT).cast_unsigned().max(VISITS_MIN))
}

impl Table {
    /// The table of a search in which everything is open.
    pub(super) fn new(search: &Search<'_>) -> Self {
        let graph = search.graph;
        let order = preorder(graph);
        let nodes = graph.len();
        let costs = search.room() as usize + 1;
        // The first place, from the end, that still reads each row.
        let mut last: Vec<usize> = (0..=nodes).map(|place| place.saturating_sub(1)).collect();
        for place in (0..nodes).rev() {
            last[order.end[place]] = last[order.end[place]].min(place);
        }
        let mut rows: Vec<Vec<i64>> = vec![Vec::new(); nodes + 1];
        rows[nodes] = vec![NEVER; costs];
        rows[nodes][0] = 0;
        let (mut take, mut leave) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for place in (0..nodes).rev() {
            let node = order.node[place];
            let (taken, left) = (&rows[place + 1], &rows[order.end[place]]);
            let step = (graph.cost[node] as usize).min(costs);
            let mut row = Vec::with_capacity(costs);
            (take[place], leave[place]) = fold(taken, left, step, graph.utility[node], &mut row);
            rows[place] = row;
            for done in [place + 1, order.end[place]] {
                if last[done] == place {
                    rows[done] = Vec::new();
                }
            }
        }
        let best = rows[0].iter().enumerate().rev().max_by_key(|(_, utility)| **utility);
        let (cost, utility) = best.map_or((0, 0), |(cost, &utility)| (cost as i64, utility));
        Self { order, take, leave, best: Worth { utility, cost, count: 0 } }
    }

    /// A best set that agrees with what the search has decided, if there is one.
    pub(super) fn find(&self, search: &Search<'_>) -> Option<Vec<bool>> {
        let nodes = self.order.node.len();
        let words = self.best.cost as usize / 64 + 1;
        // The costs still to come with which each place is reached by best decisions.
        let mut reach: Vec<Vec<u64>> = vec![Vec::new(); nodes + 1];
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); nodes + 1];
        reach[0] = vec![0; words];
        reach[0][words - 1] = 1 << (self.best.cost as usize % 64);
        for place in 0..nodes {
            let here = core::mem::take(&mut reach[place]);
            if here.is_empty() {
                continue;
            }
            let node = self.order.node[place];
            if search.fate[node] != Fate::Out {
                let cost = search.graph.cost[node] as usize;
                shift_into(&mut reach[place + 1], &here, &self.take[place], cost);
            }
            if search.fate[node] != Fate::In {
                let end = self.order.end[place];
                shift_into(&mut reach[end], &here, &self.leave[place], 0);
                from[end].push(place);
            }
            reach[place] = here;
        }
        let has = |place: usize, cost: usize| reach[place].get(cost / 64).is_some_and(|word| word >> (cost % 64) & 1 == 1);
        if !has(nodes, 0) {
            return None;
        }
        let (mut set, mut place, mut cost) = (search.with([]), nodes, 0);
        while place > 0 {
            let left = |&&before: &&usize| has(before, cost) && bit(&self.leave[before], cost);
            if let Some(&before) = from[place].iter().find(left) {
                place = before;
            } else {
                place -= 1;
                let node = self.order.node[place];
                set[node] = true;
                cost += search.graph.cost[node] as usize;
            }
        }
        Some(set)
    }
}

fn bit(words: &[u64], place: usize) -> bool {
    words[place / 64] >> (place % 64) & 1 == 1
}

/// The row of best utilities at a place, and where taking and where leaving is best.
fn fold(taken: &[i64], left: &[i64], step: usize, utility: i64, row: &mut Vec<i64>) -> (Vec<u64>, Vec<u64>) {
    let words = left.len().div_ceil(64);
    let (mut take, mut leave) = (Vec::with_capacity(words), Vec::with_capacity(words));
    let before = core::iter::repeat_n(&NEVER, step);
    let mut pairs = left.iter().zip(before.chain(taken));
    for _ in 0..words {
        let (mut take_word, mut leave_word) = (0_u64, 0_u64);
        for (place, (&left, &taken)) in pairs.by_ref().take(64).enumerate() {
            let taken = taken + utility;
            take_word |= u64::from(taken >= left) << place;
            leave_word |= u64::from(left >= taken) << place;
            row.push(left.max(taken));
        }
        take.push(take_word);
        leave.push(leave_word);
    }
    (take, leave)
}

/// Adds what both have to another set of costs, each less by so much.
fn shift_into(into: &mut Vec<u64>, from: &[u64], mask: &[u64], less: usize) {
    if into.is_empty() {
        *into = vec![0; from.len()];
    }
    let (words, bits) = (less / 64, less % 64);
    for (place, (from, mask)) in from.iter().zip(mask).enumerate().skip(words) {
        let both = from & mask;
        if both != 0 {
            into[place - words] |= both >> bits;
            if bits > 0 && place > words {
                into[place - words - 1] |= both << (64 - bits);
            }
        }
    }
}

/// Preorder, with the largest subtree last.
fn preorder(graph: &Graph) -> Preorder {
    let nodes = graph.len();
    let mut size = vec![1_usize; nodes];
    for node in (0..nodes).rev() {
        for arc in graph.needs(node) {
            size[graph.head[arc]] += size[node];
        }
    }
    let mut open: Vec<usize> = (0..nodes).filter(|&node| graph.needs(node).is_empty()).collect();
    open.sort_by_key(|&node| core::cmp::Reverse(size[node]));
    let (mut node, mut end) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
    while let Some(next) = open.pop() {
        end.push(node.len() + size[next]);
        node.push(next);
        let mut children: Vec<usize> = graph.users(next).iter().map(|&arc| graph.tail[arc]).collect();
        children.sort_by_key(|&child| core::cmp::Reverse(size[child]));
        open.append(&mut children);
    }
    Preorder { node, end }
}
