//! A program that is made to be killed: it opens its journal, finishes what is unfinished, asks what is left to ask, and
//! says on standard output whatever left it.

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
    let (Some(journal), Some(world), Some(requests)) = (args.next(), args.next(), args.next()) else {
        return Err("expected a journal, a world, and a number of requests".into());
    };
    let requests: u32 = requests.parse()?;
    let clock = Clock::real();
    let tell = |call: &Call| {
        println!("asked {}", call.id);
        // So that it is killed in the middle of a call as often as between two.
        thread::sleep(Duration::from_micros(call.id.number() * 7919 % 1500));
    };
    let crew = EffectfulHost::new(SideEffectLog::in_file(Path::new(&world))?, clock.clone(), tell);
    let mut conversation = Conversation::open(&journal, Policy::hardened(), &StandardContexts)?;
    if let Some(dropped) = conversation.dropped() {
        println!("dropped {}", dropped.bytes);
    }
    clock.block_on(async {
        if let Some(answered) = conversation.resume(&crew).await? {
            println!("answered {}", answered.trace.request);
        }
        while conversation.state().control.next_request().number() <= requests {
            let answered = conversation.run_request(&crew, "ada", "Order paper").await?;
            println!("answered {}", answered.trace.request);
        }
        Ok::<(), RuntimeError>(())
    })??;
    println!("finished");
    Ok(())
}
