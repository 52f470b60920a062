//! What came, and what becomes known by it: the events that record an input, and the items that it adds.

use super::Batch;
use crate::control::table::Transition;
use crate::event::{Event, ForgetCause};
use crate::ids::{ItemId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Item, ItemKey, ItemKind, Layer, SubtaskStatus, Validity};
use crate::knowledge::compaction;
use crate::module::{Operation, PastRequest, Report, Role};
use crate::plan::{Effect, Plan, Task};
use crate::situation::SummaryUpdate;
use crate::state::{Call, Request};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn record(&mut self, input: &Input, row: &Transition) {
        match input {
            Input::SessionStart { user } => self.emit(Event::SessionStarted { user: user.clone() }),
            Input::SessionEnd => {
                let ids = self.state.semantic.working_set();
                if !ids.is_empty() {
                    self.emit(Event::ForgetItems { ids, cause: ForgetCause::SessionEnd });
                }
                self.emit(Event::SessionEnded);
            }
            Input::UserMessage { user, text } => {
                let request = self.state.control.next_request();
                self.emit(Event::UserMsg { request, user: user.clone(), text: text.clone() });
            }
            Input::Reply { call, report, summary_update, action } => {
                let Some(Call { operation: ask, .. }) = self.state.control.pending_call() else { return };
                self.emit(Event::ToolResult { module: ask.module(), call: *call, report: report.clone() });
                self.add_report_items(ask, report);
                if let Some(update) = summary_update {
                    self.merge_situation(update);
                }
                if let Some(record) = action {
                    self.emit(Event::ActionRecorded { record: (**record).clone() });
                }
            }
            Input::CallFailed { call, failure } => {
                let Some(Call { operation: ask, .. }) = self.state.control.pending_call() else { return };
                self.emit(Event::CallFailed { module: ask.module(), call: *call, failure: *failure });
                self.fail_running_task();
            }
            Input::Cancel if row.ignores_cancel() => {}
            Input::Cancel => {
                self.emit(Event::Cancelled);
                self.fail_running_task();
            }
            Input::Step | Input::Write(_) | Input::Resume => {}
        }
    }

    /// What a report adds to what is known.
    pub(super) fn add_report_items(&mut self, ask: Operation, report: &Report) {
        let Some(Request { id, verified, outdated, text, .. }) = &self.request else { return };
        let (request, verified, outdated, said) = (*id, *verified, *outdated, text.clone());
        match report {
            // Nothing that an unverified user says is known.
            Report::Identity { .. } if verified => {
                self.upsert_item(ItemKind::Fact, ItemKey::Request(request), said, vec![]);
            }
            Report::Context { traces, .. } => self.add_past_requests(traces),
            // What the summarizer was shown may not be so any more.
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
                let Some(role) = ask.argued_by() else { return };
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
            Report::Exit { code, text } => match ask {
                Operation::RunTask { task, .. } => {
                    self.set_subtask_status(
                        task,
                        if *code == 0 { SubtaskStatus::Done } else { SubtaskStatus::Failed },
                    );
                    let deps = self.state.semantic.latest_by_key(&ItemKey::Task(request, task));
                    let deps = deps.map(|entry| entry.item.id).into_iter().collect();
                    self.upsert_item(ItemKind::Fact, ItemKey::Output(request, task), text.clone(), deps);
                }
                Operation::UndoTask { task } if *code == 0 => {
                    self.set_subtask_status(task, SubtaskStatus::Failed)
                }
                _ => {}
            },
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
        }
    }

    /// Merges what a module says of the situation (002, "State Update Logic"). The summary belongs to the session; no module
    /// starts it anew. Of a request whose user is not verified nothing becomes known, this neither.
    pub(super) fn merge_situation(&mut self, update: &SummaryUpdate) {
        if self.request.as_ref().is_none_or(|request| !request.verified) {
            return;
        }
        for (field, text) in update.changes() {
            let key = ItemKey::Situation(field);
            let known = self.state.semantic.latest_by_key(&key).map(|entry| &entry.item);
            if known.is_some_and(|item| item.text == *text) {
                continue;
            }
            let item = Item {
                id: known.map_or(self.next_item, |item| item.id),
                kind: ItemKind::Fact,
                key,
                text: text.clone(),
                layer: Layer::Working { created_at: self.state.semantic.now(), expires_at: None },
                validity: Validity::Current,
            };
            let deps = vec![];
            self.emit(match known {
                Some(_) => Event::UpdateItem { item, deps },
                None => Event::AddItem { item, deps },
            });
        }
    }

    /// Past traces become facts of the session. Of two with one trace id in a report the first counts (decision 0016).
    pub(super) fn add_past_requests(&mut self, traces: &[PastRequest]) {
        let mut told = alloc::collections::BTreeSet::new();
        for PastRequest { trace, text } in traces {
            if told.insert(trace) {
                self.upsert_item(ItemKind::Fact, ItemKey::Trace(trace.clone()), text.clone(), vec![]);
            }
        }
    }

    /// A plan becomes the plan of the request, and its tasks become subtasks, each resting on the one before.
    pub(super) fn adopt_plan(&mut self, plan: &Plan) {
        let Some(request) = &self.request else { return };
        let id = request.id;
        let revision = request.plan.as_ref().map_or(Revision::FIRST, |plan| plan.revision.next());
        self.emit(Event::PlanAdopted { revision, plan: plan.clone() });
        let mut before = self.state.semantic.request(id);
        for task in plan.tasks() {
            let mut deps: Vec<ItemId> = self.state.semantic.request(id).into_iter().chain(before).collect();
            deps.sort_unstable();
            deps.dedup();
            let variant = ItemKind::Subtask(SubtaskStatus::Unassigned);
            before = self.upsert_item(variant, ItemKey::Task(id, task.id), task_description(task), deps);
        }
    }

    /// A running task will give no result any more.
    pub(super) fn fail_running_task(&mut self) {
        if let Some(Call { operation: Operation::RunTask { task, .. }, .. }) =
            self.state.control.pending_call()
        {
            self.set_subtask_status(task, SubtaskStatus::Failed);
        }
    }

    pub(super) fn set_subtask_status(&mut self, task: TaskId, status: SubtaskStatus) {
        let Some(request) = &self.request else { return };
        let key = ItemKey::Task(request.id, task);
        // A task that was planned in this very batch is not in the state yet; its item is in the events.
        let planned = self.events.iter().rev().find_map(|event| match event {
            Event::AddItem { item, deps } | Event::UpdateItem { item, deps } if item.key == key => {
                Some((item.clone(), deps.clone()))
            }
            _ => None,
        });
        let known =
            || self.state.semantic.latest_by_key(&key).map(|entry| (entry.item.clone(), entry.deps.clone()));
        let variant = ItemKind::Subtask(status);
        if let Some((item, deps)) = planned.or_else(known).filter(|(item, _)| item.kind != variant) {
            self.emit(Event::UpdateItem { item: Item { kind: variant, ..item }, deps });
        }
    }

    pub(super) fn upsert_request_item(&mut self, key: ItemKey, text: Text) {
        let request = self.request.as_ref().and_then(|request| self.state.semantic.request(request.id));
        self.upsert_item(ItemKind::Fact, key, text, request.into_iter().collect());
    }

    /// Adds an item of whose session it is, or updates the one of the same key if it says something else. Gives its id; none
    /// without a session, in which no request runs.
    pub(super) fn upsert_item(
        &mut self,
        variant: ItemKind,
        key: ItemKey,
        text: Text,
        deps: Vec<ItemId>,
    ) -> Option<ItemId> {
        let user = self.state.control.session()?.clone();
        if let Some(entry) = self.state.semantic.latest_by_key(&key) {
            let item = Item::from_request(user, entry.item.id, variant, key, text);
            let id = item.id;
            if entry.item != item || entry.deps != deps {
                self.emit(Event::UpdateItem { item, deps });
            }
            return Some(id);
        }
        let id = self.next_item;
        self.emit(Event::AddItem { item: Item::from_request(user, id, variant, key, text), deps });
        Some(id)
    }
}

/// A task in words, with what would take its effect back: whoever is to undo it reads this.
fn task_description(task: &Task) -> Text {
    match &task.effect {
        Effect::Pure => task.text.clone(),
        Effect::Undoable { compensation } => format!("{} [to undo: {compensation}]", task.text).into(),
        Effect::Irreversible => format!("{} [irreversible]", task.text).into(),
    }
}
