//! An office whose modules agree, and a journal in memory with its snapshot.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    dead_code,
    reason = "shared by the tests, which fail by panicking"
)]

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, Policy, Score, TaskId};
use orchestrion_runtime::{Call, CallResult, Clock, Conversation, Host, Journal, RecoveryResult};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use std::io::{self, BufRead};
use std::time::Duration;

/// Modules that agree, at time 0.
pub(crate) struct Modules(pub(crate) Clock);

impl Host for Modules {
    async fn execute(&self, call: &Call) -> CallResult {
        let number = call.trace.request.number();
        Ok(match call.operation {
            Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
            Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
            Operation::Summarize => {
                Report::Summary { text: format!("settled until {number}").into(), forgets: None }
            }
            Operation::Classify => {
                Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
            }
            Operation::DraftPlan => Report::Plan(plan(number)),
            Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
            Operation::RunTask { .. } | Operation::UndoTask { .. } => {
                Report::Exit { code: 0, text: format!("delivered order {number}").into(), number: None }
            }
            Operation::Diagnose => Report::NoRepair { text: "no idea".into() },
            Operation::StoreMemory { .. } => Report::Stored { held: true },
            Operation::DeliverAudit => Report::Delivered,
            Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
                let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
                let text = format!("order {number} is within the budget of the office").into();
                Report::Argument { argument, text, plan: None }
            }
        }
        .into())
    }

    async fn recover(&self, _: &Call) -> RecoveryResult {
        RecoveryResult::OutcomeUnknown
    }

    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        0
    }
}

fn plan(number: u32) -> Plan {
    let task = Task {
        id: TaskId::new(1),
        text: format!("place order {number} with the supplier of the office").into(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    Plan::new(vec![task]).unwrap()
}

/// A journal in memory with its snapshot.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) journal: Vec<u8>,
    pub(crate) snapshot: Option<Vec<u8>>,
}

impl Journal for Disk {
    fn name(&self) -> String {
        "office".to_owned()
    }
    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(self.journal.as_slice())
    }
    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.snapshot.clone())
    }
    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        self.snapshot = Some(snapshot.to_vec());
        Ok(())
    }
    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.journal.truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.journal.extend_from_slice(lines);
        Ok(())
    }
    async fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The header of a journal under this policy.
pub(crate) fn header(policy: Policy) -> Header {
    Header::new(ConversationId::new("office"), policy, None).into_journal()
}

pub(crate) fn open(disk: &Disk) -> Conversation<Disk> {
    Conversation::open_with(disk.clone(), &header(Policy::hardened()), &StandardContexts).unwrap()
}

pub(crate) fn run(conversation: &mut Conversation<Disk>, requests: std::ops::Range<u32>) {
    let clock = Clock::simulated();
    let host = Modules(clock.clone());
    for number in requests {
        let text = format!("Order paper for room {number}");
        clock.block_on(conversation.run_request(&host, "ada", text.as_str())).unwrap().unwrap();
    }
}
