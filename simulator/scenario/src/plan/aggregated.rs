//! Plans whose results are aggregated (001 §8.3).

use super::{TaskFile, plan_of_tasks};
use crate::is_default::is_default;
use miette::SourceSpan;
use orchestrion_kernel::Score;
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Aggregation, Plan};
use orchestrion_yaml::{Decimal, LabeledError, Spanned, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Plan with an aggregation of the results of its tasks without dependencies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregatedPlanFile {
    /// 1 to 10,000 tasks with distinct numbers, each after the tasks that it depends on.
    #[schemars(length(min = 1, max = 10_000))]
    pub tasks: Spanned<Vec<Spanned<TaskFile>>>,
    /// Aggregation of the results.
    pub aggregation: AggregationFile,
}

/// Aggregation of the results of the tasks without dependencies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregationFile {
    /// Strategy: voting, averaging, consensus or best_effort. Averaging and consensus need numbers.
    #[schemars(schema_with = "strategy_schema")]
    pub strategy: AggregationStrategy,
    /// Criticality of the answer, from 0 to 1. At high criticality nodes do not agree to disagree. Default: 0.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub criticality: Option<Decimal<Score>>,
    /// Whether the tasks are one task for the best and most diverse nodes. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ensemble: bool,
}

fn strategy_schema(_: &mut SchemaGenerator) -> Schema {
    crate::names::names_schema(&AggregationStrategy::ALL)
}

impl AggregatedPlanFile {
    /// The keys.
    pub(super) const KEYS: [&'static str; 2] = ["tasks", "aggregation"];

    /// Returns the plan. `place` is that of the mapping.
    pub(super) fn to_plan(&self, place: Option<SourceSpan>) -> Result<Plan, LabeledError> {
        let Self { tasks, aggregation } = self;
        let plan = plan_of_tasks(&tasks.value, tasks.span().or(place))?;
        Ok(plan.with_aggregation(aggregation.to_kernel()))
    }
}

impl AggregationFile {
    fn to_kernel(&self) -> Aggregation {
        let Self { strategy, criticality, ensemble } = self;
        Aggregation {
            strategy: *strategy,
            criticality: criticality.map_or(Score::ZERO, |criticality| criticality.0),
            is_ensemble: *ensemble,
        }
    }

    pub(super) fn from_kernel(aggregation: &Aggregation) -> Self {
        let Aggregation { strategy, criticality, is_ensemble } = *aggregation;
        let criticality = Some(Decimal(criticality)).filter(|criticality| criticality.0 > Score::ZERO);
        Self { strategy, criticality, ensemble: is_ensemble }
    }
}
