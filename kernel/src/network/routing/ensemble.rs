//! Routing of a task to several nodes (001 §8.2).

use super::{Candidate, NoCandidates, Scored, scan};
use crate::ids::NodeId;
use crate::network::{Network, Requirements, TrustPolicy};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The nodes that execute the same task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Ensemble {
    /// The members, in the order of their selection.
    pub members: Vec<Candidate>,
    /// The number of wanted members; there are fewer where there are fewer candidates.
    pub wanted: u32,
    /// Whether the best candidates were all of one cluster, and others were selected. If every candidate is of one cluster, the members
    /// are the best.
    pub is_diversified: bool,
}

/// Returns the nodes that execute the task: the best `size` candidates (at least one), diversified by cluster. The routing node
/// competes as any other: local preference concerns a single execution.
///
/// # Errors
/// [`NoCandidates`] where no node can get the task.
pub fn route_ensemble(
    policy: &TrustPolicy,
    network: &Network,
    from: &NodeId,
    requirements: &Requirements,
    size: u32,
) -> Result<Ensemble, NoCandidates> {
    let (mut scored, mut removed) = (Vec::new(), NoCandidates::default());
    scan(policy, network, from, requirements, true, |node, outcome| match outcome {
        Ok(factors) => scored.push(Scored { node, product: factors.product(), factors }),
        Err(filter) => removed.count(filter),
    });
    if scored.is_empty() {
        return Err(removed);
    }
    scored.sort_by(Scored::order);
    let wanted = size.max(1);
    let size = usize::try_from(wanted).unwrap_or(usize::MAX);
    let members: Vec<Candidate> = if is_too_similar(scored.iter().take(size)) {
        let (first_of_cluster, rest) = partition_by_cluster(&scored);
        first_of_cluster.into_iter().chain(rest).take(size).map(Scored::to_candidate).collect()
    } else {
        scored.iter().take(size).map(Scored::to_candidate).collect()
    };
    let is_diversified = members.iter().zip(&scored).any(|(member, best)| member.node != best.node.id);
    Ok(Ensemble { members, wanted, is_diversified })
}

/// Whether all of two or more candidates are of one declared cluster.
fn is_too_similar<'a>(mut candidates: impl Iterator<Item = &'a Scored<'a>>) -> bool {
    let Some(cluster) = candidates.next().and_then(|first| first.node.cluster.as_ref()) else { return false };
    let mut others = candidates.peekable();
    others.peek().is_some() && others.all(|candidate| candidate.node.cluster.as_ref() == Some(cluster))
}

/// Splits ordered candidates into the best of each cluster and the others. A node without a cluster is its own.
fn partition_by_cluster<'a, 'n>(scored: &'a [Scored<'n>]) -> (Vec<&'a Scored<'n>>, Vec<&'a Scored<'n>>) {
    let mut seen = BTreeSet::new();
    scored
        .iter()
        .partition(|candidate| candidate.node.cluster.as_ref().is_none_or(|cluster| seen.insert(cluster)))
}
