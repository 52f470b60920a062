//! Ten claims on a long log: the time for each event, whatever the length of the log.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{CallId, RequestId, TaskId, Text, TraceId, UserId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Module, Operation, Report};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_user_claims::{ClaimFile, Finding, Monitors};

const CLAIMS: &str = "
claims:
- {id: never, after: {event: veto_raised}, never: {event: tool_call, operation: run_task}}
- {id: text, never: {event: tool_result, text: {contains: secret}}}
- {id: always, always: {at: {event: tool_call, operation: run_task}, holds: {request.vetoed: false}}}
- {id: precedes, precedes: {first: {operation: run_task}, then: {operation: undo_task}, same: [task]}}
- {id: responds, responds: {to: {event: tool_call, operation: run_task}, with: {event: tool_result, operation: run_task}, same: [task]}}
- {id: at-most, at_most: {limit: 40, of: {event: tool_call, operation: run_task}, each: [task]}}
- {id: at-least, at_least: {count: 1, of: {event: final_answer}}}
- {id: until, until: {holds: {request.cancelled: false}, end: {event: final_answer}}}
- {id: between, between: {start: {event: user_msg}, end: {event: final_answer}}, at_least: {count: 2, of: {event: tool_result}}}
- {id: assume, assume: {never: {event: cancelled}}, never: {event: call_failed}}
";

/// The events of this many calls: requests of twenty tasks each.
fn log(calls: u32) -> Vec<Event> {
    const TASKS: u32 = 20;
    let mut events = Vec::new();
    for call in 0..calls {
        let (number, task) = (call / TASKS + 1, call % TASKS + 1);
        let request = RequestId::new(number);
        if task == 1 {
            let (user, scope) = (UserId::new("ada"), Scope::Global);
            events.push(Event::UserMsg { request, user, text: Text::from("encrypt the profiles"), scope });
        }
        let operation = Operation::RunTask { task: TaskId::new(task), effect: EffectKind::Undoable };
        let call = CallId::new(u64::from(call) + 1);
        let report = Report::Exit { code: 0, text: Text::from("12,408 profiles encrypted"), number: None };
        events.push(Event::ToolCall { call, operation });
        events.push(Event::ToolResult { module: Module::Executor, call, report });
        if task == TASKS {
            let trace = TraceId { conversation: ConversationId::new("log"), request };
            events.push(Event::FinalAnswer { trace, text: Text::from("done") });
        }
    }
    events
}

fn monitors(criterion: &mut Criterion) {
    let file = ClaimFile::parse("claims.yaml", CLAIMS).expect("the claims are valid");
    let policy = Policy::hardened();
    let mut group = criterion.benchmark_group("ten claims");
    for calls in [1_000, 10_000, 100_000] {
        let events = log(calls);
        group.throughput(Throughput::Elements(events.len() as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(format!("{calls} calls")),
            &events,
            |bench, events| {
                bench.iter(|| {
                    let monitors = Monitors::new(file.claims.clone());
                    let mut states = monitors.start();
                    let mut violations = 0;
                    for event in events {
                        monitors.step(&mut states, &policy, event, |finding| {
                            violations += usize::from(matches!(finding, Finding::Violated(..)));
                        });
                    }
                    assert_eq!(violations, 0);
                });
            },
        );
    }
    group.finish();
}

criterion_group!(benches, monitors);
criterion_main!(benches);
