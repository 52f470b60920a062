//! The mapping of the document's `State` (002, "State Schema") to the kernel, and its obsolete keys.

use core::fmt;

/// A field of the document's `State` with its counterpart in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    /// The name in the document.
    pub name: &'static str,
    /// The place of its counterpart.
    pub mapping: FieldMapping,
    /// The counterpart, or the reason why there is none.
    pub note: &'static str,
}

/// The place of a field's counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMapping {
    /// The semantic state.
    Item,
    /// The control state.
    Control,
    /// None.
    Dropped,
}

impl fmt::Display for FieldMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "item",
            Self::Control => "control",
            Self::Dropped => "dropped",
        })
    }
}

/// Every field of the document's `State`, in its order. Code words in the notes name items of the kernel.
#[rustfmt::skip]
pub const STATE_FIELDS: [StateField; 20] = [
    item("query", "`ItemKey::Request`, after the identity check"),
    control("user_id", "`Control::session`; there is no `default` user, a message without a session is refused"),
    item("messages", "`ItemKey::Request` and `ItemKey::FinalAnswer`, one of each per request; `build_context` builds the context of each call"),
    control("iteration", "`ActionRecord::iteration` of the latest action; there is no counter, because no policy bounds it"),
    dropped("depth", "the policy bounds a request: `Bounds::passes` and `Bounds::repairs`"),
    dropped("react_mode", "`SituationPolicy::mode` determines the `Mode` of an operation; `ActionRecord::mode` records it"),
    control("stop_reason", "`Conclusion::cause` in `Request::conclusion`"),
    control("selected_tools", "`Request::plan`, whose tasks are run"),
    control("tool_calls", "`Control::pending_calls`; `ActionRecord::tool_calls` records the finished ones"),
    item("result", "`ItemKey::Output`, one per task"),
    control("actions", "`Request::actions`, as many as a context needs: the latest and `SituationPolicy::max_history` before it; the log contains all"),
    dropped("attempts", "the document calls it legacy and unused; `get_compressed_attempts` returns the attempts"),
    item("current_approach", "`SummaryField::CurrentApproach`, empty before the first update; `ActionRecord::approach` records it per iteration"),
    item("situation_summary", "one item per `SummaryField`"),
    item("response", "`ItemKey::FinalAnswer`"),
    dropped("respond_directly", "004 has no transition from a request to its final answer without the debate"),
    dropped("verbose", "the reader of the log selects the level of detail"),
    dropped("trace", "the log always contains every `Event`"),
    dropped("callback", "the kernel has no callbacks; the runtime receives each batch of `Events`"),
    dropped("notifications", "the `Events` are the notifications"),
];

/// The obsolete keys of the document, in its order. Action records and tool calls reject them; `progress` is a field of the
/// summary only.
pub const OBSOLETE_KEYS: [&str; 6] =
    ["synthesis", "progress", "hypothesis", "insights", "learning", "relevance"];

const fn item(name: &'static str, note: &'static str) -> StateField {
    StateField { name, mapping: FieldMapping::Item, note }
}

const fn control(name: &'static str, note: &'static str) -> StateField {
    StateField { name, mapping: FieldMapping::Control, note }
}

const fn dropped(name: &'static str, note: &'static str) -> StateField {
    StateField { name, mapping: FieldMapping::Dropped, note }
}
