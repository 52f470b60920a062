//! JSON Schemas of file formats, for editors.

use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the schema of `T` with this title.
#[must_use]
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema: Schema = schemars::schema_for!(T);
    schema.insert("title".into(), title.into());
    let mut schema = schema.to_value();
    adapt(&mut schema);
    schema
}

/// Adapts a derived schema: an optional key cannot be null (see [`crate::required_value`]), and descriptions have no line breaks.
fn adapt(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [kind] = &types[..] {
                    let kind = kind.clone();
                    object.insert("type".into(), kind);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = &choices[..] {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            object.values_mut().for_each(adapt);
        }
        Value::Array(values) => values.iter_mut().for_each(adapt),
        _ => {}
    }
}
