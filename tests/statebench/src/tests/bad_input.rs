//! What does not fit is named with its file and line, and the rest is taken.

use super::{ask, fact, initial, instead, line, line_from, with_facts, write};
use crate::read::Reader;
use crate::score::{Report, Scorer};
use serde_json::{Value, json};

pub(super) fn report(text: &str) -> Report {
    let (scorer, mut report) = (Scorer::default(), Report::default());
    for case in Reader::new(text.as_bytes(), "some.jsonl") {
        scorer.score("some.jsonl", &case.unwrap(), &mut report);
    }
    report
}

/// What is said of a file whose second line has these writes.
fn told(initial: &Value, writes: &[Value]) -> Vec<String> {
    let mut events: Vec<Value> = writes.iter().cloned().map(write).collect();
    events.push(ask("What?"));
    let report = report(&format!("{}{}", line(&json!([ask("What?")])), line_from(initial, &events.into())));
    assert_eq!((report.timelines, report.overall.queries), (2, 2), "the rest is taken");
    report.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn an_unknown_layer_is_named_and_the_write_left_out() {
    let mut odd = fact("roof", "red");
    odd["layer"] = "gossip".into();
    let mut initial = initial();
    initial["rumours"] = json!([]);
    assert_eq!(
        told(&initial, &[odd, fact("door", "blue")]),
        [
            "some.jsonl:2: the write of `initial_state`: unknown layer `rumours`; expected persistent_facts, working_set or \
         environment. It is left out",
            "some.jsonl:2: the write of `roof`: unknown layer `gossip`; expected persistent_facts, working_set or \
         environment. It is left out",
        ]
    );
}

#[test]
fn the_identity_is_not_written_later() {
    let mut odd = fact("authority", "CEO");
    odd["layer"] = "identity_role".into();
    let told = told(&initial(), &[odd]);
    assert!(told[0].contains("`authority`: the identity is set once"), "{told:?}");
}

#[test]
fn a_key_that_supersedes_nothing_is_named_and_the_fact_kept() {
    let events = json!([write(instead("roof", "red", "ruin")), ask("What?")]);
    let report = report(&line(&events));
    assert_eq!((report.links.all, report.links.resolved), (1, 0));
    assert_eq!(
        report.faults[0].to_string(),
        "some.jsonl:1: the write of `roof`: it supersedes `ruin`, but nothing of that id or key was written before. \
         It is kept, and supersedes nothing"
    );
    assert!(super::contexts(&initial(), &events)[0].ends_with("roof: red"));
}

#[test]
fn circles_of_supersession_are_named_however_long() {
    let itself = told(&initial(), &[instead("a", "1", "a")]);
    assert!(itself[0].contains("`a`: it and `a` are to supersede each other"), "{itself:?}");
    let two = told(&initial(), &[instead("a", "1", "b"), instead("b", "2", "a")]);
    assert!(two[0].contains("`a`: it supersedes `b`, but nothing"), "{two:?}");
    assert!(two[1].contains("`b`: it and `a` are to supersede each other"), "{two:?}");
    let three = told(&initial(), &[instead("a", "1", "c"), instead("b", "2", "a"), instead("c", "3", "b")]);
    assert!(three[1].contains("`c`: it and `b` are to supersede each other"), "{three:?}");
    let initial = with_facts(json!([
        {"key": "a", "value": "1", "superseded_by": "b"}, {"key": "b", "value": "2", "superseded_by": "a"},
    ]));
    let before = told(&initial, &[]);
    assert!(before[0].contains("`b`: it and `a` are to supersede each other"), "{before:?}");
    assert_eq!(before.len(), 1, "the first of them is taken");
}

#[test]
fn a_key_that_is_written_again_is_no_circle() {
    assert!(told(&initial(), &[fact("a", "1"), instead("a", "2", "a"), instead("a", "3", "a")]).is_empty());
}

#[test]
fn an_expired_write_is_named_and_left_out() {
    for layer in ["working_set", "persistent_facts", "environment"] {
        let mut late = fact("roof", "red");
        late["layer"] = layer.into();
        late["expires_at"] = "2025-01-01T10:59:59".into();
        let told = told(&initial(), &[late]);
        assert!(
            told[0].starts_with(
                "some.jsonl:2: the write of `roof`: the write expired at 2025-01-01T10:59:59Z, and it is 2025-01-01T11:00:00Z;"
            ),
            "{layer}: {told:?}"
        );
        assert_eq!(told.len(), 1);
    }
}

#[test]
fn a_clock_that_tells_no_moment_is_named() {
    let mut initial = initial();
    initial["environment"]["now"] = "teatime".into();
    let told = told(&initial, &[]);
    assert!(told[0].starts_with("some.jsonl:2: the write of `now`: `teatime` is no moment"), "{told:?}");
}

#[test]
fn unknown_scopes_constraints_and_grounds_are_named() {
    let mut odd = fact("roof", "red");
    odd["scope"] = "galactic".into();
    let mut limit = fact("door", "blue");
    limit["is_constraint"] = true.into();
    limit["constraint_type"] = "taste".into();
    limit["depends_on"] = json!(["ruin"]);
    let told = told(&initial(), &[odd, limit]);
    assert!(told[0].contains("`roof`: unknown scope `galactic`"), "{told:?}");
    assert!(told[1].contains("`door`: unknown constraint `taste`"), "{told:?}");
    assert!(told[2].contains("`door`: it rests on `ruin`, but nothing"), "{told:?}");
}

#[test]
fn odd_but_legal_timelines_have_no_faults() {
    let mut number = fact("guests", "");
    number["value"] = json!(["a", 2]);
    number["ts"] = "2025-01-01T11:00:00Z".into();
    let gone = fact("plan", "[INVALIDATED - wrong] Buy");
    assert!(told(&initial(), &[number, gone, instead("plan_v2", "Sell", "plan")]).is_empty());
}

#[test]
fn an_empty_name_names_nothing_and_says_so() {
    let mut nameless = fact("roof", "red");
    nameless["id"] = "".into();
    let mut empty = instead("door", "blue", "");
    empty["id"] = "".into();
    empty["depends_on"] = json!([""]);
    empty["derived_facts"] = json!([""]);
    let mut last = instead("gate", "white", "");
    last["id"] = "".into();
    let told = told(&initial(), &[nameless.clone(), empty.clone(), last]);
    assert!(told[0].contains("`door`: it supersedes what has no name"), "{told:?}");
    assert!(told[1].contains("`door`: it rests on ``, but nothing"), "{told:?}");
    assert!(told[2].contains("`gate`: it supersedes what has no name"), "no circle: {told:?}");
    assert!(told[3].contains("`door`: `` is to rest on it, but nothing"), "{told:?}");
    let context = super::contexts(&initial(), &json!([write(nameless), write(empty), ask("What?")]));
    assert!(context[0].contains("roof: red") && context[0].contains("door: blue"), "{context:?}");
    let initial =
        with_facts(json!([{"key": "a", "value": "1", "superseded_by": ""}, {"key": "b", "value": "2"}]));
    assert!(self::told(&initial, &[])[0].contains("`` is to have superseded it, but nothing"));
}

#[test]
fn what_does_not_hold_is_not_told_though_nothing_superseded_it() {
    let initial = with_facts(json!([{"key": "a", "value": "1", "is_valid": false, "superseded_by": "ruin"}]));
    assert!(told(&initial, &[])[0].contains("`ruin` is to have superseded it"));
    assert!(!super::contexts(&initial, &json!([ask("What?")]))[0].contains("a: 1"));
}

#[test]
fn a_write_that_its_source_may_not_make_is_named() {
    let mut limit = fact("budget", "At most 12");
    limit["is_constraint"] = true.into();
    let told = told(&initial(), &[limit]);
    assert_eq!(
        told,
        [
            "some.jsonl:2: the write of `budget`: a source of rank employee may not write it; expected a higher authority. It \
          is kept, and shown to nobody"
        ]
    );
}

#[test]
fn what_expires_among_notes_that_are_not_for_everybody_is_named() {
    let note = |expires_at: &str| {
        let mut note = fact("soup", "[RESTRICTED: HR] 12 guests are ill");
        note["layer"] = "working_set".into();
        note["expires_at"] = expires_at.into();
        note
    };
    let told = told(&initial(), &[note("2024-01-01T00:00:00"), note("2026-01-01T00:00:00")]);
    assert!(told[0].contains("`soup`: the write expired at 2024-01-01T00:00:00Z, and it is "), "{told:?}");
    assert_eq!(told.len(), 1);
}

#[test]
fn unknown_fields_and_memories_are_named_and_the_write_kept() {
    let mut odd = fact("roof", "red");
    odd["colour"] = "loud".into();
    odd["memory_type"] = "muscle".into();
    let told = told(&initial(), &[odd]);
    assert!(told[0].contains("`roof`: unknown field `colour`"), "{told:?}");
    assert!(told[1].contains("`roof`: unknown memory_type `muscle`"), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn what_the_kernel_refuses_is_told_by_the_names_of_the_timeline() {
    let mut here = fact("slates", "12");
    here["scope"] = "task".into();
    let mut everywhere = fact("roof", "red");
    everywhere["depends_on"] = json!(["slates"]);
    let told = told(&initial(), &[here, everywhere]);
    assert!(
        told[0].contains("`roof`: the write rests on `slates`, which counts only in another scope"),
        "{told:?}"
    );
}

#[test]
fn what_is_derived_from_what_rests_on_it_or_counts_elsewhere_is_named() {
    let mut ground = fact("guests", "7");
    ground["derived_facts"] = json!(["plan", "ruin"]);
    let mut plan = fact("plan", "buy 3");
    plan["derived_facts"] = json!(["guests"]);
    let mut here = fact("slates", "12");
    here["scope"] = "task".into();
    here["derived_facts"] = json!(["guests"]);
    let told = told(&with_facts(json!([ground, plan, here])), &[]);
    assert!(told[2].contains("`guests`: `ruin` is to rest on it, but nothing"), "{told:?}");
    assert!(told[0].contains("`plan`: `guests` is to rest on it, but it rests on `guests`"), "{told:?}");
    assert!(told[1].contains("`slates`: `guests` is to rest on it, but"), "{told:?}");
}

#[test]
fn what_does_not_hold_by_its_own_account_takes_the_place_of_nothing() {
    let withdrawn = |key: &str, value: &str| {
        let mut fact = fact(key, value);
        fact["is_valid"] = false.into();
        fact
    };
    let initial = with_facts(json!([fact("roof", "red")]));
    let said = told(&initial, &[withdrawn("roof", "blue")]);
    assert!(said[0].contains("`roof`: it says of itself that it does not hold"), "{said:?}");
    let context =
        super::contexts(&initial, &json!([write(withdrawn("roof", "blue")), ask("What?")])).remove(0);
    assert!(context.ends_with("roof: red"), "{context}");
    let context =
        super::contexts(&initial, &json!([write(withdrawn("roof_v2", "blue")), ask("What?")])).remove(0);
    assert!(context.ends_with("roof: red"), "{context}");
    let context =
        super::contexts(&initial, &json!([write(withdrawn("roof", "red")), ask("What?")])).remove(0);
    assert!(!context.contains("red"), "what says it again takes it back: {context}");
}

#[test]
fn what_a_later_event_wrote_as_superseded_is_told_to_nobody() {
    let by = |is_valid: bool, by: &str| {
        let mut old = fact("roof", "red");
        old["is_valid"] = is_valid.into();
        old["superseded_by"] = by.into();
        old
    };
    let event = |writes: Value| json!({"ts": "2025-01-01T11:00:00", "type": "state_write", "writes": writes});
    for is_valid in [true, false] {
        let known = json!([write(fact("roof_v2", "black")), write(by(is_valid, "roof_v2")), ask("What?")]);
        let comes = json!([event(json!([by(is_valid, "roof_v2"), fact("roof_v2", "black")])), ask("What?")]);
        for events in [known, comes] {
            let context = super::contexts(&initial(), &events).remove(0);
            assert!(context.ends_with("\n\nroof: black"), "{context}");
            assert!(report(&line(&events)).faults.is_empty(), "{events}");
        }
        let never =
            super::contexts(&initial(), &json!([write(by(is_valid, "ruin")), ask("What?")])).remove(0);
        assert!(!never.contains("red"), "{never}");
        assert!(told(&initial(), &[by(is_valid, "ruin")])[0].contains("`ruin` is to have superseded it"));
    }
}
