//! Playing a scenario: its user and its scripted modules drive a conversation to the end.

use crate::script::{self, CallScene, DelayedReply, Script, ScriptError};
use crate::{PhaseVisit, Scenario, ScriptedEvent, ScriptedRequest, ScriptedWrite};
use miette::Diagnostic;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{Input, Phase, Refusal};
use orchestrion_runtime::{
    Call, CallResult, Clock, Conversation, Deadlines, DeadlockError, Host, OpenError, RecoveryResult,
    RuntimeError, StepResult, locked,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, ScenarioRef, digest};
use orchestrion_yaml::{LabeledError, ReadError, Source};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Mutex;
use std::time::Duration;
use thiserror::Error;

/// A scenario that has not ended after so many steps will not.
const STEPS_MAX: u64 = 100_000;

/// What came of a scenario.
#[derive(Debug)]
pub struct ScenarioResult {
    /// The trace.
    pub trace: Vec<u8>,
    /// Steps taken, refused inputs included.
    pub steps: u64,
    /// Where the conversation stopped for good, if it did: the refusal that says so. Under `as-drawn` many do.
    pub halted: Option<Refusal>,
    /// The incidents of the scenario that never came, as sentences.
    pub unused_events: Vec<String>,
    /// Where writes were refused, or taken, and the scenario said otherwise.
    pub unexpected_writes: Vec<ReadError>,
}

/// Why a scenario could not be played to its end.
#[derive(Debug, Error, Diagnostic)]
pub enum ScenarioRunError {
    /// A module was asked for something that its script does not answer.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Script(#[from] ScriptError),
    /// After a crash, what was recorded so far could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The conversation could not go on.
    #[error(transparent)]
    Drive(#[from] RuntimeError),
    /// Nothing in the scenario leads on.
    #[error(transparent)]
    Stuck(#[from] DeadlockError),
    /// It goes on and on.
    #[error("{name} has not ended after {STEPS_MAX} steps")]
    #[diagnostic(help(
        "an answer given once repeats for ever; give the failing module a list that ends in a success, or bound \
         the repairs in the policy"
    ))]
    StepLimit {
        /// The scenario.
        name: String,
    },
}

/// Plays a scenario and records its trace.
///
/// # Errors
/// [`PlayError`].
pub fn run_scenario(scenario: Scenario) -> Result<ScenarioResult, ScenarioRunError> {
    let reference = ScenarioRef { name: scenario.name.clone(), digest: digest(scenario.text().as_bytes()) };
    let header = Header::new(scenario.conversation.clone(), scenario.policy.clone(), Some(reference));
    let band = ScriptedHost {
        clock: Clock::simulated(),
        script: Mutex::new(scenario.script),
        fault: Mutex::default(),
    };
    let Scenario { name, requests, deadlines, source, .. } = scenario;
    let player = ScenarioRunner { band: &band, header: &header, name: &name, source: &source, deadlines };
    band.clock.block_on(player.play(&requests))?
}

fn never_came((PhaseVisit { when, visit }, incident): (PhaseVisit, ScriptedEvent)) -> String {
    let what = match incident {
        ScriptedEvent::Write(_) => "something was to be written",
        ScriptedEvent::Interrupt(_) => "the user was to speak",
        ScriptedEvent::Crash => "the runtime was to crash",
        ScriptedEvent::Cancel => "the user was to cancel",
    };
    format!("{what} on visit {visit} of {when}, where the request never came")
}

/// What there is to say of a write that was refused, or taken, if the scenario says otherwise.
fn unexpected_write_error(source: &Source, written: &ScriptedWrite, turn: &StepResult) -> Option<ReadError> {
    let fault = match (turn, written.refused) {
        (StepResult::Halted(why) | StepResult::Refused(why), false) => LabeledError::new(
            format!("a write was refused: {why}"),
            "mend the write; if the scenario is to show that it is refused, put `refused: true` beside it",
        ),
        (StepResult::Accepted, true) => LabeledError::new(
            "a write was taken; expected that it is refused",
            "remove `refused: true` from it, or write what the kernel refuses",
        ),
        _ => return None,
    };
    Some(ReadError::in_source(source, fault.at(written.write.span(), "this write")))
}

/// The scripted modules, in model time.
struct ScriptedHost {
    clock: Clock,
    script: Mutex<Script>,
    /// What the script does not say, if it was asked for that.
    fault: Mutex<Option<ScriptError>>,
}

impl ScriptedHost {
    /// What the script says, once the time that it takes is over.
    async fn play(&self, call: &Call) -> script::ScriptedReply {
        let asked = CallScene {
            ask: call.operation,
            request: call.trace.request,
            pass: call.pass,
            user: &call.user,
            says: &call.request,
            shown: &call.context.text,
        };
        let scripted = locked(&self.script).answer(&asked);
        match scripted {
            Ok(DelayedReply { answer, after: Duration::ZERO }) => answer,
            Ok(DelayedReply { answer, after }) => {
                self.clock.sleep(after).await;
                answer
            }
            Err(fault) => {
                *locked(&self.fault) = Some(fault);
                script::ScriptedReply::Fail(Failure::Error)
            }
        }
    }
}

impl Host for ScriptedHost {
    async fn execute(&self, call: &Call) -> CallResult {
        match self.play(call).await {
            script::ScriptedReply::Reply(reply) => Ok(reply),
            script::ScriptedReply::Fail(Failure::Timeout) => pending().await,
            script::ScriptedReply::Fail(failure) => Err(failure.into()),
        }
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        match self.play(call).await {
            script::ScriptedReply::Reply(reply) => RecoveryResult::Completed(Ok(reply)),
            script::ScriptedReply::Fail(Failure::OutcomeUnknown) => RecoveryResult::OutcomeUnknown,
            script::ScriptedReply::Fail(failure) => RecoveryResult::Completed(Err(failure.into())),
        }
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.now().as_millis()).unwrap_or(u64::MAX)
    }
}

struct ScenarioRunner<'a> {
    band: &'a ScriptedHost,
    header: &'a Header,
    name: &'a str,
    source: &'a Source,
    deadlines: Deadlines,
}

impl ScenarioRunner<'_> {
    fn open(&self, journal: Vec<u8>) -> Result<Conversation<Vec<u8>>, OpenError> {
        Ok(Conversation::open_with(journal, self.header, &StandardContexts)?
            .with_deadlines(self.deadlines.clone()))
    }

    async fn play(&self, requests: &[ScriptedRequest]) -> Result<ScenarioResult, ScenarioRunError> {
        let mut conversation = self.open(Vec::new())?;
        let (mut unused, mut surprises) = (Vec::new(), Vec::new());
        let mut halted = None;
        for request in requests {
            if halted.is_none() {
                let mut incidents = request.incidents.clone();
                halted = self.request(&mut conversation, request, &mut incidents, &mut surprises).await?;
                unused.extend(incidents.into_iter().map(never_came));
            }
        }
        // Whatever was to come after a halt could not.
        if halted.is_none() {
            unused.extend(locked(&self.band.script).unused());
        }
        // As drawn, a conversation may have come to its end with its request; there is no session to close then.
        if halted.is_none()
            && conversation.state().control.phase() == Phase::Idle
            && let StepResult::Halted(refusal) = conversation.run(self.band)?.submit(&Input::SessionEnd)?
        {
            halted = Some(refusal);
        }
        let steps = conversation.steps();
        Ok(ScenarioResult {
            trace: conversation.finish().await?,
            steps,
            halted,
            unused_events: unused,
            unexpected_writes: surprises,
        })
    }

    /// Plays a request, and gives the refusal with which the conversation stops for good, if it does.
    async fn request(
        &self,
        conversation: &mut Conversation<Vec<u8>>,
        ScriptedRequest { user, says, .. }: &ScriptedRequest,
        incidents: &mut Vec<(PhaseVisit, ScriptedEvent)>,
        surprises: &mut Vec<ReadError>,
    ) -> Result<Option<Refusal>, ScenarioRunError> {
        let mut visits = BTreeMap::new();
        let mut running = conversation.run(self.band)?;
        let mut turn = running.start_request(user, says.clone())?;
        loop {
            let phase = running.state().control.phase();
            match turn {
                StepResult::Halted(refusal) => return Ok(Some(refusal)),
                _ if phase.is_quiescent() => return Ok(None),
                // Whatever is accepted from a host takes one row, and so enters a phase.
                StepResult::Accepted => *visits.entry(phase).or_insert(0u32) += 1,
                StepResult::Refused(_) => {}
            }
            let now = PhaseVisit { when: phase, visit: visits.get(&phase).copied().unwrap_or_default() };
            let mut cancelled = false;
            while let Some(next) = incidents.iter().position(|(at, _)| *at == now) {
                match incidents.remove(next).1 {
                    // Taken or refused, it is recorded; the request goes on.
                    ScriptedEvent::Write(written) => {
                        let turn = running.submit(&Input::Write(Box::new(written.write.value.clone())))?;
                        surprises.extend(unexpected_write_error(self.source, &written, &turn));
                    }
                    // Refused, and recorded as such; the request goes on.
                    ScriptedEvent::Interrupt(text) => {
                        let _refused = running.submit(&Input::UserMessage { user: user.clone(), text })?;
                    }
                    ScriptedEvent::Crash => {
                        drop(running);
                        conversation.commit().await?;
                        *conversation = self.open(conversation.journal().clone())?;
                        running = conversation.run(self.band)?;
                        let _resumed = running.resume()?;
                    }
                    ScriptedEvent::Cancel => cancelled = true,
                }
            }
            turn = if cancelled { running.submit(&Input::Cancel)? } else { running.step().await? };
            if let Some(fault) = locked(&self.band.fault).take() {
                return Err(fault.into());
            }
            if running.steps() > STEPS_MAX {
                return Err(ScenarioRunError::StepLimit { name: self.name.to_owned() });
            }
        }
    }
}
