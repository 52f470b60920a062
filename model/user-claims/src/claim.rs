//! One claim of a project.

use crate::enforcement::{Enforcement, enforcement};
use crate::event_kind::{EventKind, EventKinds};
use crate::fields::Moment;
use crate::format::{ClaimFormat, PatternFormat, WindowFormat};
use crate::matcher::Matcher;
use crate::pattern::Pattern;
use crate::sentence::sentence;
use crate::value::KeptValue;
use miette::SourceSpan;
use orchestrion_kernel::Event;
use orchestrion_yaml::LabeledError;

/// The most claims of a project.
pub const MAX_CLAIMS: usize = 64;

/// A claim that a project states.
#[derive(Clone, Debug)]
pub struct UserClaim {
    /// The unique name.
    pub id: String,
    /// The claim as a sentence.
    pub sentence: String,
    /// The reason that the file gives.
    pub why: Option<String>,
    /// The place of the name in the file.
    pub span: Option<SourceSpan>,
    /// The file and line.
    pub place: String,
    /// What happens with a call that violates the claim.
    pub enforcement: Enforcement,
    /// The kinds of events that can change what its monitor keeps or reports.
    pub(crate) kinds: EventKinds,
    pub(crate) window: Window,
    pub(crate) segment: SegmentRule,
    pub(crate) assume: Option<Pattern>,
    pub(crate) pattern: Pattern,
}

/// The events that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Those of each request.
    Request,
    /// Those of each session.
    Session,
    /// All.
    Conversation,
}

/// The part of a window in which the claim counts.
#[derive(Clone, Debug)]
pub(crate) enum SegmentRule {
    /// The whole window.
    All,
    /// From the event after one match to the event before another one.
    Part {
        /// The start; `None` for that of the window.
        after: Option<Matcher>,
        /// The end; `None` for that of the window.
        before: Option<Matcher>,
        /// The claim counts only if the end occurs.
        needs_end: bool,
    },
}

impl Window {
    /// Whether the window starts with this event.
    pub const fn starts_at(self, event: &Event) -> bool {
        match self {
            Self::Request => matches!(event, Event::UserMsg { .. }),
            Self::Session => matches!(event, Event::SessionStarted { .. }),
            Self::Conversation => false,
        }
    }

    /// The kinds of events with which it starts and ends.
    pub(crate) const fn kinds(self) -> EventKinds {
        match self {
            Self::Request => EventKinds::of(&[EventKind::UserMsg, EventKind::FinalAnswer]),
            Self::Session => EventKinds::of(&[EventKind::SessionStarted, EventKind::SessionEnded]),
            Self::Conversation => EventKinds::NONE,
        }
    }

    /// Whether the window ends with this event.
    pub const fn ends_at(self, event: &Event) -> bool {
        match self {
            Self::Request => matches!(event, Event::FinalAnswer { .. }),
            Self::Session => matches!(event, Event::SessionEnded),
            Self::Conversation => false,
        }
    }
}

impl SegmentRule {
    pub(crate) fn starts_at(&self, kind: EventKind, moment: &Moment<'_>) -> bool {
        match self {
            Self::All | Self::Part { after: None, .. } => false,
            Self::Part { after: Some(after), .. } => after.matches(kind, moment),
        }
    }

    pub(crate) fn ends_at(&self, kind: EventKind, moment: &Moment<'_>) -> bool {
        match self {
            Self::All | Self::Part { before: None, .. } => false,
            Self::Part { before: Some(before), .. } => before.matches(kind, moment),
        }
    }

    /// Whether a segment starts with its window.
    pub(crate) const fn starts_with_window(&self) -> bool {
        matches!(self, Self::All | Self::Part { after: None, .. })
    }

    pub(crate) const fn needs_end(&self) -> bool {
        matches!(self, Self::Part { needs_end: true, .. })
    }
}

impl UserClaim {
    /// Builds a claim. `place` is its file and line.
    pub(crate) fn build(format: &ClaimFormat, place: String) -> Result<Self, LabeledError> {
        let id = &format.id;
        let is_name = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_lowercase())
                && text.len() <= 64
                && text.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
        };
        if !is_name(&id.value) {
            let error = LabeledError::new(
                format!("wrong id `{}`", id.value.escape_debug()),
                "expected a lower-case letter, then at most 63 lower-case letters, digits and hyphens",
            );
            return Err(error.with_label(id.span(), "no id"));
        }
        let pattern = Pattern::build(&the_pattern(format)?)?;
        let window = match format.within.unwrap_or_default() {
            WindowFormat::Request => Window::Request,
            WindowFormat::Session => Window::Session,
            WindowFormat::Conversation => Window::Conversation,
        };
        let segment = segment(format)?;
        let assume = format.assume.as_ref().map(Pattern::build).transpose()?;
        let enforcement = enforcement(format, &segment, assume.as_ref(), &pattern)?;
        let sentence = sentence(enforcement, window, &segment, assume.as_ref(), &pattern);
        let kinds = kinds(window, &segment, assume.as_ref(), &pattern);
        Ok(Self {
            id: id.value.clone(),
            sentence,
            why: format.why.clone(),
            span: id.span(),
            place,
            enforcement,
            kinds,
            window,
            segment,
            assume,
            pattern,
        })
    }

    /// Whether the claim is about the events of each request.
    #[must_use]
    pub const fn is_within_request(&self) -> bool {
        matches!(self.window, Window::Request)
    }

    /// What its monitor reads of an event; `None` if the event changes nothing and cannot decide the claim.
    pub(crate) fn reads(&self, kind: EventKind, moment: &Moment<'_>) -> Option<Vec<KeptValue>> {
        if !self.kinds.contains(kind) {
            return None;
        }
        let mut read = vec![
            KeptValue::Flag(self.window.starts_at(moment.event)),
            KeptValue::Flag(self.window.ends_at(moment.event)),
            KeptValue::Flag(self.segment.starts_at(kind, moment)),
            KeptValue::Flag(self.segment.ends_at(kind, moment)),
            // Any event decides what is required; the ones that the pattern names are enough.
            KeptValue::Flag(!self.pattern.requires_any_event() && self.pattern.is_premise(kind, moment)),
        ];
        for pattern in self.assume.iter().chain([&self.pattern]) {
            pattern.reads(kind, moment, &mut read);
        }
        read.iter().any(|value| !matches!(value, KeptValue::Flag(false))).then_some(read)
    }

    /// Whether a violation is known only at the end of a segment.
    pub(crate) fn waits_for_end(&self) -> bool {
        self.segment.needs_end() || self.assume.as_ref().is_some_and(Pattern::requires_events)
    }
}

/// The kinds of events that can change what a monitor keeps or reports.
pub(crate) fn kinds(
    window: Window,
    segment: &SegmentRule,
    assume: Option<&Pattern>,
    pattern: &Pattern,
) -> EventKinds {
    // The first event of a segment decides such a claim: one of any kind, unless the segment starts with its window.
    let is_decided_at_start = matches!(pattern, Pattern::AtLeast { .. });
    let has_start = segment.starts_with_window() && !matches!(window, Window::Conversation);
    if is_decided_at_start && !has_start {
        return EventKinds::ALL;
    }
    let of_segment = match segment {
        SegmentRule::All => EventKinds::NONE,
        SegmentRule::Part { after, before, .. } => {
            let kinds = |matcher: &Option<Matcher>| matcher.as_ref().map_or(EventKinds::NONE, |m| m.kinds);
            kinds(after).union(kinds(before))
        }
    };
    let of_assumption = assume.map_or(EventKinds::NONE, Pattern::kinds);
    window.kinds().union(of_segment).union(of_assumption).union(pattern.kinds())
}

/// The one pattern of a claim.
fn the_pattern(format: &ClaimFormat) -> Result<PatternFormat, LabeledError> {
    let ClaimFormat { id, never, always, precedes, responds, at_most, at_least, until, .. } = format;
    let patterns = [
        ("never", never.clone().map(PatternFormat::Never)),
        ("always", always.clone().map(PatternFormat::Always)),
        ("precedes", precedes.clone().map(PatternFormat::Precedes)),
        ("responds", responds.clone().map(PatternFormat::Responds)),
        ("at_most", at_most.clone().map(PatternFormat::AtMost)),
        ("at_least", at_least.clone().map(PatternFormat::AtLeast)),
        ("until", until.clone().map(PatternFormat::Until)),
    ];
    let names = patterns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let mut found = patterns.into_iter().filter_map(|(name, pattern)| Some((name, pattern?)));
    match (found.next(), found.next()) {
        (Some((_, pattern)), None) => Ok(pattern),
        (None, _) => Err(LabeledError::new(
            format!("the claim `{}` has no pattern", id.value),
            format!("add one of {names}"),
        )
        .with_label(id.span(), "no pattern")),
        (Some((first, _)), Some((second, _))) => Err(LabeledError::new(
            format!("the claim `{}` has two patterns: {first} and {second}", id.value),
            "write two claims",
        )
        .with_label(id.span(), "two patterns")),
    }
}

fn segment(format: &ClaimFormat) -> Result<SegmentRule, LabeledError> {
    let ClaimFormat { id, after, before, between, .. } = format;
    let build = |matcher: &Option<_>| matcher.as_ref().map(Matcher::build).transpose();
    match (after, before, between) {
        (None, None, None) => Ok(SegmentRule::All),
        (after, before, None) => {
            Ok(SegmentRule::Part { after: build(after)?, before: build(before)?, needs_end: false })
        }
        (None, None, Some(between)) => Ok(SegmentRule::Part {
            after: Some(Matcher::build(&between.start)?),
            before: Some(Matcher::build(&between.end)?),
            needs_end: true,
        }),
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => Err(LabeledError::new(
            format!("the claim `{}` has `between` and another part", id.value),
            "`between` counts only if its end occurs; use it alone, or `after` and `before`",
        )
        .with_label(id.span(), "two parts")),
    }
}
