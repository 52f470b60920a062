//! The inputs of the adversary about the situation of a request (002): action records and summary updates beside replies.

use super::knowledge::{first_passage_of_time, summary_update};
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::knowledge::{Reference, Write};
use orchestrion_kernel::module::{Module, Operation, Report, Role, Store};
use orchestrion_kernel::policy::ModuleContextPolicy;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryField, SummaryUpdate, ToolCall, ToolOutcome};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{Input, Phase, Policy, State, Text, UserId};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The characters of an argument that alone exceeds the budget of the Analyst.
const LONG_ARGUMENT: usize = 3_000;

/// The iteration before the Analyst is called.
const LONG_ITERATION: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// Sets limits that few texts reach, each limit a number of its own. All items fit the budget of the Analyst, but not a long argument.
pub(crate) fn limit(policy: &mut Policy) {
    let situation = &mut policy.situation;
    situation.max_history = 2;
    situation.result_chars_max = 12;
    situation.summary_chars_max = 7;
    situation.compressed_args_chars_max = 6;
    situation.compressed_result_chars_max = 3;
    policy.contexts.reserved_tokens = 0;
    policy.contexts.module_overrides = vec![ModuleContextPolicy {
        module: Module::Debater(Role::Analyst),
        budget_tokens: Some(700),
        weights: BTreeMap::new(),
    }];
}

/// A reply alone, with an action, with an update of the summary, and with both. In a later pass replies are plain: then nothing but
/// the pass changes what the request keeps.
pub(super) fn replies(state: &State, call: Call, reply: Input) -> Vec<Input> {
    if let Some(other) = update_outside_iterations(state, call, &reply) {
        return vec![reply, other];
    }
    let is_later = state.control().request().is_some_and(|request| request.debate.pass > 1);
    let Some(iteration) = iteration(call.operation).filter(|_| !is_later) else { return vec![reply] };
    let Input::Reply { call, report, .. } = &reply else { return vec![reply] };
    let with = |update: Option<SummaryUpdate>, action: Option<ActionRecord>| Input::Reply {
        call: *call,
        report: report.clone(),
        summary_update: update,
        action: action.map(Box::new),
        interaction: None,
    };
    let update = || Some(next_update(state));
    let is_long = iteration == LONG_ITERATION;
    let long = is_long.then(|| with(None, Some(with_long_argument(action(iteration, true)))));
    let mut replies = vec![with(None, Some(action(iteration, true))), with(update(), None)];
    if [2, 3].contains(&iteration.get()) {
        replies.push(with(None, Some(action(iteration, false))));
        replies.push(with(update(), Some(action(iteration, true))));
    }
    replies.extend(long);
    replies.push(reply);
    replies
}

/// A reply that updates the summary where no action is recorded: one that refuses the identity, and, if no earlier one did, those of
/// the local store and of the audit sink.
fn update_outside_iterations(state: &State, call: Call, reply: &Input) -> Option<Input> {
    let Input::Reply { report, .. } = reply else { return None };
    let report = match call.operation {
        Operation::VerifyIdentity => Report::Identity { gcp: false, mongodb: true },
        Operation::StoreMemory { store: Store::Local, .. } | Operation::DeliverAudit
            if state.semantic().situation().fields().next().is_none() =>
        {
            report.clone()
        }
        _ => return None,
    };
    Some(Input::Reply {
        call: call.id,
        report,
        summary_update: Some(next_update(state)),
        action: None,
        interaction: None,
    })
}

/// The same action with an argument that the record keeps whole.
fn with_long_argument(mut action: ActionRecord) -> ActionRecord {
    for call in &mut action.tool_calls {
        call.args.insert("c".to_owned(), Text::from("x".repeat(LONG_ARGUMENT)));
    }
    action
}

/// The message of a request, and one that alone exceeds the budget of the Analyst.
pub(super) fn messages(user: &UserId) -> Vec<Input> {
    let texts = [super::text(), "m".repeat(LONG_ARGUMENT).into()];
    texts.map(|text| Input::user_message(user.clone(), text)).into()
}

/// While the Analyst argues, a write of a working item that depends on a field of the situation (decision 0034). It is refused.
pub(super) fn dependent_on_situation(state: &State) -> Option<Input> {
    if state.control().phase() != Phase::Round(Role::Analyst) {
        return None;
    }
    let entry = state.semantic().entries().find(|entry| matches!(entry.item.key, ItemKey::Situation(_)))?;
    let depends_on = vec![Reference::Id(entry.item.id)];
    let (key, text) = (Text::from("dependent"), Text::from("d"));
    Some(Input::Write(Box::new(Write::Working { key, text, expires_at: None, depends_on })))
}

/// While the Analyst argues about a request with a goal and without an action, an item that expires is written, and expires. Later
/// updates write fields of the summary at another time than their first ones.
pub(super) fn time_between_updates(state: &State) -> Option<Input> {
    let is_analyst = state.control().phase() == Phase::Round(Role::Analyst);
    let is_first = state.control().request().is_some_and(|request| request.actions.is_empty());
    let has_goal = !state.semantic().situation().get(SummaryField::Goal).is_empty();
    if is_analyst && is_first && has_goal { first_passage_of_time(state) } else { None }
}

/// The number of the iteration whose reply carries more than its report; none if it stays plain. A request keeps fewer of them.
fn iteration(operation: Operation) -> Option<NonZeroU32> {
    // 0 is none.
    NonZeroU32::new(match operation {
        Operation::LoadContext => 1,
        Operation::DraftPlan => 2,
        Operation::Argue(Role::Analyst) => 3,
        // Each module numbers its own iterations, so two modules may use the same number.
        Operation::Argue(Role::Solution) | Operation::RunTask { .. } => 4,
        Operation::VerifyIdentity
        | Operation::Summarize
        | Operation::Classify
        | Operation::Argue(Role::Critic | Role::Security | Role::Optimizer)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::Diagnose
        | Operation::UndoTask { .. }
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => 0,
    })
}

/// The record of an action, with three tool calls or without any. Two results are longer than the limit of results by one character,
/// one is as long; all are longer than the other limits, as the arguments are. The first character of a result has two bytes.
fn action(iteration: NonZeroU32, has_calls: bool) -> ActionRecord {
    let call = |name: &str, rest: &str, outcome| ToolCall {
        name: format!("{name}{iteration}").into(),
        args: [("b", "second"), ("a", "first"), ("empty", "")]
            .map(|(name, text)| (name.to_owned(), Text::from(text)))
            .into(),
        result: format!("é{iteration} {rest}").into(),
        outcome,
    };
    let calls = [
        call("read", "read texts", ToolOutcome::Success),
        call("keep", "kept them", ToolOutcome::Success),
        call("send", "sent texts", ToolOutcome::Timeout),
    ];
    ActionRecord {
        iteration,
        timestamp: Timestamp::default(),
        mode: Mode::Deep,
        thinking: "thinking".into(),
        planning: "planning".into(),
        reflection: "reflection".into(),
        approach: "approach".into(),
        tool_calls: calls.into_iter().filter(|_| has_calls).collect(),
    }
}

/// The first update, of other fields than the goal, with blank texts and keys that name no field; then the goal, with space around its
/// text, a text that stays, and a later one that gets space after it and no other change; then one that replaces texts by longer ones.
/// The texts of the last are longer than the limit, or as long.
fn next_update(state: &State) -> SummaryUpdate {
    let (blank, separator) = (" \n", "\u{1c}");
    let summary = state.semantic().situation();
    if summary.fields().next().is_none() {
        return summary_update(&[
            ("progress", blank),
            ("key_findings", "k"),
            ("current_approach", separator),
            ("next_focus", "f"),
            ("Goal", "g"),
            ("insights", "i"),
        ]);
    }
    if summary.get(SummaryField::Goal).is_empty() {
        return summary_update(&[("goal", " g "), ("key_findings", "k"), ("next_focus", "f ")]);
    }
    summary_update(&[
        ("goal", "ünder the limit no more"),
        ("progress", "prögres"),
        ("key_findings", " "),
        ("current_approach", "a"),
    ])
}
