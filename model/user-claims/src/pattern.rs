//! Patterns over events, and what a monitor of one keeps.

use crate::condition::number;
use crate::event_kind::{EventKind, EventKinds};
use crate::fields::{Field, FieldKind, Moment};
use crate::format::PatternFormat;
use crate::matcher::{Matcher, field};
use crate::value::{KeptValue, Value};
use orchestrion_yaml::{LabeledError, Spanned};
use smallvec::SmallVec;

/// The most combinations of values that a pattern keeps apart. A claim that meets more is violated, because it can no longer be
/// evaluated.
pub(crate) const VALUES_MAX: usize = 64;

/// A pattern over the events of a segment.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// No event matches.
    Never(Matcher),
    /// The second matcher holds at every event that the first one matches.
    Always {
        /// The events.
        at: Matcher,
        /// What holds.
        holds: Matcher,
    },
    /// Each later event is preceded by an earlier one with the same values.
    Precedes {
        /// The earlier event.
        first: Matcher,
        /// The later event.
        then: Matcher,
        /// The fields with the same values.
        same: Vec<&'static Field>,
    },
    /// Each event is followed by a response with the same values.
    Responds {
        /// The event.
        to: Matcher,
        /// The response.
        with: Matcher,
        /// The fields with the same values.
        same: Vec<&'static Field>,
    },
    /// The number of events, or the sum of a field, is bounded.
    AtMost {
        /// The bound.
        limit: i64,
        /// The events.
        of: Matcher,
        /// Counted apart for each combination of values.
        each: Vec<&'static Field>,
        /// The added field.
        sum: Option<&'static Field>,
    },
    /// At least this many events match.
    AtLeast {
        /// The bound.
        count: u32,
        /// The events.
        of: Matcher,
    },
    /// A condition holds at every event before the end, which occurs.
    Until {
        /// What holds.
        holds: Matcher,
        /// The end.
        end: Matcher,
    },
}

/// The values that a pattern keeps, each with a number, in order: what was seen, what is pending, or a count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Cells(Vec<(Key, i64)>);

/// The values of a few fields. One needs no allocation.
type Key = SmallVec<[KeptValue; 1]>;

impl Cells {
    fn position(&self, key: &[KeptValue]) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_slice().cmp(key))
    }

    fn get(&self, key: &[KeptValue]) -> i64 {
        self.position(key).ok().and_then(|at| self.0.get(at)).map_or(0, |(_, number)| *number)
    }

    /// Sets a number. Returns whether there was room.
    fn set(&mut self, key: Key, number: i64) -> bool {
        match self.position(&key) {
            Ok(at) => self.0[at].1 = number,
            Err(_) if self.0.len() >= VALUES_MAX => return false,
            Err(at) => self.0.insert(at, (key, number)),
        }
        true
    }

    fn remove(&mut self, key: &[KeptValue]) {
        if let Ok(at) = self.position(key) {
            self.0.remove(at);
        }
    }
}

/// Why a pattern does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// This event contradicts it.
    Event,
    /// The segment ended without an event that it requires.
    End,
    /// It met more combinations of values than it can keep.
    Values,
    /// A call that the claim forbids was made.
    Made,
}

impl Pattern {
    /// Takes one event of the segment.
    ///
    /// # Errors
    /// The reason if the pattern can no longer hold.
    pub(crate) fn step(&self, cells: &mut Cells, kind: EventKind, moment: &Moment<'_>) -> Result<(), Reason> {
        let holds = |holds: bool| if holds { Ok(()) } else { Err(Reason::Event) };
        match self {
            Self::Never(matcher) => holds(!matcher.matches(kind, moment)),
            Self::Always { at, holds: condition } => {
                holds(!at.matches(kind, moment) || condition.matches(kind, moment))
            }
            Self::Precedes { first, then, same } => {
                if then.matches(kind, moment) && cells.get(&key(same, moment)) == 0 {
                    return Err(Reason::Event);
                }
                if first.matches(kind, moment) && !cells.set(key(same, moment), 1) {
                    return Err(Reason::Values);
                }
                Ok(())
            }
            Self::Responds { to, with, same } => {
                if with.matches(kind, moment) {
                    cells.remove(&key(same, moment));
                }
                if to.matches(kind, moment) && !cells.set(key(same, moment), 1) {
                    return Err(Reason::Values);
                }
                Ok(())
            }
            Self::AtMost { limit, of, each, sum } => {
                if !of.matches(kind, moment) {
                    return Ok(());
                }
                let key = key(each, moment);
                let amount = sum.map_or(1, |field| match (field.read)(moment) {
                    Some(Value::Number(number)) => number,
                    Some(Value::Flag(_) | Value::Name(_) | Value::Text(_)) | None => 0,
                });
                let total = cells.get(&key).saturating_add(amount);
                if total > *limit {
                    return Err(Reason::Event);
                }
                if cells.set(key, total) { Ok(()) } else { Err(Reason::Values) }
            }
            Self::AtLeast { count, of } => {
                let seen = cells.get(&[]);
                if seen < i64::from(*count) && of.matches(kind, moment) {
                    cells.set(Key::new(), seen.saturating_add(1));
                }
                Ok(())
            }
            Self::Until { holds: condition, end } => {
                if cells.get(&[]) > 0 {
                    return Ok(());
                }
                if end.matches(kind, moment) {
                    cells.set(Key::new(), 1);
                    return Ok(());
                }
                holds(condition.matches(kind, moment))
            }
        }
    }

    /// Appends what a step reads of an event: which matchers match, and the values that they keep.
    pub(crate) fn reads(&self, kind: EventKind, moment: &Moment<'_>, read: &mut Vec<KeptValue>) {
        let mut matches = |matcher: &Matcher, fields: &[&'static Field]| {
            let is_match = matcher.matches(kind, moment);
            read.push(KeptValue::Flag(is_match));
            if is_match {
                read.extend(key(fields, moment));
            }
        };
        match self {
            Self::Never(matcher) => matches(matcher, &[]),
            Self::Always { at, holds } => {
                let is_broken = at.matches(kind, moment) && !holds.matches(kind, moment);
                read.push(KeptValue::Flag(is_broken));
            }
            Self::Precedes { first, then, same } => {
                matches(first, same);
                matches(then, same);
            }
            Self::Responds { to, with, same } => {
                matches(to, same);
                matches(with, same);
            }
            Self::AtMost { of, each, sum, .. } => {
                matches(of, each);
                matches(of, sum.as_slice());
            }
            Self::AtLeast { of, .. } => matches(of, &[]),
            Self::Until { holds, end } => {
                matches(end, &[]);
                read.push(KeptValue::Flag(!holds.matches(kind, moment)));
            }
        }
    }

    /// Whether the pattern holds if the segment ends now.
    #[must_use]
    pub(crate) fn holds_at_end(&self, cells: &Cells) -> bool {
        match self {
            Self::Never(_) | Self::Always { .. } | Self::Precedes { .. } | Self::AtMost { .. } => true,
            Self::Responds { .. } => cells.0.is_empty(),
            Self::AtLeast { count, .. } => cells.get(&[]) >= i64::from(*count),
            Self::Until { .. } => cells.get(&[]) > 0,
        }
    }

    /// The kinds of events that can change what the pattern keeps, or contradict it.
    #[must_use]
    pub(crate) const fn kinds(&self) -> EventKinds {
        match self {
            Self::Never(matcher) => matcher.kinds,
            Self::Always { at, .. } => at.kinds,
            Self::Precedes { first, then, .. } => first.kinds.union(then.kinds),
            Self::Responds { to, with, .. } => to.kinds.union(with.kinds),
            Self::AtMost { of, .. } | Self::AtLeast { of, .. } => of.kinds,
            Self::Until { .. } => EventKinds::ALL,
        }
    }

    /// Whether the end of a segment can violate the pattern.
    #[must_use]
    pub(crate) const fn requires_events(&self) -> bool {
        match self {
            Self::Never(_) | Self::Always { .. } | Self::Precedes { .. } | Self::AtMost { .. } => false,
            Self::Responds { .. } | Self::AtLeast { .. } | Self::Until { .. } => true,
        }
    }

    /// Whether every event can decide the pattern.
    #[must_use]
    pub(crate) const fn requires_any_event(&self) -> bool {
        matches!(self, Self::AtLeast { .. } | Self::Until { .. })
    }

    /// Whether the event can decide the pattern: without such an event it holds for nothing.
    #[must_use]
    pub(crate) fn is_premise(&self, kind: EventKind, moment: &Moment<'_>) -> bool {
        match self {
            Self::Never(matcher) => matcher.is_about(kind),
            Self::Always { at, .. } => at.matches(kind, moment),
            Self::Precedes { then, .. } => then.matches(kind, moment),
            Self::Responds { to, .. } => to.matches(kind, moment),
            Self::AtMost { of, .. } => of.matches(kind, moment),
            Self::AtLeast { .. } | Self::Until { .. } => true,
        }
    }

    /// Builds a pattern.
    pub(crate) fn build(format: &PatternFormat) -> Result<Self, LabeledError> {
        Ok(match format {
            PatternFormat::Never(matcher) => Self::Never(Matcher::build(matcher)?),
            PatternFormat::Always(always) => Self::Always {
                at: always.at.as_ref().map_or(Ok(Matcher::ALL), Matcher::build)?,
                holds: Matcher::build(&always.holds)?,
            },
            PatternFormat::Precedes(precedes) => {
                let (first, then) = (Matcher::build(&precedes.first)?, Matcher::build(&precedes.then)?);
                let same = correlated(&[&first, &then], &precedes.same)?;
                Self::Precedes { first, then, same }
            }
            PatternFormat::Responds(responds) => {
                let (to, with) = (Matcher::build(&responds.to)?, Matcher::build(&responds.with)?);
                let same = correlated(&[&to, &with], &responds.same)?;
                Self::Responds { to, with, same }
            }
            PatternFormat::AtMost(at_most) => {
                let of = Matcher::build(&at_most.of)?;
                let each = correlated(&[&of], &at_most.each)?;
                let sum = at_most.sum.as_ref().map(|name| summed(&of, name)).transpose()?;
                let limit = match sum {
                    Some(field) => number(field, &at_most.limit, at_most.limit.span())?,
                    None => at_most.limit.value.parse::<u32>().map(i64::from).map_err(|_| {
                        LabeledError::new(
                            format!("wrong limit `{}`", at_most.limit.value.escape_debug()),
                            "expected a whole number from 0 to 4294967295",
                        )
                        .with_label(at_most.limit.span(), "no number of events")
                    })?,
                };
                Self::AtMost { limit, of, each, sum }
            }
            PatternFormat::AtLeast(at_least) => {
                if at_least.count.value == 0 {
                    let error =
                        LabeledError::new("at least 0 events match in every run", "expected 1 or more");
                    return Err(error.with_label(at_least.count.span(), "no requirement"));
                }
                Self::AtLeast { count: at_least.count.value, of: Matcher::build(&at_least.of)? }
            }
            PatternFormat::Until(until) => {
                Self::Until { holds: Matcher::build(&until.holds)?, end: Matcher::build(&until.end)? }
            }
        })
    }
}

/// The values of these fields at an event.
fn key(fields: &[&'static Field], moment: &Moment<'_>) -> Key {
    fields.iter().map(|field| KeptValue::from((field.read)(moment))).collect()
}

/// The fields with these names, which all events of the matchers have.
fn correlated(matchers: &[&Matcher], names: &[Spanned<String>]) -> Result<Vec<&'static Field>, LabeledError> {
    for (name, matcher) in names.iter().flat_map(|name| matchers.iter().map(move |matcher| (name, matcher))) {
        matcher.correlated(name)?;
    }
    names.iter().map(field).collect()
}

/// The field with this name, if it is a number.
fn summed(of: &Matcher, name: &Spanned<String>) -> Result<&'static Field, LabeledError> {
    let field = of.correlated(name)?;
    match field.kind {
        FieldKind::Number | FieldKind::Score => Ok(field),
        FieldKind::Flag | FieldKind::Name(_) | FieldKind::Text => Err(LabeledError::new(
            format!("`{}` cannot be added", field.name),
            format!("`{}` is {}; name a field with numbers", field.name, field.kind.describe()),
        )
        .with_label(name.span(), "no number")),
    }
}
