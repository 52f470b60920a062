//! The selection problem of a context (000 §5; decisions 0022, 0024, 0029, 0033), measured in bytes: four of them are a token, and
//! nothing is relevant.

use super::compaction::cluster;
use super::serialization::{SITUATION, headings, line, section};
use super::situation::reasoning_mode;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, Layer, Topic};
use orchestrion_kernel::module::{Module, Operation, Role};
use orchestrion_kernel::plan::{StepOptions, Task};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::selection::{Candidate, Inclusion};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::state::State;

/// The problem of a context.
#[derive(Debug)]
pub(crate) struct ExpectedProblem {
    /// The items in id order, then the headings of the sections, then the payload.
    pub(crate) candidates: Vec<Candidate>,
    /// The ids of the first candidates.
    pub(crate) ids: Vec<ItemId>,
    /// The lines of these items.
    pub(crate) lines: Vec<String>,
    /// The headings, and whether the context always contains them.
    pub(crate) headings: Vec<(String, bool)>,
    /// The tokens of the context and the payload.
    pub(crate) budget: u64,
}

/// Whether the module of an operation reads a context: all but the identity guard, the stores and the audit sink.
pub(crate) const fn takes_context(operation: Operation) -> bool {
    !matches!(operation, Operation::VerifyIdentity | Operation::StoreMemory { .. } | Operation::DeliverAudit)
}

/// The tokens of a call's context and payload: the budget of its module without what is reserved for the reply.
pub(crate) fn token_limit(policy: &Policy, operation: Operation) -> u64 {
    let contexts = &policy.contexts;
    let own = contexts.module_overrides.iter().find(|own| own.module == operation.module());
    let budget = own.and_then(|own| own.budget_tokens).unwrap_or(contexts.budget_tokens);
    budget.saturating_sub(contexts.reserved_tokens).into()
}

/// Whether every context of the operation contains the item (000 §5, 003 layers 1 and 4, 002): the identity, signals, the user's
/// message, the situation of a module that reasons, and for Solution the reviews of the previous pass.
pub(crate) fn is_pinned(policy: &Policy, state: &State, operation: Operation, item: &Item) -> bool {
    let Some(request) = state.control().request() else { return false };
    match (&item.layer, &item.key) {
        (Layer::Identity(_) | Layer::Environment, _) => true,
        (_, ItemKey::Situation(_)) => reasoning_mode(&policy.situation, operation).is_some(),
        (_, ItemKey::Request(id)) => *id == request.id,
        (_, ItemKey::Argument(id, role)) => {
            operation == Operation::Argue(Role::Solution)
                && *id == request.id
                && request.debate.reviews.contains(role)
        }
        _ => false,
    }
}

/// The length of the payload as the JSON of the derived encoding, which shares no code with the kernel's count. 0: no payload. Of a
/// task it has what its module reads, and not the options by which a network routes it (decision 0042).
pub(crate) fn payload_bytes(state: &State, operation: Operation) -> usize {
    let Some(request) = state.control().request() else { return 0 };
    let length = |json: Result<Vec<u8>, _>| json.map_or(0, |json| json.len());
    let without_step = |task: &Task| Task { step: StepOptions::default(), ..task.clone() };
    match operation {
        Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::Diagnose => {
            let plan = request.plan.as_ref().map(|revised| &revised.plan);
            let tasks = plan.map(|plan| plan.tasks().iter().map(without_step).collect::<Vec<Task>>());
            tasks.map_or(0, |tasks| length(serde_json::to_vec(&BTreeMap::from([("plan", tasks)]))))
        }
        Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
            let started = request.ledger.iter().filter(|started| started.task == task);
            let task = started.filter_map(|started| started.version.as_ref()).next();
            task.map_or(0, |task| length(serde_json::to_vec(&BTreeMap::from([("task", without_step(task))]))))
        }
        Operation::VerifyIdentity
        | Operation::LoadContext
        | Operation::Summarize
        | Operation::Classify
        | Operation::DraftPlan
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => 0,
    }
}

/// The tokens of the payload.
pub(crate) fn payload_tokens(state: &State, operation: Operation) -> u64 {
    u64::try_from(payload_bytes(state, operation).div_ceil(4)).unwrap_or(u64::MAX)
}

impl ExpectedProblem {
    /// The problem of a call in a state: that of the items that it may read, of which it can select some. That of a summary is the
    /// cluster.
    pub(crate) fn new(
        policy: &Policy,
        state: &State,
        operation: Operation,
        readable: &BTreeSet<ItemId>,
        selectable: &BTreeSet<ItemId>,
    ) -> Self {
        let is_summary = operation == Operation::Summarize;
        let ids = if is_summary { cluster(policy, state) } else { readable.iter().copied().collect() };
        let items: Vec<&Entry> = ids.iter().filter_map(|id| state.semantic().get(*id)).collect();
        let lines: Vec<String> = items.iter().map(|entry| line(policy, &entry.item)).collect();
        let headings = headings(policy, state, operation);
        let mut candidates: Vec<Candidate> = Vec::new();
        for (at, (entry, line)) in items.iter().zip(&lines).enumerate() {
            let section = section(policy, state, operation, &entry.item);
            let known = entry.deps.iter().filter(|_| !is_summary);
            let deps = known.filter_map(|dep| ids.iter().position(|id| id == dep));
            candidates.push(Candidate {
                utility: utility(policy, operation.module(), &entry.item, ids.len().saturating_sub(at)),
                cost: if section == SITUATION { 0 } else { tokens(line) },
                deps: deps.chain([ids.len().saturating_add(section)]).collect(),
                inclusion: if is_summary {
                    Inclusion::Pinned
                } else if !selectable.contains(&entry.item.id) {
                    Inclusion::Forbidden
                } else if is_pinned(policy, state, operation, &entry.item) {
                    Inclusion::Pinned
                } else {
                    Inclusion::Free
                },
            });
        }
        let payload = Some((payload_tokens(state, operation), true)).filter(|(tokens, _)| *tokens > 0);
        let shown = headings.iter().map(|(text, is_shown)| (tokens(text), *is_shown));
        candidates.extend(shown.chain(payload).map(|(cost, is_shown)| Candidate {
            utility: 0,
            cost,
            deps: Vec::new(),
            inclusion: if is_shown { Inclusion::Pinned } else { Inclusion::Free },
        }));
        Self { candidates, ids, lines, headings, budget: token_limit(policy, operation) }
    }
}

/// The tokens of the pinned items with their dependencies and headings, and of the payload.
pub(crate) fn required_tokens(problem: &ExpectedProblem) -> u64 {
    let all = &problem.candidates;
    let is_pinned = |(at, one): (usize, &Candidate)| (one.inclusion == Inclusion::Pinned).then_some(at);
    let mut needed: BTreeSet<usize> = all.iter().enumerate().filter_map(is_pinned).collect();
    loop {
        let deps = needed.iter().filter_map(|at| all.get(*at)).flat_map(|one| one.deps.iter().copied());
        let more: BTreeSet<usize> = deps.filter(|dep| !needed.contains(dep)).collect();
        if more.is_empty() {
            break;
        }
        needed.extend(more);
    }
    let costs = needed.iter().filter_map(|at| all.get(*at)).map(|one| one.cost);
    costs.fold(0, u64::saturating_add)
}

/// The tokens of a text: four of its bytes are one.
pub(crate) fn tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

/// The weight of the item's topic, times one plus the recency of its age; rounded up. The newest item has the age 1.
fn utility(policy: &Policy, module: Module, item: &Item, age: usize) -> u64 {
    let topic = topic(item);
    let own = policy.contexts.module_overrides.iter().find(|own| own.module == module);
    let own = own.and_then(|own| own.weights.get(&topic));
    let weight = own.map_or_else(|| built_in_weight(module, topic), |weight| weight.millionths().into());
    let (mut class, mut newest) = (1_u64, 1_usize);
    while age >= newest.saturating_mul(2) {
        (class, newest) = (class.saturating_add(1), newest.saturating_mul(2));
    }
    let share = MILLION.checked_div(class).unwrap_or(0);
    let recency = u64::from(policy.contexts.recency.millionths()).saturating_mul(share) / MILLION;
    weight.saturating_mul(MILLION.saturating_add(recency)).div_ceil(MILLION)
}

const MILLION: u64 = 1_000_000;

/// The table of weights of decision 0024, in millionths.
const fn built_in_weight(module: Module, topic: Topic) -> u64 {
    let tenths = match (topic, module) {
        (Topic::Constraint, Module::Planner) => 40,
        (Topic::Constraint, Module::Debater(Role::Security)) => 60,
        (Topic::Constraint, _) => 30,
        (Topic::Summary, _) => 20,
        (Topic::Fact, Module::Debater(Role::Analyst | Role::Security)) => 20,
        (Topic::Task, Module::Debater(Role::Solution)) => 20,
        (Topic::Task, Module::Debater(Role::Critic | Role::Optimizer)) => 30,
        (Topic::Task, Module::Executor) => 40,
        (Topic::Output, Module::Debater(Role::Critic)) => 20,
        (Topic::Output, Module::Executor) => 30,
        (Topic::Argument, Module::Debater(Role::Critic | Role::Optimizer)) => 20,
        (Topic::Diagnosis, Module::Debater(Role::Solution)) => 20,
        (Topic::Trace, Module::Planner | Module::Debater(Role::Analyst)) => 15,
        (Topic::Tags, Module::Debater(Role::Analyst)) => 15,
        (Topic::Trace | Topic::Tags | Topic::Approval, _) => 5,
        (
            Topic::Fact
            | Topic::Task
            | Topic::Output
            | Topic::Argument
            | Topic::Diagnosis
            | Topic::Identity
            | Topic::Environment
            | Topic::Working
            | Topic::Situation
            | Topic::Request
            | Topic::FinalAnswer,
            _,
        ) => 10,
    };
    MILLION / 10 * tenths
}

/// The topic of an item: that of its key, or constraint.
const fn topic(item: &Item) -> Topic {
    if matches!(item.kind, ItemKind::Constraint(_)) {
        return Topic::Constraint;
    }
    match item.key {
        ItemKey::Identity => Topic::Identity,
        ItemKey::Environment(_) => Topic::Environment,
        ItemKey::Fact(_) => Topic::Fact,
        ItemKey::Summary => Topic::Summary,
        ItemKey::Working(_) => Topic::Working,
        ItemKey::Situation(_) => Topic::Situation,
        ItemKey::Request(_) => Topic::Request,
        ItemKey::FinalAnswer(_) => Topic::FinalAnswer,
        ItemKey::Trace(_) => Topic::Trace,
        ItemKey::Tags(_) => Topic::Tags,
        ItemKey::Task(..) => Topic::Task,
        ItemKey::Output(..) | ItemKey::Aggregate(_) => Topic::Output,
        ItemKey::Argument(..) | ItemKey::AdditionalArgument(..) => Topic::Argument,
        ItemKey::Diagnosis(_) => Topic::Diagnosis,
        ItemKey::Approval(_) => Topic::Approval,
    }
}
