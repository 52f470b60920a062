//! Builds the requests and modules of a scenario from the steps of a trace.

mod network;

use super::PromoteError;
use super::recorded_network::RecordedNetwork;
use super::recorded_replies::RecordedReplies;
use super::task_delays::TaskDelays;
use crate::script::{DelayedReply, ScriptedReply};
use crate::writes::IdentityFile;
use crate::{
    Count, InterruptFile, ModulesFile, PhaseName, PhaseVisit, PhaseVisitFile, RequestFile, ScriptedWriteFile,
    WriteFile,
};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Argument, Operation, Report, Stance};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Input, Phase, Score, Text, UserId, decide};
use orchestrion_network::NetworkFile;
use orchestrion_runtime::Reply;
use orchestrion_trace::{ConversationFold, Header, Step};
use std::num::NonZeroU32;

/// The maximum number of steps that complete a request; a request needs far fewer.
const COMPLETION_STEPS_MAX: u64 = 100_000;

/// The maximum number of notes about refused steps.
const REFUSAL_NOTES_MAX: usize = 5;

const INVALID_TRACE: &str = "no kernel writes such a trace; find the error with: orchestrion replay FILE";

/// The content of a trace that a scenario expresses.
pub(super) struct RecordedScenario<'a> {
    /// The user of the first session.
    pub(super) user: UserId,
    pub(super) requests: Vec<RequestFile>,
    pub(super) modules: ModulesFile,
    pub(super) network: Option<NetworkFile>,
    /// The steps that the run of the scenario must repeat.
    pub(super) steps: Vec<&'a Step>,
    /// A sentence for each omitted step.
    pub(super) refusal_notes: Vec<String>,
}

/// Reads the steps of a trace into a scenario.
pub(super) struct ScenarioBuilder<'a> {
    file: &'a str,
    fold: ConversationFold,
    first_user: Option<UserId>,
    last_user: Option<UserId>,
    /// The identity of the open session, until it has a request.
    session_identity: Option<IdentityFile>,
    /// The step that started the open session, until it has a request.
    unused_session: Option<u64>,
    requests: Vec<RequestFile>,
    replies: RecordedReplies,
    network: RecordedNetwork,
    delays: TaskDelays,
    kept: Vec<&'a Step>,
    omitted: Vec<&'a Step>,
    /// Whether the trace ends with a refusal at which the conversation halts.
    halted: bool,
}

impl<'a> ScenarioBuilder<'a> {
    pub(super) fn new(header: &Header, file: &'a str) -> Self {
        Self {
            file,
            fold: ConversationFold::new(header.conversation.clone()),
            first_user: None,
            last_user: None,
            session_identity: None,
            unused_session: None,
            requests: Vec::new(),
            replies: RecordedReplies::new(header.policy.additional_debaters.clone()),
            network: RecordedNetwork::default(),
            delays: TaskDelays::default(),
            kept: Vec::new(),
            omitted: Vec::new(),
            halted: false,
        }
    }

    /// Adds the next step.
    ///
    /// # Errors
    /// [`PromoteError::Inexpressible`] for a step that a scenario cannot express.
    pub(super) fn add_step(&mut self, step: &'a Step, is_last: bool) -> Result<(), PromoteError> {
        if step.refused.is_some() {
            // A refusal changes no state, but the last one may be the halt of the conversation.
            self.halted = is_last && self.is_halt(&step.input);
            if self.halted {
                self.add_input(step)?;
                self.kept.push(step);
            } else if self.add_interrupt(&step.input) {
                self.kept.push(step);
            } else {
                self.omitted.push(step);
            }
            return Ok(());
        }
        self.add_input(step)?;
        self.fold.apply(step.n, &step.events);
        self.delays.observe(self.fold.state().control(), &step.input);
        self.kept.push(step);
        Ok(())
    }

    /// Completes the last request with modules that succeed. Returns a note if steps were added.
    ///
    /// # Errors
    /// [`PromoteError`] if there is no request to complete.
    pub(super) fn complete(&mut self, header: &Header) -> Result<Option<String>, PromoteError> {
        if self.requests.is_empty() {
            return Err(PromoteError::NoRequest { file: self.file.to_string() });
        }
        self.ensure_session_has_request()?;
        if self.halted || self.fold.state().control().phase().is_quiescent() {
            return Ok(None);
        }
        let (last, phase) = (self.kept.last().map_or(0, |step| step.n), self.fold.state().control().phase());
        let mut is_extended = false;
        for n in 1..=COMPLETION_STEPS_MAX {
            if self.fold.state().control().phase().is_quiescent() {
                break;
            }
            let (replied, input) = match self.fold.state().control().pending_calls().first().copied() {
                None => (None, Input::Step),
                Some(Call { id, operation, .. }) => match self.expected_handoff(id) {
                    Some(handoff) => (None, handoff),
                    None => {
                        let reply = self.success(operation);
                        let input = match reply.clone() {
                            ScriptedReply::Reply(Reply { report, .. }) => Input::reply(id, report),
                            ScriptedReply::Fail(failure) => Input::CallFailed { call: id, failure },
                        };
                        (Some((id, operation, reply)), input)
                    }
                },
            };
            // A dead end under `as-drawn`; the run of the scenario halts there, too.
            let Ok(events) = decide(&header.policy, self.fold.state(), self.fold.state().now(), &input)
            else {
                break;
            };
            is_extended = true;
            if let Some((id, operation, reply)) = replied {
                self.push_reply(id, operation, reply);
            }
            self.fold.apply(last + n, &events);
            self.delays.observe(self.fold.state().control(), &input);
        }
        Ok(is_extended.then(|| {
            format!(
                "The recording stops at step {last}, in {phase}; in the added steps every module succeeds and \
                 every role agrees."
            )
        }))
    }

    /// Returns the scenario.
    ///
    /// # Errors
    /// [`PromoteError::NoRequest`].
    pub(super) fn finish(self) -> Result<RecordedScenario<'a>, PromoteError> {
        let refusal_notes = self.refusal_notes();
        let file = self.file.to_string();
        let Some(user) = self.first_user else {
            return Err(PromoteError::NoRequest { file });
        };
        let mut requests = self.requests;
        let network = self.network.to_file(&mut requests);
        let network = network.map_err(|(n, why, help)| PromoteError::Inexpressible { file, n, why, help })?;
        Ok(RecordedScenario {
            user,
            requests,
            network,
            modules: self.replies.to_file(),
            steps: self.kept,
            refusal_notes,
        })
    }

    /// Adds a refused user message as an interrupt. Returns whether a scenario can express it: not after a crash in the same
    /// phase visit.
    fn add_interrupt(&mut self, input: &Input) -> bool {
        let (Input::UserMessage { user, text, scope: Scope::Global }, Some(now)) =
            (input, self.phase_visit())
        else {
            return false;
        };
        let is_session_user = self.fold.state().control().session() == Some(user);
        let Some(request) = self.requests.last_mut().filter(|_| is_session_user) else { return false };
        if request.crash.0.iter().any(|crash| crash.value == now) {
            return false;
        }
        let PhaseVisitFile { phase, visit } = now;
        request.interrupt.0.push(InterruptFile { phase, visit, text: text.clone().into() }.into());
        true
    }

    /// Returns the current point of the request.
    fn phase_visit(&self) -> Option<PhaseVisitFile> {
        let phase = self.fold.state().control().phase();
        let visit = NonZeroU32::new(self.fold.facts()?.visits(phase))?;
        Some(PhaseVisitFile { phase: PhaseName(phase), visit: Count(visit) })
    }

    /// Checks whether the run of a scenario would submit this refused input, too, and halt.
    fn is_halt(&self, input: &Input) -> bool {
        let control = self.fold.state().control();
        match input {
            Input::Step => !control.phase().is_quiescent() && control.pending_calls().is_empty(),
            Input::Reply { call, report, .. } => {
                control.pending_call(*call).is_some_and(|pending| report.is_reply_to(pending.operation))
            }
            Input::CallFailed { call, .. } => control.pending_call(*call).is_some(),
            Input::Cancel => !control.phase().is_quiescent(),
            Input::UserMessage { user, .. } => {
                matches!(control.phase(), Phase::Done | Phase::Aborted) && control.session() == Some(user)
            }
            Input::SessionStart { .. }
            | Input::SessionEnd
            | Input::Write(_)
            | Input::Network(_)
            | Input::Tick
            | Input::Resume => false,
        }
    }

    fn add_input(&mut self, step: &Step) -> Result<(), PromoteError> {
        let inexpressible =
            |why, help| PromoteError::Inexpressible { file: self.file.to_string(), n: step.n, why, help };
        match &step.input {
            Input::Step | Input::SessionEnd => {}
            Input::SessionStart { user, identity } => {
                self.ensure_session_has_request()?;
                if self.last_user.replace(user.clone()).as_ref() == Some(user) {
                    return Err(inexpressible(
                        "two consecutive sessions of the same user",
                        "promote a trace in which consecutive sessions have different users",
                    ));
                }
                self.session_identity = identity.as_deref().map(IdentityFile::from_kernel);
                self.first_user.get_or_insert_with(|| user.clone());
                self.unused_session = Some(step.n);
            }
            Input::UserMessage { user, text, scope } => {
                let mut request = RequestFile::new(text.clone().into());
                request.scope = scope.clone();
                request.user = Some(user)
                    .filter(|user| self.first_user.as_ref() != Some(user))
                    .map(|user| user.as_str().into());
                request.identity = self.session_identity.take();
                self.requests.push(request);
                self.unused_session = None;
            }
            Input::Reply { call, report, summary_update, action, interaction } => {
                match self.pending_operation(*call) {
                    Some(operation) if report.is_reply_to(operation) => {
                        let (summary_update, action) = (summary_update.clone(), action.clone());
                        let interaction = interaction.clone();
                        let reply = Reply { report: report.clone(), summary_update, action, interaction };
                        self.push_reply(*call, operation, ScriptedReply::Reply(reply));
                    }
                    _ => return Err(inexpressible("a reply without a pending call", INVALID_TRACE)),
                }
            }
            Input::CallFailed { call, failure } => match self.pending_operation(*call) {
                Some(operation) => self.push_reply(*call, operation, ScriptedReply::Fail(*failure)),
                None => return Err(inexpressible("a failure without a pending call", INVALID_TRACE)),
            },
            Input::Write(write) => {
                // Between two requests a scenario has no point for it.
                let now = self.phase_visit().filter(|now| !now.phase.0.is_quiescent());
                let (Some(file), Some(now), Some(request)) =
                    (WriteFile::from_kernel(write), now, self.requests.last_mut())
                else {
                    return Err(inexpressible(
                        "a write by item id, or outside of a request",
                        "keep the trace itself; it can be replayed",
                    ));
                };
                request.write.0.push(ScriptedWriteFile { at: place(now), ..file.into() }.into());
            }
            Input::Network(input) => self.add_network_input(step, input)?,
            Input::Tick => {
                return Err(inexpressible(
                    "a tick: time passes in a scenario only by delays",
                    "keep the trace itself; it can be replayed",
                ));
            }
            Input::Cancel | Input::Resume => {
                let (Some(now), Some(request)) = (self.phase_visit(), self.requests.last_mut()) else {
                    return Err(inexpressible("a cancel or resume without a request", INVALID_TRACE));
                };
                match step.input {
                    Input::Cancel => request.cancel.0.push(now.into()),
                    _ => request.crash.0.push(now.into()),
                }
            }
        }
        Ok(())
    }

    /// Checks that the open session has a request, since a scenario starts a session only for a request.
    fn ensure_session_has_request(&self) -> Result<(), PromoteError> {
        match self.unused_session {
            None => Ok(()),
            Some(n) => Err(PromoteError::Inexpressible {
                file: self.file.to_string(),
                n,
                why: "a session without a request",
                help: "promote a trace without this session",
            }),
        }
    }

    fn pending_operation(&self, call: CallId) -> Option<Operation> {
        self.fold.state().control().pending_call(call).map(|pending| pending.operation)
    }

    /// Adds the reply to a call of the running request.
    fn push_reply(&mut self, call: CallId, operation: Operation, reply: ScriptedReply) {
        if let Some(request) = self.fold.facts() {
            let after = self.delays.delay(self.fold.state().control(), call);
            self.replies.push(operation, request, DelayedReply { reply, after });
        }
    }

    /// Returns the reply of a module that succeeds. A repair repeats the plan.
    fn success(&self, operation: Operation) -> ScriptedReply {
        let nothing = || Text::from("");
        let plan = self.fold.state().control().request().and_then(|request| request.plan.as_ref());
        match (operation, plan) {
            (Operation::Diagnose, Some(revision)) => {
                let plan = revision.plan.clone();
                ScriptedReply::Reply(Report::Repaired { text: nothing(), plan }.into())
            }
            _ => {
                let default =
                    self.fold.facts().and_then(|request| self.replies.default_reply(operation, request));
                default.unwrap_or_else(|| {
                    let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
                    ScriptedReply::Reply(Report::Argument { argument, text: nothing(), plan: None }.into())
                })
            }
        }
    }

    fn refusal_notes(&self) -> Vec<String> {
        let noted = self.omitted.iter().take(REFUSAL_NOTES_MAX);
        let mut notes: Vec<String> = noted
            .map(|step| {
                let refusal = step.refused.as_deref().unwrap_or_default();
                format!("Step {} is omitted, because the kernel refused it: {refusal}.", step.n)
            })
            .collect();
        let more = self.omitted.len().saturating_sub(REFUSAL_NOTES_MAX);
        if more > 0 {
            notes.push(format!("{more} more refused steps are omitted."));
        }
        notes
    }
}

/// Returns the place of an event; `None` for the start of the request.
fn place(now: PhaseVisitFile) -> Option<PhaseVisitFile> {
    let visit = PhaseVisit { phase: now.phase.0, visit: now.visit.0.get() };
    Some(now).filter(|_| visit != PhaseVisit::START)
}
