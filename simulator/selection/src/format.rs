//! A context problem as a JSON file.

use orchestrion_yaml::required_value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Numbers in a file, and their sums, are at most 2^62.
const AMOUNT_MAX: u64 = 1 << 62;

/// Which items to show, within a budget of tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProblemFile<'a> {
    /// The tokens that there are, the reserved ones among them.
    #[serde(deserialize_with = "budget")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub budget: u64,
    /// Tokens of the budget that are kept for the module's answer.
    #[serde(default, deserialize_with = "reserved")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub reserved: u64,
    /// What may be shown, the oldest first.
    #[serde(borrow, deserialize_with = "objects")]
    pub items: Vec<ItemFile<'a>>,
}

/// Something that may be shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemFile<'a> {
    /// What it is called: a whole number or a text. Of two choices that are as good and as cheap, the one is taken whose list of
    /// ids is first, numbers before texts, texts by their bytes.
    #[serde(borrow)]
    pub id: Id<'a>,
    /// What it is worth.
    #[serde(deserialize_with = "utility")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub utility: u64,
    /// The tokens it takes.
    #[serde(deserialize_with = "cost")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub cost: u64,
    /// What must be shown with it.
    #[serde(default, borrow)]
    pub deps: Vec<Id<'a>>,
    /// Whether it must be shown, or must not. Left out: as it pays.
    #[serde(default, deserialize_with = "mark")]
    pub mark: Option<MarkFile>,
    /// Items of one group are shown together or not at all, as a call and its result.
    #[serde(default, borrow, deserialize_with = "required_value")]
    pub group: Option<Id<'a>>,
    /// Where `--solver ranked` puts it.
    #[serde(default, deserialize_with = "layer")]
    pub layer: LayerFile,
}

/// What is settled about an item beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum MarkFile {
    /// It must be shown, with what it depends on.
    Pinned,
    /// It must not be shown.
    Forbidden,
}

/// A layer of 003, as far as its budget tells them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum LayerFile {
    /// A fact: ranked, within seven tenths of the budget.
    #[default]
    Fact,
    /// Of the working set: all of it or nothing.
    Working,
}

/// What an item is called. Numbers come before texts, texts are in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id<'a> {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Id<'_> {
    /// The same, for as long as this one lasts.
    #[must_use]
    pub fn lent(&self) -> Id<'_> {
        match self {
            Self::Number(number) => Id::Number(*number),
            Self::Text(text) => Id::Text(Cow::Borrowed(text)),
        }
    }

    /// The number that the text would be, or the text that the number would be.
    pub(super) fn of_other_kind(&self) -> Option<Id<'static>> {
        match self {
            Self::Number(number) => Some(Id::Text(number.to_string().into())),
            Self::Text(text) => text.parse().ok().map(Id::Number),
        }
    }

    /// The same, of its own.
    #[must_use]
    pub fn into_owned(self) -> Id<'static> {
        match self {
            Self::Number(number) => Id::Number(number),
            Self::Text(text) => Id::Text(Cow::Owned(text.into_owned())),
        }
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            // Nothing, and what would read as a number, stand in quotes.
            Self::Text(text) if text.is_empty() || text.parse::<u64>().is_ok() => write!(f, "\"{text}\""),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor).map(|id: Id<'de>| id)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = Id<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id: a text, or a whole number that is not negative")
    }
    fn visit_u64<E>(self, number: u64) -> Result<Id<'de>, E> {
        Ok(Id::Number(number))
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Id<'de>, E> {
        Ok(Id::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Id<'de>, E> {
        Ok(Id::Text(Cow::Owned(text.to_owned())))
    }
}

impl JsonSchema for Id<'_> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0, "maximum": u64::MAX}]})
    }
}

/// An object, and nothing else: derived code would take a list of its fields, too.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData)).map(Object)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(found)| found).collect())
}

fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Amount("budget"))
}

fn reserved<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Amount("reserved"))
}

fn utility<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Amount("utility"))
}

fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Amount("cost"))
}

/// A number of a field, which is named if the number is none.
struct Amount(&'static str);

impl Amount {
    fn wrong<E: Error>(&self, why: &str) -> E {
        E::custom(format_args!("`{}` is {why}; expected a whole number from 0 to 2^62", self.0))
    }
}

impl Visitor<'_> for Amount {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` to be a whole number from 0 to 2^62", self.0)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        if number > AMOUNT_MAX { Err(self.wrong(&format!("{number}, too large"))) } else { Ok(number) }
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Err(self.wrong(&format!("{number}, negative")))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Whole numbers that no 64 bits hold are read as these, too.
        let is_large = number.abs() >= AMOUNT_MAX as f64;
        Err(self.wrong(&if is_large {
            format!("{number:e}, too large")
        } else {
            format!("{number:?}, no whole number")
        }))
    }
}

fn mark<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MarkFile>, D::Error> {
    const MARKS: &[(&str, MarkFile)] = &[("pinned", MarkFile::Pinned), ("forbidden", MarkFile::Forbidden)];
    deserializer.deserialize_any(OneOf("mark", MARKS)).map(Some)
}

fn layer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LayerFile, D::Error> {
    const LAYERS: &[(&str, LayerFile)] = &[("fact", LayerFile::Fact), ("working", LayerFile::Working)];
    deserializer.deserialize_any(OneOf("layer", LAYERS))
}

/// One of some words. JSON would call it no JSON if anything but a text came where an enum is derived.
struct OneOf<T: 'static>(&'static str, &'static [(&'static str, T)]);

impl<T> OneOf<T> {
    fn words(&self) -> String {
        self.1.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
    }
}

impl<T: Copy> Visitor<'_> for OneOf<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` to be {}", self.0, self.words())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let found = self.1.iter().find(|(word, _)| *word == text);
        let wrong = || E::custom(format_args!("`{}` is {text:?}; expected {}", self.0, self.words()));
        found.map(|(_, value)| *value).ok_or_else(wrong)
    }
}
