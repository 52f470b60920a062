//! The JSON Schema of a file's type, as an editor should see it.

use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of `T`, under a title of its own.
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema: Schema = schemars::schema_for!(T);
    schema.insert("title".into(), title.into());
    let mut schema = schema.to_value();
    tidy(&mut schema);
    schema
}

/// Two things that derived schemas say otherwise: a key that may be left out may not be null (see
/// [`super::given`]), and a description is a text, not lines of code.
fn tidy(schema: &mut Value) {
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
            object.values_mut().for_each(tidy);
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        _ => {}
    }
}
