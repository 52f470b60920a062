//! Evidence: counterexamples as traces, so that they can be shown, replayed and kept.

use orchestrion_kernel::event::{Event, StoreStatus, TaskOutcome};
use orchestrion_kernel::module::{ConclusionKind, Report};
use orchestrion_kernel::{ConversationId, Input, Phase, Policy, State, decide};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, StepMetadata, digest};
use std::io;

/// A counterexample, ready to be written.
#[derive(Debug)]
pub struct Evidence {
    /// The name of its file: what it is evidence of, and a digest of the trace.
    pub file: String,
    /// The trace.
    pub trace: Vec<u8>,
    /// The steps that a reader should look at, with what happens there.
    pub highlights: Vec<Highlight>,
}

impl Evidence {
    /// The last few steps to look at, up to a step.
    #[must_use]
    pub fn last_highlights(&self, until: u64) -> &[Highlight] {
        let end = self.highlights.partition_point(|highlight| highlight.step <= until);
        &self.highlights[end.saturating_sub(HIGHLIGHTS_MAX)..end]
    }
}

/// One step of a counterexample that matters.
#[derive(Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The step, from 1.
    pub step: u64,
    /// What happens.
    pub what: String,
    /// The row that control took; empty where the input was refused.
    pub row: &'static str,
}

/// At most so many steps are pointed out at once.
const HIGHLIGHTS_MAX: usize = 4;

/// Records a counterexample, or a way to something, under a name.
///
/// # Errors
/// Never, as long as memory lasts: it is written to memory.
pub fn record(name: &str, policy: &Policy, inputs: &[Input]) -> io::Result<Evidence> {
    let conversation = ConversationId::new(name);
    let header = Header::new(conversation, policy.clone(), None);
    let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts)?;
    for input in inputs {
        // A refusal is recorded as one; only a way to a refusal ends with one.
        let _refusal = recorder.submit(input, &StepMetadata::default())?;
    }
    let trace = recorder.close()?;
    let file = format!("{name}-{}.trace.ndjson", &digest(&trace)[..8]);
    Ok(Evidence { file, highlights: highlights(&header, inputs), trace })
}

fn highlights(header: &Header, inputs: &[Input]) -> Vec<Highlight> {
    let mut state = State::new(header.conversation.clone());
    let mut found = Vec::new();
    let mut last = None;
    for (step, input) in (1..).zip(inputs) {
        let events = match decide(&header.policy, &state, input) {
            Ok(events) => events,
            Err(refusal) => {
                found.push(Highlight { step, what: format!("refused: {refusal}"), row: "" });
                last = None;
                continue;
            }
        };
        let from = state.control.phase();
        events.iter().for_each(|event| state.apply(event));
        let row = events.iter().find_map(|event| match event {
            Event::Transitioned { row } => Some(row.transition()),
            _ => None,
        });
        let Some(row) = row else { continue };
        let mut notable: Vec<String> =
            events.iter().filter_map(|event| highlight_text(event, from)).collect();
        if let (Phase::MultiPassCheck, Phase::Round(_)) = (from, row.to) {
            notable.push("the consensus is too low, debate again".to_string());
        }
        let all = Highlight { step, what: format!("{} → {}: {}", from, row.to, row.label), row: row.id };
        if notable.is_empty() {
            last = Some(all);
        } else {
            found.push(Highlight { step, what: notable.join("; "), row: row.id });
            last = None;
        }
    }
    // The last step is the one that breaks the claim, notable or not.
    found.extend(last);
    found
}

/// What makes an event worth pointing out, if anything does.
fn highlight_text(event: &Event, from: Phase) -> Option<String> {
    Some(match event {
        Event::VetoRaised { revision } => format!("Security vetoes revision {revision}"),
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
            format!("the {module} does not keep the record")
        }
        Event::CallFailed { module, failure, .. } => format!("no answer from the {module}: {failure}"),
        Event::PlanAdopted { revision, .. } if revision.number() > 1 => {
            format!("{from} brings revision {revision} of the plan")
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
            format!("stored as an {}", record.kind)
        }
        Event::AuditRecorded { record } => {
            let told = record.tasks.iter().any(|task| task.effect.is_some());
            let stores = record.stores.local == StoreStatus::Held && record.stores.cloud == StoreStatus::Held;
            format!(
                "audited: stores {}, effects {}",
                if stores { "both held" } else { "not both held" },
                if told { "listed" } else { "not listed" }
            )
        }
        Event::Cancelled => "the user cancels".to_string(),
        _ => return None,
    })
}
