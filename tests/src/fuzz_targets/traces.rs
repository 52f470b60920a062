//! Readers of traces, journals and snapshots.

use super::edit::{edit, select};
use crate::generators::{Bytes, RandomSource};
use crate::root;
use orchestrion_runtime::{Conversation, Journal};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Header, Idempotency, Reader, Step, StepMetadata, digest};
use std::io::{self, BufRead};
use std::sync::LazyLock;

/// Reads the bytes as a trace: unchanged, and with a recomputed hash chain. Otherwise only the chain check would be
/// tested.
pub fn trace_reader(bytes: &[u8]) {
    for trace in [bytes, &rechained(bytes)] {
        if let Ok(reader) = Reader::new(trace, "fuzzed") {
            // The reader only has to terminate.
            let _found = replay(reader, None, &StandardContexts);
        }
    }
}

/// Returns the lines of a trace with recomputed hashes.
pub(super) fn rechained(bytes: &[u8]) -> Vec<u8> {
    const CHAIN: &[u8] = b",\"chain\":\"";
    let (mut all, mut chain) = (Vec::new(), String::new());
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let end = line.windows(CHAIN.len()).rposition(|window| window == CHAIN);
        let open = end.map_or_else(|| line.strip_suffix(b"}").unwrap_or(line), |end| &line[..end]);
        let own = digest(&[chain.as_bytes(), open, b"}"].concat());
        all.extend_from_slice(open);
        all.extend_from_slice(CHAIN);
        all.extend_from_slice(own.as_bytes());
        all.extend_from_slice(b"\"}\n");
        // The chain of the steps starts from the header without `kernel` and `table`.
        let find = |key: &[u8]| open.windows(key.len()).position(|window| window == key);
        chain = match (chain.is_empty(), find(b"\"kernel\":"), find(b"\"conversation\":")) {
            (true, Some(kernel), Some(rest)) if kernel < rest => {
                digest(&[&open[..kernel], &open[rest..], b"}"].concat())
            }
            _ => own,
        };
    }
    all
}

/// A recorded conversation in the forms of a trace and of a journal, each open, with a snapshot in its middle.
struct Recorded {
    header: Header,
    lines: Vec<u8>,
    snapshot: Vec<u8>,
}

static RECORDED: LazyLock<[Recorded; 2]> = LazyLock::new(|| {
    let golden = std::fs::read(root().join("specs/scenarios/rolled-back.ndjson"));
    let golden = golden.unwrap_or_else(|error| panic!("cannot read a golden trace: {error}"));
    let reader = Reader::new(golden.as_slice(), "golden").unwrap_or_else(|error| panic!("{error}"));
    let header = reader.header().clone();
    let steps: Vec<Step> = reader.map_while(Result::ok).collect();
    [header.clone(), header.into_journal()].map(|header| record(header, &steps))
});

/// Records the inputs of these steps again, and takes a snapshot after half of them.
fn record(header: Header, steps: &[Step]) -> Recorded {
    let mut recorder =
        Recorder::open(Vec::new(), &header, &StandardContexts).unwrap_or_else(|error| panic!("{error}"));
    let mut snapshot = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        if number == steps.len() / 2 {
            let bytes = recorder.output().len() as u64;
            snapshot = recorder.snapshot(&header, bytes).encode().unwrap_or_else(|error| panic!("{error}"));
        }
        let idempotency = Some(Idempotency { key: number.to_string(), digest: digest(b"") });
        let metadata = StepMetadata { idempotency, ..step.metadata() };
        let _decided = recorder.submit(&step.input, &metadata).unwrap_or_else(|error| panic!("{error}"));
    }
    Recorded { lines: std::mem::take(recorder.output()), header, snapshot }
}

/// A journal in memory with its snapshot.
struct MemoryJournal {
    lines: Vec<u8>,
    snapshot: Option<Vec<u8>>,
}

impl Journal for MemoryJournal {
    fn name(&self) -> String {
        "fuzzed".to_owned()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(self.lines.as_slice())
    }

    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.snapshot.clone())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.lines.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.lines.extend_from_slice(lines);
        Ok(())
    }

    async fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(
    header: &Header,
    lines: Vec<u8>,
    snapshot: Option<Vec<u8>>,
) -> Result<Conversation<MemoryJournal>, orchestrion_runtime::OpenError> {
    Conversation::open_with(MemoryJournal { lines, snapshot }, header, &StandardContexts)
}

/// Opens the bytes as a journal: themselves, or an edited journal with or without a valid chain. A journal that opens was truncated
/// once: it opens again with the same state and without a torn tail.
pub fn journal(bytes: &[u8]) {
    let [trace, short] = &*RECORDED;
    let lines = select(bytes, &trace.lines, &short.lines);
    let header = Reader::new_segment(lines.as_slice(), "fuzzed")
        .map_or_else(|_| trace.header.clone(), |reader| reader.header().clone());
    let Ok(opened) = open(&header, lines, None) else { return };
    let state = opened.state().clone();
    let kept = opened.into_journal().lines;
    match open(&header, kept, None) {
        Ok(again) => {
            assert!(again.truncated_tail().is_none(), "a truncated journal has a torn tail again");
            assert!(*again.state() == state, "a truncated journal opens with another state");
        }
        Err(error) => panic!("a journal opens once, and not again: {error}"),
    }
}

/// Opens a journal with the bytes as its snapshot: themselves, or an edited snapshot. A snapshot whose digest does not fit changes
/// nothing. With a recomputed digest an edited snapshot may be used: the reader only has to terminate.
pub fn snapshot(bytes: &[u8]) {
    let mut source = Bytes(bytes);
    let recorded = &RECORDED[source.below(2) as usize];
    let form = source.below(3);
    let edited = match form {
        0 => source.0.to_vec(),
        1 => edit(&mut source, &recorded.snapshot),
        _ => {
            let start = recorded.snapshot.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let body = edit(&mut source, &recorded.snapshot[start..]);
            [digest(&body).as_bytes(), b"\n", &body].concat()
        }
    };
    let is_original = edited == recorded.snapshot;
    let opened = match open(&recorded.header, recorded.lines.clone(), Some(edited)) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(form == 2, "a snapshot that does not fit makes a journal unreadable: {error}");
            return;
        }
    };
    let whole =
        open(&recorded.header, recorded.lines.clone(), None).unwrap_or_else(|error| panic!("{error}"));
    if form != 2 || is_original {
        assert!(opened.state() == whole.state(), "a snapshot changes the state of its conversation");
        assert_eq!(opened.snapshot_error().is_none(), is_original, "a snapshot that does not fit is used");
    }
}

#[cfg(test)]
mod tests {
    use super::{RECORDED, open, rechained};
    use crate::fuzz_targets::edit::select;

    #[test]
    fn recorded_journals_open_with_their_snapshots() {
        for recorded in RECORDED.iter() {
            let opened = open(&recorded.header, recorded.lines.clone(), Some(recorded.snapshot.clone()));
            assert!(opened.is_ok_and(|opened| opened.snapshot_error().is_none()), "the snapshot is not used");
        }
        let [trace, _] = &*RECORDED;
        assert!(rechained(&trace.lines) == trace.lines, "the chain of a trace is computed otherwise");
    }

    /// A changed number breaks the chain, and no recomputed one.
    #[test]
    fn rechained_edits_get_past_the_chain() {
        let [trace, short] = &*RECORDED;
        let breaks_chain = |form: u8, at: u8| {
            let lines = select(&[form, 1, 0, 0, at, 40, 3, 1], &trace.lines, &short.lines);
            let error = open(&trace.header, lines, None).err().map(|error| error.to_string());
            error.is_some_and(|error| error.contains("chain mismatch"))
        };
        let count = |form: u8| (0..=255).filter(|at| breaks_chain(form, *at)).count();
        let (plain, rechained) = (count(0), count(1));
        assert!(plain > 50 && rechained == 0, "broken chains: {plain} of plain edits, {rechained} of others");
    }
}
