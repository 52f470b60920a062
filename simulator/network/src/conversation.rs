//! The network of a file as that of a conversation (decision 0042).

use super::build::joining_node;
use super::{LoadedNetwork, NodeFile};
use orchestrion_kernel::NodeId;
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Module, Role};
use orchestrion_kernel::network::{Capability, CapabilityCategory, CapabilityState, NetworkInput, Node};
use orchestrion_yaml::{LabeledError, Spanned, StrictText};
use std::collections::BTreeSet;

/// The number of calls of one module at which its capability is fully loaded; no conversation makes so many at once.
const MODULE_CAPACITY: u32 = 1000;

impl LoadedNetwork {
    /// Returns the input that creates the network in a conversation. The orchestrator also holds the capability of each module that
    /// no node holds and the file does not declare: otherwise no node could execute the calls of this module.
    ///
    /// # Errors
    /// [`LabeledError`] if the file names no orchestrator.
    pub fn conversation_input(&self) -> Result<NetworkInput, LabeledError> {
        let Some(orchestrator) = self.orchestrator.clone() else {
            return Err(LabeledError::new(
                "network without an orchestrator: expected the node from whose view calls are routed, found none",
                "add `orchestrator: …` with the id of a node to the network",
            ));
        };
        let mut nodes: Vec<Node> = self.network.iter().cloned().collect();
        let modules = Module::ALL.into_iter().filter(|module| {
            let id = module.capability();
            let is_held = nodes.iter().any(|node| node.capabilities.contains_key(&id));
            !is_held && !self.capabilities.contains_key(&id)
        });
        let added: Vec<CapabilityState> = modules.map(module_capability).collect();
        if let Some(node) = nodes.iter_mut().find(|node| node.id == orchestrator) {
            added.into_iter().for_each(|state| node.add_capability(state));
        }
        Ok(NetworkInput::Create { orchestrator, policy: self.policy, nodes })
    }

    /// Returns a node that joins the network later. `others` are nodes that it may refer to beside those of the network.
    ///
    /// # Errors
    /// [`LabeledError`] if the node refers to an undeclared capability or to an unknown node.
    pub fn joining_node(
        &self,
        id: &Spanned<StrictText>,
        file: &NodeFile,
        others: &BTreeSet<NodeId>,
    ) -> Result<Node, LabeledError> {
        joining_node(self, id, file, others)
    }
}

/// Returns the capability of a module as the orchestrator holds it.
pub(super) fn module_capability(module: Module) -> CapabilityState {
    let capability =
        Capability { category: category(module), ..Capability::new(module.capability(), MODULE_CAPACITY) };
    CapabilityState::new(capability, Score::ONE)
}

const fn category(module: Module) -> CapabilityCategory {
    match module {
        Module::Memory
        | Module::Classifier
        | Module::Debater(Role::Analyst | Role::Critic)
        | Module::AdditionalDebater => CapabilityCategory::Analysis,
        Module::Planner | Module::Debater(Role::Solution) | Module::Executor => {
            CapabilityCategory::Generation
        }
        Module::Summarizer | Module::Debater(Role::Optimizer) | Module::Store(_) => {
            CapabilityCategory::Transformation
        }
        Module::IdentityGuard | Module::Debater(Role::Security) | Module::Approver | Module::Auditor => {
            CapabilityCategory::Validation
        }
    }
}
