//! Bounds the number of nodes in a set, where the budget alone gives a weak bound.
//!
//! If costs and utilities are nearly proportional, the relaxation takes a fraction of one node too many, and branching
//! on single nodes hardly changes that. A set has at most `k` nodes or at least `k + 1`. In either range a count price,
//! positive or negative, joins the price of the budget: a second Lagrange multiplier, found by bisection (bounds on the
//! number of items: Martello and Toth, 1997).

use super::cardinality_range::CardinalityRange;
use super::flow::Amount;
use super::objective::Objective;
use super::relaxation::Relaxation;
use super::search::Search;
use alloc::vec::Vec;

/// The number of bisection steps for the count price.
const BISECTION_STEPS: u32 = 40;
/// With a lower precision, sums with count prices might overflow.
const PRECISION_MIN: u32 = 24;

impl Search<'_> {
    /// Returns two ranges that cover all sets. The solution of the relaxation lies between them.
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

    /// Restricts the search to one range, with its best count price.
    pub(super) fn restrict_cardinality(&mut self, part: CardinalityRange) {
        self.part = part;
        // The price of another range has the wrong sign here, and would prove a bound that does not hold.
        self.flow.set_count_price(self.graph, 0);
        let sign: Amount = match part {
            CardinalityRange::Any => return,
            CardinalityRange::AtMost(_) => 1,
            CardinalityRange::AtLeast(_) => -1,
        };
        let (mut low, mut high) = (0, 1 << self.flow.scale);
        let mut doubling = true;
        let toll_max = Amount::from(self.graph.utility.iter().sum::<i64>()) << self.flow.scale;
        let mut best: Option<(Amount, Amount)> = None;
        for _ in 0..BISECTION_STEPS {
            let toll = if doubling { high } else { (low + high) / 2 };
            if low == toll || toll > toll_max || self.is_exhausted() {
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
