//! Claims about requests, tasks and plans that run in scopes (decision 0037). They compute scopes from the events and the plan, not
//! with the kernel's functions.

use super::prelude::*;
use crate::reference::items::{fact_keys, facts_in_force, is_in_force, is_shared, item_scope};
use crate::reference::plans::{call_scope, members};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, TaskId};
use orchestrion_kernel::item::{FactRecord, Item, Rank, Scope, Validity};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task};
use orchestrion_kernel::score::Score;
use orchestrion_kernel::semantic::{Entry, SemanticState};

pub(super) const SCOPES: &[Claim] = &[
    Claim {
        id: "C-105",
        clause: "003-2.21",
        statement: "What a call in a scope produces has this scope. The situation and the memory record have that of \
                    the request.",
        formula: "□ (reply to a call in s ≠ global ⇒ (x written ∧ text(x) new ⇒ scope(x) = s ∨ x ∈ situation ∧ scope(r) = s)) \
                  ∧ □ (MemoryRecorded ∈ σ ⇒ scope(record) = scope(r))",
        check: StepInvariant(|_, before, events, after| {
            let is_recorded = |event: &Event| match event {
                Event::MemoryRecorded { record } => {
                    of_request(after, |request| request.scope == record.scope)
                }
                _ => true,
            };
            let answered = events.iter().find_map(|event| match event {
                Event::ToolResult { call, .. } => before.control().pending_call(*call),
                _ => None,
            });
            let (Some(call), Some(request)) = (answered, before.control().request()) else {
                return events.iter().all(is_recorded);
            };
            let scope = call_scope(before, call.operation);
            // A summary has the scope of what it summarizes, and a past request the one in which it ran.
            let is_of_scope = |item: &Item| match &item.key {
                ItemKey::Situation(_) => request.scope == *scope,
                ItemKey::Trace(_) | ItemKey::Summary => true,
                _ => item_scope(item) == scope || is_text_unchanged(before, item),
            };
            let is_free = *scope == Scope::Global || call.operation == Operation::Summarize;
            events.iter().all(|event| match event {
                Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => is_free || is_of_scope(item),
                event => is_recorded(event),
            })
        }),
        premise: Premise::State(|_, state| {
            state.control().pending_calls().iter().any(|call| {
                let runs_task = matches!(call.operation, Operation::RunTask { .. });
                runs_task && of_request(state, |request| *call_scope(state, call.operation) != request.scope)
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-106",
        clause: "decision 0037",
        statement: "A request runs in the scope of its message, then in that of the first plan with one. Message and \
                    tasks name only open scopes, and tasks of a request in a scope no other. A member that names a scope names that of its \
                    request, after the plan is adopted. No fact changes its scope.",
        formula: "□ (UserMsg(s) ∈ σ ⇒ scope'(r) = s) ∧ □ (PlanAdopted(p) ∈ σ ⇒ scope'(r) = scope(p) if p has one, else scope(r)) ∧ \
                  □ (s named ⇒ open(s)) ∧ □ (m member, scope(m) named ⇒ scope(m) = scope'(r)) ∧ □ (x fact ⇒ scope'(x) = scope(x))",
        check: SemanticStepInvariant(|_, before, events, after| {
            let mut scope = before.request_scope();
            for event in events {
                match event {
                    Event::UserMsg { scope: of_message, .. } => {
                        if !is_usable(before.semantic(), of_message) {
                            return false;
                        }
                        scope = Some(of_message);
                    }
                    Event::PlanAdopted { plan, .. } => {
                        scope = scope.and_then(|of_request| scope_after(before.semantic(), of_request, plan));
                        if scope.is_none() {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
            let is_kept = |Entry { item, .. }: &Entry| {
                let now = after.semantic().get(item.id).and_then(|entry| entry.item.fact());
                item.fact().zip(now).is_none_or(|(fact, now)| fact.scope == now.scope)
            };
            after.request_scope().is_none_or(|of_request| scope == Some(of_request))
                && before.semantic().entries().all(is_kept)
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| request.scope != Scope::Global && request.plan.is_some())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-242",
        clause: "003-2.21",
        statement: "Without a network, a drafted plan is accepted if and only if three conditions hold. Every scope that a task names is \
                    open. In a request with a scope, tasks name only that scope. Members name only the scope in which the request then \
                    runs: the scope that all tasks name, else that of the request.",
        formula: "□ (plan p to DraftPlan ⇒ (accepted ⇔ ∀ t: scope(t) named ⇒ open(scope(t)) ∧ (scope(r) = global ∨ scope(t) = \
                  scope(r)), ∀ m member: scope(m) named ⇒ scope(m) = scope'(r)) ∧ scope'(r) = s if scope(t) = s for every t, else \
                  scope(r))",
        check: ResponseInvariant(|_, decide, state| {
            let (Some(call), Some(request)) = (pending_draft(state), state.control().request()) else {
                return true;
            };
            plans_in_scopes(state.semantic()).into_iter().all(|plan| {
                let answer = decide(state, &Input::reply(call.id, Report::Plan(plan.clone())));
                match (answer, scope_after(state.semantic(), &request.scope, &plan)) {
                    (Ok(events), Some(scope)) => {
                        let mut after = state.clone();
                        events.iter().for_each(|event| after.apply(event));
                        of_request(&after, |request| request.scope == *scope)
                    }
                    (Err(_), None) => true,
                    (Ok(_), None) | (Err(_), Some(_)) => false,
                }
            })
        }),
        premise: Premise::State(|_, state| {
            pending_draft(state).is_some() && open_scopes(state.semantic()).next().is_some()
        }),
        ..CLAIM
    },
    Claim {
        id: "C-107",
        clause: "decision 0037",
        statement: "A promotion has the effect of a global write with the content of the promoted fact. Without such a \
                    fact it is refused.",
        formula: "□ (promote(k, s) ≡ write(k, x with scope global), for the valid x of k and s) ∧ □ (no such x ⇒ promote(k, s) is \
                  refused)",
        check: ResponseInvariant(|_, decide, state| {
            let of_key = |item: &Item, fact: &FactRecord| {
                let key = item.key.fact().filter(|_| is_in_force(item) && fact.scope != Scope::Global)?;
                Some((key.clone(), fact.scope.clone()))
            };
            let source = || WriteSource::declared(Rank::Policy.name().into());
            let write = |write| decide(state, &Input::Write(alloc::boxed::Box::new(write)));
            let promote = |key, scope| write(Write::Promote { key, scope, source: source() });
            let mut facts = state.semantic().entries().filter_map(|entry| Some((entry, entry.item.fact()?)));
            facts.all(|(entry, fact)| {
                of_key(&entry.item, fact).is_none_or(|(key, scope)| {
                    let new = global_copy(state, entry, fact, key.clone(), source());
                    promote(key, scope) == write(Write::Fact(new))
                })
            }) && promote("a".into(), never_opened()).is_err()
        }),
        premise: Premise::Semantic(|_, state| {
            let facts = || state.semantic().entries().filter(|entry| is_in_force(&entry.item));
            facts().any(|entry| item_scope(&entry.item) != &Scope::Global && entry.item.fact().is_some())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-108",
        clause: "decision 0037",
        statement: "In Idle, a message in the global scope or in an open one starts a request in this scope. A message in \
                    another scope is refused.",
        formula: "□ (Idle ∧ session ⇒ (message(s) is accepted with UserMsg(s) ⇔ s = global ∨ open(s)))",
        check: ResponseInvariant(|_, decide, state| {
            let (Some(user), Phase::Idle) = (state.control().session(), state.control().phase()) else {
                return true;
            };
            let starts = |scope: &Scope| {
                let message =
                    Input::UserMessage { user: user.clone(), text: "?".into(), scope: scope.clone() };
                let is_start =
                    |event: &Event| matches!(event, Event::UserMsg { scope: found, .. } if found == scope);
                decide(state, &message).is_ok_and(|events| events.iter().any(is_start))
            };
            let facts = state.semantic().entries().filter_map(|entry| entry.item.fact());
            let scopes: BTreeSet<Scope> = facts
                .flat_map(|fact| scopes_of_name(&fact.scope))
                .chain([Scope::Global, Scope::Session, never_opened()])
                .collect();
            scopes.iter().all(|scope| starts(scope) == is_usable(state.semantic(), scope))
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Idle
                && state.control().session().is_some()
                && open_scopes(state.semantic()).next().is_some()
        }),
        ..CLAIM
    },
];

/// A scope that no write of a model opens.
fn never_opened() -> Scope {
    Scope::Draft("never opened".into())
}

/// The scopes of every kind with the name of this one; a scope without a name alone.
fn scopes_of_name(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Global | Scope::Session => Vec::from([scope.clone()]),
        Scope::Task(name) | Scope::Hypothetical(name) | Scope::Draft(name) => {
            [Scope::Task, Scope::Hypothetical, Scope::Draft].map(|kind| kind(name.clone())).into()
        }
    }
}

/// Whether something may run in a scope: the global one, or a scope with a name and a fact that was not denied.
fn is_usable(known: &SemanticState, scope: &Scope) -> bool {
    let opens = |Entry { item, .. }: &Entry| {
        item.fact().is_some_and(|fact| fact.scope == *scope) && item.validity != Validity::Denied
    };
    match scope {
        Scope::Global => true,
        Scope::Session => false,
        Scope::Task(_) | Scope::Hypothetical(_) | Scope::Draft(_) => known.entries().any(opens),
    }
}

/// The scopes that facts opened, in the order of these facts.
fn open_scopes(known: &SemanticState) -> impl Iterator<Item = &Scope> {
    let scopes = known.entries().filter_map(|entry| entry.item.fact()).map(|fact| &fact.scope);
    scopes.filter(|scope| !is_shared(scope) && is_usable(known, scope))
}

/// The pending call that drafts a plan, without a network.
fn pending_draft(state: &State) -> Option<&Call> {
    let drafts = |call: &&Call| call.operation == Operation::DraftPlan && call.not_made.is_none();
    state.control().pending_calls().iter().find(drafts).filter(|_| state.network().is_none())
}

/// The scope of a request after it adopted a plan; none if it may not adopt the plan.
fn scope_after<'s>(known: &SemanticState, of_request: &'s Scope, plan: &'s Plan) -> Option<&'s Scope> {
    let is_allowed =
        |scope: &Scope| is_usable(known, scope) && (*of_request == Scope::Global || of_request == scope);
    let mut scopes = plan.tasks().iter().map(|task| task.scope.as_ref());
    if !scopes.clone().flatten().all(is_allowed) {
        return None;
    }
    let first = scopes.next().flatten();
    let scope = first.filter(|_| scopes.all(|scope| scope == first)).unwrap_or(of_request);
    let is_of_request = |member: &&Task| member.scope.as_ref().is_none_or(|found| found == scope);
    members(plan).iter().all(is_of_request).then_some(scope)
}

/// Plans of three independent tasks that name open scopes, the global one, an unknown one, or none: without an aggregation, and as
/// members.
fn plans_in_scopes(known: &SemanticState) -> Vec<Plan> {
    let mut open = open_scopes(known).collect::<BTreeSet<_>>().into_iter();
    let (first, second) = (open.next(), open.next());
    let never_opened = never_opened();
    let (global, unknown) = (Some(&Scope::Global), Some(&never_opened));
    let mut scopes = Vec::from([[global, None, None], [None, unknown, None], [unknown; 3]]);
    if first.is_some() {
        scopes.extend([[first; 3], [first, None, first], [first, first, None], [None, first, first]]);
        scopes.push([first, unknown, None]);
    }
    if second.is_some() {
        scopes.extend([[second; 3], [first, second, first]]);
    }
    let plan = |scopes: &[Option<&Scope>; 3]| {
        let tasks = scopes.iter().zip(1..).map(|(scope, number)| Task {
            id: TaskId::new(number),
            text: Text::from("?"),
            effect: Effect::Pure,
            depends_on: Some(Vec::new()),
            scope: scope.cloned(),
            step: StepOptions::default(),
        });
        Plan::new(tasks.collect()).ok()
    };
    let aggregation =
        Aggregation { strategy: AggregationStrategy::Voting, criticality: Score::ZERO, is_ensemble: false };
    let both = |plan: Plan| [plan.clone(), plan.with_aggregation(aggregation)];
    scopes.iter().filter_map(plan).flat_map(both).collect()
}

/// Whether an item has the text and the scope that it had before.
fn is_text_unchanged(before: &State, item: &Item) -> bool {
    before
        .semantic()
        .get(item.id)
        .is_some_and(|old| old.item.text == item.text && item_scope(&old.item) == item_scope(item))
}

/// The global write with the content of a fact. It names the global fact that the other shadows.
fn global_copy(state: &State, entry: &Entry, fact: &FactRecord, key: Text, source: WriteSource) -> NewFact {
    let shadowed = fact.supersedes.filter(|id| {
        let named = state.semantic().get(*id).and_then(|entry| entry.item.fact());
        named.is_some_and(|named| named.scope == Scope::Global)
    });
    // A fact of the scope counts as promoted if the global fact of its key has its text.
    let dependency = |id: &ItemId| {
        let own =
            state.semantic().get(*id).map(|entry| &entry.item).filter(|item| *item_scope(item) == fact.scope);
        let is_copy = |item: &Item, of: &Item| {
            let covers = fact_keys(item).any(|key| of.key.fact() == Some(key));
            covers && is_in_force(item) && *item_scope(item) == Scope::Global && item.text == of.text
        };
        let global = own.and_then(|own| facts_in_force(state.semantic()).find(|item| is_copy(item, own)));
        Reference::Id(global.map_or(*id, |item| item.id))
    };
    NewFact {
        kind: match entry.item.kind {
            ItemKind::Constraint(constraint) => FactKind::Constraint(constraint),
            ItemKind::Fact | ItemKind::Subtask(_) => FactKind::Fact,
        },
        established_at: Some(fact.established_at),
        memory: fact.memory,
        audience: fact.audience.clone(),
        time_sensitive: fact.time_sensitive,
        supersedes: shadowed.map(Reference::Id),
        depends_on: entry.deps.iter().map(dependency).collect(),
        ..NewFact::global(key, entry.item.text.clone(), source)
    }
}
