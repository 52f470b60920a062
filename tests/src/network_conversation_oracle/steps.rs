//! One step: the input, then the calls of its batch.

use super::aggregation::number;
use super::cursor::Cursor;
use super::routing::{Destination, Need};
use super::run::{Progress, Run, task_need};
use super::{Assignment, NetworkConversationOracle, PendingCall};
use orchestrion_kernel::module::{Failure, Operation, Report};
use orchestrion_kernel::network::{AssignedStep, InteractionReport, NetworkEvent, WorkflowStatus};
use orchestrion_kernel::{CallId, Event, Events, Input, NodeId, Phase, Refusal, State, TimedInput};
use std::collections::BTreeSet;

impl NetworkConversationOracle {
    /// Returns the refusal that the network requires.
    fn network_refusal(&self, input: &Input) -> Option<&'static str> {
        match input {
            Input::Reply { call, .. } => {
                let pending = self.pending.get(call)?;
                let is_waiting = pending.assignment.as_ref().is_some_and(|assignment| !assignment.is_running);
                if pending.not_made.is_some() {
                    Some("the call is not made")
                } else {
                    is_waiting.then_some("the handoff is not accepted")
                }
            }
            Input::Network(input) => self.is_refused(input).then_some("the input does not fit the network"),
            Input::SessionStart { .. }
            | Input::SessionEnd
            | Input::UserMessage { .. }
            | Input::CallFailed { .. }
            | Input::Step
            | Input::Cancel
            | Input::Write(_)
            | Input::Tick
            | Input::Resume => None,
        }
    }

    pub(super) fn check_refusal(&self, input: &TimedInput, refusal: &Refusal) -> Result<(), String> {
        let is_of_network = matches!(
            refusal,
            Refusal::CallNotMade { .. }
                | Refusal::HandoffNotAccepted { .. }
                | Refusal::InvalidNetworkInput(_)
        );
        let expected = self.network_refusal(&input.input);
        if is_of_network && expected.is_none() {
            return Err(format!("expected a batch, found the refusal {refusal:?}"));
        }
        if !is_of_network && matches!(input.input, Input::Network(_)) {
            return Err(format!("expected {expected:?}, found the refusal {refusal:?}"));
        }
        Ok(())
    }

    pub(super) fn check_batch(
        &mut self,
        input: &TimedInput,
        events: &Events,
        after: &State,
    ) -> Result<(), String> {
        if let Some(refusal) = self.network_refusal(&input.input) {
            return Err(format!("expected a refusal because {refusal}, found a batch"));
        }
        let phase = after.control().phase();
        self.now = input.at.millis();
        let mut cursor = Cursor::new(events);
        let mut is_reported = false;
        for event in events {
            if let Event::UserMsg { .. } = event {
                self.plan = None;
                self.run = None;
                self.versions.clear();
                self.executors.clear();
            }
            if let Event::PlanAdopted { plan, .. } = event {
                self.plan = Some(plan.clone());
            }
            is_reported |= matches!(event, Event::ExecutionReported { .. });
        }
        let mut ended_with_report = false;
        match &input.input {
            Input::Reply { call, report, interaction, .. } => {
                self.take_reply(*call, report, interaction.as_deref(), &mut cursor)?;
                ended_with_report = self
                    .end_run_if_over(&mut cursor)
                    .map_err(|wrong| format!("{wrong}\nrun {:?}", self.run))?;
            }
            Input::CallFailed { call, failure } => {
                self.take_failure(*call, *failure, &mut cursor)?;
                ended_with_report = self
                    .end_run_if_over(&mut cursor)
                    .map_err(|wrong| format!("{wrong}\nrun {:?}", self.run))?;
            }
            Input::Network(change) => self.take_network_input(change, &mut cursor)?,
            Input::Cancel => self.take_cancel(after, &mut cursor)?,
            Input::SessionStart { .. }
            | Input::SessionEnd
            | Input::UserMessage { .. }
            | Input::Step
            | Input::Write(_)
            | Input::Tick
            | Input::Resume => {}
        }
        if ended_with_report != is_reported {
            return Err(format!("end of the run: expected {ended_with_report}, found {is_reported}"));
        }
        // A review of a changed fact interrupts a run. If the plan is not cleared, the run is rolled back.
        if phase == Phase::RollbackActive && self.run.is_some() {
            self.end_run(WorkflowStatus::Failed, &mut cursor)?;
        }
        let is_running = phase == Phase::RunningTasks;
        let mut must_start = is_running && self.run.as_ref().is_some_and(|run| !run.is_running());
        if is_running && self.run.is_none() {
            self.start_run(&mut cursor)?;
            must_start = true;
        }
        must_start |= self.phase == Phase::RunningTasks && matches!(input.input, Input::Step);
        while let Some(Event::ToolCall { operation, .. }) = cursor.peek() {
            if let Operation::RunTask { task, .. } = operation {
                let next = self.run.as_ref().and_then(Run::next_task);
                if !must_start || next.as_ref().map(|next| next.id) != Some(*task) {
                    let next = next.map(|next| next.id);
                    return Err(format!("start of a task: expected {next:?} ({must_start}), found {task}"));
                }
                must_start = false;
            }
            self.read_call(&mut cursor, None)?;
        }
        if must_start {
            return Err("expected the start of a task, found none".to_owned());
        }
        cursor.peek().map_or(Ok(()), |event| Err(format!("unexpected event {event:?}")))
    }

    fn take_reply(
        &mut self,
        call: CallId,
        report: &Report,
        interaction: Option<&InteractionReport>,
        cursor: &mut Cursor,
    ) -> Result<(), String> {
        let Some(pending) = self.pending.remove(&call) else { return Ok(()) };
        if let Some(assignment) = &pending.assignment {
            self.lower_load(assignment);
            let default = InteractionReport::default();
            self.read_exchange(cursor, assignment, Some(interaction.unwrap_or(&default)))?;
        }
        if let (Operation::RunTask { task, .. }, Report::Exit { code, text, number: value }) =
            (pending.operation, report)
        {
            let progress = if *code == 0 { Progress::Succeeded } else { Progress::Exited };
            self.end_task(task, progress, Some((text.to_string(), number(*value))), cursor)?;
        }
        Ok(())
    }

    fn take_failure(&mut self, call: CallId, failure: Failure, cursor: &mut Cursor) -> Result<(), String> {
        let Some(pending) = self.pending.remove(&call) else { return Ok(()) };
        let mut exchange = None;
        if let Some(assignment) = pending.assignment.as_ref().filter(|assignment| assignment.is_running) {
            self.lower_load(assignment);
            let is_interaction = matches!(failure, Failure::Error | Failure::Timeout | Failure::Malformed);
            exchange = is_interaction.then(|| assignment.clone());
        }
        if let Some(NetworkEvent::Exchanged(_)) = cursor.peek_network() {
            let Some(assignment) = exchange.take() else {
                return Err(format!("unexpected exchange after {failure:?} of {pending:?}"));
            };
            self.read_exchange(cursor, &assignment, None)?;
        }
        // The outcome of a call after a crash is unknown, whether its handoff was accepted or not.
        let had_no_effect = failure != Failure::OutcomeUnknown
            && pending.assignment.as_ref().is_some_and(|assignment| {
                let is_clean = matches!(failure, Failure::Error | Failure::Malformed);
                !assignment.is_running || !pending.operation.is_effectful() && is_clean
            });
        let next = if had_no_effect { self.next_attempt(&pending) } else { None };
        if let Some(tried) = next {
            let module = pending.operation.module();
            cursor.expect(&NetworkEvent::AttemptFailed { module, call, failure })?;
            if let Some(assignment) = exchange {
                self.read_exchange(cursor, &assignment, None)?;
            }
            return self.read_call(cursor, Some((pending.operation, tried)));
        }
        match cursor.next() {
            Some(Event::CallFailed { call: found, failure: cause, .. })
                if found == call && cause == failure => {}
            other => return Err(format!("expected the failure of call {call}, found {other:?}")),
        }
        if let Some(assignment) = exchange {
            self.read_exchange(cursor, &assignment, None)?;
        }
        if let Operation::RunTask { task, .. } = pending.operation {
            self.end_task(task, Progress::NoResult(failure), None, cursor)?;
        }
        Ok(())
    }

    fn take_cancel(&mut self, after: &State, cursor: &mut Cursor) -> Result<(), String> {
        let kept: BTreeSet<CallId> = after.control().pending_calls().iter().map(|call| call.id).collect();
        let ended: Vec<CallId> = self.pending.keys().filter(|id| !kept.contains(id)).copied().collect();
        for call in ended {
            let assignment = self.pending.remove(&call).and_then(|pending| pending.assignment);
            if let Some(assignment) = assignment.filter(|assignment| assignment.is_running) {
                self.lower_load(&assignment);
            }
        }
        if self.run.is_some() { self.end_run(WorkflowStatus::Cancelled, cursor) } else { Ok(()) }
    }

    /// Starts a run: the members are routed before any executes.
    fn start_run(&mut self, cursor: &mut Cursor) -> Result<(), String> {
        let Some(plan) = &self.plan else { return Err("a run without a plan".to_owned()) };
        let mut run = Run::new(plan);
        let members = run.members();
        if let (Some(network), Some(first), Some(aggregation)) =
            (&self.network, members.first(), run.aggregation)
        {
            let from = &network.orchestrator;
            if aggregation.is_ensemble {
                let nodes = network.ensemble(from, &task_need(first), members.len());
                if nodes.is_empty() {
                    run.unroutable = Some(first.id);
                }
                for (task, node) in members.iter().zip(&nodes) {
                    run.assigned.insert(task.id, node.clone());
                }
                run.left_out = members.iter().skip(nodes.len()).map(|task| task.id).collect();
            } else {
                for task in &members {
                    match network.route(from, &task_need(task)) {
                        Destination::Local => run.assigned.insert(task.id, from.clone()),
                        Destination::Remote(node) => run.assigned.insert(task.id, node),
                        Destination::Nowhere => {
                            run.unroutable = Some(task.id);
                            break;
                        }
                    };
                }
            }
            if let Some(task) = run.unroutable {
                run.assigned.clear();
                run.left_out.clear();
                cursor.expect(&NetworkEvent::StepsUnroutable { task })?;
            } else {
                let steps = members.iter().filter_map(|task| {
                    let node = run.assigned.get(&task.id)?.clone();
                    Some(AssignedStep { task: task.id, node })
                });
                let left_out = run.left_out.iter().copied();
                let left_out =
                    members.iter().map(|task| task.id).filter(|id| left_out.clone().any(|out| out == *id));
                cursor.expect(&NetworkEvent::StepsAssigned {
                    assigned: steps.collect(),
                    left_out: left_out.collect(),
                })?;
            }
        }
        self.run = Some(run);
        Ok(())
    }

    /// The node that routes a call.
    fn routing_node(&self, operation: Operation) -> Option<NodeId> {
        let network = self.network.as_ref()?;
        let orchestrator = network.orchestrator.clone();
        let (Operation::RunTask { task, .. }, Some(run)) = (operation, &self.run) else {
            return Some(orchestrator);
        };
        if !run.is_sequential() {
            return Some(orchestrator);
        }
        let before = run.before(task).and_then(|before| self.executors.get(&before));
        let is_usable = |id: &&NodeId| {
            let node = network.nodes.get(*id);
            node.is_some_and(|node| node.status != orchestrion_kernel::network::NodeStatus::Expelled)
        };
        Some(before.filter(is_usable).cloned().unwrap_or(orchestrator))
    }

    /// What a call needs.
    fn need(&self, operation: Operation) -> Need {
        match operation {
            Operation::RunTask { task, .. } => self.versions.get(&task).map(task_need).unwrap_or_default(),
            Operation::UndoTask { task } => {
                let mut need = self.versions.get(&task).map(task_need).unwrap_or_default();
                need.0.constraints.preferred_nodes.extend(self.executors.get(&task).cloned());
                need
            }
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => Need::capability(operation.module().capability()),
        }
    }

    /// Returns the nodes of the earlier attempts if another attempt follows.
    pub(super) fn next_attempt(&self, pending: &PendingCall) -> Option<Vec<NodeId>> {
        let (assignment, network) = (pending.assignment.as_ref()?, self.network.as_ref()?);
        if assignment.attempt > network.policy.workflow.max_retries {
            return None;
        }
        // Decision 0040: after an unknown outcome, and while the plan is outdated, no task starts.
        if matches!(pending.operation, Operation::RunTask { .. })
            && (self.is_outdated || self.run.as_ref().is_some_and(Run::is_unknown))
        {
            return None;
        }
        let mut tried = assignment.tried.clone();
        tried.push(assignment.to.clone());
        let from = self.routing_node(pending.operation)?;
        let need = self.need(pending.operation).without(&tried);
        (network.route(&from, &need) != Destination::Nowhere).then_some(tried)
    }

    /// Reads a call and its route. A repetition has its operation and the nodes of the earlier attempts.
    pub(super) fn read_call(
        &mut self,
        cursor: &mut Cursor,
        repetition: Option<(Operation, Vec<NodeId>)>,
    ) -> Result<(), String> {
        let Some(Event::ToolCall { call, operation }) = cursor.next() else {
            return Err(format!("expected a call for {repetition:?}"));
        };
        if let Some((repeated, _)) = &repetition {
            if *repeated != operation {
                return Err(format!("repeated call: expected {repeated:?}, found {operation:?}"));
            }
        } else if let (Operation::RunTask { task, .. }, Some(run)) = (operation, &mut self.run) {
            run.progress.insert(task, Progress::Running);
            if let Some(version) = run.task(task).cloned() {
                self.versions.insert(task, version);
            }
        }
        let mut pending = PendingCall { operation, assignment: None, not_made: None };
        let is_over_budget =
            matches!(cursor.peek(), Some(Event::OverBudget { call: over, .. }) if *over == call);
        if is_over_budget {
            cursor.next();
            pending.not_made = Some(Failure::OverBudget);
        } else if self.network.is_some() {
            let tried = repetition.map(|(_, tried)| tried).unwrap_or_default();
            pending.assignment = self.read_route(cursor, call, operation, tried)?;
            pending.not_made = pending.assignment.is_none().then_some(Failure::NoCandidates);
        }
        let is_local = pending.assignment.as_ref().is_some_and(Assignment::is_local);
        self.pending.insert(call, pending);
        if is_local {
            self.start_at_node(call);
        }
        Ok(())
    }

    fn read_route(
        &mut self,
        cursor: &mut Cursor,
        call: CallId,
        operation: Operation,
        tried: Vec<NodeId>,
    ) -> Result<Option<Assignment>, String> {
        let need = self.need(operation);
        let from = self.routing_node(operation).unwrap_or_else(|| NodeId::new(""));
        let assigned = match (operation, &self.run) {
            (Operation::RunTask { task, .. }, Some(run)) if tried.is_empty() => run.assigned.get(&task),
            (_, _) => None,
        };
        let Some(network) = &self.network else { return Ok(None) };
        // An assigned node that left is replaced, and so is the routing node if it is overloaded.
        let can_get = |node: &&NodeId| {
            let is_overloaded = need.first().is_some_and(|id| network.is_overloaded(node, id));
            network.nodes.contains_key(*node) && !(**node == from && is_overloaded)
        };
        let destination = match assigned.filter(can_get) {
            Some(node) if *node == from => Destination::Local,
            Some(node) => Destination::Remote(node.clone()),
            None => network.route(&from, &need.without(&tried)),
        };
        let to = match destination {
            Destination::Local => from.clone(),
            Destination::Remote(node) => node,
            Destination::Nowhere => {
                let found = cursor.network("no candidates")?;
                let NetworkEvent::NoCandidates { call: named, capability, removed } = &found else {
                    return Err(format!("expected no candidates for call {call}, found {found:?}"));
                };
                let count = usize::try_from(removed.removed.values().sum::<u32>()).unwrap_or(usize::MAX);
                if *named != call || capability.as_ref() != need.first() || count != network.nodes.len() {
                    return Err(format!("expected no candidates for {call} and {need:?}, found {found:?}"));
                }
                return Ok(None);
            }
        };
        let Some(capability) = need.first().cloned() else { return Ok(None) };
        let attempt = u32::try_from(tried.len()).unwrap_or(u32::MAX) + 1;
        cursor.expect(&NetworkEvent::CallRouted {
            call,
            from: from.clone(),
            to: to.clone(),
            capability: capability.clone(),
            attempt,
            tried: tried.clone(),
        })?;
        if from != to {
            self.touch(&from, &to);
        }
        Ok(Some(Assignment { from, to, capability, attempt, tried, is_running: false }))
    }

    /// A handoff to a stranger creates a connection; a known one is active now.
    fn touch(&mut self, from: &NodeId, to: &NodeId) {
        let now = self.now;
        let node = self.network.as_mut().and_then(|network| network.nodes.get_mut(from));
        if let Some(node) = node {
            let fresh = || super::nodes::OracleEnd::fresh(now);
            node.connections.entry(to.clone()).or_insert_with(fresh).last_active = now;
        }
    }

    /// A node executes the call: its load rises.
    pub(super) fn start_at_node(&mut self, call: CallId) {
        let Some(pending) = self.pending.get_mut(&call) else { return };
        let Some(assignment) = &mut pending.assignment else { return };
        assignment.is_running = true;
        let (node, capability) = (assignment.to.clone(), assignment.capability.clone());
        if let Operation::RunTask { task, .. } = pending.operation {
            self.executors.insert(task, node.clone());
        }
        self.change_load(&node, &capability, true);
    }

    fn lower_load(&mut self, assignment: &Assignment) {
        self.change_load(&assignment.to, &assignment.capability, false);
    }

    fn change_load(&mut self, node: &NodeId, capability: &orchestrion_kernel::CapabilityId, rises: bool) {
        let node = self.network.as_mut().and_then(|network| network.nodes.get_mut(node));
        if let Some(held) = node.and_then(|node| node.capabilities.get_mut(capability)) {
            held.tasks = if rises { held.tasks + 1 } else { held.tasks.saturating_sub(1) };
        }
    }
}
