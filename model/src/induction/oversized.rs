//! Texts that alone exceed the budget of a call, in each place of a pinned item and of a plan (000-5.6).

use super::shapes::{entry, fact, id, identity, record, session, user, verified};
use crate::adversary::knowledge::summary_update;
use crate::scopes::steps::{over_budget_in_payload, plan_of, step};
use orchestrion_kernel::item::{FactRecord, ItemKey, Layer, Rank, Scope};
use orchestrion_kernel::knowledge::NewIdentity;
use orchestrion_kernel::module::{Ratings, Report};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::situation::SummaryField;
use orchestrion_kernel::{CallId, Input, Score, State, Text};

/// The characters of a text that alone exceeds the usual budget.
const TEXT_OVER_BUDGET: usize = 120_000;
/// The characters of a text with which a call is within the usual budget, but not beside a summary.
const TEXT_WITHIN_BUDGET: usize = 108_000;
/// The characters of a text of the summary, the most that a policy keeps by default.
const SUMMARY_TEXT: usize = 1_000;

fn oversized() -> Text {
    "x".repeat(TEXT_OVER_BUDGET).into()
}

/// No item; a signal whose key or text is too long; a fact that opens a scope whose name is too long for an item, or only for a plan.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let signal =
        |key: &str, text: &str| entry(id(1), ItemKey::Environment(key.into()), text, Layer::Environment);
    let opens = |name| fact(id(1), "k", "1", FactRecord { scope: Scope::Hypothetical(name), ..record() });
    vec![
        Vec::new(),
        vec![signal(oversized().as_str(), "1")],
        vec![signal("s", oversized().as_str())],
        vec![opens(oversized())],
        vec![opens(over_budget_in_payload())],
    ]
}

/// A request up to the reply that verifies the identity: all texts are short, or the message, its scope or one text of the identity is too
/// long. Then a request up to the call of the planner, and one with a message that leaves little room, up to the call of the classifier.
pub(super) fn requests() -> Vec<Vec<Input>> {
    let usual = || identity(Rank::Employee.name(), None, &["p"]);
    let requests: [(NewIdentity, Text); 6] = [
        (usual(), "text".into()),
        (usual(), oversized()),
        (NewIdentity { authority: oversized(), ..usual() }, "text".into()),
        (NewIdentity { department: oversized(), ..usual() }, "text".into()),
        (NewIdentity { organization: oversized(), ..usual() }, "text".into()),
        (NewIdentity { permissions: vec!["p".into(), oversized()], ..usual() }, "text".into()),
    ];
    let request = |identity, text, scope| {
        vec![session(Some(identity)), Input::UserMessage { user: user(), text, scope }, verified()]
    };
    // The model numbers the pending call 1 in each state.
    let reply = |report| Input::reply(CallId::FIRST, report);
    let prepared = |text| {
        let context = Report::Context { ratings: Ratings::default(), traces: Vec::new() };
        let mut inputs = request(usual(), text, Scope::Global);
        inputs.extend([Input::Step, reply(context)]);
        inputs
    };
    let mut planned = prepared("text".into());
    planned.push(reply(classification()));
    let in_scope = request(usual(), "text".into(), Scope::Hypothetical(oversized()));
    let classified = prepared("x".repeat(TEXT_WITHIN_BUDGET).into());
    let in_global = requests.map(|(identity, text)| request(identity, text, Scope::Global));
    in_global.into_iter().chain([in_scope, planned, classified]).collect()
}

fn classification() -> Report {
    Report::Classification { tags: Vec::new(), similarity: Score::ZERO }
}

/// The step that sends the first context of the request. To a call, replies of the planner with plans of which one text is too long for the
/// debaters, and one of the classifier whose update of the situation leaves no room for the planner, in the same batch. The kernel refuses
/// those of the other module.
pub(super) fn inputs(state: &State) -> Vec<Input> {
    let Some(call) = state.control().pending_calls().first() else { return super::readers::steps(state) };
    let text = "x".repeat(SUMMARY_TEXT);
    let classified = Input::Reply {
        call: call.id,
        report: classification(),
        summary_update: Some(summary_update(&SummaryField::ALL.map(|field| (field.name(), text.as_str())))),
        action: None,
        interaction: None,
    };
    let planned = plans().map(|plan| Input::reply(call.id, Report::Plan(plan)));
    planned.into_iter().chain([classified]).collect()
}

/// Plans of which the text, the compensation or the name of the scope is too long.
fn plans() -> [Plan; 3] {
    let usual = || step(1, &[]);
    let tasks = [
        Task { text: over_budget_in_payload(), ..usual() },
        Task { effect: Effect::Undoable { compensation: over_budget_in_payload() }, ..usual() },
        Task { scope: Some(Scope::Hypothetical(over_budget_in_payload())), ..usual() },
    ];
    tasks.map(|task| plan_of([task]))
}
