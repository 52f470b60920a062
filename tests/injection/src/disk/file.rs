//! The open journal on the simulated disk.

use super::{Disk, DiskState, Operation};
use crate::fault::FaultKind;
use orchestrion_runtime::Storage;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::MutexGuard;

/// The journal as a process has it open and locked.
#[derive(Debug)]
pub(crate) struct DiskFile {
    disk: Disk,
    position: usize,
}

impl DiskFile {
    pub(super) const fn new(disk: Disk) -> Self {
        Self { disk, position: 0 }
    }

    fn begin(&self, operation: Operation) -> io::Result<(MutexGuard<'_, DiskState>, Option<FaultKind>)> {
        let mut disk = self.disk.state();
        let fault = disk.begin(operation)?;
        Ok((disk, fault))
    }

    fn sync(&mut self, is_opening: bool) -> io::Result<()> {
        let (mut disk, fault) = self.begin(Operation::Sync)?;
        disk.note(|disk| format!("sync of {} bytes: {fault:?}", disk.cache.len()));
        match fault {
            Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) => {
                if disk.random.one_in(2) {
                    disk.write_back(false);
                }
                return Err(disk.crash());
            }
            Some(FaultKind::SyncError) => {
                disk.write_back_part();
                disk.has_failed_sync = true;
                // While a journal is opened, no process knows which of its lines are on the disk.
                disk.must_restart |= is_opening;
                return Err(io::Error::other("simulated error of a sync"));
            }
            Some(FaultKind::LostSync) => {
                disk.changed.clear();
                disk.is_length_changed = false;
                disk.truncated_to = None;
                disk.has_lost_lines = true;
                disk.must_restart = true;
            }
            Some(FaultKind::MisdirectedWrite) => {
                disk.write_back(true);
                disk.must_restart = true;
            }
            _ => disk.write_back(false),
        }
        if disk.has_durable_name {
            disk.durable_bytes = disk.cache.len().min(disk.written.len());
        }
        Ok(())
    }
}

/// The end of a process releases its lock.
impl Drop for DiskFile {
    fn drop(&mut self) {
        self.disk.state().is_locked = false;
    }
}

impl Read for DiskFile {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let (mut disk, fault) = self.begin(Operation::Read)?;
        let start = self.position.min(disk.cache.len());
        let len = part.len().min(disk.cache.len() - start);
        match fault {
            Some(FaultKind::ReadError) => return Err(io::Error::other("simulated error of a read")),
            Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) => return Err(disk.crash()),
            _ => {}
        }
        part[..len].copy_from_slice(&disk.cache[start..start + len]);
        if fault == Some(FaultKind::CorruptedRead) && len > 0 {
            let near_end = disk.random.one_in(2);
            let at =
                if near_end { len - 1 - disk.random.index(len.min(200)) } else { disk.random.index(len) };
            part[at] ^= 1 << disk.random.below(8);
        }
        drop(disk);
        self.position = start + len;
        Ok(len)
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (mut disk, fault) = self.begin(Operation::Write)?;
        let at = self.position;
        disk.note(|_| format!("write of {} bytes at {at}: {fault:?}", bytes.len()));
        let part = disk.random.index(bytes.len() + 1);
        let written = match fault {
            Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) => {
                disk.write_at(at, &bytes[..part]);
                Err(disk.crash())
            }
            Some(FaultKind::WriteError) => {
                disk.write_at(at, &bytes[..part]);
                Err(io::Error::other("simulated error of a write"))
            }
            Some(FaultKind::DiskFull) => {
                disk.write_at(at, &bytes[..part]);
                disk.is_full = true;
                Err(io::ErrorKind::StorageFull.into())
            }
            Some(FaultKind::ShortWrite) => {
                let part = part.max(1);
                disk.write_at(at, &bytes[..part]);
                Ok(part)
            }
            _ => {
                disk.write_at(at, bytes);
                Ok(bytes.len())
            }
        };
        drop(disk);
        self.position += written.as_ref().map_or(0, |len| *len);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for DiskFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let len = self.disk.state().cache.len() as u64;
        let found = match position {
            SeekFrom::Start(bytes) => Some(bytes),
            SeekFrom::End(bytes) => len.checked_add_signed(bytes),
            SeekFrom::Current(bytes) => (self.position as u64).checked_add_signed(bytes),
        };
        let found = found.ok_or(io::ErrorKind::InvalidInput)?;
        self.position = usize::try_from(found).unwrap_or(usize::MAX);
        Ok(found)
    }
}

impl Storage for DiskFile {
    fn name(&self) -> String {
        "office.ndjson".to_owned()
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let (mut disk, fault) = self.begin(Operation::Other)?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) = fault {
            return Err(disk.crash());
        }
        disk.note(|disk| format!("set_len {bytes} of {}", disk.cache.len()));
        if bytes < disk.cache.len() {
            disk.cache.truncate(bytes);
            let pages = bytes.div_ceil(disk.page_bytes);
            disk.changed.retain(|page| *page < pages);
            disk.is_length_changed = true;
            disk.truncated_to = Some(disk.truncated_to.map_or(bytes, |len| len.min(bytes)));
        }
        if bytes > disk.cache.len() {
            disk.cache.resize(bytes, 0);
            disk.is_length_changed = true;
        }
        if bytes <= disk.durable_bytes {
            disk.has_failed_sync = false;
        }
        disk.truncate_written(bytes);
        Ok(())
    }

    async fn sync_data(&mut self) -> io::Result<()> {
        self.sync(false)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.sync(true)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        let (mut disk, fault) = self.begin(Operation::Other)?;
        if let Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) = fault {
            return Err(disk.crash());
        }
        disk.has_durable_name = true;
        Ok(())
    }

    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (mut disk, fault) = self.begin(Operation::Other)?;
        if let Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) = fault {
            return Err(disk.crash());
        }
        Ok(disk.snapshot.clone())
    }

    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        let (mut disk, fault) = self.begin(Operation::Other)?;
        if let Some(FaultKind::ProcessCrash | FaultKind::MachineCrash) = fault {
            return Err(disk.crash());
        }
        disk.snapshot = Some(snapshot.to_vec());
        Ok(())
    }
}
