//! Every kind of refusal: what provokes it, and the sentence it reads as. Nothing changes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::module::{Argument, Failure, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{ConversationId, Input, Policy, Score, State, TaskId, Text, UserId, decide};

fn user(name: &str) -> UserId {
    UserId::new(name)
}

fn message(name: &str) -> Input {
    Input::UserMessage { user: user(name), text: Text::from("please") }
}

fn plan(effect: Effect) -> Plan {
    Plan::new(vec![Task { id: TaskId::new(1), text: Text::from("do it"), effect }]).unwrap()
}

/// Answers the call that is waited for, or steps on.
fn go_on(state: &State, report: Option<Report>) -> Input {
    match (state.control.pending_call(), report) {
        (Some(call), Some(report)) => Input::reply(call.id, report),
        _ => Input::Step,
    }
}

fn take(policy: &Policy, state: &mut State, input: Input) {
    let events = decide(policy, state, &input).unwrap_or_else(|refusal| panic!("{input:?}: {refusal}"));
    events.iter().for_each(|event| state.apply(event));
}

fn check(policy: &Policy, state: &State, input: Input, sentence: &str) {
    let before = state.clone();
    assert_eq!(decide(policy, state, &input).unwrap_err().to_string(), sentence, "{input:?}");
    assert_eq!(*state, before);
}

/// A conversation in which the first task has failed and the Critic is asked.
fn diagnosing(policy: &Policy) -> State {
    let mut state = State::new(ConversationId::new("c"));
    take(policy, &mut state, Input::SessionStart { user: user("ada") });
    take(policy, &mut state, message("ada"));
    let pro = Report::Argument {
        argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
        text: Text::from("yes"),
        plan: None,
    };
    let mut reports = vec![
        Report::Identity { gcp: true, mongodb: true },
        Report::Context { ratings: Ratings::default(), traces: vec![] },
        Report::Classification { tags: vec![], similarity: Score::ZERO },
        Report::Plan(plan(Effect::Irreversible)),
    ];
    reports.extend(std::iter::repeat_n(pro, 5));
    reports.push(Report::Exit { code: 1, text: Text::from("no") });
    let mut reports = reports.into_iter();
    while state.control.phase() != orchestrion_kernel::Phase::SelfHealingActive {
        let report = if state.control.pending_call().is_some() { reports.next() } else { None };
        let input = go_on(&state, report);
        take(policy, &mut state, input);
    }
    state
}

#[test]
fn sessions_are_opened_once_and_by_whoever_speaks() {
    let policy = Policy::hardened();
    let mut state = State::new(ConversationId::new("c"));
    check(&policy, &state, message("ada"), "no session is open; expected a session start first");
    check(&policy, &state, Input::SessionEnd, "no session is open; expected a session start first");
    take(&policy, &mut state, Input::SessionStart { user: user("ada") });
    check(
        &policy,
        &state,
        Input::SessionStart { user: user("eve") },
        "a session of ada is open; expected its end before another starts",
    );
    check(&policy, &state, message("eve"), "eve spoke in a session of ada; expected ada");
    check(
        &policy,
        &state,
        Input::Resume,
        "a resume came while no request runs; expected one only after a crash in the middle of a request",
    );
    check(
        &policy,
        &state,
        Input::Cancel,
        "a cancel came while Idle; expected a user message, or the start or end of a session",
    );
}

#[test]
fn busy_conversation_refuses_unexpected_inputs() {
    let policy = Policy::hardened();
    let mut state = State::new(ConversationId::new("c"));
    take(&policy, &mut state, Input::SessionStart { user: user("ada") });
    take(&policy, &mut state, message("ada"));
    let live = state.control.pending_call().unwrap().id;
    let expected = "expected the identity guard's two locks";
    check(
        &policy,
        &state,
        message("ada"),
        &format!("a user message came while VerifyingIdentity; {expected}"),
    );
    check(
        &policy,
        &state,
        Input::SessionEnd,
        &format!("a session end came while VerifyingIdentity; {expected}"),
    );
    check(&policy, &state, Input::Step, &format!("a step came while VerifyingIdentity; {expected}"));
    check(&policy, &state, Input::reply(live, Report::Delivered), &format!("a receipt came; {expected}"));
    check(
        &policy,
        &state,
        Input::CallFailed { call: live.next(), failure: Failure::Timeout },
        "an answer to call 2 came; expected one to call 1",
    );
    take(&policy, &mut state, Input::reply(live, Report::Identity { gcp: true, mongodb: true }));
    check(
        &policy,
        &state,
        Input::reply(live, Report::Identity { gcp: true, mongodb: true }),
        "an answer to call 1 came; no call is waited for",
    );
}

#[test]
fn as_drawn_a_failing_call_and_a_cancel_have_no_row() {
    let policy = Policy::as_drawn();
    let mut state = State::new(ConversationId::new("c"));
    take(&policy, &mut state, Input::SessionStart { user: user("ada") });
    take(&policy, &mut state, message("ada"));
    let call = state.control.pending_call().unwrap().id;
    let expected = "expected the identity guard's two locks";
    check(
        &policy,
        &state,
        Input::CallFailed { call, failure: Failure::Error },
        &format!("a call failure came while VerifyingIdentity; {expected}"),
    );
    check(&policy, &state, Input::Cancel, &format!("a cancel came while VerifyingIdentity; {expected}"));
    take(&policy, &mut state, Input::reply(call, Report::Identity { gcp: false, mongodb: true }));
    check(
        &policy,
        &state,
        message("ada"),
        "a user message came while Aborted; expected nothing: the conversation has halted here",
    );
}

#[test]
fn a_started_task_keeps_its_kind_of_effect() {
    let policy = Policy::hardened();
    let state = diagnosing(&policy);
    let call = state.control.pending_call().unwrap().id;
    let repaired = |effect| Report::Repaired { text: Text::from("again"), plan: plan(effect) };
    check(
        &policy,
        &state,
        Input::reply(call, repaired(Effect::Pure)),
        "a plan came in which task 1 is pure; it was started as irreversible, expected that",
    );
    assert!(decide(&policy, &state, &Input::reply(call, repaired(Effect::Irreversible))).is_ok());
}

#[test]
fn only_solution_and_the_optimizer_bring_plans() {
    let policy = Policy::hardened();
    let state = diagnosing(&policy);
    let call = state.control.pending_call().unwrap().id;
    let argument = Report::Argument {
        argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
        text: Text::from(""),
        plan: Some(plan(Effect::Pure)),
    };
    check(
        &policy,
        &state,
        Input::reply(call, argument),
        "an argument with a new plan came; expected the Critic's diagnosis",
    );
}
