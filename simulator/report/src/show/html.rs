//! A trace as one page for a browser: requests with their debates and decisions, every step, the state after each, and
//! the claims of the catalogue held against it.
//!
//! The page needs no network, and its policy forbids it any. It reads without scripts; with them, any state is shown whole.
//! Texts are escaped where they become markup, made harmless before (see [`super::page`]), and the page is gone
//! through once more at the end, so that no character in it acts on a browser, an editor or a terminal.

mod blocks;
mod charts;
mod frame;
mod request;
mod states;

use super::claims::ClaimMonitor;
use super::step_view::{Before, StepView};
use super::text::sanitize;
use super::{ShowSummary, detail, timeline};
use blocks::{Notes, PageBlock};
use frame::{Frame, Group};
use maud::{Markup, html};
use orchestrion_kernel::State;
use orchestrion_trace::{Reader, TraceError};
use request::RequestView;
use states::States;
use std::io::{self, BufRead};

/// How every page begins.
pub const PAGE_BEGINS: &str = "<!DOCTYPE html><html lang=\"en\" class=\"orchestrion-trace\">";

/// The most bytes of the timeline, and of the requests. Only numbers are told of what comes after.
const BYTES_MAX: usize = 4_000_000;

/// A page, and how far the trace went.
#[derive(Debug)]
pub struct HtmlPage {
    /// The page.
    pub text: String,
    /// What was gone through.
    pub shown: ShowSummary,
    /// Why the trace was not gone through to its end, if it was not. The page says so too.
    pub unread: Option<TraceError>,
}

/// Makes the page of a trace, as far as it can be read. `file` is its name, as the page says it.
#[must_use]
pub fn html<R: BufRead>(mut reader: Reader<R>, file: &str) -> HtmlPage {
    let header = reader.header().clone();
    let policy = &header.policy;
    let mut state = State::new(header.conversation.clone());
    let mut shown = ShowSummary::default();
    let mut judge = ClaimMonitor::new(policy, &state);
    let mut book = PageBuilder::default();
    let mut timeline = timeline::Timeline::default();
    let mut unread = None;
    let mut first_ms = None;
    for step in &mut reader {
        let step = match step {
            Ok(step) => step,
            Err(error) => {
                unread = Some(error);
                break;
            }
        };
        let first_ms = *first_ms.get_or_insert(step.at_ms);
        let (before, state_before) = (Before::of(&state), state.clone());
        step.events.iter().for_each(|event| state.apply(event));
        shown.count(&step);
        let scene = StepView { policy, step: &step, first_ms, before: &before, after: &state };
        judge.step(&scene, &state_before);
        let mut notes = Notes::default();
        // Nothing fails that is written to memory.
        let _: io::Result<()> = timeline.step(&mut notes, &scene);
        book.step(&scene, notes);
    }
    let mut end = Notes::default();
    let _: io::Result<()> = timeline.end(&mut end, policy, &state, &shown);
    book.close(policy.thresholds);
    let frame = Frame { header: &header, file, shown: &shown, end: &end.0, unread: unread.as_ref() };
    let page = frame.markup(&book, &judge.verdicts(policy)).into_string();
    // Whatever came through: nothing in a page may act.
    let text = page.lines().map(sanitize).collect::<Vec<_>>().join("\n") + "\n";
    HtmlPage { text, shown, unread }
}

/// What the page is bound of.
#[derive(Default)]
struct PageBuilder {
    requests: Vec<Markup>,
    running: Option<RequestView>,
    /// Requests for which there was no room.
    requests_left_out: u64,
    groups: Vec<Group>,
    states: States,
    /// Bytes of the requests, and of the timeline.
    bytes: (usize, usize),
    /// The first step for which there was no room.
    left_out_from: Option<u64>,
}

impl PageBuilder {
    /// Steps in the timeline.
    fn steps(&self) -> usize {
        self.groups.iter().map(|group| group.steps.len()).sum()
    }
}

impl PageBuilder {
    fn step(&mut self, scene: &StepView<'_>, notes: Notes) {
        let begun = RequestView::begun(scene);
        if begun.is_some() {
            self.close(scene.policy.thresholds);
            self.running = begun;
        }
        if let Some(story) = &mut self.running {
            story.step(scene, &notes.0);
            if scene.after.control.request().is_none() && scene.before.request.is_some() {
                self.tell(scene.policy.thresholds, true);
            }
        }
        if self.bytes.1 > BYTES_MAX {
            self.left_out_from.get_or_insert(scene.step.n);
            return;
        }
        let markup = self.line(scene, notes);
        self.bytes.1 += markup.0.len();
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.steps.push(markup);
        }
    }

    /// Tells what is known of the request that runs, if one does.
    fn close(&mut self, thresholds: orchestrion_kernel::policy::Thresholds) {
        self.tell(thresholds, false);
    }

    fn tell(&mut self, thresholds: orchestrion_kernel::policy::Thresholds, ended: bool) {
        let Some(story) = self.running.take() else { return };
        if self.bytes.0 > BYTES_MAX {
            self.requests_left_out += 1;
            return;
        }
        let markup = story.markup(&thresholds, ended);
        self.bytes.0 += markup.0.len();
        self.requests.push(markup);
    }

    /// A step in the timeline, and all of it behind a fold.
    fn line(&mut self, scene: &StepView<'_>, notes: Notes) -> Markup {
        let n = scene.step.n;
        let mut lines = Vec::new();
        for told in notes.0 {
            match told {
                PageBlock::Heading(title) => {
                    self.groups.push(Group { title: Some(title), ..Group::default() })
                }
                PageBlock::Region(region) => {
                    self.groups.push(Group { region: Some(region), ..Group::default() })
                }
                told => lines.push(told),
            }
        }
        html! {
            li.step.timed[scene.step.at_ms > 0] id={ "s" (n) } value=(n) {
                a.n href={ "#s" (n) } { (n) }
                @for told in &lines { (frame::line(told)) }
                (self.full(scene))
            }
        }
    }

    /// Everything about a step.
    fn full(&mut self, scene: &StepView<'_>) -> Markup {
        let n = scene.step.n;
        let (mut told, mut state) = (Notes::default(), Notes::default());
        let _: io::Result<()> = detail::told(&mut told, scene);
        let _: io::Result<Option<String>> = detail::shown(&mut told, scene);
        let _: io::Result<()> = detail::state::list(&mut state, scene);
        let new = self.states.push(state);
        let is_kept = usize::try_from(n).is_ok_and(|n| n <= self.states.kept());
        html! {
            details.full {
                summary aria-label={ "step " (n) " in full" } {
                    @if let Some(time) = scene.since_first() { span.time { (time) } }
                    span.row { (scene.row().map_or("", |row| row.id)) }
                }
                (frame::sections(&told.0))
                @if scene.step.refused.is_none() {
                    div.changes {
                        h4 { "New in the state" }
                        @if new.is_empty() { p.faint { "nothing" } }
                        dl { @for (name, line) in &new { div { dt { (name) } dd { (line) } } } }
                    }
                }
                @if is_kept { p.whole-state { a href={ "#state-" (n) } { "the whole state after step " (n) } } }
            }
        }
    }
}
