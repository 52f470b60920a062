//! The relaxation: the budget has a price instead of a limit.
//!
//! At every price `p`, no closed set within the budget `T` has a higher utility than `max (utility - p * cost) + p *
//! T`, the Lagrangian relaxation (Geoffrion, 1974), whose maximum is a closure. The lowest bound is at the price where
//! the closures cross the budget. Closures grow as the price falls, so each one leaves fewer open nodes, and Newton's
//! method needs few prices (Dinkelbach, 1967). The nodes that enter at the critical price are the *fractional
//! macro-item*.

use super::flow::Amount;
use super::objective::Objective;
use super::search::Search;
use alloc::vec::Vec;

/// The result of the relaxation at a search node.
#[derive(Debug)]
pub(super) enum Relaxation {
    /// The optimal set of the open nodes was found and offered.
    Solved,
    /// No set exceeds this bound, at the price of the flow: the critical price, or the first one at which no open set
    /// can improve on the incumbent.
    Bound {
        /// In the scale of the flow.
        bound: Amount,
        /// The closure within the budget at that price.
        within: Vec<usize>,
        /// The nodes that enter there: the fractional macro-item.
        macro_item: Vec<usize>,
    },
}

impl Search<'_> {
    /// Bounds the open nodes, and offers every closure within the budget.
    pub(super) fn relax(&mut self) -> Relaxation {
        let graph = self.graph;
        let room = self.remaining_budget();
        let mut zone = self.open();
        let mut over = Objective::default();
        zone.iter().for_each(|&node| over.add(graph, node));
        if over.cost <= room {
            self.offer_useful(&zone);
            return Relaxation::Solved;
        }
        let (mut below, mut within, mut inside) = (Objective::default(), Vec::new(), Vec::new());
        let mut price = self.flow.price;
        let mut warm = price > 0;
        if !warm {
            price = self.crossing_price(below, over);
        }
        loop {
            self.flow.set_price(graph, price);
            self.flow.max_weight_closure(graph, &zone, &mut inside);
            let mut found = below;
            let mut entered = Vec::new();
            let mut stayed = Vec::new();
            for (&node, &inside) in zone.iter().zip(&inside) {
                if inside {
                    found.add(graph, node);
                    entered.push(node);
                } else {
                    stayed.push(node);
                }
            }
            let bound = (Amount::from(self.fixed.utility + found.utility) << self.flow.scale)
                + price * Amount::from(room - found.cost)
                + self.flow.count_price * Amount::from(self.part.limit() - self.fixed.count - found.count);
            let vertex = !entered.is_empty() && !stayed.is_empty();
            if found.cost <= room {
                (below, zone) = (found, stayed);
                within.append(&mut entered);
                let worth = self.plus(found);
                self.offer_incumbent(worth, |search| search.with(within.iter().copied()));
            } else {
                (over, zone) = (found, entered);
            }
            let next = self.crossing_price(below, over);
            let is_enough = self.required_bound().is_none_or(|need| bound < need);
            if is_enough || next == price || !vertex && !warm {
                return Relaxation::Bound { bound, within, macro_item: zone };
            }
            (price, warm) = (next, false);
        }
    }

    /// The price at which two closures have the same value.
    fn crossing_price(&self, below: Objective, over: Objective) -> Amount {
        let gain = Amount::from(over.utility - below.utility) << self.flow.scale;
        let toll = self.flow.count_price * Amount::from(over.count - below.count);
        (gain - toll).max(0) / Amount::from((over.cost - below.cost).max(1))
    }

    pub(super) fn plus(&self, found: Objective) -> Objective {
        let Objective { utility, cost, count } = self.fixed;
        Objective { utility: utility + found.utility, cost: cost + found.cost, count: count + found.count }
    }

    /// Offers the optimal set where everything fits: all utility with its closure, and nothing else.
    fn offer_useful(&mut self, open: &[usize]) {
        let graph = self.graph;
        let mark = self.next_visit_mark();
        let mut worth = self.fixed;
        let mut kept = Vec::new();
        for &node in open.iter().rev() {
            let needed = graph.users(node).iter().any(|&arc| self.seen[graph.tail[arc]] == mark);
            if graph.utility[node] > 0 || needed {
                self.seen[node] = mark;
                worth.add(graph, node);
                kept.push(node);
            }
        }
        self.offer_incumbent(worth, |search| search.with(kept));
    }

    /// The lowest bound that allows an improvement on the incumbent; `None` if there can be none.
    pub(super) fn required_bound(&self) -> Option<Amount> {
        let (price, scale) = (self.flow.price, self.flow.scale);
        let reach = |utility: i64, budget: i64| -> Option<Amount> {
            self.grids.iter().try_fold(Amount::MIN, |need, grid| {
                Some(need.max(grid.need(utility, grid.usable(budget), price, scale)?))
            })
        };
        let more = reach(self.incumbent.utility + 1, self.budget);
        // The same utility at a lower cost: a smaller budget, whose bound is lower by the price of the difference.
        let cheaper = self.budget.min(self.incumbent.cost - 1);
        let usable = self.grids.iter().map(|grid| grid.usable(cheaper)).min().unwrap_or(cheaper);
        let spared = price * Amount::from(self.budget - usable);
        let same = reach(self.incumbent.utility, cheaper)
            .filter(|_| cheaper >= self.fixed.cost)
            .map(|need| need + spared);
        match (more, same) {
            (Some(more), Some(same)) => Some(more.min(same)),
            (more, same) => more.or(same),
        }
    }

    /// The highest utility that a bound allows.
    pub(super) fn utility_bound(&self, bound: Amount) -> i64 {
        let floor = self.grids.iter().fold(bound >> self.flow.scale, |bound, grid| grid.floor(bound));
        i64::try_from(floor).unwrap_or(i64::MAX)
    }
}
