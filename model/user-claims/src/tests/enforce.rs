//! Enforcement: which calls are forbidden, and what the monitors keep of them.

use crate::{ClaimFile, Finding, MonitorStates, Monitors, UserClaim};
use orchestrion_kernel::Policy;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{CallId, RequestId, TaskId, Text, UserId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_yaml::render_error;

fn claims(text: &str) -> Vec<UserClaim> {
    ClaimFile::parse("claims.yaml", text).unwrap_or_else(|error| panic!("{}", render_error(&error))).claims
}

fn message() -> Event {
    let (user, text) = (UserId::new("u"), Text::from(""));
    Event::UserMsg { request: RequestId::FIRST, user, text, scope: Scope::Global }
}

fn task_call(call: u64, task: u32) -> Event {
    let operation = Operation::RunTask { task: TaskId::new(task), effect: EffectKind::Pure };
    Event::ToolCall { call: CallId::new(call), operation }
}

fn result(call: u64) -> Event {
    let report = Report::Exit { code: 0, text: Text::from(""), number: None };
    Event::ToolResult { module: Module::Executor, call: CallId::new(call), report }
}

fn failed(call: u64, failure: Failure) -> Event {
    Event::CallFailed { module: Module::Executor, call: CallId::new(call), failure }
}

/// A run of the monitors.
struct Run {
    monitors: Monitors,
    states: MonitorStates,
}

impl Run {
    fn new(text: &str) -> Self {
        let monitors = Monitors::new(claims(text));
        let states = monitors.start();
        let mut run = Self { monitors, states };
        run.take(&message());
        run
    }

    /// Takes an event, and returns the claims that it violates and those that forbid its call, with the reasons.
    fn take(&mut self, event: &Event) -> Vec<String> {
        let (mut found, monitors) = (Vec::new(), &self.monitors);
        monitors.step(&mut self.states, &Policy::hardened(), event, |finding| match finding {
            Finding::Violated(claim, reason) => found.push(format!("{claim} violated: {reason:?}")),
            Finding::Forbidden(claim, reason) => found.push(format!("{claim} forbids: {reason:?}")),
            Finding::Premise(_) => {}
        });
        found
    }

    /// Takes a call of a task and its end, as the runtime does. Returns whether it was made.
    fn call(&mut self, call: u64, task: u32) -> bool {
        self.take(&task_call(call, task));
        let is_made = self.states.forbidden_by(CallId::new(call)).is_empty();
        let end = if is_made { result(call) } else { failed(call, Failure::Forbidden) };
        assert_eq!(self.take(&end), [""; 0], "the end of call {call}");
        is_made
    }
}

const TWO: &str = "
claims:
- {id: two, enforce: true, at_most: {limit: 2, of: {event: tool_call, operation: run_task}}}
- {id: odd, enforce: true, never: {event: tool_call, operation: run_task, task: [2, 4, 6]}}
- {id: three, shadow: true, at_most: {limit: 1, of: {event: tool_call, operation: run_task}}}
- {id: record, at_most: {limit: 3, of: {event: tool_call, operation: run_task}}}
";

#[test]
fn forbidden_call_is_not_counted() {
    let mut run = Run::new(TWO);
    // Of calls that another claim forbids, no guard counts any.
    assert_eq!([(1, 2), (2, 4), (3, 6)].map(|(call, task)| run.call(call, task)), [false; 3]);
    assert_eq!([(4, 1), (5, 3)].map(|(call, task)| run.call(call, task)), [true; 2]);
    // The bound stays reached.
    for call in 6..9 {
        assert_eq!(run.take(&task_call(call, 1))[..1], ["0 forbids: Event"]);
        run.take(&failed(call, Failure::Forbidden));
    }
    // A claim without enforcement counts the record.
    let mut run = Run::new(TWO);
    run.call(1, 2);
    run.call(2, 1);
    // Its shadow mode reports what it would forbid, and the call is made.
    assert_eq!(run.take(&task_call(3, 3)), ["2 forbids: Event"]);
    assert!(run.states.forbidden_by(CallId::new(3)).is_empty());
    run.take(&result(3));
    assert_eq!(run.take(&task_call(4, 1)), ["3 violated: Event", "0 forbids: Event", "2 forbids: Event"]);
}

#[test]
fn call_that_was_made_although_forbidden_violates() {
    let forbidden = |run: &mut Run| assert_eq!(run.take(&task_call(1, 2))[0], "1 forbids: Event");
    for (end, expected) in [
        (result(1), &["1 violated: Made"][..]),
        (failed(1, Failure::Error), &["1 violated: Made"]),
        (failed(1, Failure::OutcomeUnknown), &["1 violated: Made"]),
        (failed(1, Failure::Forbidden), &[]),
        (Event::Cancelled, &[]),
    ] {
        let mut run = Run::new(TWO);
        forbidden(&mut run);
        assert_eq!(run.take(&end), expected, "{end:?}");
        // Its end was recorded: nothing is pending.
        assert_eq!(run.take(&result(1)), [""; 0]);
    }
    // A call that exceeds its budget is not made in any case.
    let mut run = Run::new(TWO);
    forbidden(&mut run);
    run.take(&Event::OverBudget { call: CallId::new(1), required_tokens: 2, budget_tokens: 1 });
    assert_eq!(run.take(&failed(1, Failure::OverBudget)), [""; 0]);
}

/// More combinations of values than a claim can keep forbid calls, and excuse none.
#[test]
fn capacity_fails_closed() {
    let mut run = Run::new(
        "
claims:
- {id: c, enforce: true, at_most: {limit: 9, of: {event: tool_call, operation: run_task}, each: [task]}}
",
    );
    let made: Vec<bool> = (1..=66).map(|task| run.call(u64::from(task), task)).collect();
    assert_eq!(made.iter().filter(|made| **made).count(), 64);
    assert_eq!(made[64..], [false; 2]);
    // Known values are still counted.
    assert!(run.call(100, 1));

    // The results of 70 tasks allow their undoing. Those of the first 64 are kept.
    let mut run = Run::new(
        "
claims:
- id: c
  enforce: true
  precedes: {first: {event: tool_result, operation: run_task}, then: {event: tool_call, operation: undo_task}, same: [task]}
",
    );
    (1..=70).for_each(|task| assert!(run.call(u64::from(task), task)));
    let undo = |call: u64, task: u32| Event::ToolCall {
        call: CallId::new(call),
        operation: Operation::UndoTask { task: TaskId::new(task) },
    };
    assert_eq!(run.take(&undo(100, 64)), [""; 0]);
    run.take(&result(100));
    assert_eq!(run.take(&undo(101, 65)), ["0 forbids: Event"]);

    // An assumption that can no longer be evaluated is presumed to hold. It fails with the second call of a task, which it forgot.
    let mut run = Run::new(
        "
claims:
- id: c
  enforce: true
  assume: {precedes: {first: {event: tool_call, operation: run_task}, then: {event: tool_result, operation: run_task}, same: [task]}}
  never: {event: tool_call, operation: undo_task}
",
    );
    (1..=70).for_each(|task| assert!(run.call(u64::from(task), task)));
    assert_eq!(run.take(&undo(100, 1)), ["0 forbids: Event"]);
}

#[test]
fn windows_bound_enforcement() {
    let mut run = Run::new(
        "
claims:
- id: c
  enforce: true
  after: {event: veto_raised}
  before: {event: repair_started}
  never: {event: tool_call, operation: run_task}
",
    );
    assert!(run.call(1, 1));
    run.take(&Event::VetoRaised { revision: orchestrion_kernel::ids::Revision::FIRST });
    assert!(!run.call(2, 1));
    run.take(&Event::RepairStarted);
    assert!(run.call(3, 1));
}

#[test]
fn unenforceable_claims_are_refused() {
    let wrong = [
        "responds: {to: {event: tool_call}, with: {event: tool_result}}",
        "at_least: {count: 1, of: {event: tool_call}}",
        "until: {holds: {request.vetoed: false}, end: {event: tool_call}}",
        "never: {event: [tool_call, tool_result]}",
        "never: {operation: run_task}",
        "always: {holds: {request.vetoed: false}}",
        "precedes: {first: {event: tool_call}, then: {event: final_answer}}",
        "at_most: {limit: 1, of: {event: decided}}",
        "never: {event: tool_call}\n  between: {start: {event: decided}, end: {event: concluded}}",
        "never: {event: tool_call}\n  assume: {at_least: {count: 1, of: {event: decided}}}",
        "never: {event: tool_call}\n  shadow: true",
        "never: {event: tool_call}\n  enforce: 1",
    ];
    let errors = wrong.map(|pattern| {
        let enforce = if pattern.contains("enforce") { "" } else { "  enforce: true\n" };
        let text = format!("claims:\n- id: c\n{enforce}  {pattern}\n");
        match ClaimFile::parse("claims.yaml", &text) {
            Ok(_) => panic!("accepted:\n{text}"),
            Err(error) => render_error(&error),
        }
    });
    insta::assert_snapshot!(errors.join("\n"));
    // `false` is the default.
    let read = claims(
        "claims:\n- {id: c, enforce: false, shadow: false, at_least: {count: 1, of: {event: decided}}}\n",
    );
    assert!(!read[0].enforcement.is_guard());
}
