//! What follows the end of a task: repeated tasks, aggregates, and the end of the run.

use super::NetworkConversationOracle;
use super::aggregation::{self, Answer};
use super::cursor::Cursor;
use super::nodes::OracleNetwork;
use super::run::{Progress, Run, task_need};
use orchestrion_kernel::network::{NetworkEvent, WorkflowStatus};
use orchestrion_kernel::{NodeId, TaskId};

impl NetworkConversationOracle {
    /// Takes the outcome of a task.
    pub(super) fn end_task(
        &mut self,
        task: TaskId,
        progress: Progress,
        answer: Option<(String, Option<i64>)>,
        cursor: &mut Cursor,
    ) -> Result<(), String> {
        let Some(network) = &self.network else { return Ok(()) };
        let Some(run) = &mut self.run else { return Err(format!("task {task} ended outside a run")) };
        run.progress.insert(task, progress);
        if progress == Progress::Succeeded {
            if let Some(node) = self.executors.get(&task) {
                run.lineage.push(node.clone());
            }
            if let Some(answer) = answer {
                run.answers.insert(task, answer);
            }
        }
        if progress == Progress::Exited {
            repeat_validated(run, network, task, cursor)?;
        }
        if run.is_member(task) && run.is_aggregated.is_none() && run.members_ended() && run.can_aggregate() {
            aggregate(run, network, &self.executors, cursor)?;
        }
        Ok(())
    }

    /// Ends the run if nothing runs and nothing can start. Returns whether it ended with a report.
    pub(super) fn end_run_if_over(&mut self, cursor: &mut Cursor) -> Result<bool, String> {
        let Some(run) = &self.run else { return Ok(false) };
        if run.is_running() {
            return Ok(false);
        }
        if run.is_unknown() {
            self.end_run(WorkflowStatus::Failed, cursor)?;
            return Ok(false);
        }
        if run.next_task().is_some() {
            return Ok(false);
        }
        let status = if run.has_succeeded() { WorkflowStatus::Completed } else { WorkflowStatus::Failed };
        self.end_run(status, cursor)?;
        Ok(true)
    }

    /// Reads the end of the run.
    pub(super) fn end_run(&mut self, status: WorkflowStatus, cursor: &mut Cursor) -> Result<(), String> {
        let (Some(run), Some(network)) = (self.run.take(), &self.network) else { return Ok(()) };
        // Only a chain returns along its lineage; other tasks are routed from the orchestrator, and return to it.
        let mut return_path: Vec<NodeId> = Vec::new();
        if run.is_sequential() {
            return_path = run.lineage.iter().rev().cloned().collect();
        }
        return_path.push(network.orchestrator.clone());
        return_path.dedup();
        let expected = NetworkEvent::WorkflowEnded { status, lineage: run.lineage.clone(), return_path };
        cursor.expect(&expected).map_err(|wrong| format!("{wrong}\n{run:?}"))
    }
}

fn repeat_validated(
    run: &mut Run,
    network: &OracleNetwork,
    validation: TaskId,
    cursor: &mut Cursor,
) -> Result<(), String> {
    let repeated = run.repeated(validation, network.policy.workflow.max_retries);
    // Decision 0015: nothing runs after an unknown outcome.
    if repeated.is_empty() || run.is_unknown() {
        return Ok(());
    }
    *run.validations.entry(validation).or_default() += 1;
    for task in &repeated {
        run.progress.insert(*task, Progress::NotStarted);
        run.answers.remove(task);
        if run.is_member(*task) {
            run.is_aggregated = None;
        }
    }
    cursor
        .expect(&NetworkEvent::ValidationFailed { task: validation, repeated })
        .map_err(|wrong| format!("{wrong}\n{run:?}"))
}

fn aggregate(
    run: &mut Run,
    network: &OracleNetwork,
    executors: &std::collections::BTreeMap<TaskId, NodeId>,
    cursor: &mut Cursor,
) -> Result<(), String> {
    let Some(aggregation) = run.aggregation else { return Ok(()) };
    let mut answers = Vec::new();
    for task in run.members() {
        let (Some((text, number)), Some(node)) = (run.answers.get(&task.id), executors.get(&task.id)) else {
            continue;
        };
        let known = network.nodes.get(node);
        let capability = task_need(&task).first().cloned();
        let held = known.and_then(|known| capability.and_then(|id| known.capabilities.get(&id)));
        answers.push(Answer {
            node: node.clone(),
            text: text.clone(),
            number: *number,
            trust: known.map_or(0, |known| known.trust),
            quality: held.map_or(0, |held| held.quality),
        });
    }
    let expected =
        aggregation::expected(&network.policy, aggregation.strategy, aggregation.criticality, &answers);
    let found = cursor.network(&format!("the aggregate {expected:?} of {answers:?}"))?;
    let result = match &found {
        NetworkEvent::ResultsAggregated { aggregate } => Ok(aggregate),
        NetworkEvent::AggregationFailed { error } => Err(error),
        _ => return Err(format!("expected the aggregate {expected:?} of {answers:?}, found {found:?}")),
    };
    run.is_aggregated = Some(result.is_ok());
    // No text gives the weight of a node that left.
    if answers.iter().any(|answer| !network.nodes.contains_key(&answer.node)) {
        return Ok(());
    }
    aggregation::compare(&expected, result, aggregation.strategy, &answers)
        .map_err(|wrong| format!("{wrong} {aggregation:?} {found:?}"))
}
