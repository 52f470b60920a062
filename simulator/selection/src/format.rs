//! Problem files: JSON, with errors that name the field.

use super::id::Id;
use orchestrion_yaml::required_value;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// Limit of numbers in a file and of their sums.
const AMOUNT_MAX: u64 = 1 << 62;

/// Context selection problem: items to select within a budget of tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProblemFile<'a> {
    /// Budget in tokens, including the reserved ones.
    #[serde(deserialize_with = "budget")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub budget: u64,
    /// Tokens of the budget that are kept for the module's reply.
    #[serde(default, deserialize_with = "reserved")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub reserved: u64,
    /// Candidates for the selection, oldest first.
    #[serde(borrow, deserialize_with = "objects")]
    pub items: Vec<ItemFile<'a>>,
}

/// Candidate for the selection.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemFile<'a> {
    /// Identifier: a whole number or a text. Of selections with equal utility and cost, the one with the smallest list of ids
    /// is optimal; numbers are ordered before texts, and texts by bytes.
    #[serde(borrow)]
    pub id: Id<'a>,
    /// Value of the item.
    #[serde(deserialize_with = "utility")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub utility: u64,
    /// Tokens of the item.
    #[serde(deserialize_with = "cost")]
    #[schemars(range(max = AMOUNT_MAX))]
    pub cost: u64,
    /// Items that a selection with this item must contain.
    #[serde(default, borrow)]
    pub deps: Vec<Id<'a>>,
    /// Whether every selection must, or must not, contain the item. Default: neither.
    #[serde(default, deserialize_with = "inclusion")]
    pub inclusion: Option<InclusionFile>,
    /// Group of the item. A selection contains all items of a group or none, such as a call and its result.
    #[serde(default, borrow, deserialize_with = "required_value")]
    pub group: Option<Id<'a>>,
    /// Layer of the item, for `--solver ranked`.
    #[serde(default, deserialize_with = "layer")]
    pub layer: LayerFile,
}

/// Whether an item must be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum InclusionFile {
    /// Every selection contains it, with its dependencies.
    Pinned,
    /// No selection contains it.
    Forbidden,
}

/// Layer of 003, as far as its budget rule distinguishes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum LayerFile {
    /// Fact: ranked, within seven tenths of the budget.
    #[default]
    Fact,
    /// Item of the working set: all or none.
    Working,
}

/// Deserializes an object only; derived code would accept a list of the fields too.
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

/// Deserializes a whole number; errors name the field.
struct Amount(&'static str);

impl Amount {
    fn error<E: Error>(&self, found: &str) -> E {
        E::custom(format_args!("`{}`: expected a whole number from 0 to 2^62, found {found}", self.0))
    }
}

impl Visitor<'_> for Amount {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` to be a whole number from 0 to 2^62", self.0)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        if number > AMOUNT_MAX { Err(self.error(&format!("{number} (too large)"))) } else { Ok(number) }
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Err(self.error(&format!("{number} (negative)")))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Whole numbers beyond 64 bits are parsed as floats too.
        let is_large = number.abs() >= AMOUNT_MAX as f64;
        Err(self.error(&if is_large {
            format!("{number:e} (too large)")
        } else {
            format!("{number:?} (not a whole number)")
        }))
    }
}

fn inclusion<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<InclusionFile>, D::Error> {
    const VALUES: &[(&str, InclusionFile)] =
        &[("pinned", InclusionFile::Pinned), ("forbidden", InclusionFile::Forbidden)];
    deserializer.deserialize_any(Keyword("inclusion", VALUES)).map(Some)
}

fn layer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LayerFile, D::Error> {
    const VALUES: &[(&str, LayerFile)] = &[("fact", LayerFile::Fact), ("working", LayerFile::Working)];
    deserializer.deserialize_any(Keyword("layer", VALUES))
}

/// Deserializes one of some keywords of a field. A derived enum would report other types as invalid JSON.
struct Keyword<T: 'static>(&'static str, &'static [(&'static str, T)]);

impl<T> Keyword<T> {
    fn expected(&self) -> String {
        self.1.iter().map(|(keyword, _)| format!("\"{keyword}\"")).collect::<Vec<_>>().join(" or ")
    }
}

impl<T: Copy> Visitor<'_> for Keyword<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` to be {}", self.0, self.expected())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let value = self.1.iter().find(|(keyword, _)| *keyword == text).map(|(_, value)| *value);
        value.ok_or_else(|| {
            E::custom(format_args!("`{}`: expected {}, found {text:?}", self.0, self.expected()))
        })
    }
}
