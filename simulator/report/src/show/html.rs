//! A trace as one HTML page: requests with debate and decision, every step, the state after each step, and the claims.
//!
//! The page needs no network, and its content security policy forbids any access. Without scripts it is complete except
//! for full states. Texts are sanitized in [`super::renderer`] and escaped as markup; the finished page is sanitized
//! again, so that no character in it affects a browser, an editor or a terminal.

mod blocks;
mod builder;
mod charts;
mod commands;
mod frame;
mod network;
mod path;
mod request;
mod states;
mod step;

pub use frame::PAGE_PREFIX;

use super::claims::ClaimMonitor;
use super::fold::{ShowSummary, StateFold};
use super::timeline::{self, Timeline};
use crate::text::sanitize_lines;
use blocks::PageBlocks;
use builder::PageBuilder;
use frame::Frame;
use orchestrion_trace::{Reader, TraceError};
use std::io::{self, BufRead};

/// What a trace says about a claim of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectClaim {
    /// The id.
    pub id: String,
    /// What the claim states.
    pub sentence: String,
    /// Where it is stated.
    pub place: String,
    /// The verdict at the end of the trace.
    pub verdict: String,
    /// The step that violates it.
    pub violated_at: Option<u64>,
}

/// An HTML page, and the part of the trace that it contains.
#[derive(Debug)]
pub struct HtmlPage {
    /// The page.
    pub text: String,
    /// The steps that were read.
    pub summary: ShowSummary,
    /// The error that ended reading, if any. The page contains it, too.
    pub unread: Option<TraceError>,
}

/// Returns the page of a trace, as far as it is readable. `file` is the file name that the page displays.
#[must_use]
pub fn html<R: BufRead>(mut reader: Reader<R>, file: &str, project_claims: &[ProjectClaim]) -> HtmlPage {
    let header = reader.header().clone();
    let policy = &header.policy;
    let mut fold = StateFold::new(&header);
    let mut monitor = ClaimMonitor::new(policy, fold.conversation.state());
    let mut builder = PageBuilder::default();
    let mut timeline = Timeline::default();
    let result = reader.try_for_each(|step| {
        let step = step?;
        fold.step(policy, &step, |view| {
            monitor.check_step(view);
            let mut blocks = PageBlocks::default();
            // Writing to memory does not fail.
            let _: io::Result<()> = timeline.write_step(&mut blocks, view);
            builder.push_step(view, blocks);
        });
        Ok(())
    });
    let unread = result.err();
    let mut end = PageBlocks::default();
    let _: io::Result<()> = timeline::write_end(&mut end, policy, fold.conversation.state(), &fold.summary);
    builder.finish_request(policy.thresholds, false);
    let summary = fold.summary;
    let drawing = fold.network.drawing();
    let frame = Frame {
        header: &header,
        file,
        summary: &summary,
        end: &end.0,
        drawing: drawing.as_ref(),
        unread: unread.as_ref(),
        project_claims,
    };
    let page = frame.markup(&builder, &monitor.verdicts(policy)).into_string();
    HtmlPage { text: sanitize_lines(&page), summary, unread }
}
