//! The events that record an input, and the items that a report adds.

use super::batch::Batch;
use crate::control::transition::Transition;
use crate::event::{Event, ForgetCause};
use crate::ids::{ItemId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Item, ItemKey, ItemKind, Layer, Scope, SubtaskStatus, Validity};
use crate::knowledge::{compaction, decide_identity, forget_excess};
use crate::module::{Operation, PastRequest, Report, Role};
use crate::plan::{Effect, Plan, Task};
use crate::situation::SummaryUpdate;
use crate::state::{Call, Request};
use alloc::collections::{BTreeMap, BTreeSet};
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
            Input::UserMessage { user, text, scope } => {
                let (request, scope) = (self.state.control().next_request(), scope.clone());
                self.emit(Event::UserMsg { request, user: user.clone(), text: text.clone(), scope });
            }
            Input::Reply { call, report, summary_update, action, interaction } => {
                let Some(Call { operation, .. }) = self.state.control().answered_call(input) else { return };
                self.emit(Event::ToolResult {
                    module: operation.module(),
                    call: *call,
                    report: report.clone(),
                });
                let judged = interaction.as_deref().copied().unwrap_or_default();
                self.end_attempt(*call, operation, None, Some((report, &judged)));
                let is_of_request = self.is_in_request_scope(operation);
                self.add_report_items(operation, report);
                if let Operation::RunTask { task, .. } = operation {
                    self.end_step(task);
                }
                if let Some(update) = summary_update.as_ref().filter(|_| is_of_request) {
                    self.merge_situation(update);
                }
                if let Some(record) = action.as_ref().filter(|_| is_of_request) {
                    let situation = &self.policy.situation;
                    let record = (**record).clone().with_truncated_results(situation.result_chars_max);
                    self.emit(Event::ActionRecorded { record, max_history: situation.max_history });
                }
            }
            Input::CallFailed { call: id, failure } => {
                let Some(call) = self.state.control().answered_call(input) else { return };
                let module = call.operation.module();
                self.emit(Event::CallFailed { module, call: *id, failure: *failure });
                self.end_attempt(*id, call.operation, Some(*failure), None);
                if let Some(task) = call.running_task() {
                    // No result of it will be accepted.
                    self.set_subtask_status(task, SubtaskStatus::Failed);
                    self.end_step(task);
                }
            }
            Input::Cancel if row.ignores_cancel() => {}
            Input::Cancel => {
                self.emit(Event::Cancelled);
                let cancelled = self.state.control().pending_calls().iter();
                cancelled
                    .filter_map(Call::running_task)
                    .for_each(|task| self.set_subtask_status(task, SubtaskStatus::Failed));
            }
            Input::Step | Input::Write(_) | Input::Network(_) | Input::Tick | Input::Resume => {}
        }
    }

    /// Returns whether a call runs in the scope of its request. The situation is that of the request, so that other calls do not
    /// change it (decision 0037).
    fn is_in_request_scope(&self, operation: Operation) -> bool {
        self.control.request().is_some_and(|request| *request.call_scope(operation) == request.scope)
    }

    /// Emits the items that a report adds to the semantic state.
    fn add_report_items(&mut self, operation: Operation, report: &Report) {
        let Some(Request { id, verified, outdated, text, scope, .. }) = self.control.request() else {
            return;
        };
        let (request, verified, outdated) = (*id, *verified, *outdated);
        let (message, scope) = (text.clone(), scope.clone());
        match report {
            // The message of an unverified user enters no item.
            Report::Identity { .. } if verified => {
                self.upsert_item(ItemKind::Fact, ItemKey::Request(request), message, scope, vec![]);
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
                if let Some(name) = self.policy.debater_name(operation) {
                    let key = ItemKey::AdditionalArgument(request, name.clone());
                    self.upsert_request_item(key, text.clone());
                }
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
            Report::Exit { code, text, .. } => self.add_exit_items(operation, *code, text),
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
        }
    }

    /// Emits the items of a task or compensation that ended with this exit code.
    fn add_exit_items(&mut self, operation: Operation, code: i32, text: &Text) {
        match operation {
            Operation::RunTask { task, .. } => {
                let Some(request) = self.control.request().map(|request| request.id) else { return };
                let status = if code == 0 { SubtaskStatus::Done } else { SubtaskStatus::Failed };
                self.set_subtask_status(task, status);
                let deps = self.state.semantic().latest_by_key(&ItemKey::Task(request, task));
                let deps = deps.map(|entry| entry.item.id).into_iter().collect();
                let scope = self.control.request().map(|request| request.call_scope(operation).clone());
                let key = ItemKey::Output(request, task);
                self.upsert_item(ItemKind::Fact, key, text.clone(), scope.unwrap_or_default(), deps);
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
            | Operation::ArgueAdditional { .. }
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
        if self.control.request().is_none_or(|request| !request.verified) {
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
        let mut ids = self.state.semantic().situation_ids();
        // New ids are the highest, so the order remains. No event of this batch forgets one of the items: they do not expire, no
        // cluster contains them, and in Idle, where a session ends, there are none.
        for event in &self.events {
            if let Event::AddItem { item, .. } = event
                && let ItemKey::Situation(_) = item.key
            {
                ids.push(item.id);
            }
        }
        if !ids.is_empty() {
            self.emit(Event::ForgetItems { ids, cause: ForgetCause::RequestEnd });
        }
    }

    /// Forgets the oldest items of the session over its capacity (decision 0021).
    pub(super) fn forget_excess(&mut self) {
        let events = forget_excess(self.policy, self.state.semantic(), &self.events);
        events.into_iter().for_each(|event| self.emit(event));
    }

    /// Adds past traces as facts of the session. Of several with the same trace id, the first is added (decision 0016).
    fn add_past_requests(&mut self, traces: &[PastRequest]) {
        let mut added = BTreeSet::new();
        for PastRequest { trace, text, scope } in traces {
            if added.insert(trace) {
                let key = ItemKey::Trace(trace.clone());
                self.upsert_item(ItemKind::Fact, key, text.clone(), scope.clone(), vec![]);
            }
        }
    }

    /// Makes a plan the plan of the request, and its tasks subtask items. Each depends on those of its declared dependencies that are
    /// readable in its scope; without a declaration, on the last such task before it.
    fn adopt_plan(&mut self, plan: &Plan) {
        let Some(request) = self.control.request() else { return };
        let id = request.id;
        let revision = request.plan.as_ref().map_or(Revision::FIRST, |plan| plan.revision.next());
        self.emit(Event::PlanAdopted { revision, plan: plan.clone() });
        let mut planned: BTreeMap<TaskId, (Scope, ItemId)> = BTreeMap::new();
        // The place in the plan and the item of the last task of each scope.
        let mut last: BTreeMap<Scope, (usize, ItemId)> = BTreeMap::new();
        for (at, task) in plan.tasks().iter().enumerate() {
            let Some(request) = self.control.request() else { return };
            let scope = request.task_scope(Some(task)).clone();
            let required: Vec<ItemId> = match &task.depends_on {
                Some(tasks) => {
                    let before = tasks.iter().filter_map(|task| planned.get(task));
                    before.filter(|(before, _)| before.contains(&scope)).map(|(_, id)| *id).collect()
                }
                None => {
                    // Every scope that can contain this one.
                    let readable = [&Scope::Global, &Scope::Session, &scope].map(|before| last.get(before));
                    readable.into_iter().flatten().max().map(|(_, id)| *id).into_iter().collect()
                }
            };
            let mut deps: Vec<ItemId> =
                self.state.semantic().request(id).into_iter().chain(required).collect();
            deps.sort_unstable();
            deps.dedup();
            let (kind, key) = (ItemKind::Subtask(SubtaskStatus::Unassigned), ItemKey::Task(id, task.id));
            let item = self.upsert_item(kind, key, task_description(task), scope.clone(), deps);
            if let Some(item) = item {
                last.insert(scope.clone(), (at, item));
                planned.insert(task.id, (scope, item));
            }
        }
    }

    pub(super) fn set_subtask_status(&mut self, task: TaskId, status: SubtaskStatus) {
        let Some(request) = self.control.request() else { return };
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

    /// Adds or updates an item of the running request, in its scope.
    pub(super) fn upsert_request_item(&mut self, key: ItemKey, text: Text) {
        let Some(Request { id, scope, .. }) = self.control.request() else { return };
        let (request, scope) = (self.state.semantic().request(*id), scope.clone());
        self.upsert_item(ItemKind::Fact, key, text, scope, request.into_iter().collect());
    }

    /// Adds an item of the session's user in this scope, or updates the item with the same key if it differs. Returns its id; none
    /// without a session, in which no request runs.
    fn upsert_item(
        &mut self,
        kind: ItemKind,
        key: ItemKey,
        text: Text,
        scope: Scope,
        deps: Vec<ItemId>,
    ) -> Option<ItemId> {
        let layer = Layer::Request { user: self.state.control().session()?.clone(), scope };
        let stored = self.state.semantic().latest_by_key(&key);
        let id = stored.map_or(self.next_item, |entry| entry.item.id);
        let item = Item { id, kind, key, text, layer, validity: Validity::Current };
        match stored {
            Some(entry) if entry.item == item && entry.deps == deps => {}
            Some(_) => self.emit(Event::UpdateItem { item, deps }),
            None => self.emit(Event::AddItem { item, deps }),
        }
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
