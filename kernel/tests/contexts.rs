//! Contexts stay within every budget (000 §5, 003 §7, decision 0024). `sequences/contexts.txt` shows their content.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod write_helpers;

use orchestrion_kernel::context::{ByteMeasure, ContextError, TextMeasure, build_context};
use orchestrion_kernel::item::{Identity, Rank};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::{
    CallId, ConversationId, Input, ModuleContext, Policy, Score, State, UserId, decide,
};
use orchestrion_optimizer::ExactSelector;
use write_helpers::new;

/// Returns a state with these writes and a verified request.
fn state_with(writes: impl IntoIterator<Item = Write>, text: &str) -> State {
    let user = UserId::new("ada");
    let mut state = State::new(ConversationId::new("c"));
    let writes = writes.into_iter().map(|write| Input::Write(Box::new(write)));
    let start = Input::SessionStart { user: user.clone() };
    let message = Input::UserMessage { user, text: text.into() };
    let verified = Input::reply(CallId::FIRST, Report::Identity { gcp: true, mongodb: true });
    for input in std::iter::once(start).chain(writes).chain([message, verified]) {
        let events = decide(&Policy::hardened(), &state, &input).unwrap();
        events.iter().for_each(|event| state.apply(event));
    }
    state
}

fn fact(key: &str, text: &str) -> Write {
    Write::Fact(new(key, text, Rank::Employee))
}

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
    let identity = Identity {
        authority: "lead".into(),
        rank: Rank::Manager,
        department: "d".into(),
        organization: "o".into(),
        permissions: Vec::new(),
    };
    let rain = Write::Environment { key: "rain".into(), text: "heavy".into(), supersedes: None };
    let facts = (0..40).map(|number| fact(&format!("fact{number}"), &"word ".repeat(number)));
    let identity = Write::Identity { name: "Ada".into(), identity };
    let state = state_with(facts.chain([rain, identity]), "paint it");
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
    let texts = [("a", "the wall is dry"), ("b", "the roof is new"), ("c", "the door is old")];
    let state = state_with(texts.map(|(key, text)| fact(key, text)), "paint the wall");
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
