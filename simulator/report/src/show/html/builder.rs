//! The parts of a page, collected step by step. Requests and timeline are bounded in bytes.

use super::super::step_view::StepView;
use super::blocks::{PageBlock, PageBlocks};
use super::request::RequestView;
use super::states::States;
use super::step::{Group, step};
use maud::Markup;
use orchestrion_kernel::policy::Thresholds;

/// The most bytes of the timeline, and of the requests. The page reports the number of omitted steps and requests.
const SECTION_BYTES_MAX: usize = 4_000_000;

/// The collected parts of a page.
#[derive(Default)]
pub(super) struct PageBuilder {
    pub(super) requests: Vec<Markup>,
    pub(super) omitted_requests: u64,
    pub(super) groups: Vec<Group>,
    /// The first step that the timeline omits.
    pub(super) omitted_from: Option<u64>,
    pub(super) states: States,
    current: Option<RequestView>,
    requests_bytes: usize,
    timeline_bytes: usize,
}

impl PageBuilder {
    /// Returns the number of steps in the timeline.
    pub(super) fn steps(&self) -> usize {
        self.groups.iter().map(|group| group.steps.len()).sum()
    }

    /// Adds a step with its timeline blocks.
    pub(super) fn push_step(&mut self, view: &StepView<'_>, blocks: PageBlocks) {
        if let Some(request) = RequestView::started_by(view) {
            self.finish_request(view.policy.thresholds, false);
            self.current = Some(request);
        }
        if let Some(request) = &mut self.current {
            request.push_step(view, &blocks.0);
            if view.ended_facts().is_some() {
                self.finish_request(view.policy.thresholds, true);
            }
        }
        if self.timeline_bytes > SECTION_BYTES_MAX {
            self.omitted_from.get_or_insert(view.step.n);
            return;
        }
        let mut lines = Vec::new();
        for block in blocks.0 {
            match block {
                PageBlock::Heading(title) => {
                    self.groups.push(Group { title: Some(title), ..Group::default() });
                }
                PageBlock::Region(region) => {
                    self.groups.push(Group { region: Some(region), ..Group::default() });
                }
                block => lines.push(block),
            }
        }
        let markup = step(view, &lines, &mut self.states);
        self.timeline_bytes += markup.0.len();
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.steps.push(markup);
        }
    }

    /// Adds the current request, if there is one.
    pub(super) fn finish_request(&mut self, thresholds: Thresholds, ended: bool) {
        let Some(request) = self.current.take() else { return };
        if self.requests_bytes > SECTION_BYTES_MAX {
            self.omitted_requests += 1;
            return;
        }
        let markup = request.markup(&thresholds, ended);
        self.requests_bytes += markup.0.len();
        self.requests.push(markup);
    }
}
