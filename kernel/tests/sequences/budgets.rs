//! Contexts stay within every budget (000 §5, 003 §7, decision 0024).

use crate::conversation::state_after;
use orchestrion_kernel::context::{
    ByteMeasure, ContextError, Selected, Selector, TextMeasure, build_context,
};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::selection::{Problem, Selection, SelectionError};
use orchestrion_kernel::{ModuleContext, Policy, Score, State};
use orchestrion_optimizer::ExactSelector;

fn planner_context(
    state: &State,
    budget: u32,
    measure: &impl TextMeasure,
) -> Result<ModuleContext, ContextError> {
    let mut policy = Policy::hardened();
    (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
    build_context(&policy, state, Operation::DraftPlan, measure, &ExactSelector::default())
}

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
        assert_eq!(context.utility, context.bound);
        before = context.utility;
    }
    let text = planner_context(&state, 1_500, &ByteMeasure).unwrap().text;
    assert_eq!(text.matches("] fact ").count(), 40, "every fact fits");
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

/// An optimizer whose result a fault changes.
struct Faulty(fn(&mut Selection));

impl Selector for Faulty {
    fn select(&self, problem: &Problem) -> Selected {
        let mut selected = ExactSelector::default().select(problem);
        self.0(&mut selected.selection);
        selected
    }
}

#[test]
fn invalid_selection_is_refused() {
    let request = "session_start ada authority=manager; advance Planning";
    let (_, state) =
        state_after(&format!("conversation hardened\nfact a 1\nfact b 2 depends_on=a\n{request}"));
    let policy = Policy::hardened();
    let refused = |fault: fn(&mut Selection)| match build_context(
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
    assert_eq!(refused(|_| ()), None);
    assert!(matches!(refused(|selection| selection.utility += 1), Some(SelectionError::WrongUtility { .. })));
    assert!(matches!(refused(|selection| selection.cost -= 1), Some(SelectionError::WrongCost { .. })));
    assert!(matches!(
        refused(|selection| selection.selected.reverse()),
        Some(SelectionError::OutOfOrder { .. })
    ));
    assert!(matches!(
        refused(|selection| selection.selected.push(1_000)),
        Some(SelectionError::UnknownPosition { .. })
    ));
    assert!(refused(|selection| selection.selected.clear()).is_some());
}
