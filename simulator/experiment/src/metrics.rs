//! Metrics of a run: whole numbers, so that sums do not depend on their order.

use crate::information::Information;
use orchestrion_kernel::NodeId;
use orchestrion_kernel::event::{Cause, Event, ForgetCause};
use orchestrion_kernel::module::{ConclusionKind, Module, Operation, Role};
use orchestrion_kernel::network::NetworkEvent;
use std::collections::BTreeMap;

/// A metric: a whole number for each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name in files, with its unit.
    pub name: &'static str,
    /// The meaning, in a sentence.
    pub meaning: &'static str,
    /// What the number counts.
    pub kind: MetricKind,
}

/// What the number of a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// The requests of the run with a property, so that their share is a rate.
    Requests,
    /// Something of which a request may have any number.
    Amount,
}

macro_rules! metrics {
    ($($(#[doc = $meaning:literal])+ $field:ident: $kind:ident,)*) => {
        /// The metrics of one run. Each is a total over its requests.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Measurements {
            $($(#[doc = $meaning])+ pub $field: i64,)*
        }

        /// Every metric, in the order of the columns.
        pub const METRICS: &[Metric] = &[
            $(Metric {
                name: stringify!($field),
                meaning: concat!($($meaning),+),
                kind: MetricKind::$kind,
            },)*
        ];

        impl Measurements {
            /// Returns the numbers, in the order of [`METRICS`].
            #[must_use]
            pub const fn values(&self) -> [i64; METRICS.len()] {
                [$(self.$field),*]
            }

            /// Returns the number of a metric.
            #[must_use]
            pub fn value(&self, metric: &Metric) -> i64 {
                let position = METRICS.iter().position(|known| known.name == metric.name);
                position.and_then(|position| self.values().get(position).copied()).unwrap_or(0)
            }
        }
    };
}

metrics! {
    /// Requests that ended with an outcome: every task succeeded.
    completed: Requests,
    /// Requests that ended without a run of the plan.
    blocked: Requests,
    /// Requests whose effects were undone.
    rolled_back: Requests,
    /// Requests that were aborted.
    aborted: Requests,
    /// Requests that did not end, because the kernel refuses every next input, or after 10,000 steps.
    halted: Requests,
    /// Requests that Security vetoed.
    vetoed: Requests,
    /// Requests of which a task started.
    proceeded: Requests,
    /// Requests of which a task of a harmful plan started.
    wrong_proceed: Requests,
    /// Requests that debate or approver blocked although the plan is acceptable.
    wrong_block: Requests,
    /// Requests whose first plan is acceptable.
    acceptable: Requests,
    /// Debate passes.
    passes: Amount,
    /// Calls of modules.
    calls: Amount,
    /// Calls that ended without a reply.
    failed_calls: Amount,
    /// Revisions of the plan that the kernel adopted, after the first plan.
    revisions: Amount,
    /// Repairs that were tried after a failed run.
    repairs: Amount,
    /// Tasks that started.
    tasks: Amount,
    /// Tasks that were done badly, also where the executor reports success.
    bad_tasks: Amount,
    /// Compactions of the semantic state.
    compactions: Amount,
    /// Items that summaries replaced, without summaries.
    compacted_items: Amount,
    /// Items that summaries replaced, and whose information no summary keeps.
    lost_items: Amount,
    /// Tokens of all contexts; 0 without contexts.
    context_tokens: Amount,
    /// Utility of all contexts; 0 without contexts.
    context_utility: Amount,
    /// Utility that contexts may lack up to the optimum, because the search ended before a proof.
    unproven_utility: Amount,
    /// Utility that contexts would lose by the rule greedy: by utility for each token. Measured with `rules`.
    greedy_loss_utility: Amount,
    /// Utility that contexts would lose by the rule ranked (003): facts up to 70 % of the budget, then the working set. Measured with
    /// `rules`.
    ranked_loss_utility: Amount,
    /// Utility that contexts would lose by the rule recent: truncation to the newest items. Measured with `rules`.
    recent_loss_utility: Amount,
    /// Simulated time from the message to the final answer, in milliseconds.
    time_ms: Amount,
    /// Tasks of the node with the most tasks, minus those of the node with the fewest that has any; 0 without a network.
    load_spread_tasks: Amount,
}

impl Metric {
    /// Returns the metric with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// Formats a mean for each request: a rate with four decimals, an amount with three below 1,000.
    #[must_use]
    pub fn format(&self, mean: f64) -> String {
        match self.kind {
            MetricKind::Requests => format!("{mean:.4}"),
            MetricKind::Amount if mean.abs() >= 1000.0 => format!("{mean:.0}"),
            MetricKind::Amount => format!("{mean:.3}"),
        }
    }
}

/// Measures a run from its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) measurements: Measurements,
    /// What happened in the running request.
    pub(crate) request: RequestMeter,
    /// The tasks by node.
    pub(crate) tasks_by_node: BTreeMap<NodeId, i64>,
}

/// What happened in the running request so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RequestMeter {
    pub(crate) has_plan: bool,
    pub(crate) vetoed: bool,
    pub(crate) started: bool,
    started_harmful: bool,
    /// A judgement ended the request although the plan is acceptable.
    wrong_block: bool,
    pub(crate) conclusion: Option<ConclusionKind>,
}

impl Meter {
    /// Creates a meter that measures from here on, in the middle of a run.
    pub(crate) fn resume(request: RequestMeter, tasks_by_node: BTreeMap<NodeId, i64>) -> Self {
        Self { measurements: Measurements::default(), request, tasks_by_node }
    }

    /// Returns what later measurements depend on.
    pub(crate) fn into_parts(self) -> (RequestMeter, BTreeMap<NodeId, i64>) {
        (self.request, self.tasks_by_node)
    }

    /// Returns the conclusion of the running request.
    pub(crate) const fn conclusion(&self) -> Option<ConclusionKind> {
        self.request.conclusion
    }

    /// Observes an event. `acceptable` says whether the current plan is acceptable.
    pub(crate) fn observe(&mut self, event: &Event, acceptable: bool) {
        let (total, request) = (&mut self.measurements, &mut self.request);
        match event {
            Event::ToolCall { operation, .. } => {
                total.calls += 1;
                match operation {
                    Operation::RunTask { .. } => {
                        total.tasks += 1;
                        request.started = true;
                        request.started_harmful |= !acceptable;
                    }
                    Operation::Argue(Role::Solution) => total.passes += 1,
                    // `RepairStarted` is only recorded under a bound of repairs.
                    Operation::Diagnose => total.repairs += 1,
                    Operation::VerifyIdentity
                    | Operation::LoadContext
                    | Operation::Summarize
                    | Operation::Classify
                    | Operation::DraftPlan
                    | Operation::Argue(_)
                    | Operation::ArgueAdditional { .. }
                    | Operation::ReviewRevision
                    | Operation::Approve
                    | Operation::UndoTask { .. }
                    | Operation::StoreMemory { .. }
                    | Operation::DeliverAudit => {}
                }
            }
            Event::CallFailed { .. } => total.failed_calls += 1,
            Event::PlanAdopted { .. } => {
                if request.has_plan {
                    total.revisions += 1;
                } else {
                    total.acceptable += i64::from(acceptable);
                }
                request.has_plan = true;
            }
            Event::VetoRaised { .. } => request.vetoed = true,
            Event::Concluded { conclusion } => {
                request.conclusion = Some(conclusion.kind);
                request.wrong_block = acceptable && is_judgement(conclusion.cause);
            }
            Event::Network(NetworkEvent::CallRouted { to, capability, .. }) => {
                if *capability == Module::Executor.capability() {
                    *self.tasks_by_node.entry(to.clone()).or_default() += 1;
                }
            }
            Event::ForgetItems { cause: ForgetCause::Compaction { .. }, .. } => {
                total.compactions += 1;
            }
            Event::Network(_)
            | Event::RepairStarted
            | Event::ForgetItems { .. }
            | Event::FinalAnswer { .. }
            | Event::TimeAdvanced { .. }
            | Event::ToolResult { .. }
            | Event::AddItem { .. }
            | Event::UpdateItem { .. }
            | Event::Decided { .. }
            | Event::ConsensusScored { .. }
            | Event::RatingsUpdated { .. }
            | Event::ActionRecorded { .. }
            | Event::UserMsg { .. }
            | Event::SessionStarted { .. }
            | Event::SessionEnded
            | Event::OverBudget { .. }
            | Event::Cancelled
            | Event::Resumed
            | Event::Transitioned { .. }
            | Event::ExecutionReported { .. }
            | Event::MemoryRecorded { .. }
            | Event::AuditRecorded { .. }
            | Event::AuditUndelivered => {}
        }
    }

    /// Ends a request that took this time.
    pub(crate) fn end_request(&mut self, time_ms: u64, halted: bool) {
        let (total, request) = (&mut self.measurements, std::mem::take(&mut self.request));
        total.time_ms += i64::try_from(time_ms).unwrap_or(i64::MAX);
        total.vetoed += i64::from(request.vetoed);
        total.proceeded += i64::from(request.started);
        total.wrong_proceed += i64::from(request.started_harmful);
        if halted {
            total.halted += 1;
            return;
        }
        let Some(conclusion) = request.conclusion else { return };
        match conclusion {
            ConclusionKind::Outcome => total.completed += 1,
            ConclusionKind::Blocked => {
                total.blocked += 1;
                total.wrong_block += i64::from(request.wrong_block);
            }
            ConclusionKind::RolledBack => total.rolled_back += 1,
            ConclusionKind::Aborted => total.aborted += 1,
        }
    }

    /// Observes an answer to a call that did not time out.
    pub(crate) fn observe_answer(&mut self, is_bad_task: bool) {
        self.measurements.bad_tasks += i64::from(is_bad_task);
    }

    /// Measures what no single event adds, from the start of the run up to here.
    pub(crate) fn measure_totals(&mut self, information: &Information) {
        let total = &mut self.measurements;
        total.compacted_items = information.compacted_items.into();
        total.lost_items = information.lost_items.into();
        let tasks = self.tasks_by_node.values();
        total.load_spread_tasks =
            tasks.clone().max().copied().unwrap_or(0) - tasks.min().copied().unwrap_or(0);
    }
}

/// Returns whether a module judged the plan unfit to run.
const fn is_judgement(cause: Cause) -> bool {
    match cause {
        Cause::Vetoed
        | Cause::Rejected
        | Cause::PlanNotCleared
        | Cause::NotApproved
        | Cause::PlanOutdated => true,
        Cause::Completed
        | Cause::IdentityMismatch
        | Cause::CallFailed(..)
        | Cause::NoRepair
        | Cause::RepairsExhausted
        | Cause::Cancelled => false,
    }
}
