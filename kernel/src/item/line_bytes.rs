//! An upper bound on the length of an item in a context, which needs no rendering.

use super::{Item, ItemKey, Layer};

impl Item {
    /// Returns an upper bound on the bytes of the item's line in a context.
    pub(crate) fn line_bytes_max(&self) -> usize {
        /// Id, kind, rank, time, review flag and separators.
        const FIXED_BYTES: usize = 200;
        let key_bytes = match &self.key {
            ItemKey::Fact(key) | ItemKey::Working(key) | ItemKey::Environment(key) => key.as_str().len(),
            ItemKey::Trace(trace) => trace.conversation.as_str().len(),
            ItemKey::AdditionalArgument(_, name) => name.as_str().len(),
            ItemKey::Request(_)
            | ItemKey::FinalAnswer(_)
            | ItemKey::Tags(_)
            | ItemKey::Task(..)
            | ItemKey::Output(..)
            | ItemKey::Argument(..)
            | ItemKey::Diagnosis(_)
            | ItemKey::Approval(_)
            | ItemKey::Aggregate(_)
            | ItemKey::Identity
            | ItemKey::Summary
            | ItemKey::Situation(_) => 0,
        };
        let scope_bytes = self.scope().name().map_or(0, |name| name.as_str().len());
        [self.text.as_str().len(), key_bytes, self.layer.text_bytes(), scope_bytes]
            .into_iter()
            .fold(FIXED_BYTES, usize::saturating_add)
    }
}

impl Layer {
    /// Returns an upper bound on the bytes of the layer's texts in a line, with their separators.
    fn text_bytes(&self) -> usize {
        /// The words and separators of one permission.
        const PERMISSION_BYTES: usize = 6;
        match self {
            Self::Identity(identity) => {
                let texts = [&identity.authority, &identity.department, &identity.organization];
                let permissions = identity.permissions.iter();
                let permissions =
                    permissions.map(|text| text.as_str().len().saturating_add(PERMISSION_BYTES));
                texts
                    .into_iter()
                    .map(|text| text.as_str().len())
                    .chain(permissions)
                    .fold(0, usize::saturating_add)
            }
            Self::Fact(fact) => fact.source.name.as_str().len(),
            Self::Request { .. } | Self::Working { .. } | Self::Environment => 0,
        }
    }
}
