//! The gallery of claims: each claim holds in one golden trace, and fails in another one at a known step.

use orchestrion_tests::root;
use orchestrion_trace::Reader;
use orchestrion_user_claims::{ClaimFile, Finding, Monitors};

/// A claim, a trace in which it can fail and does not, and one that violates it, with the step.
const GALLERY: [(&str, &str, &str, u64); 12] = [
    ("nothing-irreversible-after-repair", "repaired", "repair-limit", 52),
    ("no-strong-objection-before-decision", "happy", "final-veto", 21),
    ("no-key-in-an-answer", "approved", "happy", 25),
    ("tasks-run-after-one-pass", "happy", "second-pass", 22),
    ("every-request-is-scored", "happy", "identity-mismatch", 4),
    ("a-task-starts-twice-at-most", "happy", "repair-limit", 59),
    ("few-tasks-in-all-plans", "happy", "repaired", 23),
    ("approval-before-irreversible", "approved", "repair-limit", 52),
    ("undo-what-succeeded", "repair-limit", "rolled-back", 28),
    ("every-task-ends", "happy", "cancelled-while-running", 25),
    ("one-pass-between-plan-and-decision", "happy", "second-pass", 22),
    ("no-debate-until-identity", "happy", "identity-mismatch", 3),
];

/// What a golden trace says about one claim: whether an event can decide it, and the step of the first violation.
fn verdict(file: &ClaimFile, id: &str, trace: &str) -> (bool, Option<u64>) {
    let claims: Vec<_> = file.claims.iter().filter(|claim| claim.id == id).cloned().collect();
    assert_eq!(claims.len(), 1, "{id}");
    let monitors = Monitors::new(claims);
    let mut states = monitors.start();
    let text = std::fs::read(root().join(format!("specs/scenarios/{trace}.ndjson"))).expect("a golden trace");
    let reader = Reader::new(text.as_slice(), trace).expect("a golden trace");
    let policy = reader.header().policy.clone();
    let (mut is_reached, mut violated) = (false, None);
    for step in reader {
        let step = step.expect("a golden trace");
        for event in &step.events {
            monitors.step(&mut states, &policy, event, |finding| match finding {
                Finding::Premise(_) | Finding::Forbidden(..) => is_reached = true,
                Finding::Violated(..) => violated = violated.or(Some(step.n)),
            });
        }
    }
    (is_reached, violated)
}

#[test]
fn each_claim_of_the_gallery_holds_in_one_trace_and_fails_in_another() {
    let file = ClaimFile::read(&root().join("specs/claims/gallery.yaml")).unwrap();
    let ids: Vec<&str> = file.claims.iter().map(|claim| claim.id.as_str()).collect();
    let found = GALLERY.map(|(id, passing, failing, _)| {
        assert!(ids.contains(&id), "{id}");
        assert_eq!(verdict(&file, id, passing), (true, None), "{id} in {passing}");
        (id, passing, failing, verdict(&file, id, failing).1.unwrap_or_default())
    });
    assert_eq!(found, GALLERY);
    assert_eq!(ids.len(), GALLERY.len());
}
