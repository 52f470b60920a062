//! The inputs of the adversary about scopes: facts, promotions, messages and plans (decision 0037).

use super::knowledge::{fact, has_room, summary_update};
use crate::scopes::steps::{aggregation, plan_of, step};
use orchestrion_kernel::item::{ItemKey, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Input, RequestId, State, UserId};
use std::collections::BTreeSet;

/// Every write to try before the first request, while there is room: facts in the global scope and in a hypothesis, a denied one
/// in a draft, promotions of both, and a fact that depends on the one in the hypothesis. The draft is never open.
pub(super) fn writes(room: usize, state: &State) -> Vec<Input> {
    if !has_room(room, state) || state.control().next_request() != RequestId::FIRST {
        return Vec::new();
    }
    let scoped = |fact: NewFact, scope| NewFact { scope, ..fact };
    let weak = WriteSource::declared(Rank::Unverified.name().into());
    let denied = NewFact { memory: MemoryType::Organizational, source: weak, ..fact("a", "3") };
    let dependent = NewFact { depends_on: vec![Reference::Key("a".into())], ..fact("b", "1") };
    let dependent = has_both(state).then(|| scoped(dependent, supposed()));
    let facts = [fact("a", "1"), scoped(fact("a", "2"), supposed()), scoped(denied, draft())];
    let facts = facts.into_iter().chain(dependent);
    let promotions = [supposed(), draft()].map(|scope| Write::Promote {
        key: "a".into(),
        scope,
        source: WriteSource::declared(Rank::Employee.name().into()),
    });
    let writes = facts.map(Write::Fact).chain(promotions);
    writes.map(|write| Input::Write(Box::new(write))).collect()
}

/// Whether the hypothesis has another value than the global scope.
fn has_both(state: &State) -> bool {
    let of_key = state.semantic().by_key(&ItemKey::Fact("a".into()));
    let valid = of_key.filter(|entry| entry.item.is_valid());
    valid.map(|entry| entry.item.scope()).collect::<BTreeSet<_>>()
        == BTreeSet::from([&Scope::Global, &supposed()])
}

/// Whether a fact depends on that of the hypothesis. No request reads it: only its promotion is of interest.
pub(super) fn has_dependent(state: &State) -> bool {
    state.semantic().latest_by_key(&ItemKey::Fact("b".into())).is_some()
}

/// Messages in scopes, which the kernel refuses unless a write opened the scope.
pub(super) fn messages(user: &UserId) -> Vec<Input> {
    let message = |scope| Input::UserMessage { user: user.clone(), text: super::text(), scope };
    [supposed(), draft()].map(message).into()
}

/// Plans without a scope, in a scope, in part in a scope, and in the draft.
pub(super) fn plans() -> Vec<Plan> {
    let task = |(number, scope)| Task {
        effect: Effect::Undoable { compensation: "undo".into() },
        depends_on: None,
        scope,
        ..step(number, &[])
    };
    let plan = |scopes: Vec<Option<Scope>>| plan_of((1..).zip(scopes).map(task));
    let scopes = [vec![None], vec![Some(supposed())], vec![Some(supposed()), None], vec![Some(draft())]];
    scopes.into_iter().map(plan).collect()
}

/// A plan with a member in a scope, for a request in the global one. It is refused.
pub(super) fn plan_with_narrow_member(state: &State, call: Call) -> Option<Input> {
    let is_global = state.control().request().is_some_and(|request| request.scope.is_global());
    let members = [Task { scope: Some(supposed()), ..step(1, &[]) }, step(2, &[])];
    let plan = plan_of(members).with_aggregation(aggregation(AggregationStrategy::Voting, false));
    (call.operation == Operation::DraftPlan && is_global).then(|| Input::reply(call.id, Report::Plan(plan)))
}

/// A task result with an update of the situation.
pub(super) fn reply_with_situation(call: CallId) -> Input {
    let report = Report::Exit { code: 0, text: "output".into(), number: None };
    let summary_update = Some(summary_update(&[("goal", "1")]));
    Input::Reply { call, report, summary_update, action: None, interaction: None }
}

fn supposed() -> Scope {
    Scope::Hypothetical("h".into())
}

fn draft() -> Scope {
    Scope::Draft("d".into())
}
