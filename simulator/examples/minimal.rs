//! A host whose voices agree, asked once: `cargo run --example minimal`, then `orchestrion show minimal.ndjson`.
use orchestrion_kernel::{Policy, module::Operation};
use orchestrion_runtime::{Call, CallError, CallResult, Clock, Conversation, Host, RecoveryResult};
use orchestrion_scenario::parse_reply;
use orchestrion_scenario::script::default_report;
use orchestrion_text::StandardContexts;
struct Office(Clock);
#[rustfmt::skip]
impl Host for Office {
    async fn execute(&self, call: &Call) -> CallResult {
        match call.operation {
            Operation::Argue(_) | Operation::ReviewRevision => parse_reply(call.operation, "pro: {confidence: 0.9, says: Why not}"),
            Operation::RunTask { .. } => parse_reply(call.operation, "ok: Two packs of paper come on Monday"),
            ask => default_report(ask, &call.request).map(Into::into).ok_or_else(|| CallError::error("nobody is there")),
        }
    }
    async fn recover(&self, _: &Call) -> RecoveryResult { RecoveryResult::OutcomeUnknown }
    async fn sleep(&self, time: std::time::Duration) { self.0.sleep(time).await }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let office = Office(Clock::real());
    let path = std::env::args().nth(1).unwrap_or("minimal.ndjson".to_owned());
    let mut conversation = Conversation::open(path, Policy::hardened(), &StandardContexts)?;
    let answered =
        office.0.block_on(conversation.run_request(&office, "ada", "Order two packs of paper"))??;
    println!("{}", answered.text);
    Ok(())
}
