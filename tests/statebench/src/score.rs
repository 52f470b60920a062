//! Scoring of timelines.

use crate::context::ContextBuilder;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::read::Case;
use crate::replay::Replay;
use crate::timeline::{Event, Timeline};
use orchestrion_files::limits::DIAGNOSTICS_MAX;
use orchestrion_ingest::{KeywordDetector, ReferenceCounts, Session, SupersessionDetector};
use std::collections::BTreeMap;

/// Counts of queries and phrases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreCounts {
    /// The queries.
    pub queries: usize,
    /// The queries with a forbidden phrase.
    pub forbidden_queries: usize,
    /// The queries with a forbidden phrase in their context.
    pub resurrections: usize,
    /// The required phrases.
    pub required: usize,
    /// The required phrases in their contexts.
    pub mentioned: usize,
    /// The characters of all contexts.
    pub context_chars: usize,
}

/// The result of scoring.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of timelines.
    pub timelines: usize,
    /// The `supersedes` references.
    pub links: ReferenceCounts,
    /// The counts of all tracks.
    pub overall: ScoreCounts,
    /// The counts by track.
    pub tracks: BTreeMap<String, ScoreCounts>,
    /// The first problems of the input, at most [`DIAGNOSTICS_MAX`].
    pub diagnostics: Vec<Diagnostic>,
    /// The number of the other problems.
    pub omitted_diagnostics: usize,
}

impl Report {
    /// Adds problems. A hostile file has one in every line.
    pub fn add_diagnostics(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in diagnostics {
            if self.diagnostics.len() < DIAGNOSTICS_MAX {
                self.diagnostics.push(diagnostic);
            } else {
                self.omitted_diagnostics += 1;
            }
        }
    }
}

/// Replays and scores timelines.
pub struct Scorer<'a> {
    /// Detects supersessions in texts.
    pub detector: &'a dyn SupersessionDetector,
    /// Builds the contexts.
    pub context_builder: ContextBuilder,
}

impl Default for Scorer<'_> {
    fn default() -> Self {
        Self { detector: &KeywordDetector, context_builder: ContextBuilder::default() }
    }
}

impl Scorer<'_> {
    /// Replays a timeline, and builds the context of each query from the state at that moment. Passes each query with its context
    /// to `visit`.
    pub fn replay<'t>(
        &self,
        timeline: &'t Timeline,
        mut visit: impl FnMut(&Session<'_>, &'t str, String),
    ) -> Replay<'_> {
        let mut replay = Replay::new(&timeline.initial, self.detector);
        for event in &timeline.events {
            replay.apply(event);
            if let Event::Query { prompt, .. } = event {
                let context = self.context_builder.build(replay.session(), prompt);
                visit(replay.session(), prompt, context);
            }
        }
        replay.finish();
        replay
    }

    /// Scores one line of a file.
    pub fn score(&self, file: &str, case: &Case, report: &mut Report) {
        let mut contexts = Vec::new();
        let replay = self.replay(&case.timeline, |_, _, context| contexts.push(context));
        let links = replay.session().reference_counts();
        report.timelines += 1;
        report.links.total += links.total;
        report.links.resolved += links.resolved;
        report.add_diagnostics(diagnostics(file, case, &replay));
        let verdicts = case.ground_truth.judge(contexts.iter().map(String::as_str));
        for (verdict, context) in verdicts.iter().zip(&contexts) {
            let track = report.tracks.entry(case.ground_truth.track.clone()).or_default();
            for counts in [&mut report.overall, track] {
                counts.queries += 1;
                counts.forbidden_queries += usize::from(verdict.has_forbidden);
                counts.resurrections += usize::from(!verdict.resurrected.is_empty());
                counts.required += verdict.required;
                counts.mentioned += verdict.required - verdict.missing.len();
                counts.context_chars += context.chars().count();
            }
        }
    }
}

/// Returns the problems of a line: those of reading, then those of the replay.
pub(crate) fn diagnostics(file: &str, case: &Case, replay: &Replay<'_>) -> Vec<Diagnostic> {
    let writes = replay.diagnostics().iter().map(|(key, problem)| Diagnostic {
        file: file.to_string(),
        line: case.line,
        kind: DiagnosticKind::Write { key: key.clone(), problem: problem.clone() },
    });
    case.diagnostics.iter().cloned().chain(writes).collect()
}
