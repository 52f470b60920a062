//! The way of each request: from the truth about its plan, through the debate and the decision, to its outcome.

use crate::metrics::{Measurements, RequestMeter};
use orchestrion_kernel::module::ConclusionKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The way of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// The truth about the first plan.
    pub plan: PlanStage,
    /// The number of debate passes.
    pub passes: PassesStage,
    /// Whether a task started.
    pub decision: DecisionStage,
    /// How the request ended.
    pub outcome: OutcomeStage,
}

macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $text)] $value,)*
        }

        impl $name {
            /// Returns the name in files and figures.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)*
                }
            }
        }
    )*};
}

stages! {
    /// The truth about the first plan.
    PlanStage {
        /// There was no plan.
        None = "no plan",
        /// The plan is acceptable.
        Acceptable = "acceptable",
        /// The plan is harmful.
        Harmful = "harmful",
    }
    /// The number of debate passes.
    PassesStage {
        /// No pass.
        Zero = "no pass",
        /// One pass.
        One = "1 pass",
        /// Two passes.
        Two = "2 passes",
        /// Three passes.
        Three = "3 passes",
        /// Four passes or more.
        More = "4 passes or more",
    }
    /// Whether a task started.
    DecisionStage {
        /// A task started.
        Proceeded = "proceeded",
        /// No task started, and Security vetoed.
        Vetoed = "vetoed",
        /// No task started, without a veto.
        Stopped = "stopped",
    }
    /// How a request ended.
    OutcomeStage {
        /// Every task succeeded.
        Completed = "completed",
        /// It ended without a run of the plan.
        Blocked = "blocked",
        /// Its effects were undone.
        RolledBack = "rolled back",
        /// It was aborted.
        Aborted = "aborted",
        /// It did not end.
        Halted = "halted",
    }
}

/// The requests that took the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowCount {
    /// The way.
    #[serde(flatten)]
    pub flow: Flow,
    /// The number of requests.
    pub requests: u64,
}

/// The number of requests by their way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<FlowCount>", into = "Vec<FlowCount>")]
pub struct Flows(BTreeMap<Flow, u64>);

impl From<Vec<FlowCount>> for Flows {
    fn from(counts: Vec<FlowCount>) -> Self {
        let mut flows = Self::default();
        for FlowCount { flow, requests } in counts {
            flows.add(flow, requests);
        }
        flows
    }
}

impl From<Flows> for Vec<FlowCount> {
    fn from(flows: Flows) -> Self {
        flows.iter().collect()
    }
}

impl Flows {
    pub(crate) fn add(&mut self, flow: Flow, requests: u64) {
        let count = self.0.entry(flow).or_default();
        *count = count.saturating_add(requests);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.iter().for_each(|FlowCount { flow, requests }| self.add(flow, requests));
    }

    /// Returns the ways with their numbers of requests, in the order of stages.
    pub fn iter(&self) -> impl Iterator<Item = FlowCount> + '_ {
        self.0.iter().map(|(flow, requests)| FlowCount { flow: *flow, requests: *requests })
    }

    /// Returns the number of requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Flow {
    /// Returns the way of a request that ends, from what the run measured before it and after it; `None` for a request without a
    /// conclusion.
    pub(crate) fn of_request(
        request: RequestMeter,
        before: &Measurements,
        after: &Measurements,
        halted: bool,
    ) -> Option<Self> {
        let outcome = match request.conclusion {
            _ if halted => OutcomeStage::Halted,
            Some(ConclusionKind::Outcome) => OutcomeStage::Completed,
            Some(ConclusionKind::Blocked) => OutcomeStage::Blocked,
            Some(ConclusionKind::RolledBack) => OutcomeStage::RolledBack,
            Some(ConclusionKind::Aborted) => OutcomeStage::Aborted,
            None => return None,
        };
        let plan = match (request.has_plan, after.acceptable > before.acceptable) {
            (false, _) => PlanStage::None,
            (true, true) => PlanStage::Acceptable,
            (true, false) => PlanStage::Harmful,
        };
        let passes = match after.passes - before.passes {
            ..=0 => PassesStage::Zero,
            1 => PassesStage::One,
            2 => PassesStage::Two,
            3 => PassesStage::Three,
            4.. => PassesStage::More,
        };
        let decision = match (request.started, request.vetoed) {
            (true, _) => DecisionStage::Proceeded,
            (false, true) => DecisionStage::Vetoed,
            (false, false) => DecisionStage::Stopped,
        };
        Some(Self { plan, passes, decision, outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the way of a request without a plan.
    fn flow(request: RequestMeter, halted: bool) -> Option<Flow> {
        Flow::of_request(request, &Measurements::default(), &Measurements::default(), halted)
    }

    fn measured(vetoed: bool, started: bool, conclusion: Option<ConclusionKind>) -> RequestMeter {
        let mut measured = RequestMeter::default();
        (measured.vetoed, measured.started, measured.conclusion) = (vetoed, started, conclusion);
        measured
    }

    #[test]
    fn veto_is_decision_only_if_no_task_started() {
        let blocked = Some(ConclusionKind::Blocked);
        let decision = |vetoed, started| flow(measured(vetoed, started, blocked), false).unwrap().decision;
        assert_eq!(decision(true, false), DecisionStage::Vetoed);
        assert_eq!(decision(false, false), DecisionStage::Stopped);
        assert_eq!([decision(true, true), decision(false, true)], [DecisionStage::Proceeded; 2]);
    }

    #[test]
    fn passes_are_those_of_the_request() {
        let passes = |count: i64| {
            let before = Measurements { passes: 7, ..Measurements::default() };
            let after = Measurements { passes: 7 + count, ..Measurements::default() };
            let ended = measured(false, false, Some(ConclusionKind::Blocked));
            Flow::of_request(ended, &before, &after, false).unwrap().passes.name()
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 9].map(passes),
            ["no pass", "1 pass", "2 passes", "3 passes", "4 passes or more", "4 passes or more"]
        );
    }

    #[test]
    fn halted_request_has_no_other_outcome() {
        let completed = measured(false, true, Some(ConclusionKind::Outcome));
        assert_eq!(flow(completed, true).unwrap().outcome, OutcomeStage::Halted);
        assert_eq!(flow(completed, false).unwrap().outcome, OutcomeStage::Completed);
        assert_eq!(flow(measured(false, false, None), false), None);
    }

    #[test]
    fn flows_round_trip_and_merge() {
        let one = flow(measured(true, false, Some(ConclusionKind::Blocked)), false).unwrap();
        let mut flows = Flows::default();
        flows.add(one, 2);
        let json = serde_json::to_string(&flows).unwrap();
        assert_eq!(
            json,
            r#"[{"plan":"no plan","passes":"no pass","decision":"vetoed","outcome":"blocked","requests":2}]"#
        );
        let read: Flows = serde_json::from_str(&json).unwrap();
        flows.merge(&read);
        assert_eq!((flows.requests(), flows.iter().count()), (4, 1));
    }
}
