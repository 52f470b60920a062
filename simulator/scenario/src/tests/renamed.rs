//! Tests of the errors for keys of earlier formats.

use super::{HEAD, render, render_errors};

#[test]
fn old_keys_are_refused_with_the_new_key() {
    snapshot!(render_errors(
        HEAD,
        &[
            "modules:\n  reread: {pro: {confidence: 0.9}}\n",
            "modules:\n  critic: {pro: {confidence: 0.9, says: x}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{answer: {fail: error}}]}}\n",
            "modules:\n  critic: {cases: [{answer: {fail: error}}]}\n",
            "modules:\n  local_store: held\n",
            "modules:\n  classifier: {classified: {similarity: 0}}\n",
            "modules:\n  diagnosis: {repaired: {plan: [{task: 1, do: x}]}}\n",
            "deadlines: {each: 5s}\n",
            "    cancel: {when: RunningTasks}\n",
            "    write: {fact: {key: a, text: b, by: c}}\n",
            "    write: {fact: {key: a, text: b, at: 3}}\n",
            "    write: {fact: {key: a, text: b, rests_on: [c]}}\n",
            "    write: {constraint: {limits: budget, fact: {key: a, text: b}}}\n",
        ]
    ));
    let old = render("about: A test.\nuser: ada\nrequests:\n  - says: Add encryption\n");
    assert!(old.contains("renamed to `description`") && old.contains("case.yaml:1:1"), "{old}");
}
