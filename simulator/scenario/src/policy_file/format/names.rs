//! Values and keys of a policy file that are names of the kernel's enums.

use orchestrion_kernel::item::{Rank, Topic};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{EloMethod, Rule, Tokenizer};
use orchestrion_yaml::{LabeledError, inline_schema, parse_scalar, suggest_nearest};
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// An enum of the kernel whose values have names in files.
pub trait NamedEnum: Copy + Ord + 'static {
    /// All values.
    const ALL: &'static [Self];
    /// The name of the enum in messages.
    const KIND: &'static str;

    /// Returns the name of the value.
    fn name(self) -> &'static str;

    /// Returns the value with this name.
    ///
    /// # Errors
    /// A message and a help for an unknown name.
    fn parse(name: &str) -> Result<Self, (String, String)> {
        Self::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            let near = suggest_nearest(name, names.iter().copied());
            (
                format!("unknown {} `{}`", Self::KIND, name.escape_debug()),
                format!("{near}expected one of {}", names.join(", ")),
            )
        })
    }
}

macro_rules! named_enums {
    ($($name:ident $kind:literal,)*) => {$(
        impl NamedEnum for $name {
            const ALL: &'static [Self] = &Self::ALL;
            const KIND: &'static str = $kind;

            fn name(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

named_enums! {
    EloMethod "rating method",
    Module "module",
    Rank "rank",
    Rule "rule",
    Tokenizer "tokenizer",
    Topic "topic",
}

/// A value of a kernel enum, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnumName<T>(pub T);

impl<'de, T: NamedEnum> Deserialize<'de> for EnumName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "unknown", |name| {
            T::parse(name).map(Self).map_err(|(message, help)| LabeledError::new(message, help))
        })
    }
}

impl<T: NamedEnum> Serialize for EnumName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

inline_schema!(EnumName<T> where T: NamedEnum; _ => {
    let names: Vec<&str> = T::ALL.iter().map(|known| known.name()).collect();
    json_schema!({"type": "string", "enum": names})
});

/// Values by the names of a kernel enum. The YAML library refuses duplicate names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent, bound(deserialize = "K: NamedEnum, V: Deserialize<'de>"))]
pub struct ByName<K, V>(pub BTreeMap<EnumName<K>, V>);

impl<K, V> Default for ByName<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

inline_schema!(ByName<K, V> where K: NamedEnum, V: JsonSchema; generator => {
    let value = generator.subschema_for::<V>();
    let properties: serde_json::Map<_, _> =
        K::ALL.iter().map(|known| (known.name().to_owned(), value.clone().into())).collect();
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
});
