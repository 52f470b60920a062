//! Replies by task number.

use crate::replies::ReplyKind;
use crate::reply::RepliesFile;
use orchestrion_kernel::TaskId;
use orchestrion_yaml::{LabeledError, Spanned, inline_schema};
use schemars::{JsonSchema, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Replies by task number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByTask<T>(pub BTreeMap<TaskId, ForTask<T>>);

/// The replies for one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForTask<T> {
    /// The task number, with its place.
    pub task: Spanned<TaskId>,
    /// The replies.
    pub replies: RepliesFile<T>,
}

impl<T> ByTask<T> {
    /// Sets the replies for a task.
    pub fn insert(&mut self, task: TaskId, replies: RepliesFile<T>) {
        self.0.insert(task, ForTask { task: task.into(), replies });
    }
}

impl<T> Default for ByTask<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Serialize> Serialize for ByTask<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.values().map(|entry| (entry.task.value.number(), &entry.replies)))
    }
}

impl<'de, T: ReplyKind> Deserialize<'de> for ByTask<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByTaskVisitor(PhantomData))
    }
}

struct ByTaskVisitor<T>(PhantomData<T>);

impl<'de, T: ReplyKind> Visitor<'de> for ByTaskVisitor<T> {
    type Value = ByTask<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("replies by task number, as in `1: {ok: done}`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut tasks = BTreeMap::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let task = task_number::<A::Error>(&key)?;
            let entry = ForTask { task: Spanned::new(task, key.span()), replies: map.next_value()? };
            if tasks.insert(task, entry).is_some() {
                return Err(LabeledError::new(
                    format!("duplicate task {task}"),
                    "keep one of the two entries",
                )
                .with_label(key.span(), "second entry")
                .into_serde_error());
            }
        }
        Ok(ByTask(tasks))
    }
}

fn task_number<E: Error>(key: &Spanned<String>) -> Result<TaskId, E> {
    let plain = !key.value.is_empty() && key.value.bytes().all(|byte| byte.is_ascii_digit());
    key.value.parse().ok().filter(|_| plain).map(TaskId::new).ok_or_else(|| {
        LabeledError::new(
            format!("expected a task number, found `{}`", key.value.escape_debug()),
            "write the task's number in the plan, a whole number from 0 to 4294967295",
        )
        .with_label(key.span(), "not a task number")
        .into_serde_error()
    })
}

inline_schema!(ByTask<T> where T: JsonSchema; generator => json_schema!({
    "type": "object",
    "patternProperties": {"^[0-9]+$": generator.subschema_for::<RepliesFile<T>>()},
    "additionalProperties": false,
}));
