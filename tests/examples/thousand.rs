//! A thousand conversations in one process, each with its own durable journal: the delay of a call
//! by durable writes and scheduling over the run.
//!
//! ```console
//! $ cargo run --release -p orchestrion-tests --example thousand -- 1000
//! ```

use orchestrion_kernel::Policy;
use orchestrion_runtime::{Call, CallResult, Clock, Conversation, Host, RecoveryResult};
use orchestrion_tests::side_effects::{EffectfulHost, SideEffectLog};
use orchestrion_text::StandardContexts;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The number of requests in each conversation.
const REQUESTS: usize = 6;

/// A host whose calls last as long as those of a fast module. It records the time between a reply and the next call.
struct Timed<T> {
    inner: EffectfulHost<T>,
    replied_at: Mutex<Instant>,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl<T: Fn(&Call) + Send + Sync> Host for Timed<T> {
    async fn execute(&self, call: &Call) -> CallResult {
        let since = self.replied_at.lock().map(|replied_at| replied_at.elapsed()).unwrap_or_default();
        if let Ok(mut waits) = self.waits.lock() {
            waits.push(since);
        }
        tokio::time::sleep(Duration::from_millis(200 + call.id.number() * 7919 % 100)).await;
        let answer = self.inner.execute(call).await;
        if let Ok(mut replied_at) = self.replied_at.lock() {
            *replied_at = Instant::now();
        }
        answer
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.inner.recover(call).await
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let conversations: usize = std::env::args().nth(1).map_or(Ok(1000), |number| number.parse())?;
    let folder = tempfile::tempdir()?;
    let waits: Vec<Arc<Mutex<Vec<Duration>>>> = (0..REQUESTS).map(|_| Arc::default()).collect();
    let start = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for number in 0..conversations {
        let path = folder.path().join(format!("office-{number}.ndjson"));
        let waits = waits.clone();
        all.spawn(async move {
            let mut conversation = Conversation::open(&path, Policy::hardened(), &StandardContexts)
                .map_err(|error| error.to_string())?;
            for waits in waits {
                let inner = EffectfulHost::new(SideEffectLog::default(), Clock::real(), |_: &Call| {});
                let host = Timed { inner, replied_at: Mutex::new(Instant::now()), waits };
                conversation
                    .run_request(&host, "ada", "Order paper")
                    .await
                    .map_err(|error| error.to_string())?;
            }
            Ok::<u64, String>(conversation.steps())
        });
    }
    let mut steps = 0;
    while let Some(done) = all.join_next().await {
        steps += done??;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{conversations} conversations, {steps} steps in {seconds:.1} s: {:.0} steps/s",
        steps as f64 / seconds
    );
    println!("from a reply to the next call, in ms:");
    println!("request     p50     p90     p99     max");
    for (number, waits) in (1..).zip(&waits) {
        let mut waits = waits.lock().map_err(|error| error.to_string())?;
        waits.sort_unstable();
        let at = |permille: usize| waits[(waits.len() - 1) * permille / 1000].as_secs_f64() * 1000.0;
        println!("{number:7} {:7.2} {:7.2} {:7.2} {:7.2}", at(500), at(900), at(990), at(1000));
    }
    Ok(())
}
