//! Playing a scenario: its user and its scripted modules drive a conversation to the end.

use crate::conversation::Conversation;
use crate::scenario::{Incident, Moment, RequestScript, Scenario};
use crate::script::{Answer, Asked, Script, ScriptError};
use crate::trace::{Header, ScenarioRef, TraceError, digest};
use miette::Diagnostic;
use orchestrion_kernel::{Input, Phase, Refusal, UserId, present};
use std::collections::BTreeMap;
use std::io;
use thiserror::Error;

/// A scenario that has not ended after so many steps will not.
const STEPS_MAX: u64 = 100_000;

/// What came of a scenario.
#[derive(Debug)]
pub struct Played {
    /// The trace.
    pub trace: Vec<u8>,
    /// Steps taken, refused inputs included.
    pub steps: u64,
    /// Where the conversation stopped for good, if it did: the refusal that says so. Under `as-drawn` many do.
    pub halted: Option<Refusal>,
    /// The incidents and answers of the scenario that never came, as sentences.
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
    /// After a crash, the trace written so far could not be read.
    #[error("the trace cannot be resumed from")]
    Trace(#[from] TraceError),
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

/// Plays a scenario and records its trace.
///
/// # Errors
/// [`PlayError`].
pub fn play(scenario: Scenario) -> Result<Played, PlayError> {
    let reference = ScenarioRef { name: scenario.name.clone(), digest: digest(scenario.text().as_bytes()) };
    let header = Header::new(scenario.conversation.clone(), scenario.policy.clone(), Some(reference));
    let mut player = Player {
        conversation: Conversation::open(Vec::new(), &header)?,
        script: scenario.script,
        name: scenario.name,
        steps: 0,
        incidents: Vec::new(),
    };
    let mut unused = Vec::new();
    let mut halted = None;
    for request in &scenario.requests {
        if halted.is_none() {
            halted = player.session(&request.user)?;
        }
        if halted.is_none() {
            halted = player.request(request)?;
            unused.extend(player.incidents.drain(..).map(never_came));
        }
    }
    // Whatever was to come after a halt could not.
    if halted.is_none() {
        unused.extend(player.script.unused());
    }
    // As drawn, a conversation may have come to its end with its request; there is no session to close then.
    if halted.is_none() && player.conversation.state().control.phase() == Phase::Idle {
        halted = player.submit(Input::SessionEnd)?;
    }
    Ok(Played { trace: player.conversation.close()?, steps: player.steps, halted, unused })
}

fn never_came((Moment { when, visit }, incident): (Moment, Incident)) -> String {
    let what = match incident {
        Incident::Interrupt(_) => "the user was to speak",
        Incident::Crash => "the runtime was to crash",
        Incident::Cancel => "the user was to cancel",
    };
    format!("{what} on visit {visit} of {when}, where the request never came")
}

struct Player {
    conversation: Conversation<Vec<u8>>,
    script: Script,
    name: String,
    steps: u64,
    /// What is still to happen in the running request.
    incidents: Vec<(Moment, Incident)>,
}

impl Player {
    /// Submits an input. A refusal, here, means that nothing leads on.
    fn submit(&mut self, input: Input) -> Result<Option<Refusal>, PlayError> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(PlayError::Endless { name: self.name.clone() });
        }
        Ok(self.conversation.submit(input)?.err())
    }

    /// Starts the session of this user, and ends that of another one.
    fn session(&mut self, user: &UserId) -> Result<Option<Refusal>, PlayError> {
        let halted = match self.conversation.state().control.session() {
            Some(session) if session == user => return Ok(None),
            Some(_) => self.submit(Input::SessionEnd)?,
            None => None,
        };
        match halted {
            Some(refusal) => Ok(Some(refusal)),
            None => self.submit(Input::SessionStart { user: user.clone() }),
        }
    }

    fn request(&mut self, request: &RequestScript) -> Result<Option<Refusal>, PlayError> {
        let user = &request.user;
        let mut visits = BTreeMap::new();
        self.incidents.clone_from(&request.incidents);
        let mut halted =
            self.submit(Input::UserMessage { user: user.clone(), text: request.says.clone() })?;
        while halted.is_none() {
            let phase = self.conversation.state().control.phase();
            if phase.is_rest() {
                return Ok(None);
            }
            // Every input that is accepted here takes one row, so every turn of this loop enters a phase.
            let visit = visits.entry(phase).or_insert(0u32);
            *visit += 1;
            let now = Moment { when: phase, visit: *visit };
            let input = match self.disturbed(now, user)? {
                Some(input) => input,
                None => self.next_input(request)?,
            };
            halted = self.submit(input)?;
        }
        Ok(halted)
    }

    /// Lets happen what is to happen now. Gives the input that takes the place of the next one, if one does.
    fn disturbed(&mut self, now: Moment, user: &UserId) -> Result<Option<Input>, PlayError> {
        let mut instead = None;
        while let Some(next) = self.incidents.iter().position(|(at, _)| *at == now) {
            match self.incidents.remove(next).1 {
                // Refused, and recorded as such; the request goes on.
                Incident::Interrupt(text) => {
                    self.submit(Input::UserMessage { user: user.clone(), text })?;
                }
                Incident::Crash => {
                    self.conversation.crash()?;
                    self.submit(Input::Resume)?;
                }
                Incident::Cancel => instead = Some(Input::Cancel),
            }
        }
        Ok(instead)
    }

    fn next_input(&mut self, script: &RequestScript) -> Result<Input, PlayError> {
        let state = self.conversation.state();
        let (Some(call), Some(request)) = (state.control.waiting(), state.control.request()) else {
            return Ok(Input::Step);
        };
        let asked = Asked {
            ask: call.ask,
            request: request.id,
            pass: request.debate.pass,
            user: &script.user,
            says: &script.says,
            shown: &present(state).text,
        };
        Ok(match self.script.answer(&asked)?.answer {
            Answer::Reply(report) => Input::Reply { call: call.id, report },
            Answer::Fail(failure) => Input::CallFailed { call: call.id, failure },
        })
    }
}
