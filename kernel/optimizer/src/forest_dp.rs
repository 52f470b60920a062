//! Forests by dynamic programming: never more than nodes times budget steps, however costs and utilities are made.
//!
//! In preorder a node is taken, and the next one is asked about, or it is left out with its whole tree (Johnson and
//! Niemi, 1983). Which of the two is best is kept as two bits for every node and every cost, so that all best sets
//! can be walked, and sets of costs at once. With the largest subtree last, only logarithmically many rows of values
//! are in use at a time. Rows are of narrow integers where sums allow it, and made a word of bits at a time: that is
//! most of the work of a table.

use super::condense::Graph;
use super::search::{NodeStatus, Objective, Search};
use alloc::vec;
use alloc::vec::Vec;

/// How many values a table may have.
const CELLS_MAX: i64 = 1 << 29;
/// How many values a node of the graph are about as much work as it is in one visit of the search tree.
const COSTS_PER_VISIT: i64 = 256;
/// A search tree is given as much as this in any case.
const VISITS_MIN: u64 = if cfg!(test) { 1 } else { 200 };
/// How many decisions a word of bits keeps.
const WORD: usize = 64;

/// A sum of utilities in a row.
trait Sum: Copy + Ord + Into<i64> {
    /// Below zero whatever utilities are added to it.
    const NEGATIVE_INFINITY: Self;
    const ZERO: Self;
    /// Of a utility that is known to fit.
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

/// Sums of utilities up to here fit rows of 32 bits.
const NARROW_MAX: i64 = 1 << 30;

/// Where each node of a forest stands in preorder, and where its tree ends.
#[derive(Debug)]
struct Preorder {
    node: Vec<usize>,
    end: Vec<usize>,
}

/// For every node and every cost of what is still to come, whether taking it and whether leaving it is best.
#[derive(Debug)]
pub(super) struct ForestTable {
    order: Preorder,
    take: Vec<Vec<u64>>,
    leave: Vec<Vec<u64>>,
    /// The utility and cost of the best set, without what is held.
    pub(super) best: Objective,
    /// For every place, costs with which it is reached from the beginning, and those of them that lead to the end: of the
    /// last question, and kept for the next one's.
    ahead: Vec<Vec<u64>>,
    back: Vec<Vec<u64>>,
}

/// How many visits of a search tree a table for this search would be worth; `None` if there can be no table.
pub(super) fn visits(search: &Search<'_>) -> Option<u64> {
    let costs = search.remaining_budget().checked_add(1)?;
    let cells = i64::try_from(search.graph.len()).ok()?.checked_mul(costs)?;
    let fits = search.graph.is_forest() && cells <= CELLS_MAX;
    fits.then_some((costs / COSTS_PER_VISIT).cast_unsigned().max(VISITS_MIN))
}

impl ForestTable {
    /// The table of a search in which everything is open.
    pub(super) fn new(search: &Search<'_>) -> Self {
        let narrow = search.graph.utility.iter().sum::<i64>() <= NARROW_MAX;
        if narrow { Self::of::<i32>(search) } else { Self::of::<i64>(search) }
    }

    fn of<S: Sum>(search: &Search<'_>) -> Self {
        let graph = search.graph;
        let order = preorder(graph);
        let nodes = graph.len();
        let costs = search.remaining_budget() as usize + 1;
        // The first place, from the end, that still reads each row.
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

    /// Some best set.
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

    /// Works out the costs still to come with which best decisions reach each place from the beginning, agreeing with
    /// what the search has decided; none where nothing reaches it.
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

    /// A best set that agrees with what the search has decided, if there is one.
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

    /// Leaves out every open node that is in no best set that agrees with what the search has decided.
    pub(super) fn prune(&mut self, search: &mut Search<'_>) {
        self.mark_reachable(search);
        let nodes = self.order.node.len();
        // As many of the costs as also lead to the end.
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

/// The row of best utilities at a place, and where taking and where leaving is best.
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

/// Bytes that are 0 or 1 as the bits of a word, the first one lowest.
fn bits(bytes: &[u8; WORD]) -> u64 {
    // Byte `i` of eight, `i` bits further up than the first, is moved to the top byte: no two products meet.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = bytes.as_chunks::<8>();
    let gathered = eights.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56);
    gathered.rev().fold(0, |word, byte| word << 8 | byte)
}

/// Adds the costs that the mask lets pass, each less by so much.
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

/// Adds costs, each more by so much, where they are known and the mask lets them pass; whether there were any.
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
