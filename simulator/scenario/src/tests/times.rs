//! Tests of simulated time, users, and lists of scripted events.

use super::script::{SCENE, Scene};
use super::{HEAD, parse, render_errors};
use crate::{DurationText, Scenario};
use orchestrion_kernel::TaskId;
use orchestrion_kernel::module::{Module, Operation, Role, Store};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_runtime::Deadlines;
use std::path::Path;
use std::time::Duration;

#[test]
fn reply_has_its_delay() {
    let text = "modules:\n  critic:\n    - {reply: {fail: error}, after: 250ms}\n    - after: 2m\n      reply: {fail: error}\n    - fail: error\n  \
                auditor: {reply: delivered, after: 1000h}\n";
    let mut script = parse(&format!("{HEAD}{text}")).unwrap().script;
    let mut after = |operation| SCENE.call(&mut script, operation).unwrap().after.as_millis();
    assert_eq!([(); 3].map(|()| after(Operation::Argue(Role::Critic))), [250, 120_000, 0]);
    assert_eq!(after(Operation::DeliverAudit), 3_600_000_000);
    assert_eq!(after(Operation::Classify), 0);
}

#[test]
fn deadlines_are_set_per_module() {
    assert_eq!(parse(HEAD).unwrap().deadlines, Deadlines::default());
    let text =
        "deadlines:\n  default: 5s\n  identity: 1ms\n  critic: 2s\n  executor: 10m\n  cloud_store: 1h\n";
    let deadlines = parse(&format!("{HEAD}{text}")).unwrap().deadlines;
    let expected = Deadlines::new(Duration::from_secs(5))
        .with_module(Module::IdentityGuard, Duration::from_millis(1))
        .with_module(Module::Debater(Role::Critic), Duration::from_secs(2))
        .with_module(Module::Executor, Duration::from_secs(600))
        .with_module(Module::Store(Store::Cloud), Duration::from_secs(3600));
    assert_eq!(deadlines, expected);
}

#[test]
fn late_reply_scenario_exceeds_one_deadline() {
    let slow = Scenario::parse(
        "late-reply.yaml",
        include_str!("../../../../specs/scenarios/late-reply.yaml"),
        Path::new(""),
    );
    let Scenario { mut script, deadlines, .. } = slow.unwrap();
    let security = Operation::Argue(Role::Security);
    let second = Scene { request: 2, ..SCENE };
    assert!(SCENE.call(&mut script, security).unwrap().after > deadlines.for_operation(security));
    assert!(second.call(&mut script, security).unwrap().after < deadlines.for_operation(security));
    let task = Operation::RunTask { task: TaskId::FIRST, effect: EffectKind::Undoable };
    assert!(SCENE.call(&mut script, task).unwrap().after < deadlines.for_operation(task));
}

#[test]
fn duration_uses_its_longest_unit() {
    for (milliseconds, text) in [
        (0, "0s"),
        (1, "1ms"),
        (1500, "1500ms"),
        (2000, "2s"),
        (90_000, "90s"),
        (120_000, "2m"),
        (7_200_000, "2h"),
    ] {
        assert_eq!(DurationText(Duration::from_millis(milliseconds)).to_string(), text);
    }
}

#[test]
fn invalid_durations_are_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  critic: {reply: {fail: error}, after: 5}\n",
            "modules:\n  critic: {reply: {fail: error}, after: 1.5s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: 5 s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: -5s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: 5 days}\n",
            "modules:\n  critic: {reply: {fail: error}, after: 1001h}\n",
            "modules:\n  critic: {reply: {fail: error}, after: 99999999999999999999s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: }\n",
            "modules:\n  critic: {reply: {fail: error}, after: [5s]}\n",
            "modules:\n  critic: {reply: {fail: timeout}, after: 5s}\n",
            "modules:\n  critic: {after: 5s}\n",
            "modules:\n  critic: {fail: error, after: 5s}\n",
            "modules:\n  auditor: {delivered, after: 5s}\n",
            "modules:\n  critic: {reply: {reply: {fail: error}}, after: 5s}\n",
            "modules:\n  critic: {reply: {fail: error}, after: {seed: x, min: 5s, max: 1s}}\n",
            "modules:\n  critic: {reply: {fail: error}, after: {min: 5s, max: 1s}}\n",
            "modules:\n  auditor: {delivered: soon}\n",
            "deadlines: {default: 0s}\n",
            "deadlines: {default: 60}\n",
            "deadlines: {tasks: 10m}\n",
            "deadlines: 5s\n",
        ]
    ));
}

#[test]
fn invalid_requests_are_reported() {
    let thousand = format!("    crash:\n{}", "      - {phase: Classifying}\n".repeat(1001));
    snapshot!(render_errors(
        "description: x\nuser: ada\nrequests:\n  - text: a\n",
        &[
            "    user: 3\n",
            "    users: [bob]\n",
            "    crash: []\n",
            "    crash: Classifying\n",
            "    crash: [{phase: Clasifying}]\n",
            "    crash: {phase: Classifying, vist: 2}\n",
            "    crash: [[{phase: Classifying}]]\n",
            "    cancel: [{phase: Classifying}, {phase: Classifying, visit: 1}]\n",
            &thousand,
        ]
    ));
}
