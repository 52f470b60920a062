//! What the tests of runs share.

use orchestrion_experiment::{Experiment, PolicySummary, Sink, Summary, run_range};
use orchestrion_yaml::Source;
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(Default)]
struct Collected(Vec<u8>);

impl Sink for Collected {
    fn receive(&mut self, rows: &[u8], _: &Summary) -> std::io::Result<()> {
        self.0.extend_from_slice(rows);
        Ok(())
    }
}

pub(crate) fn experiment(text: &str) -> Experiment {
    let source = Source::from_text("test.yaml", text).unwrap();
    Experiment::from_source("test", source, Path::new(env!("CARGO_MANIFEST_DIR")))
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn run(experiment: &Experiment, range: (u64, u64), threads: usize) -> (Summary, String) {
    let (mut summary, mut rows) = (Summary::empty(experiment), Collected::default());
    let threads = NonZeroUsize::new(threads).unwrap();
    run_range(experiment, range, threads, true, &mut summary, &mut rows).unwrap();
    (summary, String::from_utf8(rows.0).unwrap())
}

/// Returns the sum of a metric over all runs of a policy.
#[allow(dead_code, reason = "not every test program reads sums")]
pub(crate) fn sum(policy: &PolicySummary, metric: &str) -> i64 {
    policy.metrics[metric].moments.sum.try_into().unwrap()
}
