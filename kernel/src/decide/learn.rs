//! What came, and what becomes known by it: the events that record an input, and the items that it adds.

use super::Batch;
use crate::control::table::Transition;
use crate::event::{Event, ForgetCause};
use crate::ids::{ItemId, Revision, TaskId, Text};
use crate::input::Input;
use crate::item::{Item, Key, Layer, Standing, Status, Variant};
use crate::knowledge::compaction;
use crate::module::{Ask, PastTrace, Report, Role};
use crate::plan::{Effect, Plan, Task};
use crate::situation::SummaryUpdate;
use crate::state::{Call, Request};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn record(&mut self, input: &Input, row: &Transition) {
        match input {
            Input::SessionStart { user } => self.push(Event::SessionStarted { user: user.clone() }),
            Input::SessionEnd => {
                let ids = self.state.semantic.working_set();
                if !ids.is_empty() {
                    self.push(Event::ForgetItems { ids, cause: ForgetCause::SessionEnd });
                }
                self.push(Event::SessionEnded);
            }
            Input::UserMessage { user, text } => {
                let request = self.state.control.next_request();
                self.push(Event::UserMsg { request, user: user.clone(), text: text.clone() });
            }
            Input::Reply { call, report, summary_update, action } => {
                let Some(Call { ask, .. }) = self.state.control.waiting() else { return };
                self.push(Event::ToolResult { module: ask.module(), call: *call, report: report.clone() });
                self.learn(ask, report);
                if let Some(update) = summary_update {
                    self.sum_up(update);
                }
                if let Some(record) = action {
                    self.push(Event::ActionRecorded { record: (**record).clone() });
                }
            }
            Input::CallFailed { call, failure } => {
                let Some(Call { ask, .. }) = self.state.control.waiting() else { return };
                self.push(Event::CallFailed { module: ask.module(), call: *call, failure: *failure });
                self.task_stopped();
            }
            Input::Cancel if row.keeps_on() => {}
            Input::Cancel => {
                self.push(Event::Cancelled);
                self.task_stopped();
            }
            Input::Step | Input::Write(_) | Input::Resume => {}
        }
    }

    /// What a report adds to what is known.
    pub(super) fn learn(&mut self, ask: Ask, report: &Report) {
        let Some(Request { id, verified, outdated, text, .. }) = &self.request else { return };
        let (request, verified, outdated, said) = (*id, *verified, *outdated, text.clone());
        match report {
            // Nothing that an unverified user says is known.
            Report::Identity { .. } if verified => {
                self.know(Variant::Fact, Key::Request(request), said, vec![]);
            }
            Report::Context { traces, .. } => self.restore(traces),
            // What the summarizer was shown may not be so any more.
            Report::Summary { .. } if outdated => {}
            Report::Summary { text, forgets } => {
                let events = compaction::summarize(self.policy, self.state, text, forgets.as_deref());
                events.into_iter().for_each(|event| self.push(event));
            }
            Report::Classification { tags, similarity } => {
                let tags = tags.iter().map(Text::as_str).collect::<Vec<_>>().join(", ");
                let text = format!("tags: {tags}; nearest past request: {similarity}");
                self.know_of_request(Key::Tags(request), text.into());
            }
            Report::Plan(plan) => self.adopt(plan),
            Report::Argument { argument, text, plan } => {
                let Some(role) = ask.arguing() else { return };
                self.know_of_request(Key::Argument(request, role), text.clone());
                if role == Role::Security && argument.objects_from(self.policy.thresholds.veto_from) {
                    let revision = self.revision();
                    self.push(Event::VetoRaised { revision });
                }
                if let Some(plan) = plan {
                    self.adopt(plan);
                }
            }
            Report::Repaired { text, plan } => {
                self.know_of_request(Key::Diagnosis(request), text.clone());
                self.adopt(plan);
            }
            Report::Approval { text, .. } => self.know_of_request(Key::Approval(request), text.clone()),
            Report::NoRepair { text } => self.know_of_request(Key::Diagnosis(request), text.clone()),
            Report::Exit { code, text } => match ask {
                Ask::RunTask { task, .. } => {
                    self.mark(task, if *code == 0 { Status::Done } else { Status::Failed });
                    let deps = self.state.semantic.find(&Key::Task(request, task));
                    let deps = deps.map(|entry| entry.item.id).into_iter().collect();
                    self.know(Variant::Fact, Key::Output(request, task), text.clone(), deps);
                }
                Ask::UndoTask { task } if *code == 0 => self.mark(task, Status::Failed),
                _ => {}
            },
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
        }
    }

    /// Merges what a module says of the situation (002, "State Update Logic"). The summary belongs to the session; no module
    /// starts it anew. Of a request whose user is not verified nothing becomes known, this neither.
    pub(super) fn sum_up(&mut self, update: &SummaryUpdate) {
        if self.request.as_ref().is_none_or(|request| !request.verified) {
            return;
        }
        for (field, text) in update.changes() {
            let key = Key::Situation(field);
            let known = self.state.semantic.find(&key).map(|entry| &entry.item);
            if known.is_some_and(|item| item.text == *text) {
                continue;
            }
            let item = Item {
                id: known.map_or(self.next_item, |item| item.id),
                variant: Variant::Fact,
                key,
                text: text.clone(),
                layer: Layer::Working { created_at: self.state.semantic.now(), expires_at: None },
                standing: Standing::Current,
            };
            let deps = vec![];
            self.push(match known {
                Some(_) => Event::UpdateItem { item, deps },
                None => Event::AddItem { item, deps },
            });
        }
    }

    /// Past traces become facts of the session. Of two with one trace id in a report the first counts (decision 0016).
    pub(super) fn restore(&mut self, traces: &[PastTrace]) {
        let mut told = alloc::collections::BTreeSet::new();
        for PastTrace { trace, text } in traces {
            if told.insert(trace) {
                self.know(Variant::Fact, Key::Trace(trace.clone()), text.clone(), vec![]);
            }
        }
    }

    /// A plan becomes the plan of the request, and its tasks become subtasks, each resting on the one before.
    pub(super) fn adopt(&mut self, plan: &Plan) {
        let Some(request) = &self.request else { return };
        let id = request.id;
        let revision = request.plan.as_ref().map_or(Revision::FIRST, |plan| plan.revision.next());
        self.push(Event::PlanAdopted { revision, plan: plan.clone() });
        let mut before = self.state.semantic.request(id);
        for task in plan.tasks() {
            let mut deps: Vec<ItemId> = self.state.semantic.request(id).into_iter().chain(before).collect();
            deps.sort_unstable();
            deps.dedup();
            let variant = Variant::Subtask(Status::Unassigned);
            before = self.know(variant, Key::Task(id, task.id), described(task), deps);
        }
    }

    /// A running task will give no result any more.
    pub(super) fn task_stopped(&mut self) {
        if let Some(Call { ask: Ask::RunTask { task, .. }, .. }) = self.state.control.waiting() {
            self.mark(task, Status::Failed);
        }
    }

    pub(super) fn mark(&mut self, task: TaskId, status: Status) {
        let Some(request) = &self.request else { return };
        let key = Key::Task(request.id, task);
        // A task that was planned in this very batch is not in the state yet; its item is in the events.
        let planned = self.events.iter().rev().find_map(|event| match event {
            Event::AddItem { item, deps } | Event::UpdateItem { item, deps } if item.key == key => {
                Some((item.clone(), deps.clone()))
            }
            _ => None,
        });
        let known = || self.state.semantic.find(&key).map(|entry| (entry.item.clone(), entry.deps.clone()));
        let variant = Variant::Subtask(status);
        if let Some((item, deps)) = planned.or_else(known).filter(|(item, _)| item.variant != variant) {
            self.push(Event::UpdateItem { item: Item { variant, ..item }, deps });
        }
    }

    pub(super) fn know_of_request(&mut self, key: Key, text: Text) {
        let request = self.request.as_ref().and_then(|request| self.state.semantic.request(request.id));
        self.know(Variant::Fact, key, text, request.into_iter().collect());
    }

    /// Adds an item of whose session it is, or updates the one of the same key if it says something else. Gives its id; none
    /// without a session, in which no request runs.
    pub(super) fn know(
        &mut self,
        variant: Variant,
        key: Key,
        text: Text,
        deps: Vec<ItemId>,
    ) -> Option<ItemId> {
        let user = self.state.control.session()?.clone();
        if let Some(entry) = self.state.semantic.find(&key) {
            let item = Item::of_request(user, entry.item.id, variant, key, text);
            let id = item.id;
            if entry.item != item || entry.deps != deps {
                self.push(Event::UpdateItem { item, deps });
            }
            return Some(id);
        }
        let id = self.next_item;
        self.push(Event::AddItem { item: Item::of_request(user, id, variant, key, text), deps });
        Some(id)
    }
}

/// A task in words, with what would take its effect back: whoever is to undo it reads this.
fn described(task: &Task) -> Text {
    match &task.effect {
        Effect::Pure => task.text.clone(),
        Effect::Undoable { compensation } => format!("{} [to undo: {compensation}]", task.text).into(),
        Effect::Irreversible => format!("{} [irreversible]", task.text).into(),
    }
}
