//! Canonical and reduced states. A canonical state differs from its original in numbers; a reduced state has the same context.

use orchestrion_kernel::context::{ByteMeasure, context_problem};
use orchestrion_kernel::item::{Item, Layer, Validity};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{CallId, ItemId, Policy, Revision, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Checks that [`State::canonicalize`] numbers items, pending calls and revisions from 1 in their order, keeps the rest of the items,
/// the session, the phase and the nodes of assignments, and is idempotent.
pub(crate) fn check_canonical(state: &State) -> Result<(), String> {
    let mut canonical = state.clone();
    canonical.canonicalize();
    let ids: BTreeMap<ItemId, ItemId> =
        number(state.semantic().entries().map(|entry| entry.item.id), ItemId::new);
    let expected: Vec<Entry> = state.semantic().entries().map(|entry| renumber(entry, &ids)).collect();
    compare("items", expected.iter().collect::<Vec<_>>(), canonical.semantic().entries().collect())?;
    compare("the next item", ids.len() as u64 + 1, canonical.semantic().next_id().number())?;
    if !canonical.semantic().is_consistent() {
        return Err("the canonical semantic state is inconsistent".to_owned());
    }

    let (before, after) = (state.control(), canonical.control());
    let calls = number(before.pending_calls().iter().map(|call| call.id), CallId::new);
    let renumbered =
        before.pending_calls().iter().map(|call| (calls[&call.id], call.operation, call.not_made));
    let found = after.pending_calls().iter().map(|call| (call.id, call.operation, call.not_made));
    compare("pending calls", renumbered.collect::<Vec<_>>(), found.collect())?;
    compare("the next call", calls.len() as u64 + 1, after.next_call().number())?;
    compare("the session", before.session(), after.session())?;
    compare("the phase", before.phase(), after.phase())?;

    let assignments = |state: &State, call: &dyn Fn(CallId) -> CallId| -> Vec<_> {
        let found = state.network().map_or(&[][..], |network| network.assignments());
        found.iter().map(|assignment| (call(assignment.call), assignment.to.clone())).collect()
    };
    let renumbered = assignments(state, &|call| calls.get(&call).copied().unwrap_or(CallId::new(0)));
    compare("assignments", renumbered, assignments(&canonical, &|call| call))?;

    let (old, new) = (before.request().map(revisions), after.request().map(revisions));
    let used = old.iter().flatten().flatten().copied();
    let numbers: BTreeMap<Revision, Revision> =
        number(used, |number| Revision::new(u32::try_from(number).unwrap()));
    let renumbered = old.map(|old| old.iter().map(|slot| slot.map(|revision| numbers[&revision])).collect());
    compare("revisions", renumbered, new)?;

    let mut again = canonical.clone();
    again.canonicalize();
    if again == canonical { Ok(()) } else { Err("a canonical state changes".to_owned()) }
}

/// Checks that a state reduced to what the context of a pending call reads has the same context.
pub(crate) fn check_reduced(policy: &Policy, state: &State) -> Result<(), String> {
    for call in state.control().pending_calls() {
        let problem = |state: &State| {
            let budget = policy.contexts.token_limit(call.operation.module());
            format!("{:?}", context_problem(policy, state, call.operation, budget, &ByteMeasure))
        };
        compare("the context", problem(state), problem(&state.reduced_to_context(call.operation)))?;
    }
    Ok(())
}

/// Numbers values from 1, in their order.
fn number<T: Ord + Copy>(values: impl IntoIterator<Item = T>, new: impl Fn(u64) -> T) -> BTreeMap<T, T> {
    let sorted: BTreeSet<T> = values.into_iter().collect();
    sorted.into_iter().zip((1..).map(new)).collect()
}

fn renumber(Entry { item, deps }: &Entry, ids: &BTreeMap<ItemId, ItemId>) -> Entry {
    let renumbered = |id: ItemId| ids.get(&id).copied().unwrap_or(ItemId::new(0));
    let mut item = Item { id: renumbered(item.id), ..item.clone() };
    if let Layer::Fact(fact) = &mut item.layer {
        let fact = Arc::make_mut(fact);
        fact.supersedes = fact.supersedes.map(renumbered);
    }
    if let Validity::Superseded { superseded_by, .. } = &mut item.validity {
        *superseded_by = superseded_by.map(renumbered);
    }
    Entry { item, deps: deps.iter().map(|dep| renumbered(*dep)).collect() }
}

/// The revisions that a request refers to.
fn revisions(request: &Request) -> Vec<Option<Revision>> {
    let debate = &request.debate;
    let plan = request.plan.as_ref().map(|plan| plan.revision);
    let scored = debate.scored.map(|scored| scored.revision);
    let decided = request.decisions.iter().map(|decision| Some(decision.revision));
    [plan, debate.security_reviewed, scored].into_iter().chain(decided).collect()
}

fn compare<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}
