//! Scripted modules: the replies of a scenario, call by call.
//!
//! A script never guesses an argument and never repeats an exhausted list: either would conceal that a run differs from the
//! author's expectation.

mod key;
mod random;
mod reply_list;
mod scene;
mod scripted_reply;
mod simulated_memory;

pub use key::default_report;
pub(crate) use key::{ScriptKey, default_reply};
pub(crate) use reply_list::{Case, Cases, ReplyList, ReplySelection, ScriptedEntry, WeightedChoices};
pub use scene::CallScene;
pub use scripted_reply::{DelayedReply, ScriptedReply};
pub(crate) use simulated_memory::SimulatedMemory;

use crate::expect::ScriptForm;
use crate::names::Seed;
use miette::{Diagnostic, SourceSpan};
use orchestrion_kernel::event::MemoryRecord;
use orchestrion_kernel::module::{Argument, Report, Role, Stance};
use orchestrion_kernel::policy::AdditionalDebater;
use orchestrion_kernel::{Score, Text, UserId};
use orchestrion_runtime::{Call, CallPayload};
use orchestrion_yaml::{LabeledError, ReadError, Source};
use random::RandomStreams;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// A call for which the script has no reply, with the place in the scenario file.
#[derive(Debug, Error, Diagnostic)]
#[error(transparent)]
#[diagnostic(transparent)]
pub struct ScriptError(ReadError);

/// The replies of all scripted modules, with the number of calls so far.
#[derive(Clone, Debug)]
pub struct Script {
    source: Source,
    /// The place of `modules`, or of `requests` in a scenario without modules.
    modules: Option<SourceSpan>,
    cases: BTreeMap<ScriptKey, Cases>,
    streams: RandomStreams,
    memory: SimulatedMemory,
    /// The additional debaters of the policy.
    debaters: Vec<AdditionalDebater>,
    form: ScriptForm,
}

impl Script {
    pub(crate) fn new(
        source: Source,
        modules: Option<SourceSpan>,
        cases: BTreeMap<ScriptKey, Cases>,
        seed: &Seed,
        debaters: Vec<AdditionalDebater>,
    ) -> Self {
        let streams = RandomStreams::new(seed.as_str());
        let memory = SimulatedMemory::default();
        Self { source, modules, cases, streams, memory, debaters, form: ScriptForm::Exact }
    }

    /// Starts every random stream anew, with this seed.
    pub(crate) fn with_seed(self, seed: &str) -> Self {
        Self { streams: RandomStreams::new(seed), ..self }
    }

    /// Whether a reply or a delay is random.
    pub(crate) fn has_random_choice(&self) -> bool {
        let cases = self.cases.values().flat_map(|cases| &cases.cases);
        cases.into_iter().any(|case| case.replies.is_random())
    }

    /// Sets how far the script determines the replies.
    pub(crate) fn with_form(self, form: ScriptForm) -> Self {
        Self { form, ..self }
    }

    /// How far the script determines the replies.
    pub(crate) const fn form(&self) -> ScriptForm {
        self.form
    }

    /// Keeps the record of a store call in the simulated memory if the reply says that the store holds it.
    pub(crate) fn store(&mut self, call: &Call, reply: &ScriptedReply) {
        if let Some(CallPayload::Record(record)) = &call.payload {
            self.memory.store(reply, &call.user, &call.request, record);
        }
    }

    /// Keeps the record of a recorded store call in the simulated memory if the report says that the store holds it.
    pub(crate) fn store_record(
        &mut self,
        report: &Report,
        user: &UserId,
        text: &Text,
        record: &MemoryRecord,
    ) {
        self.memory.store(&ScriptedReply::Reply(report.clone().into()), user, text, record);
    }

    /// Returns the reply to a call.
    ///
    /// # Errors
    /// [`ScriptError`] if a list is exhausted, no case matches, or a debate role has no replies.
    pub fn reply(&mut self, scene: &CallScene<'_>) -> Result<DelayedReply, ScriptError> {
        let key = match ScriptKey::from_operation(scene.operation, &self.debaters) {
            ScriptKey::Review if !self.cases.contains_key(&ScriptKey::Review) => {
                ScriptKey::Debater(Role::Security)
            }
            key => key,
        };
        let error = match self.cases.get_mut(&key) {
            Some(Cases { cases, place, is_explicit }) => {
                match cases.iter_mut().find(|case| case.when.matches(scene)) {
                    Some(Case { replies, .. }) => match replies.next(&mut self.streams) {
                        Some(reply) => return Ok(reply),
                        None => exhausted_error(&key, replies, *is_explicit),
                    },
                    None => no_matching_case_error(&key, scene, *place),
                }
            }
            None => match default_reply(&self.memory, scene.operation, scene.user, scene.text) {
                Some(reply) => return Ok(DelayedReply { reply, after: Duration::ZERO }),
                None => self.missing_script_error(&key),
            },
        };
        match self.form {
            ScriptForm::Exact => Err(ScriptError(ReadError::in_source(&self.source, error))),
            ScriptForm::Partial => Ok(DelayedReply { reply: self.success(scene), after: Duration::ZERO }),
        }
    }

    /// Returns the reply of a module that succeeds; debaters and reviews agree.
    fn success(&self, scene: &CallScene<'_>) -> ScriptedReply {
        let default = default_reply(&self.memory, scene.operation, scene.user, scene.text);
        default.unwrap_or_else(|| {
            let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
            ScriptedReply::Reply(Report::Argument { argument, text: "".into(), plan: None }.into())
        })
    }

    /// Returns a sentence for each case and list with unused replies, except a last case that matches every call.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (key, Cases { cases, is_explicit, .. }) in &self.cases {
            for (number, Case { when, replies, place }) in (1..).zip(cases) {
                let name = match is_explicit {
                    true => format!("case {number} of `{}`", key.name()),
                    false => format!("`{}`", key.name()),
                };
                let line = place.or(replies.spans.0).map_or(0, |place| self.source.line(place.offset()));
                let (len, calls) = (replies.replies().len(), replies.calls);
                if calls == 0 && !when.is_always() {
                    sentences.push(format!("unused replies on line {line}: {name} matched no call"));
                } else if matches!(replies.selection, ReplySelection::InOrder(_)) && calls < len {
                    let unused = format!("unused replies on line {line}: {name} used {calls} of {len}");
                    sentences.push(unused);
                }
            }
        }
        sentences
    }

    fn missing_script_error(&self, key: &ScriptKey) -> LabeledError {
        let name = key.name();
        LabeledError::new(
            format!("{key}: expected a scripted reply, found none"),
            format!("add it under `modules`, as in `{name}: {{pro: {{confidence: 0.9}}}}`"),
        )
        .with_label(self.modules, format!("no `{name}` under `modules`"))
    }
}

fn exhausted_error(key: &ScriptKey, list: &ReplyList, in_case: bool) -> LabeledError {
    let (ordinal, len) = (ordinal(list.calls), list.replies().len());
    let plural = if len == 1 { "reply" } else { "replies" };
    let name = key.name();
    let (owner, path) = match in_case {
        false => (format!("`{name}`"), format!("`modules.{name}`")),
        true => ("this case".to_owned(), "this case".to_owned()),
    };
    let (start, last) = list.spans;
    LabeledError::new(
        format!("{ordinal} {key}: expected a scripted reply, found only {len} {plural}"),
        format!("add a {ordinal} reply to {path}, or write one reply without a list, which repeats"),
    )
    .with_label(start, format!("{owner} has {len} {plural}"))
    .with_label(last.filter(|_| last != start), "last reply")
}

fn no_matching_case_error(key: &ScriptKey, scene: &CallScene<'_>, place: Option<SourceSpan>) -> LabeledError {
    let CallScene { request, pass, user, .. } = scene;
    LabeledError::new(
        format!("{key} in request {request} of {user}, pass {pass}: no case matches"),
        "add a case for this call, or a last case without `when`, which matches every call",
    )
    .with_label(place, "no match")
}

/// Formats an ordinal number: 1st, 2nd, 3rd, 4th, 11th.
fn ordinal(number: usize) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}
