//! Writes a certificate of optimality, in steps that `verify` can follow.
//!
//! The solution is known, so the search only closes nodes. Bounds, fixings and branches are those of the solver; each
//! is recorded with the prices and the flow that prove it. The certificate is verified before it is returned.
//! Deliberately absent: a proof of the lexicographic tie-break.

use super::arc_flow::ArcFlow;
use super::cardinality_range::CardinalityRange;
use super::condense::condense;
use super::flow::{Amount, Flow};
use super::limits::SearchLimits;
use super::objective::Objective;
use super::relaxation::Relaxation;
use super::rounding::candidate_lattices;
use super::search::{NodeStatus, Search};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use orchestrion_kernel::selection::VerifyError;
use orchestrion_kernel::selection::verify;
use orchestrion_kernel::selection::{CELLS_MAX, ROW_MAX};
use orchestrion_kernel::selection::{Certificate, DualSolution, Step};
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};

/// After this number of visited nodes, or half of the limit, the certificate branches on the number of nodes in a set.
const BEFORE_SPLIT: u64 = 3_000;
/// The maximum number of steps, flows and fixings in a certificate. Unit tests have a small one, so that small problems exceed it.
const ENTRIES_MAX: usize = if cfg!(test) { 20 } else { 1 << 22 };

/// Why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertifyError {
    /// A better set exists, or the selection is not valid.
    NotOptimal,
    /// The node limit was reached.
    NodeLimit,
    /// The certificate would be too large.
    SizeLimit,
    /// A bug: the certificate does not prove optimality.
    InvalidCertificate(VerifyError),
}

impl fmt::Display for CertifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOptimal => {
                write!(f, "selection is not optimal: expected a selection that is proven optimal")
            }
            Self::NodeLimit => {
                write!(f, "node limit reached before the proof ended; raise the node limit")
            }
            Self::SizeLimit => {
                write!(f, "certificate too large: expected at most {ENTRIES_MAX} steps, flows and fixings")
            }
            Self::InvalidCertificate(error) => {
                write!(f, "certificate does not prove optimality: {error}; this is a bug of the optimizer")
            }
        }
    }
}

impl core::error::Error for CertifyError {}

/// Certifies that no set has a higher utility than this selection, and that none with the same utility costs less.
///
/// # Errors
/// [`CertifyError`] if there is no certificate within the limits.
pub fn certify(
    problem: &Problem,
    selection: &Selection,
    limits: SearchLimits,
) -> Result<Certificate, CertifyError> {
    orchestrion_kernel::selection::check_selection(problem, selection)
        .map_err(|_| CertifyError::NotOptimal)?;
    let (graph, node_of) = condense(problem);
    let budget = i64::try_from(problem.budget()).unwrap_or(i64::MAX);
    let (utility, cost) = (selection.utility.cast_signed(), selection.cost.cast_signed());
    let floor = Objective { utility, cost, count: 0 };
    let counted: Vec<usize> =
        (0..graph.len()).filter(|&node| graph.bulk(node) > 0).map(|node| graph.key[node]).collect();
    let mut is_counted = vec![false; node_of.len()];
    counted.iter().for_each(|&item| is_counted[item] = true);
    let mut prover = CertificateWriter {
        problem,
        node_of: &node_of,
        budget,
        search: Search::new(&graph, budget, Objective::default(), floor, limits),
        wires: ArcFlow::new(problem, &graph, &node_of),
        is_counted,
        slopes: Vec::new(),
        steps: Vec::new(),
        entries: 0,
    };
    prover.prove()?;
    let (slopes, steps) = (prover.slopes, prover.steps);
    let splits = steps.iter().any(|step| matches!(step, Step::BranchOnCount(_)));
    let counted = if splits { counted } else { Vec::new() };
    let certificate = Certificate { selection: selection.clone(), slopes, counted, steps };
    verify(problem, &certificate).map_err(CertifyError::InvalidCertificate)?;
    Ok(certificate)
}

struct CertificateWriter<'a> {
    problem: &'a Problem,
    node_of: &'a [usize],
    budget: i64,
    search: Search<'a>,
    wires: ArcFlow<'a>,
    is_counted: Vec<bool>,
    slopes: Vec<u64>,
    steps: Vec<Step>,
    entries: usize,
}

impl CertificateWriter<'_> {
    fn prove(&mut self) -> Result<(), CertifyError> {
        for (candidate, &node) in self.problem.candidates().iter().zip(self.node_of) {
            match candidate.inclusion {
                Inclusion::Free => {}
                Inclusion::Pinned => self.search.fix_with_closure(node, NodeStatus::In),
                Inclusion::Forbidden => self.search.fix_with_closure(node, NodeStatus::Out),
            }
        }
        let marked = self.search.trail.len();
        self.search.drop_unaffordable();
        let (out, _) = self.decided(marked);
        if !out.is_empty() {
            self.add(Step::DropUnaffordable(out));
        }
        self.regrid();
        let Some(node) = self.visit()? else { return Ok(()) };
        self.regrid();
        let (written, entries, effort) = (self.steps.len(), self.entries, self.search.nodes_left);
        let first = BEFORE_SPLIT.min(effort / 2);
        self.search.nodes_left = first;
        let tried = self.close(Some(node));
        self.search.nodes_left += effort - first;
        if tried != Err(CertifyError::NodeLimit) {
            return tried;
        }
        self.steps.truncate(written);
        self.entries = entries;
        if self.is_tabled() {
            self.add(Step::PruneByTable);
            return Ok(());
        }
        let parts = self.search.cardinality_ranges();
        if let [CardinalityRange::AtMost(quota), _] = parts[..] {
            self.add(Step::BranchOnCount(quota.max(0).cast_unsigned()));
        }
        for part in parts {
            self.search.restrict_cardinality(part);
            let trail = self.search.trail.len();
            self.close(None)?;
            self.search.backtrack_to(trail);
        }
        Ok(())
    }

    /// Whether a table can close the open nodes: they form a forest of single candidates.
    fn is_tabled(&self) -> bool {
        let (search, graph) = (&self.search, self.search.graph);
        let mut sizes = vec![0_usize; graph.len()];
        self.node_of.iter().for_each(|&node| sizes[node] += 1);
        let open = search.open();
        let is_open = |arc: &usize| search.is_open(graph.head[*arc]);
        let width = usize::try_from(search.remaining_budget()).unwrap_or(usize::MAX).saturating_add(1);
        open.iter().all(|&node| sizes[node] == 1 && graph.needs(node).filter(is_open).count() <= 1)
            && width <= ROW_MAX
            && open.len().saturating_add(1).saturating_mul(width) <= CELLS_MAX
    }

    /// Recomputes the lattices of the open nodes, candidate by candidate.
    fn regrid(&mut self) {
        let candidates = self.problem.candidates().iter().zip(self.node_of);
        let open = candidates.filter(|(_, node)| self.search.is_open(**node));
        let worths: Vec<(i64, i64)> =
            open.map(|(one, _)| (one.utility.cast_signed(), one.cost.cast_signed())).collect();
        self.search.grids = candidate_lattices(&worths, self.search.fixed);
        self.search.set_budget(self.budget);
        for slope in self.search.grids.iter().map(super::rounding::Lattice::slope) {
            if !self.slopes.contains(&slope) {
                self.slopes.push(slope);
            }
        }
    }

    /// Closes the open nodes, starting from a visit that returned a branching node, or from the beginning.
    fn close(&mut self, visited: Option<usize>) -> Result<(), CertifyError> {
        let start = self.search.trail.len();
        let mut later: Vec<(usize, usize)> = Vec::new();
        let mut next = match visited {
            Some(node) => Some(node),
            None => self.visit()?,
        };
        loop {
            if let Some(node) = next {
                self.add(Step::Branch(self.search.graph.key[node]));
                later.push((self.search.trail.len(), node));
                self.search.fix_with_closure(node, NodeStatus::In);
            } else if let Some((trail, node)) = later.pop() {
                self.search.backtrack_to(trail);
                self.search.fix_with_closure(node, NodeStatus::Out);
            } else {
                return Ok(());
            }
            match self.visit() {
                Ok(node) => next = node,
                Err(unproven) => {
                    self.search.backtrack_to(start);
                    return Err(unproven);
                }
            }
        }
    }

    /// Bounds and reduces until that fixes little more. Returns the branching node, or `None` if the search node is
    /// closed.
    fn visit(&mut self) -> Result<Option<usize>, CertifyError> {
        loop {
            if self.search.remaining_budget() < 0 {
                self.add(Step::PruneByBound(DualSolution::default()));
                return Ok(None);
            }
            if self.search.is_exhausted() {
                return Err(CertifyError::NodeLimit);
            }
            if self.entries > ENTRIES_MAX {
                return Err(CertifyError::SizeLimit);
            }
            self.search.count_node();
            let relaxed = self.search.relax();
            if self.search.incumbent_set.is_some() {
                return Err(CertifyError::NotOptimal);
            }
            let Relaxation::Bound { bound, within, macro_item } = relaxed else {
                self.close_useful();
                return Ok(None);
            };
            let need = match self.search.required_bound() {
                Some(need) if bound >= need => need,
                _ => {
                    self.close_at_price();
                    return Ok(None);
                }
            };
            let pegged = self.reduce(bound, need, &within);
            let open = self.search.graph.len() - self.search.trail.len() + pegged;
            if pegged * 8 < open
                && let Some(node) = self.search.select_branching_node(&macro_item)
            {
                return Ok(Some(node));
            }
        }
    }

    /// Closes the search node at the current prices.
    fn close_at_price(&mut self) {
        let prices = self.prices(&self.search.flow);
        self.add(Step::PruneByBound(prices));
    }

    /// Closes a search node in which everything fits: one unit of utility outweighs all costs.
    fn close_useful(&mut self) {
        let graph = self.search.graph;
        let open = self.search.open();
        let costs: Amount = open.iter().map(|&node| Amount::from(graph.cost[node])).sum();
        let mut flow = Flow::new(graph, Amount::BITS - costs.leading_zeros());
        flow.set_price(graph, 1);
        flow.max_weight_closure(graph, &open, &mut Vec::new());
        let prices = self.prices(&flow);
        self.add(Step::PruneByBound(prices));
    }

    /// Fixes nodes by reduced cost, and returns their number.
    fn reduce(&mut self, bound: Amount, need: Amount, within: &[usize]) -> usize {
        self.search.flow.return_excess(self.search.graph, within);
        let (prices, before) = (self.prices(&self.search.flow), self.search.trail.len());
        let pegged = self.search.fix_by_reduced_cost(bound, need, within);
        if pegged > 0 {
            let (out, within) = self.decided(before);
            self.add(Step::Fix { prices, excluded: out, included: within });
        }
        pegged
    }

    fn prices(&self, flow: &Flow) -> DualSolution {
        self.wires.prices(flow, &self.is_counted, |node| self.search.is_open(node))
    }

    /// Returns the candidates that imply all fixings of the trail from this position: those out, and those in.
    fn decided(&self, from: usize) -> (Vec<usize>, Vec<usize>) {
        let (search, graph) = (&self.search, self.search.graph);
        let mut decided = (Vec::new(), Vec::new());
        for &node in &search.trail[from..] {
            if search.fate[node] == NodeStatus::In {
                if graph.users(node).iter().all(|&arc| search.fate[graph.tail[arc]] != NodeStatus::In) {
                    decided.1.push(graph.key[node]);
                }
            } else if graph.needs(node).all(|arc| search.fate[graph.head[arc]] != NodeStatus::Out) {
                decided.0.push(graph.key[node]);
            }
        }
        decided
    }

    fn add(&mut self, step: Step) {
        self.entries += entry_count(&step);
        self.steps.push(step);
    }
}

fn entry_count(step: &Step) -> usize {
    let listed = match step {
        Step::DropUnaffordable(excluded) => excluded.len(),
        Step::Fix { prices, excluded, included } => prices.flow.len() + excluded.len() + included.len(),
        Step::PruneByBound(prices) => prices.flow.len(),
        Step::Branch(_) | Step::BranchOnCount(_) | Step::PruneByTable => 0,
    };
    1 + listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_counts_with_its_flows_and_fixings() {
        let prices = DualSolution { flow: Vec::from([(0, 1, 5); 4]), ..DualSolution::default() };
        let excluded = Vec::from([1, 2, 3]);
        assert_eq!(entry_count(&Step::DropUnaffordable(excluded.clone())), 4);
        assert_eq!(
            entry_count(&Step::Fix { prices: prices.clone(), excluded, included: Vec::from([4, 5]) }),
            10
        );
        assert_eq!(entry_count(&Step::PruneByBound(prices)), 5);
        assert_eq!(entry_count(&Step::PruneByTable), 1);
    }
}
