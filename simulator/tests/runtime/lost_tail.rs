//! Journals that lost their end: no effect happens twice.

use super::team::{HostBehavior, RecoveryScript, ScriptedTeam, agreed, exit, journal, opened};
use super::{UNDO, UNDO_AFTER_FAILURE, run};
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::{ConversationId, Policy, TaskId};
use orchestrion_runtime::{Call, Conversation, Journal as _, JournalFile, OpenError, RecoveryResult, rotate};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, PossibleLoss};
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The idempotency keys of the executed calls with an effect, in order. They survive the journal.
type Executed = Arc<Mutex<Vec<(String, u64)>>>;

fn key(call: &Call) -> (String, u64) {
    (call.trace.to_string(), call.id.number())
}

/// Executes a call. The runtime catches a panic of its host, so the test compares the effects afterwards.
fn execute(executed: &Executed, call: &Call, report: Report) -> HostBehavior {
    if call.operation.is_effectful() {
        executed.lock().unwrap().push(key(call));
    }
    HostBehavior::Reply(Ok(report.into()))
}

fn recover(executed: &Executed) -> Box<RecoveryScript> {
    let executed = Arc::clone(executed);
    Box::new(move |call| {
        Some(match executed.lock().unwrap().contains(&key(call)) {
            true => RecoveryResult::Completed(Ok(agreed(call).into())),
            false => RecoveryResult::NotStarted,
        })
    })
}

fn header() -> Header {
    Header::new(ConversationId::new("office"), Policy::hardened(), None).into_journal()
}

/// A journal whose last line emits a call that the host executed before the crash, with the executed keys.
async fn crashed_after(operation: Operation) -> (Vec<u8>, Vec<(String, u64)>) {
    let executed = Executed::default();
    let known = Arc::clone(&executed);
    let (reached, crash) = tokio::sync::oneshot::channel();
    let reached = Mutex::new(Some(reached));
    let team = ScriptedTeam::with_script(move |call| {
        // The compensation follows a task that fails.
        let report = match call.operation {
            failing if operation == UNDO && failing == UNDO_AFTER_FAILURE => exit(1, "no"),
            _ => agreed(call),
        };
        let behavior = execute(&known, call, report);
        if call.operation == operation {
            reached.lock().unwrap().take().map(|reached| reached.send(()));
            return Some(HostBehavior::Never);
        }
        Some(behavior)
    });
    let mut conversation = Conversation::open_with(Vec::new(), &header(), &StandardContexts).unwrap();
    tokio::select! {
        result = conversation.run_request(&team, "ada", "Order paper") => panic!("{result:?}"),
        _ = crash => {}
    }
    drop(team);
    let executed = Arc::try_unwrap(executed).unwrap().into_inner().unwrap();
    (conversation.into_journal(), executed)
}

/// Opens a journal, resumes its request and runs another one. Returns the recovered calls, or the error of opening.
async fn continued(journal: &[u8], executed: &[(String, u64)]) -> Result<Vec<Call>, OpenError> {
    let mut conversation = Conversation::open_with(journal.to_vec(), &header(), &StandardContexts)?;
    let executed: Executed = Arc::new(Mutex::new(executed.to_vec()));
    let known = Arc::clone(&executed);
    let mut team = ScriptedTeam::with_script(move |call| Some(execute(&known, call, agreed(call))));
    team.recovery = recover(&executed);
    conversation.resume(&team).await.unwrap();
    conversation.run_request(&team, "ada", "Order toner").await.unwrap();
    let executed = executed.lock().unwrap().clone();
    let keys: BTreeSet<_> = executed.iter().collect();
    assert_eq!(keys.len(), executed.len(), "an effect happened twice: {executed:?}");
    Ok(team.recovered.into_inner().unwrap())
}

#[tokio::test]
async fn damaged_last_line_repeats_no_effect() {
    for operation in [run(2), run(3), UNDO] {
        let (whole, executed) = crashed_after(operation).await;
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        let is_recovered = |calls: &[Call]| calls.iter().any(|call| call.operation == operation);
        let mut lost = 0;
        for cut in last..whole.len() {
            let recovered = continued(&whole[..cut], &executed).await.unwrap();
            assert!(is_recovered(&recovered), "cut at byte {cut}");
            lost += 1;
        }
        let (mut refused, mut dropped) = (0, 0);
        for at in last..whole.len() {
            for byte in [whole[at] ^ 1, 0, b'\n', 0xFF] {
                if byte == whole[at] {
                    continue;
                }
                let mut damaged = whole.clone();
                damaged[at] = byte;
                match continued(&damaged, &executed).await {
                    Ok(recovered) => {
                        assert!(is_recovered(&recovered), "{byte} at byte {at}");
                        dropped += 1;
                    }
                    Err(OpenError::Trace(_)) => refused += 1,
                    Err(error) => panic!("{byte} at byte {at}: {error}"),
                }
            }
        }
        println!("{operation:?}: {lost} cuts and {dropped} damages recovered, {refused} damages refused");
        assert!(lost > 100 && dropped > 100 && refused > 100);
    }
}

/// The disk lost any number of whole lines, which the journal does not show.
#[tokio::test]
async fn journal_cut_at_any_line_repeats_no_effect() {
    let executed = Executed::default();
    let known = Arc::clone(&executed);
    let team = ScriptedTeam::with_script(move |call| Some(execute(&known, call, agreed(call))));
    let mut conversation = Conversation::open_with(Vec::new(), &header(), &StandardContexts).unwrap();
    for text in ["Order paper", "Order toner"] {
        conversation.run_request(&team, "ada", text).await.unwrap();
    }
    let (whole, executed) = (conversation.into_journal(), executed.lock().unwrap().clone());
    let ends: Vec<_> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    assert!(ends.len() > 30 && executed.len() == 4, "{} lines, {executed:?}", ends.len());
    for end in ends {
        continued(&whole[..end], &executed).await.unwrap();
    }
}

#[tokio::test]
async fn journal_before_acknowledged_step_is_refused() {
    let (whole, _) = crashed_after(run(2)).await;
    let (_folder, path) = journal();
    let open = |step| {
        let file = JournalFile::open(&path).unwrap();
        Conversation::open_acknowledged(file, &header(), &StandardContexts, step)
    };
    fs::write(&path, &whole).unwrap();
    let steps = open(1).unwrap().steps();
    assert!(!open(steps).unwrap().recovers_first());
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [0, 40, last, last + 1, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let error = open(steps).unwrap_err().to_string();
        let found = if cut < last { 0 } else { steps - 1 };
        let expected = format!(
            "office.ndjson: shorter journal: expected the acknowledged step {steps} or a later one, found {found} steps; restore "
        );
        assert!(error.contains(&expected), "{error}");
        assert_eq!(fs::read(&path).unwrap(), &whole[..cut], "the file is unchanged");
        // A torn tail after the acknowledged step: the host may have executed its call without storing the step.
        let is_torn = fs::read(&path).unwrap().last().is_some_and(|byte| *byte != b'\n');
        assert_eq!(open(found).unwrap().recovers_first(), is_torn, "cut at byte {cut}");
    }
}

/// A missing journal is not created, so that a later process does not take it for a new one.
#[test]
fn missing_journal_with_acknowledged_step_is_refused() {
    let (_folder, path) = journal();
    let error = JournalFile::open_acknowledged(&path, Some(17)).unwrap_err().to_string();
    assert!(
        error.contains("found 0 steps; restore the journal from a copy, or use a new conversation"),
        "{error}"
    );
    assert!(!path.exists());
    assert!(JournalFile::open_acknowledged(&path, None).is_ok());
    assert!(path.exists());
}

/// A snapshot shows that the lines of an empty journal are lost.
#[tokio::test]
async fn empty_journal_beside_snapshot_recovers_first() {
    let (_folder, path) = journal();
    let mut file = JournalFile::open(&path).unwrap();
    file.write_snapshot(b"anything").unwrap();
    let conversation = Conversation::open_with(file, &header(), &StandardContexts).unwrap();
    assert!(conversation.recovers_first() && conversation.snapshot_error().is_some());
}

/// A torn tail is known to each later process, also behind a rotation, until its request ends.
#[tokio::test]
async fn torn_tail_is_known_until_its_request_ends() {
    let (whole, executed) = crashed_after(run(2)).await;
    let (_folder, path) = journal();
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let open = |step| {
        let file = JournalFile::open(&path).unwrap();
        Conversation::open_acknowledged(file, &header(), &StandardContexts, step).unwrap()
    };
    let first = open(3);
    assert!(first.recovers_first() && first.truncated_tail().is_some());
    drop(first);
    let second = open(3);
    assert!(second.recovers_first() && second.truncated_tail().is_none());
    drop(second);
    rotate(&path, None, &StandardContexts).unwrap();
    let mut third = open(3);
    assert!(third.recovers_first());
    let executed: Executed = Arc::new(Mutex::new(executed));
    let known = Arc::clone(&executed);
    let mut team = ScriptedTeam::with_script(move |call| Some(execute(&known, call, agreed(call))));
    team.recovery = recover(&executed);
    third.resume(&team).await.unwrap();
    drop(third);
    assert!(!open(3).recovers_first());
    let executed = executed.lock().unwrap().clone();
    let keys: BTreeSet<_> = executed.iter().collect();
    assert_eq!(keys.len(), executed.len(), "an effect happened twice: {executed:?}");
}

/// The disk lost any number of whole lines. A process opened the rest without an acknowledged step, recorded a reply and crashed. The next
/// one acknowledges that reply: it knows nevertheless that an effect may have happened before.
#[tokio::test]
async fn open_without_acknowledged_step_is_known_to_later_processes() {
    let (whole, known) = crashed_after(run(3)).await;
    assert!(known.len() > 1, "{known:?}");
    let ends = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').skip(1);
    for end in ends {
        let executed: Executed = Arc::new(Mutex::new(known.clone()));
        let mut first = Conversation::open_with(whole[..end].to_vec(), &header(), &StandardContexts).unwrap();
        let (replied, crash) = tokio::sync::oneshot::channel();
        let (replied, calls) = (Mutex::new(Some(replied)), AtomicUsize::new(0));
        let keys = Arc::clone(&executed);
        let mut team = ScriptedTeam::with_script(move |call| {
            if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                return Some(execute(&keys, call, agreed(call)));
            }
            replied.lock().unwrap().take().map(|replied| replied.send(()));
            Some(HostBehavior::Never)
        });
        team.recovery = recover(&executed);
        tokio::select! {
            () = finish(&mut first, &team) => {}
            _ = crash => {}
        }
        let steps = first.steps();
        let journal = first.into_journal();
        let mut second =
            Conversation::open_acknowledged(journal, &header(), &StandardContexts, steps).unwrap();
        let keys = Arc::clone(&executed);
        let mut team = ScriptedTeam::with_script(move |call| Some(execute(&keys, call, agreed(call))));
        team.recovery = recover(&executed);
        finish(&mut second, &team).await;
        let executed = executed.lock().unwrap().clone();
        let keys: BTreeSet<_> = executed.iter().collect();
        assert_eq!(keys.len(), executed.len(), "cut at byte {end}: an effect happened twice: {executed:?}");
    }
}

/// The step that states the loss is there before the host learns the number of steps, so a host cannot acknowledge the shorter journal.
#[tokio::test]
async fn loss_is_stated_once_and_before_any_other_step() {
    let (whole, _) = crashed_after(run(2)).await;
    let (_folder, path) = journal();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(&path, &whole[..last]).unwrap();
    let first = opened(&path);
    let steps = first.steps();
    drop(first);
    let recorded = super::read_steps(&path);
    assert_eq!(recorded.len() as u64, steps);
    let stated = recorded.last().unwrap();
    assert_eq!(stated.possible_loss, Some(PossibleLoss::Steps));
    assert!(stated.refused.is_some() && stated.note.is_some(), "{stated:?}");
    let text = fs::read(&path).unwrap();
    for acknowledged in [None, Some(1), Some(steps)] {
        let file = JournalFile::open(&path).unwrap();
        let opened = match acknowledged {
            None => Conversation::open_with(file, &header(), &StandardContexts),
            Some(step) => Conversation::open_acknowledged(file, &header(), &StandardContexts, step),
        };
        assert!(opened.unwrap().recovers_first());
        assert_eq!(fs::read(&path).unwrap(), text);
    }
}

/// A host that knows its effects by the text of the request and the task.
fn team_of(executed: &Arc<Mutex<Vec<(String, Option<TaskId>)>>>) -> ScriptedTeam {
    fn effect(call: &Call) -> (String, Option<TaskId>) {
        (call.request.to_string(), call.operation.task())
    }
    let known = Arc::clone(executed);
    let mut team = ScriptedTeam::with_script(move |call| {
        if call.operation.is_effectful() {
            known.lock().unwrap().push(effect(call));
        }
        Some(HostBehavior::Reply(Ok(agreed(call).into())))
    });
    let known = Arc::clone(executed);
    team.recovery = Box::new(move |call| {
        Some(match known.lock().unwrap().contains(&effect(call)) {
            true => RecoveryResult::Completed(Ok(agreed(call).into())),
            false => RecoveryResult::NotStarted,
        })
    });
    team
}

/// Lost steps may contain several requests. The host sends each again at any time: after others have ended, and to processes that are
/// opened with an acknowledged step.
#[tokio::test]
async fn requests_that_were_lost_without_acknowledged_step_are_recovered_at_any_time() {
    let lost = ["Order paper", "Order toner"];
    let executed = Arc::default();
    let mut conversation = Conversation::open_with(Vec::new(), &header(), &StandardContexts).unwrap();
    for text in lost {
        conversation.run_request(&team_of(&executed), "ada", text).await.unwrap();
    }
    let effects_of_request = executed.lock().unwrap().len() / lost.len();
    let whole = conversation.into_journal();
    // The header and the start of the session.
    let mut ends = whole.iter().enumerate().filter_map(|(at, byte)| (*byte == b'\n').then_some(at + 1));
    let end = ends.nth(1).unwrap();
    let mut conversation =
        Conversation::open_with(whole[..end].to_vec(), &header(), &StandardContexts).unwrap();
    for text in ["Order pens"].into_iter().chain(lost) {
        conversation.resume(&team_of(&executed)).await.unwrap();
        conversation.run_request(&team_of(&executed), "ada", text).await.unwrap();
        let (steps, journal) = (conversation.steps(), conversation.into_journal());
        conversation = Conversation::open_acknowledged(journal, &header(), &StandardContexts, steps).unwrap();
        assert!(conversation.recovers_first(), "after {text:?}");
    }
    let executed = executed.lock().unwrap().clone();
    let effects: BTreeSet<_> = executed.iter().collect();
    assert_eq!(effects.len(), executed.len(), "an effect happened twice: {executed:?}");
    assert_eq!(effects.len(), 3 * effects_of_request, "{executed:?}");
}

/// Resumes the request, or sends it again if its start is lost.
async fn finish(conversation: &mut Conversation<Vec<u8>>, team: &ScriptedTeam) {
    match conversation.is_unfinished() {
        true => conversation.resume(team).await.map(drop),
        false => conversation.run_request(team, "ada", "Order paper").await.map(drop),
    }
    .unwrap();
}

/// With the acknowledged step, only the call in flight is recovered.
#[tokio::test]
async fn acknowledged_journal_sends_calls_at_once() {
    let (whole, executed) = crashed_after(run(2)).await;
    let executed: Executed = Arc::new(Mutex::new(executed));
    let known = Arc::clone(&executed);
    let mut team = ScriptedTeam::with_script(move |call| Some(execute(&known, call, agreed(call))));
    team.recovery = recover(&executed);
    let mut conversation = Conversation::open_acknowledged(whole, &header(), &StandardContexts, 3).unwrap();
    conversation.resume(&team).await.unwrap();
    let recovered: Vec<_> = team.recovered.lock().unwrap().iter().map(|call| call.operation).collect();
    assert_eq!(recovered, [run(2)]);
    assert!(team.operations().contains(&run(3)));
}

/// A host stores the step of a call before it executes the call.
#[tokio::test]
async fn step_of_call_is_durable() {
    let (_folder, path) = journal();
    let watched = path.clone();
    let durable = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&durable);
    let team = ScriptedTeam::with_script(move |_| {
        found.lock().unwrap().push(super::read_steps(&watched).len() as u64);
        None
    });
    let mut conversation = opened(&path);
    conversation.run_request(&team, "ada", "Order paper").await.unwrap();
    let steps: Vec<u64> = team.calls.lock().unwrap().iter().map(|call| call.step).collect();
    assert_eq!(steps, *durable.lock().unwrap());
    assert!(steps.len() > 10 && steps[0] == 2, "{steps:?}");
}

/// A driver that is dropped after the recovery recovers again: nothing was sent.
#[tokio::test]
async fn dropped_recovery_is_repeated() {
    let (whole, _) = crashed_after(run(2)).await;
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let lost = whole[..last].to_vec();
    let mut conversation = Conversation::open_with(lost, &header(), &StandardContexts).unwrap();
    let team = ScriptedTeam::agrees().and_recovers(|_| Some(RecoveryResult::NotStarted));
    {
        let mut driver = conversation.run(&team).unwrap();
        let _resumed = driver.resume().unwrap();
        while team.recovered.lock().unwrap().is_empty() {
            assert!(driver.steps() < 100, "nothing is recovered");
            let _stepped = driver.step().await.unwrap();
        }
    }
    assert!(!team.operations().contains(&run(2)));
    conversation.resume(&team).await.unwrap();
    let recovered: Vec<_> = team.recovered.lock().unwrap().iter().map(|call| call.operation).collect();
    assert_eq!(recovered, [run(2), run(2), run(3)]);
}
