//! Tests of scripts.

use super::{FULL, HEAD, VOICES, parse};
use crate::Scenario;
use crate::script::{CallScene, DelayedReply, Script, ScriptError, ScriptedReply};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Failure, Operation, Rating, Report, Role, Stance, Store,
};
use orchestrion_kernel::plan::{Effect, EffectKind, StepOptions};
use orchestrion_kernel::{Phase, RequestId, Score, TaskId, Text, UserId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::render_error;
use std::path::Path;

/// A call and its context.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) request: u32,
    pub(super) pass: u32,
    pub(super) user: &'a str,
    pub(super) text: &'a str,
    pub(super) context: &'a str,
}

pub(super) const SCENE: Scene<'_> =
    Scene { request: 1, pass: 1, user: "ada", text: "Add encryption", context: "" };

impl Scene<'_> {
    pub(super) fn call(self, script: &mut Script, operation: Operation) -> Result<DelayedReply, ScriptError> {
        let Scene { request, pass, user, text, context } = self;
        let (user, text) = (UserId::new(user), Text::from(text));
        script.reply(&CallScene {
            operation,
            request: RequestId::new(request),
            pass,
            user: &user,
            text: &text,
            node: None,
            context,
        })
    }
}

/// Returns the replies to consecutive calls.
pub(super) fn replies(script: &mut Script, operations: &[Operation]) -> Vec<ScriptedReply> {
    operations.iter().map(|operation| SCENE.call(script, *operation).unwrap().reply).collect()
}

pub(super) fn argument(stance: Stance, confidence: u32) -> ScriptedReply {
    let argument = Argument { stance, confidence: Score::from_millionths(confidence).unwrap() };
    ScriptedReply::Reply(Report::Argument { argument, text: Text::from(""), plan: None }.into())
}

fn exit(code: i32, text: &str) -> ScriptedReply {
    ScriptedReply::Reply(Report::Exit { code, text: Text::from(text), number: None }.into())
}

#[test]
fn full_script_replies_to_every_operation() {
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    let run = |number| Operation::RunTask { task: TaskId::new(number), effect: EffectKind::Pure };
    let undo = |number| Operation::UndoTask { task: TaskId::new(number) };
    let store = |store| Operation::StoreMemory { store, kind: ConclusionKind::Outcome };
    let operations = [
        Operation::VerifyIdentity,
        Operation::LoadContext,
        Operation::Classify,
        Operation::DraftPlan,
        Operation::Argue(Role::Analyst),
        Operation::Argue(Role::Solution),
        Operation::Argue(Role::Critic),
        Operation::Argue(Role::Security),
        Operation::Argue(Role::Optimizer),
        Operation::ReviewRevision,
        Operation::Diagnose,
        run(1),
        run(2),
        run(3),
        undo(1),
        store(Store::Local),
        store(Store::Cloud),
        Operation::DeliverAudit,
    ];
    for (operation, reply) in operations.into_iter().zip(replies(&mut script, &operations)) {
        if let ScriptedReply::Reply(Reply { report, .. }) = reply {
            assert!(report.is_reply_to(operation), "{report:?} does not match {operation:?}");
        }
    }
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    assert_eq!(replies(&mut script, &[run(2), run(2)]), [exit(1, "smtp refused"), exit(0, "sent")]);
    assert_eq!(replies(&mut script, &[run(3), run(3)]), [const { ScriptedReply::Fail(Failure::Timeout) }; 2]);
    assert_eq!(replies(&mut script, &[undo(1)]), [exit(0, "dropped")]);
    let [ScriptedReply::Reply(Reply { report: Report::Context { ratings, traces }, .. })] =
        &replies(&mut script, &[Operation::LoadContext])[..]
    else {
        panic!("the memory gives a context")
    };
    assert_eq!(ratings.critic, Rating { elo: 1210, successes: 0, matches: 0 });
    assert_eq!(ratings.analyst, Rating::START);
    assert_eq!(traces[0].trace.to_string(), "x/3");
    let [ScriptedReply::Reply(Reply { report: Report::Plan(plan), .. })] =
        &replies(&mut script, &[Operation::DraftPlan])[..]
    else {
        panic!("the planner gives a plan")
    };
    let effects: Vec<_> = plan.tasks().iter().map(|task| task.effect.clone()).collect();
    let compensation = Text::from("Drop the key store");
    assert_eq!(effects, [Effect::Undoable { compensation }, Effect::Irreversible, Effect::Pure]);
}

#[test]
fn module_without_script_succeeds() {
    let mut script = parse(HEAD).unwrap().script;
    let task = Operation::RunTask { task: TaskId::FIRST, effect: EffectKind::Pure };
    let operations = [
        Operation::VerifyIdentity,
        Operation::Classify,
        Operation::DraftPlan,
        task,
        Operation::Diagnose,
        Operation::DeliverAudit,
    ];
    let plan = orchestrion_kernel::plan::Plan::new(vec![orchestrion_kernel::plan::Task {
        id: TaskId::FIRST,
        text: Text::from("Add encryption"),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    }]);
    let expected = [
        Report::Identity { gcp: true, mongodb: true },
        Report::Classification { tags: vec![], similarity: Score::ZERO },
        Report::Plan(plan.unwrap()),
        Report::Exit { code: 0, text: Text::from(""), number: None },
        Report::NoRepair { text: Text::from("") },
        Report::Delivered,
    ];
    assert_eq!(replies(&mut script, &operations), expected.map(|report| ScriptedReply::Reply(report.into())));
}

#[test]
fn single_reply_repeats_and_list_is_ordered() {
    let text =
        format!("{HEAD}modules:\n{VOICES}  critic:\n    - con: {{confidence: 0.75}}\n    - fail: timeout\n",);
    let mut script = parse(&text).unwrap().script;
    let (analyst, critic) = (Operation::Argue(Role::Analyst), Operation::Argue(Role::Critic));
    assert_eq!(replies(&mut script, &[analyst; 3]), vec![argument(Stance::Pro, 900_000); 3]);
    let expected = [argument(Stance::Con, 750_000), ScriptedReply::Fail(Failure::Timeout)];
    assert_eq!(replies(&mut script, &[critic; 2]), expected);
    let error = SCENE.call(&mut script, critic).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r#"
     × 3rd call to the critic: expected a scripted reply, found only 2 replies
      ╭─[case.yaml:8:5]
    7 │   critic:
    8 │     - con: {confidence: 0.75}
      ·     ────────────┬────────────
      ·                 ╰── `critic` has 2 replies
    9 │     - fail: timeout
      ·       ──────┬──────
      ·             ╰── last reply
      ╰────
     help: add a 3rd reply to `modules.critic`, or write one reply without a list, which repeats
    "#);
}

#[test]
fn debater_without_script_is_an_error() {
    let mut script = parse(&format!("{HEAD}modules:\n{VOICES}")).unwrap().script;
    let error = SCENE.call(&mut script, Operation::Argue(Role::Optimizer)).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r#"
     × call to the optimizer: expected a scripted reply, found none
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
fn review_shares_replies_of_security() {
    let security = "  security:\n    - con: {confidence: 0.5}\n    - pro: {confidence: 0.6}\n";
    let (round, review) = (Operation::Argue(Role::Security), Operation::ReviewRevision);
    let mut script = parse(&format!("{HEAD}modules:\n{security}")).unwrap().script;
    let expected = [argument(Stance::Con, 500_000), argument(Stance::Pro, 600_000)];
    assert_eq!(replies(&mut script, &[round, review]), expected);
    let own = "  review: {con: {confidence: 0.95}}\n";
    let mut script = parse(&format!("{HEAD}modules:\n{security}{own}")).unwrap().script;
    let expected = [argument(Stance::Con, 500_000), argument(Stance::Con, 950_000)];
    assert_eq!(replies(&mut script, &[round, review]), expected);
}

#[test]
fn script_drives_kernel_through_a_request() {
    use orchestrion_kernel::{Event, Input, State, decide};
    let sure = "{pro: {confidence: 0.9}}";
    let voices = ["analyst", "solution", "critic", "security", "optimizer"];
    let voices: String = voices.iter().map(|voice| format!("  {voice}: {sure}\n")).collect();
    let mut scenario = parse(&format!("{HEAD}modules:\n{voices}  local_store: refused\n")).unwrap();
    let mut state = State::new(scenario.conversation.clone());
    let text = scenario.requests[0].request.text.clone();
    let user = scenario.requests[0].user.user.clone();
    let mut input = Input::session_start(user.clone());
    let mut seen = Vec::new();
    for step in 0..100 {
        let events = decide(&scenario.policy, &state, state.now(), &input).unwrap();
        events.iter().for_each(|event| state.apply(event));
        seen.extend(events);
        input = match state.control().pending_calls().first() {
            None if step == 0 => Input::user_message(user.clone(), text.clone()),
            None if state.control().phase().is_quiescent() => break,
            None => Input::Step,
            Some(call) => match SCENE.call(&mut scenario.script, call.operation).unwrap().reply {
                ScriptedReply::Reply(reply) => reply.into_input(call.id),
                ScriptedReply::Fail(failure) => Input::CallFailed { call: call.id, failure },
            },
        };
    }
    assert_eq!(state.control().phase(), Phase::Idle);
    assert!(
        seen.iter()
            .any(|event| matches!(event, Event::ToolCall { operation: Operation::RunTask { .. }, .. }))
    );
    assert!(
        matches!(seen.last(), Some(Event::Transitioned { .. } | Event::FinalAnswer { .. })),
        "{:?}",
        seen.last()
    );
}
