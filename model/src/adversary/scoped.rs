//! The inputs of the adversary about scopes: facts, promotions, messages and plans (decision 0037).

use super::knowledge::{fact, has_room, summary_update};
use orchestrion_kernel::item::{MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{CallId, Input, State, TaskId, UserId};

/// Every write to try while there is room: facts in the global scope and in two others, and promotions of them.
pub(super) fn writes(room: usize, state: &State) -> Vec<Input> {
    if !has_room(room, state) {
        return Vec::new();
    }
    let scoped = |fact: NewFact, scope| NewFact { scope, ..fact };
    let weak = WriteSource::declared(Rank::Unverified.name().into());
    // Kept as denied, it opens no scope.
    let denied = NewFact { memory: MemoryType::Organizational, source: weak, ..fact("a", "3") };
    let on = NewFact { depends_on: vec![Reference::Key("a".into())], ..fact("b", "1") };
    let facts = [
        fact("a", "1"),
        scoped(fact("a", "2"), supposed()),
        scoped(on, supposed()),
        scoped(denied, supposed()),
        scoped(fact("a", "1"), draft()),
    ];
    let promotions = [("a", supposed()), ("b", supposed()), ("a", draft())];
    let promotions = promotions.map(|(key, scope)| Write::Promote {
        key: key.into(),
        scope,
        source: WriteSource::declared(Rank::Employee.name().into()),
    });
    let writes = facts.into_iter().map(Write::Fact).chain(promotions);
    writes.map(|write| Input::Write(Box::new(write))).collect()
}

/// Messages in scopes, which the kernel refuses unless a write opened the scope.
pub(super) fn messages(user: &UserId) -> Vec<Input> {
    let message = |scope| Input::UserMessage { user: user.clone(), text: super::text(), scope };
    [supposed(), draft()].map(message).into()
}

/// Plans without a scope, in one scope, in part in a scope, and in two scopes.
pub(super) fn plans() -> Vec<Plan> {
    let task = |(id, scope)| Task {
        id: TaskId::new(id),
        text: "task".into(),
        effect: Effect::Undoable { compensation: "undo".into() },
        scope,
    };
    let plan = |scopes: Vec<Option<Scope>>| Plan::new((1..).zip(scopes).map(task).collect());
    let scopes = [
        vec![None],
        vec![Some(supposed())],
        vec![Some(supposed()), None],
        vec![Some(Scope::Global), Some(draft())],
    ];
    // The task ids are distinct.
    scopes.into_iter().filter_map(|scopes| plan(scopes).ok()).collect()
}

/// Every diagnosis to try: no repair, and a repair by each plan.
pub(super) fn diagnoses() -> Vec<Report> {
    let repairs = plans().into_iter().map(|plan| Report::Repaired { text: super::text(), plan });
    [Report::NoRepair { text: super::text() }].into_iter().chain(repairs).collect()
}

/// A task result with an update of the situation.
pub(super) fn reply_with_situation(call: CallId) -> Input {
    let report = Report::Exit { code: 0, text: super::text() };
    Input::Reply { call, report, summary_update: Some(summary_update(&[("goal", "1")])), action: None }
}

fn supposed() -> Scope {
    Scope::Hypothetical("h".into())
}

fn draft() -> Scope {
    Scope::Draft("d".into())
}
