//! What claims about the context of a call read.

use crate::reference::contexts::{ExpectedProblem, required_tokens};
use crate::reference::reading::{closed_subset, readable_items};
use crate::reference::serialization::line;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::Item;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// A call in a state, with what the reference expects of its context. All claims about the call read the same view.
#[derive(Debug)]
pub struct ContextView<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) state: &'a State,
    pub(crate) operation: Operation,
    /// The items that the call may read.
    pub(crate) readable: BTreeSet<ItemId>,
    /// The items that its context can contain.
    pub(crate) selectable: BTreeSet<ItemId>,
    /// The selection problem.
    pub(crate) problem: ExpectedProblem,
}

impl<'a> ContextView<'a> {
    /// Returns the view of a call with this operation.
    #[must_use]
    pub fn new(policy: &'a Policy, state: &'a State, operation: Operation) -> Self {
        let readable = readable_items(policy, state, operation);
        // A summary is made of items alone, without what they depend on.
        let selectable = match operation {
            Operation::Summarize => readable.clone(),
            _ => closed_subset(state, readable.clone()),
        };
        let problem = ExpectedProblem::new(policy, state, operation, &readable, &selectable);
        Self { policy, state, operation, readable, selectable, problem }
    }

    /// Returns the tokens of the pinned items with their dependencies and headings, and of the payload.
    #[must_use]
    pub fn required_tokens(&self) -> u64 {
        required_tokens(&self.problem)
    }

    /// The items that the context can contain, in id order.
    pub(crate) fn selectable_items(&self) -> impl Iterator<Item = &'a Item> {
        self.selectable.iter().filter_map(|id| Some(&self.state.semantic().get(*id)?.item))
    }

    /// The line of an item.
    pub(crate) fn line(&self, item: &Item) -> Cow<'_, str> {
        let known = self.problem.ids.binary_search(&item.id).ok().and_then(|at| self.problem.lines.get(at));
        known.map_or_else(|| Cow::Owned(line(self.policy, item)), |line| Cow::Borrowed(line.as_str()))
    }
}
