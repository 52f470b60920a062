//! A decoder of signed bytes, written from the table in the module `encoding`. An encoding that can be decoded is injective.

use crate::{DOMAIN, Handoff, HandoffContext, HandoffTask, StepResult};
use orchestrion_kernel::{CallId, CapabilityId, NodeId, TaskId, Text, Timestamp};
use std::collections::BTreeMap;

/// Decodes a handoff; `None` if the bytes are those of none.
pub(super) fn decode(bytes: &[u8]) -> Option<Handoff> {
    let mut decoder = Decoder(bytes.strip_prefix(DOMAIN)?);
    let handoff = decoder.handoff()?;
    decoder.0.is_empty().then_some(handoff)
}

struct Decoder<'b>(&'b [u8]);

impl Decoder<'_> {
    fn handoff(&mut self) -> Option<Handoff> {
        Some(Handoff {
            from_node: NodeId::new(self.text()?),
            to_node: NodeId::new(self.text()?),
            call: CallId::new(self.u64()?),
            capability: CapabilityId::new(self.text()?),
            operation: self.text()?,
            task: self.option(Self::task)?,
            context: self.context()?,
            timestamp: Timestamp::from_millis(self.u64()?),
        })
    }

    fn task(&mut self) -> Option<HandoffTask> {
        Some(HandoffTask { id: TaskId::new(self.u32()?), text: self.text()?, metadata: self.map()? })
    }

    fn context(&mut self) -> Option<HandoffContext> {
        Some(HandoffContext {
            workflow_id: self.text()?,
            step_index: self.option(Self::u32)?,
            prior_results: self.list(|decoder| {
                Some(StepResult {
                    task: TaskId::new(decoder.u32()?),
                    exit_code: i32::from_be_bytes(decoder.array()?),
                    text: decoder.text()?,
                })
            })?,
            accumulated: self.map()?,
            lineage: self.list(|decoder| decoder.text().map(NodeId::new))?,
        })
    }

    fn map(&mut self) -> Option<BTreeMap<Text, Text>> {
        let entries = self.list(|decoder| Some((decoder.text()?, decoder.text()?)))?;
        // Equal keys or another order would be a second encoding of the same map.
        entries.is_sorted_by(|(before, _), (after, _)| before < after).then(|| entries.into_iter().collect())
    }

    fn list<T>(&mut self, element: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.u64()?).map(|_| element(self)).collect()
    }

    fn option<T>(&mut self, value: impl Fn(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.array()? {
            [0] => Some(None),
            [1] => Some(Some(value(self)?)),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<Text> {
        let len = usize::try_from(self.u64()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(Text::from)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }
}
