//! A trace as a scenario: the answers that were recorded, in the order asked.
//!
//! A trace may stop in the middle of a request, as counterexamples do, or without its last line, as that of a killed
//! conversation does; a scenario is played to its end. What is missing is then answered by modules that succeed, and the
//! scenario says so.

use super::answers::Answers;
use super::{PromoteError, Promotion, Target, origin, perform};
use crate::script::{ScriptedReply, default_reply};
use crate::{
    Count, DeadlinesFile, InterruptFile, PhaseName, PhaseVisit, PhaseVisitFile, RequestFile, ScenarioFile,
    Seed, WriteFile, WrittenFile,
};
use orchestrion_kernel::module::{Argument, Operation, Report, Stance};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{Input, Phase, Policy, Score, State, Text, UserId, decide};
use orchestrion_runtime::Reply;
use orchestrion_trace::{Header, Reader, Step, TraceErrorKind};
use orchestrion_yaml::StrictText;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::num::NonZeroU32;

/// The end of a request takes far fewer steps; more would be a kernel that never rests.
const ADDED_STEPS_MAX: u64 = 100_000;

/// Refused steps that are told one by one.
const REFUSED_TOLD_MAX: usize = 5;

/// Promotes a trace. `file` is its path, as errors show it.
///
/// # Errors
/// [`PromoteError`] if the trace cannot be read to where it stops, says something that a scenario cannot, or is not
/// what the scenario made of it plays.
pub fn from_trace<R: BufRead>(
    reader: Reader<R>,
    file: &str,
    target: &Target,
) -> Result<Promotion, PromoteError> {
    let header = reader.header().clone();
    let (steps, open) = whole(reader)?;
    let mut recording = ScenarioBuilder::new(&header, file);
    for step in &steps {
        recording.take(step, step.n == steps.last().map_or(0, |last| last.n))?;
    }
    let Some(user) = recording.user.clone().filter(|_| !recording.requests.is_empty()) else {
        return Err(PromoteError::NoRequest { file: file.to_string() });
    };
    recording.session_was_used()?;
    let added = recording.complete(&header);
    let mut about = format!("Promoted from {}.", origin(file));
    let mut notes = open;
    notes.extend(recording.refused_notes());
    if let Some(added) = added {
        about = format!("{about} {added}");
        notes.push(added);
    }
    let scenario = ScenarioFile {
        about: StrictText::from(about),
        policy: None,
        conversation: Some(header.conversation.as_str())
            .filter(|name| *name != target.name)
            .map(StrictText::from),
        user: StrictText::from(user.as_str()),
        seed: Seed::default(),
        deadlines: DeadlinesFile::default(),
        requests: recording.requests.into(),
        modules: recording.answers.file().into(),
    };
    let policy = named(header.policy, &mut notes);
    let (mut promotion, played) = perform(target, scenario, &policy)?;
    notes.extend(compare(file, &recording.kept, &played)?);
    let stamp = |step: &Step| (step.at_ms, step.note.clone());
    if !recording.kept.iter().zip(&played).all(|(recorded, played)| stamp(recorded) == stamp(played)) {
        notes.push("What the runtime noted beside the inputs, and when they came, is not kept.".to_string());
    }
    promotion.notes = notes;
    Ok(promotion)
}

/// The policy under a name that a policy file may have: that of a built-in one is taken.
fn named(policy: Policy, notes: &mut Vec<String>) -> Policy {
    if Policy::built_in(&policy.name).is_none_or(|built_in| built_in == policy) {
        return policy;
    }
    let name = format!("{} as recorded", policy.name);
    notes.push(format!(
        "The recorded policy is not the {} of this version; it is called `{name}`.",
        policy.name
    ));
    Policy { name, ..policy }
}

/// The steps, as far as they are whole, and in words where they stop if no last line follows.
fn whole<R: BufRead>(reader: Reader<R>) -> Result<(Vec<Step>, Vec<String>), PromoteError> {
    let mut steps = Vec::new();
    for step in reader {
        match step {
            Ok(step) => steps.push(step),
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd | TraceErrorKind::Torn) => {
                let how = match error.kind {
                    TraceErrorKind::Torn => "in the middle of its next line",
                    _ => "and nothing says that this was its end",
                };
                let stops = format!("The recording stops after step {}, {how}.", steps.len());
                return Ok((steps, vec![stops]));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((steps, Vec::new()))
}

/// What was recorded, as far as it was read.
struct ScenarioBuilder<'a> {
    file: &'a str,
    state: State,
    /// Whose session it was first.
    user: Option<UserId>,
    /// Whose session it was last.
    last_user: Option<UserId>,
    /// The step in which the running session started, as long as nobody asked for anything in it.
    unused_session: Option<u64>,
    requests: Vec<RequestFile>,
    answers: Answers,
    /// How often each state was entered in the running request.
    visits: BTreeMap<Phase, u32>,
    /// The steps that the scenario must take too.
    kept: Vec<&'a Step>,
    left_out: Vec<&'a Step>,
    /// The recording ends with a refusal after which nothing comes.
    halted: bool,
}

impl<'a> ScenarioBuilder<'a> {
    fn new(header: &Header, file: &'a str) -> Self {
        Self {
            file,
            state: State::new(header.conversation.clone()),
            user: None,
            last_user: None,
            unused_session: None,
            requests: Vec::new(),
            answers: Answers::default(),
            visits: BTreeMap::new(),
            kept: Vec::new(),
            left_out: Vec::new(),
            halted: false,
        }
    }

    fn take(&mut self, step: &'a Step, is_last: bool) -> Result<(), PromoteError> {
        if step.refused.is_some() {
            // A refusal changes nothing. At the very end, though, it may be why nothing more came.
            self.halted = is_last && self.halts(&step.input);
            if self.halted {
                self.say(step)?;
                self.kept.push(step);
            } else if self.interrupted(&step.input) {
                self.kept.push(step);
            } else {
                self.left_out.push(step);
            }
            return Ok(());
        }
        self.say(step)?;
        step.events.iter().for_each(|event| self.state.apply(event));
        self.kept.push(step);
        if !matches!(step.input, Input::Resume | Input::Write(_)) {
            self.entered();
        }
        Ok(())
    }

    /// Says that the user spoke while the request ran, if a scenario can: before a crash at the same moment.
    fn interrupted(&mut self, input: &Input) -> bool {
        let (Input::UserMessage { user, text }, Some(moment)) = (input, self.moment()) else { return false };
        let own = self.state.control.session() == Some(user);
        let Some(request) = self.requests.last_mut().filter(|_| own) else { return false };
        if request.crash.0.iter().any(|crash| crash.value == moment) {
            return false;
        }
        let PhaseVisitFile { when, visit } = moment;
        request.interrupt.0.push(InterruptFile { when, visit, says: text.clone().into() }.into());
        true
    }

    /// The moment of the running request, as a scenario names it.
    fn moment(&self) -> Option<PhaseVisitFile> {
        let when = self.state.control.phase();
        let visit = self.visits.get(&when).copied().and_then(NonZeroU32::new)?;
        Some(PhaseVisitFile { when: PhaseName(when), visit: Count(visit) })
    }

    /// Whether a refused input is what playing the scenario would come to as well.
    fn halts(&self, input: &Input) -> bool {
        let control = &self.state.control;
        match input {
            Input::Step => !control.phase().is_quiescent() && control.pending_call().is_none(),
            Input::Reply { call, report, .. } => control
                .pending_call()
                .is_some_and(|waiting| waiting.id == *call && report.is_reply_to(waiting.operation)),
            Input::CallFailed { call, .. } => {
                control.pending_call().is_some_and(|waiting| waiting.id == *call)
            }
            Input::Cancel => !control.phase().is_quiescent(),
            Input::UserMessage { user, .. } => {
                matches!(control.phase(), Phase::Done | Phase::Aborted) && control.session() == Some(user)
            }
            Input::SessionStart { .. } | Input::SessionEnd | Input::Write(_) | Input::Resume => false,
        }
    }

    /// Says in the scenario's words what came.
    fn say(&mut self, step: &Step) -> Result<(), PromoteError> {
        let cannot =
            |why, help| PromoteError::Inexpressible { file: self.file.to_string(), n: step.n, why, help };
        match &step.input {
            Input::Step | Input::SessionEnd => {}
            Input::SessionStart { user } => {
                self.session_was_used()?;
                if self.last_user.replace(user.clone()).as_ref() == Some(user) {
                    return Err(cannot(
                        "the same user starts another session, which a scenario does when the user changes",
                        "promote a trace in which each session is of another user than the one before",
                    ));
                }
                self.user.get_or_insert_with(|| user.clone());
                self.unused_session = Some(step.n);
            }
            Input::UserMessage { user, text } => {
                let mut request = RequestFile::new(text.clone().into());
                request.user = Some(user)
                    .filter(|user| self.user.as_ref() != Some(user))
                    .map(|user| user.as_str().into());
                self.requests.push(request);
                self.visits.clear();
                self.unused_session = None;
            }
            Input::Reply { call, report, summary_update, action } => match self.asked(*call) {
                Some(ask) if report.is_reply_to(ask) => {
                    let (summary_update, action) = (summary_update.clone(), action.clone());
                    self.answer(
                        ask,
                        ScriptedReply::Reply(Reply { report: report.clone(), summary_update, action }),
                    );
                }
                _ => return Err(cannot("it answers what nobody asked", EDITED)),
            },
            Input::CallFailed { call, failure } => match self.asked(*call) {
                Some(ask) => self.answer(ask, ScriptedReply::Fail(*failure)),
                None => return Err(cannot("a call fails that nobody made", EDITED)),
            },
            Input::Write(write) => {
                let begins = self.moment().is_some_and(|now| {
                    PhaseVisit { when: now.when.0, visit: now.visit.0.get() } == PhaseVisit::BEGIN
                });
                let (Some(file), Some(request)) =
                    (WriteFile::of(write), self.requests.last_mut().filter(|_| begins))
                else {
                    return Err(cannot(
                        "it writes something by name, and not by keys as a request begins",
                        "a scenario has no words for that; the trace itself can be kept, and replays",
                    ));
                };
                request.write.0.push(WrittenFile::from(file).into());
            }
            Input::Cancel | Input::Resume => {
                let (Some(moment), Some(request)) = (self.moment(), self.requests.last_mut()) else {
                    return Err(cannot(
                        "nobody has asked for anything that could be cancelled or resumed",
                        EDITED,
                    ));
                };
                match step.input {
                    Input::Cancel => request.cancel.0.push(moment.into()),
                    _ => request.crash.0.push(moment.into()),
                }
            }
        }
        Ok(())
    }

    /// A scenario starts a session for a request. One in which nobody asked for anything has no place in it.
    fn session_was_used(&self) -> Result<(), PromoteError> {
        match self.unused_session {
            None => Ok(()),
            Some(n) => Err(PromoteError::Inexpressible {
                file: self.file.to_string(),
                n,
                why: "a session starts in which nobody asks for anything",
                help: "promote a trace without that session",
            }),
        }
    }

    fn asked(&self, call: orchestrion_kernel::CallId) -> Option<Operation> {
        self.state
            .control
            .pending_call()
            .filter(|waiting| waiting.id == call)
            .map(|waiting| waiting.operation)
    }

    fn answer(&mut self, ask: Operation, answer: ScriptedReply) {
        let request = self.requests.last().map_or_else(|| Text::from(""), |request| request.says.text());
        self.answers.push(ask, &request, answer);
    }

    /// Counts the state that control is in as playing counts it: once for each accepted input.
    fn entered(&mut self) {
        let phase = self.state.control.phase();
        if !phase.is_quiescent() {
            let visits = self.visits.entry(phase).or_default();
            *visits = visits.saturating_add(1);
        }
    }

    /// Lets the last request go on to its end, with modules that succeed. Says so if there was anything to add.
    fn complete(&mut self, header: &Header) -> Option<String> {
        if self.halted || self.state.control.phase().is_quiescent() {
            return None;
        }
        let (stopped, phase) = (self.kept.last().map_or(0, |step| step.n), self.state.control.phase());
        let request = self.requests.last().map_or_else(|| Text::from(""), |request| request.says.text());
        let mut added = false;
        for _ in 0..ADDED_STEPS_MAX {
            if self.state.control.phase().is_quiescent() {
                break;
            }
            let (answered, input) = match self.state.control.pending_call() {
                None => (None, Input::Step),
                Some(Call { id, operation: ask }) => {
                    let answer = self.success(ask, &request);
                    let input = match answer.clone() {
                        ScriptedReply::Reply(Reply { report, .. }) => Input::reply(id, report),
                        ScriptedReply::Fail(failure) => Input::CallFailed { call: id, failure },
                    };
                    (Some((ask, answer)), input)
                }
            };
            // As drawn there are dead ends; playing comes to the same one.
            let Ok(events) = decide(&header.policy, &self.state, &input) else { break };
            added = true;
            if let Some((ask, answer)) = answered {
                self.answer(ask, answer);
            }
            events.iter().for_each(|event| self.state.apply(event));
        }
        let on = "the end was added, in which every module succeeds and every voice agrees";
        added.then(|| format!("The recording stops at step {stopped}, in {phase}; {on}."))
    }

    /// What a module that succeeds answers. A repair keeps the plan: its tasks are run again.
    fn success(&self, ask: Operation, request_text: &Text) -> ScriptedReply {
        let nothing = || Text::from("");
        let plan = self.state.control.request().and_then(|request| request.plan.as_ref());
        match (ask, plan) {
            (Operation::Diagnose, Some(revised)) => {
                ScriptedReply::Reply(Report::Repaired { text: nothing(), plan: revised.plan.clone() }.into())
            }
            _ => default_reply(ask, request_text).unwrap_or_else(|| {
                let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
                ScriptedReply::Reply(Report::Argument { argument, text: nothing(), plan: None }.into())
            }),
        }
    }

    fn refused_notes(&self) -> Vec<String> {
        let told = self.left_out.iter().take(REFUSED_TOLD_MAX);
        let mut notes: Vec<String> = told
            .map(|step| {
                let sentence = step.refused.as_deref().unwrap_or_default();
                format!("Step {} was refused, so it is left out: {sentence}.", step.n)
            })
            .collect();
        let more = self.left_out.len().saturating_sub(REFUSED_TOLD_MAX);
        if more > 0 {
            notes.push(format!("{more} more refused steps are left out."));
        }
        notes
    }
}

const EDITED: &str = "no kernel writes such a trace; see what is wrong with: orchestrion replay FILE";

/// Holds what was played against what was recorded. Says where this kernel decides otherwise, if only that.
fn compare(file: &str, kept: &[&Step], played: &[Step]) -> Result<Option<String>, PromoteError> {
    let mut played = played.iter();
    let mut otherwise = None;
    for recorded in kept {
        let step = played.next();
        match step {
            Some(step) if step.input == recorded.input => {
                if step.events != recorded.events || step.refused.is_some() != recorded.refused.is_some() {
                    otherwise.get_or_insert(recorded.n);
                }
            }
            _ => {
                let text = |input: &Input| {
                    serde_json::to_string(input).unwrap_or_else(|_| input.trigger().to_string())
                };
                return Err(PromoteError::Differs {
                    file: file.to_string(),
                    n: recorded.n,
                    recorded: text(&recorded.input),
                    played: step.map_or_else(|| "nothing".to_string(), |step| text(&step.input)),
                });
            }
        }
    }
    Ok(otherwise.map(|n| {
        format!("This kernel decides otherwise than the recording from step {n} on; the golden trace is this kernel's.")
    }))
}
