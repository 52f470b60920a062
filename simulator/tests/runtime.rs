//! Conversations with asynchronous hosts under tokio: deadlines, crashes and faulty hosts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::type_complexity, reason = "tables of cases")]

#[path = "runtime/keys.rs"]
mod keys;
#[path = "runtime/lost_tail.rs"]
mod lost_tail;
#[path = "runtime/network.rs"]
mod network;
#[path = "runtime/opening.rs"]
mod opening;
#[path = "runtime/segments.rs"]
mod segments;
#[path = "runtime/team.rs"]
mod team;
#[path = "runtime/upgrade.rs"]
mod upgrade;

use orchestrion_kernel::event::{Cause, EffectOutcome};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::{NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Operation, Report, Role, Store};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::situation::{SummaryField, SummaryUpdate};
use orchestrion_kernel::{CallId, ConversationId, Event, Input, Policy, TaskId};
use orchestrion_runtime::{
    Call, CallResult, Conversation, Deadlines, Host, INPUT_BYTES_MAX, INPUT_VALUES_MAX, Message, NewRequest,
    RecoveryResult, Reply, RuntimeError,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Step, emitted_call};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use team::{Failing, HostBehavior, ScriptedTeam, exit, journal, opened, read_steps, reopened, steps};

const fn run(task: u32) -> Operation {
    let effect = match task {
        1 => EffectKind::Pure,
        2 => EffectKind::Undoable,
        _ => EffectKind::Irreversible,
    };
    Operation::RunTask { task: TaskId::new(task), effect }
}

const UNDO: Operation = Operation::UndoTask { task: TaskId::new(2) };
const CRITIC: Operation = Operation::Argue(Role::Critic);

fn refusals(steps: &[Step]) -> Vec<&str> {
    steps.iter().filter_map(|step| step.refused.as_deref()).collect()
}

fn notes(steps: &[Step]) -> Vec<&str> {
    steps.iter().filter_map(|step| step.note.as_deref()).collect()
}

fn effects(steps: &[Step]) -> Vec<(u32, Option<EffectOutcome>)> {
    let records = steps.iter().flat_map(|step| &step.events).filter_map(|event| match event {
        Event::AuditRecorded { record } => Some(record),
        _ => None,
    });
    records.flat_map(|record| &record.tasks).map(|task| (task.task.number(), task.effect)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_run_concurrently_on_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let all = (0..20).map(|number| {
        let path = folder.path().join(format!("office-{number}.ndjson"));
        tokio::spawn(async move {
            let mut conversation = opened(&path);
            let team = ScriptedTeam::with_script(|call| {
                let answer = Ok(team::agreed(call).into());
                Some(HostBehavior::ReplyAfter(Duration::from_millis(call.id.number() % 3), answer))
            });
            let first = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
            let second = conversation.run_request(&team, "grace", "Order toner").await.unwrap();
            assert_eq!(first.conclusion.unwrap().kind, ConclusionKind::Outcome);
            assert_eq!(second.trace.to_string(), format!("office-{number}/2"));
            conversation.close().await.unwrap();
            read_steps(&path).iter().filter(|step| step.at_ms > 0).count()
        })
    });
    for one in all.collect::<Vec<_>>() {
        assert!(one.await.unwrap() > 50, "every step has a time");
    }
}

#[tokio::test]
async fn current_value_follows_successors() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let source = WriteSource::declared("finance_system".into());
    let fact = |key: &str, text: &str| NewFact::global(key.into(), text.into(), source.clone());
    let first = fact("price_v1", "$100");
    let second = NewFact { supersedes: Some(Reference::Key("price_v1".into())), ..fact("price_v2", "$90") };
    let mut mailbox = conversation.mailbox();
    for new in [first, second] {
        mailbox.write(Write::Fact(new)).unwrap();
    }
    let team = ScriptedTeam::with_script(|call| {
        Some(HostBehavior::ReplyAfter(Duration::ZERO, Ok(team::agreed(call).into())))
    });
    conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    let value = |key: &str| conversation.current_value(key).map(|item| item.text.to_string());
    assert_eq!(value("price_v1").as_deref(), Some("$90"));
    assert_eq!(value("price_v2").as_deref(), Some("$90"));
    assert_eq!(value("price_v3"), None);
}

/// A host whose clock is an hour behind from its third reading on.
struct LateClock(ScriptedTeam, AtomicU64);

const HOUR_MS: u64 = 3_600_000;

impl Host for LateClock {
    async fn execute(&self, call: &Call) -> CallResult {
        self.0.execute(call).await
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.0.recover(call).await
    }

    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        if self.1.fetch_add(1, Ordering::Relaxed) < 2 { 2 * HOUR_MS } else { HOUR_MS }
    }
}

#[tokio::test]
async fn time_of_steps_does_not_go_back() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let host = LateClock(ScriptedTeam::with_script(|_| None), AtomicU64::new(0));
    conversation.run_request(&host, "ada", "Order paper").await.unwrap();
    conversation.close().await.unwrap();
    let steps = read_steps(&path);
    assert!(steps.iter().all(|step| step.at_ms == 2 * HOUR_MS && step.refused.is_none()));
    let expected = "the host's clock went back: expected 1970-01-01T02:00:00Z or later, found 1970-01-01T01:00:00Z; \
                    the time stays 1970-01-01T02:00:00Z";
    // The first two steps have the right time, and no host closes the session.
    assert_eq!(notes(&steps), vec![expected; steps.len() - 3]);
}

#[tokio::test]
async fn call_is_sent_after_its_step_is_durable() {
    let (_folder, path) = journal();
    let watched = path.clone();
    let team = ScriptedTeam::with_script(move |call| {
        let event = Event::ToolCall { call: call.id, operation: call.operation };
        let last = read_steps(&watched).pop().expect("the journal has steps");
        assert!(last.events.contains(&event), "{call} was sent before its step was durable");
        None
    });
    let result = opened(&path).run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(result.text.as_str(), "done: Look up the price\ndone: Place the order\ndone: Tell the office");
    assert_eq!(team.operations().len(), 15);
}

#[tokio::test(start_paused = true)]
async fn late_reply_is_recorded_and_refused() {
    let (_folder, path) = journal();
    // The order exceeds its deadline by five seconds; its undo takes so long that the late reply still arrives.
    let team = ScriptedTeam::with_script(|call| match call.operation {
        operation if operation == run(2) => {
            Some(HostBehavior::ReplyAfter(Duration::from_secs(90), Ok(exit(0, "order 71").into())))
        }
        UNDO => Some(HostBehavior::ReplyAfter(Duration::from_secs(80), Ok(exit(0, "gone").into()))),
        _ => None,
    });
    let deadlines =
        Deadlines::new(Duration::from_secs(5)).with_module(Module::Executor, Duration::from_secs(85));
    let mut conversation = opened(&path).with_deadlines(deadlines);
    let result = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(result.conclusion.unwrap().kind, ConclusionKind::RolledBack);
    let steps = read_steps(&path);
    assert_eq!(
        notes(&steps),
        [
            "deadline exceeded: expected a reply to call 11 (the executor's task result) within 85s, found none"
        ]
    );
    assert_eq!(refusals(&steps), ["reply to wrong call: expected call 13, found call 11"]);
    assert_eq!(effects(&steps), [(1, None), (2, Some(EffectOutcome::Undone))]);
}

#[tokio::test(start_paused = true)]
async fn faulty_host_fails_its_call() {
    let cases: [(Operation, fn() -> HostBehavior, Cause, &str); 5] = [
        (
            CRITIC,
            || HostBehavior::Panics("index out of bounds"),
            Cause::CallFailed(Module::Debater(Role::Critic), Failure::Error),
            "the host panicked at call 7 (the Critic's argument): index out of bounds",
        ),
        (
            CRITIC,
            || HostBehavior::Never,
            Cause::CallFailed(Module::Debater(Role::Critic), Failure::Timeout),
            "deadline exceeded: expected a reply to call 7 (the Critic's argument) within 60s, found none",
        ),
        (
            CRITIC,
            || HostBehavior::Reply(Ok(Report::Delivered.into())),
            Cause::CallFailed(Module::Debater(Role::Critic), Failure::Malformed),
            "wrong report: expected the Critic's argument, found a receipt",
        ),
        (
            Operation::Classify,
            || {
                HostBehavior::Reply(Ok(Report::Classification {
                    tags: vec!["x".repeat(INPUT_BYTES_MAX).into()],
                    similarity: orchestrion_kernel::Score::ZERO,
                }
                .into()))
            },
            Cause::CallFailed(Module::Classifier, Failure::Malformed),
            "reply too large: expected at most 1048576 bytes of JSON, found 1048653",
        ),
        (
            Operation::Classify,
            || {
                HostBehavior::Reply(Ok(Report::Classification {
                    tags: vec!["x".into(); INPUT_VALUES_MAX],
                    similarity: orchestrion_kernel::Score::ZERO,
                }
                .into()))
            },
            Cause::CallFailed(Module::Classifier, Failure::Malformed),
            "reply too large: expected at most 100000 values and keys of JSON, found 100013",
        ),
    ];
    for (asked, act, cause, note) in cases {
        let (_folder, path) = journal();
        let team = ScriptedTeam::with_script(move |call| (call.operation == asked).then(act));
        let result = opened(&path).run_request(&team, "ada", "Order paper").await.unwrap();
        assert_eq!(result.conclusion.unwrap().cause, cause);
        assert_eq!(notes(&read_steps(&path)), [note]);
    }
}

#[tokio::test(start_paused = true)]
async fn repeated_and_foreign_replies_are_refused() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = conversation.mailbox();
    let team = ScriptedTeam::with_script(move |call| {
        if call.operation == run(1) {
            let mut mailbox = mailbox.clone();
            let call = call.id;
            tokio::spawn(async move {
                let reply = |call, text| Message {
                    input: Input::reply(call, exit(0, text)),
                    note: Some("by mail".to_owned()),
                    sequence: None,
                };
                for (call, text) in [(CallId::new(99), "astray"), (call, "cheap"), (call, "cheaper")] {
                    mailbox.send(reply(call, text)).unwrap();
                }
            });
            return Some(HostBehavior::Never);
        }
        None
    });
    let result = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(result.text.as_str(), "cheap\ndone: Place the order\ndone: Tell the office");
    let steps = read_steps(&path);
    assert_eq!(
        refusals(&steps),
        [
            "reply to wrong call: expected call 10, found call 99",
            "reply to wrong call: expected call 11, found call 10"
        ]
    );
    assert_eq!(notes(&steps).len(), 3);
}

#[tokio::test]
async fn cancel_undoes_completed_tasks() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = conversation.mailbox();
    let team = ScriptedTeam::with_script(move |call| {
        if call.operation != run(3) {
            return None;
        }
        let mut mailbox = mailbox.clone();
        mailbox.cancel().unwrap();
        Some(HostBehavior::Never)
    });
    let result = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(result.conclusion.unwrap().cause, Cause::Cancelled);
    assert!(team.operations().contains(&UNDO));
    // A late cancel must not affect the next request.
    conversation.mailbox().cancel().unwrap();
    let result = conversation.run_request(&ScriptedTeam::agrees(), "ada", "Order toner").await.unwrap();
    assert_eq!(result.conclusion.unwrap().kind, ConclusionKind::Outcome);
    assert_eq!(
        refusals(&read_steps(&path)),
        ["unexpected input in Idle: expected a user message, session start or session end, found a cancel"]
    );
}

/// Drops the future of a request when this operation is called, like a crash, and opens the journal again.
async fn crashed_at(asked: Operation) -> (tempfile::TempDir, Conversation<orchestrion_runtime::JournalFile>) {
    let (folder, path) = journal();
    let mut conversation = opened(&path);
    let (reached, crash) = tokio::sync::oneshot::channel();
    let reached = std::sync::Mutex::new(Some(reached));
    let team = ScriptedTeam::with_script(move |call| {
        (call.operation == asked).then(|| {
            reached.lock().unwrap().take().map(|reached| reached.send(()));
            HostBehavior::Never
        })
    });
    tokio::select! {
        result = conversation.run_request(&team, "ada", "Order paper") => panic!("{result:?}"),
        _ = crash => {}
    }
    drop(conversation);
    (folder, reopened(&path))
}

#[tokio::test]
async fn harmless_call_keeps_its_id_after_crash() {
    let (_folder, mut conversation) = crashed_at(CRITIC).await;
    assert!(conversation.is_unfinished());
    let error = conversation.run_request(&ScriptedTeam::agrees(), "ada", "And toner").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unfinished request: expected no running request, found office/1; call `resume` first"
    );
    let team = ScriptedTeam::agrees();
    let result = conversation.resume(&team).await.unwrap().unwrap();
    assert_eq!(result.conclusion.unwrap().kind, ConclusionKind::Outcome);
    let first = team.calls.lock().unwrap()[0].clone();
    assert_eq!((first.operation, first.id), (CRITIC, CallId::new(7)));
    assert_eq!(first.request.as_str(), "Order paper");
    assert_eq!(conversation.resume(&team).await.unwrap(), None);
}

#[tokio::test]
async fn effectful_call_is_recovered_after_crash() {
    // The recovery result, whether the task is sent again, and the outcome of its effect.
    let cases: [(fn() -> RecoveryResult, bool, EffectOutcome); 4] = [
        (|| RecoveryResult::Completed(Ok(exit(0, "order 71").into())), false, EffectOutcome::Kept),
        (|| RecoveryResult::Completed(Err(Failure::Error.into())), false, EffectOutcome::Undone),
        (|| RecoveryResult::NotStarted, true, EffectOutcome::Kept),
        (|| RecoveryResult::OutcomeUnknown, false, EffectOutcome::Undone),
    ];
    for (recovery, is_repeated, outcome) in cases {
        let (folder, mut conversation) = crashed_at(run(2)).await;
        let team = ScriptedTeam::agrees().and_recovers(move |_| Some(recovery()));
        let result = conversation.resume(&team).await.unwrap().unwrap();
        let kind =
            if outcome == EffectOutcome::Kept { ConclusionKind::Outcome } else { ConclusionKind::RolledBack };
        assert_eq!(result.conclusion.unwrap().kind, kind);
        assert_eq!(team.operations().contains(&run(2)), is_repeated);
        let recovered = team.recovered.lock().unwrap();
        assert_eq!(recovered.iter().map(|call| call.operation).collect::<Vec<_>>(), [run(2)]);
        let steps = read_steps(&folder.path().join("office.ndjson"));
        assert!(effects(&steps).contains(&(2, Some(outcome))), "{:?}", effects(&steps));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_recovery_leaves_outcome_unknown() {
    let hosts: [(fn(&Call) -> Option<RecoveryResult>, &str); 2] = [
        (
            |_| panic!("no connection"),
            "the host panicked at call 11 (the executor's task result): no connection",
        ),
        (
            |_| None,
            "deadline exceeded: expected a reply to call 11 (the executor's task result) within 60s, found none",
        ),
    ];
    for (host, note) in hosts {
        let (folder, mut conversation) = crashed_at(run(2)).await;
        let team = ScriptedTeam::agrees().and_recovers(host);
        let result = conversation.resume(&team).await.unwrap().unwrap();
        assert_eq!(result.conclusion.unwrap().kind, ConclusionKind::RolledBack);
        let steps = read_steps(&folder.path().join("office.ndjson"));
        assert_eq!(notes(&steps), [note]);
        assert!(
            steps
                .iter()
                .any(|step| matches!(step.input, Input::CallFailed { failure: Failure::OutcomeUnknown, .. }))
        );
    }
}

#[tokio::test]
async fn undo_receives_started_task_after_crash() {
    let (_folder, mut conversation) = crashed_at(UNDO_AFTER_FAILURE).await;
    let team = ScriptedTeam::with_script(|call| {
        (call.operation == run(3)).then(|| HostBehavior::Reply(Ok(exit(1, "no").into())))
    })
    .and_recovers(|_| Some(RecoveryResult::NotStarted));
    conversation.resume(&team).await.unwrap();
    let asked = team.calls.lock().unwrap();
    let undo = asked.iter().find(|call| call.operation == UNDO).expect("an undo");
    let json = serde_json::to_value(undo).unwrap();
    assert_eq!(json["payload"]["task"]["effect"]["undoable"]["compensation"], "Cancel the order");
}

/// The irreversible task, whose failure leads to the undo.
const UNDO_AFTER_FAILURE: Operation = run(3);

#[tokio::test]
async fn journal_failure_stops_before_the_call() {
    for good_writes in 0..14 {
        let journal = Failing { kept: Vec::new(), good_writes, part_bytes: 100 };
        let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
        let mut conversation = Conversation::open_with(journal, &header, &StandardContexts).unwrap();
        let team = ScriptedTeam::agrees();
        let error = conversation.run_request(&team, "ada", "Order paper").await.unwrap_err();
        assert!(matches!(error, RuntimeError::Journal { .. }), "{error}");
        assert_eq!(team.operations().len(), good_writes);
        let again = conversation.resume(&team).await.unwrap_err();
        assert!(matches!(again, RuntimeError::JournalFailed { .. }), "{again}");
        let mut kept = conversation.journal().kept.clone();
        if good_writes > 0 {
            let conversation = Conversation::open_with(kept.clone(), &header, &StandardContexts).unwrap();
            let tail = conversation.truncated_tail().expect("a torn tail");
            kept.truncate(kept.len() - usize::try_from(tail.bytes).unwrap());
            let calls = steps(&kept).iter().filter(|step| emitted_call(&step.events).is_some()).count();
            assert_eq!(calls, good_writes, "every sent call is durable");
        }
    }
}

/// The recovery result arrives after the deadline of the recovery.
#[tokio::test(start_paused = true)]
async fn late_recovery_repeats_no_effect() {
    let (folder, mut conversation) = crashed_at(run(2)).await;
    let slow = |time| Some(HostBehavior::ReplyAfter(Duration::from_secs(time), Ok(exit(0, "gone").into())));
    let team = ScriptedTeam::with_script(move |call| (call.operation == UNDO).then(|| slow(40)).flatten())
        .and_recovers_after(Duration::from_secs(90), |_| Some(RecoveryResult::NotStarted));
    let result = conversation.resume(&team).await.unwrap().unwrap();
    assert_eq!(result.conclusion.unwrap().kind, ConclusionKind::RolledBack);
    assert_eq!(team.operations().iter().filter(|ask| **ask == UNDO).count(), 1, "one undo");
    assert_eq!(
        effects(&read_steps(&folder.path().join("office.ndjson"))),
        [(1, None), (2, Some(EffectOutcome::Undone))]
    );
}

/// Continuous messages do not postpone a deadline.
#[tokio::test]
async fn continuous_messages_do_not_delay_deadline() {
    let (_folder, path) = journal();
    let deadlines = Deadlines::new(Duration::from_millis(50));
    let mut conversation = opened(&path).with_deadlines(deadlines);
    let mut mailbox = conversation.mailbox();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let sender = std::thread::spawn(move || {
        let message =
            Message { input: Input::reply(CallId::new(99), Report::Delivered), note: None, sequence: None };
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            let _full = mailbox.send(message.clone());
        }
    });
    let team = ScriptedTeam::with_script(|call| (call.operation == CRITIC).then_some(HostBehavior::Never));
    let asked =
        tokio::time::timeout(Duration::from_secs(20), conversation.run_request(&team, "ada", "Order paper"))
            .await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    sender.join().unwrap();
    let cause = asked.expect("the request ends").unwrap().conclusion.unwrap().cause;
    assert_eq!(cause, Cause::CallFailed(Module::Debater(Role::Critic), Failure::Timeout));
}

#[tokio::test]
async fn mailbox_write_waits_for_its_session() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mut mailbox = conversation.mailbox();
    let working = || Write::Working {
        key: "desk".into(),
        text: "left".into(),
        expires_at: None,
        depends_on: Vec::new(),
    };
    let signal = || Write::Environment { key: "rain".into(), text: "heavy".into(), supersedes: None };
    mailbox.write(working()).unwrap();
    mailbox.write(signal()).unwrap();
    let _result = conversation.run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let wrote = |step: &&Step| matches!(step.input, Input::Write(_));
    let steps = read_steps(&path);
    let written: Vec<_> = steps.iter().filter(wrote).map(|step| &step.input).collect();
    assert_eq!(written, [&Input::Write(Box::new(signal())), &Input::Write(Box::new(working()))]);
    assert_eq!(refusals(&steps), [""; 0]);
}

#[tokio::test]
async fn request_runs_in_its_scope() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let supposed = || Scope::Hypothetical("half price".into());
    let source = || WriteSource::declared("manager".into());
    let price = |text: &str| NewFact::global("price".into(), text.into(), source());
    conversation.mailbox().write(Write::Fact(price("$100"))).unwrap();
    conversation.mailbox().write(Write::Fact(NewFact { scope: supposed(), ..price("$50") })).unwrap();
    let team = ScriptedTeam::with_script(|_| None);
    let request = || NewRequest { text: "What if it cost half?".into(), scope: supposed(), key: None };
    let _result = conversation.run_request(&team, "ada", request()).await.unwrap();
    let calls = std::mem::take(&mut *team.calls.lock().unwrap());
    let texts = calls.iter().filter_map(|call| call.context.as_ref()).map(|context| &context.text);
    assert!(texts.clone().count() > 5 && texts.clone().all(|text| text.contains("): $50")), "{calls:?}");
    assert!(calls.iter().all(|call| call.scope == supposed()));

    let value =
        |scope: &Scope| conversation.current_value_in(scope, "price").map(|item| item.text.to_string());
    assert_eq!(value(&supposed()).as_deref(), Some("$50"));
    assert_eq!(conversation.current_value("price").map(|item| item.text.as_str()), Some("$100"));

    // Nothing of the request is readable outside, and a scope without a fact is refused.
    let _result = conversation.run_request(&team, "ada", "What does it cost?").await.unwrap();
    let calls = std::mem::take(&mut *team.calls.lock().unwrap());
    let mut texts = calls.iter().filter_map(|call| call.context.as_ref()).map(|context| &context.text);
    assert!(texts.all(|text| !text.contains("$50") && !text.contains("What if it cost half?")), "{calls:?}");
    let unknown = NewRequest { scope: Scope::Draft("offer".into()), ..request() };
    let error = conversation.run_request(&team, "ada", unknown).await.unwrap_err().to_string();
    assert!(error.contains("unknown scope `draft offer`"), "{error}");
}

#[tokio::test]
async fn call_over_budget_is_not_sent() {
    let (_folder, path) = journal();
    let mut policy = Policy { name: "narrow".to_owned(), ..Policy::hardened() };
    (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (30, 0);
    let mut conversation = Conversation::open(&path, policy, &StandardContexts).unwrap();
    let team = ScriptedTeam::with_script(|_| None);
    let result = conversation.run_request(&team, "ada", &*"paint the wall ".repeat(20)).await.unwrap();
    assert_eq!(result.conclusion.unwrap().cause, Cause::CallFailed(Module::Memory, Failure::OverBudget));
    // Only the memory reads a context.
    let asked: Vec<Module> = team.calls.lock().unwrap().iter().map(|call| call.module).collect();
    let stores = [Store::Local, Store::Cloud].map(Module::Store);
    assert_eq!(asked, [Module::IdentityGuard, stores[0], stores[1], Module::Auditor]);
    let steps = steps(&std::fs::read(&path).unwrap());
    let failed = |step: &&Step| {
        matches!(step.input, Input::CallFailed { failure: Failure::OverBudget, .. })
            && step.note.as_deref().is_some_and(|note| note.starts_with("context over budget: "))
    };
    assert_eq!(steps.iter().filter(failed).count(), 1);
    assert!(steps.iter().any(|step| matches!(step.events.last(), Some(Event::OverBudget { .. }))));
}

#[tokio::test]
async fn summary_update_is_in_next_context() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let team = ScriptedTeam::with_script(|call| {
        let summary_update = SummaryUpdate([("goal".to_owned(), "Order paper".into())].into());
        let reply = Reply { summary_update: Some(summary_update), ..team::agreed(call).into() };
        (call.operation == Operation::Classify).then_some(HostBehavior::Reply(Ok(reply)))
    });
    let _result = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    let asks = |call: &Call| call.summary_update.is_some();
    let asked = std::mem::take(&mut *team.calls.lock().unwrap());
    let planner = asked.iter().find(|call| call.operation == Operation::DraftPlan).unwrap();
    let text = &planner.context.as_ref().unwrap().text;
    assert!(text.contains("# Situation\ngoal: Order paper"), "{text}");
    let fields = &planner.summary_update.as_ref().unwrap().fields;
    assert_eq!(fields.iter().map(|field| field.name).collect::<Vec<_>>(), SummaryField::ALL);
    assert!(!asked.iter().any(|call| asks(call) && call.operation == Operation::LoadContext));

    // The next request starts without a summary (decision 0034).
    let team = ScriptedTeam::with_script(|_| None);
    let _result = conversation.run_request(&team, "ada", "Order ink").await.unwrap();
    let asked = team.calls.lock().unwrap();
    assert!(asked.iter().any(asks));
    let texts = || asked.iter().filter_map(|call| call.context.as_ref()).map(|context| &context.text);
    assert!(texts().count() > 5 && texts().all(|text| !text.contains("# Situation")));
}
