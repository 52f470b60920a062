//! Module reports: one default report for each operation, and arbitrary ones of the right kind.

use super::policies::score;
use super::writes::{declare_scopes, past_scope};
use super::{Bias, RandomSource};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{
    Argument, Operation, PastRequest, Rating, Ratings, Report, Role, Stance, Store,
};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::{Millionths, Priority, Requirements, TaskConstraints};
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, ItemId, Policy, RequestId, Score, TaskId, Text, TraceId};
use std::sync::Arc;

/// Elo points around the limits of ratings and of the duel table.
const ELO: [u32; 14] = [1200, 1200, 0, 4, 5, 15, 599, 600, 601, 1190, 1799, 1801, u32::MAX - 3, u32::MAX];
/// Texts: empty, plain, and difficult for a terminal, file or encoding.
const TEXTS: [&str; 8] =
    ["", "a", "so be it", "größer 😀 \u{202e}x", "two\nlines", "\u{0}\u{1b}[2J", "\"{\\}", " "];

/// Returns a report with which the request continues. `current` is the current plan, if any.
pub(super) fn default_report(operation: Operation, current: Option<&Plan>) -> Report {
    match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => Report::Summary { text: empty_text(), forgets: None },
        Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Operation::DraftPlan => Report::Plan(pure_plan()),
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
            Report::Argument { argument, text: empty_text(), plan: None }
        }
        Operation::Approve => Report::Approval { approved: true, text: empty_text() },
        Operation::RunTask { .. } | Operation::UndoTask { .. } => {
            Report::Exit { code: 0, text: empty_text(), number: None }
        }
        // The unchanged plan keeps the effects of started tasks.
        Operation::Diagnose => {
            Report::Repaired { text: empty_text(), plan: current.cloned().unwrap_or_else(pure_plan) }
        }
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}

/// Generates a report of the right kind.
pub(super) fn random_report(
    choice: &mut impl RandomSource,
    policy: &Policy,
    bias: &Bias,
    open: &[Scope],
    operation: Operation,
) -> Report {
    match operation {
        Operation::VerifyIdentity => {
            Report::Identity { gcp: choice.percent(98), mongodb: choice.percent(98) }
        }
        Operation::LoadContext => Report::Context { ratings: ratings(choice), traces: traces(choice) },
        Operation::Summarize => Report::Summary { text: text(choice), forgets: forgets(choice) },
        Operation::Classify => {
            let tags = (0..choice.below(3)).map(|_| text(choice)).collect();
            Report::Classification { tags, similarity: score(choice) }
        }
        Operation::DraftPlan => Report::Plan(plan(choice, open)),
        Operation::Argue(role) => {
            let argument = argument(choice, policy, bias);
            let plan = (role.revises_plan() && choice.percent(25)).then(|| plan(choice, open));
            Report::Argument { argument, text: text(choice), plan }
        }
        Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            Report::Argument { argument: argument(choice, policy, bias), text: text(choice), plan: None }
        }
        Operation::Approve => Report::Approval { approved: choice.percent(70), text: text(choice) },
        Operation::RunTask { .. } | Operation::UndoTask { .. } => {
            let code = if choice.percent(bias.success) {
                0
            } else {
                choice.one_of(&[1, 2, -1, 124, i32::MAX, i32::MIN])
            };
            Report::Exit { code, text: output(choice), number: number(choice) }
        }
        Operation::Diagnose if choice.percent(70) => {
            Report::Repaired { text: text(choice), plan: plan(choice, open) }
        }
        Operation::Diagnose => Report::NoRepair { text: text(choice) },
        Operation::StoreMemory { .. } => Report::Stored { held: choice.percent(80) },
        Operation::DeliverAudit => Report::Delivered,
    }
}

/// Generates an operation that may not be pending.
pub(super) fn random_operation(choice: &mut impl RandomSource) -> Operation {
    let (role, debater) = (choice.one_of(&Role::ALL), choice.below(3));
    choice.one_of(&[
        Operation::VerifyIdentity,
        Operation::LoadContext,
        Operation::Classify,
        Operation::DraftPlan,
        Operation::Argue(role),
        Operation::ArgueAdditional { debater },
        Operation::ReviewRevision,
        Operation::Approve,
        Operation::UndoTask { task: TaskId::FIRST },
        Operation::Diagnose,
        Operation::StoreMemory {
            store: Store::Local,
            kind: orchestrion_kernel::module::ConclusionKind::Outcome,
        },
        Operation::DeliverAudit,
    ])
}

pub(super) fn text(choice: &mut impl RandomSource) -> Text {
    Text::from(choice.one_of(&TEXTS))
}

/// Generates the output of a task: often one that no other text contains, so that a reader of another scope is noticed.
fn output(choice: &mut impl RandomSource) -> Text {
    if choice.percent(50) { Text::from(format!("out{}", 100 + choice.below(900))) } else { text(choice) }
}

/// Generates the number of an output, mostly one; averages and consensus need it.
fn number(choice: &mut impl RandomSource) -> Option<Millionths> {
    let numbers = [0, 1, 1_000_000, 3_333_333, -5_000_000, 10_000_000];
    choice.percent(80).then(|| Millionths::new(choice.one_of(&numbers)))
}

/// Generates an argument whose confidence is a threshold, next to one, an extreme, or arbitrary.
fn argument(choice: &mut impl RandomSource, policy: &Policy, bias: &Bias) -> Argument {
    let stance = if choice.percent(bias.pro) { Stance::Pro } else { Stance::Con };
    let t = &policy.thresholds;
    let thresholds = [t.veto_from, t.objection_from, t.critique_above, t.redebate_below, t.proceed_from];
    let confidence = match choice.weighted(&[45, 15, 10, 30]) {
        0 => {
            let threshold = choice.one_of(&thresholds).millionths();
            let near = [threshold, threshold.saturating_sub(1), threshold.saturating_add(1)];
            Score::from_millionths(choice.one_of(&near)).unwrap_or(Score::ONE)
        }
        1 => Score::ONE,
        2 => Score::ZERO,
        _ => score(choice),
    };
    Argument { stance, confidence }
}

/// Generates a list of forgotten items: mostly all, sometimes few, inside or outside the cluster.
fn forgets(choice: &mut impl RandomSource) -> Option<Vec<ItemId>> {
    choice
        .percent(40)
        .then(|| (0..choice.below(3)).map(|_| ItemId::new(u64::from(choice.below(9)))).collect())
}

fn ratings(choice: &mut impl RandomSource) -> Ratings {
    let mut ratings = Ratings::default();
    if choice.percent(50) {
        for role in Role::ALL {
            let successes = choice.one_of(&[0, 1, 2, 3, 500, u32::MAX]);
            let matches = choice.one_of(&[0, 1, 3, 7, 1000, u32::MAX]);
            *ratings.get_mut(role) = Rating { elo: choice.one_of(&ELO), successes, matches };
        }
    }
    ratings
}

/// Generates past requests of this conversation and of others, sometimes with a duplicate.
fn traces(choice: &mut impl RandomSource) -> Vec<PastRequest> {
    let trace = |choice: &mut _| {
        let conversation =
            ConversationId::new(RandomSource::one_of(choice, &["past", super::actions::CONVERSATION]));
        let request = RequestId::new(RandomSource::below(choice, 3));
        PastRequest {
            trace: TraceId { conversation, request },
            text: text(choice),
            scope: past_scope(choice),
        }
    };
    (0..choice.one_of(&[0, 0, 1, 3])).map(|_| trace(choice)).collect()
}

/// Generates a plan of up to four tasks, rarely of more, in these open scopes. A task number mostly keeps its kind of effect, as
/// a later plan must.
fn plan(choice: &mut impl RandomSource, open: &[Scope]) -> Plan {
    let tasks = if choice.percent(1) { 40 } else { 1 + choice.below(4) };
    let mut numbers: Vec<u32> = (1..=tasks.max(5)).collect();
    for index in 0..numbers.len().min(5) {
        let other = choice.below(5);
        numbers.swap(index, usize::try_from(other).unwrap_or(0));
    }
    numbers.truncate(usize::try_from(tasks).unwrap_or(1));
    let changed = choice.percent(6);
    let task = |number: u32| {
        let kind = if changed { number + 1 } else { number };
        // Two small numbers are pure, so that a validation can repeat its task.
        let effect = match kind {
            1 | 5 | 7 => Effect::Undoable { compensation: text(choice) },
            2 | 8 => Effect::Irreversible,
            _ => Effect::Pure,
        };
        // Rarely, a task has the largest number.
        let id = if number == 5 { TaskId::new(u32::MAX) } else { TaskId::new(number) };
        Task { id, text: text(choice), effect, depends_on: None, scope: None, step: StepOptions::default() }
    };
    let mut tasks: Vec<Task> = numbers.into_iter().map(task).collect();
    declare_dependencies(choice, &mut tasks);
    declare_scopes(choice, &mut tasks, open);
    declare_steps(choice, &mut tasks);
    if choice.percent(15) {
        tasks = validated_tasks(choice);
    }
    let plan = Plan::new(tasks).unwrap_or_else(|_| pure_plan());
    if choice.percent(70) {
        return plan;
    }
    plan.with_aggregation(Aggregation {
        strategy: choice.one_of(&AggregationStrategy::ALL),
        criticality: score(choice),
        is_ensemble: choice.percent(40),
    })
}

/// Generates a pipeline with a validation, which other plans seldom contain.
fn validated_tasks(choice: &mut impl RandomSource) -> Vec<Task> {
    let task = |number: u32, validates: Option<TaskId>| Task {
        id: TaskId::new(number),
        text: empty_text(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions { validates, ..StepOptions::default() },
    };
    let (first, second) = if choice.percent(50) { (3, 4) } else { (4, 3) };
    vec![task(first, None), task(second, Some(TaskId::new(first)))]
}

/// Declares optional tasks, priorities, and validations of a task on which the validation depends.
fn declare_steps(choice: &mut impl RandomSource, tasks: &mut [Task]) {
    if choice.percent(50) {
        return;
    }
    let mut before: Option<TaskId> = None;
    let mut pure: Vec<TaskId> = Vec::new();
    for task in tasks {
        let declared = task.depends_on.clone().unwrap_or_else(|| before.into_iter().collect());
        task.step.optional = choice.percent(25);
        // Only pure tasks are repeated, so most validations are of those.
        let pure_declared: Vec<TaskId> =
            declared.iter().filter(|task| pure.contains(task)).copied().collect();
        if task.effect == Effect::Pure && !pure_declared.is_empty() && choice.percent(85) {
            task.step.validates = Some(choice.one_of(&pure_declared));
        } else if !declared.is_empty() && choice.percent(30) {
            task.step.validates = Some(choice.one_of(&declared));
        }
        if choice.percent(25) {
            let priority = choice.one_of(&Priority::ALL);
            let constraints = TaskConstraints { priority, ..TaskConstraints::default() };
            let requirements = Requirements { constraints, ..Requirements::default() };
            task.step.requirements = Some(Arc::new(requirements));
        }
        before = Some(task.id);
        pure.extend((task.effect == Effect::Pure).then_some(task.id));
    }
}

/// Declares the dependencies of tasks: a sequence, a fan-out, or up to three earlier tasks each, in any order and with repeats.
fn declare_dependencies(choice: &mut impl RandomSource, tasks: &mut [Task]) {
    let shape = choice.weighted(&[30, 25, 45]);
    let mut earlier: Vec<TaskId> = Vec::new();
    for task in tasks {
        task.depends_on = match shape {
            0 => None,
            1 => Some(Vec::new()),
            _ if choice.percent(15) => None,
            _ if earlier.is_empty() => Some(Vec::new()),
            _ => {
                let count = choice.one_of(&[0, 1, 1, 2, 3]);
                Some((0..count).map(|_| choice.one_of(&earlier)).collect())
            }
        };
        earlier.push(task.id);
    }
}

/// Returns a plan with one pure task. Its number belongs to a pure task in every other plan.
pub(super) fn pure_plan() -> Plan {
    let (id, text) = (TaskId::new(3), empty_text());
    let task =
        Task { id, text, effect: Effect::Pure, depends_on: None, scope: None, step: StepOptions::default() };
    Plan::new(vec![task]).unwrap_or_else(|error| unreachable!("one task forms a valid plan: {error}"))
}

pub(super) fn empty_text() -> Text {
    Text::from("")
}
