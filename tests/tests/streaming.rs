//! Replay streams: its memory use does not grow with the trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_tests::endless_debate::EndlessDebate;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::{Update, replay, update};
use peak_alloc::PeakAlloc;
use std::io::{self, BufReader};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Returns the peak of allocated bytes above the initial value.
fn peak(act: impl FnOnce()) -> usize {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    act();
    ALLOCATED.peak_usage() - before
}

fn reader(steps: u64) -> Reader<BufReader<EndlessDebate>> {
    Reader::new(BufReader::new(EndlessDebate::new(steps).unwrap()), "debate").unwrap()
}

/// One test, because the allocator counts for the whole process.
#[test]
fn memory_is_independent_of_trace_length() {
    let replayed = |steps| {
        peak(|| {
            let found = replay(reader(steps), None, &StandardContexts);
            assert!(found.is_equal() && found.steps == steps, "{found:?}");
        })
    };
    let updated = |steps| {
        peak(|| {
            // Under this policy every pass has a different result.
            let policy = orchestrion_kernel::Policy::as_drawn();
            let found = update(reader(steps), Some(&policy), &StandardContexts, io::sink()).unwrap();
            assert!(
                found.changed_steps > steps / 2 && found.first_differences.len() == Update::DIFFERENCES_MAX,
                "{found:?}"
            );
        })
    };
    // The short trace fills the window of referenced texts. The tolerance allows for longer numbers and buffers that grow
    // in powers of two; one retained byte per step exceeds it.
    const STEPS: (u64, u64) = (2_000, 50_000);
    for (what, peak) in [("replay", &replayed as &dyn Fn(u64) -> usize), ("update", &updated)] {
        let (short, long) = (peak(STEPS.0), peak(STEPS.1));
        assert!(
            long < short + 16 * 1024,
            "{what}: {short} bytes for the short trace, {long} for the long one"
        );
    }
}
