//! Tests of replies by pass, request, user, text and context.

use super::script::{SCENE, Scene, argument, replies};
use super::{HEAD, parse, render_errors};
use crate::script::{Script, ScriptedReply};
use orchestrion_kernel::module::{Failure, Operation, Role, Stance};
use orchestrion_yaml::render_error;

const TWO: &str =
    "description: A test.\nuser: ada\nrequests:\n  - text: Order paper\n  - {text: Order toner, user: bob}\n";

const CRITIC: Operation = Operation::Argue(Role::Critic);

fn critic(cases: &str) -> Script {
    parse(&format!("{TWO}modules:\n  critic:\n    cases:\n{cases}")).unwrap().script
}

fn sure(script: &mut Script, scene: Scene<'_>) -> ScriptedReply {
    scene.call(script, CRITIC).unwrap().reply
}

#[test]
fn first_matching_case_replies() {
    let mut script = critic(
        "      - {when: {pass: 2}, reply: {pro: {confidence: 0.2}}}
      - {when: {request: 2}, reply: {pro: {confidence: 0.3}}}
      - {when: {user: ada, text: paper}, reply: {pro: {confidence: 0.4}}}
      - {reply: {pro: {confidence: 0.5}}}\n",
    );
    let paper = Scene { text: "Order paper", ..SCENE };
    let toner = Scene { request: 2, user: "bob", text: "Order toner", ..SCENE };
    let confidence = |script: &mut Script, scene, expected| {
        assert_eq!(sure(script, scene), argument(Stance::Pro, expected));
    };
    confidence(&mut script, paper, 400_000);
    confidence(&mut script, Scene { pass: 2, ..paper }, 200_000);
    confidence(&mut script, toner, 300_000);
    confidence(&mut script, Scene { pass: 2, ..toner }, 200_000);
    confidence(&mut script, Scene { pass: 3, ..toner }, 300_000);
    confidence(&mut script, Scene { request: 3, user: "bob", ..paper }, 500_000);
}

#[test]
fn all_parts_of_when_must_hold() {
    let mut script = critic(
        "      - {when: {pass: 1, request: 2, user: bob, text: toner, context: order 71}, reply: {fail: error}}
      - {reply: {fail: timeout}}\n",
    );
    let all = Scene {
        request: 2,
        pass: 1,
        user: "bob",
        text: "Order toner",
        context: "[3] task 1: order 71 placed\n",
    };
    assert_eq!(sure(&mut script, all), ScriptedReply::Fail(Failure::Error));
    let each_other = [
        Scene { request: 1, ..all },
        Scene { pass: 2, ..all },
        Scene { user: "bobby", ..all },
        Scene { text: "Order Toner", ..all },
        Scene { context: "order 7", ..all },
    ];
    for scene in each_other {
        assert_eq!(sure(&mut script, scene), ScriptedReply::Fail(Failure::Timeout));
    }
}

#[test]
fn each_case_counts_its_own_calls() {
    let mut script = critic(
        "      - when: {user: bob}
        reply:
          - fail: error
          - fail: timeout
      - reply: {fail: malformed}\n",
    );
    let bob = Scene { request: 2, user: "bob", text: "Order toner", ..SCENE };
    assert_eq!(sure(&mut script, bob), ScriptedReply::Fail(Failure::Error));
    assert_eq!(replies(&mut script, &[CRITIC; 3]), [const { ScriptedReply::Fail(Failure::Malformed) }; 3]);
    assert_eq!(sure(&mut script, bob), ScriptedReply::Fail(Failure::Timeout));
    let error = bob.call(&mut script, CRITIC).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r"
     × 3rd call to the critic: expected a scripted reply, found only 2 replies
       ╭─[case.yaml:11:11]
    10 │         reply:
    11 │           - fail: error
       ·           ──────┬──────
       ·                 ╰── this case has 2 replies
    12 │           - fail: timeout
       ·             ──────┬──────
       ·                   ╰── last reply
    13 │       - reply: {fail: malformed}
       ╰────
     help: add a 3rd reply to this case, or write one reply without a list, which repeats
    ");
}

#[test]
fn call_without_matching_case_is_an_error() {
    let mut script = critic("      - {when: {pass: 1}, reply: {fail: error}}\n");
    let error = Scene { pass: 2, ..SCENE }.call(&mut script, CRITIC).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r"
     × call to the critic in request 1 of ada, pass 2: no case matches
      ╭─[case.yaml:8:5]
    7 │   critic:
    8 │     cases:
      ·     ───┬──
      ·        ╰── no match
    9 │       - {when: {pass: 1}, reply: {fail: error}}
      ╰────
     help: add a case for this call, or a last case without `when`, which matches every call
    ");
}

#[test]
fn unused_cases_are_reported() {
    let text = "      - {when: {pass: 3}, reply: {fail: error}}
      - when: {user: bob}
        reply: [fail: error, fail: timeout]
      - when: {pass: 1}
        reply:
          random: {seed: mood, choices: [{reply: {fail: error}}, {reply: {fail: timeout}}]}
      - {reply: {fail: malformed}}\n";
    let mut script = critic(text);
    assert_eq!(
        script.unused(),
        [
            "unused replies on line 9: case 1 of `critic` matched no call",
            "unused replies on line 10: case 2 of `critic` matched no call",
            "unused replies on line 12: case 3 of `critic` matched no call",
        ]
    );
    sure(&mut script, SCENE);
    sure(&mut script, Scene { user: "bob", ..SCENE });
    sure(&mut script, Scene { pass: 3, ..SCENE });
    assert_eq!(script.unused(), ["unused replies on line 10: case 2 of `critic` used 1 of 2"]);
    sure(&mut script, Scene { user: "bob", ..SCENE });
    assert_eq!(script.unused(), [""; 0]);
}

#[test]
fn invalid_cases_are_reported() {
    let thousand = format!(
        "modules:\n  critic:\n    cases:\n{}",
        "      - {when: {pass: 1}, reply: {fail: error}}\n".repeat(1001)
    );
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  critic: {cases: []}\n",
            "modules:\n  critic: {cases: {when: {pass: 1}}}\n",
            "modules:\n  critic: {cases: [fail: error]}\n",
            "modules:\n  critic: {case: [{reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {pass: 1}}]}\n",
            "modules:\n  critic: {cases: [{when: {pas: 1}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {pass: 0}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {pass: first}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {text: \"\"}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {text: encryptoin}, reply: {fail: error}}]}\n",
            "modules:\n  critic: {cases: [{when: {request: 2}, reply: {fail: error}}]}\n",
            "modules:\n  critic:\n    cases:\n      - reply: {fail: error}\n      - when: {pass: 1}\n        reply: {fail: error}\n",
            "modules:\n  critic: {cases: [{reply: {cases: [{reply: {fail: error}}]}}]}\n",
            "modules:\n  critic: {cases: [{reply: {fail: error}}], fail: error}\n",
            &thousand,
        ]
    ));
}

#[test]
fn unused_replies_of_a_list_are_reported() {
    let lists =
        "  critic: [fail: error, fail: timeout]\n  analyst:\n    - fail: error\n  security: {fail: error}\n";
    let mut script = parse(&format!("{HEAD}modules:\n{lists}")).unwrap().script;
    replies(&mut script, &[CRITIC]);
    assert_eq!(
        script.unused(),
        ["unused replies on line 8: `analyst` used 0 of 1", "unused replies on line 6: `critic` used 1 of 2",]
    );
    replies(&mut script, &[CRITIC, Operation::Argue(Role::Analyst)]);
    assert_eq!(script.unused(), [""; 0]);
}
