//! The keys of a reply, and their errors.

use crate::replies::ReplyKind;
use orchestrion_yaml::{LabeledError, Spanned, unknown_value_error};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, IntoDeserializer, MapAccess};

/// Returns the error of a second key. `is_single` is whether only one reply can be in this place.
pub(crate) fn two_keys(first: &str, second: &Spanned<String>, is_single: bool) -> LabeledError {
    let found = format!("expected one key, found `{first}` and `{}`", second.value.escape_debug());
    let error = match second.value.as_str() {
        key @ ("after" | "summary_update" | "action" | "interaction") => match first {
            "random" | "cases" => LabeledError::new(
                found,
                format!("write `{key}` beside each `reply`, as in `{{reply: {{fail: error}}, {key}: …}}`"),
            ),
            _ => LabeledError::new(found, format!("write `{{reply: {{{first}: …}}, {key}: …}}`")),
        },
        _ if is_single => LabeledError::new(found, "write one of the two"),
        _ => LabeledError::new(found, "a reply has one key; write several replies as a list"),
    };
    error.with_label(second.span(), "one key too many")
}

/// Returns whether this key of a reply takes a value; `None` if there is no such key.
pub(crate) fn takes_value<T: ReplyKind>(key: &str) -> Option<bool> {
    T::KEYS.iter().find(|(known, _)| *known == key).map(|(_, takes_value)| *takes_value)
}

/// Returns the keys of a reply.
pub(crate) fn keys<T: ReplyKind>() -> Vec<&'static str> {
    T::KEYS.iter().map(|(key, _)| *key).collect()
}

/// Returns the error of an unknown key. `is_single` is whether only one reply can be in this place.
pub(crate) fn unknown_key<T: ReplyKind>(key: &str, is_single: bool) -> LabeledError {
    let forms: &[&str] = if is_single { &["reply"] } else { &["reply", "random", "cases"] };
    unknown_value_error(key, &[&keys::<T>()[..], forms].concat())
}

/// Deserializes a value from a mapping whose first key is already read.
pub(crate) fn deserialize_with_key<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    key: &str,
    rest: A,
) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(WithFirstKey { first: Some(key), rest }))
}

struct WithFirstKey<'a, A> {
    first: Option<&'a str>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithFirstKey<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}
