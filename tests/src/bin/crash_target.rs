//! A program for crash tests, which kill it: it opens its journal, resumes unfinished requests, sends the remaining
//! ones, and prints every output that leaves it.

use orchestrion_kernel::Policy;
use orchestrion_runtime::{Call, Clock, Conversation, RuntimeError};
use orchestrion_tests::side_effects::{EffectfulHost, SideEffectLog};
use orchestrion_text::StandardContexts;
use std::error::Error;
use std::path::Path;
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(journal), Some(side_effects), Some(requests)) = (args.next(), args.next(), args.next()) else {
        return Err(
            "missing arguments: expected a journal, a side effect file and a number of requests".into()
        );
    };
    let requests: u32 = requests.parse()?;
    let clock = Clock::real();
    let observe = |call: &Call| {
        println!("sent {}", call.id);
        // The pause makes a kill during a call as likely as one between two calls.
        thread::sleep(Duration::from_micros(call.id.number() * 7919 % 1500));
    };
    let host = EffectfulHost::new(SideEffectLog::open(Path::new(&side_effects))?, clock.clone(), observe);
    let mut conversation = Conversation::open(&journal, Policy::hardened(), &StandardContexts)?;
    if let Some(tail) = conversation.truncated_tail() {
        println!("truncated {}", tail.bytes);
    }
    clock.block_on(async {
        if let Some(reply) = conversation.resume(&host).await? {
            println!("completed {}", reply.trace.request);
        }
        while conversation.state().control().next_request().number() <= requests {
            let reply = conversation.run_request(&host, "ada", "Order paper").await?;
            println!("completed {}", reply.trace.request);
        }
        Ok::<(), RuntimeError>(())
    })??;
    println!("finished");
    Ok(())
}
