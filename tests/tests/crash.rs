//! Durability: after a crash or disk error at any point, reopening a journal loses no output, and no effect happens
//! twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Clock, Conversation, Journal, OpenError, RuntimeError};
use orchestrion_tests::side_effects::{
    EffectfulHost, Lcg, SideEffectLog, answered, calls, check_journal, is_whole, steps,
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
    asked: Vec<u64>,
    answered: Vec<u32>,
    dropped: u64,
    finished: bool,
}

fn said(text: &str) -> CrashOutput {
    // The kill may truncate the last line.
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let numbers = |word: &str| {
        whole
            .lines()
            .filter_map(move |line| line.strip_prefix(word)?.trim().parse::<u64>().ok())
            .collect::<Vec<_>>()
    };
    CrashOutput {
        asked: numbers("asked"),
        answered: numbers("answered").into_iter().map(|n| u32::try_from(n).unwrap()).collect(),
        dropped: numbers("dropped").into_iter().sum(),
        finished: whole.ends_with("finished\n"),
    }
}

/// Checks that the journal contains everything that a crash_target printed, and matches the recorded side effects.
fn check(folder: &Path, said: &CrashOutput) {
    let journal = std::fs::read(folder.join("office.ndjson")).unwrap_or_default();
    let kept = steps(&journal);
    let (calls, done) = (calls(&kept), answered(&kept));
    for call in &said.asked {
        assert!(calls.contains(call), "call {call} left, and is not in the journal");
    }
    for request in &said.answered {
        assert!(
            done.iter().any(|done| done.number() == *request),
            "request {request} was answered, and the journal does not know"
        );
    }
    check_journal(&journal, &SideEffectLog::in_file(&folder.join("world.ndjson")).unwrap()).unwrap();
}

fn crash_target(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crash_target"));
    command.arg(folder.join("office.ndjson")).arg(folder.join("world.ndjson")).arg(REQUESTS.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Checks that the journal is intact, finished, and replays without divergence.
fn check_finished(folder: &Path) {
    let journal = std::fs::read(folder.join("office.ndjson")).unwrap();
    assert!(is_whole(&journal));
    assert_eq!(answered(&steps(&journal)).len(), REQUESTS as usize);
    let replayed = replay(Reader::new(journal.as_slice(), "office.ndjson").unwrap(), None, &StandardContexts);
    assert!(replayed.difference.is_none() && replayed.text_difference.is_none(), "{replayed:?}");
}

#[test]
fn crash_at_random_points_is_exactly_once() {
    const KILLS: u32 = 250;
    let mut luck = Lcg(20_261_121);
    let (mut kills, mut conversations, mut resumed) = (0, 0, 0);
    while kills < KILLS {
        let folder = tempfile::tempdir().unwrap();
        conversations += 1;
        loop {
            let mut child = crash_target(folder.path()).spawn().unwrap();
            thread::sleep(Duration::from_micros(luck.below(25_000)));
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let said = said(&String::from_utf8_lossy(&output.stdout));
            check(folder.path(), &said);
            if said.finished {
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
    println!("{kills} kills in {conversations} conversations, {resumed} of them in the middle of a request");
    assert!(resumed > 50, "only {resumed} kills hit the middle of a request");
}

/// The file size limit of a shell causes short writes and then errors, as a full disk does.
#[cfg(unix)]
#[test]
fn full_disk_keeps_durable_steps() {
    let mut torn = 0;
    for blocks in 1..40 {
        let folder = tempfile::tempdir().unwrap();
        let victim_of = crash_target(folder.path());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("sh");
        shell.arg(victim_of.get_program()).args(victim_of.get_args());
        let output = shell.output().unwrap();
        let first = said(&String::from_utf8_lossy(&output.stdout));
        check(folder.path(), &first);
        if first.finished {
            continue;
        }
        assert_eq!(output.status.code(), Some(1));
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(complaint.contains("office.ndjson"), "{complaint}");

        let output = crash_target(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let second = said(&String::from_utf8_lossy(&output.stdout));
        torn += u32::from(second.dropped > 0);
        check(folder.path(), &second);
        check_finished(folder.path());
    }
    assert!(torn > 10, "only {torn} journals had a torn end");
}

/// A disk that keeps synced data and an arbitrary part of unsynced data.
struct FaultyDisk {
    synced: Vec<u8>,
    pending: Vec<u8>,
    /// The number of operations before it fails.
    good: u64,
    luck: Lcg,
}

impl FaultyDisk {
    fn works(&mut self) -> io::Result<()> {
        self.good = self.good.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }

    /// Returns the content after the crash.
    fn found(mut self) -> Vec<u8> {
        let keeps = usize::try_from(self.luck.below(self.pending.len() as u64 + 1)).unwrap();
        let mut found = self.synced;
        match self.luck.below(3) {
            0 => {}
            1 => found.extend_from_slice(&self.pending[..keeps]),
            // The file keeps its length, but some of its pages were never written.
            _ => {
                let lost = usize::try_from(self.luck.below((self.pending.len() - keeps) as u64 + 1)).unwrap();
                self.pending[keeps..keeps + lost].fill(0);
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
        self.works()?;
        assert!(self.pending.is_empty(), "only at the start is anything cut");
        self.synced.truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if let Err(error) = self.works() {
            let part = usize::try_from(self.luck.below(lines.len() as u64)).unwrap();
            self.pending.extend_from_slice(&lines[..part]);
            return Err(error);
        }
        self.pending.extend_from_slice(lines);
        Ok(())
    }

    async fn sync(&mut self) -> io::Result<()> {
        self.works()?;
        let pending = std::mem::take(&mut self.pending);
        self.synced.extend_from_slice(&pending);
        Ok(())
    }
}

#[test]
fn unreliable_disk_keeps_durable_steps() {
    const CONVERSATIONS: u64 = 400;
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    let (mut crashes, mut dropped) = (0, 0);
    for seed in 0..CONVERSATIONS {
        let mut luck = Lcg(seed);
        let mut outside = SideEffectLog::default();
        let mut found = Vec::new();
        let mut promised: Vec<u64> = Vec::new();
        let finished = loop {
            let good = luck.below(90);
            let disk = FaultyDisk {
                synced: found.clone(),
                pending: Vec::new(),
                good,
                luck: Lcg(luck.below(u64::MAX)),
            };
            let asked = std::sync::Mutex::new(Vec::new());
            let clock = Clock::simulated();
            let crew = EffectfulHost::new(outside, clock.clone(), |call: &orchestrion_runtime::Call| {
                asked.lock().unwrap().push(call.id.number());
            });
            let mut conversation = match Conversation::open_with(disk, &header, &StandardContexts) {
                Ok(conversation) => conversation,
                Err(OpenError::Io { .. }) => {
                    // It failed before any change, so the content is the original.
                    outside = crew.into_outside();
                    continue;
                }
                Err(other) => panic!("seed {seed}: {other}"),
            };
            dropped += u32::from(conversation.dropped().is_some());
            let done = clock.block_on(async {
                conversation.resume(&crew).await?;
                while conversation.state().control().next_request().number() <= REQUESTS {
                    conversation.run_request(&crew, "ada", "Order paper").await?;
                }
                Ok::<(), RuntimeError>(())
            });
            outside = crew.into_outside();
            promised.append(&mut asked.into_inner().unwrap());
            match done.unwrap() {
                Ok(()) => break conversation,
                Err(RuntimeError::Journal { .. }) => crashes += 1,
                Err(other) => panic!("seed {seed}: {other}"),
            }
            found = conversation.into_journal().found();
            let kept = calls(&steps(&found));
            let lost: Vec<_> = promised.iter().filter(|call| !kept.contains(call)).collect();
            assert!(lost.is_empty(), "seed {seed}: calls {lost:?} left, and are not on the disk");
        };
        let journal = finished.into_journal().synced;
        check_journal(&journal, &outside).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(answered(&steps(&journal)).len(), REQUESTS as usize, "seed {seed}");
    }
    println!("{crashes} crashes in {CONVERSATIONS} conversations, {dropped} torn ends");
    assert!(crashes > 1000 && dropped > 300, "{crashes} crashes, {dropped} torn ends");
}
