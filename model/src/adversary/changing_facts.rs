//! The writes of the adversary that supersede a fact while a request runs (decision 0038).

use super::knowledge::fact;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::{NewFact, Write};
use orchestrion_kernel::{Input, RequestId, State};

/// The most facts that are written. Two precede the request, so that two more can come in every phase of it: one that outdates
/// the plan, and one that outdates it again.
const FACTS_MAX: usize = 4;

/// The next version of a global fact and of a fact in a draft, which no request reads.
pub(super) fn writes(state: &State) -> Vec<Input> {
    let facts = || state.semantic().entries().filter_map(|entry| entry.item.fact());
    let is_before = state.control().next_request() == RequestId::FIRST;
    let has_room = is_before || state.control().request().is_some() && facts().count() < FACTS_MAX;
    let version = |key: &str, scope: Scope, versions_max: usize| {
        let versions = facts().filter(|fact| fact.scope == scope).count();
        let is_next = has_room && is_before == (versions == 0) && versions < versions_max;
        let new = NewFact { scope, ..fact(key, &versions.to_string()) };
        is_next.then(|| Input::Write(Box::new(Write::Fact(new))))
    };
    let draft = Scope::Draft("d".into());
    version("a", Scope::Global, usize::MAX).into_iter().chain(version("b", draft, 2)).collect()
}
