//! The situation summary and its text in a context (002; decisions 0020, 0024).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::SituationPolicy;
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryField, ToolCall};

/// The texts of the summary by field: the latest item of each.
pub(crate) fn situation(known: &SemanticState) -> BTreeMap<SummaryField, Text> {
    let texts = known.entries().filter_map(|entry| match entry.item.key {
        ItemKey::Situation(field) => Some((field, entry.item.text.clone())),
        _ => None,
    });
    texts.collect()
}

/// The mode in which the module of an operation reasons; none if it does not.
pub(crate) const fn reasoning_mode(policy: &SituationPolicy, operation: Operation) -> Option<Mode> {
    match operation {
        Operation::Classify => policy.classify_mode,
        Operation::DraftPlan => policy.draft_plan_mode,
        Operation::Argue(_) | Operation::ArgueAdditional { .. } => policy.argue_mode,
        Operation::ReviewRevision => policy.review_revision_mode,
        Operation::Approve => policy.approve_mode,
        Operation::RunTask { .. } => policy.run_task_mode,
        Operation::UndoTask { .. } => policy.undo_task_mode,
        Operation::Diagnose => policy.diagnose_mode,
        Operation::VerifyIdentity
        | Operation::LoadContext
        | Operation::Summarize
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => None,
    }
}

/// The situation as a text; none without a summary and without an action.
pub(crate) fn situation_text(
    policy: &SituationPolicy,
    mode: Mode,
    summary: &BTreeMap<SummaryField, Text>,
    actions: &[ActionRecord],
) -> Option<String> {
    if summary.is_empty() && actions.is_empty() {
        return None;
    }
    let attempts = attempts(policy, summary, actions);
    let latest = match actions.last().map(|action| action.tool_calls.as_slice()) {
        None | Some([]) => None,
        Some(calls) => Some(calls.iter().map(|call| format_call(call, None)).collect::<Vec<_>>().join("\n")),
    };
    Some(match (mode, attempts.is_empty(), latest) {
        (Mode::Fast, false, _) | (Mode::Deep, false, None) => attempts,
        (Mode::Fast, true, _) => String::from("No previous attempts"),
        (Mode::Deep, true, Some(latest)) => latest,
        (Mode::Deep, true, None) if actions.is_empty() => String::from("No context available"),
        (Mode::Deep, true, None) => String::from("No tool results from current iteration"),
        (Mode::Deep, false, Some(latest)) => format!("{attempts}\n\nLATEST DETAILS:\n{latest}"),
    })
}

/// The summary, else the calls of the latest actions but the last, in compressed form.
fn attempts(
    policy: &SituationPolicy,
    summary: &BTreeMap<SummaryField, Text>,
    actions: &[ActionRecord],
) -> String {
    let fields: Vec<String> = summary.iter().map(|(field, text)| format!("{field}: {text}")).collect();
    if !fields.is_empty() {
        return fields.join("; ");
    }
    let history = usize::try_from(policy.max_history).unwrap_or(usize::MAX);
    let earlier = actions.len().saturating_sub(1);
    let shown = actions.iter().take(earlier).skip(earlier.saturating_sub(history));
    let calls = shown.flat_map(|action| action.tool_calls.iter());
    calls.map(|call| format_call(call, Some(policy))).collect::<Vec<_>>().join("; ")
}

/// A call as a line, with shortened arguments and result under a policy.
fn format_call(call: &ToolCall, shorten: Option<&SituationPolicy>) -> String {
    let args: Vec<String> = call.args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let args = limited(&args.join(", "), shorten.map(|policy| policy.compressed_args_chars_max));
    let result = limited(call.result.as_str(), shorten.map(|policy| policy.compressed_result_chars_max));
    format!("{}({args}) → {}: {result}", call.name, call.outcome)
}

fn limited(text: &str, chars_max: Option<u32>) -> String {
    let max = chars_max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
