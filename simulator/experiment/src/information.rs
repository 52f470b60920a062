//! What summaries keep of the items that they replace.
//!
//! Each item that is no summary holds one unit of information. A summary keeps each unit of the items that it replaces with a probability, so
//! that summaries of summaries lose more.

use crate::draws::{Draws, Purpose, Stream};
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::{ItemId, Score};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The units of information that compactions of a run replaced and lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Information {
    /// The items that summaries replaced, without summaries.
    pub(crate) compacted_items: u32,
    /// The units of them that no summary keeps.
    pub(crate) lost_items: u32,
    /// The units of each summary.
    summaries: BTreeMap<ItemId, u32>,
    /// The units of the latest reply, until the kernel adopts it.
    offered: u32,
}

impl Information {
    /// Draws what a summary of these items keeps.
    pub(crate) fn summarize(&mut self, cluster: &[ItemId], keeps: Score, draws: &mut impl Draws) {
        let stream = Stream::module(Module::Summarizer, Purpose::Summary);
        let units = cluster.iter().map(|item| self.units(*item)).sum::<u32>();
        self.offered = (0..units).map(|_| u32::from(draws.happens(stream, keeps))).sum();
    }

    fn units(&self, item: ItemId) -> u32 {
        self.summaries.get(&item).copied().unwrap_or(1)
    }

    /// Observes an event of the kernel.
    pub(crate) fn observe(&mut self, event: &Event) {
        let Event::ForgetItems { ids, cause } = event else { return };
        let before = ids.iter().map(|item| self.units(*item)).sum::<u32>();
        let is_summary = |item: &&ItemId| self.summaries.contains_key(item);
        let items = ids.len() - ids.iter().filter(is_summary).count();
        ids.iter().for_each(|item| {
            self.summaries.remove(item);
        });
        match cause {
            ForgetCause::Compaction { into } => {
                let kept = std::mem::take(&mut self.offered);
                self.compacted_items += u32::try_from(items).unwrap_or(u32::MAX);
                self.lost_items += before.saturating_sub(kept);
                self.summaries.insert(*into, kept);
            }
            ForgetCause::SessionEnd
            | ForgetCause::Expiry
            | ForgetCause::RequestEnd
            | ForgetCause::Capacity => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomDraws;

    fn forget(ids: &[u64], into: u64) -> Event {
        let into = ItemId::new(into);
        Event::ForgetItems {
            ids: ids.iter().map(|id| ItemId::new(*id)).collect(),
            cause: ForgetCause::Compaction { into },
        }
    }

    #[test]
    fn summaries_of_summaries_lose_more() {
        let mut information = Information::default();
        let mut draws = RandomDraws::new(0);
        let ids: Vec<ItemId> = (1..=1000).map(ItemId::new).collect();
        let half = Score::from_millionths(500_000).unwrap();
        information.summarize(&ids, half, &mut draws);
        information.observe(&forget(&(1..=1000).collect::<Vec<_>>(), 1001));
        let first = information.lost_items;
        assert!((450..550).contains(&first), "{first}");
        information.summarize(&[ItemId::new(1001), ItemId::new(1002)], half, &mut draws);
        information.observe(&forget(&[1001, 1002], 1003));
        assert!((700..800).contains(&information.lost_items), "{}", information.lost_items);
        assert_eq!(information.compacted_items, 1001);
        assert_eq!(information.summaries.keys().collect::<Vec<_>>(), [&ItemId::new(1003)]);
    }

    #[test]
    fn other_causes_lose_no_information() {
        let mut information = Information::default();
        let ids = vec![ItemId::new(1)];
        information.observe(&Event::ForgetItems { ids, cause: ForgetCause::Expiry });
        assert_eq!(information, Information::default());
    }
}
