//! One step between the state before it and the state after it.

use crate::text::duration;
use orchestrion_kernel::control::table::Transition;
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Policy, State, TaskId};
use orchestrion_trace::{ContextRecord, RequestFacts, Step, transition};

/// A step with the states around it.
pub(super) struct StepView<'a> {
    pub(super) policy: &'a Policy,
    pub(super) step: &'a Step,
    /// The time of the first step; 0 if it was not recorded.
    pub(super) first_ms: u64,
    pub(super) before: &'a State,
    pub(super) after: &'a State,
    /// The facts about the request that the step starts, continues or ends.
    pub(super) facts: Option<&'a RequestFacts>,
}

impl StepView<'_> {
    /// Returns the transition of the step. A refused input has none.
    pub(super) fn transition(&self) -> Option<&'static Transition> {
        transition(&self.step.events)
    }

    /// Returns the recorded context of the step if it is not proven optimal.
    pub(super) fn unproven_context(&self) -> Option<&ContextRecord> {
        self.step.context.as_ref().filter(|context| !context.is_proven())
    }

    /// Returns the facts about the request that the step starts.
    pub(super) fn started_facts(&self) -> Option<&RequestFacts> {
        self.facts.filter(|facts| facts.first_step == self.step.n)
    }

    /// Returns the facts about the request that the step ends.
    pub(super) fn ended_facts(&self) -> Option<&RequestFacts> {
        let is_ended = self.request_before().is_some() && self.after.control().request().is_none();
        self.facts.filter(|_| is_ended)
    }

    /// Returns the time since the first step, if time passed.
    pub(super) fn elapsed(&self) -> Option<String> {
        let at_ms = self.step.at_ms;
        // An input whose time went back is refused, and recorded with its time.
        let sign = if at_ms < self.first_ms { '-' } else { '+' };
        (at_ms != self.first_ms).then(|| format!("{sign}{}", duration(at_ms.abs_diff(self.first_ms))))
    }

    /// Returns the first result of `pick` for an event of the step.
    pub(super) fn find<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> Option<T> {
        self.step.events.iter().find_map(pick)
    }

    /// Returns the request that `decide` read: the events of the step may already have cleared its scores and arguments.
    pub(super) fn request_before(&self) -> Option<&Request> {
        self.before.control().request()
    }

    /// Returns a task of the plan that `decide` read.
    pub(super) fn planned_task(&self, task: TaskId) -> Option<&Task> {
        self.request_before()?.plan.as_ref()?.plan.tasks().iter().find(|planned| planned.id == task)
    }
}
