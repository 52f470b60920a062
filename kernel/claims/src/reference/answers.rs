//! The answer to a request, for its user and for memory (004 §1, §2; decisions 0004, 0037, 0042).

use super::items::reads;
use crate::history::{History, TaskOutput};
use alloc::format;
use alloc::vec::Vec;
use orchestrion_kernel::event::Conclusion;
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::module::{ConclusionKind, PastRequest};
use orchestrion_kernel::network::aggregation::{Aggregate, AggregateAnswer};

/// The answer of several members as a text. A number has six decimals.
pub(crate) fn aggregate_text(aggregate: &Aggregate) -> Text {
    match &aggregate.answer {
        AggregateAnswer::Text(text) => text.clone(),
        AggregateAnswer::Number(number) => {
            let millionths = number.get();
            let sign = if millionths < 0 { "-" } else { "" };
            let digits = format!("{:07}", millionths.unsigned_abs());
            let (whole, decimals) = digits.split_at(digits.len().saturating_sub(6));
            format!("{sign}{whole}.{decimals}").into()
        }
    }
}

/// The text that a concluded request gives. An outcome gives the answer of the members, then the outputs of the other tasks that are
/// done, of those that a reader in the scope of the request can read; a text without content is left out. Without any, and for
/// another conclusion, the text is the conclusion.
pub(crate) fn answer(past: &History, conclusion: Conclusion) -> Text {
    let is_part = |output: &TaskOutput| {
        past.workflow.aggregate.is_none()
            || !past.tasks_planned.iter().any(|planned| planned.is_member && planned.task == output.task)
    };
    let outputs = past.outputs.iter().filter(|output| reads(&past.scope, &output.scope) && is_part(output));
    let texts = past.workflow.aggregate.iter().chain(outputs.map(|output| &output.text));
    let texts: Vec<&str> = texts.map(Text::as_str).filter(|text| !text.is_empty()).collect();
    match conclusion.kind {
        ConclusionKind::Outcome if !texts.is_empty() => texts.join("\n").into(),
        ConclusionKind::Outcome
        | ConclusionKind::Blocked
        | ConclusionKind::RolledBack
        | ConclusionKind::Aborted => concluding_text(conclusion),
    }
}

/// A conclusion as a text.
pub(crate) fn concluding_text(Conclusion { kind, cause }: Conclusion) -> Text {
    format!("{kind}: {cause}").into()
}

/// Of past requests with one trace id the first.
pub(crate) fn first_of_each(traces: &[PastRequest]) -> impl Iterator<Item = &PastRequest> {
    traces.iter().enumerate().filter_map(|(at, past)| {
        let is_repeated = traces.iter().take(at).any(|earlier| earlier.trace == past.trace);
        (!is_repeated).then_some(past)
    })
}
