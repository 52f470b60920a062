//! The inputs of the adversary about contexts: items with every detail that a line states, texts of several lengths under small
//! budgets, reviews of two passes, and a request in a scope of its own.

use super::argument_with_text;
use super::knowledge::fact;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{ConstraintType, ItemKey, Rank, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Reference, Write, WriteSource};
use orchestrion_kernel::module::{Argument, Module, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::{CompactionPolicy, ContextPolicy, ModuleContextPolicy};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{Input, Phase, RequestId, Score, State, TaskId, Text, UserId};
use std::collections::BTreeMap;

/// The common budget: all items of a debate do not fit.
pub(crate) const BUDGET_TOKENS: u32 = 150;

/// Two persistent items of the first request are enough for a compaction, and a cluster could also contain the running one's message.
pub(crate) const COMPACTION: CompactionPolicy =
    CompactionPolicy { from_items: 2, from_tokens: u32::MAX, cluster_items: 3, session_items_max: u32::MAX };

/// Sets budgets of single modules: Solution has room for little more than the reviews, the Critic for one of two plans.
pub(crate) fn limit(contexts: &mut ContextPolicy) {
    let budget = |module, tokens| ModuleContextPolicy {
        module,
        budget_tokens: Some(tokens),
        weights: BTreeMap::new(),
    };
    contexts.reserved_tokens = 0;
    contexts.module_overrides =
        vec![budget(Module::Debater(Role::Solution), 150), budget(Module::Debater(Role::Critic), 70)];
}

/// A session without an identity, and one with a permission.
pub(super) fn session_starts(user: &UserId) -> Vec<Input> {
    let identity = NewIdentity {
        name: "Ada".into(),
        authority: "cfo".into(),
        rank: None,
        department: "sales".into(),
        organization: String::new().into(),
        permissions: vec!["pay".into()],
    };
    let with_identity = Input::SessionStart { user: user.clone(), identity: Some(Box::new(identity)) };
    vec![Input::session_start(user.clone()), with_identity]
}

/// The first request precedes every write. After some of the writes, the second one starts.
pub(super) fn user_inputs(user: &UserId, state: &State) -> Vec<Input> {
    let message = |text: &str, scope| Input::UserMessage { user: user.clone(), text: text.into(), scope };
    let next = state.control().next_request();
    if next == RequestId::FIRST {
        return vec![message("an earlier message about the offer", Scope::Global)];
    }
    if next > RequestId::FIRST.next() {
        return Vec::new();
    }
    let mut inputs = Vec::new();
    let written = facts_written(state);
    if state.now() > Timestamp::default() || written == 0 || written == 3 {
        for text in ["go", "please prepare the offer for the customer in Berlin"] {
            inputs.push(message(text, Scope::Global));
            inputs.push(message(text, task_scope()));
        }
    }
    inputs.extend(next_write(state).map(|write| Input::Write(Box::new(write))));
    let has_expiry = state.semantic().next_expiry(state.now()).is_some();
    inputs.extend(has_expiry.then_some(Input::Tick));
    inputs
}

/// The next version of a global fact, once, after Security reviewed the plan of a request in a scope of its own.
pub(super) fn change_during_debate(state: &State) -> Option<Input> {
    let is_scoped = state.control().request().is_some_and(|request| request.scope == task_scope());
    let is_reviewed = state.control().phase() == Phase::Round(Role::Optimizer);
    (is_scoped && is_reviewed && versions(state) == 2)
        .then(|| Input::Write(Box::new(limit_of_offers("3", 3))))
}

/// The replies to a call, and the failure of the memory in the first request, which ends it.
pub(super) fn reports(state: &State, call: Call) -> Vec<Report> {
    let pass = state.control().request().map_or(0, |request| request.debate.pass);
    match call.operation {
        Operation::VerifyIdentity => vec![Report::Identity { gcp: true, mongodb: true }],
        Operation::LoadContext => vec![Report::Context { ratings: Ratings::default(), traces: Vec::new() }],
        // Later phases have the same contexts, so one of the states is enough.
        Operation::Summarize if facts_written(state) == 0 => {
            vec![Report::Summary { text: "both texts in short".into(), forgets: None }]
        }
        Operation::Summarize => Vec::new(),
        Operation::Classify => {
            vec![Report::Classification { tags: vec!["offer".into()], similarity: Score::ZERO }]
        }
        Operation::DraftPlan => [SHORT_PLAN, LONG_PLAN].map(|text| Report::Plan(plan(text))).into(),
        Operation::Argue(role) => arguments(role, pass),
        Operation::ReviewRevision => arguments(Role::Security, pass),
        Operation::ArgueAdditional { .. } => {
            vec![argument_with_text(Stance::Pro, Score::ONE, "agreed as well")]
        }
        Operation::RunTask { .. } => {
            [0, 1].map(|code| Report::Exit { code, text: "sent".into(), number: None }).into()
        }
        Operation::UndoTask { .. } => vec![Report::Exit { code: 0, text: "called".into(), number: None }],
        Operation::Diagnose => vec![Report::NoRepair { text: "no idea".into() }],
        Operation::StoreMemory { .. } => vec![Report::Stored { held: true }],
        Operation::DeliverAudit => vec![Report::Delivered],
        Operation::Approve => vec![Report::Approval { approved: true, text: "approved".into() }],
    }
}

/// The texts of the task in two plans.
const SHORT_PLAN: &str = "send it";
const LONG_PLAN: &str = "write the offer, let the customer sign it, and send it by post";

/// An argument for the plan. In the first pass the Critic and Security also object, and the Optimizer revises the plan.
fn arguments(role: Role, pass: u32) -> Vec<Report> {
    let agreement = argument_with_text(Stance::Pro, Score::ONE, "agreed");
    let objection = match role {
        Role::Critic => Some("the plan names no price, and nothing says when the customer gets it"),
        Role::Security => Some("the post is slow, and the offer would be open to many"),
        Role::Analyst | Role::Solution | Role::Optimizer => None,
    };
    let half = Score::from_millionths(500_000).unwrap_or(Score::ZERO);
    let objection = objection.filter(|_| pass < 2).map(|text| argument_with_text(Stance::Con, half, text));
    let revision = (role == Role::Optimizer && pass < 2).then(|| Report::Argument {
        argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
        text: "revised".into(),
        plan: Some(plan(LONG_PLAN)),
    });
    [agreement].into_iter().chain(objection).chain(revision).collect()
}

fn plan(text: &str) -> Plan {
    let task = Task {
        id: TaskId::new(1),
        text: text.into(),
        effect: Effect::Undoable { compensation: Text::from("call back") },
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    // One task has a plan.
    Plan::new(vec![task]).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The writes in their order: a fact, its dependent, the next version of the first, after which the dependent needs review, a
/// constraint, a fact in the scope of a task, a signal, and an item that expires.
fn next_write(state: &State) -> Option<Write> {
    let is_new = |key: ItemKey| state.semantic().latest_by_key(&key).is_none();
    let is_new_fact = |key: &str| is_new(ItemKey::Fact(key.into()));
    if state.now() > Timestamp::default() {
        return None;
    }
    if versions(state) == 0 {
        return Some(limit_of_offers("1", 1));
    }
    if is_new_fact("offer") {
        let depends_on = vec![Reference::Key("limit".into())];
        return Some(Write::Fact(NewFact {
            depends_on,
            ..stated("offer", "nine units", Rank::Employee.name(), 2)
        }));
    }
    if versions(state) == 1 {
        return Some(limit_of_offers("2", 2));
    }
    if is_new_fact("cap") {
        let kind = FactKind::Constraint(Some(ConstraintType::Budget));
        return Some(Write::Fact(NewFact { kind, ..stated("cap", "15 %", Rank::Policy.name(), 0) }));
    }
    if is_new_fact("step") {
        let scope = task_scope();
        return Some(Write::Fact(NewFact { scope, ..stated("step", "first page", Rank::Manager.name(), 0) }));
    }
    if is_new(ItemKey::Environment("weather".into())) {
        return Some(Write::Environment { key: "weather".into(), text: "rain".into(), supersedes: None });
    }
    is_new(ItemKey::Working("note".into())).then(|| Write::Working {
        key: "note".into(),
        text: "ask first".into(),
        expires_at: Some(Timestamp::from_millis(2)),
        depends_on: Vec::new(),
    })
}

/// A version of a global fact.
fn limit_of_offers(text: &str, hour: u64) -> Write {
    Write::Fact(stated("limit", text, "finance_system", hour))
}

/// A global fact of a source, established at this hour; 0 if the time is unknown.
fn stated(key: &str, text: &str, source: &str, hour: u64) -> NewFact {
    let established_at = Some(Timestamp::from_millis(hour * 3_600_000));
    NewFact { established_at, source: WriteSource::declared(source.into()), ..fact(key, text) }
}

fn versions(state: &State) -> usize {
    let is_version = |key: &ItemKey| *key == ItemKey::Fact("limit".into());
    state.semantic().entries().filter(|entry| is_version(&entry.item.key)).count()
}

fn facts_written(state: &State) -> usize {
    state.semantic().entries().filter(|entry| entry.item.fact().is_some()).count()
}

fn task_scope() -> Scope {
    Scope::Task("t".into())
}
