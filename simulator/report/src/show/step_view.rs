//! One step between the state before it and the state after it.

use super::text::duration;
use orchestrion_kernel::control::table::Transition;
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::state::{Call, Request};
use orchestrion_kernel::{Event, Phase, Policy, State, TaskId};
use orchestrion_trace::Step;

/// What a step is told by.
pub(super) struct StepView<'a> {
    pub(super) policy: &'a Policy,
    pub(super) step: &'a Step,
    /// When the first step came, if anybody looked.
    pub(super) first_ms: u64,
    pub(super) before: &'a Before,
    pub(super) after: &'a State,
}

/// What is needed of the state before a step.
pub(super) struct Before {
    pub(super) phase: Phase,
    pub(super) waiting: Option<Call>,
    pub(super) request: Option<Request>,
    /// What was known; a copy shares what stays.
    pub(super) semantic: SemanticState,
}

impl Before {
    pub(super) fn of(state: &State) -> Self {
        Self {
            phase: state.control.phase(),
            waiting: state.control.pending_call(),
            request: state.control.request().cloned(),
            semantic: state.semantic.clone(),
        }
    }
}

impl StepView<'_> {
    /// The row that was taken; a refused input takes none.
    pub(super) fn row(&self) -> Option<&'static Transition> {
        self.find(|event| match event {
            Event::Transitioned { row } => Some(row.transition()),
            _ => None,
        })
    }

    /// How long after the first step it came, where somebody looked.
    pub(super) fn since_first(&self) -> Option<String> {
        let at_ms = self.step.at_ms;
        let sign = if at_ms < self.first_ms { '-' } else { '+' };
        (at_ms > 0).then(|| format!("{sign}{}", duration(at_ms.abs_diff(self.first_ms))))
    }

    /// What the first event that `pick` knows says.
    pub(super) fn find<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> Option<T> {
        self.step.events.iter().find_map(pick)
    }

    /// The request as it was when its batch was decided on: before control forgot what it was decided by.
    pub(super) fn judged(&self) -> Option<&Request> {
        self.before.request.as_ref()
    }

    /// The task as the plan had it then.
    pub(super) fn planned(&self, task: TaskId) -> Option<&Task> {
        self.judged()?.plan.as_ref()?.plan.tasks().iter().find(|planned| planned.id == task)
    }
}
