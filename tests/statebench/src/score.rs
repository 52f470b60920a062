//! Timelines replayed, and their contexts held against the answers.

use super::context::Contexts;
use super::detect::{KeywordDetector, SupersessionDetector};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::read::Case;
use super::session::{Links, Session};
use super::timeline::{Event, Timeline};
use std::collections::BTreeMap;

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreCounts {
    /// Questions.
    pub queries: usize,
    /// Those that forbid anything.
    pub forbidden_queries: usize,
    /// Those with something in their context that is forbidden there.
    pub resurrections: usize,
    /// Phrases that are required.
    pub required: usize,
    /// Those of them that stand in their context.
    pub mentioned: usize,
    /// Characters of all contexts.
    pub context_chars: usize,
}

/// What scoring came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Timelines that were replayed.
    pub timelines: usize,
    /// Their links.
    pub links: Links,
    /// Everything together.
    pub overall: ScoreCounts,
    /// By track.
    pub tracks: BTreeMap<String, ScoreCounts>,
    /// What could not be taken as it stands.
    pub faults: Vec<Diagnostic>,
}

/// What is detected, and how contexts are built.
pub struct Scorer<'a> {
    /// Reads what takes the place of what.
    pub detect: &'a dyn SupersessionDetector,
    /// Builds the contexts.
    pub contexts: Contexts,
}

impl Default for Scorer<'_> {
    fn default() -> Self {
        Self { detect: &KeywordDetector, contexts: Contexts::default() }
    }
}

impl Scorer<'_> {
    /// Replays a timeline, and builds the context of each question from what is known at that moment; `see` is shown each.
    pub fn replay<'t>(
        &self,
        timeline: &'t Timeline,
        mut see: impl FnMut(&Session<'_>, &'t str, String),
    ) -> Session<'_> {
        let mut session = Session::new(&timeline.initial, self.detect);
        for event in &timeline.events {
            session.take(event);
            if let Event::Query { prompt, .. } = event {
                session.apply_detected();
                let context = self.contexts.build(&session, prompt);
                see(&session, prompt, context);
            }
        }
        session.close();
        session
    }

    /// Scores one line of a file.
    pub fn score(&self, file: &str, case: &Case, report: &mut Report) {
        let mut contexts = Vec::new();
        let session = self.replay(&case.timeline, |_, _, context| contexts.push(context));
        report.timelines += 1;
        report.links.all += session.links().all;
        report.links.resolved += session.links().resolved;
        report.faults.extend(case.faults.iter().cloned());
        report.faults.extend(faults(file, case.line, &session));
        let verdicts = case.answers.judge(contexts.iter().map(String::as_str));
        for (verdict, context) in verdicts.iter().zip(&contexts) {
            let track = report.tracks.entry(case.answers.track.clone()).or_default();
            for tally in [&mut report.overall, track] {
                tally.queries += 1;
                tally.forbidden_queries += usize::from(verdict.has_forbidden);
                tally.resurrections += usize::from(!verdict.resurrected.is_empty());
                tally.required += verdict.required;
                tally.mentioned += verdict.required - verdict.missing.len();
                tally.context_chars += context.chars().count();
            }
        }
    }
}

/// The faults of a replayed line.
pub(super) fn faults<'a>(
    file: &'a str,
    line: u64,
    session: &'a Session<'_>,
) -> impl Iterator<Item = Diagnostic> + 'a {
    session.unfit().iter().map(move |(key, why)| {
        let kind = DiagnosticKind::Write { key: key.clone(), why: why.clone() };
        Diagnostic { file: file.to_string(), line, kind }
    })
}
