//! The promises of `decide` and `apply` themselves, tried out state by state and step by step.

use crate::coverage::Mark;
use crate::explore::fingerprint;
use crate::subject::Subject;
use orchestrion_kernel::claims::{CLAIMS, Check, Contract};
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::{Ask, Failure, Report};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{CallId, Event, Events, Input, Phase, Refusal, State, UserId, decide};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

/// Tries inputs of every kind, most of them out of place, and tells which contracts are broken and which refusals came.
pub fn try_state(subject: &Subject, state: &State, mut seen: impl FnMut(Mark)) {
    // A refusal gives no events; folding none of them is what a runtime does with it.
    let mut is_untouched = None;
    for probe in probes(state) {
        let answer = subject.decide(state, &probe.input);
        if !is_total(subject, state, &probe.input, &answer) {
            seen(broken(Contract::Total));
        }
        if !probe.due.fits(&answer) {
            seen(broken(Contract::RefusesWhatDoesNotFit));
        }
        let Err(refusal) = answer else { continue };
        seen(Mark::of_refusal(&refusal));
        let is_untouched = *is_untouched.get_or_insert_with(|| subject.apply(state, &[]) == *state);
        if !is_untouched || !says_something(&refusal) {
            seen(broken(Contract::RefusalChangesNothing));
        }
    }
}

/// An input that this state refuses in this way, if one of those that are tried is.
#[must_use]
pub fn refused_so(subject: &Subject, state: &State, refusal: Mark) -> Option<Input> {
    let is_refused_so = |probe: &Probe| {
        let answer = subject.decide(state, &probe.input);
        answer.is_err_and(|found| Mark::of_refusal(&found) == refusal)
    };
    probes(state).into_iter().find(is_refused_so).map(|probe| probe.input)
}

/// Holds the contracts that speak of steps against one of the kernel as it is: so what is explored is what `decide` does,
/// and does again.
pub fn try_step(
    subject: &Subject,
    before: &State,
    input: &Input,
    events: &Events,
    encoded: &Encoded,
    mut seen: impl FnMut(Mark),
) {
    if decide(&subject.policy, before, input).as_ref() != Ok(events) {
        seen(broken(Contract::Deterministic));
    }
    // Equal events fold to equal states, for `apply` reads nothing else.
    if !events.iter().all(|event| encoded.comes_back(event)) {
        seen(broken(Contract::FoldsFromLog));
    }
}

/// The events that came back from their encoding as they were: 64-bit digests, each in the one place where it may stand. Most
/// steps say what others said before, and encoding it again would show nothing.
#[derive(Debug)]
pub struct Encoded(Box<[AtomicU64]>);

impl Default for Encoded {
    fn default() -> Self {
        Self((0..1 << 14).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Encoded {
    /// Whether an event comes back from its encoding, or did before.
    fn comes_back(&self, event: &Event) -> bool {
        let digest = fingerprint(event);
        let place = &self.0[digest as usize % self.0.len()];
        if place.load(Ordering::Relaxed) == digest {
            return true;
        }
        let text = serde_json::to_vec(event);
        let decoded = text.and_then(|text| serde_json::from_slice::<Event>(&text));
        let comes_back = decoded.is_ok_and(|decoded| decoded == *event);
        if comes_back {
            place.store(digest, Ordering::Relaxed);
        }
        comes_back
    }
}

/// Holds against a refusal that a fitting answer is taken.
pub fn try_refusal(input: &Input, refusal: &Refusal, mut seen: impl FnMut(Mark)) {
    seen(Mark::of_refusal(refusal));
    if let (Input::Reply { .. }, Refusal::NotExpected { .. }) = (input, refusal) {
        seen(broken(Contract::TakesWhatFits));
    }
}

fn broken(contract: Contract) -> Mark {
    let states = |check: &Check| matches!(check, Check::Contract(stated) if *stated == contract);
    Mark::Broken(CLAIMS.iter().position(|claim| states(&claim.check)).unwrap_or_default())
}

/// Whether there is a sentence; all of it need not be written for that.
fn says_something(refusal: &Refusal) -> bool {
    struct First;
    impl fmt::Write for First {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if text.is_empty() { Ok(()) } else { Err(fmt::Error) }
        }
    }
    write!(First, "{refusal}").is_err()
}

/// Along one row that fits, nowhere for a resume or a write, or refused.
fn is_total(subject: &Subject, state: &State, input: &Input, answer: &Result<Events, Refusal>) -> bool {
    let Ok(events) = answer else { return true };
    let rows: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Moved { row } = event { Some(row) } else { None })
        .collect();
    match rows.as_slice() {
        [] => match input {
            Input::Resume => events == &[Event::Resumed],
            Input::Write(_) => events.iter().all(|event| event.base().is_some()),
            _ => false,
        },
        [row] => row.row().fits(&subject.policy, state.control.phase(), input.trigger()),
        _ => false,
    }
}

/// An input, and how it is to be met.
struct Probe {
    input: Input,
    due: Due,
}

/// How an input is to be met.
#[derive(Clone, Copy)]
enum Due {
    Anyhow,
    WrongCall,
    WrongReport,
    WrongUser,
    EffectChanged,
}

impl Due {
    const fn fits(self, answer: &Result<Events, Refusal>) -> bool {
        match self {
            Self::Anyhow => true,
            Self::WrongCall => matches!(answer, Err(Refusal::WrongCall { .. })),
            Self::WrongReport => matches!(answer, Err(Refusal::WrongReport { .. })),
            Self::WrongUser => matches!(answer, Err(Refusal::WrongUser { .. })),
            Self::EffectChanged => matches!(answer, Err(Refusal::EffectChanged { .. })),
        }
    }
}

fn signal() -> Write {
    Write::Environment { key: Text::from("?"), text: Text::from("?"), supersedes: None }
}

/// At least one input of every kind, most of them out of place.
fn probes(state: &State) -> Vec<Probe> {
    let control = &state.control;
    let (live, ask) = control.waiting().map_or((CallId::FIRST, None), |call| (call.id, Some(call.ask)));
    let other = live.next();
    let stranger = || UserId::new("stranger");
    let message = |user| Input::UserMessage { user, text: Text::from("?") };
    let open = control.phase() == Phase::Idle && control.session().is_some();
    let receipt_fits = ask.is_none_or(|ask| matches!(ask, Ask::DeliverAudit));
    let locks = Report::Identity { gcp: true, mongodb: true };
    let mut probes: Vec<Probe> = [
        (Input::Step, Due::Anyhow),
        (Input::Cancel, Due::Anyhow),
        (Input::Resume, Due::Anyhow),
        (Input::Write(Box::new(signal())), Due::Anyhow),
        (Input::SessionEnd, Due::Anyhow),
        (Input::SessionStart { user: stranger() }, Due::Anyhow),
        (message(stranger()), if open { Due::WrongUser } else { Due::Anyhow }),
        (Input::reply(other, Report::Delivered), Due::WrongCall),
        (Input::reply(live, Report::Delivered), if receipt_fits { Due::Anyhow } else { Due::WrongReport }),
        (Input::reply(live, locks), Due::Anyhow),
        (Input::CallFailed { call: other, failure: Failure::Error }, Due::WrongCall),
        (Input::CallFailed { call: live, failure: Failure::Timeout }, Due::Anyhow),
    ]
    .into_iter()
    .map(|(input, due)| Probe { input, due })
    .collect();
    probes.extend(control.session().map(|user| Probe { input: message(user.clone()), due: Due::Anyhow }));
    if let (Some(Ask::Diagnose), Some(plan)) = (ask, other_effects(state)) {
        let report = Report::Repaired { text: Text::from("?"), plan };
        probes.push(Probe { input: Input::reply(live, report), due: Due::EffectChanged });
    }
    probes
}

/// The plan with another kind of effect for every task, if any of them was started.
fn other_effects(state: &State) -> Option<Plan> {
    let request = state.control.request()?;
    let started = |task: &Task| request.ledger.iter().any(|started| started.task == task.id);
    let plan = &request.plan.as_ref()?.plan;
    let other = |effect: &Effect| match effect {
        Effect::Pure => Effect::Irreversible,
        Effect::Undoable { .. } | Effect::Irreversible => Effect::Pure,
    };
    let tasks = plan.tasks().iter().map(|task| Task { effect: other(&task.effect), ..task.clone() });
    plan.tasks().iter().any(started).then(|| Plan::new(tasks.collect()).ok()).flatten()
}
