//! The writes of the adversary that supersede a fact while a request runs (decision 0038).

use super::knowledge::fact;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::{NewFact, Write};
use orchestrion_kernel::{Input, Phase, RequestId, State};

/// The most facts that are written. Two precede the request, and two more can come during it: one that outdates the plan, and
/// one that outdates it again.
const FACTS_MAX: usize = 4;

/// A global fact before the request, and its next version while the tasks run.
pub(super) fn change_during_run(state: &State) -> Option<Input> {
    let versions = state.semantic().entries().filter(|entry| entry.item.fact().is_some()).count();
    let is_next = match state.control().phase() {
        Phase::Idle => versions == 0 && state.control().next_request() == RequestId::FIRST,
        Phase::RunningTasks => versions == 1,
        _ => false,
    };
    is_next.then(|| Input::Write(Box::new(Write::Fact(fact("a", &versions.to_string())))))
}

/// The next version of a global fact and of a fact in a draft, which no request reads.
pub(super) fn writes(from: Phase, state: &State) -> Vec<Input> {
    let facts = || state.semantic().entries().filter_map(|entry| entry.item.fact());
    let is_before = state.control().next_request() == RequestId::FIRST;
    let is_during = state.control().request().is_some() && state.control().phase() >= from;
    let has_room = is_before || is_during && facts().count() < FACTS_MAX;
    let version = |key: &str, scope: Scope, versions_max: usize| {
        let versions = facts().filter(|fact| fact.scope == scope).count();
        let is_next = has_room && is_before == (versions == 0) && versions < versions_max;
        let new = NewFact { scope, ..fact(key, &versions.to_string()) };
        is_next.then(|| Input::Write(Box::new(Write::Fact(new))))
    };
    let draft = Scope::Draft("d".into());
    version("a", Scope::Global, usize::MAX).into_iter().chain(version("b", draft, 2)).collect()
}
