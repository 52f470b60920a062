//! Durability: after a crash or disk error at any point, reopening a journal loses no output, and no effect happens
//! twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Clock, Conversation, Journal, OpenError, RuntimeError};
use orchestrion_tests::side_effects::{
    EffectfulHost, Lcg, SideEffectLog, check_journal, completed_requests, is_intact, sent_calls, steps,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Header, Reader};
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const REQUESTS: u32 = 4;

/// The complete output of a crash_target before it died.
struct CrashOutput {
    sent: Vec<u64>,
    completed: Vec<u32>,
    truncated_bytes: u64,
    finished: bool,
}

fn parse_output(text: &str) -> CrashOutput {
    // The kill may truncate the last line.
    let complete_lines = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let numbers = |word: &str| {
        complete_lines
            .lines()
            .filter_map(move |line| line.strip_prefix(word)?.trim().parse::<u64>().ok())
            .collect::<Vec<_>>()
    };
    CrashOutput {
        sent: numbers("sent"),
        completed: numbers("completed").into_iter().map(|n| u32::try_from(n).unwrap()).collect(),
        truncated_bytes: numbers("truncated").into_iter().sum(),
        finished: complete_lines.ends_with("finished\n"),
    }
}

/// Checks that the journal contains everything that a crash_target printed, and matches the recorded side effects.
fn check(folder: &Path, output: &CrashOutput) {
    let journal = std::fs::read(folder.join("office.ndjson")).unwrap_or_default();
    let recorded = steps(&journal);
    let (calls, completed) = (sent_calls(&recorded), completed_requests(&recorded));
    for call in &output.sent {
        assert!(calls.contains(call), "the journal lacks the sent call {call}");
    }
    for request in &output.completed {
        assert!(
            completed.iter().any(|completed| completed.number() == *request),
            "the journal lacks the completed request {request}"
        );
    }
    check_journal(&journal, &SideEffectLog::open(&folder.join("effects.ndjson")).unwrap()).unwrap();
}

fn crash_target(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crash_target"));
    command.arg(folder.join("office.ndjson")).arg(folder.join("effects.ndjson")).arg(REQUESTS.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Checks that the journal is intact, finished, and replays without divergence.
fn check_finished(folder: &Path) {
    let journal = std::fs::read(folder.join("office.ndjson")).unwrap();
    assert!(is_intact(&journal));
    assert_eq!(completed_requests(&steps(&journal)).len(), REQUESTS as usize);
    let replayed = replay(Reader::new(journal.as_slice(), "office.ndjson").unwrap(), None, &StandardContexts);
    assert!(replayed.difference.is_none() && replayed.text_difference.is_none(), "{replayed:?}");
}

#[test]
fn crash_at_random_points_is_exactly_once() {
    const KILLS: u32 = 250;
    let mut rng = Lcg(20_261_121);
    let (mut kills, mut conversations, mut resumed) = (0, 0, 0);
    while kills < KILLS {
        let folder = tempfile::tempdir().unwrap();
        conversations += 1;
        loop {
            let mut child = crash_target(folder.path()).spawn().unwrap();
            thread::sleep(Duration::from_micros(rng.below(25_000)));
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let printed = parse_output(&String::from_utf8_lossy(&output.stdout));
            check(folder.path(), &printed);
            if printed.finished {
                break;
            }
            assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
            kills += 1;
            // After these kills the program runs to its end.
            if kills >= KILLS {
                assert!(crash_target(folder.path()).output().unwrap().status.success());
                break;
            }
        }
        check_finished(folder.path());
        let journal = std::fs::read(folder.path().join("office.ndjson")).unwrap();
        resumed += steps(&journal)
            .iter()
            .filter(|step| matches!(step.input, orchestrion_kernel::Input::Resume))
            .count();
    }
    println!("{kills} kills in {conversations} conversations, {resumed} during a request");
    assert!(resumed > 50, "expected more than 50 kills during a request, found {resumed}");
}

/// The file size limit of a shell causes short writes and then errors, as a full disk does.
#[cfg(unix)]
#[test]
fn full_disk_keeps_durable_steps() {
    let mut torn = 0;
    for blocks in 1..40 {
        let folder = tempfile::tempdir().unwrap();
        let target = crash_target(folder.path());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("sh");
        shell.arg(target.get_program()).args(target.get_args());
        let output = shell.output().unwrap();
        let first = parse_output(&String::from_utf8_lossy(&output.stdout));
        check(folder.path(), &first);
        if first.finished {
            continue;
        }
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("office.ndjson"), "{message}");

        let output = crash_target(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let second = parse_output(&String::from_utf8_lossy(&output.stdout));
        torn += u32::from(second.truncated_bytes > 0);
        check(folder.path(), &second);
        check_finished(folder.path());
    }
    assert!(torn > 10, "expected more than 10 torn tails, found {torn}");
}

/// A disk that keeps synced data and an arbitrary part of unsynced data.
struct FaultyDisk {
    synced: Vec<u8>,
    pending: Vec<u8>,
    /// The number of operations before it fails.
    operations_left: u64,
    rng: Lcg,
}

impl FaultyDisk {
    fn count_operation(&mut self) -> io::Result<()> {
        self.operations_left = self.operations_left.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }

    /// Returns the content after the crash.
    fn content_after_crash(mut self) -> Vec<u8> {
        let kept_bytes = usize::try_from(self.rng.below(self.pending.len() as u64 + 1)).unwrap();
        let mut found = self.synced;
        match self.rng.below(3) {
            0 => {}
            1 => found.extend_from_slice(&self.pending[..kept_bytes]),
            // The file keeps its length, but some of its pages were never written.
            _ => {
                let lost =
                    usize::try_from(self.rng.below((self.pending.len() - kept_bytes) as u64 + 1)).unwrap();
                self.pending[kept_bytes..kept_bytes + lost].fill(0);
                found.extend_from_slice(&self.pending);
            }
        }
        found
    }
}

impl Journal for FaultyDisk {
    fn name(&self) -> String {
        "office.ndjson".to_owned()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(io::BufReader::new(self.synced.as_slice().chain(self.pending.as_slice())))
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.count_operation()?;
        assert!(self.pending.is_empty(), "expected truncation only on open");
        self.synced.truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if let Err(error) = self.count_operation() {
            let part = usize::try_from(self.rng.below(lines.len() as u64)).unwrap();
            self.pending.extend_from_slice(&lines[..part]);
            return Err(error);
        }
        self.pending.extend_from_slice(lines);
        Ok(())
    }

    async fn sync(&mut self) -> io::Result<()> {
        self.count_operation()?;
        let pending = std::mem::take(&mut self.pending);
        self.synced.extend_from_slice(&pending);
        Ok(())
    }
}

#[test]
fn unreliable_disk_keeps_durable_steps() {
    const CONVERSATIONS: u64 = 400;
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    let (mut crashes, mut truncated) = (0, 0);
    for seed in 0..CONVERSATIONS {
        let mut rng = Lcg(seed);
        let mut side_effects = SideEffectLog::default();
        let mut found = Vec::new();
        let mut all_sent: Vec<u64> = Vec::new();
        let finished = loop {
            let operations_left = rng.below(90);
            let disk = FaultyDisk {
                synced: found.clone(),
                pending: Vec::new(),
                operations_left,
                rng: Lcg(rng.below(u64::MAX)),
            };
            let sent = std::sync::Mutex::new(Vec::new());
            let clock = Clock::simulated();
            let host = EffectfulHost::new(side_effects, clock.clone(), |call: &orchestrion_runtime::Call| {
                sent.lock().unwrap().push(call.id.number());
            });
            let mut conversation = match Conversation::open_with(disk, &header, &StandardContexts) {
                Ok(conversation) => conversation,
                Err(OpenError::Io { .. }) => {
                    // It failed before any change, so the content is the original.
                    side_effects = host.into_side_effects();
                    continue;
                }
                Err(other) => panic!("seed {seed}: {other}"),
            };
            truncated += u32::from(conversation.truncated_tail().is_some());
            let done = clock.block_on(async {
                conversation.resume(&host).await?;
                while conversation.state().control().next_request().number() <= REQUESTS {
                    conversation.run_request(&host, "ada", "Order paper").await?;
                }
                Ok::<(), RuntimeError>(())
            });
            side_effects = host.into_side_effects();
            all_sent.append(&mut sent.into_inner().unwrap());
            match done.unwrap() {
                Ok(()) => break conversation,
                Err(RuntimeError::Journal { .. }) => crashes += 1,
                Err(other) => panic!("seed {seed}: {other}"),
            }
            found = conversation.into_journal().content_after_crash();
            let kept = sent_calls(&steps(&found));
            let lost: Vec<_> = all_sent.iter().filter(|call| !kept.contains(call)).collect();
            assert!(lost.is_empty(), "seed {seed}: the disk lacks the sent calls {lost:?}");
        };
        let journal = finished.into_journal().synced;
        check_journal(&journal, &side_effects).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(completed_requests(&steps(&journal)).len(), REQUESTS as usize, "seed {seed}");
    }
    println!("{crashes} crashes in {CONVERSATIONS} conversations, {truncated} torn tails");
    assert!(crashes > 1000 && truncated > 300, "{crashes} crashes, {truncated} torn tails");
}
