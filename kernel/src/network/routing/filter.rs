//! The filters that remove nodes before scoring (001 §4.3, steps 1 and 2).

use crate::ids::{NodeId, Text};
use crate::network::policy::RoutingPolicy;
use crate::network::{CapabilityState, Node, NodeStatus, Requirements};
use alloc::collections::BTreeSet;
use core::fmt;

/// A reason why a node cannot get a task, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Filter {
    /// It is the routing node, which cannot execute the task itself.
    RoutingNode,
    /// It is expelled.
    Expelled,
    /// It lacks the first required capability, or the task requires none.
    MissingCapability,
    /// The capability is unavailable.
    Unavailable,
    /// The task excludes the node.
    Excluded,
    /// It lacks another required capability.
    MissingOtherCapability,
    /// The capability does not accept the type of the input.
    InputType,
    /// The capability does not produce the expected type of output.
    OutputType,
    /// The input is larger than the capability accepts.
    InputSize,
    /// The capability may take longer than the task allows.
    Timeout,
    /// The trust is below the minimum.
    MinTrust,
    /// The quality for the capability is below the minimum.
    MinQuality,
}

impl Filter {
    /// Every filter, in the order of the checks.
    pub const ALL: [Self; 12] = [
        Self::RoutingNode,
        Self::Expelled,
        Self::MissingCapability,
        Self::Unavailable,
        Self::Excluded,
        Self::MissingOtherCapability,
        Self::InputType,
        Self::OutputType,
        Self::InputSize,
        Self::Timeout,
        Self::MinTrust,
        Self::MinQuality,
    ];

    /// Returns the reason, as a predicate of the node.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::RoutingNode => "routes the task and cannot execute it",
            Self::Expelled => "is expelled",
            Self::MissingCapability => "lacks the required capability",
            Self::Unavailable => "does not offer the capability now",
            Self::Excluded => "is excluded by the task",
            Self::MissingOtherCapability => "lacks another required capability",
            Self::InputType => "does not accept the type of the input",
            Self::OutputType => "does not produce the expected type of output",
            Self::InputSize => "accepts only smaller inputs",
            Self::Timeout => "may take longer than the task allows",
            Self::MinTrust => "is trusted less than required",
            Self::MinQuality => "has a lower quality than required",
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

/// The requirements of a task, prepared for many nodes.
pub(super) struct TaskFilter<'a> {
    requirements: &'a Requirements,
    all_capabilities: bool,
    preferred: BTreeSet<&'a NodeId>,
    excluded: BTreeSet<&'a NodeId>,
}

impl<'a> TaskFilter<'a> {
    pub(super) fn new(policy: &RoutingPolicy, requirements: &'a Requirements) -> Self {
        let constraints = &requirements.constraints;
        Self {
            requirements,
            all_capabilities: policy.all_capabilities,
            preferred: constraints.preferred_nodes.iter().collect(),
            excluded: constraints.excluded_nodes.iter().collect(),
        }
    }

    pub(super) fn is_preferred(&self, node: &NodeId) -> bool {
        self.preferred.contains(node)
    }

    /// Returns the state of the first required capability, or the first filter that removes the node.
    pub(super) fn check<'n>(&self, node: &'n Node) -> Result<&'n CapabilityState, Filter> {
        let Requirements { required_capabilities, input_type, output_type, input_size, constraints } =
            self.requirements;
        let require = |holds: bool, filter| if holds { Ok(()) } else { Err(filter) };
        require(node.status != NodeStatus::Expelled, Filter::Expelled)?;
        let first = required_capabilities.first().and_then(|id| node.capabilities.get(id));
        let state = first.ok_or(Filter::MissingCapability)?;
        require(state.available, Filter::Unavailable)?;
        require(!self.excluded.contains(&node.id), Filter::Excluded)?;
        if self.all_capabilities {
            let mut others = required_capabilities.iter().skip(1);
            require(others.all(|id| node.capabilities.contains_key(id)), Filter::MissingOtherCapability)?;
        }
        let capability = &state.capability;
        require(accepts(&capability.input_types, input_type.as_ref()), Filter::InputType)?;
        require(accepts(&capability.output_types, output_type.as_ref()), Filter::OutputType)?;
        let limits = &capability.constraints;
        require(limits.max_input_size.is_none_or(|max| *input_size <= max), Filter::InputSize)?;
        let is_in_time =
            constraints.timeout_ms.is_none_or(|allowed| limits.timeout_ms.is_none_or(|ms| ms <= allowed));
        require(is_in_time, Filter::Timeout)?;
        require(node.trust >= constraints.min_trust, Filter::MinTrust)?;
        require(state.quality >= constraints.min_quality, Filter::MinQuality)?;
        Ok(state)
    }
}

/// Whether a list of types accepts a type. An empty list accepts all; a task without a type is accepted everywhere.
fn accepts(types: &[Text], required: Option<&Text>) -> bool {
    required.is_none_or(|required| types.is_empty() || types.contains(required))
}

/// Whether the routing node executes the task itself: it passes the filters, holds every required capability, each available,
/// and the first is not overloaded (001 §4.2).
pub(super) fn can_execute_locally(policy: &RoutingPolicy, task: &TaskFilter<'_>, node: &Node) -> bool {
    let is_available = |id| node.capabilities.get(id).is_some_and(|state| state.available);
    task.check(node).is_ok_and(|state| state.load() <= policy.overload_above)
        && task.requirements.required_capabilities.iter().all(is_available)
}
