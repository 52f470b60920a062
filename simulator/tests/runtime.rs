//! Real asynchronous modules drive a conversation, under tokio: deadlines, crashes, hosts that misbehave.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::type_complexity, reason = "tables of cases")]

#[path = "runtime/opening.rs"]
mod opening;
#[path = "runtime/team.rs"]
mod team;

use orchestrion_kernel::event::{Cause, EffectOutcome};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Operation, Report, Role};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::situation::SummaryUpdate;
use orchestrion_kernel::{CallId, ConversationId, Event, Input, Policy, TaskId};
use orchestrion_runtime::{
    Call, Conversation, Deadlines, INPUT_BYTES_MAX, Message, RecoveryResult, Reply, RuntimeError,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Step};
use std::time::Duration;
use team::{Failing, HostBehavior, ScriptedTeam, exit, journal, kept, opened, steps};

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

/// What a step was refused with, or what was noted of it.
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
async fn conversations_are_driven_side_by_side_on_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let all = (0..20).map(|number| {
        let path = folder.path().join(format!("office-{number}.ndjson"));
        tokio::spawn(async move {
            let mut conversation = opened(&path);
            let team = ScriptedTeam::that(|call| {
                let answer = Ok(team::agreed(call).into());
                Some(HostBehavior::SaysAfter(Duration::from_millis(call.id.number() % 3), answer))
            });
            let first = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
            let second = conversation.run_request(&team, "grace", "Order toner").await.unwrap();
            assert_eq!(first.ending.unwrap().kind, ConclusionKind::Outcome);
            assert_eq!(second.trace.to_string(), format!("office-{number}/2"));
            conversation.close().await.unwrap();
            kept(&path).iter().filter(|step| step.at_ms > 0).count()
        })
    });
    for one in all.collect::<Vec<_>>() {
        assert!(one.await.unwrap() > 50, "every step says when it came");
    }
}

#[tokio::test]
async fn a_call_leaves_only_once_it_is_kept() {
    let (_folder, path) = journal();
    let watched = path.clone();
    let team = ScriptedTeam::that(move |call| {
        let asked = Event::ToolCall { call: call.id, operation: call.operation };
        let last = kept(&watched).pop().expect("something is kept");
        assert!(last.events.contains(&asked), "{call} left before it was kept");
        None
    });
    let answered = opened(&path).run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(
        answered.text.as_str(),
        "done: Look up the price\ndone: Place the order\ndone: Tell the office"
    );
    assert_eq!(team.asks().len(), 15);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_is_recorded_and_refused() {
    let (_folder, path) = journal();
    // The order takes a minute longer than it may; undoing it takes so long that it still comes back.
    let team = ScriptedTeam::that(|call| match call.operation {
        ask if ask == run(2) => {
            Some(HostBehavior::SaysAfter(Duration::from_secs(90), Ok(exit(0, "order 71").into())))
        }
        UNDO => Some(HostBehavior::SaysAfter(Duration::from_secs(80), Ok(exit(0, "gone").into()))),
        _ => None,
    });
    let deadlines = Deadlines::new(Duration::from_secs(5)).with(Module::Executor, Duration::from_secs(85));
    let mut conversation = opened(&path).with_deadlines(deadlines);
    let answered = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(answered.ending.unwrap().kind, ConclusionKind::RolledBack);
    let steps = kept(&path);
    assert_eq!(notes(&steps), ["nothing came back from call 11 (the executor's task result) within 85s"]);
    assert_eq!(refusals(&steps), ["an answer to call 11 came; expected one to call 13"]);
    assert_eq!(effects(&steps), [(1, None), (2, Some(EffectOutcome::Undone))]);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_panics_never_returns_or_talks_nonsense_is_taken_as_the_rows_say() {
    let cases: [(Operation, fn() -> HostBehavior, Cause, &str); 4] = [
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
            "nothing came back from call 7 (the Critic's argument) within 60s",
        ),
        (
            CRITIC,
            || HostBehavior::Reply(Ok(Report::Delivered.into())),
            Cause::CallFailed(Module::Debater(Role::Critic), Failure::Malformed),
            "a receipt came; expected the Critic's argument",
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
            "the answer has 1048653 bytes as JSON; expected at most 1048576",
        ),
    ];
    for (asked, act, cause, note) in cases {
        let (_folder, path) = journal();
        let team = ScriptedTeam::that(move |call| (call.operation == asked).then(act));
        let answered = opened(&path).run_request(&team, "ada", "Order paper").await.unwrap();
        assert_eq!(answered.ending.unwrap().cause, cause);
        assert_eq!(notes(&kept(&path)), [note]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_answers_twice_or_another_call_is_refused_and_recorded() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = conversation.mailbox();
    let team = ScriptedTeam::that(move |call| {
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
    let answered = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(answered.text.as_str(), "cheap\ndone: Place the order\ndone: Tell the office");
    let steps = kept(&path);
    assert_eq!(
        refusals(&steps),
        [
            "an answer to call 99 came; expected one to call 10",
            "an answer to call 10 came; expected one to call 11"
        ]
    );
    assert_eq!(notes(&steps).len(), 3);
}

#[tokio::test]
async fn anybody_may_cancel_while_it_runs_and_what_ran_is_undone() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = conversation.mailbox();
    let team = ScriptedTeam::that(move |call| {
        if call.operation != run(3) {
            return None;
        }
        let mut mailbox = mailbox.clone();
        mailbox.cancel().unwrap();
        Some(HostBehavior::Never)
    });
    let answered = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    assert_eq!(answered.ending.unwrap().cause, Cause::Cancelled);
    assert!(team.asks().contains(&UNDO));
    // A cancel that comes when nothing runs is late: it must not hit the next request.
    conversation.mailbox().cancel().unwrap();
    let answered = conversation.run_request(&ScriptedTeam::agrees(), "ada", "Order toner").await.unwrap();
    assert_eq!(answered.ending.unwrap().kind, ConclusionKind::Outcome);
    assert_eq!(
        refusals(&kept(&path)),
        ["a cancel came while Idle; expected a user message, or the start or end of a session"]
    );
}

/// Drops the future that drives a request once this is asked, as a crash would, and opens the journal again.
async fn crashed_at(asked: Operation) -> (tempfile::TempDir, Conversation<orchestrion_runtime::JournalFile>) {
    let (folder, path) = journal();
    let mut conversation = opened(&path);
    let (reached, crash) = tokio::sync::oneshot::channel();
    let reached = std::sync::Mutex::new(Some(reached));
    let team = ScriptedTeam::that(move |call| {
        (call.operation == asked).then(|| {
            reached.lock().unwrap().take().map(|reached| reached.send(()));
            HostBehavior::Never
        })
    });
    tokio::select! {
        answered = conversation.run_request(&team, "ada", "Order paper") => panic!("{answered:?}"),
        _ = crash => {}
    }
    drop(conversation);
    (folder, opened(&path))
}

#[tokio::test]
async fn after_a_crash_a_harmless_call_is_asked_again_under_its_own_id() {
    let (_folder, mut conversation) = crashed_at(CRITIC).await;
    assert!(conversation.is_unfinished());
    let error = conversation.run_request(&ScriptedTeam::agrees(), "ada", "And toner").await.unwrap_err();
    assert_eq!(error.to_string(), "office/1 is unfinished; expected `resume` before anything else is asked");
    let team = ScriptedTeam::agrees();
    let answered = conversation.resume(&team).await.unwrap().unwrap();
    assert_eq!(answered.ending.unwrap().kind, ConclusionKind::Outcome);
    let first = team.asked.lock().unwrap()[0].clone();
    assert_eq!((first.operation, first.id), (CRITIC, CallId::new(7)));
    assert_eq!(first.request.as_str(), "Order paper");
    assert_eq!(conversation.resume(&team).await.unwrap(), None);
}

#[tokio::test]
async fn after_a_crash_an_effectful_call_is_asked_about_first() {
    // What the host finds out, whether the task is asked again, and what becomes of its effect.
    let cases: [(fn() -> RecoveryResult, bool, EffectOutcome); 4] = [
        (|| RecoveryResult::Completed(Ok(exit(0, "order 71").into())), false, EffectOutcome::Kept),
        (|| RecoveryResult::Completed(Err(Failure::Error.into())), false, EffectOutcome::Undone),
        (|| RecoveryResult::NotStarted, true, EffectOutcome::Kept),
        (|| RecoveryResult::OutcomeUnknown, false, EffectOutcome::Undone),
    ];
    for (fate, again, end) in cases {
        let (folder, mut conversation) = crashed_at(run(2)).await;
        let team = ScriptedTeam::agrees().and_finds(move |_| Some(fate()));
        let answered = conversation.resume(&team).await.unwrap().unwrap();
        let kind =
            if end == EffectOutcome::Kept { ConclusionKind::Outcome } else { ConclusionKind::RolledBack };
        assert_eq!(answered.ending.unwrap().kind, kind);
        assert_eq!(team.asks().contains(&run(2)), again);
        let recovered = team.recovered.lock().unwrap();
        assert_eq!(recovered.iter().map(|call| call.operation).collect::<Vec<_>>(), [run(2)]);
        let steps = kept(&folder.path().join("office.ndjson"));
        assert!(effects(&steps).contains(&(2, Some(end))), "{:?}", effects(&steps));
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_find_out_in_time_or_panics_knows_nothing() {
    let hosts: [(fn(&Call) -> Option<RecoveryResult>, &str); 2] = [
        (
            |_| panic!("no connection"),
            "the host panicked at call 11 (the executor's task result): no connection",
        ),
        (|_| None, "nothing came back from call 11 (the executor's task result) within 60s"),
    ];
    for (host, note) in hosts {
        let (folder, mut conversation) = crashed_at(run(2)).await;
        let team = ScriptedTeam::agrees().and_finds(host);
        let answered = conversation.resume(&team).await.unwrap().unwrap();
        assert_eq!(answered.ending.unwrap().kind, ConclusionKind::RolledBack);
        let steps = kept(&folder.path().join("office.ndjson"));
        assert_eq!(notes(&steps), [note]);
        assert!(
            steps
                .iter()
                .any(|step| matches!(step.input, Input::CallFailed { failure: Failure::OutcomeUnknown, .. }))
        );
    }
}

#[tokio::test]
async fn an_undo_says_what_its_task_was_started_with_even_after_a_crash() {
    let (_folder, mut conversation) = crashed_at(UNDO_AFTER_FAILURE).await;
    let team = ScriptedTeam::that(|call| {
        (call.operation == run(3)).then(|| HostBehavior::Reply(Ok(exit(1, "no").into())))
    })
    .and_finds(|_| Some(RecoveryResult::NotStarted));
    conversation.resume(&team).await.unwrap();
    let asked = team.asked.lock().unwrap();
    let undo = asked.iter().find(|call| call.operation == UNDO).expect("it was undone");
    let said = serde_json::to_value(undo).unwrap();
    assert_eq!(said["task"]["effect"]["undoable"]["compensation"], "Cancel the order");
}

/// The irreversible task, whose failure leads to the undo.
const UNDO_AFTER_FAILURE: Operation = run(3);

#[tokio::test]
async fn a_journal_that_cannot_be_written_stops_the_conversation_before_the_call_leaves() {
    for good_writes in 0..14 {
        let journal = Failing { kept: Vec::new(), good_writes, part_bytes: 100 };
        let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
        let mut conversation = Conversation::open_with(journal, &header, &StandardContexts).unwrap();
        let team = ScriptedTeam::agrees();
        let error = conversation.run_request(&team, "ada", "Order paper").await.unwrap_err();
        assert!(matches!(error, RuntimeError::Journal { .. }), "{error}");
        assert_eq!(team.asks().len(), good_writes);
        let again = conversation.resume(&team).await.unwrap_err();
        assert!(matches!(again, RuntimeError::JournalFailed { .. }), "{again}");
        let mut kept = conversation.journal().kept.clone();
        if good_writes > 0 {
            let conversation = Conversation::open_with(kept.clone(), &header, &StandardContexts).unwrap();
            let dropped = conversation.dropped().expect("a part of a line was kept");
            kept.truncate(kept.len() - usize::try_from(dropped.bytes).unwrap());
            let calls = steps(&kept).iter().filter(|step| step.context.is_some()).count();
            assert_eq!(calls, good_writes, "every call that left is kept");
        }
    }
}

/// A word that comes after its time, about a call that is not waited for any more.
#[tokio::test(start_paused = true)]
async fn a_host_that_finds_out_too_late_makes_nothing_happen_twice() {
    let (folder, mut conversation) = crashed_at(run(2)).await;
    let slow = |time| Some(HostBehavior::SaysAfter(Duration::from_secs(time), Ok(exit(0, "gone").into())));
    let team = ScriptedTeam::that(move |call| (call.operation == UNDO).then(|| slow(40)).flatten())
        .and_finds_after(Duration::from_secs(90), |_| Some(RecoveryResult::NotStarted));
    let answered = conversation.resume(&team).await.unwrap().unwrap();
    assert_eq!(answered.ending.unwrap().kind, ConclusionKind::RolledBack);
    assert_eq!(team.asks().iter().filter(|ask| **ask == UNDO).count(), 1, "it is undone once");
    assert_eq!(
        effects(&kept(&folder.path().join("office.ndjson"))),
        [(1, None), (2, Some(EffectOutcome::Undone))]
    );
}

/// Whoever sends and sends cannot keep a call from failing in time.
#[tokio::test]
async fn who_sends_much_does_not_stop_the_time() {
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
    let team = ScriptedTeam::that(|call| (call.operation == CRITIC).then_some(HostBehavior::Never));
    let asked =
        tokio::time::timeout(Duration::from_secs(20), conversation.run_request(&team, "ada", "Order paper"))
            .await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    sender.join().unwrap();
    let cause = asked.expect("it ends").unwrap().ending.unwrap().cause;
    assert_eq!(cause, Cause::CallFailed(Module::Debater(Role::Critic), Failure::Timeout));
}

#[tokio::test]
async fn what_is_to_be_known_is_put_into_the_mailbox_and_waits_for_a_session_if_it_is_about_one() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mut mailbox = conversation.mailbox();
    let working =
        || Write::Working { key: "desk".into(), text: "left".into(), expires_at: None, rests_on: Vec::new() };
    let signal = || Write::Environment { key: "rain".into(), text: "heavy".into(), supersedes: None };
    mailbox.write(working()).unwrap();
    mailbox.write(signal()).unwrap();
    let _answered = conversation.run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let wrote = |step: &&Step| matches!(step.input, Input::Write(_));
    let steps = kept(&path);
    let written: Vec<_> = steps.iter().filter(wrote).map(|step| &step.input).collect();
    assert_eq!(written, [&Input::Write(Box::new(signal())), &Input::Write(Box::new(working()))]);
    assert_eq!(refusals(&steps), [""; 0]);
}

#[tokio::test]
async fn nobody_is_asked_who_cannot_be_shown_what_must_be() {
    let (_folder, path) = journal();
    let mut policy = Policy { name: "narrow".to_owned(), ..Policy::hardened() };
    (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (30, 0);
    let mut conversation = Conversation::open(&path, policy, &StandardContexts).unwrap();
    let team = ScriptedTeam::that(|_| None);
    let answered = conversation.run_request(&team, "ada", &*"paint the wall ".repeat(20)).await.unwrap();
    assert_eq!(answered.ending.unwrap().cause, Cause::CallFailed(Module::Memory, Failure::OverBudget));
    // What was asked for is shown once the user is known.
    let asked: Vec<Operation> = team.asked.lock().unwrap().iter().map(|call| call.operation).collect();
    assert_eq!(asked, [Operation::VerifyIdentity]);
    let steps = steps(&std::fs::read(&path).unwrap());
    let failed = |step: &&Step| {
        matches!(step.input, Input::CallFailed { failure: Failure::OverBudget, .. })
            && step.note.as_deref().is_some_and(|note| note.starts_with("what must be shown takes "))
    };
    assert!(steps.iter().filter(failed).count() > 2, "memory, both stores, the audit sink");
    assert!(steps.iter().any(|step| matches!(step.events.last(), Some(Event::OverBudget { .. }))));
}

#[tokio::test]
async fn what_a_host_says_beside_an_answer_is_shown_to_whoever_is_asked_next() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let team = ScriptedTeam::that(|call| {
        let summary_update = SummaryUpdate([("goal".to_owned(), "Order paper".into())].into());
        let reply = Reply { summary_update: Some(summary_update), ..team::agreed(call).into() };
        (call.operation == Operation::Classify).then_some(HostBehavior::Reply(Ok(reply)))
    });
    let _answered = conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    let asked = team.asked.lock().unwrap();
    let planner = asked.iter().find(|call| call.operation == Operation::DraftPlan).unwrap();
    assert!(planner.context.text.contains("# Situation\ngoal: Order paper"), "{}", planner.context.text);
}
