//! Playing a scenario: its user and its scripted modules drive a conversation to the end.

use crate::conversation::Conversation;
use crate::scenario::{CancelAt, RequestScript, Scenario};
use crate::script::{Answer, Script, ScriptError};
use crate::trace::{Header, ScenarioRef, digest};
use miette::Diagnostic;
use orchestrion_kernel::{Input, Phase, Refusal, Text, UserId};
use std::collections::BTreeMap;
use std::io;
use thiserror::Error;

/// A scenario that has not ended after so many steps will not.
const STEPS_MAX: u64 = 100_000;

/// What came of a scenario.
#[derive(Debug)]
pub struct Played<W> {
    /// What the trace was written to.
    pub trace: W,
    /// Steps taken, refused inputs included.
    pub steps: u64,
    /// Where the conversation stopped for good, if it did: the refusal that says so. Under `as-drawn` many do.
    pub halted: Option<Refusal>,
    /// The cancels of the scenario that never came, as sentences.
    pub unused: Vec<String>,
}

/// Why a scenario could not be played to its end.
#[derive(Debug, Error, Diagnostic)]
pub enum PlayError {
    /// A module was asked for something that its script does not answer.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Script(#[from] ScriptError),
    /// The trace could not be written.
    #[error("the trace cannot be written")]
    Io(#[from] io::Error),
    /// It goes on and on.
    #[error("{name} has not ended after {STEPS_MAX} steps")]
    #[diagnostic(help(
        "an answer given once repeats for ever; give the failing module a list that ends in a success, or bound \
         the repairs in the policy"
    ))]
    Endless {
        /// The scenario.
        name: String,
    },
}

/// Plays a scenario and writes its trace to `out`.
///
/// # Errors
/// [`PlayError`]; what was written until then is a trace cut off between two steps.
pub fn play<W: io::Write>(scenario: Scenario, out: W) -> Result<Played<W>, PlayError> {
    let reference = ScenarioRef { name: scenario.name.clone(), digest: digest(scenario.text().as_bytes()) };
    let header = Header::new(scenario.conversation.clone(), scenario.policy.clone(), Some(reference));
    let mut player = Player {
        conversation: Conversation::open(out, &header)?,
        script: scenario.script,
        name: scenario.name,
        steps: 0,
        cancel: None,
    };
    let mut unused = Vec::new();
    let user = scenario.user;
    let mut halted = player.submit(Input::SessionStart { user: user.clone() })?;
    for request in &scenario.requests {
        if halted.is_none() {
            halted = player.request(&user, request)?;
            unused.extend(player.cancel.take().map(|CancelAt { when, visit }| {
                format!("the user was to cancel on visit {visit} of {when}, where the request never came")
            }));
        }
    }
    // As drawn, a conversation may have come to its end with its request; there is no session to close then.
    if halted.is_none() && player.conversation.state().control.phase() == Phase::Idle {
        halted = player.submit(Input::SessionEnd)?;
    }
    Ok(Played { trace: player.conversation.close()?, steps: player.steps, halted, unused })
}

struct Player<W> {
    conversation: Conversation<W>,
    script: Script,
    name: String,
    steps: u64,
    /// When the user is going to cancel the running request.
    cancel: Option<CancelAt>,
}

impl<W: io::Write> Player<W> {
    /// Submits an input. A refusal, here, means that nothing leads on.
    fn submit(&mut self, input: Input) -> Result<Option<Refusal>, PlayError> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(PlayError::Endless { name: self.name.clone() });
        }
        Ok(self.conversation.submit(input)?.err())
    }

    fn request(&mut self, user: &UserId, request: &RequestScript) -> Result<Option<Refusal>, PlayError> {
        let mut visits = BTreeMap::new();
        self.cancel = request.cancel;
        let mut halted =
            self.submit(Input::UserMessage { user: user.clone(), text: request.says.clone() })?;
        while halted.is_none() {
            let control = &self.conversation.state().control;
            let phase = control.phase();
            if phase.is_rest() {
                return Ok(None);
            }
            // Every accepted input takes one row, so every turn of this loop enters a phase.
            let visit = visits.entry(phase).or_insert(0u32);
            *visit += 1;
            let now = CancelAt { when: phase, visit: *visit };
            let input = match self.cancel.take_if(|cancel| *cancel == now) {
                Some(_) => Input::Cancel,
                None => self.next_input(&request.says)?,
            };
            halted = self.submit(input)?;
        }
        Ok(halted)
    }

    fn next_input(&mut self, request: &Text) -> Result<Input, PlayError> {
        let Some(call) = self.conversation.state().control.waiting() else { return Ok(Input::Step) };
        Ok(match self.script.answer(call.ask, request)? {
            Answer::Reply(report) => Input::Reply { call: call.id, report },
            Answer::Fail(failure) => Input::CallFailed { call: call.id, failure },
        })
    }
}
