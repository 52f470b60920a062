//! Faults of handoffs between nodes: which handoff is lost, duplicated, forged or replayed (001 §6).

use crate::names::Count;
use crate::network::{ScenarioNetwork, no_network_error};
use miette::SourceSpan;
use orchestrion_kernel::NodeId;
use orchestrion_yaml::{LabeledError, Spanned, StrictText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fault of one handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoffFile {
    /// Receiver.
    pub to: Spanned<StrictText>,
    /// Number of the handoff among those to this receiver in the scenario, from 1. Default: 1.
    #[serde(default, skip_serializing_if = "crate::is_default::is_default")]
    pub nth: Count,
    /// Fault.
    pub fault: HandoffFault,
}

/// Fault of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoffFault {
    /// It does not arrive.
    Lost,
    /// It arrives twice.
    Duplicated,
    /// A copy with the signature of another node arrives before it.
    Forged,
    /// The first handoff to the receiver arrives again, before it. It needs `nth` from 2.
    Replayed,
}

/// The faults of the handoffs in a scenario, with the number of handoffs so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandoffScript {
    /// By receiver and number.
    faults: BTreeMap<(NodeId, u32), HandoffFault>,
    sent: BTreeMap<NodeId, u32>,
}

impl HandoffScript {
    /// Builds the script of a file.
    pub(crate) fn from_files(
        files: &Spanned<Vec<Spanned<HandoffFile>>>,
        network: Option<&ScenarioNetwork>,
    ) -> Result<Self, LabeledError> {
        let mut script = Self::default();
        if files.value.is_empty() {
            return Ok(script);
        }
        let network =
            network.ok_or_else(|| no_network_error("handoffs").with_label(files.span(), "these faults"))?;
        let mut places: BTreeMap<(NodeId, u32), Option<SourceSpan>> = BTreeMap::new();
        for file in &files.value {
            let HandoffFile { to, nth, fault } = &file.value;
            let key = (network.check_node(to)?, nth.0.get());
            if *fault == HandoffFault::Replayed && key.1 == 1 {
                return Err(LabeledError::new(
                    format!("nothing to replay: expected an earlier handoff to {}, found none", key.0),
                    "add `nth: 2` or more",
                )
                .with_label(file.span(), "the first handoff"));
            }
            if let Some(first) = places.insert(key.clone(), file.span()) {
                return Err(LabeledError::new(
                    format!("two faults of handoff {} to {}", key.1, key.0),
                    "keep one of the two, or write another `nth`",
                )
                .with_label(first, "first fault")
                .with_label(file.span(), "second fault"));
            }
            script.faults.insert(key, *fault);
        }
        Ok(script)
    }

    /// Counts a handoff to this receiver, and returns its fault.
    pub fn next(&mut self, to: &NodeId) -> Option<HandoffFault> {
        let sent = self.sent.entry(to.clone()).or_default();
        *sent = sent.saturating_add(1);
        self.faults.get(&(to.clone(), *sent)).copied()
    }

    /// Returns a sentence for each fault of a handoff that was not sent.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let sent = |to: &NodeId| self.sent.get(to).copied().unwrap_or_default();
        let unused = self.faults.keys().filter(|(to, nth)| *nth > sent(to));
        unused.map(|(to, nth)| format!("unused fault: handoff {nth} to {to} was not sent")).collect()
    }
}
