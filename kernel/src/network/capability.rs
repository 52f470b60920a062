//! Capabilities and their state at a node (001 §2).

use crate::ids::{CapabilityId, Text, Timestamp};
use crate::score::Score;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A type of task that a node can perform, as the node declares it (001 §2.1 `Capability`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Capability {
    /// The id, which tasks require.
    pub id: CapabilityId,
    /// The name.
    pub name: Text,
    /// The category.
    pub category: CapabilityCategory,
    /// The accepted types of input; none accepts all.
    #[cfg_attr(feature = "serde", serde(default))]
    pub input_types: Vec<Text>,
    /// The possible types of output; none accepts all.
    #[cfg_attr(feature = "serde", serde(default))]
    pub output_types: Vec<Text>,
    /// The limits.
    #[cfg_attr(feature = "serde", serde(default))]
    pub constraints: CapabilityConstraints,
    /// The number of tasks at which the load is 1.
    pub max_capacity: u32,
}

/// The category of a capability (001 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CapabilityCategory {
    /// Analysis.
    Analysis,
    /// Generation.
    Generation,
    /// Transformation.
    Transformation,
    /// Validation.
    Validation,
}

impl CapabilityCategory {
    /// Every category.
    pub const ALL: [Self; 4] = [Self::Analysis, Self::Generation, Self::Transformation, Self::Validation];
}

/// The limits of a capability (001 §2.1 `constraints`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct CapabilityConstraints {
    /// The maximum size of an input, in the unit of [`Requirements::input_size`](super::Requirements); none without limit.
    pub max_input_size: Option<u64>,
    /// The time after which the node gives an execution up. A task with a shorter timeout goes elsewhere.
    pub timeout_ms: Option<u64>,
}

/// The state of a capability at a node (001 §2.2 `CapabilityState`). Its load is computed, see [`CapabilityState::load`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CapabilityState {
    /// The declaration.
    pub capability: Arc<Capability>,
    /// The quality for this capability, `q_cap` (001 §2.3).
    pub quality: Score,
    /// The number of uses.
    #[cfg_attr(feature = "serde", serde(default))]
    pub volume: u32,
    /// The time of the latest use.
    #[cfg_attr(feature = "serde", serde(default))]
    pub last_used: Option<Timestamp>,
    /// Whether the node offers the capability now.
    pub available: bool,
    /// The number of tasks in execution.
    #[cfg_attr(feature = "serde", serde(default))]
    pub current_tasks: u32,
}

impl Capability {
    /// Creates a capability for analysis that has its id as name, and neither limits nor types of input and output.
    #[must_use]
    pub fn new(id: CapabilityId, max_capacity: u32) -> Self {
        Self {
            name: id.as_str().into(),
            id,
            category: CapabilityCategory::Analysis,
            input_types: Vec::new(),
            output_types: Vec::new(),
            constraints: CapabilityConstraints::default(),
            max_capacity,
        }
    }
}

impl CapabilityState {
    /// Creates the state of an unused, available capability.
    #[must_use]
    pub fn new(capability: Capability, quality: Score) -> Self {
        let capability = Arc::new(capability);
        Self { capability, quality, volume: 0, last_used: None, available: true, current_tasks: 0 }
    }

    /// Returns `current_tasks / max_capacity` (001 §7.2), at most 1. A capability without capacity is fully loaded.
    #[must_use]
    pub fn load(&self) -> Score {
        if self.current_tasks == 0 && self.capability.max_capacity > 0 {
            return Score::ZERO;
        }
        let tasks = u64::from(self.current_tasks).saturating_mul(1_000_000);
        let load = tasks.checked_div(u64::from(self.capability.max_capacity)).unwrap_or(1_000_000);
        u32::try_from(load).ok().and_then(Score::from_millionths).unwrap_or(Score::ONE)
    }
}
