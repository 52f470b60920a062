//! Rules on what is no fact: signals, notes and turns, and what their fields say of them.

use super::bad_input::report;
use super::{ask, contexts, initial, line_from, say, signal, told, with_facts, write};
use serde_json::{Value, json};

/// The same, with a field more.
fn with(mut what: Value, field: &str, value: &Value) -> Value {
    what[field] = value.clone();
    what
}

/// Something about soup in each layer that is no fact: as it is known at first, and the events that write it.
fn everywhere(field: &str, value: &Value) -> Vec<(Value, Vec<Value>)> {
    let text = "The soup is cold";
    let mut at_first = initial();
    at_first["working_set"] = json!([with(json!({"content": text}), field, value)]);
    let note = with(signal("soup", text), "layer", &"working_set".into());
    vec![
        (at_first, vec![]),
        (initial(), vec![write(with(signal("soup", text), field, value))]),
        (initial(), vec![write(with(note, field, value))]),
        (initial(), vec![with(say(text), field, value)]),
    ]
}

fn faults(initial: &Value, events: &[Value]) -> Vec<String> {
    let report = report(&line_from(initial, &events.into()));
    report.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_withdrawn_or_restricted_by_its_fields_is_not_written_and_named() {
    for (field, value, why) in [
        ("is_valid", json!(false), "does not hold"),
        ("superseded_by", json!("ruin"), "does not hold"),
        ("restricted_to", json!("HR"), "its field `restricted_to` cannot be read"),
        ("scope", json!("galactic"), "unknown scope `galactic`"),
    ] {
        for (initial, events) in everywhere(field, &value) {
            assert_eq!(told(&initial, &events, "Is the soup cold?"), "", "{field}: {events:?}");
            let faults = faults(&initial, &events);
            assert!(
                faults.len() == 1 && faults[0].contains(why) && !faults[0].contains('\u{a0}'),
                "{field}, {events:?}: {faults:?}"
            );
        }
    }
}

#[test]
fn what_counts_in_a_scope_by_its_field_stays_there() {
    for scope in ["hypothetical", "draft", "task"] {
        for (initial, events) in everywhere("scope", &scope.into()) {
            assert_eq!(told(&initial, &events, "Is the soup cold?"), "", "{scope}: {events:?}");
            assert!(faults(&initial, &events).is_empty());
        }
    }
    for scope in ["global", "session"] {
        for (initial, events) in everywhere("scope", &scope.into()) {
            assert_eq!(
                told(&initial, &events, "Is the soup cold?"),
                "The soup is cold",
                "{scope}: {events:?}"
            );
        }
    }
}

#[test]
fn fields_that_mean_nothing_there_are_named_and_the_rest_is_kept() {
    for (initial, events) in everywhere("colour", &"loud".into()) {
        let faults = faults(&initial, &events);
        assert!(faults.len() == 1 && faults[0].contains("unknown field `colour`"), "{events:?}: {faults:?}");
        assert_eq!(told(&initial, &events, "Is the soup cold?"), "The soup is cold");
    }
    for (field, value) in [("supersedes", json!("roof")), ("depends_on", json!(["roof"]))] {
        for (initial, events) in everywhere(field, &value) {
            let faults = faults(&initial, &events);
            assert!(faults.len() == 1 && faults[0].contains(&format!("field `{field}`")), "{faults:?}");
        }
    }
}

#[test]
fn no_write_takes_the_place_of_a_note_or_of_a_signal_by_its_key() {
    let mut known = initial();
    known["identity_role"]["authority"] = "HR Manager".into();
    known["working_set"] = json!([{"content": "The soup is cold"}]);
    known["environment"]["feed"] = "[RESTRICTED: HR] The soup is off".into();
    let note = with(signal("note 1", "The soup has leeks"), "layer", &"working_set".into());
    let named = |key: &str| write(json!({"key": key, "value": "The soup is red", "source": "user"}));
    let events = [write(note), named("environment: feed"), named("\u{a0}environment: feed")];
    let told = told(&known, &events, "What of the soup?");
    for part in ["The soup is cold", "The soup is off", "The soup has leeks"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn the_clock_goes_on_in_the_form_in_which_it_was_told() {
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
        let told = contexts(&initial, &json!([ask("What?")]));
        assert_eq!(told, [format!("Ada; Kitchen; Inn\n\nnow: {later}")], "{first}");
    }
}

#[test]
fn facts_that_are_known_at_first_have_no_order_but_that_of_their_times_and_links() {
    let fact = |key: &str, value: &str, ts: &str| {
        with(super::fact(key, value), "ts", &format!("2025-01-0{ts}T00:00:00").into())
    };
    let (red, black) = (fact("roof", "red", "1"), fact("roof", "black", "2"));
    let linked = with(fact("arch", "black", "1"), "supersedes", &"roof".into());
    let resting = with(fact("arch", "black", "1"), "depends_on", &json!(["roof"]));
    for (facts, expected) in [
        (json!([black, red]), "roof: black"),
        (json!([red, black]), "roof: black"),
        (json!([linked, black]), "arch: black"),
        (json!([resting, red]), "roof: red\narch: black"),
        (json!([super::fact("roof", "red"), super::fact("roof", "black")]), "roof: black"),
    ] {
        let initial = with_facts(facts);
        assert_eq!(told(&initial, &[], "What?"), expected, "{initial}");
        assert_eq!(faults(&initial, &[]), Vec::<String>::new());
    }
}

#[test]
fn what_time_it_was_hides_nothing_that_is_said() {
    let said = "The soup is served at 10:00";
    assert_eq!(told(&initial(), &[say(said)], "When is the soup served?"), said);
}
