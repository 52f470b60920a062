//! The projection of a log to 000's base alphabet Σ_B (000 §3), with the text of every event.
//!
//! [`Event::base`] names the base events. This module adds their texts. The log has no text for a call, because the state
//! determines it: [`BaseProjection`] folds the state and builds the context of each call after its batch, as the
//! recorder does. It compares the digest of the text with the digest in the trace.
//!
//! # Encoding
//!
//! A [`StepBaseEvent`] is one JSON object, and a projection is one object per line, in the order of the log:
//!
//! ```json
//! {"step":2,"user_msg":{"user":"ada","text":"…"}}
//! {"step":2,"tool_call":{"module":"planner","call":4,"text":"…"}}
//! {"step":3,"tool_result":{"module":"planner","call":4,"text":"{\"plan\":…}"}}
//! {"step":3,"add_item":{"item":{"id":1,…},"deps":[]}}
//! {"step":9,"update_item":{"item":{"id":1,…},"deps":[]}}
//! {"step":9,"forget_items":{"ids":[1,2]}}
//! {"step":9,"final_answer":{"text":"…"}}
//! ```
//!
//! Modules, calls and items are encoded as in the trace. Every text is a string, so that the line belongs to Σ_B. The text of
//! a tool result is the JSON of its report, because the boundary keeps no other text. Three optional keys explain a text:
//!
//! - `failure` in `tool_result`: the call failed; the text is empty.
//! - `not_made` in `tool_call`: no context fits the budget, so the call was not made; the text is empty, and the value is the
//!   reason as a sentence.
//! - `unconfirmed` in `tool_call`: the trace does not confirm the text. `digest_differs`: it records another
//!   digest, as a trace of another version can. `not_recorded`: it records none.

use crate::context_record::ContextRecord;
use crate::digest::digest;
use crate::error::{TraceError, TraceErrorKind};
use crate::format::Step;
use crate::read::Reader;
use orchestrion_kernel::context::{BudgetError, ContextBuilder, ContextError};
use orchestrion_kernel::event::BaseEvent;
use orchestrion_kernel::item::Item;
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::{CallId, Event, ItemId, ModuleContext, Policy, State, Text, UserId};
use serde::{Serialize, Serializer};
use std::io::BufRead;

/// The first bytes of the encoding of a base event.
pub const PROJECTION_PREFIX: &str = "{\"step\":";

/// A base event with its texts and its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepBaseEvent<'a> {
    /// The step whose batch contains the event.
    pub step: u64,
    /// The event.
    #[serde(flatten)]
    pub event: TextBaseEvent<'a>,
}

/// A base event with its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextBaseEvent<'a> {
    /// `UserMsg := U × Text`
    UserMsg {
        /// The user.
        user: &'a UserId,
        /// The message.
        text: &'a Text,
    },
    /// `ToolCall := Mod × CallId × Text`
    ToolCall {
        /// The module.
        module: Module,
        /// The call.
        call: CallId,
        /// The text of the context; empty if the call was not made.
        text: String,
        /// Why the call was not made.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "sentence")]
        not_made: Option<ContextError>,
        /// Why the trace does not confirm the text.
        #[serde(skip_serializing_if = "Option::is_none")]
        unconfirmed: Option<Unconfirmed>,
    },
    /// `ToolResult := Mod × CallId × Text`
    ToolResult {
        /// The module.
        module: Module,
        /// The call.
        call: CallId,
        /// The report as JSON; empty if the call failed.
        text: String,
        /// The failure of the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
    /// `AddItem := Item`
    AddItem {
        /// The item.
        item: &'a Item,
        /// Its dependencies.
        deps: &'a [ItemId],
    },
    /// `UpdateItem := Item`
    UpdateItem {
        /// The item.
        item: &'a Item,
        /// Its dependencies.
        deps: &'a [ItemId],
    },
    /// `ForgetItems := P(ItemId)`
    ForgetItems {
        /// The items.
        ids: &'a [ItemId],
    },
    /// `FinalAnswer := Text`
    FinalAnswer {
        /// The final answer.
        text: &'a Text,
    },
}

/// Why the trace does not confirm the text of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unconfirmed {
    /// The trace records the digest of another text.
    DigestDiffers,
    /// The trace records no digest.
    NotRecorded,
}

/// The kind of a base event: the tag of Σ_B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BaseEventKind {
    /// `UserMsg`
    UserMsg,
    /// `ToolCall`
    ToolCall,
    /// `ToolResult`
    ToolResult,
    /// `AddItem`
    AddItem,
    /// `UpdateItem`
    UpdateItem,
    /// `ForgetItems`
    ForgetItems,
    /// `FinalAnswer`
    FinalAnswer,
}

impl BaseEventKind {
    /// Every kind, in the order of 000.
    pub const ALL: [Self; 7] = [
        Self::UserMsg,
        Self::ToolCall,
        Self::ToolResult,
        Self::AddItem,
        Self::UpdateItem,
        Self::ForgetItems,
        Self::FinalAnswer,
    ];

    /// The name in 000.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserMsg => "UserMsg",
            Self::ToolCall => "ToolCall",
            Self::ToolResult => "ToolResult",
            Self::AddItem => "AddItem",
            Self::UpdateItem => "UpdateItem",
            Self::ForgetItems => "ForgetItems",
            Self::FinalAnswer => "FinalAnswer",
        }
    }
}

impl TextBaseEvent<'_> {
    /// The kind of the event.
    #[must_use]
    pub const fn kind(&self) -> BaseEventKind {
        match self {
            Self::UserMsg { .. } => BaseEventKind::UserMsg,
            Self::ToolCall { .. } => BaseEventKind::ToolCall,
            Self::ToolResult { .. } => BaseEventKind::ToolResult,
            Self::AddItem { .. } => BaseEventKind::AddItem,
            Self::UpdateItem { .. } => BaseEventKind::UpdateItem,
            Self::ForgetItems { .. } => BaseEventKind::ForgetItems,
            Self::FinalAnswer { .. } => BaseEventKind::FinalAnswer,
        }
    }
}

/// Projects the steps of one trace, in their order.
#[derive(Debug)]
pub struct BaseProjection {
    policy: Policy,
    state: State,
    contexts: &'static dyn ContextBuilder,
}

impl BaseProjection {
    /// Starts before the first step of a trace.
    ///
    /// # Errors
    /// [`TraceErrorKind::Tokenizer`] if the tokenizer of the policy is not available.
    pub fn new<R: BufRead>(
        reader: &Reader<R>,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, TraceError> {
        let header = reader.header();
        contexts
            .check_policy(&header.policy)
            .map_err(|error| reader.error(TraceErrorKind::Tokenizer(error)))?;
        Ok(Self { policy: header.policy.clone(), state: State::new(header.conversation.clone()), contexts })
    }

    /// Applies the next step without projecting it.
    pub fn skip(&mut self, step: &Step) {
        step.events.iter().for_each(|event| self.state.apply(event));
    }

    /// Applies the next step and returns its base events.
    pub fn project<'a>(&mut self, step: &'a Step) -> Vec<StepBaseEvent<'a>> {
        self.skip(step);
        let events = step.events.iter().filter_map(|event| self.project_event(step, event));
        events.map(|event| StepBaseEvent { step: step.n, event }).collect()
    }

    fn project_event<'a>(&self, step: &Step, event: &'a Event) -> Option<TextBaseEvent<'a>> {
        Some(match event.base()? {
            BaseEvent::UserMsg(user, text) => TextBaseEvent::UserMsg { user, text },
            BaseEvent::ToolCall(call, operation) => self.tool_call(step, call, operation),
            BaseEvent::ToolResult(module, call, result) => {
                let (text, failure) = match result {
                    Ok(report) => (report_text(report), None),
                    Err(failure) => (String::new(), Some(failure)),
                };
                TextBaseEvent::ToolResult { module, call, text, failure }
            }
            BaseEvent::AddItem(item, deps) => TextBaseEvent::AddItem { item, deps },
            BaseEvent::UpdateItem(item, deps) => TextBaseEvent::UpdateItem { item, deps },
            BaseEvent::ForgetItems(ids) => TextBaseEvent::ForgetItems { ids },
            BaseEvent::FinalAnswer(text) => TextBaseEvent::FinalAnswer { text },
        })
    }

    fn tool_call(&self, step: &Step, call: CallId, operation: Operation) -> TextBaseEvent<'static> {
        let built = match over_budget(&step.events, call) {
            Some(error) => Err(error.into()),
            None if !operation.takes_context() => Ok(None),
            None => self.contexts.build(&self.policy, &self.state, operation).map(Some),
        };
        let (context, not_made) = match built {
            Ok(context) => (context, None),
            // The runtime fails a call for any of these errors, and does not send it.
            Err(error) => (None, Some(error)),
        };
        let unconfirmed = check(step, call, context.as_ref());
        let text = context.map(|context| context.text).unwrap_or_default();
        TextBaseEvent::ToolCall { module: operation.module(), call, text, not_made, unconfirmed }
    }
}

/// Returns why the trace does not confirm the context of a call, if so.
fn check(step: &Step, call: CallId, context: Option<&ModuleContext>) -> Option<Unconfirmed> {
    let record = |context: &ModuleContext| ContextRecord::new(call, context, digest(context.text.as_bytes()));
    let is_same = match (&step.context, &step.context_digest, context) {
        (Some(recorded), _, Some(context)) if recorded.call == call => {
            recorded.digest == digest(context.text.as_bytes())
        }
        (Some(recorded), _, None) if recorded.call == call => false,
        (None, Some(recorded), Some(context)) => *recorded == record(context).record_digest(),
        (None, Some(_), None) => false,
        (Some(_) | None, _, context) => return context.map(|_| Unconfirmed::NotRecorded),
    };
    (!is_same).then_some(Unconfirmed::DigestDiffers)
}

/// Returns the budget that a call exceeds, if the batch records it.
fn over_budget(events: &[Event], found: CallId) -> Option<BudgetError> {
    events.iter().find_map(|event| {
        let Event::OverBudget { call, required_tokens, budget_tokens } = event else { return None };
        let error = BudgetError { required_tokens: *required_tokens, budget_tokens: *budget_tokens };
        (*call == found).then_some(error)
    })
}

/// Returns a report as the JSON of the trace.
fn report_text(report: &Report) -> String {
    serde_json::to_string(report).expect("a report contains only strings, numbers and lists")
}

fn sentence<S: Serializer>(error: &Option<ContextError>, serializer: S) -> Result<S::Ok, S::Error> {
    match error {
        Some(error) => serializer.collect_str(error),
        None => serializer.serialize_none(),
    }
}
