//! The contexts of modules: sections, pins, budgets, and calls that are not made (000 §5, 003 §7, decision 0024).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod write_helpers;

use orchestrion_kernel::context::{BudgetError, ByteMeasure, ContextError, TextMeasure, build_context};
use orchestrion_kernel::item::{Identity, Rank, Topic};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Write};
use orchestrion_kernel::module::{Argument, Failure, Module, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::policy::ModuleContextPolicy;
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, Policy, Refusal, Score, State, TaskId, UserId, Weight, decide,
};
use orchestrion_optimizer::ExactSelector;
use write_helpers::{dependent, new};

struct Kernel {
    policy: Policy,
    state: State,
}

impl Kernel {
    /// Opens a session, sends a request, and applies a budget.
    fn new(budget: u32) -> Self {
        let mut policy = Policy::hardened();
        (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (budget, 0);
        let mut kernel = Self { policy, state: State::new(ConversationId::new("c")) };
        kernel.take(Input::SessionStart { user: UserId::new("ada") }).unwrap();
        kernel
    }

    fn take(&mut self, input: Input) -> Result<Events, Refusal> {
        let events = decide(&self.policy, &self.state, &input)?;
        events.iter().for_each(|event| self.state.apply(event));
        Ok(events)
    }

    fn write(&mut self, write: Write) {
        self.take(Input::Write(Box::new(write))).unwrap();
    }

    fn know(&mut self, fact: NewFact) {
        self.write(Write::Fact(fact));
    }

    fn speak(&mut self) {
        let identity = Identity {
            authority: "lead".into(),
            rank: Rank::Manager,
            department: "d".into(),
            organization: "o".into(),
            permissions: Vec::new(),
        };
        self.write(Write::Identity { name: "Ada".into(), identity });
    }

    fn signal(&mut self, key: &str, text: &str) {
        self.write(Write::Environment { key: key.into(), text: text.into(), supersedes: None });
    }

    fn send_request(&mut self, text: &str) -> Events {
        self.take(Input::UserMessage { user: UserId::new("ada"), text: text.into() }).unwrap()
    }

    fn reply(&mut self, report: Report) -> Result<Events, Refusal> {
        let call = self.state.control().pending_call().unwrap().id;
        self.take(Input::reply(call, report))
    }

    /// Runs steps and successful replies up to the call of an operation.
    fn until(&mut self, operation: Operation) {
        for _ in 0..100 {
            match self.state.control().pending_call().map(|call| call.operation) {
                Some(waiting) if waiting == operation => return,
                Some(waiting) => self.reply(succeeds(waiting)).map(|_| ()).unwrap(),
                None => self.take(Input::Step).map(|_| ()).unwrap(),
            }
        }
        panic!("expected a call of {operation:?}, found none");
    }

    fn context_text(&self, operation: Operation) -> String {
        build_context(&self.policy, &self.state, operation, &ByteMeasure, &ExactSelector::default())
            .unwrap()
            .text
    }
}

fn succeeds(operation: Operation) -> Report {
    match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Operation::DraftPlan => {
            let task = Task { id: TaskId::FIRST, text: "do it".into(), effect: Effect::Pure };
            Report::Plan(Plan::new(vec![task]).unwrap())
        }
        Operation::Argue(role) => argues(Stance::Pro, &format!("{role} agrees")),
        operation => panic!("{operation:?}"),
    }
}

fn argues(stance: Stance, text: &str) -> Report {
    let argument = Argument { stance, confidence: Score::from_millionths(850_000).unwrap() };
    Report::Argument { argument, text: text.into(), plan: None }
}

#[test]
fn sections_follow_order_of_003() {
    let mut kernel = Kernel::new(1_000);
    kernel.know(new("colour", "blue", Rank::Employee));
    kernel.signal("rain", "heavy");
    kernel.speak();
    kernel.send_request("paint it");
    kernel.until(Operation::DraftPlan);
    assert_eq!(
        kernel.context_text(Operation::DraftPlan),
        "# Identity\n[3] identity: Ada\n\n\
         # Environment\n[2] environment rain: heavy\n\n\
         # Facts\n[1] fact colour: blue\n\n\
         # Working set\n[4] request 1: paint it\n[5] tags of request 1: tags: ; nearest past request: 0.00\n"
    );
}

#[test]
fn box_budget_management() {
    let mut kernel = Kernel::new(1_000);
    for number in 0..40 {
        kernel.know(new(&format!("fact{number}"), &"word ".repeat(number), Rank::Employee));
    }
    kernel.signal("rain", "heavy");
    kernel.speak();
    kernel.send_request("paint it");
    kernel.until(Operation::DraftPlan);
    let mut before = 0;
    for budget in (40..1_500).step_by(7) {
        kernel.policy.contexts.budget_tokens = budget;
        let context = build_context(
            &kernel.policy,
            &kernel.state,
            Operation::DraftPlan,
            &ByteMeasure,
            &ExactSelector::default(),
        )
        .unwrap();
        assert!(context.cost_tokens <= u64::from(budget), "{budget}: {}", context.text);
        assert!(context.utility >= before, "{budget}: expected at least the utility of a smaller budget");
        assert!(context.text.starts_with("# Identity\n") && context.text.contains("rain: heavy"));
        assert_eq!(context.utility, context.bound);
        before = context.utility;
    }
    assert_eq!(
        kernel.context_text(Operation::DraftPlan).matches("] fact ").count(),
        40,
        "and then there is room for all"
    );
}

#[test]
fn context_is_closed_under_dependencies() {
    let mut kernel = Kernel::new(1_000);
    kernel.know(new("measured", &"a long report ".repeat(20), Rank::Employee));
    kernel.know(dependent("concluded", "it holds", "measured"));
    kernel.know(new("apart", "something else", Rank::Employee));
    kernel.send_request("is it safe?");
    kernel.until(Operation::DraftPlan);
    kernel.policy.contexts.budget_tokens = 60;
    let context_text = kernel.context_text(Operation::DraftPlan);
    assert!(
        !context_text.contains("measured")
            && !context_text.contains("concluded")
            && context_text.contains("apart"),
        "{context_text}"
    );
    kernel.policy.contexts.budget_tokens = 200;
    let context_text = kernel.context_text(Operation::DraftPlan);
    assert!(context_text.contains("measured") && context_text.contains("concluded"), "{context_text}");
}

#[test]
fn module_override_sets_weights_and_budget() {
    let mut kernel = Kernel::new(1_000);
    kernel.know(NewFact { kind: FactKind::Constraint(None), ..new("limit", "ten euros", Rank::Manager) });
    kernel.know(new("colour", "blue, dark", Rank::Employee));
    kernel.send_request("paint it");
    kernel.until(Operation::DraftPlan);
    let security = Operation::Argue(Role::Security);
    let all = kernel.context_text(security);
    assert!(all.contains("limit") && all.contains("colour"));
    let weights = [(Topic::Fact, Weight::ZERO)].into();
    let view = |budget| ModuleContextPolicy {
        module: Module::Debater(Role::Security),
        budget_tokens: budget,
        weights,
    };
    kernel.policy.contexts.module_overrides = vec![view(None)];
    let context_text = kernel.context_text(security);
    assert!(
        context_text.contains("limit") && !context_text.contains("colour"),
        "expected no item without utility: {context_text}"
    );
    kernel.policy.contexts.module_overrides[0].budget_tokens = Some(12);
    assert!(
        kernel.context_text(Operation::DraftPlan).contains("colour"),
        "expected an unchanged context of other modules"
    );
    let context_text = kernel.context_text(security);
    assert_eq!(context_text, "# Working set\n[3] request 1: paint it\n");
}

#[test]
fn reviews_are_pinned_for_solution() {
    let mut kernel = Kernel::new(1_000);
    kernel.send_request("paint it");
    kernel.until(Operation::Argue(Role::Critic));
    kernel.reply(argues(Stance::Con, "the paint is wet")).unwrap();
    kernel.until(Operation::Argue(Role::Security));
    kernel.reply(argues(Stance::Con, "the ladder is loose")).unwrap();
    kernel.until(Operation::Argue(Role::Solution));
    let again = kernel.state.control().request().unwrap().debate.pass;
    assert_eq!(again, 2);
    // Only the request fits.
    kernel.policy.contexts.budget_tokens = 38;
    let weights = Topic::ALL.map(|topic| (topic, Weight::ZERO)).into();
    kernel.policy.contexts.module_overrides =
        vec![ModuleContextPolicy { module: Module::Debater(Role::Solution), budget_tokens: None, weights }];
    let context_text = kernel.context_text(Operation::Argue(Role::Solution));
    assert!(
        context_text.contains("the paint is wet") && context_text.contains("the ladder is loose"),
        "{context_text}"
    );
    assert!(!context_text.contains("agrees"), "{context_text}");
    kernel.reply(argues(Stance::Pro, "a new ladder")).unwrap();
    let context_text = kernel.context_text(Operation::Argue(Role::Solution));
    assert!(!context_text.contains("the ladder is loose"), "expected no answered objection: {context_text}");
}

#[test]
fn over_budget_call_fails() {
    let mut kernel = Kernel::new(20);
    kernel.speak();
    kernel.signal("rain", &"heavy ".repeat(20));
    let events = kernel.send_request("paint it");
    let [.., Event::ToolCall { call, operation: Operation::VerifyIdentity }, over] = events.as_slice() else {
        panic!("{events:?}")
    };
    let Event::OverBudget { call: over, required_tokens: needs, budget_tokens: 20 } = over else {
        panic!("{over:?}")
    };
    assert!(over == call && *needs > 20);
    let error = build_context(
        &kernel.policy,
        &kernel.state,
        Operation::VerifyIdentity,
        &ByteMeasure,
        &ExactSelector::default(),
    )
    .unwrap_err();
    assert_eq!(error, BudgetError { required_tokens: *needs, budget_tokens: 20 }.into());
    let sentence = format!(
        "context over budget: expected at most 20 tokens, found {needs} in pinned items and their dependencies; raise the budget"
    );
    assert_eq!(error.to_string(), sentence);
    let refused = kernel.reply(succeeds(Operation::VerifyIdentity)).unwrap_err();
    assert!(refused.to_string().contains("call not made"), "{refused}");
    // No other module fits either; the request still completes.
    for _ in 0..40 {
        if kernel.state.control().phase().is_quiescent() {
            break;
        }
        let input = match kernel.state.control().pending_call() {
            Some(call) => Input::CallFailed { call: call.id, failure: Failure::OverBudget },
            None => Input::Step,
        };
        kernel.take(input).unwrap();
    }
    assert!(kernel.state.control().phase().is_quiescent(), "{}", kernel.state.control().phase());
}

#[test]
fn write_during_call_keeps_call() {
    let mut kernel = Kernel::new(40);
    kernel.send_request("paint it");
    kernel.signal("rain", &"heavy ".repeat(40));
    assert!(
        build_context(
            &kernel.policy,
            &kernel.state,
            Operation::VerifyIdentity,
            &ByteMeasure,
            &ExactSelector::default()
        )
        .is_err()
    );
    assert!(kernel.reply(succeeds(Operation::VerifyIdentity)).is_ok());
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
    let mut kernel = Kernel::new(1_000);
    for (key, text) in [("a", "the wall is dry"), ("b", "the roof is new"), ("c", "the door is old")] {
        kernel.know(new(key, text, Rank::Employee));
    }
    kernel.send_request("paint the wall");
    kernel.until(Operation::DraftPlan);
    let context = |budget: u32, kernel: &mut Kernel| {
        kernel.policy.contexts.budget_tokens = budget;
        build_context(
            &kernel.policy,
            &kernel.state,
            Operation::DraftPlan,
            &Joining,
            &ExactSelector::default(),
        )
    };
    for budget in 4..30 {
        match context(budget, &mut kernel) {
            Ok(context) => assert!(context.cost_tokens <= u64::from(budget), "{budget}"),
            Err(ContextError::OverBudget(over)) => assert!(
                over.required_tokens > over.budget_tokens && over.budget_tokens == u64::from(budget),
                "{over:?}"
            ),
            Err(error) => panic!("{error}"),
        }
    }
    let context_text = context(5, &mut kernel).unwrap().text;
    assert!(context_text.contains("wall is dry") && !context_text.contains("roof"), "{context_text}");
}
