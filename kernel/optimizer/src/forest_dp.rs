//! Dynamic programming on forests: at most nodes times budget steps for all costs and utilities.
//!
//! In preorder, a node is taken and the next one follows, or it is skipped with its subtree (Johnson and Niemi, 1983).
//! Two bits for each node and cost record which of the two is optimal, so that all optimal sets can be enumerated, also
//! for several costs at once. With the largest subtree last, only logarithmically many rows of values are alive. Rows
//! have narrow integers where the sums allow it, and are built one word of bits at a time: that is most of the work.

use super::condense::Graph;
use super::objective::Objective;
use super::search::{NodeStatus, Search};
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of values in a table.
const CELLS_MAX: i64 = 1 << 29;
/// The number of table values that cost as much as one visited node of the search tree.
const COSTS_PER_VISIT: i64 = 256;
/// The number of table values that cost as much as one unit of work.
const CELLS_PER_WORK: u64 = 8;
/// The minimum number of nodes that a search tree gets.
const VISITS_MIN: u64 = if cfg!(test) { 1 } else { 200 };
/// The number of decisions in a word of bits.
const WORD: usize = 64;

/// A sum of utilities in a row.
trait Sum: Copy + Ord + Into<i64> {
    /// Stays negative after every addition of utilities.
    const NEGATIVE_INFINITY: Self;
    const ZERO: Self;
    /// Converts a utility that fits.
    fn of(utility: i64) -> Self;
    fn plus(self, other: Self) -> Self;
}

impl Sum for i64 {
    const NEGATIVE_INFINITY: Self = Self::MIN / 4 * 3;
    const ZERO: Self = 0;

    fn of(utility: i64) -> Self {
        utility
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Sum for i32 {
    const NEGATIVE_INFINITY: Self = Self::MIN / 4 * 3;
    const ZERO: Self = 0;

    fn of(utility: i64) -> Self {
        utility as Self
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// Sums of utilities up to this limit use rows of 32 bits.
const NARROW_MAX: i64 = 1 << 30;

/// The preorder position of each node of a forest, and the end of its subtree.
#[derive(Debug)]
struct Preorder {
    node: Vec<usize>,
    end: Vec<usize>,
}

/// For every node and every remaining cost: whether taking it, and whether skipping it, is optimal.
#[derive(Debug)]
pub(super) struct ForestTable {
    order: Preorder,
    take: Vec<Vec<u64>>,
    leave: Vec<Vec<u64>>,
    /// The utility and cost of the optimal set, without the fixed nodes.
    pub(super) best: Objective,
    /// For every position, the costs that reach it from the start, and those of them that reach the end. Kept from the
    /// last query for the next one.
    ahead: Vec<Vec<u64>>,
    back: Vec<Vec<u64>>,
}

/// The number of visited nodes that equals the work of a table for this search; `None` if no table is possible.
pub(super) fn visits(search: &Search<'_>) -> Option<u64> {
    let costs = search.remaining_budget().checked_add(1)?;
    let cells = i64::try_from(search.graph.len()).ok()?.checked_mul(costs)?;
    let work_left = search.work_max.saturating_sub(search.flow.work);
    let fits = search.graph.is_forest() && cells <= CELLS_MAX && table_work(cells) <= work_left;
    fits.then_some((costs / COSTS_PER_VISIT).cast_unsigned().max(VISITS_MIN))
}

/// The work of a table.
fn table_work(cells: i64) -> u64 {
    cells.cast_unsigned() / CELLS_PER_WORK
}

impl ForestTable {
    /// Builds the table of a search in which every node is open.
    pub(super) fn new(search: &mut Search<'_>) -> Self {
        let cells = (search.graph.len() as i64).saturating_mul(search.remaining_budget().saturating_add(1));
        search.flow.work += table_work(cells);
        let narrow = search.graph.utility.iter().sum::<i64>() <= NARROW_MAX;
        if narrow { Self::of::<i32>(search) } else { Self::of::<i64>(search) }
    }

    fn of<S: Sum>(search: &Search<'_>) -> Self {
        let graph = search.graph;
        let order = preorder(graph);
        let nodes = graph.len();
        let costs = search.remaining_budget() as usize + 1;
        // The first position, from the end, that still reads each row.
        let mut last: Vec<usize> = (0..=nodes).map(|place| place.saturating_sub(1)).collect();
        for place in (0..nodes).rev() {
            last[order.end[place]] = last[order.end[place]].min(place);
        }
        let mut rows: Vec<Vec<S>> = vec![Vec::new(); nodes + 1];
        rows[nodes] = vec![S::NEGATIVE_INFINITY; costs];
        rows[nodes][0] = S::ZERO;
        let (mut take, mut leave) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let mut spare: Vec<Vec<S>> = Vec::new();
        for place in (0..nodes).rev() {
            let node = order.node[place];
            let (taken, left) = (&rows[place + 1], &rows[order.end[place]]);
            let step = (graph.cost[node] as usize).min(costs);
            let mut row = spare.pop().unwrap_or_default();
            (take[place], leave[place]) = fold(taken, left, step, S::of(graph.utility[node]), &mut row);
            rows[place] = row;
            for done in [place + 1, order.end[place]] {
                if last[done] == place && !rows[done].is_empty() {
                    spare.push(core::mem::take(&mut rows[done]));
                }
            }
        }
        let best = rows[0].iter().enumerate().rev().max_by_key(|(_, utility)| **utility);
        let (cost, utility) = best.map_or((0, 0), |(cost, &utility)| (cost as i64, utility.into()));
        let best = Objective { utility, cost, count: 0 };
        let (ahead, back) = (vec![Vec::new(); nodes + 1], vec![Vec::new(); nodes + 1]);
        Self { order, take, leave, best, ahead, back }
    }

    /// The work of one query: a pass over the bits of all decisions.
    pub(super) fn query_work(&self) -> u64 {
        (self.order.node.len() * (self.best.cost as usize / WORD + 1)) as u64
    }

    /// Returns an optimal set.
    pub(super) fn any_optimal_set(&self, graph: &Graph) -> Vec<bool> {
        let mut set = vec![false; self.order.node.len()];
        let (mut place, mut cost) = (0, self.best.cost as usize);
        while let Some(&node) = self.order.node.get(place) {
            set[node] = self.take[place][cost / WORD] >> (cost % WORD) & 1 == 1;
            if set[node] {
                cost -= graph.cost[node] as usize;
            }
            place = if set[node] { place + 1 } else { self.order.end[place] };
        }
        set
    }

    /// Computes for each position the remaining costs with which optimal decisions reach it, in agreement with the
    /// fixings of the search.
    fn mark_reachable(&mut self, search: &Search<'_>) {
        let words = self.best.cost as usize / WORD + 1;
        self.ahead.iter_mut().for_each(Vec::clear);
        self.ahead[0].resize(words, 0);
        self.ahead[0][words - 1] = 1 << (self.best.cost as usize % WORD);
        for (place, &node) in self.order.node.iter().enumerate() {
            let here = core::mem::take(&mut self.ahead[place]);
            if search.fate[node] != NodeStatus::Out && !here.is_empty() {
                shift_down(
                    &mut self.ahead[place + 1],
                    &here,
                    &self.take[place],
                    search.graph.cost[node] as usize,
                );
            }
            if search.fate[node] != NodeStatus::In && !here.is_empty() {
                shift_down(&mut self.ahead[self.order.end[place]], &here, &self.leave[place], 0);
            }
            self.ahead[place] = here;
        }
    }

    /// Returns an optimal set in agreement with the fixings of the search, if there is one.
    pub(super) fn find(&mut self, search: &Search<'_>) -> Option<Vec<bool>> {
        self.mark_reachable(search);
        let nodes = self.order.node.len();
        let has = |place: usize, cost: usize| {
            self.ahead[place].get(cost / WORD).is_some_and(|word| word >> (cost % WORD) & 1 == 1)
        };
        if !has(nodes, 0) {
            return None;
        }
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); nodes + 1];
        for place in (0..nodes).filter(|&place| search.fate[self.order.node[place]] != NodeStatus::In) {
            from[self.order.end[place]].push(place);
        }
        let (mut set, mut place, mut cost) = (search.with([]), nodes, 0);
        while place > 0 {
            let left = |&&before: &&usize| {
                has(before, cost) && self.leave[before][cost / WORD] >> (cost % WORD) & 1 == 1
            };
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

    /// Fixes out every open node that is in no optimal set in agreement with the fixings of the search.
    pub(super) fn prune(&mut self, search: &mut Search<'_>) {
        self.mark_reachable(search);
        let nodes = self.order.node.len();
        // The costs that also reach the end.
        self.back.iter_mut().for_each(Vec::clear);
        self.back[nodes].extend(self.ahead[nodes].first().map(|word| word & 1));
        self.back[nodes].resize(self.ahead[nodes].len(), 0);
        let mut out = Vec::new();
        for (place, &node) in self.order.node.iter().enumerate().rev() {
            let (mut here, mut met) = (core::mem::take(&mut self.back[place]), false);
            let ahead = &self.ahead[place];
            here.resize(ahead.len(), 0);
            if search.fate[node] != NodeStatus::Out {
                let cost = search.graph.cost[node] as usize;
                met = shift_up(&mut here, &self.back[place + 1], ahead, &self.take[place], cost);
            }
            if search.fate[node] != NodeStatus::In {
                shift_up(&mut here, &self.back[self.order.end[place]], ahead, &self.leave[place], 0);
            }
            self.back[place] = here;
            if !met {
                out.push(node);
            }
        }
        out.into_iter().for_each(|node| search.fix_with_closure(node, NodeStatus::Out));
    }
}

/// Computes the row of best utilities at a position, and the bits of its optimal decisions.
fn fold<S: Sum>(taken: &[S], left: &[S], step: usize, utility: S, row: &mut Vec<S>) -> (Vec<u64>, Vec<u64>) {
    row.clear();
    let words = left.len().div_ceil(WORD);
    let (mut take, mut leave) = (Vec::with_capacity(words), Vec::with_capacity(words));
    for (word, left_there) in left.chunks(WORD).enumerate() {
        let (first, count) = (word * WORD, left_there.len());
        let (mut left, mut moved) = ([S::NEGATIVE_INFINITY; WORD], [S::NEGATIVE_INFINITY; WORD]);
        left[..count].copy_from_slice(left_there);
        let before = step.saturating_sub(first).min(count);
        let from = (first + before).saturating_sub(step);
        moved[before..count].copy_from_slice(&taken[from..from + count - before]);
        let (mut best, mut takes, mut leaves) = ([S::NEGATIVE_INFINITY; WORD], [0; WORD], [0; WORD]);
        for cost in 0..WORD {
            let taken = moved[cost].plus(utility);
            takes[cost] = u8::from(taken >= left[cost]);
            leaves[cost] = u8::from(left[cost] >= taken);
            best[cost] = left[cost].max(taken);
        }
        row.extend_from_slice(&best[..count]);
        take.push(bits(&takes));
        leave.push(bits(&leaves));
    }
    (take, leave)
}

/// Packs bytes of 0 or 1 into the bits of a word, the first one lowest.
fn bits(bytes: &[u8; WORD]) -> u64 {
    // The product moves byte `i` of eight, shifted by `i` bits, to the top byte. No two partial products overlap.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = bytes.as_chunks::<8>();
    let gathered = eights.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56);
    gathered.rev().fold(0, |word, byte| word << 8 | byte)
}

/// Adds the costs that the mask selects, each reduced by the same amount.
fn shift_down(into: &mut Vec<u64>, from: &[u64], mask: &[u64], less: usize) {
    into.resize(from.len(), 0);
    let (words, bits) = (less / WORD, less % WORD);
    let Some(last) = from.len().checked_sub(words + 1) else { return };
    let pairs = from[words..].windows(2).zip(mask[words..].windows(2));
    for (into, (from, mask)) in into.iter_mut().zip(pairs) {
        // No shift is by a whole word.
        *into |= (from[0] & mask[0]) >> bits | (from[1] & mask[1]) << 1 << (WORD - 1 - bits);
    }
    into[last] |= (from[words + last] & mask[words + last]) >> bits;
}

/// Adds the selected costs, each increased by the same amount, where they are allowed. Returns whether there were any.
fn shift_up(into: &mut [u64], from: &[u64], known: &[u64], mask: &[u64], more: usize) -> bool {
    let (words, bits) = (more / WORD, more % WORD);
    let (mut below, mut any) = (0, 0);
    let there = known.iter().zip(mask).map(|(known, mask)| known & mask);
    for ((into, there), &from) in into.iter_mut().zip(there).skip(words).zip(from) {
        // No shift is by a whole word.
        let moved = (from << bits | below >> 1 >> (WORD - 1 - bits)) & there;
        *into |= moved;
        any |= moved;
        below = from;
    }
    any != 0
}

/// Preorder with the largest subtree last.
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
