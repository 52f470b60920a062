//! Counterexamples as traces, to show, replay and promote.

use orchestrion_kernel::event::{Event, StoreStatus, TaskOutcome};
use orchestrion_kernel::module::{ConclusionKind, Report};
use orchestrion_kernel::{ConversationId, Phase, Policy, TimedInput};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, StepMetadata, digest, transition};
use std::io;

/// A counterexample as a trace file.
#[derive(Debug)]
pub struct Evidence {
    /// The file name: the claim or goal, and a digest of the trace.
    pub file: String,
    /// The trace.
    pub trace: Vec<u8>,
    /// The notable steps.
    pub highlights: Vec<Highlight>,
}

impl Evidence {
    /// Returns the last few highlights up to a step.
    #[must_use]
    pub fn last_highlights(&self, until: u64) -> &[Highlight] {
        let end = self.highlights.partition_point(|highlight| highlight.step <= until);
        &self.highlights[end.saturating_sub(HIGHLIGHTS_MAX)..end]
    }
}

/// A notable step of a counterexample.
#[derive(Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The step, from 1.
    pub step: u64,
    /// The description of the step.
    pub text: String,
    /// The transition id; empty if the input was refused.
    pub row: &'static str,
}

/// The most highlights of one report.
const HIGHLIGHTS_MAX: usize = 4;

/// Records the inputs of a counterexample, or of a path to a goal, as a trace named after it.
///
/// # Errors
/// Only if the recorder fails; it writes to memory.
pub fn record(name: &str, policy: &Policy, inputs: &[TimedInput]) -> io::Result<Evidence> {
    let conversation = ConversationId::new(name);
    let header = Header::new(conversation, policy.clone(), None);
    let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts)?;
    let (mut found, mut last) = (Vec::new(), None);
    for (step, TimedInput { at, input }) in (1..).zip(inputs) {
        let from = recorder.state().control().phase();
        let events = match recorder.submit(input, &StepMetadata::at(*at))? {
            Ok(events) => events,
            // Only a path to a refusal contains one.
            Err(refusal) => {
                found.push(Highlight { step, text: format!("refused: {refusal}"), row: "" });
                last = None;
                continue;
            }
        };
        let Some(row) = transition(&events) else { continue };
        let mut notable: Vec<String> =
            events.iter().filter_map(|event| highlight_text(event, from)).collect();
        if let (Phase::MultiPassCheck, Phase::Round(_)) = (from, row.to) {
            notable.push("consensus too low, another pass follows".to_string());
        }
        let transition =
            Highlight { step, text: format!("{} → {}: {}", from, row.to, row.label), row: row.id };
        if notable.is_empty() {
            last = Some(transition);
        } else {
            found.push(Highlight { step, text: notable.join("; "), row: row.id });
            last = None;
        }
    }
    // The last step violates the claim, even if it is not notable.
    found.extend(last);
    let trace = recorder.close()?;
    let file = format!("{name}-{}.trace.ndjson", &digest(&trace)[..8]);
    Ok(Evidence { file, highlights: found, trace })
}

/// Returns the description of a notable event.
fn highlight_text(event: &Event, from: Phase) -> Option<String> {
    Some(match event {
        Event::VetoRaised { revision } => format!("Security vetoes plan r{revision}"),
        Event::ToolResult { report: Report::Argument { argument, .. }, module, .. }
            if argument.is_objection_at_least(orchestrion_kernel::Score::ZERO) =>
        {
            format!("{module} → {} {}", argument.stance, argument.confidence)
        }
        Event::ToolResult { report: Report::Identity { gcp, mongodb }, .. } if !(*gcp && *mongodb) => {
            "an identity lock does not match".to_string()
        }
        Event::ToolResult { report: Report::Exit { code, .. }, .. } if *code != 0 => {
            format!("{from}: exit code {code}")
        }
        Event::ToolResult { report: Report::Stored { held: false }, module, .. } => {
            format!("the {module} does not hold the record")
        }
        Event::CallFailed { module, failure, .. } => format!("no reply from the {module}: {failure}"),
        Event::PlanAdopted { revision, .. } if revision.number() > 1 => {
            format!("{from} adopts plan r{revision}")
        }
        Event::Decided { decision } => format!("{} at {}", decision.label, decision.score),
        Event::ExecutionReported { tasks, .. }
            if tasks.iter().any(|t| t.outcome != TaskOutcome::Succeeded) =>
        {
            "the run failed".to_string()
        }
        Event::MemoryRecorded { record }
            if record.kind == ConclusionKind::Outcome && from != Phase::Success =>
        {
            format!("stored as {}", record.kind)
        }
        Event::AuditRecorded { record } => {
            let has_effects = record.tasks.iter().any(|task| task.effect.is_some());
            let stores = record.stores.local == StoreStatus::Held && record.stores.cloud == StoreStatus::Held;
            format!(
                "audited: stores {}, effects {}",
                if stores { "both held" } else { "not both held" },
                if has_effects { "listed" } else { "not listed" }
            )
        }
        Event::Cancelled => "the user cancels the request".to_string(),
        _ => return None,
    })
}
