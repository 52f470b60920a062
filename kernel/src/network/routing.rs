//! Routing of a task to the best node (001 §4).
//!
//! `S = T(n) · q_cap(n) · (1 − load(n)) · φ_conn · (1 − θ_threat)`, and the bonus of a preferred node. Candidates are compared
//! by the exact product, so that rounding makes no ties; equal products go to the smaller id. A decision reads the view of the
//! node that routes and what candidates publish, nothing else (001 §12).

mod ensemble;
mod filter;
mod view;

pub use ensemble::{Ensemble, route_ensemble};
pub use filter::Filter;

use super::directory::Row;
use super::policy::RoutingOrder;
use super::{Network, Node, TrustPolicy};
use crate::ids::NodeId;
use crate::network::Requirements;
use crate::score::{Score, Weight};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;
use filter::{TaskFilter, can_execute_locally};
use view::View;

/// The factors of a routing score (001 §4.1). Under another [order](super::policy::RoutingOrder), the factors that it does not read are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Factors {
    /// The stored trust in the candidate, `T`.
    pub trust: Score,
    /// Its quality for the first required capability, `q_cap`.
    pub quality: Score,
    /// One minus its own load.
    pub availability: Score,
    /// The weight of the connection to it, `φ_conn`; that of a new connection for a stranger.
    pub connection: Score,
    /// One minus the level of threat, `1 − θ_threat`.
    pub safety: Score,
    /// The bonus of a preferred node, else 1.
    pub preference: Weight,
}

impl Factors {
    /// The factors that change no score.
    pub(super) const ONE: Self = Self {
        trust: Score::ONE,
        quality: Score::ONE,
        availability: Score::ONE,
        connection: Score::ONE,
        safety: Score::ONE,
        preference: Weight::ONE,
    };

    /// Returns the score, rounded half up. A preference may lift it above 1.
    #[must_use]
    pub fn score(&self) -> Weight {
        // The product is in units of 10^-36.
        const UNIT: u128 = 1_000_000_000_000_000_000_000_000_000_000;
        let rounded = self.product().saturating_add(UNIT / 2) / UNIT;
        u32::try_from(rounded).ok().and_then(Weight::from_millionths).unwrap_or(Weight::MAX)
    }

    /// Returns the exact product, in units of 10^-36. It fits 128 bits for every valid policy, else it saturates.
    fn product(&self) -> u128 {
        let small = [self.trust, self.quality, self.availability];
        // At most 10^18 fits 64 bits.
        let product = small.iter().map(|factor| u64::from(factor.millionths())).fold(1, u64::saturating_mul);
        [self.connection.millionths(), self.safety.millionths(), self.preference.millionths()]
            .into_iter()
            .fold(u128::from(product), |product, factor| product.saturating_mul(u128::from(factor)))
    }
}

/// A node that can get the task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Candidate {
    /// The node.
    pub node: NodeId,
    /// The score.
    pub score: Weight,
    /// The factors of the score.
    pub factors: Factors,
}

/// The result of routing (001 §4.3 `RoutingResult`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum RoutingResult {
    /// The routing node executes the task itself: no handoff (001 §4.2).
    Local,
    /// The candidate with the best score gets the task.
    Selected(Candidate),
    /// No node can get the task.
    NoCandidates(NoCandidates),
}

/// The reason why a task has no candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NoCandidates {
    /// The number of nodes that each filter removed.
    pub removed: BTreeMap<Filter, u32>,
    /// The filter that removed the last nodes; none in a network without nodes.
    pub emptied_by: Option<Filter>,
}

/// A routing result with each candidate and each filtered node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RoutingExplanation {
    /// The result.
    pub result: RoutingResult,
    /// The candidates, best first. A node that executes the task itself is not among them.
    pub candidates: Vec<Candidate>,
    /// The filtered nodes in the order of ids.
    pub filtered: Vec<FilteredNode>,
}

/// A node that cannot get the task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FilteredNode {
    /// The node.
    pub node: NodeId,
    /// The first filter that removes it.
    pub filter: Filter,
}

/// A candidate before its score is written out.
struct Scored<'a> {
    node: &'a Node,
    product: u128,
    factors: Factors,
}

impl Scored<'_> {
    /// The order of candidates: best score first, then the smaller id.
    fn order(&self, other: &Self) -> Ordering {
        other.product.cmp(&self.product).then_with(|| self.node.id.cmp(&other.node.id))
    }

    fn to_candidate(&self) -> Candidate {
        Candidate { node: self.node.id.clone(), score: self.factors.score(), factors: self.factors }
    }
}

/// Returns the node that gets the task, as `from` sees the network (001 §4.3). A routing node that is not in the network has
/// no connections and no beliefs.
#[must_use]
pub fn route(
    policy: &TrustPolicy,
    network: &Network,
    from: &NodeId,
    requirements: &Requirements,
) -> RoutingResult {
    if executes_locally(policy, network, from, requirements) {
        return RoutingResult::Local;
    }
    if let Some(best) = find_best(policy, network, from, requirements) {
        return to_result(from, Some(&best), NoCandidates::default());
    }
    let mut removed = NoCandidates::default();
    let self_competes = !policy.routing.local_preference;
    scan(policy, network, from, requirements, self_competes, |_, outcome| {
        outcome.err().into_iter().for_each(|filter| removed.count(filter));
    });
    to_result(from, None, removed)
}

/// Returns the best candidate. It reads the directory's rows, and a node only where its row is best so far.
fn find_best<'a>(
    policy: &TrustPolicy,
    network: &'a Network,
    from: &NodeId,
    requirements: &Requirements,
) -> Option<Scored<'a>> {
    let rows = network.directory.rows(requirements.required_capabilities.first()?);
    let task = TaskFilter::new(&policy.routing, requirements);
    let view = View::new(policy, network.node(from));
    let constraints = &requirements.constraints;
    let is_candidate = |row: &Row| {
        row.is_open && row.trust >= constraints.min_trust && row.quality >= constraints.min_quality
    };
    // The factors that depend on the routing node and on the task raise no score above this bonus.
    let max_bonus = policy.routing.preference_bonus.max(Weight::ONE);
    let mut best: Option<Scored<'_>> = None;
    let mut visit = |row: &Row| {
        let published = match policy.routing.order {
            RoutingOrder::Score => Factors {
                trust: row.trust,
                quality: row.quality,
                availability: complement(row.load),
                preference: max_bonus,
                ..Factors::ONE
            },
            RoutingOrder::Quality => Factors { quality: row.quality, ..Factors::ONE },
            RoutingOrder::RoundRobin => Factors::ONE,
        };
        if best.as_ref().is_some_and(|best| published.product() < best.product) {
            return;
        }
        let factors = view.factors(&task, &row.node, row.trust, row.quality, row.load);
        let product = factors.product();
        let is_worse = |best: &Scored<'_>| product < best.product;
        if best.as_ref().is_some_and(is_worse) || (policy.routing.local_preference && row.node == *from) {
            return;
        }
        let checked = network.node(&row.node).filter(|node| task.check(node).is_ok());
        if let Some(scored) = checked.map(|node| Scored { node, product, factors })
            && best.as_ref().is_none_or(|best| scored.order(best) == Ordering::Less)
        {
            best = Some(scored);
        }
    };
    // A good first candidate spares most of the others.
    let published = |row: &&Row| {
        [row.trust, row.quality, complement(row.load)]
            .iter()
            .map(|factor| u64::from(factor.millionths()))
            .fold(1, u64::saturating_mul)
    };
    rows.iter().filter(|row| is_candidate(row)).max_by_key(published).into_iter().for_each(&mut visit);
    rows.iter().filter(|row| is_candidate(row)).for_each(visit);
    best
}

/// Returns the result of [`route`] with the factors of each candidate and the filter of each other node.
#[must_use]
pub fn explain_route(
    policy: &TrustPolicy,
    network: &Network,
    from: &NodeId,
    requirements: &Requirements,
) -> RoutingExplanation {
    let is_local = executes_locally(policy, network, from, requirements);
    let self_competes = !policy.routing.local_preference;
    let (mut scored, mut filtered, mut removed) = (Vec::new(), Vec::new(), NoCandidates::default());
    scan(policy, network, from, requirements, self_competes, |node, outcome| match outcome {
        Ok(factors) => scored.push(Scored { node, product: factors.product(), factors }),
        Err(_) if is_local && node.id == *from => {}
        Err(filter) => {
            removed.count(filter);
            filtered.push(FilteredNode { node: node.id.clone(), filter });
        }
    });
    scored.sort_by(Scored::order);
    let result = if is_local { RoutingResult::Local } else { to_result(from, scored.first(), removed) };
    RoutingExplanation { result, candidates: scored.iter().map(Scored::to_candidate).collect(), filtered }
}

fn to_result(from: &NodeId, best: Option<&Scored<'_>>, removed: NoCandidates) -> RoutingResult {
    match best {
        Some(best) if best.node.id == *from => RoutingResult::Local,
        Some(best) => RoutingResult::Selected(best.to_candidate()),
        None => RoutingResult::NoCandidates(removed),
    }
}

fn executes_locally(
    policy: &TrustPolicy,
    network: &Network,
    from: &NodeId,
    requirements: &Requirements,
) -> bool {
    let task = TaskFilter::new(&policy.routing, requirements);
    let local = || network.node(from).is_some_and(|node| can_execute_locally(&policy.routing, &task, node));
    policy.routing.local_preference && local()
}

/// Visits each node in the order of ids, with its factors or the filter that removes it.
fn scan<'a>(
    policy: &TrustPolicy,
    network: &'a Network,
    from: &NodeId,
    requirements: &Requirements,
    self_competes: bool,
    mut visit: impl FnMut(&'a Node, Result<Factors, Filter>),
) {
    let task = TaskFilter::new(&policy.routing, requirements);
    let view = View::new(policy, network.node(from));
    for node in network.iter() {
        let outcome = if !self_competes && node.id == *from {
            Err(Filter::RoutingNode)
        } else {
            task.check(node)
                .map(|state| view.factors(&task, &node.id, node.trust, state.quality, node.load()))
        };
        visit(node, outcome);
    }
}

/// One minus the score.
fn complement(score: Score) -> Score {
    let rest = Score::ONE.millionths().saturating_sub(score.millionths());
    Score::from_millionths(rest).unwrap_or(Score::ZERO)
}

impl NoCandidates {
    /// Counts a removed node. The filters are applied in their order, so the last of them empties the list.
    fn count(&mut self, filter: Filter) {
        let count = self.removed.entry(filter).or_insert(0);
        *count = count.saturating_add(1);
        self.emptied_by = self.emptied_by.max(Some(filter));
    }
}
