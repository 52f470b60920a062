//! Matchers: which events a pattern means.

use crate::condition::Condition;
use crate::event_kind::{EventKind, EventKinds};
use crate::fields::{FIELDS, Field, Moment};
use crate::format::{ConditionFormat, MatcherFormat};
use orchestrion_yaml::{LabeledError, Spanned, suggest_nearest};

/// The kinds of events, and conditions on their fields.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    pub(crate) kinds: EventKinds,
    /// Whether the file names the kinds.
    pub(crate) names_kinds: bool,
    pub(crate) conditions: Vec<Condition>,
}

impl Matcher {
    /// Every event.
    pub(crate) const ALL: Self = Self { kinds: EventKinds::ALL, names_kinds: false, conditions: Vec::new() };

    /// Whether an event of this kind can match.
    pub(crate) const fn is_about(&self, kind: EventKind) -> bool {
        self.kinds.contains(kind)
    }

    /// Whether an event of this kind matches.
    pub(crate) fn matches(&self, kind: EventKind, moment: &Moment<'_>) -> bool {
        self.is_about(kind) && self.conditions.iter().all(|condition| condition.holds(moment))
    }

    /// Builds a matcher. Without `event`, the kinds are those that have all fields.
    pub(crate) fn build(format: &MatcherFormat) -> Result<Self, LabeledError> {
        let (mut named, mut conditions) = (None, Vec::new());
        for (name, condition) in &format.entries {
            if name.value == "event" {
                named = Some(kinds(name, condition)?);
            } else {
                conditions.push((name, field(name)?, condition));
            }
        }
        for (name, field, _) in &conditions {
            if let Some(kind) = named.iter().flatten().find(|kind| !field.is_of(**kind)) {
                let has: Vec<&str> = field.events.iter().map(|kind| kind.name()).collect();
                let error = LabeledError::new(
                    format!("the event `{}` has no field `{}`", kind.name(), field.name),
                    format!("`{}` is a field of {}", field.name, has.join(", ")),
                );
                return Err(error.with_label(name.span(), "not of this event"));
            }
        }
        let has_all = |kind: &EventKind| conditions.iter().all(|(_, field, _)| field.is_of(*kind));
        let kinds: Vec<EventKind> = match &named {
            Some(kinds) => kinds.clone(),
            None => EventKind::ALL.iter().copied().filter(has_all).collect(),
        };
        if let ([], Some((name, field, _))) = (&kinds[..], conditions.last()) {
            let error = LabeledError::new(
                format!("no event has `{}` and the other fields", field.name),
                "split the matcher, or remove a field",
            );
            return Err(error.with_label(name.span(), "no such event"));
        }
        let conditions =
            conditions.into_iter().map(|(name, field, test)| Condition::build(field, name, test));
        Ok(Self {
            kinds: kinds.into_iter().collect(),
            names_kinds: named.is_some(),
            conditions: conditions.collect::<Result<_, _>>()?,
        })
    }

    /// The field with this name, which every event that can match has.
    pub(crate) fn correlated(&self, name: &Spanned<String>) -> Result<&'static Field, LabeledError> {
        let field = field(name)?;
        match self.kinds.iter().find(|kind| !field.is_of(*kind)) {
            None => Ok(field),
            Some(kind) => Err(LabeledError::new(
                format!("the event `{}` has no field `{}`", kind.name(), field.name),
                "name a field that every matched event has",
            )
            .with_label(name.span(), "not of this event")),
        }
    }
}

pub(crate) const EXAMPLE: &str = "for example {event: tool_call, operation: run_task}";

fn kinds(
    name: &Spanned<String>,
    condition: &Spanned<ConditionFormat>,
) -> Result<Vec<EventKind>, LabeledError> {
    let values = match &condition.value {
        ConditionFormat::OneOf(values) if !values.is_empty() => values,
        ConditionFormat::OneOf(_) | ConditionFormat::Operators(_) => {
            let error = LabeledError::new("expected one or several kinds of events", EXAMPLE);
            return Err(error.with_label(name.span(), "no kind"));
        }
    };
    let kind = |value: &Spanned<String>| {
        EventKind::from_name(&value.value).ok_or_else(|| {
            let names: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
            let near = suggest_nearest(&value.value, names.iter().copied());
            LabeledError::new(
                format!("unknown event `{}`", value.value.escape_debug()),
                format!("{near}expected one of {}", names.join(", ")),
            )
            .with_label(value.span().or(condition.span()), "unknown")
        })
    };
    values.iter().map(kind).collect()
}

/// The field with this name.
pub(crate) fn field(name: &Spanned<String>) -> Result<&'static Field, LabeledError> {
    Field::by_name(&name.value).ok_or_else(|| {
        let names = FIELDS.iter().map(|field| field.name).chain(["event"]);
        let near = suggest_nearest(&name.value, names.clone());
        let names: Vec<&str> = names.collect();
        LabeledError::new(
            format!("unknown field `{}`", name.value.escape_debug()),
            format!(
                "{near}expected `event` or a field: {}",
                names[..names.len().saturating_sub(1)].join(", ")
            ),
        )
        .with_label(name.span(), "unknown")
    })
}
