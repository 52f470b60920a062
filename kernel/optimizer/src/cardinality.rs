//! Bounding how many nodes a set has, where the budget alone says too little.
//!
//! Where costs and utilities nearly agree, the relaxation takes a fraction of a node too many, and branching on single
//! nodes hardly changes that. A set has at most `k` nodes or at least `k + 1`, and in either part a toll on nodes, or
//! a reward for them, joins the price of the budget: a second Lagrangian multiplier, the best one found by halving
//! (the bounds on the number of items of Martello and Toth, 1997).

use super::flow::Amount;
use super::relaxation::Relaxation;
use super::search::{Objective, Search};
use alloc::vec::Vec;

/// A part of all sets, by how many nodes they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardinalityRange {
    /// All of them.
    Any,
    /// Those of so many at most.
    AtMost(i64),
    /// Those of so many at least.
    AtLeast(i64),
}

impl CardinalityRange {
    pub(super) fn has(self, count: i64) -> bool {
        match self {
            Self::Any => true,
            Self::AtMost(quota) => count <= quota,
            Self::AtLeast(quota) => count >= quota,
        }
    }

    /// How many nodes no toll is paid for, or must be rewarded.
    pub(super) fn limit(self) -> i64 {
        match self {
            Self::Any => 0,
            Self::AtMost(quota) | Self::AtLeast(quota) => quota,
        }
    }
}

/// How many tolls are tried.
const BISECTION_STEPS: u32 = 40;
/// With less precision than this the sums of tolls might not fit.
const PRECISION_MIN: u32 = 24;

impl Search<'_> {
    /// Parts that share out all sets, the relaxation standing between them.
    pub(super) fn cardinality_ranges(&mut self) -> Vec<CardinalityRange> {
        let most = match self.relax() {
            Relaxation::Bound { within, macro_item, .. } if self.flow.scale >= PRECISION_MIN => {
                let (below, over) = self.counts(&within, &macro_item);
                let share = Amount::from(self.remaining_budget() - below.cost) * Amount::from(over.count);
                below.count + i64::try_from(share / Amount::from(over.cost.max(1))).unwrap_or(0)
            }
            _ => return Vec::from([CardinalityRange::Any]),
        };
        let most = self.fixed.count + most;
        Vec::from([CardinalityRange::AtMost(most), CardinalityRange::AtLeast(most + 1)])
    }

    /// Asks only about one part from now on, under the best toll for it.
    pub(super) fn restrict_cardinality(&mut self, part: CardinalityRange) {
        self.part = part;
        let sign: Amount = match part {
            CardinalityRange::Any => return self.flow.set_count_price(self.graph, 0),
            CardinalityRange::AtMost(_) => 1,
            CardinalityRange::AtLeast(_) => -1,
        };
        let (mut low, mut high) = (0, 1 << self.flow.scale);
        let mut doubling = true;
        let toll_max = Amount::from(self.graph.utility.iter().sum::<i64>()) << self.flow.scale;
        let mut best: Option<(Amount, Amount)> = None;
        for _ in 0..BISECTION_STEPS {
            let toll = if doubling { high } else { (low + high) / 2 };
            if low == toll || toll > toll_max || self.nodes_left == 0 {
                break;
            }
            self.flow.set_count_price(self.graph, sign * toll);
            self.count_node();
            let Relaxation::Bound { bound, within, macro_item } = self.relax() else { break };
            if best.is_none_or(|(least, _)| bound < least) {
                best = Some((bound, toll));
            }
            if self.required_bound().is_none_or(|need| bound < need) {
                break;
            }
            let (below, over) = self.counts(&within, &macro_item);
            let short = self.part.limit() - self.fixed.count - below.count;
            let spent = Amount::from(self.remaining_budget() - below.cost) * Amount::from(over.count);
            let more = spent - Amount::from(short) * Amount::from(over.cost);
            if sign * more > 0 {
                low = toll;
                if doubling {
                    high = toll * 2;
                }
            } else {
                (high, doubling) = (toll, false);
            }
        }
        if let Some((_, toll)) = best {
            self.flow.set_count_price(self.graph, sign * toll);
        }
    }

    fn counts(&self, within: &[usize], macro_item: &[usize]) -> (Objective, Objective) {
        let (mut below, mut over) = (Objective::default(), Objective::default());
        within.iter().for_each(|&node| below.add(self.graph, node));
        macro_item.iter().for_each(|&node| over.add(self.graph, node));
        (below, over)
    }
}
