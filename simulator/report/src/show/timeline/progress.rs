//! Counts of the current request, for headings and the summary.

use super::super::reasons::Veto;
use super::super::step_view::StepView;
use orchestrion_kernel::{Event, Phase, RequestId, UserId};

/// The progress of the current request.
#[derive(Debug)]
pub(super) struct RequestProgress {
    pub(super) id: RequestId,
    pub(super) user: UserId,
    pub(super) first_step: u64,
    pub(super) passes: u32,
    pub(super) runs: u32,
    pub(super) repairs: u32,
    pub(super) refused: u32,
    pub(super) veto: Option<Veto>,
}

impl RequestProgress {
    /// Returns the progress of the request that the step starts.
    pub(super) fn started_by(view: &StepView<'_>) -> Option<Self> {
        view.find(|event| match event {
            Event::UserMsg { request, user, .. } => Some(Self {
                id: *request,
                user: user.clone(),
                first_step: view.step.n,
                passes: 0,
                runs: 0,
                repairs: 0,
                refused: 0,
                veto: None,
            }),
            _ => None,
        })
    }

    pub(super) fn count_step(&mut self, view: &StepView<'_>) {
        if let Some(request) = view.request_before() {
            self.passes = self.passes.max(request.debate.pass);
        }
    }

    pub(super) fn count_transition(&mut self, from: Phase, to: Phase) {
        self.runs += u32::from(to == Phase::RunningTasks && from != to);
        self.repairs += u32::from(to == Phase::SelfHealingActive);
    }
}
