//! A simulated disk with the page cache in front of it.
//!
//! A process reads and writes the cache. A sync writes the changed pages to the disk. A crash of the machine leaves the disk with any
//! part of the pages that were not synced, in any order, and with the old length, the new one, or one between. A truncation is on the
//! disk before what is appended after it, as file systems with a journal of their own order it.

mod file;

pub(crate) use file::DiskFile;

use crate::fault::{FaultCounts, FaultKind};
use crate::random::{Random, Stream};
use orchestrion_runtime::lock_ignoring_poison;
use orchestrion_trace::TOOL_CALL_KEY;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk with one journal. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Disk(Arc<Mutex<DiskState>>);

/// An operation of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write,
    Sync,
    Other,
}

/// A fault of a process: at the first operation from this number on that permits it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedFault {
    pub(crate) operation_from: u64,
    pub(crate) kind: FaultKind,
}

#[derive(Debug)]
pub(crate) struct DiskState {
    random: Random,
    pub(crate) counts: FaultCounts,
    page_bytes: usize,
    /// What processes see.
    cache: Vec<u8>,
    /// What a crash of the machine leaves.
    image: Vec<u8>,
    /// The pages of the cache that no sync has written.
    changed: BTreeSet<usize>,
    is_length_changed: bool,
    /// The shortest length since the latest sync, if the file was truncated.
    truncated_to: Option<usize>,
    exists: bool,
    has_durable_name: bool,
    is_locked: bool,
    is_full: bool,
    snapshot: Option<Vec<u8>>,
    /// Faults of the running process, the next one last.
    faults: Vec<PlannedFault>,
    operations: u64,
    /// Whether the process has ended. Its operations have no effect.
    pub(crate) is_down: bool,
    /// The faults that the running process met.
    pub(crate) met: Vec<FaultKind>,
    /// What processes wrote, without any fault of the disk. Zero bytes erase a tail, and are not part of it.
    pub(crate) written: Vec<u8>,
    /// What processes removed from it, and no sync from the disk: a crash of the machine may leave it.
    removed: Vec<Vec<u8>>,
    /// The bytes that a process knows to be durable.
    pub(crate) durable_bytes: usize,
    /// Whether the disk differs from what was written: a misdirected write or a changed byte.
    pub(crate) is_damaged: bool,
    /// Whether calls of two steps wait for one sync. A crash could then leave a tail that no process may truncate (decision 0017).
    pub(crate) has_two_calls: bool,
    /// Whether a sync lost lines.
    pub(crate) has_lost_lines: bool,
    has_failed_sync: bool,
    /// The events of the run, if they are kept.
    pub(crate) log: Option<Vec<String>>,
    /// Whether memory differs from the disk in a way that no process can see or mend, so that the machine restarts.
    pub(crate) must_restart: bool,
}

/// The error of an operation after the end of its process.
fn ended() -> io::Error {
    io::Error::other("the process has ended")
}

impl Disk {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, Stream::Disk);
        let page_bytes = [64, 512, 4096][random.index(3)];
        Self(Arc::new(Mutex::new(DiskState {
            random,
            counts: FaultCounts::default(),
            page_bytes,
            cache: Vec::new(),
            image: Vec::new(),
            changed: BTreeSet::new(),
            is_length_changed: false,
            truncated_to: None,
            exists: false,
            has_durable_name: false,
            is_locked: false,
            is_full: false,
            snapshot: None,
            faults: Vec::new(),
            operations: 0,
            is_down: false,
            met: Vec::new(),
            written: Vec::new(),
            removed: Vec::new(),
            durable_bytes: 0,
            is_damaged: false,
            has_two_calls: false,
            has_lost_lines: false,
            has_failed_sync: false,
            log: None,
            must_restart: false,
        })))
    }

    /// A disk with a durable journal, of which this is left.
    pub(crate) fn with_damage(seed: u64, written: &[u8], found: Vec<u8>) -> Self {
        let disk = Self::new(seed);
        {
            let mut state = disk.state();
            (state.exists, state.has_durable_name, state.is_damaged) = (true, true, true);
            (state.written, state.durable_bytes) = (written.to_vec(), written.len());
            (state.cache, state.image) = (found.clone(), found);
        }
        disk
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, DiskState> {
        lock_ignoring_poison(&self.0)
    }

    /// Starts a process with these faults, the first one first.
    pub(crate) fn start_process(&self, mut faults: Vec<PlannedFault>) {
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.operation_from));
        let mut disk = self.state();
        (disk.faults, disk.operations, disk.is_down, disk.is_full) = (faults, 0, false, false);
        disk.met.clear();
        disk.has_failed_sync = false;
    }

    /// Ends the process at once.
    pub(crate) fn end_process(&self) {
        self.state().is_down = true;
    }

    pub(crate) fn is_down(&self) -> bool {
        self.state().is_down
    }

    /// What processes see.
    pub(crate) fn content(&self) -> Vec<u8> {
        self.state().cache.clone()
    }

    pub(crate) fn has_snapshot(&self) -> bool {
        self.state().snapshot.is_some()
    }

    /// Opens or creates the journal, and locks it.
    pub(crate) fn open(&self) -> io::Result<DiskFile> {
        let mut disk = self.state();
        if disk.is_locked {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if let Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) = disk.begin(Operation::Other)? {
            return Err(disk.crash());
        }
        if !disk.exists {
            (disk.exists, disk.has_durable_name) = (true, false);
        }
        disk.is_locked = true;
        drop(disk);
        Ok(DiskFile::new(self.clone()))
    }
}

impl DiskState {
    /// What processes see.
    pub(crate) fn content(&self) -> &[u8] {
        &self.cache
    }

    /// Keeps an event.
    pub(crate) fn note(&mut self, event: impl FnOnce(&Self) -> String) {
        if self.log.is_some() {
            let event = event(self);
            self.log.iter_mut().for_each(|log| log.push(event.clone()));
        }
    }

    /// Counts an operation, and returns the fault that it meets.
    fn begin(&mut self, operation: Operation) -> io::Result<Option<FaultKind>> {
        if self.is_down {
            return Err(ended());
        }
        self.operations += 1;
        if operation == Operation::Write && self.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let Some(fault) = self.faults.last().copied() else { return Ok(None) };
        let is_possible = match fault.kind {
            FaultKind::ReadError | FaultKind::CorruptedRead => operation == Operation::Read,
            FaultKind::WriteError | FaultKind::DiskFull | FaultKind::ShortWrite => {
                operation == Operation::Write
            }
            FaultKind::SyncError => operation == Operation::Sync,
            // Lines are lost silently only where lines stay: an empty journal is a new one.
            FaultKind::LostSync => {
                operation == Operation::Sync && self.durable_bytes > 0 && !self.changed.is_empty()
            }
            FaultKind::MisdirectedWrite => operation == Operation::Sync && !self.changed.is_empty(),
            _ => true,
        };
        if !is_possible || self.operations < fault.operation_from {
            return Ok(None);
        }
        self.faults.pop();
        self.note(|disk| format!("operation {} ({operation:?}) meets {:?}", disk.operations, fault.kind));
        self.counts.add(fault.kind);
        self.met.push(fault.kind);
        Ok(Some(fault.kind))
    }

    /// Ends the process within an operation.
    fn crash(&mut self) -> io::Error {
        self.is_down = true;
        self.must_restart |= self.has_failed_sync;
        ended()
    }

    /// Writes into the file or at its end.
    fn write_at(&mut self, start: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // What was behind it is lost, also behind an empty or shorter file.
        self.truncate_written(start);
        let (len, end) = (self.cache.len(), start + bytes.len());
        self.cache.resize(len.max(end), 0);
        self.cache[start..end].copy_from_slice(bytes);
        let unsynced = self.cache.get(self.durable_bytes..).unwrap_or_default();
        self.has_two_calls |= String::from_utf8_lossy(unsynced).matches(TOOL_CALL_KEY).count() > 1;
        if bytes.iter().any(|byte| *byte != 0) {
            self.written.extend_from_slice(bytes);
        }
        let pages = start / self.page_bytes..=(end - 1) / self.page_bytes;
        self.changed.extend(pages);
        self.is_length_changed |= end > len;
    }

    /// Removes what processes wrote from this byte on.
    fn truncate_written(&mut self, bytes: usize) {
        if bytes < self.written.len() {
            self.removed.push(self.written.clone());
        }
        self.written.truncate(bytes);
        self.durable_bytes = self.durable_bytes.min(bytes);
    }

    /// Copies a page of the cache to a place of the disk. The disk has the length for it.
    fn copy_page(&mut self, page: usize, place: usize) {
        let (from, to) = (page * self.page_bytes, place * self.page_bytes);
        let len = self.page_bytes.min(self.cache.len().saturating_sub(from));
        let len = len.min(self.image.len().saturating_sub(to));
        if len > 0 {
            self.image[to..to + len].copy_from_slice(&self.cache[from..from + len]);
        }
    }

    /// Writes all changed pages. A misdirected one overwrites another page.
    fn write_back(&mut self, is_misdirected: bool) {
        if let Some(len) = self.truncated_to.take() {
            self.image.truncate(len);
        }
        self.image.resize(self.cache.len(), 0);
        self.removed.clear();
        let changed: Vec<usize> = std::mem::take(&mut self.changed).into_iter().collect();
        let misdirected = is_misdirected.then(|| changed[self.random.index(changed.len())]);
        for page in changed {
            let pages = self.image.len().div_ceil(self.page_bytes);
            let place = if misdirected == Some(page) { self.random.index(pages) } else { page };
            self.copy_page(page, place);
            self.is_damaged |= place != page;
        }
        self.is_length_changed = false;
    }

    /// Writes any part of the changed pages.
    fn write_back_part(&mut self) {
        let changed: Vec<usize> = std::mem::take(&mut self.changed).into_iter().collect();
        if let Some(len) = self.truncated_to.take() {
            if self.random.one_in(2) {
                // Neither the truncation nor anything after it.
                self.is_length_changed = false;
                return;
            }
            self.image.truncate(len);
        }
        let (old, new) = (self.image.len(), self.cache.len());
        let len = match self.random.below(3) {
            _ if !self.is_length_changed => old,
            0 => old,
            1 => new,
            _ => old.min(new) + self.random.index(old.abs_diff(new) + 1),
        };
        self.image.resize(len, 0);
        // None, all, or each on its own.
        let choice = self.random.below(3);
        for page in changed {
            if choice == 1 || (choice == 2 && self.random.one_in(2)) {
                self.copy_page(page, page);
            }
        }
        self.is_length_changed = false;
    }

    /// Ends the machine, and starts it again.
    pub(crate) fn restart_machine(&mut self) {
        let before = self.image.len();
        self.write_back_part();
        self.note(|disk| {
            format!(
                "the machine restarts: {} bytes in memory, {before} on the disk, {} after it",
                disk.cache.len(),
                disk.image.len()
            )
        });
        self.snapshot = match self.random.below(8) {
            0 => None,
            1 => self.snapshot.take().map(|snapshot| vec![0; snapshot.len()]),
            2 => self.snapshot.take().map(|mut snapshot| {
                snapshot.truncate(snapshot.len() / 2);
                snapshot
            }),
            _ => self.snapshot.take(),
        };
        if self.exists && !self.has_durable_name && self.random.one_in(2) {
            self.exists = false;
            self.image.clear();
        }
        self.cache.clone_from(&self.image);
        self.must_restart = false;
        let image = &self.image;
        let equal_bytes = |text: &Vec<u8>| text.iter().zip(image).take_while(|(a, b)| a == b).count();
        // Of equal ones the latest is taken.
        let contents =
            std::mem::take(&mut self.removed).into_iter().chain([std::mem::take(&mut self.written)]);
        self.written = contents.max_by_key(equal_bytes).unwrap_or_default();
    }

    /// Removes the last lines of the journal, and sometimes a part of another one. Two lines stay: an empty journal is a new one.
    pub(crate) fn lose_tail(&mut self) {
        let newlines = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at + 1);
        let ends: Vec<usize> = self.image.iter().enumerate().filter_map(newlines).skip(1).collect();
        let Some(last) = ends.len().checked_sub(1).filter(|last| *last > 0) else { return };
        let line = last - 1 - self.random.index(last.min(3));
        let (start, end) = (ends[line], ends[line + 1]);
        let cut = if self.random.one_in(2) { start } else { start + self.random.index(end - start) };
        self.note(|_| format!("the disk loses everything from byte {cut} on"));
        self.counts.add(FaultKind::LostTail);
        self.image.truncate(cut);
        self.cache.truncate(cut);
        self.has_lost_lines = true;
    }

    /// Forgets the damage of a journal of which a process kept only what was written, unless memory hides it.
    pub(crate) fn forget_damage(&mut self) {
        if !self.must_restart {
            (self.is_damaged, self.has_lost_lines) = (false, false);
        }
    }

    /// Changes bytes of the disk. The machine starts again, because memory would hide it.
    pub(crate) fn corrupt(&mut self) {
        if self.image.is_empty() {
            return;
        }
        if self.random.one_in(2)
            && let Some(snapshot) = &mut self.snapshot
        {
            // A snapshot is a cache: its damage damages no journal. Another digit would be another state.
            let digits = snapshot.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
            let digits: Vec<usize> = digits.map(|(at, _)| at).collect();
            if let Some(at) = digits.get(self.random.index(digits.len())) {
                snapshot[*at] ^= 1;
                self.counts.add(FaultKind::CorruptedAtRest);
                return;
            }
        }
        let len = self.image.len();
        // The end of the journal is the part that a process may truncate.
        let near_end = self.random.one_in(2);
        let at = if near_end { len - 1 - self.random.index(len.min(200)) } else { self.random.index(len) };
        match self.random.below(4) {
            0 => self.image[at] ^= 1 << self.random.below(8),
            1 => self.image[at] = self.random.below(256) as u8,
            2 => {
                self.image.remove(at);
            }
            _ => {
                let end = (at + self.page_bytes).min(len);
                self.image[at..end].fill(0);
            }
        }
        self.is_damaged = true;
        self.note(|_| format!("the disk changes at byte {at}"));
        self.counts.add(FaultKind::CorruptedAtRest);
        self.cache.clone_from(&self.image);
    }
}
