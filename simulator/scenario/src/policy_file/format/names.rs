//! Values and keys of a policy file that are names of the kernel's enums.

use orchestrion_kernel::item::{Rank, Topic};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{EloMethod, Rule, Tokenizer};
use orchestrion_yaml::{LabeledError, Spanned, inline_schema, suggest_nearest};
use schemars::{JsonSchema, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

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

fn parse<T: NamedEnum, E: Error>(name: &Spanned<String>) -> Result<T, E> {
    T::parse(&name.value).map_err(|(message, help)| {
        LabeledError::new(message, help).with_label(name.span(), "unknown").into_serde_error()
    })
}

/// A value of a kernel enum, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumName<T>(pub T);

impl<'de, T: NamedEnum> Deserialize<'de> for EnumName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse(&Spanned::deserialize(deserializer)?).map(Self)
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

/// Values by the names of a kernel enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByName<K, V>(pub BTreeMap<K, V>);

impl<K, V> Default for ByName<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, K: NamedEnum, V: Deserialize<'de>> Deserialize<'de> for ByName<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByNameVisitor(PhantomData))
    }
}

struct ByNameVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: NamedEnum, V: Deserialize<'de>> Visitor<'de> for ByNameVisitor<K, V> {
    type Value = ByName<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a mapping by {}", K::KIND)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(name) = map.next_key::<Spanned<String>>()? {
            let key: K = parse(&name)?;
            if values.insert(key, map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(key.name()));
            }
        }
        Ok(ByName(values))
    }
}

inline_schema!(ByName<K, V> where K: NamedEnum, V: JsonSchema; generator => {
    let value = generator.subschema_for::<V>();
    let properties: serde_json::Map<_, _> =
        K::ALL.iter().map(|known| (known.name().to_owned(), value.clone().into())).collect();
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
});
