//! Signals, notes and turns with fields of scope and validity, the clock, and the order of the initial facts.

use crate::bad_input::report;
use crate::support::{
    ask, context_of, contexts, fact, initial, line_from, note, say, signal, with, with_facts, with_title,
    write,
};
use serde_json::{Value, json};

/// An item with this field in each layer without facts: initial states with the events that write the item.
fn in_each_layer(field: &str, value: &Value) -> Vec<(Value, Vec<Value>)> {
    let text = "The soup is cold";
    let content = with(json!({"content": text}), field, value.clone());
    let with_note = with(initial(), "working_set", json!([content]));
    vec![
        (with_note, vec![]),
        (initial(), vec![write(with(signal("soup", text), field, value.clone()))]),
        (initial(), vec![write(with(note("soup", text), field, value.clone()))]),
        (initial(), vec![with(say(text), field, value.clone())]),
    ]
}

fn messages(initial: &Value, events: &[Value]) -> Vec<String> {
    let report = report(&line_from(initial, &events.into()));
    report.diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn withdrawn_and_restricted_fields_omit_the_item() {
    for (field, value, problem) in [
        ("is_valid", json!(false), "invalid record"),
        ("superseded_by", json!("ruin"), "invalid record"),
        ("restricted_to", json!("HR"), "found the field `restricted_to`"),
        ("scope", json!("galactic"), "found `galactic`"),
    ] {
        for (initial, events) in in_each_layer(field, &value) {
            assert_eq!(context_of(&initial, &events, "Is the soup cold?"), "", "{field}: {events:?}");
            let messages = messages(&initial, &events);
            assert!(
                messages.len() == 1 && messages[0].contains(problem) && !messages[0].contains('\u{a0}'),
                "{field}, {events:?}: {messages:?}"
            );
        }
    }
}

#[test]
fn scope_field_limits_the_item() {
    for scope in ["hypothetical", "draft", "task"] {
        for (initial, events) in in_each_layer("scope", &scope.into()) {
            assert_eq!(context_of(&initial, &events, "Is the soup cold?"), "", "{scope}: {events:?}");
            assert!(messages(&initial, &events).is_empty());
        }
    }
    for scope in ["global", "session"] {
        for (initial, events) in in_each_layer("scope", &scope.into()) {
            assert_eq!(
                context_of(&initial, &events, "Is the soup cold?"),
                "The soup is cold",
                "{scope}: {events:?}"
            );
        }
    }
}

#[test]
fn unknown_and_fact_fields_are_reported() {
    for (initial, events) in in_each_layer("colour", &"loud".into()) {
        let messages = messages(&initial, &events);
        assert!(messages.len() == 1 && messages[0].contains("found `colour`"), "{events:?}: {messages:?}");
        assert_eq!(context_of(&initial, &events, "Is the soup cold?"), "The soup is cold");
    }
    for (field, value) in [("supersedes", json!("roof")), ("depends_on", json!(["roof"]))] {
        for (initial, events) in in_each_layer(field, &value) {
            let messages = messages(&initial, &events);
            assert!(messages.len() == 1 && messages[0].contains(&format!("`{field}`")), "{messages:?}");
        }
    }
}

#[test]
fn reserved_keys_are_unreachable() {
    let mut known = with_title("HR Manager");
    known["working_set"] = json!([{"content": "The soup is cold"}]);
    known["environment"]["feed"] = "[RESTRICTED: HR] The soup is off".into();
    let named = |key: &str| write(json!({"key": key, "value": "The soup is red", "source": "user"}));
    let events = [
        write(note("note 1", "The soup has leeks")),
        named("environment: feed"),
        named("\u{a0}environment: feed"),
    ];
    let context = context_of(&known, &events, "What of the soup?");
    for part in ["The soup is cold", "The soup is off", "The soup has leeks"] {
        assert!(context.contains(part), "{part}: {context}");
    }
}

#[test]
fn clock_keeps_its_text_form() {
    for (first, later) in [
        ("2025-01-01T10:00:00", "2025-01-01T12:00:00"),
        ("2025-01-01T10:00:00Z", "2025-01-01T12:00:00Z"),
        ("2025-01-01 10:00", "2025-01-01 12:00"),
        ("2025-01-01T11:00:00+01:00", "2025-01-01T13:00:00+01:00"),
        ("2025-01-01T13:00:00", "2025-01-01T13:00:00"),
        ("teatime", "2025-01-01T12:00:00Z"),
    ] {
        let mut initial = initial();
        initial["environment"]["now"] = first.into();
        let contexts = contexts(&initial, &json!([ask("What?")]));
        assert_eq!(contexts, [format!("Ada; Kitchen; Inn\n\nnow: {later}")], "{first}");
    }
}

#[test]
fn initial_facts_follow_times_and_references() {
    let timed =
        |key: &str, value: &str, ts: &str| with(fact(key, value), "ts", format!("2025-01-0{ts}T00:00:00"));
    let (red, black) = (timed("roof", "red", "1"), timed("roof", "black", "2"));
    let linked = with(timed("arch", "black", "1"), "supersedes", "roof");
    let dependent = with(timed("arch", "black", "1"), "depends_on", json!(["roof"]));
    for (facts, expected) in [
        (json!([black, red]), "roof: black"),
        (json!([red, black]), "roof: black"),
        (json!([linked, black]), "arch: black"),
        (json!([dependent, red]), "roof: red\narch: black"),
        (json!([fact("roof", "red"), fact("roof", "black")]), "roof: black"),
    ] {
        let initial = with_facts(facts);
        assert_eq!(context_of(&initial, &[], "What?"), expected, "{initial}");
        assert_eq!(messages(&initial, &[]), Vec::<String>::new());
    }
}

#[test]
fn former_clock_hides_no_statement() {
    let text = "The soup is served at 10:00";
    assert_eq!(context_of(&initial(), &[say(text)], "When is the soup served?"), text);
}
