//! A trace of an endless debate, generated while it is read.
//!
//! The state stops growing after the first pass. Memory that still grows is proportional to the length of the trace.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, Input, Policy, Score, TaskId, Text, UserId};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, StepMetadata};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::rc::Rc;

/// The length of each argument in bytes. A recorded line contains it three times and has about 1 KB.
const ARGUMENT_BYTES: usize = 130;

/// A trace with a given number of steps, generated line by line and not stored.
#[derive(Debug)]
pub struct EndlessDebate {
    conversation: Option<Recorder<Lines>>,
    lines: Lines,
    read: usize,
    steps: u64,
    remaining: u64,
}

/// Bytes that are written and not yet read.
#[derive(Clone, Debug, Default)]
struct Lines(Rc<RefCell<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl EndlessDebate {
    /// Creates a debate with this number of steps.
    ///
    /// # Errors
    ///
    /// None, since the trace is in memory.
    pub fn new(steps: u64) -> io::Result<Self> {
        let mut policy = Policy::hardened();
        policy.name = "endless-debate".to_string();
        policy.bounds.passes = u32::MAX;
        let lines = Lines::default();
        let header = Header::new(ConversationId::new("debate"), policy, None);
        let conversation = Some(Recorder::open(lines.clone(), &header, &StandardContexts)?);
        Ok(Self { conversation, lines, read: 0, steps, remaining: steps })
    }

    /// Generates the next step, or ends the trace.
    fn advance(&mut self) -> io::Result<()> {
        self.read = 0;
        self.lines.0.borrow_mut().clear();
        if self.remaining == 0 {
            return self.conversation.take().map_or(Ok(()), |conversation| conversation.close().map(drop));
        }
        if let Some(conversation) = &mut self.conversation {
            let input = input(self.steps - self.remaining, conversation);
            let refused = conversation.submit(&input, &StepMetadata::default())?.err();
            assert!(refused.is_none(), "expected an accepted input, found {refused:?}");
            self.remaining -= 1;
        }
        Ok(())
    }
}

impl Read for EndlessDebate {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.conversation.is_some() && self.read == self.lines.0.borrow().len() {
            self.advance()?;
        }
        let lines = self.lines.0.borrow();
        let read = (&lines[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

fn input(step: u64, conversation: &Recorder<Lines>) -> Input {
    let user = UserId::new("ada");
    match (step, conversation.state().control().pending_calls().first()) {
        (0, _) => Input::session_start(user),
        (1, _) => Input::user_message(user, padded_text("move the nightly reports")),
        (_, None) => Input::Step,
        (_, Some(call)) => Input::reply(call.id, report(call.operation, step)),
    }
}

fn report(operation: Operation, step: u64) -> Report {
    match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Classify => {
            Report::Classification { tags: vec![Text::from("operations")], similarity: Score::ZERO }
        }
        Operation::DraftPlan => Report::Plan(plan()),
        // Every debater sends a new text each time, so each step rewrites the recorded debate. The Critic's opposition
        // keeps the consensus below the threshold for another pass.
        operation => {
            let against = matches!(operation.arguing_role(), Some(Role::Critic));
            let stance = if against { Stance::Con } else { Stance::Pro };
            let argument = Argument { stance, confidence: Score::ONE };
            Report::Argument {
                argument,
                text: padded_text(&format!("{step}: one switch for all of the jobs")),
                plan: None,
            }
        }
    }
}

fn plan() -> Plan {
    let task = |id| Task {
        id: TaskId::new(id),
        text: Text::from("Point the report jobs of one region at the new queue"),
        effect: Effect::Undoable { compensation: Text::from("Point them back at the old queue") },
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    Plan::new((1..=3).map(task).collect()).expect("three tasks form a valid plan")
}

fn padded_text(text: &str) -> Text {
    Text::from(text.chars().chain(", as discussed".chars().cycle()).take(ARGUMENT_BYTES).collect::<String>())
}
