//! Totals of the valid items, which answer a decision without a scan.

use crate::item::Item;

/// Totals of the valid items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// The sum of [`Item::line_bytes_max`].
    pub(super) line_bytes_max: usize,
    /// The number of [items of the session](Item::is_session_item).
    pub(super) session_items: usize,
}

impl Totals {
    /// Returns the totals of one more item.
    pub(super) fn with(self, item: &Item) -> Self {
        let Self { line_bytes_max, session_items } = Self::from_item(item);
        Self {
            line_bytes_max: self.line_bytes_max.saturating_add(line_bytes_max),
            session_items: self.session_items.saturating_add(session_items),
        }
    }

    /// Returns the totals without an item.
    pub(super) fn without(self, item: &Item) -> Self {
        let Self { line_bytes_max, session_items } = Self::from_item(item);
        Self {
            line_bytes_max: self.line_bytes_max.saturating_sub(line_bytes_max),
            session_items: self.session_items.saturating_sub(session_items),
        }
    }

    /// Returns what an item contributes. An archived item contributes nothing.
    fn from_item(item: &Item) -> Self {
        if item.is_valid() {
            Self { line_bytes_max: item.line_bytes_max(), session_items: item.is_session_item().into() }
        } else {
            Self::default()
        }
    }
}
