//! The fields of events agree with the encoding of the events, in all golden traces.

use crate::event_kind::EventKind;
use crate::fields::Moment;
use crate::request::Request;
use crate::value::KeptValue;
use crate::{FIELDS, sentence};
use orchestrion_kernel::{Event, Policy};
use orchestrion_trace::Reader;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the encoding of an event has the value of a field; the first place that exists counts.
const PLACES: &[(&str, &[&str])] = &[
    ("task", &["/tool_call/operation/run_task/task", "/tool_call/operation/undo_task/task"]),
    ("effect", &["/tool_call/operation/run_task/effect"]),
    ("failure", &["/call_failed/failure"]),
    ("stance", &["/tool_result/report/argument/argument/stance"]),
    ("confidence", &["/tool_result/report/argument/argument/confidence"]),
    ("exit_code", &["/tool_result/report/exit/code"]),
    ("approved", &["/tool_result/report/approval/approved"]),
    (
        "text",
        &[
            "/user_msg/text",
            "/add_item/item/text",
            "/update_item/item/text",
            "/final_answer/text",
            "/memory_recorded/record/text",
            "/tool_result/report/summary/text",
            "/tool_result/report/argument/text",
            "/tool_result/report/approval/text",
            "/tool_result/report/repaired/text",
            "/tool_result/report/no_repair/text",
            "/tool_result/report/exit/text",
        ],
    ),
    ("user", &["/user_msg/user", "/session_started/user"]),
    ("score", &["/consensus_scored/score", "/decided/decision/score"]),
    ("label", &["/decided/decision/label"]),
    ("conclusion", &["/concluded/conclusion/kind", "/memory_recorded/record/kind"]),
    ("transition", &["/transitioned/row"]),
];

/// The text of a value in a claim file; scores are millionths in a trace.
fn text(field: &str, value: &Value) -> String {
    match value {
        Value::String(name) if field == "text" || field == "user" => format!("{name:?}"),
        Value::String(name) => name.clone(),
        Value::Number(number) if field == "confidence" || field == "score" => {
            let decimal = format!("{:.6}", number.as_f64().unwrap() / 1e6);
            decimal.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        other => other.to_string(),
    }
}

/// The values of all fields at an event, as a claim file writes them, without those that have none.
fn field_values(request: &mut Request, policy: &Policy, event: &Event) -> Vec<(&'static str, String)> {
    let operation = request.operation(event);
    request.apply(policy, event, operation);
    let (kind, moment) = (EventKind::of(event), Moment { event, operation, request });
    let value = |field: &crate::Field| {
        let value = KeptValue::from(Some((field.read)(&moment)?));
        Some((field.name, sentence::value(field, &value)))
    };
    FIELDS.iter().filter(|field| field.is_of(kind)).filter_map(value).collect()
}

/// Calls a function at each accepted event of each golden trace, with the events of its step and the fields.
fn for_each_event(mut visit: impl FnMut(&Event, &BTreeMap<&'static str, String>)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut traces: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "ndjson")).collect();
    traces.sort();
    assert!(traces.len() > 50, "{traces:?}");
    for trace in traces {
        let bytes = std::fs::read(&trace).unwrap();
        let reader = Reader::new(bytes.as_slice(), &trace.display().to_string()).unwrap();
        let (policy, mut request) = (reader.header().policy.clone(), Request::default());
        for step in reader {
            let step = step.unwrap();
            for event in &step.events {
                let fields = field_values(&mut request, &policy, event).into_iter().collect();
                visit(event, &fields);
            }
        }
    }
}

#[test]
fn fields_agree_with_the_encoding_of_events() {
    for_each_event(|event, fields| {
        let encoded = serde_json::to_value(event).unwrap();
        for (field, places) in PLACES {
            let found = places.iter().find_map(|place| encoded.pointer(place));
            if let Some(value) = found {
                assert_eq!(fields.get(field), Some(&text(field, value)), "{field} of {encoded}");
            }
        }
        if let Event::PlanAdopted { plan, .. } = event {
            assert_eq!(fields["tasks"], plan.tasks().len().to_string());
        }
        if let Event::ToolResult { module, .. } | Event::CallFailed { module, .. } = event {
            assert_eq!(fields["module"], module.name());
        }
    });
}

/// A reply has the operation, the task and the effect of its call.
#[test]
fn replies_have_the_fields_of_their_calls() {
    let mut calls: BTreeMap<u64, [Option<String>; 3]> = BTreeMap::new();
    let mut answered = 0;
    for_each_event(|event, fields| {
        let of_call = ["operation", "task", "effect"].map(|field| fields.get(field).cloned());
        match event {
            Event::ToolCall { call, .. } => drop(calls.insert(call.number(), of_call)),
            Event::ToolResult { call, .. } | Event::CallFailed { call, .. } => {
                assert_eq!(calls[&call.number()], of_call, "{event:?}");
                answered += 1;
            }
            _ => {}
        }
    });
    assert!(answered > 500, "{answered}");
}

/// Each flag of the request is both true and false, and each number has two values: a field that reads the wrong thing, or nothing,
/// is noticed here or above.
#[test]
fn fields_of_the_request_change() {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for_each_event(|_, fields| {
        for (name, value) in fields {
            values.entry(name).or_default().insert(value.clone());
        }
    });
    for field in FIELDS.iter().filter(|field| field.events.is_empty()) {
        let seen = values.get(field.name).map_or(0, BTreeSet::len);
        assert!(seen >= 2, "{} has {seen} values", field.name);
    }
    let unseen: Vec<&str> =
        FIELDS.iter().map(|field| field.name).filter(|name| !values.contains_key(name)).collect();
    assert!(unseen.is_empty(), "no golden trace has {unseen:?}");
}

/// At a veto the request is vetoed, at a cancel cancelled, and so on.
#[test]
fn fields_of_the_request_follow_its_events() {
    let mut expected: BTreeMap<&str, String> = BTreeMap::new();
    for_each_event(|event, fields| {
        match event {
            Event::UserMsg { .. } => {
                for flag in ["verified", "cancelled", "rolled_back", "vetoed"] {
                    expected.insert(flag, "false".to_owned());
                }
                for number in ["repairs", "tasks"] {
                    expected.insert(number, "0".to_owned());
                }
            }
            Event::Cancelled => drop(expected.insert("cancelled", "true".to_owned())),
            Event::Transitioned { row }
                if row.transition().to == orchestrion_kernel::Phase::RollbackActive =>
            {
                expected.insert("rolled_back", "true".to_owned());
            }
            Event::VetoRaised { .. } => drop(expected.insert("vetoed", "true".to_owned())),
            Event::RepairStarted => {
                let repairs: u32 = expected["repairs"].parse().unwrap();
                expected.insert("repairs", (repairs + 1).to_string());
            }
            Event::PlanAdopted { plan, .. } => drop(expected.insert("tasks", plan.tasks().len().to_string())),
            _ => {}
        }
        if let (Event::ToolResult { .. }, Some(verified)) = (event, fields.get("verified")) {
            expected.insert("verified", verified.clone());
        }
        let is_running = fields.get("request.phase").is_some_and(|phase| phase != "Idle");
        for (field, value) in expected.iter().filter(|_| is_running) {
            let name = format!("request.{field}");
            assert_eq!(fields.get(name.as_str()), Some(value), "{name} at {event:?}");
        }
    });
}
