//! Contexts stay within every budget (000 §5, 003 §7, decision 0024).

use crate::conversation::state_after;
use orchestrion_kernel::context::{
    ByteMeasure, ContextError, Selected, SelectionStatus, Selector, TextMeasure, build_context,
    context_problem,
};
use orchestrion_kernel::module::{Operation, Report, Role};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::selection::{Problem, Selection, SelectionError};
use orchestrion_kernel::situation::{SummaryField, SummaryUpdate};
use orchestrion_kernel::{Event, Input, ModuleContext, Policy, Score, State, TaskId, Weight, decide};
use orchestrion_optimizer::ExactSelector;
use std::cell::RefCell;

fn planner_context(
    state: &State,
    budget: u32,
    measure: &impl TextMeasure,
) -> Result<ModuleContext, ContextError> {
    let mut policy = Policy::hardened();
    (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
    build_context(&policy, state, Operation::DraftPlan, measure, &ExactSelector::from_policy(&policy))
}

/// 003-8.6.
#[test]
fn box_budget_management() {
    let facts: String = (0..40).map(|number| format!("fact fact{number} \"word \"*{number}\n")).collect();
    let request = "session_start ada authority=manager; environment rain heavy; advance Planning";
    let (_, state) = state_after(&format!("conversation hardened\n{facts}{request}"));
    let mut before = 0;
    for budget in (40..1_500).step_by(7) {
        let context = planner_context(&state, budget, &ByteMeasure).unwrap();
        assert!(context.cost_tokens <= u64::from(budget), "{budget}: {}", context.text);
        assert!(context.utility >= before, "{budget}: expected at least the utility of a smaller budget");
        assert!(context.text.starts_with("# Identity\n") && context.text.contains("rain: heavy"));
        assert_eq!(context.status, SelectionStatus::Optimal);
        before = context.utility;
    }
    let text = planner_context(&state, 1_500, &ByteMeasure).unwrap().text;
    assert_eq!(text.matches("] fact ").count(), 40, "every fact fits");
}

/// 000-5.6: the next call is over budget exactly if its context is, with the summary that the same reply updates.
#[test]
fn items_of_the_batch_count_in_the_budget_of_its_call() {
    let (_, state) = state_after("conversation hardened\nsession_start ada; advance Planning");
    let task = Task {
        id: TaskId::FIRST,
        text: "task".into(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    let text = "word ".repeat(150);
    let update = SummaryField::ALL.iter().map(|field| (field.name().to_owned(), text.as_str().into()));
    let reply = Input::Reply {
        call: state.control().pending_calls()[0].id,
        report: Report::Plan(Plan::new(vec![task]).unwrap()),
        summary_update: Some(SummaryUpdate(update.collect())),
        action: None,
        interaction: None,
    };
    let mut over = Vec::new();
    for budget in 200..2_000 {
        let mut policy = Policy::hardened();
        (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
        let events = decide(&policy, &state, state.now(), &reply).unwrap();
        let mut after = state.clone();
        events.iter().for_each(|event| after.apply(event));
        let selector = ExactSelector::from_policy(&policy);
        let analyst = Operation::Argue(Role::Analyst);
        let context = build_context(&policy, &after, analyst, &ByteMeasure, &selector);
        let is_over = events.iter().any(|event| matches!(event, Event::OverBudget { .. }));
        assert_eq!(is_over, matches!(context, Err(ContextError::OverBudget(_))), "{budget}: {events:?}");
        over.push(is_over);
    }
    assert_eq!((over.first(), over.last()), (Some(&true), Some(&false)));
}

/// Every line costs one token, as does the empty line between two sections of a joined text.
struct Joining;

impl TextMeasure for Joining {
    fn tokens(&self, text: &str) -> u64 {
        let ends = text.trim_matches('\n').matches('\n').count();
        1 + u64::try_from(ends).unwrap()
    }

    fn relevance(&self, _request: &str, texts: &[&str]) -> Vec<Score> {
        texts.iter().map(|text| if text.contains("wall") { Score::ONE } else { Score::ZERO }).collect()
    }
}

#[test]
fn joined_text_stays_within_budget() {
    let facts = "fact a \"the wall is dry\"; fact b \"the roof is new\"; fact c \"the door is old\"";
    let (_, state) =
        state_after(&format!("conversation hardened\n{facts}; session_start ada; advance Planning"));
    for budget in 4..30 {
        match planner_context(&state, budget, &Joining) {
            Ok(context) => assert!(context.cost_tokens <= u64::from(budget), "{budget}"),
            Err(ContextError::OverBudget(over)) => assert!(
                over.required_tokens > over.budget_tokens && over.budget_tokens == u64::from(budget),
                "{over:?}"
            ),
            Err(error) => panic!("{error}"),
        }
    }
    let context_text = planner_context(&state, 5, &Joining).unwrap().text;
    assert!(context_text.contains("wall is dry") && !context_text.contains("roof"), "{context_text}");
}

/// 000-5.13: the joined text and the payload share the budget.
#[test]
fn joined_text_leaves_room_for_payload() {
    let facts = "fact a \"the wall is dry\"; fact b \"the roof is new\"; fact c \"the door is old\"";
    let (_, state) =
        state_after(&format!("conversation hardened\n{facts}; session_start ada; advance Round_1_Analyst"));
    let analyst = Operation::Argue(Role::Analyst);
    let contexts = (4..30).filter_map(|budget| {
        let mut policy = Policy::hardened();
        (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
        let selector = ExactSelector::from_policy(&policy);
        Some((budget, build_context(&policy, &state, analyst, &Joining, &selector).ok()?))
    });
    let mut within_budget = 0;
    for (budget, context) in contexts {
        assert_eq!(context.payload_tokens, 1);
        assert!(context.cost_tokens < u64::from(budget), "{budget}: {}", context.text);
        within_budget += 1;
    }
    assert!(within_budget > 0, "no budget has room for the pinned items");
}

/// 003-5.7: a budget with room for one of two working items keeps the one that is relevant to the request, whatever their order.
#[test]
fn relevant_working_item_is_kept() {
    let (wall, roof) = ("the wall is dry", "the roof is new");
    for (first, second) in [(wall, roof), (roof, wall)] {
        let notes = format!("session_start ada; working a \"{first}\"; working b \"{second}\"");
        let (_, state) = state_after(&format!("conversation hardened; {notes}; advance Planning"));
        let contexts = (1..12).filter_map(|budget| planner_context(&state, budget, &Joining).ok());
        let mut texts = contexts.map(|context| context.text);
        let with_one = texts.find(|text| text.contains(wall) || text.contains(roof)).unwrap();
        assert!(with_one.contains(wall) && !with_one.contains(roof), "{with_one}");
    }
}

/// 000-5.1: the relevance of an item raises its utility by the factor that the policy sets for it, not by that of recency.
#[test]
fn relevance_raises_utility_by_its_factor() {
    let utility = |text: &str, relevance: u32| {
        let note =
            format!("conversation hardened; session_start ada; working a \"{text}\"; advance Planning");
        let mut policy = Policy::hardened();
        policy.contexts.recency = Weight::from_millionths(0).unwrap();
        policy.contexts.relevance = Weight::from_millionths(relevance).unwrap();
        let selector = ExactSelector::from_policy(&policy);
        let (_, state) = state_after(&note);
        build_context(&policy, &state, Operation::DraftPlan, &Joining, &selector).unwrap().utility
    };
    let irrelevant = utility("the roof is new", 1_000_000);
    let (relevant, twice) = (utility("the wall is dry", 1_000_000), utility("the wall is dry", 2_000_000));
    assert!(relevant > irrelevant, "{relevant} {irrelevant}");
    assert_eq!(twice - relevant, relevant - irrelevant);
}

/// An optimizer whose result a fault changes.
struct Faulty(fn(&mut Selection, &mut SelectionStatus));

impl Selector for Faulty {
    fn select(&self, problem: &Problem) -> Selected {
        let Selected { mut selection, mut status } =
            ExactSelector::from_policy(&Policy::hardened()).select(problem);
        self.0(&mut selection, &mut status);
        Selected { selection, status }
    }
}

#[test]
fn invalid_selection_is_refused() {
    let request = "session_start ada authority=manager; advance Planning";
    let (_, state) =
        state_after(&format!("conversation hardened\nfact a 1\nfact b 2 depends_on=a\n{request}"));
    let policy = Policy::hardened();
    let refused = |fault: fn(&mut Selection, &mut SelectionStatus)| match build_context(
        &policy,
        &state,
        Operation::DraftPlan,
        &ByteMeasure,
        &Faulty(fault),
    ) {
        Err(ContextError::InvalidSelection(error)) => Some(error),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    };
    assert_eq!(refused(|_, _| ()), None);
    assert!(matches!(
        refused(|selection, _| selection.utility += 1),
        Some(SelectionError::WrongUtility { .. })
    ));
    assert!(matches!(refused(|selection, _| selection.cost -= 1), Some(SelectionError::WrongCost { .. })));
    assert!(matches!(
        refused(|selection, _| selection.selected.reverse()),
        Some(SelectionError::OutOfOrder { .. })
    ));
    assert!(matches!(
        refused(|selection, _| selection.selected.push(1_000)),
        Some(SelectionError::UnknownPosition { .. })
    ));
    assert!(refused(|selection, _| selection.selected.clear()).is_some());
}

#[test]
fn invalid_bound_is_refused() {
    let (_, state) = state_after("conversation hardened\nfact a 1\nsession_start ada; advance Planning");
    let selector = Faulty(|_, status| *status = SelectionStatus::NotProven { bound: 1 });
    let policy = Policy::hardened();
    let context = build_context(&policy, &state, Operation::DraftPlan, &ByteMeasure, &selector);
    assert!(matches!(context, Err(ContextError::InvalidBound { bound: 1, .. })), "{context:?}");
}

/// With a budget of 5, [`Joining`] counts more tokens in the joined text than in its lines, so the selection is repeated.
#[test]
fn repeated_selection_keeps_the_bound_of_the_whole_budget() {
    let facts = "fact a \"the wall is dry\"; fact b \"the roof is new\"; fact c \"the door is old\"";
    let (_, state) =
        state_after(&format!("conversation hardened\n{facts}; session_start ada; advance Planning"));
    let mut repeated = 0;
    for budget in 4..30 {
        let mut policy = Policy::hardened();
        (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
        let selector = Logging { inner: ExactSelector::from_policy(&policy), selected: RefCell::default() };
        let Ok(context) = build_context(&policy, &state, Operation::DraftPlan, &Joining, &selector) else {
            continue;
        };
        let selected = selector.selected.into_inner();
        let first = selected.first().unwrap();
        assert_eq!(first.status, SelectionStatus::Optimal);
        assert_eq!(context.bound(), first.selection.utility, "{budget}");
        assert_eq!(context.status == SelectionStatus::Optimal, selected.len() == 1, "{budget}");
        repeated += usize::from(selected.len() > 1);
    }
    assert!(repeated > 0, "no budget needed a second selection");
}

/// Keeps what a selector returned.
struct Logging {
    inner: ExactSelector,
    selected: RefCell<Vec<Selected>>,
}

impl Selector for Logging {
    fn select(&self, problem: &Problem) -> Selected {
        let selected = self.inner.select(problem);
        self.selected.borrow_mut().push(selected.clone());
        selected
    }
}

#[test]
fn working_set_is_distinguished_from_facts() {
    let setup = "conversation hardened; session_start ada; fact a 1; working b 2; environment c 3";
    let (policy, state) = state_after(setup);
    let context = context_problem(&policy, &state, Operation::DraftPlan, 9_000, &ByteMeasure).unwrap();
    let working: Vec<bool> = (0..=context.ids.len()).map(|at| context.is_working(at)).collect();
    assert_eq!(working, [false, true, false, false]);
}
