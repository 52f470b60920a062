//! A host whose debaters agree: `cargo run --example minimal`, then `orchestrion show minimal.ndjson`.
use orchestrion_kernel::{Policy, module::Operation};
use orchestrion_runtime::{Call, CallError, CallResult, Clock, Conversation, Host, RecoveryResult};
use orchestrion_scenario::{parse_reply, script::default_report};
use orchestrion_text::StandardContexts;
struct Office(Clock);
#[rustfmt::skip]
impl Host for Office {
    async fn execute(&self, call: &Call) -> CallResult {
        match call.operation {
            Operation::Argue(_) | Operation::ReviewRevision => parse_reply(call.operation, "pro: {confidence: 0.9}"),
            Operation::RunTask { .. } => parse_reply(call.operation, "ok: Two packs of paper arrive on Monday"),
            operation => default_report(operation, &call.request).map(Into::into).ok_or_else(|| CallError::error("no module")),
        }
    }
    async fn recover(&self, _: &Call) -> RecoveryResult { RecoveryResult::OutcomeUnknown }
    async fn sleep(&self, time: std::time::Duration) { self.0.sleep(time).await }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let office = Office(Clock::real());
    let mut conversation = Conversation::open("minimal.ndjson", Policy::hardened(), &StandardContexts)?;
    let result = office.0.block_on(conversation.run_request(&office, "ada", "Order paper"))??;
    println!("{}", result.text);
    Ok(())
}
