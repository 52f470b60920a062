//! What claim files say, and how wrong ones are refused.

use crate::{ClaimFile, EventKind, FIELDS, claim_schema, fields_page};
use orchestrion_yaml::render_error;
use std::path::Path;

/// A file with one claim of these lines.
fn file(lines: &[&str]) -> String {
    format!("claims:\n- id: c\n  {}\n", lines.join("\n  "))
}

#[test]
fn sentences_say_what_a_claim_says() {
    let claims: [&[&str]; 12] = [
        &["never: {event: tool_call, operation: [run_task, undo_task]}"],
        &["after: {event: veto_raised}", "never: {operation: run_task}"],
        &[
            "within: session",
            "before: {event: decided}",
            "never: {event: add_item, text: {contains: secret}}",
        ],
        &[
            "between: {start: {event: user_msg}, end: {event: final_answer}}",
            "at_least: {count: 1, of: {event: decided}}",
        ],
        &["within: conversation", "at_most: {limit: 2, of: {operation: run_task}, each: [task]}"],
        &["at_most: {limit: 0.5, of: {event: tool_result, confidence: {at_least: 0}}, sum: confidence}"],
        &[
            "always: {at: {label: {not: [rejected, vetoed]}}, holds: {request.vetoed: false, score: {at_least: 0.7}}}",
        ],
        &["always: {holds: {request.pass: {at_most: 3}}}"],
        &["precedes: {first: {approved: true}, then: {effect: irreversible}}"],
        &[
            "responds:",
            "  to: {operation: run_task}",
            "  with: {event: [tool_result, call_failed], operation: run_task}",
            "  same: [task]",
        ],
        &["until: {holds: {request.phase: [Idle, VerifyingIdentity]}, end: {verified: true}}"],
        &["assume: {never: {event: cancelled}}", "at_least: {count: 2, of: {operation: store_memory}}"],
    ];
    let sentences = claims.map(|lines| {
        let read = ClaimFile::parse("claims.yaml", &file(lines));
        read.unwrap_or_else(|error| panic!("{}", render_error(&error))).claims[0].sentence.clone()
    });
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn wrong_files_state_place_and_remedy() {
    let wrong: [&[&str]; 19] = [
        &["never: {event: tool_calls}"],
        &["never: {event: tool_call, operations: run_task}"],
        &["never: {event: tool_call, operation: run}"],
        &["never: {event: user_msg, task: 1}"],
        &["never: {task: one}"],
        &["never: {confidence: 1.5}"],
        &["never: {module: {at_least: 1}}"],
        &["never: {task: {contains: a}}"],
        &["never: {approved: maybe}"],
        &["never: {}"],
        &["never: {text: {}}"],
        &["never: {exit_code: 1, user: ada}"],
        &["never: {event: decided}", "always: {holds: {request.vetoed: false}}"],
        &["why: nothing"],
        &[
            "before: {event: decided}",
            "between: {start: {event: decided}, end: {event: concluded}}",
            "never: {event: decided}",
        ],
        &["precedes: {first: {event: decided}, then: {operation: run_task}, same: [task]}"],
        &["at_most: {limit: -1, of: {event: decided}}"],
        &["at_most: {limit: 1, of: {operation: run_task}, sum: operation}"],
        &["within: week", "never: {event: decided}"],
    ];
    let mut texts: Vec<String> = wrong.map(file).into();
    texts.push("claims: []\n".to_owned());
    texts.push("claims:\n- {id: A, never: {event: decided}}\n".to_owned());
    texts
        .push("claims:\n- {id: a, never: {event: decided}}\n- {id: a, never: {event: decided}}\n".to_owned());
    let errors = texts.iter().map(|text| match ClaimFile::parse("claims.yaml", text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => render_error(&error),
    });
    insta::assert_snapshot!(errors.collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_field_has_a_unique_name_and_its_events() {
    for (position, field) in FIELDS.iter().enumerate() {
        assert!(FIELDS.iter().skip(position + 1).all(|other| other.name != field.name), "{}", field.name);
        assert_eq!(field.events.is_empty(), field.name.starts_with("request."), "{}", field.name);
    }
    let page = fields_page();
    assert!(EventKind::ALL.iter().all(|kind| page.contains(kind.name())));
}

#[test]
fn schema_accepts_only_valid_files() {
    let schema = jsonschema::validator_for(&claim_schema()).unwrap();
    for file in ["specs/claims/gallery.yaml", "tests/fuzz/corpus/claims/every-pattern"] {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert!(schema.is_valid(&value), "{file}: {:?}", schema.validate(&value));
    }
    let valid = serde_json::json!({"id": "a", "at_most": {"limit": 2, "of": {"event": "decided"}}});
    let accepts = |claim: &serde_json::Value| schema.is_valid(&serde_json::json!({"claims": [claim]}));
    assert!(accepts(&valid));
    for (key, invalid) in [
        ("id", serde_json::json!("A")),
        ("within", serde_json::json!("week")),
        ("never", serde_json::json!({})),
        ("at_most", serde_json::json!({"limit": "2", "of": {"event": "decided"}})),
        ("at_least", serde_json::json!({"count": 0, "of": {"event": "decided"}})),
        ("sometimes", serde_json::json!({"event": "decided"})),
    ] {
        let mut claim = valid.clone();
        claim[key] = invalid;
        assert!(!accepts(&claim), "{claim}");
    }
}

/// The name of a value in a trace: its text, or the one key of its mapping.
fn traced(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value).unwrap() {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(fields) => fields.keys().next().unwrap().clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn names_are_those_of_traces() {
    use crate::fields::names::{
        CALL_FAILURES, CAUSES, CONCLUSIONS, EFFECTS, FORGET_CAUSES, ITEM_KINDS, LABELS, LAYERS, OPERATIONS,
        SCOPES, STANCES,
    };
    use orchestrion_kernel::event::{Cause, DecisionLabel, ForgetCause};
    use orchestrion_kernel::item::{ItemKind, Layer, Scope};
    use orchestrion_kernel::module::{ConclusionKind, Failure, Operation, Stance};
    use orchestrion_kernel::plan::EffectKind;
    fn ensure<T: serde::de::DeserializeOwned + serde::Serialize>(names: &[&str], content: &str) {
        for name in names {
            // A name alone, or with content.
            let alone = serde_json::from_str::<T>(&format!("{name:?}"));
            let value = alone.or_else(|_| serde_json::from_str(&format!("{{{name:?}: {content}}}")));
            assert_eq!(traced(value.unwrap_or_else(|error| panic!("{name}: {error}"))), **name);
        }
    }
    ensure::<EffectKind>(EFFECTS, "");
    ensure::<Failure>(CALL_FAILURES, "");
    ensure::<Stance>(STANCES, "");
    ensure::<DecisionLabel>(LABELS, "");
    ensure::<ConclusionKind>(CONCLUSIONS, "");
    ensure::<Cause>(CAUSES, "[\"planner\", \"error\"]");
    ensure::<ForgetCause>(FORGET_CAUSES, "{\"into\": 1}");
    ensure::<Scope>(SCOPES, "\"x\"");
    assert_eq!(ITEM_KINDS, ["fact", "constraint", "subtask"]);
    ensure::<ItemKind>(&ITEM_KINDS[..2], "\"budget\"");
    ensure::<ItemKind>(&ITEM_KINDS[2..], "\"done\"");
    for name in OPERATIONS {
        let contents = [
            "\"critic\"",
            "{\"task\": 1, \"effect\": \"pure\"}",
            "{\"task\": 1}",
            "{\"debater\": 0}",
            "{\"store\": \"local\", \"kind\": \"outcome\"}",
        ];
        let texts = contents.map(|content| format!("{{{name:?}: {content}}}"));
        let texts = [format!("{name:?}")].into_iter().chain(texts);
        let mut read = texts.filter_map(|text| serde_json::from_str::<Operation>(&text).ok());
        assert_eq!(traced(read.next().unwrap_or_else(|| panic!("{name}"))), **name);
    }
    assert_eq!(traced(Layer::Environment), "environment");
    assert!(LAYERS.contains(&"environment"));
}
