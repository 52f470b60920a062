//! Enforcement: which claims can prevent a call (decision 0061).

use crate::claim::SegmentRule;
use crate::event_kind::{EventKind, EventKinds};
use crate::format::ClaimFormat;
use crate::matcher::Matcher;
use crate::pattern::Pattern;
use orchestrion_yaml::{LabeledError, Spanned};

/// What happens with a call that violates a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// The call is made, and violates the claim.
    #[default]
    None,
    /// The call is made. It is reported that enforcement would forbid it.
    Shadow,
    /// The call is not made: it fails as forbidden.
    Enforced,
}

impl Enforcement {
    /// Whether a call that violates the claim is judged as one that is not made.
    #[must_use]
    pub const fn is_guard(self) -> bool {
        match self {
            Self::None => false,
            Self::Shadow | Self::Enforced => true,
        }
    }
}

/// Why no call causes a violation.
struct Unenforceable {
    reason: String,
    help: &'static str,
}

/// Reads `enforce` and `shadow`.
///
/// # Errors
/// Both are set, or nothing can enforce the claim.
pub(crate) fn enforcement(
    format: &ClaimFormat,
    segment: &SegmentRule,
    assume: Option<&Pattern>,
    pattern: &Pattern,
) -> Result<Enforcement, LabeledError> {
    let is_set = |flag: &Option<Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    let (key, flag, enforcement) = match (is_set(&format.enforce), is_set(&format.shadow)) {
        (false, false) => return Ok(Enforcement::None),
        (true, false) => ("enforce", &format.enforce, Enforcement::Enforced),
        (false, true) => ("shadow", &format.shadow, Enforcement::Shadow),
        (true, true) => {
            let error = LabeledError::new(
                format!("the claim `{}` has `enforce` and `shadow`", format.id.value),
                "`shadow` reports the calls that `enforce` would forbid; remove one of the two",
            );
            return Err(error.with_label(format.shadow.as_ref().and_then(Spanned::span), "second"));
        }
    };
    let Some(Unenforceable { reason, help }) = unenforceable(segment, assume, pattern) else {
        return Ok(enforcement);
    };
    let error =
        LabeledError::new(format!("the claim `{}` cannot be enforced: {reason}", format.id.value), help);
    Err(error.with_label(flag.as_ref().and_then(Spanned::span), format!("no use for `{key}`")))
}

/// Why nothing can enforce a claim: it must be violated by calls alone, and at once.
fn unenforceable(
    segment: &SegmentRule,
    assume: Option<&Pattern>,
    pattern: &Pattern,
) -> Option<Unenforceable> {
    const REMOVE: &str = "remove the key, and the claim is checked; or use never, always, precedes or at_most with \
                          {event: tool_call}";
    let unenforceable = |reason: &str, help| Some(Unenforceable { reason: reason.to_owned(), help });
    let (part, matcher) = match pattern {
        Pattern::Never(matcher) => ("never", matcher),
        Pattern::Always { at, .. } => ("at", at),
        Pattern::Precedes { then, .. } => ("then", then),
        Pattern::AtMost { of, .. } => ("of", of),
        Pattern::Responds { .. } | Pattern::AtLeast { .. } => {
            return unenforceable("a missing event violates it, and no call does", REMOVE);
        }
        Pattern::Until { .. } => {
            return unenforceable("an event of any kind or a missing event violates it", REMOVE);
        }
    };
    if let Some(kind) = first_that_is_no_call(matcher) {
        let reason = format!("an event `{}` violates it, and only a call can be prevented", kind.name());
        return Some(Unenforceable {
            reason,
            help: match part {
                "never" => "write {event: tool_call, …} after `never`, or remove the key",
                "at" => "write {event: tool_call, …} after `at`, or remove the key",
                "then" => "write {event: tool_call, …} after `then`, or remove the key",
                _ => "write {event: tool_call, …} after `of`, or remove the key",
            },
        });
    }
    if segment.needs_end() {
        return unenforceable(
            "`between` counts only if its end occurs, which is not known when the call is made",
            "use `after` and `before`, or remove the key",
        );
    }
    if assume.is_some_and(Pattern::requires_events) {
        return unenforceable(
            "its assumption is known only at the end",
            "use never, always, precedes or at_most after `assume`, or remove the key",
        );
    }
    None
}

/// The first kind of event other than a call that a matcher can match.
fn first_that_is_no_call(Matcher { kinds, .. }: &Matcher) -> Option<EventKind> {
    const CALLS: EventKinds = EventKinds::of(&[EventKind::ToolCall]);
    kinds.iter().find(|kind| !CALLS.contains(*kind))
}
