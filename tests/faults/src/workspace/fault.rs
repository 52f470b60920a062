//! Which fault is active. `orchestrion-faults` writes this file into its copy of the kernel.

extern crate std;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// More than the number of faults.
const FAULTS_MAX: usize = 1 << 14;

/// Whether the fault with this number is active.
pub fn is_active(number: u32) -> bool {
    static ACTIVE: OnceLock<Option<u32>> = OnceLock::new();
    static RECORD: OnceLock<Option<Mutex<std::fs::File>>> = OnceLock::new();
    static REACHED: [AtomicBool; FAULTS_MAX] = [const { AtomicBool::new(false) }; FAULTS_MAX];
    let record = RECORD.get_or_init(|| {
        let path = std::env::var_os("ORCHESTRION_REACHED_FAULTS")?;
        Some(Mutex::new(std::fs::File::options().create(true).append(true).open(path).expect("a file to record in")))
    });
    if let Some(record) = record
        && !REACHED[number as usize].load(Ordering::Relaxed)
        && !REACHED[number as usize].swap(true, Ordering::Relaxed)
    {
        // At once: the process may be killed.
        record.lock().expect("no writer panics").write_all(std::format!("{number}\n").as_bytes()).expect("a written line");
    }
    *ACTIVE.get_or_init(|| std::env::var("ORCHESTRION_FAULT").ok()?.parse().ok()) == Some(number)
}
