//! The monitor of one claim.

use crate::claim::UserClaim;
use crate::event_kind::EventKind;
use crate::fields::Moment;
use crate::pattern::{Cells, Pattern, Reason};
use std::fmt;

/// What a monitor keeps between events. Its size has a bound, and the end of a window resets it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MonitorState {
    /// A window is open.
    pub(crate) is_open: bool,
    pub(crate) segment: Segment,
}

/// The part of a window in which the claim counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Segment {
    /// It has not started, or has ended.
    #[default]
    None,
    /// The claim counts.
    Open {
        /// What the pattern keeps.
        cells: Cells,
        /// What the pattern of the assumption keeps; `None` if it needs more values than it can keep, and is presumed to hold.
        assumed: Option<Cells>,
        /// The claim is violated if the segment ends, and the assumption holds then.
        failed: Option<Reason>,
    },
    /// The claim no longer counts: it is violated, or its assumption is.
    Settled,
}

/// What one event does to a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// The claim is violated.
    pub violated: Option<Reason>,
    /// The event can decide the claim.
    pub is_premise: bool,
}

/// The verdict on a claim for a finite run, in four values (RV-LTL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every window of the run ended, and the claim held in each.
    Satisfied,
    /// The run can go on, and nothing is missing so far.
    PresumablySatisfied,
    /// The run can go on, and an event is missing so far.
    PresumablyViolated,
    /// The claim is violated.
    Violated,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 4] =
        [Self::Satisfied, Self::PresumablySatisfied, Self::PresumablyViolated, Self::Violated];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Satisfied => "satisfied",
            Self::PresumablySatisfied => "presumably satisfied",
            Self::PresumablyViolated => "presumably violated",
            Self::Violated => "violated",
        })
    }
}

impl MonitorState {
    /// The state before any event.
    pub(crate) fn new(claim: &UserClaim) -> Self {
        let mut state = Self::default();
        if claim.window == crate::claim::Window::Conversation {
            state.open(claim);
        }
        state
    }

    /// Takes one event.
    pub(crate) fn step(&mut self, claim: &UserClaim, kind: EventKind, moment: &Moment<'_>) -> Step {
        let mut step = Step::default();
        if claim.window.starts_at(moment.event) {
            // A window that never ended ends where the next one starts.
            step.violated = self.close(claim);
            self.open(claim);
        }
        if !self.is_open {
            return step;
        }
        if claim.segment.ends_at(kind, moment) {
            step.violated = step.violated.or(self.end_segment(claim, true));
        }
        if let Segment::Open { cells, assumed, failed } = &mut self.segment {
            // An assumption that fails after the claim excuses it only if its end decides it.
            let counts = |assume: &&Pattern| failed.is_none() || assume.requires_events();
            let assumption = match (claim.assume.as_ref().filter(counts), assumed.as_mut()) {
                (Some(assume), Some(cells)) => assume.step(cells, kind, moment),
                (None, _) | (_, None) => Ok(()),
            };
            let is_guard = claim.enforcement.is_guard();
            let assumption = match assumption {
                // A claim that forbids calls stays in force if its assumption cannot be evaluated.
                Err(Reason::Values) if is_guard => {
                    *assumed = None;
                    Ok(())
                }
                assumption => assumption,
            };
            step.is_premise = failed.is_none() && claim.pattern.is_premise(kind, moment);
            let result = match failed {
                None => claim.pattern.step(cells, kind, moment),
                Some(_) => Ok(()),
            };
            let result = match result {
                // What cannot be kept allows no call: a later one that needs it is forbidden.
                Err(Reason::Values) if is_guard && kind != EventKind::ToolCall => Ok(()),
                result => result,
            };
            match (assumption, result) {
                (Err(_), _) => self.segment = Segment::Settled,
                (Ok(()), Err(reason)) if claim.waits_for_end() => {
                    *cells = Cells::default();
                    *failed = Some(reason);
                }
                (Ok(()), Err(reason)) => {
                    step.violated = step.violated.or(Some(reason));
                    self.segment = Segment::Settled;
                }
                (Ok(()), Ok(())) => {}
            }
        }
        if self.segment == Segment::None && claim.segment.starts_at(kind, moment) {
            self.segment = Segment::opened();
        }
        if claim.window.ends_at(moment.event) {
            step.violated = step.violated.or(self.close(claim));
        }
        step
    }

    fn open(&mut self, claim: &UserClaim) {
        self.is_open = true;
        self.segment = if claim.segment.starts_with_window() { Segment::opened() } else { Segment::None };
    }

    /// Ends the window, and with it a segment that has no end of its own.
    fn close(&mut self, claim: &UserClaim) -> Option<Reason> {
        let violated = self.end_segment(claim, false);
        self.is_open = false;
        violated
    }

    /// Ends the segment. `by_event`: its own end occurred.
    fn end_segment(&mut self, claim: &UserClaim, by_event: bool) -> Option<Reason> {
        let Segment::Open { cells, assumed, failed } = std::mem::take(&mut self.segment) else { return None };
        let counts = by_event || !claim.segment.needs_end();
        let is_assumed = is_assumed(claim, assumed.as_ref());
        let missing = || (!claim.pattern.holds_at_end(&cells)).then_some(Reason::End);
        if counts && is_assumed { failed.or_else(missing) } else { None }
    }

    /// The verdict if the run stops here and no event violated the claim.
    pub(crate) fn verdict(&self, claim: &UserClaim) -> Verdict {
        match &self.segment {
            Segment::None | Segment::Settled if !self.is_open => Verdict::Satisfied,
            Segment::None | Segment::Settled => Verdict::PresumablySatisfied,
            Segment::Open { cells, assumed, failed } => {
                let is_assumed = is_assumed(claim, assumed.as_ref());
                let is_missing = failed.is_some() || !claim.pattern.holds_at_end(cells);
                if is_assumed && is_missing && !claim.segment.needs_end() {
                    Verdict::PresumablyViolated
                } else {
                    Verdict::PresumablySatisfied
                }
            }
        }
    }
}

impl Segment {
    fn opened() -> Self {
        Self::Open { cells: Cells::default(), assumed: Some(Cells::default()), failed: None }
    }
}

/// Whether the assumption holds if the segment ends now.
fn is_assumed(claim: &UserClaim, assumed: Option<&Cells>) -> bool {
    claim.assume.as_ref().zip(assumed).is_none_or(|(assume, cells)| assume.holds_at_end(cells))
}

/// Why a claim is violated, as a clause.
pub(crate) fn reason_text(pattern: &Pattern, reason: Reason) -> String {
    match (reason, pattern) {
        (Reason::Event, Pattern::Never(_)) => "this event may not occur".to_owned(),
        (Reason::Event, Pattern::Always { .. } | Pattern::Until { .. }) => {
            "the condition does not hold at this event".to_owned()
        }
        (Reason::Event, Pattern::Precedes { .. }) => "no earlier event allows this one".to_owned(),
        (Reason::Event, Pattern::AtMost { limit, sum: None, .. }) => {
            format!("this is event {} of at most {limit}", limit + 1)
        }
        (Reason::Event, Pattern::AtMost { .. }) => "the sum exceeds its limit with this event".to_owned(),
        (Reason::Event | Reason::End, Pattern::Responds { .. }) => {
            "an event has no response before the end".to_owned()
        }
        (Reason::Event | Reason::End, Pattern::AtLeast { .. }) => {
            "too few events occurred before the end".to_owned()
        }
        (Reason::End, _) => "a required event did not occur before the end".to_owned(),
        (Reason::Made, _) => "a call that the claim forbids was made".to_owned(),
        (Reason::Values, _) => {
            format!(
                "more than {} combinations of values: the claim cannot be evaluated",
                crate::pattern::VALUES_MAX
            )
        }
    }
}
