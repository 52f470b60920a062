//! The context of one call.

use super::selection_status::SelectionStatus;
use crate::ids::ItemId;
use alloc::string::String;
use alloc::vec::Vec;

/// A module's context: its items, its cost and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleContext {
    /// The selected items, in id order.
    pub ids: Vec<ItemId>,
    /// The tokens of the text.
    pub cost_tokens: u64,
    /// The tokens of the payload of the call. The budget covers them too.
    pub payload_tokens: u64,
    /// The text that the module receives.
    pub text: String,
    /// The sum of the items' utilities.
    pub utility: u64,
    /// The proven quality of the selection, for the module's whole budget.
    pub status: SelectionStatus,
}

impl ModuleContext {
    /// The upper bound on the utility of every valid selection; equal to the utility if the selection is optimal.
    #[must_use]
    pub const fn bound(&self) -> u64 {
        self.status.bound(self.utility)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ModuleContext {
    /// Writes the status as its name, beside the bound.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut context = serializer.serialize_struct("ModuleContext", 7)?;
        context.serialize_field("ids", &self.ids)?;
        context.serialize_field("cost_tokens", &self.cost_tokens)?;
        context.serialize_field("payload_tokens", &self.payload_tokens)?;
        context.serialize_field("text", &self.text)?;
        context.serialize_field("utility", &self.utility)?;
        context.serialize_field("bound", &self.bound())?;
        context.serialize_field("status", self.status.name())?;
        context.end()
    }
}
