//! A timeline of StateBench as whoever builds contexts may see it: no answers, no name, no track.
//!
//! The reader parts each line into this and its [`Answers`](super::answers::Answers). Deliberately absent, therefore: every
//! field of `ground_truth`.

use super::stems::pattern;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use orchestrion_kernel::Timestamp;
use regex::Regex;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What is known at first, and what happens then.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What is known at first.
    pub initial: Initial,
    /// What happens, in its order, whatever the times say.
    pub events: Vec<Event>,
}

/// What is known at first.
#[derive(Clone, Debug)]
pub struct Initial {
    /// Who asks.
    pub identity_role: Identity,
    /// What is known.
    pub persistent_facts: Vec<Write>,
    /// What is in hand.
    pub working_set: Vec<Note>,
    /// What is the case outside; `now` is what time it is.
    pub environment: BTreeMap<String, AnyText>,
    /// Layers that there are not.
    pub others: Vec<String>,
}

/// Who asks.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with user_name and authority")]
pub struct Identity {
    /// The name.
    pub user_name: String,
    /// The title, or a rank.
    pub authority: String,
    /// The department.
    #[serde(default, deserialize_with = "or_default")]
    pub department: String,
    /// The organization.
    #[serde(default, deserialize_with = "or_default")]
    pub organization: String,
    /// What was granted by name.
    #[serde(default, deserialize_with = "or_default")]
    pub permissions: Vec<String>,
}

/// Something in hand at first.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with content")]
pub struct Note {
    /// What it says.
    pub content: String,
    /// When it was noted.
    pub ts: Option<At>,
    /// When it expires.
    pub expires_at: Option<At>,
    /// The scope, as it stands there.
    #[serde(default = "global")]
    pub scope: String,
    /// Which task, supposition or draft its scope is.
    pub scope_id: Option<String>,
    /// Whether it is current.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// What superseded it.
    pub superseded_by: Option<String>,
    /// Any other field.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Something written into a layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with key and value")]
pub struct Write {
    /// What links may call it; not unique.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The layer, as it stands there.
    #[serde(default = "persistent")]
    pub layer: String,
    /// What it speaks of, without the space around it: only keys of ours begin with one.
    #[serde(deserialize_with = "trimmed")]
    pub key: String,
    /// What it says.
    pub value: AnyText,
    /// Where it comes from.
    #[serde(default)]
    pub source: Source,
    /// When it was established; without it, when the event came.
    #[serde(alias = "timestamp")]
    pub ts: Option<At>,
    /// The scope, as it stands there.
    #[serde(default = "global")]
    pub scope: String,
    /// Which task, supposition or draft its scope is.
    pub scope_id: Option<String>,
    /// The memory that it belongs to, as it stands there; without it, that of its source.
    pub memory_type: Option<String>,
    /// The id or the key of what it supersedes.
    pub supersedes: Option<String>,
    /// The id or the key of what superseded it.
    pub superseded_by: Option<String>,
    /// Whether it is current.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// The ids or keys of what it rests on.
    #[serde(default, deserialize_with = "or_default")]
    pub depends_on: Vec<String>,
    /// The ids or keys of what rests on it.
    #[serde(default, deserialize_with = "or_default")]
    pub derived_facts: Vec<String>,
    /// Whether what it rests on says something else since.
    #[serde(default)]
    pub needs_review: bool,
    /// Whether its time tells which of two is the later; without it, its words say.
    pub time_sensitive: Option<bool>,
    /// Whether it is to be kept to.
    #[serde(default)]
    pub is_constraint: bool,
    /// What it limits.
    pub constraint_type: Option<String>,
    /// When it expires.
    pub expires_at: Option<At>,
    /// Fields that there are not.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Where something counts, and whether it does: what its fields say of that.
#[derive(Clone, Copy, Debug)]
pub struct ValidityFields<'a> {
    pub(super) scope: &'a str,
    pub(super) scope_id: Option<&'a str>,
    is_valid: bool,
    superseded_by: Option<&'a str>,
}

impl ValidityFields<'_> {
    /// Whether it says of itself that it does not hold.
    pub(super) fn is_withdrawn(&self) -> bool {
        !self.is_valid || self.superseded_by.is_some_and(|by| !by.is_empty())
    }
}

/// What has terms.
macro_rules! terms {
    ($($of:ty),+) => {$(
        impl $of {
            /// Where it counts, and whether it does.
            #[must_use]
            pub fn terms(&self) -> ValidityFields<'_> {
                ValidityFields {
                    scope: &self.scope,
                    scope_id: self.scope_id.as_deref(),
                    is_valid: self.is_valid,
                    superseded_by: self.superseded_by.as_deref(),
                }
            }
        }
    )+};
}

terms!(Write, Note, Turn);

/// Where something comes from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Who or what says it.
    pub kind: String,
    /// With which authority.
    pub authority: String,
}

impl<'de> Deserialize<'de> for Source {
    /// Of its kind and authority, or of one word for both (003 `source: string`); without an authority, its kind says it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(expecting = "a word, or an object with type and authority")]
        struct Fields {
            #[serde(rename = "type")]
            kind: String,
            #[serde(default, deserialize_with = "or_default")]
            authority: String,
        }
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) => Ok(Self { kind: word.clone(), authority: word }),
            other => {
                let Fields { kind, authority } = Fields::deserialize(other).map_err(de::Error::custom)?;
                let authority = if authority.is_empty() { kind.clone() } else { authority };
                Ok(Self { kind, authority })
            }
        }
    }
}

/// Something that happens.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody says something.
    Turn(Turn),
    /// Something is written.
    Writes {
        /// When.
        at: At,
        /// What.
        writes: Vec<Write>,
    },
    /// Something is asked, and a context is needed for the answer.
    Query {
        /// When.
        at: At,
        /// What.
        prompt: String,
    },
}

/// Something that is said.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with ts, speaker and text")]
pub struct Turn {
    /// When.
    #[serde(rename = "ts")]
    pub at: At,
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
    /// The scope, as it stands there.
    #[serde(default = "global")]
    pub scope: String,
    /// Which task, supposition or draft its scope is.
    pub scope_id: Option<String>,
    /// Whether it holds.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// What superseded it.
    pub superseded_by: Option<String>,
    /// Any other field.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Whoever asks.
    User,
    /// Whoever answers.
    Assistant,
}

/// A moment. What is written without a time zone is taken as UTC; moments are only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub Timestamp);

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        moment(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is no moment from 1970 on; expected one such as 2025-11-25T12:00:00"
            ))
        })
    }
}

/// The moment that a text tells, from 1970 on.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let without_zone = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    let moment =
        text.parse::<jiff::Timestamp>().ok().or_else(|| without_zone().map(|moment| moment.timestamp()))?;
    u64::try_from(moment.as_millisecond()).ok().map(Timestamp::from_millis)
}

/// How a moment is written.
pub(super) fn written(moment: Timestamp) -> String {
    let at = i64::try_from(moment.millis()).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| moment.to_string(), |at| at.to_string())
}

/// A moment as another one was told: in its zone, and as fine as that.
pub(super) fn written_like(form: &str, at: Timestamp) -> Option<String> {
    static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\d{4}-\d\d-\d\d([Tt ])\d\d:\d\d(:\d\d)?[\d.]*(?:([+-])(\d\d):?(\d\d)|([Zz]))?$")
    });
    moment(form)?;
    let Some(shape) = SHAPE.captures(form.trim()) else { return Some(written(at)) };
    let number =
        |n: usize| shape.get(n).and_then(|found| found.as_str().parse::<i32>().ok()).unwrap_or_default();
    let seconds = (number(4) * 60 + number(5)) * 60;
    let seconds = if shape.get(3).is_some_and(|sign| sign.as_str() == "-") { -seconds } else { seconds };
    let offset = Offset::from_seconds(seconds).ok()?;
    let at = offset.to_datetime(jiff::Timestamp::from_millisecond(i64::try_from(at.millis()).ok()?).ok()?);
    let zone = shape.get(3).or(shape.get(6)).map_or("", |zone| &form.trim()[zone.start()..]);
    let fine = if shape.get(2).is_some() { ":%S" } else { "" };
    Some(format!("{}{zone}", at.strftime(&format!("%Y-%m-%d{}%H:%M{fine}", &shape[1]))))
}

fn trimmed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|text| text.trim().to_string())
}

fn persistent() -> String {
    "persistent_facts".to_string()
}

fn global() -> String {
    "global".to_string()
}

const fn yes() -> bool {
    true
}

/// Nothing where `null` stands.
pub(super) fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A text as it is, any other value as it is written (003: `value: any`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyText(pub String);

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            serde_json::Value::Null => "None".to_string(),
            other => other.to_string(),
        }))
    }
}
