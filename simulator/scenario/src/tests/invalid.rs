//! Tests of the errors for invalid scenario files.

use super::{HEAD, render_errors};

#[test]
fn invalid_keys_and_shapes_are_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "colour: red\n",
            "modules:\n  critics: {pro: {confidence: 0.9}}\n",
            "user: bob\n",
            "modules: 3\n",
            "policy: hardend\n",
            "policy: nowhere/strict.yaml\n",
        ]
    ));
    snapshot!(render_errors(
        "",
        &[
            "",
            "3",
            "- a",
            "description: x\n",
            "# One.\n\nuser: y\nrequests:\n  - text: a\nmodules: {}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    write: {fact: {key: a, text: b, established_at: -1}}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    write: {fact: {key: a, text: b}, refusd: true}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    write: {refused: true}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    write: {fact: {key: a, text: b}, visit: 2}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    write: {fact: {key: a, text: b}, phase: Runing}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    scope: {hypothesis: b}\n",
            "description: x\nuser: y\nrequests: []\n",
            "description: x\nuser: y\nrequests:\n  - Add\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    cancel: {phase: RuningTasks}\n",
            "description: x\nuser: y\nrequests:\n  - text: a\n    cancel: {phase: RunningTasks, visit: 0}\n",
        ]
    ));
}

#[test]
fn invalid_replies_are_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  critic:\n    pro: {confidence: 0.9}\n    con: {confidence: 0.9}\n",
            "modules:\n  critic: {pro: {confidence: 0.9}, con: {confidence: 0.9}}\n",
            "modules:\n  critic:\n    - pro: {confidence: 0.9}\n      con: {confidence: 0.9}\n",
            "modules:\n  critic: {prro: {confidence: 0.9}}\n",
            "modules:\n  critic: pro\n",
            "modules:\n  critic: 3\n",
            "modules:\n  critic:\n",
            "modules:\n  critic: []\n",
            "modules:\n  critic: {}\n",
            "modules:\n  critic:\n    - fail: timeout\n    - 3\n",
            "modules:\n  critic:\n    - fail: timeout\n    - [fail: error]\n",
            "modules:\n  critic: {fail: slow}\n",
            "modules:\n  critic: {pro: {text: x}}\n",
            "modules:\n  critic:\n    pro:\n      text: x\n",
            "modules:\n  critic: {pro: {confidence: 0.5, plan: []}}\n",
            "modules:\n  local_store: hold\n",
            "modules:\n  local_store: {stored: 1}\n",
        ]
    ));
}

#[test]
fn invalid_values_are_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  critic: {pro: {confidence: 1.5}}\n",
            "modules:\n  critic: {pro: {confidence: 1e3}}\n",
            "modules:\n  critic: {pro: {confidence: high}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, text: 3}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, text: true}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, text: }}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, text: [a]}}\n",
            "modules:\n  critic: {pro: high}\n",
            "modules:\n  identity: {locks: {gcp: maybe, mongodb: true}}\n",
            "modules:\n  identity: {locks: {gcp: true}}\n",
            "modules:\n  memory: {context: {ratings: {critic: {elo: -3}}}}\n",
            "policy: 3\n",
        ]
    ));
}

#[test]
fn invalid_plans_and_tasks_are_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  planner: {plan: []}\n",
            "modules:\n  planner:\n    plan:\n      - {task: 1, do: x}\n      - {task: 1, do: y}\n",
            "modules:\n  planner:\n    plan:\n      - {task: 1, do: x, depends_on: [2]}\n      - {task: 2, do: y, depends_on: [1]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, depends_on: [7]}]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, depends_on: 7}]}\n",
            "modules:\n  planner: {plan: [{task: one, do: x}]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, undo: y, irreversible: true}]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, irreversible: yes}]}\n",
            "modules:\n  tasks: {one: {ok: x}}\n",
            "modules:\n  tasks: {7: {ok: x}}\n",
            "modules:\n  undo: {1: {ok: x}}\n",
            "modules:\n  tasks: {1: {ok: x}, 01: {ok: y}}\n",
            "modules:\n  tasks: [ok]\n",
        ]
    ));
}

#[test]
fn invalid_yaml_is_reported() {
    snapshot!(render_errors(
        HEAD,
        &[
            "policy: &x hardened\n",
            "policy: *x\n",
            "policy: !important hardened\n",
            "policy: 'hardened\n",
            "policy: [hardened\n",
            "\tpolicy: x\n",
            "---\nabout: x\n",
            "<<: {policy: hardened}\n",
            "\u{0}",
            &format!("policy: {}{}\n", "[".repeat(40), "]".repeat(40)),
        ]
    ));
}

#[test]
fn long_line_is_truncated_in_error() {
    let deep = "[".repeat(50_000);
    let unknown = format!("x{}y", "o".repeat(50_000));
    let cases = [
        (format!("{HEAD}conversation: {deep}\n"), "case.yaml:5:", "at `[[[["),
        (format!("{HEAD}    cancel: {{phase: {unknown}}}\n"), "case.yaml:5:21: ", "phase `xooo"),
        (format!("{HEAD}{unknown}: 1\n"), "case.yaml:5:1: ", "ooo…`"),
    ];
    for (text, place, begins) in cases {
        let rendered = super::render(&text);
        let plain = rendered.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(place) && plain.contains(begins), "{rendered:.600}");
        assert!(rendered.len() < 900, "{} bytes: {rendered:.900}", rendered.len());
    }
}
