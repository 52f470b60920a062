//! Document 002 by its published encoding: rejected input, and the kernel against the document's pseudo-code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::SituationPolicy;
use orchestrion_kernel::situation::{
    ActionRecord, Mode, OBSOLETE_KEYS, STATE_FIELDS, SituationSummary, SummaryUpdate,
    build_reasoning_context, format_actions_for_fast_mode, format_latest_results_detailed,
    get_compressed_attempts,
};
use orchestrion_tests::oracle::policy::SituationLimits;
use orchestrion_tests::oracle::situation::Situation;
use orchestrion_tests::root;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns an action record as the document writes it.
fn record() -> Value {
    json!({
        "iteration": 2,
        "timestamp": "2026-11-21T19:00:00Z",
        "mode": "deep",
        "thinking": "The roof leaks.",
        "planning": "Find the leak.",
        "reflection": "It rains.",
        "approach": "from above",
        "tool_calls": [
            { "name": "look", "args": {}, "result": "dark", "outcome": "failure" },
            { "name": "light", "args": { "lamp": "left" }, "result": "", "outcome": "timeout" },
        ],
    })
}

/// Returns the record in a file, and the error of reading it.
fn read_error(record: &Value) -> (String, String) {
    let text = serde_json::to_string_pretty(record).unwrap();
    let error = serde_json::from_str::<ActionRecord>(&text).unwrap_err();
    (text, error.to_string())
}

/// 002-2.1, 002-2.2, 002-2.3, 002-2.4, 002-2.5, 002-2.6, 002-2.7, 002-2.8, 002-2.9.
#[test]
fn action_record_matches_document() {
    let read: ActionRecord = serde_json::from_value(record()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), record());
    for key in record().as_object().unwrap().keys() {
        let mut incomplete = record();
        incomplete.as_object_mut().unwrap().remove(key);
        let (_, error) = read_error(&incomplete);
        assert!(error.starts_with(&format!("missing field `{key}`")), "{error}");
    }
    for key in ["name", "args", "result", "outcome"] {
        let mut incomplete = record();
        incomplete["tool_calls"][1].as_object_mut().unwrap().remove(key);
        let (_, error) = read_error(&incomplete);
        assert!(error.starts_with(&format!("missing field `{key}`")), "{error}");
    }
}

/// 002-2.4, 002-2.11.
#[test]
fn modes_and_outcomes_are_closed_lists() {
    let mut unknown = record();
    unknown["mode"] = json!("slow");
    assert!(
        read_error(&unknown).1.starts_with("unknown variant `slow`, expected `fast` or `deep` at line 4")
    );
    let mut unknown = record();
    unknown["tool_calls"][0]["outcome"] = json!("maybe");
    let (_, error) = read_error(&unknown);
    assert!(
        error.starts_with(
            "unknown variant `maybe`, expected one of `success`, `failure`, `error`, `timeout` at line"
        ),
        "{error}"
    );
}

/// 002-2.2, 002-2.3: an iteration is counted from 1, and a time is encoded in ISO 8601.
#[test]
fn iteration_zero_and_other_times_are_refused() {
    let mut zero = record();
    zero["iteration"] = json!(0);
    assert!(read_error(&zero).1.starts_with("invalid value: integer `0`, expected a nonzero u32"));
    for text in
        ["", "now", "2026-11-21", "2026-11-21T19:00:00", "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z"]
    {
        let mut other = record();
        other["timestamp"] = json!(text);
        let (_, error) = read_error(&other);
        assert!(error.starts_with("invalid time: expected ISO 8601 in UTC"), "{text}: {error}");
    }
}

/// 002-2.12, 002-2.13, 002-6.1: at the record, and at each tool call. The error contains the key, its line and column,
/// and the allowed keys, which distinguish a record from a tool call.
#[test]
fn obsolete_action_record_keys_are_refused() {
    assert_eq!(OBSOLETE_KEYS, ["synthesis", "progress", "hypothesis", "insights", "learning", "relevance"]);
    let compression =
        ["compressed", "compressed_result", "summary", "situation_summary", "summary_update", "truncated"];
    for key in OBSOLETE_KEYS.into_iter().chain(compression) {
        for value in [json!(""), json!({ "belief": "", "test": "" })] {
            let mut of_iteration = record();
            of_iteration[key] = value.clone();
            check_error(&of_iteration, key, "expected one of `iteration`, `timestamp`, `mode`");
            for call in 0..2 {
                let mut of_call = record();
                of_call["tool_calls"][call][key] = value.clone();
                check_error(&of_call, key, "expected one of `name`, `args`, `result`, `outcome`");
            }
        }
    }
}

/// Checks that the error contains the key, its location, and the allowed keys.
fn check_error(record: &Value, key: &str, expected: &str) {
    let (text, error) = read_error(record);
    let quoted = format!("\"{key}\":");
    let (line, text) = text
        .lines()
        .zip(1..)
        .map(|(text, line)| (line, text))
        .find(|(_, text)| text.contains(&quoted))
        .unwrap();
    let column = text.find(&quoted).unwrap() + quoted.len() - 1;
    assert!(error.starts_with(&format!("unknown field `{key}`, {expected}")), "{error}");
    assert!(error.ends_with(&format!(" at line {line} column {column}")), "{error} in line {line}: {text}");
}

/// 002-2.8: the tool defines the names of its arguments.
#[test]
fn argument_may_have_obsolete_key_name() {
    for key in OBSOLETE_KEYS {
        let mut named = record();
        named["tool_calls"][0]["args"][key] = json!("x");
        let read: ActionRecord = serde_json::from_value(named).unwrap();
        assert_eq!(
            format_latest_results_detailed(&[read]).lines().next(),
            Some(&*format!("look({key}=x) → failure: dark"))
        );
    }
}

/// 002-0.3, 002-4.1: the keys of the document's prompt are the fields of the summary.
#[test]
fn summary_update_matches_document() {
    let update = json!({
        "goal": "What is the main objective?",
        "progress": "What has been accomplished so far?",
        "current_approach": "What strategy are we using?",
        "key_findings": "What important information have we discovered?",
        "next_focus": "What should be the next priority?",
    });
    let read: SummaryUpdate = serde_json::from_value(update.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), update);
    let changed: Vec<_> = read.changes(1_000).map(|(field, text)| (field.name(), text.to_string())).collect();
    let expected = ["goal", "progress", "current_approach", "key_findings", "next_focus"];
    assert_eq!(changed, expected.map(|key| (key, update[key].as_str().unwrap().to_owned())));
}

/// 002-0.1: the fields are those of the document, and every name in the table exists in the kernel.
#[test]
fn state_mapping_names_existing_fields() {
    let document = "query user_id messages iteration depth react_mode stop_reason selected_tools tool_calls result \
                    actions attempts current_approach situation_summary response respond_directly verbose trace \
                    callback notifications";
    assert_eq!(STATE_FIELDS.map(|field| field.name).join(" "), document);
    let mut kernel = String::new();
    read_all(&root().join("kernel/src"), &mut kernel);
    for field in STATE_FIELDS {
        for word in field.note.split('`').skip(1).step_by(2).flat_map(|code| code.split("::")) {
            let declared = ["struct ", "enum ", "fn ", "type ", "const ", "    ", "pub ", "pub(crate) "]
                .iter()
                .any(|before| {
                    kernel.match_indices(&format!("{before}{word}")).any(|(at, found)| {
                        kernel[at + found.len()..].starts_with([' ', '(', ':', ',', ';', '<', '{'])
                    })
                });
            assert!(
                declared || word == "default",
                "{}: expected {word} in the kernel, found none",
                field.name
            );
        }
    }
}

/// Appends every source file below a folder except the table's own.
fn read_all(folder: &std::path::Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, text);
        } else if !path.ends_with("situation/fields.rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// An update of a situation, in its published encoding.
#[derive(Clone, Debug)]
enum Step {
    Update(Value),
    Act(Value),
}

/// Generates texts near the length limits, blank texts, and texts that resemble their markup.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        6 => prop::char::range('a', 'c'),
        2 => prop::sample::select(vec![' ', '\n', '\t', '\u{1c}', '\u{1f}', '\u{85}', '\u{a0}', '\u{2003}', '\u{200b}']),
        2 => prop::sample::select(vec!['é', '\u{301}', '→', '🎼', ';', ':', '.', '=', ',']),
        1 => any::<char>(),
    ];
    let of = |characters| vec(character.clone(), characters).prop_map(String::from_iter);
    prop_oneof![
        3 => of(0..4),
        2 => of(15..25),
        2 => of(45..55),
        1 => of(995..1_005),
        2 => "[ \t\n\u{1c}-\u{1f}\u{a0}\u{3000}]{0,3}",
        1 => prop::sample::select(vec![
            "No previous attempts", "No tool results from current iteration", "No context available", "goal: a; progress: b",
        ]).prop_map(String::from),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let key = prop::sample::select(vec![
        "goal",
        "progress",
        "current_approach",
        "key_findings",
        "next_focus",
        "hypothesis",
        "Goal",
        " goal",
        "",
    ]);
    let update = vec((key, text()), 0..4).prop_map(|texts| {
        Step::Update(texts.into_iter().map(|(key, text)| (key.to_owned(), json!(text))).collect())
    });
    let outcome = prop::sample::select(vec!["success", "failure", "error", "timeout"]);
    let args = vec((text(), text()), 0..3)
        .prop_map(|args| args.into_iter().map(|(name, value)| (name, json!(value))).collect::<Value>());
    let call = (text(), args, text(), outcome).prop_map(|(name, args, result, outcome)| {
        json!({ "name": name, "args": args, "result": result, "outcome": outcome })
    });
    let act = (vec(call, 0..3), 1..=u32::MAX, prop::bool::ANY).prop_map(|(calls, iteration, deep)| {
        let mut record = record();
        record["iteration"] = json!(iteration);
        record["mode"] = json!(if deep { "deep" } else { "fast" });
        record["tool_calls"] = json!(calls);
        Step::Act(record)
    });
    // Summaries are rare; otherwise the fallback would stay untested.
    prop_oneof![1 => update, 5 => act]
}

/// Generates limits: the built-in ones, and others.
fn limits() -> impl Strategy<Value = SituationPolicy> {
    let built_in = Policy::hardened().situation;
    let other = (1..5_u32, 1..30_u32, 1..1_100_u32, 1..30_u32, 1..60_u32).prop_map(
        move |(max_history, summary, result, compressed_args, compressed_result)| SituationPolicy {
            max_history,
            summary_chars_max: summary,
            result_chars_max: result,
            compressed_args_chars_max: compressed_args,
            compressed_result_chars_max: compressed_result,
            ..built_in
        },
    );
    prop_oneof![Just(built_in), other]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernel_matches_pseudo_code(steps in vec(step(), 0..10), policy in limits()) {
        let limits: SituationLimits = serde_json::from_value(json!(policy)).unwrap();
        let (mut summary, mut actions) = (SituationSummary::default(), Vec::<ActionRecord>::new());
        let mut expected = Situation::default();
        for step in &steps {
            match step {
                Step::Update(update) => {
                    let update = serde_json::from_value::<SummaryUpdate>(update.clone()).unwrap();
                    summary.merge(&update, policy.summary_chars_max);
                    expected.update(&limits, &json!(update));
                }
                Step::Act(record) => {
                    let action: ActionRecord = serde_json::from_value(record.clone()).unwrap();
                    actions.push(action.with_truncated_results(policy.result_chars_max));
                    expected.act(&limits, record);
                }
            }
            prop_assert_eq!(get_compressed_attempts(&policy, &summary, &actions), expected.get_compressed_attempts(&limits));
            prop_assert_eq!(format_actions_for_fast_mode(&policy, &summary, &actions), expected.format_actions_for_fast_mode(&limits));
            prop_assert_eq!(format_latest_results_detailed(&actions), expected.format_latest_results_detailed());
            for (mode, named) in [(Mode::Fast, "fast"), (Mode::Deep, "deep")] {
                let text = build_reasoning_context(&policy, mode, &summary, &actions);
                prop_assert_eq!(text, expected.build_reasoning_context(&limits, named));
            }
        }
    }
}
