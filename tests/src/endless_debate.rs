//! A trace of an endless debate, generated while it is read.
//!
//! The state stops growing after the first pass. Memory that still grows is proportional to the length of the trace.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{ConversationId, Input, Policy, Score, TaskId, Text, UserId};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, StepMetadata};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::rc::Rc;

/// The length of each argument in bytes. A recorded line contains it three times and has about 1 KB.
const SAYS_BYTES: usize = 130;

/// A trace with a given number of steps, generated line by line and not stored.
#[derive(Debug)]
pub struct EndlessDebate {
    conversation: Option<Recorder<Lines>>,
    lines: Lines,
    read: usize,
    steps: u64,
    left: u64,
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
    /// # Errors None, since the trace is in memory.
    pub fn new(steps: u64) -> io::Result<Self> {
        let mut policy = Policy::hardened();
        policy.name = "endless-debate".to_string();
        policy.bounds.passes = u32::MAX;
        let lines = Lines::default();
        let header = Header::new(ConversationId::new("debate"), policy, None);
        let conversation = Some(Recorder::open(lines.clone(), &header, &StandardContexts)?);
        Ok(Self { conversation, lines, read: 0, steps, left: steps })
    }

    /// Generates the next step, or ends the trace.
    fn advance(&mut self) -> io::Result<()> {
        self.read = 0;
        self.lines.0.borrow_mut().clear();
        if self.left == 0 {
            return self.conversation.take().map_or(Ok(()), |conversation| conversation.close().map(drop));
        }
        if let Some(conversation) = &mut self.conversation {
            let input = input(self.steps - self.left, conversation);
            let refused = conversation.submit(&input, &StepMetadata::default())?.err();
            debug_assert!(refused.is_none(), "every input is due: {refused:?}");
            self.left -= 1;
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

fn input(taken: u64, conversation: &Recorder<Lines>) -> Input {
    let user = UserId::new("ada");
    match (taken, conversation.state().control().pending_call()) {
        (0, _) => Input::SessionStart { user },
        (1, _) => Input::UserMessage { user, text: said("the nightly reports are to move") },
        (_, None) => Input::Step,
        (_, Some(call)) => Input::reply(call.id, report(call.operation, taken)),
    }
}

fn report(ask: Operation, taken: u64) -> Report {
    match ask {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Classify => {
            Report::Classification { tags: vec![Text::from("operations")], similarity: Score::ZERO }
        }
        Operation::DraftPlan => Report::Plan(plan()),
        // Every debater sends a new text each time, so each step rewrites the recorded debate. The Critic's opposition
        // keeps the consensus below the threshold for another pass.
        ask => {
            let against = matches!(ask.arguing_role(), Some(Role::Critic));
            let stance = if against { Stance::Con } else { Stance::Pro };
            let argument = Argument { stance, confidence: Score::ONE };
            Report::Argument {
                argument,
                text: said(&format!("{taken}: one switch for all of the jobs")),
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
    };
    Plan::new((1..=3).map(task).collect()).expect("three tasks are a plan")
}

fn said(words: &str) -> Text {
    Text::from(words.chars().chain(", as was said".chars().cycle()).take(SAYS_BYTES).collect::<String>())
}
