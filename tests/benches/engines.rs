//! Our explorer and stateright on a cheap model and on the kernel.
//!
//! ```console
//! $ cargo bench -p orchestrion-tests --bench engines
//! ```
//!
//! Times are the best of three runs. CPU is the time of all threads, where the system reports it.

use orchestrion_explorer::{Options, StaterightModel, explore};
use orchestrion_kernel::Policy;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::product::KernelModel;
use orchestrion_model::scopes::{Model as Part, Scope};
use orchestrion_tests::counters::Counters;
use stateright::{Checker, Model};
use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::time::Instant;

/// The result of one run.
#[derive(Clone, Copy)]
struct Measured {
    states: usize,
    generated: u64,
    seconds: f64,
    cpu: Option<f64>,
    bytes: Option<usize>,
}

impl Measured {
    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.generated as f64
    }
}

/// Returns the CPU time of this process in hundredths of a second.
fn cpu() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

fn best_of_three(run: impl Fn() -> (usize, u64, Option<usize>)) -> Measured {
    let measure = |_| {
        let (start, before) = (Instant::now(), cpu());
        let (states, generated, bytes) = run();
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu().zip(before).map(|(after, before)| after - before);
        Measured { states, generated, seconds, cpu, bytes }
    };
    let runs = (0..3).map(measure);
    runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        .unwrap_or_else(|| unreachable!("there are three runs"))
}

fn ours<M>(model: impl Fn() -> M, threads: usize) -> Measured
where
    M: Model + Send + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    best_of_three(|| {
        let options = Options { threads, ..Options::default() };
        let found = explore(&StaterightModel::new(model()), &options, &mut |_| {});
        let found = found.unwrap_or_else(|error| unreachable!("{error}"));
        (found.states(), found.generated(), Some(found.visited_bytes()))
    })
}

fn theirs<M>(model: impl Fn() -> M, threads: usize) -> Measured
where
    M: Model + Send + Sync + 'static,
    M::State: Debug + Hash + PartialEq + Clone + Send + Sync,
    M::Action: Debug + Clone + PartialEq,
{
    best_of_three(|| {
        let checker = model().checker().threads(threads).spawn_bfs().join();
        (checker.unique_state_count(), checker.state_count() as u64, None)
    })
}

fn compare<M>(name: &str, model: impl Fn() -> M)
where
    M: Model + Send + Sync + 'static,
    M::State: Debug + Hash + PartialEq + Clone + Send + Sync,
    M::Action: Debug + Clone + PartialEq,
{
    let reference = theirs(&model, 1);
    let rows = [
        ("stateright", 1, reference),
        ("ours", 1, ours(&model, 1)),
        ("stateright", 2, theirs(&model, 2)),
        ("ours", 2, ours(&model, 2)),
    ];
    for (engine, threads, measured) in rows {
        let optional = |number: Option<f64>| number.map_or("–".to_owned(), |number| format!("{number:.2}"));
        let a_state = measured.bytes.map(|bytes| bytes as f64 / measured.states as f64);
        println!(
            "{name:10} {engine:10} {threads:7} {:10} {:10} {:9.2} {:>6} {:12.1} {:6.2} {:>13}",
            measured.states,
            measured.generated,
            measured.seconds,
            optional(measured.cpu),
            measured.nanoseconds(),
            measured.nanoseconds() / reference.nanoseconds(),
            optional(a_state),
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let part = Part::from_name("execution").ok_or("unknown model")?;
    let scope = Scope::by_name("small").ok_or("unknown scope")?;
    println!(
        "model      engine     threads     states  generated   seconds    CPU ns/generated  ratio  bytes/state"
    );
    compare("counters", || Counters { bound: 15 });
    compare("execution", || KernelModel::new(KernelUnderTest::unmodified(Policy::hardened()), part, &scope));
    Ok(())
}
