//! Diagnostics: each invalid write is reported with file and line, and the rest is replayed.

use crate::support::{
    ask, contexts, fact, initial, line, line_from, note, successor, with, with_facts, write,
};
use orchestrion_statebench::read::Reader;
use orchestrion_statebench::score::{Report, Scorer};
use serde_json::{Value, json};

/// The report on a file.
pub(crate) fn report(text: &str) -> Report {
    let (scorer, mut report) = (Scorer::default(), Report::default());
    for case in Reader::new(text.as_bytes(), "some.jsonl") {
        scorer.score("some.jsonl", &case.unwrap(), &mut report);
    }
    report
}

/// The messages on a file whose second line has these writes, without file and line.
fn messages(initial: &Value, writes: &[Value]) -> Vec<String> {
    let mut events: Vec<Value> = writes.iter().cloned().map(write).collect();
    events.push(ask("What?"));
    let report = report(&format!("{}{}", line(&json!([ask("What?")])), line_from(initial, &events.into())));
    assert_eq!((report.timelines, report.overall.queries), (2, 2), "the rest is replayed");
    let message = |message: String| message.strip_prefix("some.jsonl:2: write of ").map(str::to_string);
    report.diagnostics.iter().filter_map(|diagnostic| message(diagnostic.to_string())).collect()
}

/// Checks that the messages begin with these texts.
#[track_caller]
fn check(messages: &[String], expected: &[&str]) {
    assert_eq!(messages.len(), expected.len(), "{messages:#?}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
}

#[test]
fn unknown_layer_is_reported_and_omitted() {
    let odd = with(fact("roof", "red"), "layer", "gossip");
    let initial = with(initial(), "rumours", json!([]));
    let expected = "unknown layer: expected persistent_facts, working_set or environment, found";
    check(
        &messages(&initial, &[odd, fact("door", "blue")]),
        &[
            &format!("`initial_state`: {expected} `rumours`; it is omitted"),
            &format!("`roof`: {expected} `gossip`; it is omitted"),
        ],
    );
}

#[test]
fn identity_is_read_only() {
    let odd = with(fact("authority", "CEO"), "layer", "identity_role");
    check(&messages(&initial(), &[odd]), &["`authority`: read-only layer"]);
}

#[test]
fn unknown_superseded_fact_is_reported() {
    let events = json!([write(successor("roof", "red", "ruin")), ask("What?")]);
    let report = report(&line(&events));
    assert_eq!((report.links.total, report.links.resolved), (1, 0));
    assert_eq!(
        report.diagnostics[0].to_string(),
        "some.jsonl:1: write of `roof`: unknown superseded fact: expected the id or key of an earlier fact, found `ruin`; \
         it supersedes nothing"
    );
    assert!(contexts(&initial(), &events)[0].ends_with("roof: red"));
}

#[test]
fn supersession_cycles_are_reported() {
    let (unknown, cycle) = ("unknown superseded fact", "supersession cycle: it and");
    check(&messages(&initial(), &[successor("a", "1", "a")]), &[&format!("`a`: {cycle} `a`")]);
    let two = messages(&initial(), &[successor("a", "1", "b"), successor("b", "2", "a")]);
    check(&two, &[&format!("`a`: {unknown}"), &format!("`b`: {cycle} `a`")]);
    let three =
        messages(&initial(), &[successor("a", "1", "c"), successor("b", "2", "a"), successor("c", "3", "b")]);
    check(&three, &[&format!("`a`: {unknown}"), &format!("`c`: {cycle} `b`")]);
    let initial = with_facts(json!([
        {"key": "a", "value": "1", "superseded_by": "b"}, {"key": "b", "value": "2", "superseded_by": "a"},
    ]));
    check(&messages(&initial, &[]), &[&format!("`b`: {cycle} `a`")]);
}

#[test]
fn repeated_key_is_no_cycle() {
    let writes = [fact("a", "1"), successor("a", "2", "a"), successor("a", "3", "a")];
    check(&messages(&initial(), &writes), &[]);
}

#[test]
fn expired_write_is_reported_and_omitted() {
    for layer in ["working_set", "persistent_facts", "environment"] {
        let late = with(fact("roof", "red"), "layer", layer);
        let late = with(late, "expires_at", "2025-01-01T10:59:59");
        let expected = "`roof`: expired: expected a time after 2025-01-01T11:00:00Z, found 2025-01-01T10:59:59Z; it is omitted";
        check(&messages(&initial(), &[late]), &[expected]);
    }
}

#[test]
fn invalid_clock_is_reported() {
    let mut initial = initial();
    initial["environment"]["now"] = "teatime".into();
    let messages = messages(&initial, &[]);
    check(&messages, &["`now`: invalid time"]);
    assert!(messages[0].contains("found `teatime`"), "{messages:?}");
}

#[test]
fn unknown_scopes_constraints_and_dependencies_are_reported() {
    let odd = with(fact("roof", "red"), "scope", "galactic");
    let limit = with(with(fact("door", "blue"), "is_constraint", true), "constraint_type", "taste");
    let limit = with(limit, "depends_on", json!(["ruin"]));
    let expected = [
        "`roof`: unknown scope",
        "`door`: unknown constraint",
        "`door`: unknown dependency",
        "`door`: permission denied",
    ];
    let messages = messages(&initial(), &[odd, limit]);
    check(&messages, &expected);
    for (message, found) in messages.iter().zip(["galactic", "taste", "ruin"]) {
        assert!(message.contains(&format!("found `{found}`")), "{message}");
    }
}

#[test]
fn unusual_timelines_have_no_diagnostics() {
    let number = with(with(fact("guests", ""), "value", json!(["a", 2])), "ts", "2025-01-01T11:00:00Z");
    let gone = fact("plan", "[INVALIDATED - wrong] Buy");
    check(&messages(&initial(), &[number, gone, successor("plan_v2", "Sell", "plan")]), &[]);
}

#[test]
fn empty_reference_refers_to_nothing() {
    let nameless = with(fact("roof", "red"), "id", "");
    let empty = with(with(successor("door", "blue", ""), "id", ""), "depends_on", json!([""]));
    let empty = with(empty, "derived_facts", json!([""]));
    let last = with(successor("gate", "white", ""), "id", "");
    let found = messages(&initial(), &[nameless.clone(), empty.clone(), last]);
    let expected = [
        "`door`: unknown superseded fact",
        "`door`: unknown dependency",
        "`gate`: unknown superseded fact",
        "`door`: unknown derived fact",
    ];
    check(&found, &expected);
    assert!(found.iter().all(|message| message.contains("found ``")), "{found:?}");
    let context = contexts(&initial(), &json!([write(nameless), write(empty), ask("What?")])).remove(0);
    assert!(context.contains("roof: red") && context.contains("door: blue"), "{context:?}");
    let initial =
        with_facts(json!([{"key": "a", "value": "1", "superseded_by": ""}, {"key": "b", "value": "2"}]));
    check(&messages(&initial, &[]), &["`a`: unknown successor"]);
}

#[test]
fn invalid_fact_with_unknown_successor_is_hidden() {
    let initial = with_facts(json!([{"key": "a", "value": "1", "is_valid": false, "superseded_by": "ruin"}]));
    check(&messages(&initial, &[]), &["`a`: unknown successor"]);
    assert!(!contexts(&initial, &json!([ask("What?")]))[0].contains("a: 1"));
}

#[test]
fn denied_write_is_reported() {
    let limit = with(fact("budget", "At most 12"), "is_constraint", true);
    check(
        &messages(&initial(), &[limit]),
        &["`budget`: permission denied: expected a higher rank, found employee"],
    );
}

#[test]
fn expired_restricted_note_is_reported() {
    let note = |at: &str| with(note("soup", "[RESTRICTED: HR] 12 guests are ill"), "expires_at", at);
    let found = messages(&initial(), &[note("2024-01-01T00:00:00"), note("2026-01-01T00:00:00")]);
    check(
        &found,
        &["`soup`: expired: expected a time after 2025-01-01T11:00:00Z, found 2024-01-01T00:00:00Z"],
    );
}

#[test]
fn unknown_fields_and_memory_types_are_reported() {
    let odd = with(with(fact("roof", "red"), "colour", "loud"), "memory_type", "muscle");
    let found = messages(&initial(), &[odd]);
    check(&found, &["`roof`: unknown field", "`roof`: unknown memory_type"]);
    assert!(found[0].contains("found `colour`") && found[1].contains("found `muscle`"), "{found:?}");
}

#[test]
fn kernel_errors_name_keys() {
    let here = with(fact("slates", "12"), "scope", "task");
    let everywhere = with(fact("roof", "red"), "depends_on", json!(["slates"]));
    let found = messages(&initial(), &[here, everywhere]);
    check(&found, &["`roof`: "]);
    assert!(found[0].contains("`slates`") && found[0].ends_with("; it is omitted"), "{found:?}");
}

#[test]
fn invalid_derived_facts_are_reported() {
    let guests = with(fact("guests", "7"), "derived_facts", json!(["plan", "ruin"]));
    let plan = with(fact("plan", "buy 3"), "derived_facts", json!(["guests"]));
    let slates = with(fact("slates", "12"), "scope", "task");
    let slates = with(slates, "derived_facts", json!(["guests"]));
    let expected = [
        "`plan`: invalid derived fact: `guests`",
        "`slates`: invalid derived fact: `guests`",
        "`guests`: unknown derived fact",
    ];
    check(&messages(&with_facts(json!([guests, plan, slates])), &[]), &expected);
}

#[test]
fn withdrawn_write_supersedes_nothing() {
    let withdrawn = |key: &str, value: &str| with(fact(key, value), "is_valid", false);
    let initial = with_facts(json!([fact("roof", "red")]));
    check(&messages(&initial, &[withdrawn("roof", "blue")]), &["`roof`: invalid record"]);
    let context_after = |record: Value| contexts(&initial, &json!([write(record), ask("What?")])).remove(0);
    for key in ["roof", "roof_v2"] {
        assert!(context_after(withdrawn(key, "blue")).ends_with("roof: red"), "{key}");
    }
    let repetition = context_after(withdrawn("roof", "red"));
    assert!(!repetition.contains("red"), "a repetition withdraws the fact: {repetition}");
}

#[test]
fn fact_written_as_superseded_is_hidden() {
    let event = |writes: Value| json!({"ts": "2025-01-01T11:00:00", "type": "state_write", "writes": writes});
    for is_valid in [true, false] {
        let by = |by: &str| with(with(fact("roof", "red"), "is_valid", is_valid), "superseded_by", by);
        let earlier = json!([write(fact("roof_v2", "black")), write(by("roof_v2")), ask("What?")]);
        let same_event = json!([event(json!([by("roof_v2"), fact("roof_v2", "black")])), ask("What?")]);
        for events in [earlier, same_event] {
            let context = contexts(&initial(), &events).remove(0);
            assert!(context.ends_with("\n\nroof: black"), "{context}");
            assert!(report(&line(&events)).diagnostics.is_empty(), "{events}");
        }
        let unknown = contexts(&initial(), &json!([write(by("ruin")), ask("What?")])).remove(0);
        assert!(!unknown.contains("red"), "{unknown}");
        check(&messages(&initial(), &[by("ruin")]), &["`roof`: unknown successor"]);
    }
}
