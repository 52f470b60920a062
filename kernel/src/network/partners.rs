//! The window of a node's latest partners, for the diversity `D` of its trust.

use crate::ids::NodeId;
use crate::score::Score;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// The partners of the latest interactions, oldest first, with the number of distinct ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<NodeId>", into = "Vec<NodeId>"))]
pub struct RecentPartners {
    window: VecDeque<NodeId>,
    counts: BTreeMap<NodeId, u32>,
}

impl RecentPartners {
    /// Adds the partner of one interaction, and drops the oldest ones above this size of the window.
    pub fn push(&mut self, partner: &NodeId, window: u32) {
        self.window.push_back(partner.clone());
        let count = self.counts.entry(partner.clone()).or_insert(0);
        *count = count.saturating_add(1);
        while self.window.len() > usize::try_from(window).unwrap_or(usize::MAX) {
            let Some(oldest) = self.window.pop_front() else { break };
            if let Some(count) = self.counts.get_mut(&oldest) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.counts.remove(&oldest);
                }
            }
        }
    }

    /// Returns the number of distinct partners.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Iterates over the partners, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &NodeId> {
        self.window.iter()
    }

    /// Returns the diversity `D`: distinct partners by size of the window, at most 1; 0 without a window.
    #[must_use]
    pub fn diversity(&self, window: u32) -> Score {
        let distinct = u64::try_from(self.distinct()).unwrap_or(u64::MAX).saturating_mul(1_000_000);
        let share = distinct.checked_div(u64::from(window)).unwrap_or(0);
        u32::try_from(share).ok().and_then(Score::from_millionths).unwrap_or(Score::ONE)
    }
}

impl From<Vec<NodeId>> for RecentPartners {
    fn from(window: Vec<NodeId>) -> Self {
        let mut partners = Self::default();
        for partner in &window {
            partners.push(partner, u32::MAX);
        }
        partners
    }
}

impl From<RecentPartners> for Vec<NodeId> {
    fn from(partners: RecentPartners) -> Self {
        partners.window.into()
    }
}
