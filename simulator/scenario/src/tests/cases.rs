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
     × the critic was asked a 3rd time in this case, its script has 2 answers
       ╭─[case.yaml:11:11]
    10 │         reply:
    11 │           - fail: error
       ·           ──────┬──────
       ·                 ╰── the case has 2 answers
    12 │           - fail: timeout
       ·             ──────┬──────
       ·                   ╰── the last one
    13 │       - reply: {fail: malformed}
       ╰────
     help: add a 3rd answer to it, or write one answer without a list: it repeats
    ");
}

#[test]
fn call_without_matching_case_is_an_error() {
    let mut script = critic("      - {when: {pass: 1}, reply: {fail: error}}\n");
    let error = Scene { pass: 2, ..SCENE }.call(&mut script, CRITIC).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r"
     × the critic was asked in request 1 of ada, pass 2, and no case fits
      ╭─[case.yaml:8:5]
    7 │   critic:
    8 │     cases:
      ·     ───┬──
      ·        ╰── none of these
    9 │       - {when: {pass: 1}, reply: {fail: error}}
      ╰────
     help: add a case for it, or a last one without `when`, which always fits
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
            "case 1 of `critic`, on line 9, never came to answer",
            "case 2 of `critic`, on line 10, never came to answer",
            "case 3 of `critic`, on line 12, never came to answer",
        ]
    );
    sure(&mut script, SCENE);
    sure(&mut script, Scene { user: "bob", ..SCENE });
    sure(&mut script, Scene { pass: 3, ..SCENE });
    assert_eq!(script.unused(), ["case 2 of `critic`, on line 10, has 2 answers, of which 1 came"]);
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
        [
            "`analyst`, on line 8, has 1 answer, of which 0 came",
            "`critic`, on line 6, has 2 answers, of which 1 came",
        ]
    );
    replies(&mut script, &[CRITIC, Operation::Argue(Role::Analyst)]);
    assert_eq!(script.unused(), [""; 0]);
}
