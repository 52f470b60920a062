//! What became of the document's `State` (002, "State Schema"), field by field; and the keys that it gave up.

use core::fmt;

/// A field of the document's `State` and what stands for it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    /// Its name there.
    pub name: &'static str,
    /// Where it went.
    pub place: FieldMapping,
    /// What stands for it, or why nothing does.
    pub note: &'static str,
}

/// Where a field went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMapping {
    /// Into the semantic state.
    Item,
    /// Into the control state.
    Control,
    /// Nowhere.
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

/// Every field of the document's `State`, in its order. A code word in what is told names what there is in the kernel.
#[rustfmt::skip]
pub const STATE_FIELDS: [StateField; 20] = [
    item("query", "`Key::Request`, once its user is verified"),
    control("user_id", "`Control::session`; nobody is taken for a `default` user, a message without a session is refused"),
    item("messages", "`Key::Request` and `Key::Answer`, one of each a request; what a module reads is written anew for each call by `present`"),
    control("iteration", "`ActionRecord::iteration` of the latest action; no counter beside it, as no policy bounds it"),
    dropped("depth", "how far a request may go the policy says: `Bounds::passes` and `Bounds::repairs`"),
    dropped("react_mode", "who asks for a context says its `Mode`; `ActionRecord::mode` tells which it was"),
    control("stop_reason", "`Ending::cause` in `Request::ending`"),
    control("selected_tools", "`Request::plan`, whose tasks say what is to run"),
    control("tool_calls", "`Control::waiting`: one call is out at a time; those that ended stand in `ActionRecord::tool_calls`"),
    item("result", "`Key::Output`, one for each task"),
    control("actions", "`ActionRecord`, of the running request as many as a context reads: the latest and `HISTORY` before it; the log has all"),
    dropped("attempts", "the document calls it legacy and unused; `get_compressed_attempts` says what was tried"),
    item("current_approach", "`SummaryField::CurrentApproach`, the field of that name in the summary, empty until a model says something; `ActionRecord::approach` tells what it was at the time"),
    item("situation_summary", "one item for each `SummaryField`"),
    item("response", "`Key::Answer`"),
    dropped("respond_directly", "004 draws no way from a request to its answer past the debate"),
    dropped("verbose", "how much is told is settled by whoever reads the log, not by what is logged"),
    dropped("trace", "everything is logged, always: each `Event` of each batch"),
    dropped("callback", "the kernel calls nobody; whoever runs it is handed each batch of `Events`"),
    dropped("notifications", "what there is to notify of are the `Events` themselves"),
];

/// The keys that the document gave up, in its order. In an action record or a call of a tool they are refused as unknown;
/// `progress` is a field of the summary only.
pub const OBSOLETE_KEYS: [&str; 6] =
    ["synthesis", "progress", "hypothesis", "insights", "learning", "relevance"];

const fn item(name: &'static str, told: &'static str) -> StateField {
    StateField { name, place: FieldMapping::Item, note: told }
}

const fn control(name: &'static str, told: &'static str) -> StateField {
    StateField { name, place: FieldMapping::Control, note: told }
}

const fn dropped(name: &'static str, told: &'static str) -> StateField {
    StateField { name, place: FieldMapping::Dropped, note: told }
}
