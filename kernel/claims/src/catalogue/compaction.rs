//! Claims about compaction: its trigger, its cluster and its summary (000 §6, decision 0021).

use super::prelude::*;
use crate::reference::compaction::{cluster, group_of, is_due, is_same_group, largest_group};
use crate::reference::items::{chain_end, fact_keys, facts_in_force, is_in_force, latest_with_key};
use crate::reference::reading::has_expired;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::ids::{CallId, ItemId, Text};
use orchestrion_kernel::item::{FactRecord, Item, Layer, Validity};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::semantic::{Entry, SemanticState};
use orchestrion_kernel::{Timestamp, Trigger};

pub(super) const COMPACTION: &[Claim] = &[
    Claim {
        id: "C-88",
        clause: "000-6.9",
        statement: "Compaction starts exactly when the largest compaction group or the readable tokens \
                    reach their thresholds.",
        formula: "□ (IdentityVerified left by a step ⇒ (to Compacting ⇔ due))",
        check: StepInvariant(|policy, before, events, _| {
            if before.control().phase() != Phase::IdentityVerified || !policy.rules.compaction {
                return true;
            }
            let entered = |event: &Event| match event {
                Event::Transitioned { row } if row.transition().on == Trigger::Step => {
                    Some(row.transition().to)
                }
                _ => None,
            };
            let to = events.iter().find_map(entered);
            to.is_none_or(|to| (to == Phase::Compacting) == is_due(policy, before))
        }),
        premise: Premise::State(|policy, state| {
            state.control().phase() == Phase::IdentityVerified && is_due(policy, state)
                || !policy.rules.compaction
        }),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-177",
        clause: "000-6.9",
        statement: "The message of a running request stays as the user wrote it: no compaction forgets it, and after the \
                    identity check it is an item of the request.",
        formula: "□ (r runs ∧ r' = r ∧ verified' ⇒ message(r) ∈ I' with its text)",
        check: StepInvariant(|_, before, _, after| {
            let (Some(earlier), Some(later)) = (before.control().request(), after.control().request()) else {
                return true;
            };
            if earlier.id != later.id || !later.verified {
                return true;
            }
            let message = |state: &State| state.semantic().request(later.id);
            let Some(kept) = message(after) else { return false };
            let is_stated = |entry: &Entry| entry.item.text == later.text;
            message(before).is_none_or(|id| id == kept) && after.semantic().get(kept).is_some_and(is_stated)
        }),
        premise: Premise::State(|policy, state| {
            let Some(request) = state.control().request() else { return false };
            let is_old = |entry: &Entry| match entry.item.key {
                ItemKey::Request(id) => id != request.id,
                _ => false,
            };
            let is_summarized = |id: &ItemId| state.semantic().get(*id).is_some_and(is_old);
            state.control().phase() == Phase::Compacting && cluster(policy, state).iter().any(is_summarized)
        }),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-212",
        clause: "000-6.10",
        statement: "The context of the summarizer contains the cluster and nothing else: the oldest items of the largest compaction \
                    group.",
        formula: "□ (ToolCall(Sum) ∈ σ ∧ ¬over_budget' ⇒ Ctx = C)",
        check: ContextInvariant(|ContextView { policy, state, operation, .. }, sent| {
            *operation != Operation::Summarize || sent.context.ids == cluster(policy, state)
        }),
        premise: Premise::State(|policy, state| {
            state.control().phase() == Phase::Compacting
                && state.semantic().entries().count() > largest_group(policy, state).len()
        }),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-236",
        clause: "000-6.12",
        statement: "A summary of a context that a write made out of date is accepted, whatever it names, and replaces nothing. \
                    Otherwise one that names no item, or an unknown one, is refused.",
        formula: "□ (outdated(Sum) ∧ reply(x, F) to Sum ⇒ accepted ∧ AddItem(x) ∉ σ ∧ ForgetItems(F) ∉ σ) ∧ \
                  □ (¬outdated(Sum) ∧ (F = ∅ ∨ F ⊄ I) ⇒ reply(x, F) to Sum is refused)",
        check: ResponseInvariant(|_, decide, state| {
            let Some(call) = pending_summary(state) else { return true };
            let reply = |forgets| {
                let report = Report::Summary { text: Text::from("s"), forgets: Some(forgets) };
                decide(state, &Input::reply(call, report))
            };
            let mut none = [Vec::new(), Vec::from([state.semantic().next_id()])].into_iter();
            if !is_summary_outdated(state) {
                return none.all(|forgets| reply(forgets).is_err());
            }
            let named = state.semantic().entries().map(|entry| Vec::from([entry.item.id]));
            named.chain(none).all(|forgets| reply(forgets).is_ok_and(|events| summarized(&events).is_none()))
        }),
        premise: Premise::State(|_, state| is_summary_outdated(state)),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-89",
        clause: "000-6.5",
        statement: "A compaction forgets the items that the summary names, or the whole cluster, with the \
                    items that these had superseded. The summary names only items of the cluster.",
        formula: "□ (F = named ∪ { x | by*(x) ∈ named }) ∧ □ (named ⊆ C)",
        check: StepInvariant(|policy, before, events, _| {
            let Some((_, gone)) = summarized(events) else { return true };
            let known = before.semantic();
            let named = events.iter().find_map(|event| match event {
                Event::ToolResult { report: Report::Summary { forgets, .. }, .. } => Some(forgets.as_ref()),
                _ => None,
            });
            let Some(named) = named.map(|named| named.cloned().unwrap_or_else(|| cluster(policy, before)))
            else {
                return false;
            };
            let ended_in_named = |entry: &&Entry| {
                chain_end(known, entry.item.id).is_some_and(|current| named.contains(&current))
            };
            let expected = known.entries().filter(ended_in_named).map(|entry| entry.item.id);
            let most = usize::try_from(policy.compaction.cluster_items).unwrap_or(usize::MAX);
            let largest = largest_group(policy, before).len();
            expected.eq(gone.iter().copied())
                && named.iter().all(|id| {
                    let alike = group_of(policy, before, *id);
                    let older = alike.iter().filter(|other| *other < id).count();
                    alike.len() == largest && largest > 0 && older < most
                })
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Compacting),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-90",
        clause: "000-6.4",
        statement: "One summary replaces the forgotten items. It has their kind, scope and audience and the time of the latest, covers \
                    their keys that no remaining fact has, and needs review if one of them did. One of other items than facts is a \
                    fact.",
        formula: "□ (F ≠ ∅ ⇒ I' = (I \\ F) ∪ { x_new } ∧ keys(x_new) = ∪ keys(F) \\ ∪ keys(valid I \\ F) ∧ time(x_new) = max time(F) ∧ ∀ x ∈ F: same_group(x, x_new))",
        check: StepInvariant(|_, before, events, after| {
            let summaries = |state: &State| {
                latest_with_key(state.semantic(), &ItemKey::Summary).map(|entry| entry.item.id)
            };
            let Some((into, gone)) = summarized(events) else {
                return !events.iter().any(
                    |event| matches!(event, Event::AddItem { item, .. } if item.key == ItemKey::Summary),
                );
            };
            let Some(summary) = after.semantic().get(into).map(|entry| &entry.item) else { return false };
            let parts: Vec<&Item> = valid_entries(before, gone).map(|entry| &entry.item).collect();
            let review = parts.iter().any(|item| item.validity == Validity::NeedsReview);
            let forgotten = gone.iter().filter_map(|id| before.semantic().get(*id));
            let mut names: BTreeSet<&Text> = forgotten.flat_map(|entry| fact_keys(&entry.item)).collect();
            let scope = |item: &Item| item.fact().map(|fact| fact.scope.clone());
            let stays = facts_in_force(before.semantic()).filter(|item| !gone.contains(&item.id));
            for other in stays.filter(|item| scope(item) == scope(summary)) {
                fact_keys(other).for_each(|key| {
                    names.remove(key);
                });
            }
            summaries(after) == Some(into)
                && fact_keys(summary).eq(names)
                && before.semantic().get(into).is_none()
                && lasting(after, after.now()).count() + gone.len()
                    == lasting(before, after.now()).count() + 1
                && summary.validity == if review { Validity::NeedsReview } else { Validity::Current }
                && parts.iter().all(|part| is_same_group(part, summary))
                && is_of_summarizer(summary, &parts)
        }),
        premise: Premise::Semantic(|_, state| latest_with_key(state.semantic(), &ItemKey::Summary).is_some()),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-91",
        clause: "000-6.7",
        statement: "Dependents of forgotten items depend on the summary. The summary depends on what the \
                    forgotten items depended on. No link refers to them, and nothing else changes.",
        formula: "□ (F ≠ ∅ ⇒ deps' = deps[x_new / F] ∧ links' = links \\ F)",
        check: StepInvariant(|policy, before, events, after| {
            let Some((into, gone)) = summarized(events) else { return true };
            let instead = policy.rules.repointed_dependents.then_some(into);
            let stays = lasting(before, after.now()).filter(|entry| !gone.contains(&entry.item.id));
            let round = |id: &ItemId| depends_transitively_on(before, *id, gone);
            let grounds: BTreeSet<ItemId> = valid_entries(before, gone)
                .flat_map(|entry| entry.deps.iter().copied())
                .filter(|dep| !gone.contains(dep) && !round(dep))
                .collect();
            after.semantic().get(into).is_some_and(|summary| summary.deps.iter().eq(&grounds))
                && stays.into_iter().all(|old| {
                    let Some(new) = after.semantic().get(old.item.id) else { return false };
                    let mut deps: BTreeSet<ItemId> = old.deps.iter().copied().collect();
                    deps.retain(|dep| !gone.contains(dep));
                    if deps.len() < old.deps.len() {
                        deps.extend(instead);
                    }
                    let link = |item: &Item| item.fact().and_then(|fact| fact.supersedes);
                    let kept = link(&old.item).filter(|id| !gone.contains(id));
                    new.deps.iter().eq(&deps)
                        && link(&new.item) == kept
                        && (&new.item.text, new.item.validity) == (&old.item.text, old.item.validity)
                })
        }),
        premise: Premise::Semantic(|_, state| {
            let summary = latest_with_key(state.semantic(), &ItemKey::Summary).map(|entry| entry.item.id);
            summary.is_some_and(|id| state.semantic().entries().any(|entry| entry.deps.contains(&id)))
        }),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-92",
        clause: "000-6.13",
        statement: "Without a valid summary nothing changes. A change of an item after the call makes the summary invalid, unless \
                    the item is a signal or expires. A change of signals alone does not.",
        formula: "□ (call of Sum fails ∨ S changed since ⇒ S' = S) ∧ □ (outdated' ∧ ¬outdated ⇒ σ changes an item that is no signal)",
        check: StepInvariant(|_, before, events, after| {
            let outdated = |state: &State| state.control().request().is_some_and(|request| request.outdated);
            let lost = |event: &Event| match event {
                Event::CallFailed { module, .. } => *module == Module::Summarizer,
                Event::ToolResult { module, .. } => *module == Module::Summarizer && outdated(before),
                _ => false,
            };
            let waits = |state: &State| state.control().phase() == Phase::Compacting;
            let is_signal = |item: &Item| matches!(item.layer, Layer::Environment);
            let said = |state: &State| -> Vec<Entry> {
                lasting(state, after.now()).filter(|entry| !is_signal(&entry.item)).cloned().collect()
            };
            let notices =
                || !waits(before) || !waits(after) || outdated(after) || said(before) == said(after);
            let changes = |event: &Event| match event {
                Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => !is_signal(item),
                _ => false,
            };
            let has_cause = || !outdated(after) || outdated(before) || events.iter().any(changes);
            (!events.iter().any(lost) || lasting(before, after.now()).eq(lasting(after, after.now())))
                && notices()
                && has_cause()
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Compacting),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-100",
        clause: "decision 0021",
        statement: "A write under a key that a summary covers competes with the summary as with a fact. If \
                    it wins, the summary loses the key and needs review.",
        formula: "□ (valid(s) ∧ valid'(s) ∧ valid'(x) new ∧ scope(x) = scope(s) ∧ key(x) ∈ keys(s) ⇒ rank(x) ≥ rank(s) ∧ key(x) ∉ \
                  keys'(s)) ∧ □ (keys'(s) ≠ keys(s) ⇒ keys'(s) ⊂ keys(s) ∧ needs_review'(s))",
        check: SemanticStepInvariant(|_, before, _, after| {
            let summaries = || facts_of(before.semantic()).filter(|(item, _)| item.key == ItemKey::Summary);
            summaries().all(|(old, stood)| {
                let now =
                    after.semantic().get(old.id).map(|entry| &entry.item).filter(|item| is_in_force(item));
                let Some(now) = now else { return true };
                let added = || {
                    facts_of(after.semantic()).filter(|(item, _)| before.semantic().get(item.id).is_none())
                };
                let speaks = |item: &Item| fact_keys(old).any(|name| fact_keys(item).any(|own| own == name));
                let rivals = || added().filter(|(item, fact)| fact.scope == stood.scope && speaks(item));
                let is_met = |(item, fact): (&Item, &FactRecord)| {
                    fact.source.rank >= stood.source.rank
                        && fact_keys(item).all(|name| fact_keys(now).all(|left| left != name))
                };
                let kept = fact_keys(now).eq(fact_keys(old));
                let lost = fact_keys(now).all(|name| fact_keys(old).any(|stood| stood == name))
                    && now.validity == Validity::NeedsReview
                    && added().any(|(_, fact)| fact.scope == stood.scope);
                rivals().all(is_met) && (kept || lost)
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let shaken = |item: &Item, stands: &FactRecord| {
                item.key == ItemKey::Summary
                    && item.validity == Validity::NeedsReview
                    && facts_of(state.semantic())
                        .any(|(other, fact)| other.id > item.id && fact.scope == stands.scope)
            };
            facts_of(state.semantic()).any(|(item, fact)| shaken(item, fact))
        }),
        not_applicable: without_compaction,
        ..CLAIM
    },
];

pub(super) fn without_compaction(policy: &Policy) -> Option<&'static str> {
    (!policy.rules.compaction).then_some("the policy has no compaction")
}

/// The summary and the items that it replaces, if the events contain a compaction.
pub(super) fn summarized<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<(ItemId, &'a [ItemId])> {
    events.into_iter().find_map(|event| match event {
        Event::ForgetItems { ids, cause: ForgetCause::Compaction { into } } => Some((*into, ids.as_slice())),
        _ => None,
    })
}

/// The valid facts and the valid summaries of facts.
fn facts_of(known: &SemanticState) -> impl Iterator<Item = (&Item, &FactRecord)> {
    facts_in_force(known).filter_map(|item| Some((item, item.fact()?)))
}

/// The pending call of the summarizer.
fn pending_summary(state: &State) -> Option<CallId> {
    let is_summary = |call: &&Call| call.operation == Operation::Summarize;
    state.control().pending_calls().iter().find(is_summary).map(|call| call.id)
}

/// Whether a write changed the context of the pending call of the summarizer.
fn is_summary_outdated(state: &State) -> bool {
    pending_summary(state).is_some() && of_request(state, |request| request.outdated)
}

/// The entries without the situation summary, which every reply may update, and without expired items.
fn lasting(state: &State, now: Timestamp) -> impl Iterator<Item = &Entry> {
    let changes = move |item: &Item| matches!(item.key, ItemKey::Situation(_)) || has_expired(item, now);
    state.semantic().entries().filter(move |entry| !changes(&entry.item))
}

/// The valid entries among these ids.
fn valid_entries<'a>(state: &'a State, ids: &'a [ItemId]) -> impl Iterator<Item = &'a Entry> {
    ids.iter().filter_map(|id| state.semantic().get(*id)).filter(|entry| is_in_force(&entry.item))
}

/// Whether an item depends on one of these items, directly or transitively.
fn depends_transitively_on(state: &State, id: ItemId, these: &[ItemId]) -> bool {
    let (mut reached, mut waiting) = (BTreeSet::new(), Vec::from([id]));
    while let Some(id) = waiting.pop() {
        let deps = state.semantic().get(id).map(|entry| entry.deps.as_slice()).unwrap_or_default();
        waiting.extend(deps.iter().filter(|dep| reached.insert(**dep)));
    }
    these.iter().any(|id| reached.contains(id))
}

/// Whether a summary of facts comes from the summarizer, at the time of its latest part, and is not time-sensitive; whether another one
/// has the kind of a fact.
fn is_of_summarizer(summary: &Item, parts: &[&Item]) -> bool {
    let latest = parts.iter().filter_map(|part| Some(part.fact()?.established_at)).max();
    summary.fact().map_or(summary.kind == ItemKind::Fact, |fact| {
        fact.source.name.as_str() == "summarizer"
            && fact.source.derivation.is_none()
            && Some(fact.established_at) == latest
            && !fact.time_sensitive
            && fact.supersedes.is_none()
    })
}
