//! The rules of the trust network in a conversation, a second time: naive, and written from documents 001, 0040, 0041 and 0042.
//!
//! It observes each input with its batch or refusal, keeps its own network, and compares trust, quality, load and connections
//! with those of the kernel after each step. Then it continues from the kernel's numbers, so that rounding does not add up.
//! Deliberately absent: the transitions of 004, which the other oracle checks. From the kernel it takes the next phase and the
//! operations of calls that run no task.

mod aggregation;
mod changes;
mod cursor;
mod defense;
mod exchange;
mod interaction;
mod nodes;
mod outcome;
mod routing;
mod run;
mod steps;

use nodes::{OracleNetwork, OracleNode};
use orchestrion_kernel::item::Validity;
use orchestrion_kernel::module::{Failure, Operation, Role};
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::{
    CallId, CapabilityId, Event, Events, NodeId, Phase, Policy, Refusal, State, TaskId, TimedInput,
};
use run::Run;
use std::collections::BTreeMap;

/// The expected network, calls and run.
#[derive(Clone, Debug)]
pub struct NetworkConversationOracle {
    parallel_tasks: usize,
    network: Option<OracleNetwork>,
    phase: Phase,
    now: u64,
    plan: Option<Plan>,
    /// A fact was superseded since the plan was drafted, and since Security's latest call.
    is_outdated: bool,
    run: Option<Run>,
    /// The tasks as they were started in this request.
    versions: BTreeMap<TaskId, Task>,
    /// The nodes that executed tasks of this request.
    executors: BTreeMap<TaskId, NodeId>,
    pending: BTreeMap<CallId, PendingCall>,
}

/// A pending call.
#[derive(Clone, Debug)]
struct PendingCall {
    operation: Operation,
    assignment: Option<Assignment>,
    not_made: Option<Failure>,
}

/// A call at a node.
#[derive(Clone, Debug)]
struct Assignment {
    from: NodeId,
    to: NodeId,
    capability: CapabilityId,
    attempt: u32,
    tried: Vec<NodeId>,
    is_running: bool,
}

impl Assignment {
    fn is_local(&self) -> bool {
        self.from == self.to
    }
}

impl NetworkConversationOracle {
    /// Creates the oracle for a new conversation.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        Self {
            parallel_tasks: usize::try_from(policy.bounds.parallel_tasks).unwrap_or(usize::MAX),
            network: None,
            phase: Phase::Idle,
            now: 0,
            plan: None,
            is_outdated: false,
            run: None,
            versions: BTreeMap::new(),
            executors: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// Checks one step: the input, the result of `decide`, the state after it, and whether an internal step is accepted then.
    ///
    /// # Errors
    /// A sentence with the expected and the found value. After the first error the oracle is unusable.
    pub fn judge(
        &mut self,
        input: &TimedInput,
        decided: Result<&Events, &Refusal>,
        after: &State,
        can_step: bool,
    ) -> Result<(), String> {
        match decided {
            Ok(events) => {
                let before = self.describe();
                let plan = self.plan.clone();
                self.check_batch(input, events, after).map_err(|wrong| {
                    let plan = plan.map(|plan| (plan.tasks().to_vec(), plan.aggregation().copied()));
                    format!("{wrong}\nbefore {before}\nplan {plan:?}")
                })?;
                events.iter().for_each(|event| self.observe_facts(event));
            }
            Err(refusal) => self.check_refusal(input, refusal)?,
        }
        self.compare(after)?;
        if after.control().phase() == Phase::RunningTasks {
            let expected = self.run.as_ref().is_some_and(|run| {
                let has_room = self.pending.len() < self.parallel_tasks;
                has_room && !self.is_outdated && !run.is_unknown() && run.next_task().is_some()
            });
            if can_step != expected {
                return Err(format!("step beside running tasks: expected {expected}, found {can_step}"));
            }
        }
        Ok(())
    }

    /// Takes what outdates the plan, and what reviews it (decision 0038). Every fact is global.
    fn observe_facts(&mut self, event: &Event) {
        match event {
            Event::UserMsg { .. } => self.is_outdated = false,
            Event::UpdateItem { item, .. } => {
                let is_superseded = matches!(item.validity, Validity::Superseded { .. });
                self.is_outdated |= self.plan.is_some() && item.fact().is_some() && is_superseded;
            }
            Event::ToolCall {
                operation: Operation::Argue(Role::Security) | Operation::ReviewRevision,
                ..
            } => {
                self.is_outdated = false;
            }
            _ => {}
        }
    }

    /// Describes the nodes and the run, for messages.
    fn describe(&self) -> String {
        let nodes = self.network.iter().flat_map(|network| &network.nodes).map(|(id, node)| {
            let held = node
                .capabilities
                .iter()
                .filter(|(id, _)| ["executor", "analysis", "review"].contains(&id.as_str()));
            let held: Vec<String> = held
                .map(|(id, held)| format!("{id} q {} {} load {}", held.quality, held.available, held.load()))
                .collect();
            format!("{id} {:?} T {} reported {:?} {held:?}", node.status, node.trust, node.reported_load)
        });
        let run =
            self.run.as_ref().map(|run| (&run.progress, &run.assigned, &run.answers, run.is_aggregated));
        format!("{}; {run:?}", nodes.collect::<Vec<_>>().join("; "))
    }

    /// Compares the state, and continues from the kernel's numbers.
    fn compare(&mut self, after: &State) -> Result<(), String> {
        self.phase = after.control().phase();
        let (expected, found) = match (&mut self.network, after.network()) {
            (None, None) => return Ok(()),
            (Some(expected), Some(found)) => (expected, found),
            (expected, _) => return Err(format!("network: expected {}", expected.is_some())),
        };
        if expected.nodes.len() != found.nodes().len() {
            let ids: Vec<&NodeId> = expected.nodes.keys().collect();
            return Err(format!("nodes: expected {ids:?}, found {}", found.nodes().len()));
        }
        for (id, node) in &mut expected.nodes {
            let Some(found) = found.node(id) else { return Err(format!("node {id}: expected, found none")) };
            let found = OracleNode::read(found);
            node.compare(&found).map_err(|wrong| format!("node {id}: {wrong}"))?;
            *node = found;
        }
        let assignments = self.pending.iter().filter_map(|(id, call)| Some((id, call.assignment.as_ref()?)));
        let expected: Vec<String> = assignments
            .map(|(id, a)| {
                format!(
                    "{id} {} {} {} {} {:?} {}",
                    a.from, a.to, a.capability, a.attempt, a.tried, a.is_running
                )
            })
            .collect();
        let found: Vec<String> = found
            .assignments()
            .iter()
            .map(|a| {
                format!(
                    "{} {} {} {} {} {:?} {}",
                    a.call,
                    a.from,
                    a.to,
                    a.capability,
                    a.attempt,
                    a.tried,
                    a.is_running()
                )
            })
            .collect();
        if expected != found {
            return Err(format!("assignments: expected {expected:?}, found {found:?}"));
        }
        let pending: Vec<CallId> = self.pending.keys().copied().collect();
        let found: Vec<CallId> = after.control().pending_calls().iter().map(|call| call.id).collect();
        if pending != found {
            return Err(format!("pending calls: expected {pending:?}, found {found:?}"));
        }
        for call in after.control().pending_calls() {
            let expected = self.pending[&call.id].not_made;
            if call.not_made != expected {
                return Err(format!(
                    "call {}: expected not made for {expected:?}, found {:?}",
                    call.id, call.not_made
                ));
            }
        }
        Ok(())
    }
}
