//! How every kind of mistake in a scenario file is drawn.

use super::{HEAD, catalogue};

#[test]
fn mistakes_in_keys_and_shapes() {
    snapshot!(catalogue(
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
    snapshot!(catalogue(
        "",
        &[
            "",
            "3",
            "- a",
            "about: x\n",
            "# One.\n\nuser: y\nrequests:\n  - says: a\nmodules: {}\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    write: {fact: {key: a, says: b, at: -1}}\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    write: {fact: {key: a, says: b}, refusd: true}\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    write: {refused: true}\n",
            "about: x\nuser: y\nrequests: []\n",
            "about: x\nuser: y\nrequests:\n  - Add\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    cancel: {when: RuningTasks}\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    cancel: {when: RunningTasks, visit: 0}\n",
        ]
    ));
}

#[test]
fn mistakes_in_answers() {
    snapshot!(catalogue(
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
            "modules:\n  critic: {pro: {says: x}}\n",
            "modules:\n  critic:\n    pro:\n      says: x\n",
            "modules:\n  critic: {pro: {confidence: 0.5, plan: []}}\n",
            "modules:\n  local_store: hold\n",
            "modules:\n  local_store: {held: 1}\n",
        ]
    ));
}

#[test]
fn mistakes_in_values() {
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  critic: {pro: {confidence: 1.5}}\n",
            "modules:\n  critic: {pro: {confidence: 0.12345678}}\n",
            "modules:\n  critic: {pro: {confidence: high}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: 3}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: true}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: }}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: [a]}}\n",
            "modules:\n  critic: {pro: high}\n",
            "modules:\n  identity: {locks: {gcp: maybe, mongodb: true}}\n",
            "modules:\n  identity: {locks: {gcp: true}}\n",
            "modules:\n  memory: {context: {ratings: {critic: {elo: -3}}}}\n",
            "policy: 3\n",
        ]
    ));
}

#[test]
fn mistakes_in_plans_and_tasks() {
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  planner: {plan: []}\n",
            "modules:\n  planner:\n    plan:\n      - {task: 1, do: x}\n      - {task: 1, do: y}\n",
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
fn what_is_no_yaml() {
    snapshot!(catalogue(
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
        ]
    ));
}

#[test]
fn of_a_long_line_only_the_place_and_its_beginning_are_told() {
    let deep = "[".repeat(50_000);
    let unknown = format!("x{}y", "o".repeat(50_000));
    let cases = [
        (format!("{HEAD}conversation: {deep}\n"), "case.yaml:5:", "at `[[[["),
        (format!("{HEAD}    cancel: {{when: {unknown}}}\n"), "case.yaml:5:20: ", "called `xooo"),
        (format!("{HEAD}{unknown}: 1\n"), "case.yaml:5:1: ", "ooo…`"),
    ];
    for (text, place, begins) in cases {
        let told = super::drawn(&text);
        let plain = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(place) && plain.contains(begins), "{told:.600}");
        assert!(told.len() < 900, "{} bytes: {told:.900}", told.len());
    }
}
