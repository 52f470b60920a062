//! Expectations of one request.

use super::{listed, unmet};
use crate::expect::{ContextExpectFile, DecisionName, RequestExpectFile};
use crate::policy_file::NamedEnum;
use orchestrion_kernel::control::table::TransitionId;
use orchestrion_kernel::event::{Conclusion, DecisionLabel};
use orchestrion_kernel::module::{Failure, Module};
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::{CallId, Event, RequestId};
use orchestrion_trace::{ConversationFold, Reader, TraceError, transition};
use orchestrion_yaml::{LabeledError, Spanned};
use std::collections::BTreeMap;
use std::io::BufRead;

/// The characters of a text that a message contains.
const EXCERPT_CHARS: usize = 60;

/// The context of a call during a run.
#[derive(Clone, Debug)]
pub(crate) struct ObservedContext {
    pub(crate) request: RequestId,
    pub(crate) module: Module,
    pub(crate) text: String,
}

/// What a request gave.
pub(super) struct ObservedRequest {
    id: RequestId,
    conclusion: Option<Conclusion>,
    label: Option<DecisionLabel>,
    passes: u32,
    /// The transitions in the order in which they are first taken.
    rows: Vec<TransitionId>,
    /// The calls that are made, or may be.
    calls: BTreeMap<CallId, Module>,
}

/// Reads what each request of a run gave, in order.
pub(super) fn observe<R: BufRead>(reader: Reader<R>) -> Result<Vec<ObservedRequest>, TraceError> {
    let mut fold = ConversationFold::new(reader.header().conversation.clone());
    let mut requests: Vec<ObservedRequest> = Vec::new();
    for step in reader {
        let step = step?;
        fold.apply(step.n, &step.events);
        for event in &step.events {
            if let Event::UserMsg { request, .. } = event {
                requests.push(ObservedRequest::new(*request));
            }
            if let Some(request) = requests.last_mut() {
                request.apply(event);
            }
        }
        if let Some(request) = requests.last_mut() {
            request.passes = fold.facts().map_or(0, |facts| facts.passes);
            if let Some(row) = transition(&step.events).map(TransitionId::from_transition)
                && !request.rows.contains(&row)
            {
                request.rows.push(row);
            }
        }
    }
    Ok(requests)
}

impl ObservedRequest {
    fn new(id: RequestId) -> Self {
        let (rows, calls) = (Vec::new(), BTreeMap::new());
        Self { id, conclusion: None, label: None, passes: 0, rows, calls }
    }

    fn apply(&mut self, event: &Event) {
        if let Event::Concluded { conclusion } = event {
            self.conclusion = Some(*conclusion);
        }
        if let Event::Decided { decision } = event {
            self.label = Some(decision.label);
        }
        match event {
            Event::ToolCall { call, operation } => {
                self.calls.insert(*call, operation.module());
            }
            // The call is not made.
            Event::OverBudget { call, .. }
            | Event::Network(NetworkEvent::NoCandidates { call, .. })
            | Event::CallFailed { call, failure: Failure::Forbidden, .. } => {
                self.calls.remove(call);
            }
            _ => {}
        }
    }
}

/// Checks that a context is expected of a module that receives contexts, and that something is expected of it.
pub(super) fn validate_context(expect: &Spanned<ContextExpectFile>) -> Result<(), LabeledError> {
    let ContextExpectFile { module, contains, lacks } = &expect.value;
    let (message, help) = if !module.0.takes_context() {
        let with: Vec<&str> =
            Module::ALL.iter().filter(|module| module.takes_context()).map(|module| module.name()).collect();
        (
            format!(
                "module {}: expected a module that receives a context, found one without",
                module.0.name()
            ),
            format!("write one of {}", with.join(", ")),
        )
    } else if contains.is_none() && lacks.is_none() {
        (
            "context: expected `contains` or `lacks`, found neither".to_owned(),
            "add a text that the context contains, or one that it lacks".to_owned(),
        )
    } else {
        return Ok(());
    };
    Err(LabeledError::new(message, help).with_label(expect.span(), "this context"))
}

/// Returns an error for each expectation that a request does not meet.
pub(super) fn judge_request(
    expect: &RequestExpectFile,
    observed: &ObservedRequest,
    contexts: &[ObservedContext],
) -> Vec<LabeledError> {
    let RequestExpectFile { outcome, decision, label, passes, taken, not_taken, calls, contexts: expected } =
        expect;
    let mut errors = Vec::new();
    if let Some(outcome) = outcome
        && observed.conclusion.map(|conclusion| conclusion.kind) != Some(outcome.value.0)
    {
        let found = observed.conclusion.map_or_else(
            || "no conclusion".to_owned(),
            |Conclusion { kind, cause }| format!("{} ({cause})", kind.name()),
        );
        errors.push(unmet("outcome", outcome.value.0.name(), &found, outcome.span()));
    }
    if let Some(decision) = decision {
        let found = observed.label.map(DecisionName::from);
        if found != Some(decision.value.0) {
            let found = found.map_or("no decision", NamedEnum::name);
            errors.push(unmet("decision", decision.value.0.name(), found, decision.span()));
        }
    }
    if let Some(label) = label
        && observed.label != Some(label.value.0)
    {
        let found = observed.label.map_or("no decision", NamedEnum::name);
        errors.push(unmet("label", label.value.0.name(), found, label.span()));
    }
    if let Some(passes) = passes
        && observed.passes != passes.value
    {
        errors.push(unmet("passes", &passes.value.to_string(), &observed.passes.to_string(), passes.span()));
    }
    for (list, is_expected) in [(taken, true), (not_taken, false)] {
        for row in list {
            if observed.rows.contains(&row.value.0) != is_expected {
                let all = listed(observed.rows.iter().map(ToString::to_string));
                let (expected, found) = if is_expected {
                    ("taken", format!("not taken; the request takes {all}"))
                } else {
                    ("not taken", "taken".to_owned())
                };
                errors.push(unmet(&format!("transition {}", row.value.0), expected, &found, row.span()));
            }
        }
    }
    for (module, number) in &calls.0 {
        let found = observed.calls.values().filter(|called| **called == module.0).count() as u64;
        if found != u64::from(number.value) {
            let subject = format!("calls of {}", module.0.name());
            errors.push(unmet(&subject, &number.value.to_string(), &found.to_string(), number.span()));
        }
    }
    for context in &expected.0 {
        errors.extend(judge_context(context, observed.id, contexts));
    }
    errors
}

fn judge_context(
    expect: &Spanned<ContextExpectFile>,
    request: RequestId,
    contexts: &[ObservedContext],
) -> Vec<LabeledError> {
    let ContextExpectFile { module, contains, lacks } = &expect.value;
    let own: Vec<&str> = contexts
        .iter()
        .filter(|context| context.request == request && context.module == module.0)
        .map(|context| context.text.as_str())
        .collect();
    let with = |part: &str| own.iter().filter(|text| text.contains(part)).count();
    let subject = format!("contexts of {}", module.0.name());
    let mut errors = Vec::new();
    if let Some(part) = contains.as_ref().map(orchestrion_yaml::StrictText::as_str)
        && with(part) == 0
    {
        let found = format!("none of {} with it", own.len());
        errors.push(unmet(&subject, &format!("one that contains {}", excerpt(part)), &found, expect.span()));
    }
    if let Some(part) = lacks.as_ref().map(orchestrion_yaml::StrictText::as_str)
        && with(part) > 0
    {
        let found = format!("{} of {} with it", with(part), own.len());
        errors.push(unmet(&subject, &format!("none that contains {}", excerpt(part)), &found, expect.span()));
    }
    errors
}

/// Returns the start of a text in quotes.
fn excerpt(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(EXCERPT_CHARS).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    format!("\"{}{more}\"", start.escape_debug())
}
