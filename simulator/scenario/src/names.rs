//! Phases, counts and seeds in a scenario file, and the schemas of kernel names.

use orchestrion_kernel::Phase;
use orchestrion_kernel::item::{ConstraintType, MemoryType, SupersessionRule};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::situation::{Mode, ToolOutcome};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, inline_schema, parse_scalar, suggest_nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// A phase, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseName(pub Phase);

impl Serialize for PhaseName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for PhaseName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Spanned::<StrictText>::deserialize(deserializer)?;
        Phase::from_name(name.value.as_str()).map(Self).ok_or_else(|| {
            let names = Phase::ALL.map(Phase::name);
            LabeledError::new(
                format!("unknown phase `{}`", name.value.as_str().escape_debug()),
                format!("{}the phases are {}", suggest_nearest(name.value.as_str(), names), names.join(", ")),
            )
            .with_label(name.span(), "unknown")
            .into_serde_error()
        })
    }
}

impl JsonSchema for PhaseName {
    fn schema_name() -> Cow<'static, str> {
        "Phase".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A phase of the kernel's control.", "type": "string", "enum": Phase::ALL.map(Phase::name).to_vec()})
    }
}

/// A whole number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Count(pub NonZeroU32);

impl Default for Count {
    fn default() -> Self {
        Self(NonZeroU32::MIN)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = Spanned::<u32>::deserialize(deserializer)?;
        NonZeroU32::new(count.value).map(Self).ok_or_else(|| {
            LabeledError::new("expected a whole number from 1, found 0", "write 1 or more")
                .with_label(count.span(), "too small")
                .into_serde_error()
        })
    }
}

inline_schema!(Count; _ => json_schema!({"type": "integer", "minimum": 1, "maximum": u32::MAX}));

/// A seed, or the name of a random stream: a word or a whole number. `7` and `"7"` are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(String);

impl Seed {
    /// Returns the seed as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self("0".into())
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<u64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_u64(number),
            _ => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "not a seed", |text| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if text.is_empty() || text.starts_with('-') || !text.bytes().all(plain) {
                return Err(LabeledError::new(
                    format!("expected a seed, found `{}`", text.escape_debug()),
                    "write a whole number, or a word of letters, digits and hyphens",
                ));
            }
            Ok(Self(text.to_owned()))
        })
    }
}

inline_schema!(Seed; _ => json_schema!({
    "type": ["integer", "string"],
    "minimum": 0,
    "pattern": "^[0-9A-Za-z_][0-9A-Za-z_-]*$",
}));

/// Returns the schema of the kernel's names of these values.
pub(crate) fn names_schema<T: Serialize>(values: &[T]) -> Schema {
    let names: Vec<_> = values.iter().filter_map(|value| serde_json::to_value(value).ok()).collect();
    json_schema!({"type": "string", "enum": names})
}

/// Defines functions that return the schema of the names of a kernel enum without a list of its values.
macro_rules! names_schemas {
    ($($function:ident = $enum:ident [$($value:ident),*];)*) => {$(
        pub(crate) fn $function(_: &mut SchemaGenerator) -> Schema {
            names_schema(&[$($enum::$value),*])
        }
    )*};
}

names_schemas! {
    constraint_schema = ConstraintType [Budget, Deadline, Capacity, Policy];
    memory_schema = MemoryType [User, Capability, Organizational];
    mode_schema = Mode [Fast, Deep];
    outcome_schema = ToolOutcome [Success, Failure, Error, Timeout];
    rule_schema = SupersessionRule [Authority, Explicit, Temporal, Implicit];
}

/// Returns the schema of a failure.
pub(crate) fn failure_schema(_: &mut SchemaGenerator) -> Schema {
    names_schema(&Failure::ALL)
}
