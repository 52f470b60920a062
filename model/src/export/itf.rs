//! A run in the Informal Trace Format of Apalache and Quint.
//!
//! <https://apalache-mc.org/docs/adr/015adr-trace.html>. Files end in `.itf.json`.

use serde_json::{Map, Value, json};

/// The first bytes of an exported trace with line breaks.
pub const ITF_PREFIX: &str = "{\n  \"#meta\": {\n    \"description\": \"";

/// A state and the action that led to it; the first state has none.
pub type ItfState = (Option<String>, Value);

/// The variable that contains the action.
const ACTION: &str = "action";

/// Returns a run as an ITF trace. The variables are the keys of the states, which must be objects, and `action`. `loop_to` is
/// the index of the state to which the last one returns, if the run is a lasso.
#[must_use]
pub fn itf(description: &str, run: &[ItfState], loop_to: Option<usize>) -> Value {
    let mut vars: Vec<&str> = vec![ACTION];
    for (_, state) in run {
        for key in state.as_object().into_iter().flat_map(Map::keys) {
            if !vars.contains(&&key[..]) {
                vars.push(key);
            }
        }
    }
    let states: Vec<Value> = run
        .iter()
        .enumerate()
        .map(|(index, (action, state))| {
            let mut variables = Map::new();
            variables.insert("#meta".to_string(), json!({ "index": index }));
            variables.insert(ACTION.to_string(), json!(action.as_deref().unwrap_or("")));
            for var in &vars[1..] {
                variables.insert((*var).to_string(), value(state.get(*var).unwrap_or(&Value::Null)));
            }
            Value::Object(variables)
        })
        .collect();
    let mut trace = Map::new();
    trace.insert(
        "#meta".to_string(),
        json!({"format": "ITF", "format-description": FORMAT, "source": "orchestrion", "description": description}),
    );
    trace.insert("vars".to_string(), json!(vars));
    trace.insert("states".to_string(), Value::Array(states));
    if let Some(index) = loop_to {
        trace.insert("loop".to_string(), json!(index));
    }
    Value::Object(trace)
}

const FORMAT: &str = "https://apalache-mc.org/docs/adr/015adr-trace.html";

/// Converts a value to ITF: every integer is a big integer; null, which ITF lacks, is a record without fields.
fn value(json: &Value) -> Value {
    match json {
        Value::Null => json!({}),
        Value::Number(number) => json!({ "#bigint": number.to_string() }),
        Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        // A field with a name that ITF reserves would be parsed as something else.
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| {
                    (format!("{}{key}", if key.starts_with('#') { "_" } else { "" }), value(field))
                })
                .collect(),
        ),
        Value::Bool(_) | Value::String(_) => json.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Shown {
        action: String,
        phase: String,
        passes: u64,
        known: Vec<Fact>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Fact {
        id: u64,
        holds: bool,
    }

    fn run() -> Vec<ItfState> {
        let state = |phase: &str, passes: u64| json!({"phase": phase, "passes": passes, "known": [{"id": 9_007_199_254_740_993_u64, "holds": true}]});
        vec![(None, state("Idle", 0)), (Some("ask".to_string()), state("Planning", u64::MAX))]
    }

    /// Parsed by the library of the format's authors.
    #[test]
    fn independent_reader_parses_the_export() {
        let written = super::itf("a run", &run(), Some(0));
        assert!(format!("{written:#}").starts_with(ITF_PREFIX), "{written:#}");
        let read: itf::Trace<Shown> = itf::trace_from_str(&written.to_string()).unwrap();
        assert_eq!(read.vars, ["action", "known", "passes", "phase"].map(String::from));
        assert_eq!(read.loop_index, Some(0));
        let [first, second] = &read.states[..] else { panic!("two states") };
        assert_eq!((first.meta.index, second.meta.index), (Some(0), Some(1)));
        assert_eq!((&first.value.action[..], &second.value.action[..]), ("", "ask"));
        assert_eq!(second.value.passes, u64::MAX);
        assert_eq!(second.value.known, [Fact { id: 9_007_199_254_740_993, holds: true }]);
    }

    #[test]
    fn export_has_no_plain_number_or_null() {
        fn plain(value: &Value) -> bool {
            match value {
                Value::Null | Value::Number(_) => true,
                Value::Array(items) => items.iter().any(plain),
                Value::Object(fields) => fields.iter().any(|(key, field)| key != "#meta" && plain(field)),
                _ => false,
            }
        }
        let state = json!({"a": null, "b": {"#bigint": 3, "c": [1, null, {"d": -2}]}});
        let written = super::itf("", &[(None, state), (None, json!({"e": 1}))], None);
        assert!(!plain(&written["states"]), "{written}");
        // Every state has every variable, and a name of ours is none of the format's.
        assert_eq!(written["vars"], json!(["action", "a", "b", "e"]));
        assert_eq!(written["states"][0]["b"]["_#bigint"], json!({"#bigint": "3"}));
        assert_eq!(written["states"][1]["b"], json!({}));
        assert!(written.get("loop").is_none());
    }
}
