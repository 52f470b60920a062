//! A host whose voices agree, asked once: `cargo run --example minimal`, then `orchestrion show minimal.ndjson`.
use orchestrion::drive::{Answer, Call, Clock, Conversation, Fate, Host, NoAnswer};
use orchestrion::{scenario::answer, script::unscripted};
use orchestrion_kernel::{Policy, module::Ask};
struct Office(Clock);
#[rustfmt::skip]
impl Host for Office {
    async fn answer(&self, call: &Call) -> Answer {
        match call.ask {
            Ask::Argue(_) | Ask::Reread => answer(call.ask, "pro: {confidence: 0.9, says: Why not}"),
            Ask::RunTask { .. } => answer(call.ask, "ok: Two packs of paper come on Monday"),
            ask => unscripted(ask, &call.request).map(Into::into).ok_or_else(|| NoAnswer::error("nobody is there")),
        }
    }
    async fn recover(&self, _: &Call) -> Fate { Fate::Unknown }
    async fn sleep(&self, time: std::time::Duration) { self.0.sleep(time).await }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let office = Office(Clock::real());
    let path = std::env::args().nth(1).unwrap_or("minimal.ndjson".to_owned());
    let mut conversation = Conversation::open(path, Policy::hardened())?;
    let answered = office.0.block_on(conversation.ask(&office, "ada", "Order two packs of paper"))??;
    println!("{}", answered.text);
    Ok(())
}
