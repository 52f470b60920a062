//! The inputs of the adversary about final answers: two requests, whose plans differ after each revision and each repair, with a text
//! of its own for each output, except in a vote, and with past requests.

use super::is_planned;
use crate::scopes::steps::{aggregation, plan_of, step};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Argument, Operation, PastRequest, Ratings, Report, Role, Stance};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{ConversationId, RequestId, Score, State, TaskId, Text, TraceId};

/// The reports with a plan or a text of their own; none for other operations.
pub(super) fn reports(state: &State, ask: Operation) -> Option<Vec<Report>> {
    let request = state.control().request()?.id;
    let is_first = request == RequestId::FIRST;
    match ask {
        Operation::LoadContext => {
            let traces = if is_first { first_memory() } else { second_memory() };
            Some(vec![Report::Context { ratings: Ratings::default(), traces }])
        }
        Operation::DraftPlan => Some(if is_first {
            [ensemble(), vote(), with_option(&[1]), with_option(&[2])].map(Report::Plan).into()
        } else {
            vec![Report::Plan(plan_of([task(1, &[]), task(2, &[1])]))]
        }),
        Operation::Argue(role) => {
            let mut reports = vec![agreement(&role.to_string(), None)];
            if is_first && role == Role::Solution {
                reports.push(agreement("revision", Some(revised())));
                reports.extend(
                    is_planned(state, &with_option(&[1])).then(|| agreement("order", Some(with_option(&[])))),
                );
            }
            Some(reports)
        }
        Operation::ReviewRevision => Some(vec![agreement("review", None), veto()]),
        Operation::Classify => {
            let tags = ["first", "second", "third", "fourth"].map(Text::from).into();
            let similarity = Score::from_millionths(400_000).unwrap_or(Score::ONE);
            Some(vec![Report::Classification { tags, similarity }])
        }
        Operation::RunTask { task, .. } if is_planned(state, &vote()) => Some(votes(task)),
        Operation::RunTask { task, .. } => {
            let output = |word, code| {
                let text = format!("{word} {}.{}", request.number(), task.number());
                Report::Exit { code, text: Text::from(text.as_str()), number: None }
            };
            Some(vec![output("output", 0), output("error", -1)])
        }
        Operation::Diagnose => {
            let given_up = Report::NoRepair { text: Text::from("no repair") };
            let repairs = state.control().request()?.repairs;
            let repair = Report::Repaired { text: Text::from("repair"), plan: repaired(repairs) };
            Some([given_up].into_iter().chain(is_first.then_some(repair)).collect())
        }
        Operation::VerifyIdentity
        | Operation::Summarize
        | Operation::ArgueAdditional { .. }
        | Operation::Approve
        | Operation::UndoTask { .. }
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => None,
    }
}

fn veto() -> Report {
    let argument = Argument { stance: Stance::Con, confidence: Score::ONE };
    Report::Argument { argument, text: Text::from("veto"), plan: None }
}

/// An argument for the plan, with a text and a revision.
fn agreement(text: &str, plan: Option<Plan>) -> Report {
    let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
    Report::Argument { argument, text: Text::from(text), plan }
}

/// Members of which one may fail, and a task after them.
fn ensemble() -> Plan {
    let members = plan_of([task(1, &[]), task(2, &[]), task(3, &[1, 2])]);
    members.with_aggregation(aggregation(AggregationStrategy::Voting, true))
}

/// Three members, of which two agree; a task after all of them; and a task after the first member and that task.
fn vote() -> Plan {
    let pure = [step(1, &[]), step(2, &[]), step(3, &[]), step(4, &[1, 2, 3]), step(5, &[1, 4])];
    plan_of(pure).with_aggregation(aggregation(AggregationStrategy::Voting, false))
}

/// The answers of a task of the vote: the third member gives the smaller text. The task after all members may also fail.
fn votes(task: TaskId) -> Vec<Report> {
    let exit = |code| {
        let text = Text::from(if task.number() == 3 { "a" } else { "b" });
        Report::Exit { code, text, number: None }
    };
    let codes: &[i32] = if task.number() == 4 { &[0, 1] } else { &[0] };
    codes.iter().copied().map(exit).collect()
}

/// A task that the run may do without, between two others. The last one has these dependencies.
fn with_option(last: &[u32]) -> Plan {
    let mut optional = task(2, &[1]);
    optional.step.optional = true;
    plan_of([task(1, &[]), optional, task(3, last)])
}

/// The plan that Solution submits. It omits the first task. The last one declares no dependencies, and so depends on the one before it.
fn revised() -> Plan {
    plan_of([task(2, &[]), Task { depends_on: None, ..task(4, &[]) }])
}

/// The plan after every repair. It repeats one task, and omits those before it. After each repair its tasks are undone otherwise.
fn repaired(repairs: u32) -> Plan {
    let compensation = (0..=repairs).map(|repair| format!("undo {repair}")).collect::<Vec<_>>().join(", ");
    let effect = Effect::Undoable { compensation: Text::from(compensation.as_str()) };
    plan_of([task(3, &[]), task(4, &[3])].map(|task| Task { effect: effect.clone(), ..task }))
}

/// A task with the effect that belongs to its number: the first two are pure, the others can be undone.
fn task(number: u32, depends_on: &[u32]) -> Task {
    let effect =
        if number < 3 { Effect::Pure } else { Effect::Undoable { compensation: Text::from("undo") } };
    Task { effect, ..step(number, depends_on) }
}

/// Two past requests, one of them twice, with another text.
fn first_memory() -> Vec<PastRequest> {
    let supposed = Scope::Hypothetical("h".into());
    vec![past(1, "first", Scope::Global), past(1, "other", Scope::Session), past(2, "second", supposed)]
}

/// A past request that memory returned before, with a new text.
fn second_memory() -> Vec<PastRequest> {
    vec![past(1, "new", Scope::Global)]
}

/// A request of another conversation.
pub(super) fn past(number: u32, text: &str, scope: Scope) -> PastRequest {
    let trace = TraceId { conversation: ConversationId::new("past"), request: RequestId::new(number) };
    PastRequest { trace, text: Text::from(text), scope }
}
