//! The events that record an input, and the items that a report adds.

use super::batch::Batch;
use crate::control::transition::Transition;
use crate::event::{Event, ForgetCause};
use crate::ids::{ItemId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Item, ItemKey, ItemKind, Layer, SubtaskStatus, Validity};
use crate::knowledge::{compaction, decide_identity};
use crate::module::{Operation, PastRequest, Report, Role};
use crate::plan::{Effect, Plan, Task};
use crate::situation::SummaryUpdate;
use crate::state::{Call, Request};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn record_input(&mut self, input: &Input, row: &Transition) {
        match input {
            Input::SessionStart { user, identity } => {
                self.emit(Event::SessionStarted { user: user.clone() });
                // A valid input has a valid identity.
                let identity =
                    identity.as_ref().map(|new| decide_identity(self.policy, self.state.semantic(), new));
                identity.into_iter().flatten().for_each(|event| self.emit(event));
            }
            Input::SessionEnd => {
                let ids = self.state.semantic().working_set();
                if !ids.is_empty() {
                    self.emit(Event::ForgetItems { ids, cause: ForgetCause::SessionEnd });
                }
                self.emit(Event::SessionEnded);
            }
            Input::UserMessage { user, text } => {
                let request = self.state.control().next_request();
                self.emit(Event::UserMsg { request, user: user.clone(), text: text.clone() });
            }
            Input::Reply { call, report, summary_update, action } => {
                let Some(Call { operation, .. }) = self.state.control().pending_call() else { return };
                self.emit(Event::ToolResult {
                    module: operation.module(),
                    call: *call,
                    report: report.clone(),
                });
                self.add_report_items(operation, report);
                if let Some(update) = summary_update {
                    self.merge_situation(update);
                }
                if let Some(record) = action {
                    let situation = &self.policy.situation;
                    let record = (**record).clone().with_truncated_results(situation.result_chars_max);
                    self.emit(Event::ActionRecorded { record, max_history: situation.max_history });
                }
            }
            Input::CallFailed { call, failure } => {
                let Some(Call { operation, .. }) = self.state.control().pending_call() else { return };
                self.emit(Event::CallFailed { module: operation.module(), call: *call, failure: *failure });
                self.fail_running_task();
            }
            Input::Cancel if row.ignores_cancel() => {}
            Input::Cancel => {
                self.emit(Event::Cancelled);
                self.fail_running_task();
            }
            Input::Step | Input::Write(_) | Input::Tick | Input::Resume => {}
        }
    }

    /// Emits the items that a report adds to the semantic state.
    fn add_report_items(&mut self, operation: Operation, report: &Report) {
        let Some(Request { id, verified, outdated, text, .. }) = &self.request else { return };
        let (request, verified, outdated, message) = (*id, *verified, *outdated, text.clone());
        match report {
            // The message of an unverified user enters no item.
            Report::Identity { .. } if verified => {
                self.upsert_item(ItemKind::Fact, ItemKey::Request(request), message, vec![]);
            }
            Report::Context { traces, .. } => self.add_past_requests(traces),
            // The summarizer's context is no longer current.
            Report::Summary { .. } if outdated => {}
            Report::Summary { text, forgets } => {
                let events = compaction::summarize(self.policy, self.state, text, forgets.as_deref());
                events.into_iter().for_each(|event| self.emit(event));
            }
            Report::Classification { tags, similarity } => {
                let tags = tags.iter().map(Text::as_str).collect::<Vec<_>>().join(", ");
                let text = format!("tags: {tags}; nearest past request: {similarity}");
                self.upsert_request_item(ItemKey::Tags(request), text.into());
            }
            Report::Plan(plan) => self.adopt_plan(plan),
            Report::Argument { argument, text, plan } => {
                let Some(role) = operation.arguing_role() else { return };
                self.upsert_request_item(ItemKey::Argument(request, role), text.clone());
                if role == Role::Security && argument.is_objection_at_least(self.policy.thresholds.veto_from)
                {
                    let revision = self.revision();
                    self.emit(Event::VetoRaised { revision });
                }
                if let Some(plan) = plan {
                    self.adopt_plan(plan);
                }
            }
            Report::Repaired { text, plan } => {
                self.upsert_request_item(ItemKey::Diagnosis(request), text.clone());
                self.adopt_plan(plan);
            }
            Report::Approval { text, .. } => {
                self.upsert_request_item(ItemKey::Approval(request), text.clone())
            }
            Report::NoRepair { text } => self.upsert_request_item(ItemKey::Diagnosis(request), text.clone()),
            Report::Exit { code, text } => self.add_exit_items(operation, *code, text),
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
        }
    }

    /// Emits the items of a task or compensation that ended with this exit code.
    fn add_exit_items(&mut self, operation: Operation, code: i32, text: &Text) {
        match operation {
            Operation::RunTask { task, .. } => {
                let Some(request) = self.request.as_ref().map(|request| request.id) else { return };
                let status = if code == 0 { SubtaskStatus::Done } else { SubtaskStatus::Failed };
                self.set_subtask_status(task, status);
                let deps = self.state.semantic().latest_by_key(&ItemKey::Task(request, task));
                let deps = deps.map(|entry| entry.item.id).into_iter().collect();
                self.upsert_item(ItemKind::Fact, ItemKey::Output(request, task), text.clone(), deps);
            }
            Operation::UndoTask { task } => {
                if code == 0 {
                    self.set_subtask_status(task, SubtaskStatus::Failed);
                }
            }
            // No other operation has an exit code.
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => {}
        }
    }

    /// Merges a summary update into the situation summary of the request (002, "State Update Logic"). A module can overwrite its
    /// fields, not reset it. An unverified user changes nothing.
    fn merge_situation(&mut self, update: &SummaryUpdate) {
        if self.request.as_ref().is_none_or(|request| !request.verified) {
            return;
        }
        for (field, text) in update.changes(self.policy.situation.summary_chars_max) {
            let key = ItemKey::Situation(field);
            let current = self.state.semantic().latest_by_key(&key).map(|entry| &entry.item);
            if current.is_some_and(|item| item.text == text) {
                continue;
            }
            let item = Item {
                id: current.map_or(self.next_item, |item| item.id),
                kind: ItemKind::Fact,
                key,
                text,
                layer: Layer::Working { created_at: self.state.now(), expires_at: None },
                validity: Validity::Current,
            };
            let deps = vec![];
            self.emit(match current {
                Some(_) => Event::UpdateItem { item, deps },
                None => Event::AddItem { item, deps },
            });
        }
    }

    /// Forgets the situation summary of a request that ends, with the updates of this batch (decision 0034).
    pub(super) fn forget_situation(&mut self) {
        let mut semantic = self.state.semantic().clone();
        self.events.iter().for_each(|event| semantic.apply(event));
        let ids = semantic.situation_ids();
        if !ids.is_empty() {
            self.emit(Event::ForgetItems { ids, cause: ForgetCause::RequestEnd });
        }
    }

    /// Adds past traces as facts of the session. Of several with the same trace id, the first is added (decision 0016).
    fn add_past_requests(&mut self, traces: &[PastRequest]) {
        let mut added = BTreeSet::new();
        for PastRequest { trace, text } in traces {
            if added.insert(trace) {
                self.upsert_item(ItemKind::Fact, ItemKey::Trace(trace.clone()), text.clone(), vec![]);
            }
        }
    }

    /// Makes a plan the plan of the request, and its tasks subtask items. Each depends on the one before it.
    fn adopt_plan(&mut self, plan: &Plan) {
        let Some(request) = &self.request else { return };
        let id = request.id;
        let revision = request.plan.as_ref().map_or(Revision::FIRST, |plan| plan.revision.next());
        self.emit(Event::PlanAdopted { revision, plan: plan.clone() });
        let mut before = self.state.semantic().request(id);
        for task in plan.tasks() {
            let mut deps: Vec<ItemId> = self.state.semantic().request(id).into_iter().chain(before).collect();
            deps.sort_unstable();
            deps.dedup();
            let kind = ItemKind::Subtask(SubtaskStatus::Unassigned);
            before = self.upsert_item(kind, ItemKey::Task(id, task.id), task_description(task), deps);
        }
    }

    /// Marks the running task as failed: no result of it will be accepted.
    fn fail_running_task(&mut self) {
        if let Some(Call { operation: Operation::RunTask { task, .. }, .. }) =
            self.state.control().pending_call()
        {
            self.set_subtask_status(task, SubtaskStatus::Failed);
        }
    }

    pub(super) fn set_subtask_status(&mut self, task: TaskId, status: SubtaskStatus) {
        let Some(request) = &self.request else { return };
        let key = ItemKey::Task(request.id, task);
        // The item of a task that was planned in this batch is not in the state yet, but in the events.
        let planned = self.events.iter().rev().find_map(|event| {
            let (Event::AddItem { item, deps } | Event::UpdateItem { item, deps }) = event else {
                return None;
            };
            (item.key == key).then(|| (item.clone(), deps.clone()))
        });
        let stored = || {
            self.state.semantic().latest_by_key(&key).map(|entry| (entry.item.clone(), entry.deps.clone()))
        };
        let kind = ItemKind::Subtask(status);
        if let Some((item, deps)) = planned.or_else(stored).filter(|(item, _)| item.kind != kind) {
            self.emit(Event::UpdateItem { item: Item { kind, ..item }, deps });
        }
    }

    pub(super) fn upsert_request_item(&mut self, key: ItemKey, text: Text) {
        let request = self.request.as_ref().and_then(|request| self.state.semantic().request(request.id));
        self.upsert_item(ItemKind::Fact, key, text, request.into_iter().collect());
    }

    /// Adds an item of the session's user, or updates the item with the same key if it differs. Returns its id; none without a
    /// session, in which no request runs.
    fn upsert_item(&mut self, kind: ItemKind, key: ItemKey, text: Text, deps: Vec<ItemId>) -> Option<ItemId> {
        let user = self.state.control().session()?.clone();
        if let Some(entry) = self.state.semantic().latest_by_key(&key) {
            let item = Item::from_request(user, entry.item.id, kind, key, text);
            let id = item.id;
            if entry.item != item || entry.deps != deps {
                self.emit(Event::UpdateItem { item, deps });
            }
            return Some(id);
        }
        let id = self.next_item;
        self.emit(Event::AddItem { item: Item::from_request(user, id, kind, key, text), deps });
        Some(id)
    }
}

/// The description of a task with its compensation, which the executor needs to undo it.
fn task_description(task: &Task) -> Text {
    match &task.effect {
        Effect::Pure => task.text.clone(),
        Effect::Undoable { compensation } => format!("{} [to undo: {compensation}]", task.text).into(),
        Effect::Irreversible => format!("{} [irreversible]", task.text).into(),
    }
}
