//! What both exports say first, and how they break lines.

use super::claims::{NOT_EXPORTED, PARTLY_EXPORTED};
use super::control::ControlModel;
use orchestrion_kernel::policy::Bound;

/// What stands above a model: what it is of, what is left to choice, what it does not say, and how to run it.
pub(super) fn lines(control: &ControlModel, run: &[&str]) -> Vec<String> {
    let policy = &control.policy;
    let mut lines = vec![format!("The control FSM of Orchestrion under the policy `{}`.", policy.name)];
    lines.push(
        "Written by `orchestrion export` from the transition table and the policy; do not edit it, write it anew."
            .to_string(),
    );
    lines.push(String::new());
    let t = &policy.thresholds;
    lines.push(format!(
        "The consensus is drawn from the cells that the policy's lines cut: below {}, from there on below {}",
        t.proceed_from, t.redebate_below
    ));
    lines.extend(
        [
            "(between), and above, whatever was argued. A task that starts leaves something to undo, or does not.",
            "So this may do more than the kernel does: what holds here holds of the kernel's control; what fails",
            "here need not fail there. Texts, items, ratings and revision numbers are left out; `row` is the row",
            "of the table that was taken last. Conversations may have any number of sessions and requests.",
            "A resume after a crash changes nothing, so it is no step.",
        ]
        .map(String::from),
    );
    if policy.bounds.repairs == Bound::Unbounded {
        lines.push("Repairs have no bound under this policy, so nobody counts them.".to_string());
    }
    lines.push(String::new());
    lines.push(
        "Fair are the orchestrator, which goes on when it can, and the modules: a call that is waited".into(),
    );
    lines.push("for is answered or fails, where it has a row for that. The user owes nothing.".to_string());
    lines.push(String::new());
    lines.push("Claims of the catalogue of which a part is stated here, and which:".to_string());
    lines.extend(PARTLY_EXPORTED.iter().map(|(id, which)| format!("  {id}: {which}")));
    lines.push("Claims of the catalogue that are not stated here, and why:".to_string());
    for (ids, why) in NOT_EXPORTED {
        lines.push(format!("  {}: {why}", ids.join(" ")));
    }
    let speechless: Vec<&str> = orchestrion_claims::CLAIMS
        .iter()
        .filter(|claim| (claim.not_applicable)(policy).is_some())
        .map(|claim| claim.id)
        .collect();
    if !speechless.is_empty() {
        lines.push(format!("  {}: say nothing under this policy", speechless.join(" ")));
    }
    lines.push(String::new());
    lines.extend(run.iter().map(ToString::to_string));
    lines
}

/// Writes words one behind the other, in lines of at most so many characters where that is possible.
pub(super) fn wrapped(text: &mut String, indent: &str, words: impl Iterator<Item = String>, most: usize) {
    let mut line = String::from(indent);
    for word in words {
        if line.len() + word.trim_end().len() > most && line.len() > indent.len() {
            text.push_str(line.trim_end());
            text.push('\n');
            line = String::from(indent);
        }
        line.push_str(&word);
    }
    if line.len() > indent.len() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}
