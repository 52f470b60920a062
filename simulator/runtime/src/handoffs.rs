//! Handoffs of calls between the nodes of a network: created, signed and verified here, decided by the kernel (001 §6).

use orchestrion_handoff::{
    Handoff, HandoffContext, HandoffTask, KeyError, KeyFolder, NodeKey, SignedHandoff, StepResult, verify,
};
use orchestrion_kernel::event::TaskOutcome;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::network::{HandoffReceipt, NetworkInput, Node, SignatureStatus};
use orchestrion_kernel::state::{Assignment, Request};
use orchestrion_kernel::{CallId, State, Text, Timestamp};
use std::collections::BTreeMap;

/// The keys with which nodes sign handoffs.
#[derive(Debug, Default)]
pub enum NodeKeys {
    /// Keys that follow from the ids of the nodes, for simulations. They are no secret.
    #[default]
    Simulated,
    /// The keys in a folder, for the nodes that run here.
    Folder(KeyFolder),
}

impl NodeKeys {
    /// Creates and signs the handoff of a call that a node has not accepted yet; `None` if there is none.
    ///
    /// # Errors
    /// [`KeyError`] if the key of the sender cannot be read.
    pub(crate) fn create_handoff(
        &self,
        state: &State,
        call: CallId,
        timestamp: Timestamp,
    ) -> Result<Option<SignedHandoff>, KeyError> {
        let Some(handoff) = handoff(state, call, timestamp) else { return Ok(None) };
        let key = match self {
            Self::Simulated => NodeKey::for_simulation(&handoff.from_node),
            Self::Folder(folder) => folder.load(&handoff.from_node)?,
        };
        Ok(Some(key.sign(handoff)))
    }

    /// Verifies a received handoff with the public key of its sender. The second part is the reason of an invalid signature.
    ///
    /// Call ids restart in each conversation. So a handoff that was signed for another conversation has no valid signature here.
    pub(crate) fn receive(&self, state: &State, received: &SignedHandoff) -> (NetworkInput, Option<String>) {
        let Handoff { from_node, to_node, call, context, .. } = &received.handoff;
        let conversation = state.control().conversation();
        let is_here = context.workflow_id.as_str().starts_with(&format!("{conversation}/"));
        let sender = state.network().and_then(|network| network.node(from_node));
        let reason = match sender.map(|sender| verify(received, &self.public_key(sender))) {
            None => Some(format!("unknown sender: expected a node of the network, found {from_node}")),
            Some(orchestrion_handoff::SignatureStatus::Valid) if is_here => None,
            Some(orchestrion_handoff::SignatureStatus::Valid) => Some(format!(
                "handoff of another conversation: expected a workflow of {conversation}, found {}",
                context.workflow_id
            )),
            Some(orchestrion_handoff::SignatureStatus::Invalid(reason)) => Some(reason.to_string()),
        };
        let signature = if reason.is_none() { SignatureStatus::Valid } else { SignatureStatus::Invalid };
        let (from, to) = (from_node.clone(), to_node.clone());
        (NetworkInput::Handoff(HandoffReceipt { call: *call, from, to, signature }), reason)
    }

    /// Returns the public key of a node; empty if it has none.
    fn public_key(&self, node: &Node) -> Vec<u8> {
        match self {
            Self::Simulated if node.public_key.is_empty() => {
                NodeKey::for_simulation(&node.id).public_key().to_vec()
            }
            Self::Simulated | Self::Folder(_) => node.public_key.clone(),
        }
    }
}

/// Returns the assignment of a call that waits for its handoff.
pub(crate) fn unaccepted(state: &State, call: CallId) -> Option<&Assignment> {
    state.network()?.assignment(call).filter(|assignment| !assignment.is_running())
}

/// Returns the handoff of a call that a node has not accepted yet.
fn handoff(state: &State, call: CallId, timestamp: Timestamp) -> Option<Handoff> {
    let assignment = unaccepted(state, call)?;
    let request = state.control().request()?;
    let operation = state.control().pending_call(call)?.operation;
    let task = operation.task().and_then(|task| request.started_task(task));
    Some(Handoff {
        from_node: assignment.from.clone(),
        to_node: assignment.to.clone(),
        call,
        capability: assignment.capability.clone(),
        operation: operation.expected_reply().into(),
        task: task.map(|task| HandoffTask {
            id: task.id,
            text: task.text.clone(),
            metadata: task.step.metadata.clone(),
        }),
        context: context(state, request, operation),
        timestamp,
    })
}

/// Returns the context of a workflow (001 §6.1): the results so far, and who executed.
fn context(state: &State, request: &Request, operation: Operation) -> HandoffContext {
    let plan = request.plan.as_ref();
    let trace = state.control().trace_id(request.id);
    let workflow_id = match plan {
        Some(plan) => format!("{trace} r{}", plan.revision),
        None => trace.to_string(),
    };
    let at =
        operation.task().and_then(|task| plan?.plan.tasks().iter().position(|planned| planned.id == task));
    let text = |task| {
        let item = state.semantic().latest_by_key(&ItemKey::Output(request.id, task));
        item.map_or_else(|| Text::from(""), |entry| entry.item.text.clone())
    };
    let prior_results: Vec<StepResult> = request
        .outcomes
        .iter()
        .filter_map(|ended| {
            let exit_code = match ended.outcome {
                TaskOutcome::Succeeded => 0,
                TaskOutcome::Exited(code) => code,
                TaskOutcome::NoResult(_) | TaskOutcome::NotRun => return None,
            };
            Some(StepResult { task: ended.task, exit_code, text: text(ended.task) })
        })
        .collect();
    let succeeded = prior_results.iter().filter(|result| result.exit_code == 0);
    let accumulated: BTreeMap<Text, Text> =
        succeeded.map(|result| (format!("task {}", result.task).into(), result.text.clone())).collect();
    HandoffContext {
        workflow_id: workflow_id.into(),
        step_index: at.and_then(|at| u32::try_from(at).ok()),
        prior_results,
        accumulated,
        lineage: request.workflow.lineage.iter().cloned().collect(),
    }
}
