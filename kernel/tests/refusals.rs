//! The precedence of refusals. `sequences/refusals.txt` shows their causes and messages.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::item::{FactSource, Rank};
use orchestrion_kernel::knowledge::{NewFact, Write};
use orchestrion_kernel::module::{Argument, Failure, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{
    ConversationId, Input, ItemId, Phase, Policy, Refusal, Score, State, TaskId, Text, Timestamp, UserId,
    decide,
};

fn user(name: &str) -> UserId {
    UserId::new(name)
}

fn message(name: &str) -> Input {
    Input::UserMessage { user: user(name), text: Text::from("please") }
}

fn plan(effect: Effect) -> Plan {
    Plan::new(vec![Task { id: TaskId::new(1), text: Text::from("do it"), effect }]).unwrap()
}

/// Replies to the pending call, or steps.
fn next_input(state: &State, report: Option<Report>) -> Input {
    match (state.control().pending_call(), report) {
        (Some(call), Some(report)) => Input::reply(call.id, report),
        _ => Input::Step,
    }
}

fn submit(policy: &Policy, state: &mut State, input: Input) {
    let events = decide(policy, state, &input).unwrap_or_else(|refusal| panic!("{input:?}: {refusal}"));
    events.iter().for_each(|event| state.apply(event));
}

/// A conversation in which the first task failed and the Critic's diagnosis is pending.
fn diagnosing(policy: &Policy) -> State {
    diagnosing_with(policy, policy)
}

/// As [`diagnosing`]; the last step runs under the policy `last`.
fn diagnosing_with(policy: &Policy, last: &Policy) -> State {
    let mut state = State::new(ConversationId::new("c"));
    submit(policy, &mut state, Input::SessionStart { user: user("ada") });
    submit(policy, &mut state, message("ada"));
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
    while state.control().phase() != Phase::SelfHealingActive {
        let report = if state.control().pending_call().is_some() { reports.next() } else { None };
        let input = next_input(&state, report);
        let in_failure = state.control().phase() == Phase::Failure;
        submit(if in_failure { last } else { policy }, &mut state, input);
    }
    state
}

/// Checks which refusal an input gets.
fn check_first(policy: &Policy, state: &State, input: &Input, is_expected: fn(&Refusal) -> bool) {
    let refusal = decide(policy, state, input).unwrap_err();
    assert!(is_expected(&refusal), "{input:?}: {refusal:?}");
}

/// A policy under which no pinned item fits a context.
fn tiny_budget() -> Policy {
    let mut policy = Policy::hardened();
    policy.contexts.budget_tokens = 1;
    policy.contexts.reserved_tokens = 0;
    policy.compaction.from_items = 2;
    policy
}

/// A conversation in which the summarizer's call is pending; it was made under the policy `last`.
fn compacting(last: &Policy) -> State {
    let policy = Policy { compaction: last.compaction, ..Policy::hardened() };
    let mut state = State::new(ConversationId::new("c"));
    for key in ["a", "b"] {
        let source = FactSource { name: "s".into(), rank: Rank::Employee };
        let fact = NewFact::global(key.into(), "text of a fact".into(), source);
        submit(&policy, &mut state, Input::Write(Box::new(Write::Fact(fact))));
    }
    submit(&policy, &mut state, Input::SessionStart { user: user("ada") });
    submit(&policy, &mut state, message("ada"));
    let identity = Report::Identity { gcp: true, mongodb: true };
    let input = next_input(&state, Some(identity));
    submit(&policy, &mut state, input);
    submit(last, &mut state, Input::Step);
    assert_eq!(state.control().phase(), Phase::Compacting);
    state
}

/// For each pair of refusals that both apply to one input, the one that is declared first is returned.
///
/// Other pairs never apply to the same input in a reachable state:
/// - `NothingToResume` is the only refusal of a resume.
/// - `EffectChanged` needs a plan, `InvalidWrite` of a reply a summary. A report has at most one of them.
/// - `CallNotMade`, `EffectChanged` and `InvalidWrite` need a report of the pending operation, which has a transition, so
///   `UnexpectedInput` does not apply. A write is never an `UnexpectedInput`.
/// - `NoSession` excludes `SessionAlreadyOpen` and `WrongUser`, which need a session. These two concern different inputs.
/// - `UnexpectedInput` of a session input or message needs a running request, and so a session, which excludes `NoSession`;
///   a halted conversation keeps its session.
/// - A reply needs no session, and the other inputs name no call.
#[test]
fn earlier_refusal_takes_precedence() {
    use Refusal::{CallNotMade, InvalidWrite, NoSession, UnexpectedInput, WrongCall, WrongReport};
    let hardened = Policy::hardened();
    let tiny = tiny_budget();
    let mut fresh = State::new(ConversationId::new("c"));

    let working = Write::Working {
        key: "note".into(),
        text: "x".into(),
        expires_at: Some(Timestamp::default()),
        depends_on: vec![],
    };
    let expired = Input::Write(Box::new(working));
    check_first(&hardened, &fresh, &expired, |refusal| matches!(refusal, NoSession));

    submit(&hardened, &mut fresh, Input::SessionStart { user: user("ada") });
    check_first(&hardened, &fresh, &expired, |refusal| matches!(refusal, InvalidWrite(_)));
    submit(&hardened, &mut fresh, message("ada"));
    let busy = fresh;
    for input in [Input::SessionStart { user: user("eve") }, message("eve")] {
        check_first(&hardened, &busy, &input, |refusal| matches!(refusal, UnexpectedInput { .. }));
    }

    let call = busy.control().pending_call().unwrap().id;
    let failed = |call| Input::CallFailed { call, failure: Failure::Error };
    let as_drawn = Policy::as_drawn();
    check_first(&as_drawn, &busy, &failed(call), |refusal| matches!(refusal, UnexpectedInput { .. }));
    check_first(&as_drawn, &busy, &failed(call.next()), |refusal| matches!(refusal, WrongCall { .. }));

    // Reports that are wrong in the phase, change an effect, or forget items outside the cluster.
    let repaired = Report::Repaired { text: "again".into(), plan: plan(Effect::Pure) };
    let summary = Report::Summary { text: "both".into(), forgets: Some(vec![ItemId::new(99)]) };
    let states = [
        (diagnosing(&hardened), &repaired, Report::Plan(plan(Effect::Pure))),
        (diagnosing_with(&hardened, &tiny), &repaired, Report::Plan(plan(Effect::Pure))),
        (
            compacting(&Policy { contexts: hardened.contexts.clone(), ..tiny.clone() }),
            &summary,
            Report::Delivered,
        ),
        (compacting(&tiny), &summary, Report::Delivered),
    ];
    for (state, invalid, wrong) in states {
        let request = state.control().request().unwrap();
        let call = state.control().pending_call().unwrap().id;
        for report in [invalid.clone(), wrong.clone()] {
            let late = Input::reply(call.next(), report);
            check_first(&hardened, &state, &late, |refusal| matches!(refusal, WrongCall { .. }));
        }
        check_first(&hardened, &state, &Input::reply(call, wrong), |refusal| {
            matches!(refusal, WrongReport { .. })
        });
        let input = Input::reply(call, invalid.clone());
        if request.over_budget {
            check_first(&hardened, &state, &input, |refusal| matches!(refusal, CallNotMade { .. }));
        } else {
            check_first(&hardened, &state, &input, |refusal| {
                matches!(refusal, Refusal::EffectChanged { .. } | InvalidWrite(_))
            });
        }
    }
    let foreign_summary = Input::reply(call, summary);
    check_first(&hardened, &busy, &foreign_summary, |refusal| matches!(refusal, WrongReport { .. }));
}
