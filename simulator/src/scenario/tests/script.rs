//! What a script answers.

use super::{FULL, HEAD, VOICES, parse};
use crate::drive::Reply;
use crate::scenario::Scenario;
use crate::script::{Answer, Asked, Script, ScriptError, Timed};
use crate::yaml::draw;
use orchestrion_kernel::module::{Argument, Ask, Failure, Kind, Rating, Report, Role, Stance, Store};
use orchestrion_kernel::plan::{Effect, EffectKind};
use orchestrion_kernel::{Phase, RequestId, Score, TaskId, Text, UserId};
use std::path::Path;

/// In which situation something is asked.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) request: u32,
    pub(super) pass: u32,
    pub(super) user: &'a str,
    pub(super) says: &'a str,
    pub(super) shown: &'a str,
}

pub(super) const SCENE: Scene<'_> =
    Scene { request: 1, pass: 1, user: "ada", says: "Add encryption", shown: "" };

impl Scene<'_> {
    pub(super) fn ask(self, script: &mut Script, ask: Ask) -> Result<Timed, ScriptError> {
        let Scene { request, pass, user, says, shown } = self;
        let (user, says) = (UserId::new(user), Text::from(says));
        script.answer(&Asked { ask, request: RequestId::new(request), pass, user: &user, says: &says, shown })
    }
}

/// The answers to some questions in a row.
pub(super) fn answers(script: &mut Script, asks: &[Ask]) -> Vec<Answer> {
    asks.iter().map(|ask| SCENE.ask(script, *ask).unwrap().answer).collect()
}

pub(super) fn said(stance: Stance, confidence: u32) -> Answer {
    let argument = Argument { stance, confidence: Score::from_millionths(confidence).unwrap() };
    Answer::Reply(Report::Argument { argument, text: Text::from(""), plan: None }.into())
}

fn exit(code: i32, text: &str) -> Answer {
    Answer::Reply(Report::Exit { code, text: Text::from(text) }.into())
}

#[test]
fn a_full_script_answers_every_question() {
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    let run = |number| Ask::RunTask { task: TaskId::new(number), effect: EffectKind::Pure };
    let undo = |number| Ask::UndoTask { task: TaskId::new(number) };
    let store = |store| Ask::Remember { store, kind: Kind::Outcome };
    let asks = [
        Ask::VerifyIdentity,
        Ask::LoadContext,
        Ask::Classify,
        Ask::DraftPlan,
        Ask::Argue(Role::Analyst),
        Ask::Argue(Role::Solution),
        Ask::Argue(Role::Critic),
        Ask::Argue(Role::Security),
        Ask::Argue(Role::Optimizer),
        Ask::Reread,
        Ask::Diagnose,
        run(1),
        run(2),
        run(3),
        undo(1),
        store(Store::Local),
        store(Store::Cloud),
        Ask::DeliverAudit,
    ];
    for (ask, answer) in asks.into_iter().zip(answers(&mut script, &asks)) {
        if let Answer::Reply(Reply { report, .. }) = answer {
            assert!(report.answers(ask), "{report:?} does not answer {ask:?}");
        }
    }
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    assert_eq!(answers(&mut script, &[run(2), run(2)]), [exit(1, "smtp refused"), exit(0, "sent")]);
    assert_eq!(answers(&mut script, &[run(3), run(3)]), [const { Answer::Fail(Failure::Timeout) }; 2]);
    assert_eq!(answers(&mut script, &[undo(1)]), [exit(0, "dropped")]);
    let [Answer::Reply(Reply { report: Report::Context { ratings, traces }, .. })] =
        &answers(&mut script, &[Ask::LoadContext])[..]
    else {
        panic!("the memory gives a context")
    };
    assert_eq!(ratings.critic, Rating { elo: 1210, successes: 0, matches: 0 });
    assert_eq!(ratings.analyst, Rating::START);
    assert_eq!(traces[0].trace.to_string(), "x/3");
    let [Answer::Reply(Reply { report: Report::Plan(plan), .. })] =
        &answers(&mut script, &[Ask::DraftPlan])[..]
    else {
        panic!("the planner gives a plan")
    };
    let effects: Vec<_> = plan.tasks().iter().map(|task| task.effect.clone()).collect();
    let compensation = Text::from("Drop the key store");
    assert_eq!(effects, [Effect::Undoable { compensation }, Effect::Irreversible, Effect::Pure]);
}

#[test]
fn a_module_that_is_left_out_succeeds() {
    let mut script = parse(HEAD).unwrap().script;
    let task = Ask::RunTask { task: TaskId::FIRST, effect: EffectKind::Pure };
    let asks = [Ask::VerifyIdentity, Ask::Classify, Ask::DraftPlan, task, Ask::Diagnose, Ask::DeliverAudit];
    let plan = orchestrion_kernel::plan::Plan::new(vec![orchestrion_kernel::plan::Task {
        id: TaskId::FIRST,
        text: Text::from("Add encryption"),
        effect: Effect::Pure,
    }]);
    let expected = [
        Report::Identity { gcp: true, mongodb: true },
        Report::Classification { tags: vec![], similarity: Score::ZERO },
        Report::Plan(plan.unwrap()),
        Report::Exit { code: 0, text: Text::from("") },
        Report::NoRepair { text: Text::from("") },
        Report::Delivered,
    ];
    assert_eq!(answers(&mut script, &asks), expected.map(|report| Answer::Reply(report.into())));
}

#[test]
fn one_answer_repeats_and_a_list_is_used_in_order() {
    let text =
        format!("{HEAD}modules:\n{VOICES}  critic:\n    - con: {{confidence: 0.75}}\n    - fail: timeout\n",);
    let mut script = parse(&text).unwrap().script;
    let (analyst, critic) = (Ask::Argue(Role::Analyst), Ask::Argue(Role::Critic));
    assert_eq!(answers(&mut script, &[analyst; 3]), vec![said(Stance::Pro, 900_000); 3]);
    let expected = [said(Stance::Con, 750_000), Answer::Fail(Failure::Timeout)];
    assert_eq!(answers(&mut script, &[critic; 2]), expected);
    let error = SCENE.ask(&mut script, critic).unwrap_err();
    insta::assert_snapshot!(draw(&error), @r#"
     × the critic was asked a 3rd time, its script has 2 answers
      ╭─[case.yaml:8:5]
    7 │   critic:
    8 │     - con: {confidence: 0.75}
      ·     ────────────┬────────────
      ·                 ╰── `critic` has 2 answers
    9 │     - fail: timeout
      ·       ──────┬──────
      ·             ╰── the last one
      ╰────
     help: add a 3rd answer to `modules.critic`, or write one answer without a list: it repeats
    "#);
}

#[test]
fn a_voice_that_is_asked_must_be_scripted() {
    let mut script = parse(&format!("{HEAD}modules:\n{VOICES}")).unwrap().script;
    let error = SCENE.ask(&mut script, Ask::Argue(Role::Optimizer)).unwrap_err();
    insta::assert_snapshot!(draw(&error), @r#"
     × the optimizer was asked, but the scenario does not say what it answers
      ╭─[case.yaml:6:3]
    5 │ modules:
    6 │   analyst: {pro: {confidence: 0.9}}
      ·   ────────────────┬────────────────
      ·                   ╰── no `optimizer` under `modules`
      ╰────
     help: add it under `modules`, as in `optimizer: {pro: {confidence: 0.9}}`
    "#);
}

#[test]
fn a_reread_shares_the_list_of_security_unless_it_has_its_own() {
    let security = "  security:\n    - con: {confidence: 0.5}\n    - pro: {confidence: 0.6}\n";
    let (round, reread) = (Ask::Argue(Role::Security), Ask::Reread);
    let mut script = parse(&format!("{HEAD}modules:\n{security}")).unwrap().script;
    let expected = [said(Stance::Con, 500_000), said(Stance::Pro, 600_000)];
    assert_eq!(answers(&mut script, &[round, reread]), expected);
    let own = "  reread: {con: {confidence: 0.95}}\n";
    let mut script = parse(&format!("{HEAD}modules:\n{security}{own}")).unwrap().script;
    let expected = [said(Stance::Con, 500_000), said(Stance::Con, 950_000)];
    assert_eq!(answers(&mut script, &[round, reread]), expected);
}

#[test]
fn a_script_carries_the_kernel_through_a_request() {
    use orchestrion_kernel::{Event, Input, State, decide};
    let sure = "{pro: {confidence: 0.9}}";
    let voices = ["analyst", "solution", "critic", "security", "optimizer"];
    let voices: String = voices.iter().map(|voice| format!("  {voice}: {sure}\n")).collect();
    let mut scenario = parse(&format!("{HEAD}modules:\n{voices}  local_store: refused\n")).unwrap();
    let mut state = State::new(scenario.conversation.clone());
    let text = scenario.requests[0].says.clone();
    let user = scenario.requests[0].user.clone();
    let mut input = Input::SessionStart { user: user.clone() };
    let mut seen = Vec::new();
    for step in 0..100 {
        let events = decide(&scenario.policy, &state, &input).unwrap();
        events.iter().for_each(|event| state.apply(event));
        seen.extend(events);
        input = match state.control.waiting() {
            None if step == 0 => Input::UserMessage { user: user.clone(), text: text.clone() },
            None if state.control.phase().is_rest() => break,
            None => Input::Step,
            Some(call) => match SCENE.ask(&mut scenario.script, call.ask).unwrap().answer {
                Answer::Reply(reply) => reply.to(call.id),
                Answer::Fail(failure) => Input::CallFailed { call: call.id, failure },
            },
        };
    }
    assert_eq!(state.control.phase(), Phase::Idle);
    assert!(seen.iter().any(|event| matches!(event, Event::ToolCall { ask: Ask::RunTask { .. }, .. })));
    assert!(
        matches!(seen.last(), Some(Event::Moved { .. } | Event::FinalAnswer { .. })),
        "{:?}",
        seen.last()
    );
}
