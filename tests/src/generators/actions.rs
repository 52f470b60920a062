//! Actions: the next event of a walk, in a form that stays meaningful when shrinking removes earlier actions.
//!
//! An action names its control phase. At generation, control is in that phase, and the action is one input. If
//! shrinking removed the actions that led there, default replies lead there first, and the action follows. If they
//! never lead there, the action is void. A failing sequence therefore shrinks to the few relevant actions.

use super::RandomSource;
use super::reports::{default_report, empty_text, random_operation, random_report, text};
use super::situation::{action, update};
use super::writes::{message_scope, open_scopes, superseding_write, write};
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::item::{Scope, Validity};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Failure, Operation, Report};
use orchestrion_kernel::situation::{ActionRecord, SummaryUpdate};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    CallId, Input, Phase, Policy, State, Text, TimedInput, Timestamp, UserId, can_step, decide,
};

/// The name of every generated conversation.
pub(super) const CONVERSATION: &str = "walks";

/// The maximum number of default replies on the path to the phase of an action; beyond it the action is void.
const PATH_MAX: usize = 90;

/// An action in a control phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkAction {
    /// The phase.
    pub phase: Phase,
    /// The kind.
    pub kind: ActionKind,
    /// The time of the input.
    pub time: TimeShift,
}

/// The time of an input, relative to the kernel's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeShift {
    /// The same time.
    Same,
    /// This many milliseconds later.
    Later(u64),
    /// This many milliseconds earlier, but not before 1970.
    Earlier(u64),
}

impl TimeShift {
    const fn apply(self, now: Timestamp) -> Timestamp {
        let now = now.millis();
        Timestamp::from_millis(match self {
            Self::Same => now,
            Self::Later(by) => now.saturating_add(by),
            Self::Earlier(by) => now.saturating_sub(by),
        })
    }
}

/// The kind of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// A module replies.
    Reply(CallSelector, Report),
    /// A module replies, with a summary update and action records.
    ReplyWithExtras(CallSelector, Report, Option<SummaryUpdate>, Option<Box<ActionRecord>>),
    /// A call ends without a reply.
    Fail(CallSelector, Failure),
    /// The runtime requests the next automatic step.
    Step,
    /// The user cancels.
    Cancel,
    /// The runtime resumes after a crash.
    Resume,
    /// The runtime announces an expiry. No item of a walk expires.
    Tick,
    /// A user opens a session.
    Start(UserSelector),
    /// The session ends.
    End,
    /// A user sends a request that runs in a scope.
    Send(UserSelector, Text, Scope),
    /// A host writes a fact or promotes one.
    Write(Box<Write>),
}

/// Selects the call of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSelector {
    /// The pending call at this place, or the last one if fewer are pending. Without a pending call, the latest call.
    Pending(usize),
    /// The call this many numbers before the first pending one.
    Earlier(u64),
    /// A call number this much after the last pending one, which does not exist.
    Later(u64),
}

/// Selects the user of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSelector {
    /// The session user, or `ada` without a session.
    Owner,
    /// Another user.
    Stranger,
}

/// The probabilities of one sequence, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// Arguments in favor of the plan.
    pub pro: u32,
    /// Tasks and compensations that succeed.
    pub success: u32,
    /// Calls that end without a reply.
    pub failure: u32,
    /// Inputs that are mostly unexpected.
    pub unexpected: u32,
    /// Cancellations by the user.
    pub cancel: u32,
    /// Writes and promotions.
    pub write: u32,
    /// Steps that start a task beside the running ones, where one can start.
    pub parallel: u32,
}

impl Bias {
    pub(crate) fn draw(choice: &mut impl RandomSource) -> Self {
        Self {
            pro: choice.one_of(&[60, 80, 95, 100, 30]),
            success: choice.one_of(&[60, 30, 85, 95]),
            failure: choice.one_of(&[1, 0, 2, 6]),
            unexpected: choice.one_of(&[5, 0, 25]),
            cancel: choice.one_of(&[0, 0, 1, 4]),
            write: choice.one_of(&[0, 4, 14]),
            parallel: choice.one_of(&[60, 90, 30, 0]),
        }
    }
}

impl WalkAction {
    /// Generates an action for this state.
    pub(crate) fn draw(choice: &mut impl RandomSource, policy: &Policy, bias: &Bias, state: &State) -> Self {
        let control = state.control();
        let phase = control.phase();
        let open = open_scopes(state);
        let runs_tasks = phase == Phase::RunningTasks;
        // Few walks write while an approver decides on a plan, so such writes are more likely there.
        let factor = match phase {
            Phase::RepairApproval => 10,
            Phase::PlanApproval => 3,
            // An outdated plan matters only before the next task starts.
            Phase::RunningTasks => 4,
            _ => 1,
        };
        let kind = if choice.percent((factor * bias.write).min(85)) {
            let has_plan = control.request().is_some_and(|request| request.plan.is_some());
            let superseding = if has_plan { superseding_write(choice, state) } else { None };
            let superseding = superseding.filter(|_| choice.percent(60));
            ActionKind::Write(Box::new(superseding.unwrap_or_else(|| write(choice))))
        } else if choice.percent(bias.unexpected) {
            unexpected_input(choice, policy, bias, &open)
        } else if !phase.is_quiescent() && choice.percent(bias.cancel) {
            ActionKind::Cancel
        } else if runs_tasks && can_step(policy, state) && choice.percent(bias.parallel) {
            ActionKind::Step
        } else if let Some((place, call)) = random_call(choice, control.pending_calls()) {
            let selector = CallSelector::Pending(place);
            // Few walks reach a run, and fewer an approver, so rare actions are more likely there.
            let factor = match phase {
                Phase::RepairApproval => 16,
                Phase::PlanApproval => 10,
                // A failure beside running tasks, or while the plan may be outdated, is rarer still.
                Phase::RunningTasks if has_superseded(state) => 20,
                Phase::RunningTasks if control.pending_calls().len() > 1 => 8,
                _ if phase.region() == Some(Region::SandboxedExecution) => 3,
                _ => 1,
            };
            if choice.percent((factor * bias.failure).min(60)) {
                // Beside running tasks only an unknown outcome prevents that another one starts.
                let is_unknown = control.pending_calls().len() > 1 && choice.percent(40);
                let failure = if is_unknown { Failure::OutcomeUnknown } else { choice.one_of(&Failure::ALL) };
                ActionKind::Fail(selector, failure)
            } else {
                let report = random_report(choice, policy, bias, &open, call.operation);
                // Few calls run in another scope than that of the request, and only of those the situation takes nothing.
                let extras = match call.operation {
                    Operation::RunTask { .. } | Operation::UndoTask { .. } => [40, 20, 20, 20],
                    _ => [80, 8, 8, 4],
                };
                match choice.weighted(&extras) {
                    0 => ActionKind::Reply(selector, report),
                    1 => ActionKind::ReplyWithExtras(selector, report, Some(update(choice)), None),
                    2 => ActionKind::ReplyWithExtras(selector, report, None, Some(action(choice))),
                    _ => ActionKind::ReplyWithExtras(
                        selector,
                        report,
                        Some(update(choice)),
                        Some(action(choice)),
                    ),
                }
            }
        } else if phase != Phase::Idle {
            ActionKind::Step
        } else if control.session().is_none() {
            ActionKind::Start(if choice.percent(80) { UserSelector::Owner } else { UserSelector::Stranger })
        } else if choice.percent(10) {
            ActionKind::End
        } else {
            ActionKind::Send(UserSelector::Owner, text(choice), message_scope(choice, &open))
        };
        let time = match choice.weighted(&[70, 29, 1]) {
            0 => TimeShift::Same,
            1 => TimeShift::Later(choice.one_of(&[1, 250, 3_600_000])),
            _ => TimeShift::Earlier(1),
        };
        Self { phase, kind, time }
    }

    /// Returns the inputs of the action for a conversation in this state; none if its phase is not reached.
    pub(crate) fn inputs(&self, policy: &Policy, state: &State) -> Vec<TimedInput> {
        let Some((mut inputs, state)) = path_to_phase(policy, state, self.phase) else { return Vec::new() };
        inputs.push(self.input(&state));
        inputs
    }

    /// Returns the input of the action in this state.
    pub(crate) fn input(&self, state: &State) -> TimedInput {
        TimedInput { at: self.time.apply(state.now()), input: self.kind.input(state) }
    }
}

/// Selects a pending call and its place; none if no call is pending.
fn random_call(choice: &mut impl RandomSource, calls: &[Call]) -> Option<(usize, Call)> {
    let calls: Vec<(usize, Call)> = calls.iter().copied().enumerate().collect();
    match calls.as_slice() {
        [] => None,
        [call] => Some(*call),
        calls => Some(choice.one_of(calls)),
    }
}

/// Returns whether a fact was superseded, so that the plan may be outdated.
fn has_superseded(state: &State) -> bool {
    let mut entries = state.semantic().entries();
    entries.any(|entry| matches!(entry.item.validity, Validity::Superseded { .. }))
}

/// Generates an input that is mostly unexpected.
fn unexpected_input(
    choice: &mut impl RandomSource,
    policy: &Policy,
    bias: &Bias,
    open: &[Scope],
) -> ActionKind {
    let user_selector = choice.one_of(&[UserSelector::Owner, UserSelector::Stranger]);
    let call_selector = choice.one_of(&[
        CallSelector::Pending(0),
        CallSelector::Earlier(1),
        CallSelector::Later(1),
        CallSelector::Earlier(7),
        CallSelector::Later(u64::MAX),
    ]);
    match choice.below(11) {
        0 => ActionKind::Start(user_selector),
        1 => ActionKind::End,
        2 => ActionKind::Send(user_selector, text(choice), message_scope(choice, open)),
        3 | 4 => {
            let operation = random_operation(choice);
            ActionKind::Reply(call_selector, random_report(choice, policy, bias, open, operation))
        }
        5 => ActionKind::Fail(call_selector, choice.one_of(&Failure::ALL)),
        6 => ActionKind::Step,
        7 => ActionKind::Cancel,
        8 => ActionKind::Tick,
        _ => ActionKind::Resume,
    }
}

impl ActionKind {
    /// Returns the input of the action in this state.
    pub(crate) fn input(&self, state: &State) -> Input {
        let control = state.control();
        let user = |user_selector| match (user_selector, control.session()) {
            (UserSelector::Owner, Some(user)) => user.clone(),
            (UserSelector::Owner, None) => UserId::new("ada"),
            (UserSelector::Stranger, _) => UserId::new("eve"),
        };
        let calls = control.pending_calls();
        let latest = control.next_call().number().saturating_sub(1);
        let number = |call: Option<&Call>| call.map_or(latest, |call| call.id.number());
        let (first, last) = (number(calls.first()), number(calls.last()));
        let call = |call_selector| {
            CallId::new(match call_selector {
                CallSelector::Pending(place) => number(calls.get(place).or(calls.last())),
                CallSelector::Earlier(by) => first.saturating_sub(by),
                CallSelector::Later(by) => last.saturating_add(by),
            })
        };
        match self {
            Self::Reply(call_selector, report) => Input::reply(call(*call_selector), report.clone()),
            Self::ReplyWithExtras(call_selector, report, summary_update, action) => Input::Reply {
                call: call(*call_selector),
                report: report.clone(),
                summary_update: summary_update.clone(),
                action: action.clone(),
                interaction: None,
            },
            Self::Fail(call_selector, failure) => {
                Input::CallFailed { call: call(*call_selector), failure: *failure }
            }
            Self::Step => Input::Step,
            Self::Cancel => Input::Cancel,
            Self::Resume => Input::Resume,
            Self::Tick => Input::Tick,
            Self::Start(user_selector) => Input::session_start(user(*user_selector)),
            Self::End => Input::SessionEnd,
            Self::Send(user_selector, text, scope) => {
                Input::UserMessage { user: user(*user_selector), text: text.clone(), scope: scope.clone() }
            }
            Self::Write(write) => Input::Write(write.clone()),
        }
    }
}

/// Returns the inputs that lead to a control phase by default replies, and the resulting state.
fn path_to_phase(policy: &Policy, from: &State, to: Phase) -> Option<(Vec<TimedInput>, State)> {
    let (mut inputs, mut state) = (Vec::new(), from.clone());
    while state.control().phase() != to {
        let control = state.control();
        let plan = control.request().and_then(|request| request.plan.as_ref()).map(|revised| &revised.plan);
        let input = match (control.pending_calls().first(), control.phase(), control.session()) {
            (Some(call), ..) => Input::reply(call.id, default_report(call.operation, plan)),
            (None, Phase::Idle, None) => Input::session_start(UserId::new("ada")),
            (None, Phase::Idle, Some(user)) => Input::user_message(user.clone(), empty_text()),
            (None, ..) => Input::Step,
        };
        let at = state.now();
        let events = decide(policy, &state, at, &input).ok()?;
        events.iter().for_each(|event| state.apply(event));
        inputs.push(TimedInput { at, input });
        if inputs.len() > PATH_MAX {
            return None;
        }
    }
    Some((inputs, state))
}
