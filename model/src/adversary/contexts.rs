//! The inputs of the adversary about contexts: items with every detail that a line states, texts of several lengths under small
//! budgets, reviews of two passes, and a request in a scope of its own.

use super::knowledge::{fact, reply_with_situation};
use super::{argument_with_text, is_planned};
use orchestrion_kernel::ids::{Timestamp, TraceId};
use orchestrion_kernel::item::{Audience, ConstraintType, ItemKey, Rank, Scope, Topic};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Reference, Write, WriteSource};
use orchestrion_kernel::module::{Argument, Module, Operation, PastRequest, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::{CompactionPolicy, ContextPolicy, ModuleContextPolicy};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    ConversationId, Input, Phase, Policy, RequestId, Score, State, TaskId, Text, UserId, Weight,
};

/// The common budget: all items of a debate do not fit.
pub(crate) const BUDGET_TOKENS: u32 = 150 + RESERVED_TOKENS;

/// What one of the users may do.
const PERMISSION: &str = "pay";

/// The part of each budget for the reply.
const RESERVED_TOKENS: u32 = 20;

/// Two persistent items of the first request are enough for a compaction, and a cluster could also contain the running one's message. While
/// a fact changes during a debate, the session has more items than it keeps.
pub(crate) const COMPACTION: CompactionPolicy =
    CompactionPolicy { from_items: 2, from_tokens: u32::MAX, cluster_items: 3, session_items_max: 6 };

/// Sets budgets of single modules: Solution has room for little more than the reviews, the Critic for one of two plans.
pub(crate) fn limit(contexts: &mut ContextPolicy) {
    let budget = |module, tokens, weights: &[(Topic, u32)]| ModuleContextPolicy {
        module,
        budget_tokens: Some(tokens + RESERVED_TOKENS),
        weights: weights.iter().filter_map(|(topic, ones)| Some((*topic, weight(*ones)?))).collect(),
    };
    contexts.reserved_tokens = RESERVED_TOKENS;
    contexts.module_overrides = vec![
        budget(Module::Debater(Role::Solution), 150, &[(Topic::Fact, 3), (Topic::Request, 0)]),
        budget(Module::Debater(Role::Critic), 70, &[]),
        // All items fit, also those without a weight.
        budget(Module::Planner, 1_000, &[(Topic::Request, 0), (Topic::Tags, 0)]),
    ];
}

fn weight(ones: u32) -> Option<Weight> {
    Weight::from_millionths(ones * 1_000_000)
}

/// A session without an identity, and one with a permission.
pub(super) fn session_starts(user: &UserId) -> Vec<Input> {
    let identity = NewIdentity {
        name: "Ada".into(),
        authority: "cfo".into(),
        rank: None,
        department: "sales".into(),
        organization: String::new().into(),
        permissions: vec![PERMISSION.into()],
    };
    let with_identity = Input::SessionStart { user: user.clone(), identity: Some(Box::new(identity)) };
    vec![Input::session_start(user.clone()), with_identity]
}

/// Whether a request precedes every write. It ends early, and another one follows: the policy has transitions for both.
pub(super) const fn has_earlier_request(policy: &Policy) -> bool {
    policy.rules.error_rows && policy.rules.next_request
}

/// After some of the writes, the request starts whose contexts are of interest.
pub(super) fn user_inputs(policy: &Policy, user: &UserId, state: &State) -> Vec<Input> {
    let message = |text: &str, scope| Input::UserMessage { user: user.clone(), text: text.into(), scope };
    let (has_earlier, next) = (has_earlier_request(policy), state.control().next_request());
    if has_earlier && next == RequestId::FIRST {
        return vec![message("an earlier message about the offer", Scope::Global)];
    }
    let last = if has_earlier { RequestId::FIRST.next() } else { RequestId::FIRST };
    if next > last {
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
        Operation::LoadContext => {
            vec![Report::Context { ratings: Ratings::default(), traces: past_requests() }]
        }
        // Later phases have the same contexts, so one of the states is enough.
        Operation::Summarize if facts_written(state) == 0 => {
            vec![Report::Summary { text: "both texts in short".into(), forgets: None }]
        }
        Operation::Summarize => Vec::new(),
        Operation::Classify => {
            vec![Report::Classification { tags: vec!["offer".into()], similarity: Score::ZERO }]
        }
        Operation::DraftPlan => {
            let is_open = state.now() > Timestamp::default();
            let scoped = [scoped_plan(), vetoed_plan()].into_iter().filter(|_| is_open);
            [SHORT_PLAN, LONG_PLAN].map(plan).into_iter().chain(scoped).map(Report::Plan).collect()
        }
        Operation::Argue(role) => arguments(role, pass, state),
        Operation::ReviewRevision => arguments(Role::Security, pass, state),
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
const LONG_PLAN: &str = "write the \"offer\",\nlet the customer sign it, and send it by post";

/// The reply of a task in a scope of its own, with an action and an update, which the request does not take.
pub(super) fn reply_in_scope(state: &State, call: Call) -> Option<Input> {
    let request = state.control().request()?;
    let is_own = matches!(call.operation, Operation::RunTask { .. })
        && *request.call_scope(call.operation) != request.scope;
    let Input::Reply { summary_update, action, .. } = reply_with_situation(call.id) else { return None };
    let report = Report::Exit { code: 0, text: "sent".into(), number: None };
    is_own.then_some(Input::Reply { call: call.id, report, summary_update, action, interaction: None })
}

/// An argument for the plan. In the first pass the Critic and Security also object, and the Optimizer revises the plan; in the
/// second one the Critic objects again, after all writes. One plan is vetoed.
fn arguments(role: Role, pass: u32, state: &State) -> Vec<Report> {
    let agreement = argument_with_text(Stance::Pro, Score::ONE, "agreed");
    if is_planned(state, &vetoed_plan()) {
        let vetoes = role == Role::Security;
        return vec![if vetoes { argument_with_text(Stance::Con, Score::ONE, "never") } else { agreement }];
    }
    let objection = match role {
        Role::Critic => Some("the plan names no price, and nothing says when the customer gets it"),
        Role::Security => Some("the post is slow, and the offer would be open to many"),
        Role::Analyst | Role::Solution | Role::Optimizer => None,
    };
    let half = Score::from_millionths(500_000).unwrap_or(Score::ZERO);
    let repeats = role == Role::Critic && pass == 2 && state.now() > Timestamp::default();
    let objection =
        objection.filter(|_| pass < 2 || repeats).map(|text| argument_with_text(Stance::Con, half, text));
    let revision = |plan| Report::Argument {
        argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
        text: "revised".into(),
        plan: Some(plan),
    };
    let revises = role == Role::Optimizer && pass < 2;
    let is_open = state.now() > Timestamp::default();
    let revised = revises.then(|| plan(LONG_PLAN));
    let moved = (revises && is_open).then(|| plan_in_scope(SHORT_PLAN));
    [agreement].into_iter().chain(objection).chain(revised.into_iter().chain(moved).map(revision)).collect()
}

/// A request of another conversation. Memory returns it twice.
fn past_requests() -> Vec<PastRequest> {
    let trace = TraceId { conversation: ConversationId::new("old"), request: RequestId::FIRST };
    let past = |text: &str| PastRequest { trace: trace.clone(), text: text.into(), scope: Scope::Global };
    vec![past("an offer was sent"), past("the same offer")]
}

fn plan(text: &str) -> Plan {
    let undoable = Effect::Undoable { compensation: Text::from("call back") };
    new_plan(vec![task(1, text, undoable)])
}

/// The same plan in a scope of its own.
fn plan_in_scope(text: &str) -> Plan {
    new_plan(
        plan(text).tasks().iter().map(|task| Task { scope: Some(task_scope()), ..task.clone() }).collect(),
    )
}

/// A plan whose first task runs in a scope of its own.
fn scoped_plan() -> Plan {
    let first = Task { scope: Some(task_scope()), ..task(1, "look it up", Effect::Pure) };
    let second = task(2, SHORT_PLAN, Effect::Irreversible);
    new_plan(vec![first, Task { depends_on: Some(vec![TaskId::new(1)]), ..second }])
}

/// A plan without declared dependencies, whose second and third task have a scope of their own. Security vetoes it.
fn vetoed_plan() -> Plan {
    let scoped = |number| Task { scope: Some(task_scope()), ..task(number, "look it up", Effect::Pure) };
    new_plan(vec![task(1, "look it up", Effect::Pure), scoped(2), scoped(3)])
}

fn task(number: u32, text: &str, effect: Effect) -> Task {
    let (depends_on, scope, step) = (None, None, StepOptions::default());
    Task { id: TaskId::new(number), text: text.into(), effect, depends_on, scope, step }
}

fn new_plan(tasks: Vec<Task>) -> Plan {
    // The tasks are distinct, and each comes after those that it depends on.
    Plan::new(tasks).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The writes in their order: a fact, its dependent, the next version of the first, after which the dependent needs review, a
/// constraint, a fact in the scope of a task, a signal, and two working items of which one expires.
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
        let audience = Audience::Permitted(PERMISSION.into());
        return Some(Write::Fact(NewFact {
            kind,
            audience,
            ..stated("cap", "15 %", Rank::Policy.name(), 0)
        }));
    }
    if is_new_fact("step") {
        let scope = task_scope();
        return Some(Write::Fact(NewFact { scope, ..stated("step", "first page", Rank::Manager.name(), 0) }));
    }
    if is_new(ItemKey::Environment("weather".into())) {
        return Some(Write::Environment { key: "weather".into(), text: "rain".into(), supersedes: None });
    }
    let working = |key: &str, expires_at: Option<u64>| Write::Working {
        key: key.into(),
        text: "ask first".into(),
        expires_at: expires_at.map(Timestamp::from_millis),
        depends_on: Vec::new(),
    };
    let mut items = [("memo", None), ("note", Some(2))].into_iter();
    items.find(|(key, _)| is_new(ItemKey::Working((*key).into()))).map(|(key, at)| working(key, at))
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
