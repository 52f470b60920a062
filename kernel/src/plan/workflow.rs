//! A plan as a workflow (001 §5): its type, its members and their aggregation.

use super::{Effect, Plan, StepOptions, Task};
use crate::ids::{CapabilityId, TaskId, Text};
use crate::network::Requirements;
use crate::network::aggregation::AggregationStrategy;
use crate::plan::PlanError;
use crate::score::Score;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The type of a workflow (001 §5.1). It follows from the dependencies of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum WorkflowType {
    /// One task.
    Single,
    /// Each task depends exactly on the task before it.
    Sequential,
    /// The results of the tasks without dependencies are aggregated.
    Parallel,
    /// Any other order.
    Dag,
}

impl WorkflowType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::Single, Self::Sequential, Self::Parallel, Self::Dag];
}

/// How the results of a plan's members become one (001 §5.5, §8.3). The members are the tasks without dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Aggregation {
    /// The strategy.
    pub strategy: AggregationStrategy,
    /// How critical the answer is. At high criticality nodes do not agree to disagree.
    #[cfg_attr(feature = "serde", serde(default))]
    pub criticality: Score,
    /// Whether the members are routed as an ensemble: the same task, to the best and most diverse nodes (001 §8.2).
    #[cfg_attr(feature = "serde", serde(default))]
    pub is_ensemble: bool,
}

impl Aggregation {
    /// Returns whether a member may fail while another one succeeds.
    #[must_use]
    pub const fn allows_failures(&self) -> bool {
        self.is_ensemble || matches!(self.strategy, AggregationStrategy::BestEffort)
    }
}

impl Plan {
    /// Returns the plan with an aggregation of its members.
    #[must_use]
    pub fn with_aggregation(self, aggregation: Aggregation) -> Self {
        Self { aggregation: Some(aggregation), ..self }
    }

    /// Returns how the results of the members are aggregated.
    #[must_use]
    pub const fn aggregation(&self) -> Option<&Aggregation> {
        self.aggregation.as_ref()
    }

    /// Returns the tasks whose results are aggregated: those without dependencies, if the plan has an aggregation.
    pub fn members(&self) -> impl Iterator<Item = &Task> {
        let members = self.dependencies().filter(|(_, dependencies)| dependencies.is_empty());
        members.filter(|_| self.aggregation.is_some()).map(|(task, _)| task)
    }

    /// Returns whether the result of a task is aggregated.
    #[must_use]
    pub fn is_member(&self, task: TaskId) -> bool {
        self.aggregation.is_some() && self.position(task).is_some_and(|at| self.required(at) == 0)
    }

    /// Returns the type of the workflow (001 §5.1).
    #[must_use]
    pub fn workflow_type(&self) -> WorkflowType {
        if self.aggregation.is_some() {
            return WorkflowType::Parallel;
        }
        match (self.tasks().len(), self.index.is_chain()) {
            (1, _) => WorkflowType::Single,
            (_, true) => WorkflowType::Sequential,
            (_, false) => WorkflowType::Dag,
        }
    }

    /// Creates a chain: each capability processes the result of the one before (001 §9.1 `chain`).
    ///
    /// # Errors
    /// [`PlanError`] without a capability, or with too many.
    pub fn chain(text: &Text, capabilities: Vec<CapabilityId>) -> Result<Self, PlanError> {
        let tasks = capabilities.into_iter().zip(1..);
        Self::new(tasks.map(|(capability, number)| pattern_task(text, number, capability, None)).collect())
    }

    /// Creates `width` tasks in parallel and a task that merges their results (001 §9.1 `fan_out_fan_in`). At least one task runs
    /// in parallel.
    ///
    /// # Errors
    /// [`PlanError`] with too many tasks.
    pub fn fan_out_fan_in(
        text: &Text,
        capability: &CapabilityId,
        width: u32,
        merge: CapabilityId,
    ) -> Result<Self, PlanError> {
        let width = width.max(1);
        let parallel = || (1..=width).map(TaskId::new);
        let tasks =
            parallel().map(|id| pattern_task(text, id.number(), capability.clone(), Some(Vec::new())));
        let last = pattern_task(text, width.saturating_add(1), merge, Some(parallel().collect()));
        Self::new(tasks.chain([last]).collect())
    }

    /// Creates a task and its validation, which repeats the task if it fails (001 §9.1 `pipeline_with_validation`).
    ///
    /// # Errors
    /// None with two capabilities; [`PlanError`] as for each plan.
    pub fn pipeline_with_validation(
        text: &Text,
        capability: CapabilityId,
        validate: CapabilityId,
    ) -> Result<Self, PlanError> {
        let mut validation = pattern_task(text, 2, validate, None);
        validation.step.validates = Some(TaskId::FIRST);
        Self::new(Vec::from([pattern_task(text, 1, capability, None), validation]))
    }

    /// Creates the same task for `size` nodes, whose answers vote (001 §9.1 `redundant_execution`). At least one node executes it.
    ///
    /// # Errors
    /// [`PlanError`] with too many tasks.
    pub fn redundant_execution(text: &Text, capability: &CapabilityId, size: u32) -> Result<Self, PlanError> {
        let numbers = 1..=size.max(1);
        let tasks =
            numbers.map(|number| pattern_task(text, number, capability.clone(), Some(Vec::new()))).collect();
        let aggregation = Aggregation {
            strategy: AggregationStrategy::Voting,
            criticality: Score::ZERO,
            is_ensemble: true,
        };
        Ok(Self::new(tasks)?.with_aggregation(aggregation))
    }
}

fn pattern_task(text: &Text, number: u32, capability: CapabilityId, depends_on: Option<Vec<TaskId>>) -> Task {
    let requirements =
        Requirements { required_capabilities: Vec::from([capability]), ..Requirements::default() };
    Task {
        id: TaskId::new(number),
        text: text.clone(),
        effect: Effect::Pure,
        depends_on,
        scope: None,
        step: StepOptions { requirements: Some(Arc::new(requirements)), ..StepOptions::default() },
    }
}
