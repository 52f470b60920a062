//! Which fault is active. `orchestrion-faults` writes this file into its copy of the kernel.

extern crate std;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// More than the number of faults.
const FAULTS_MAX: usize = 1 << 14;

/// Not a fault: no call was made yet, or all calls are recorded.
const UNKNOWN: u32 = u32::MAX;
/// Not a fault: none is active.
const NONE: u32 = u32::MAX - 1;

/// The active fault.
static ACTIVE: AtomicU32 = AtomicU32::new(UNKNOWN);

/// Whether the fault with this number is active. Inner loops call this.
#[inline(always)]
pub fn is_active(number: u32) -> bool {
    match ACTIVE.load(Ordering::Relaxed) {
        UNKNOWN => read_or_record(number),
        active => active == number,
    }
}

/// Reads the environment at the first call. If calls are recorded, records this one, and each later one.
#[cold]
fn read_or_record(number: u32) -> bool {
    static RECORD: OnceLock<Option<Mutex<std::fs::File>>> = OnceLock::new();
    static REACHED: [AtomicBool; FAULTS_MAX] = [const { AtomicBool::new(false) }; FAULTS_MAX];
    let record = RECORD.get_or_init(|| {
        let path = std::env::var_os("ORCHESTRION_REACHED_FAULTS")?;
        Some(Mutex::new(std::fs::File::options().create(true).append(true).open(path).expect("a file to record in")))
    });
    let Some(record) = record else {
        let active = std::env::var("ORCHESTRION_FAULT").ok().and_then(|text| text.parse().ok()).unwrap_or(NONE);
        ACTIVE.store(active, Ordering::Relaxed);
        return active == number;
    };
    let reached = &REACHED[number as usize];
    if !reached.load(Ordering::Relaxed) && !reached.swap(true, Ordering::Relaxed) {
        // At once: the process may be killed.
        record.lock().expect("no writer panics").write_all(std::format!("{number}\n").as_bytes()).expect("a written line");
    }
    false
}
