//! Faults in contexts: what the kernel reads for a call, and what it selects.

use super::mutant::{Mutant, Part};
use crate::kernel_under_test::{KernelUnderTest, ProblemMutation, ReadMutation};
use orchestrion_kernel::item::{Audience, Item, ItemKey, Layer, Scope, Validity};
use orchestrion_kernel::selection::Inclusion;
use orchestrion_kernel::{Policy, State};
use std::sync::Arc;

/// Faults in what is read: the kernel builds the context from a state whose items have this change.
const READ_MUTATIONS: &[(&str, ReadMutation)] = &[
    ("reads superseded items", |_, item, _| {
        if matches!(item.validity, Validity::Superseded { .. }) {
            item.validity = Validity::Current;
        }
    }),
    ("reads denied items", |_, item, _| {
        if item.validity == Validity::Denied {
            item.validity = Validity::Current;
        }
    }),
    ("omits items that need review", |_, item, _| {
        if item.validity == Validity::NeedsReview {
            item.validity = Validity::Denied;
        }
    }),
    ("reads expired items", |_, item, _| {
        if let Layer::Working { expires_at, .. } = &mut item.layer {
            *expires_at = None;
        }
    }),
    ("reads the facts of every scope", |state, item, _| {
        make_global(item, |scope| Some(scope) != request_scope(state));
    }),
    ("reads the requests of every scope", |_, item, _| {
        if let Layer::Request { scope, .. } = &mut item.layer {
            *scope = Scope::Global;
        }
    }),
    ("reads shadowed facts", |state, item, _| {
        make_global(item, |scope| Some(scope) == request_scope(state));
    }),
    ("omits the facts of the session's scope", |_, item, _| {
        if item.fact().is_some_and(|fact| fact.scope == Scope::Session) {
            item.validity = Validity::Denied;
        }
    }),
    ("reads facts for every audience", |_, item, _| {
        if let Layer::Fact(fact) = &mut item.layer {
            Arc::make_mut(fact).audience = Audience::Everybody;
        }
    }),
    ("reads the requests of every user", |state, item, _| {
        if let (Layer::Request { user, .. }, Some(session)) = (&mut item.layer, state.control().session()) {
            *user = session.clone();
        }
    }),
    ("omits the identity", |_, item, _| {
        if matches!(item.layer, Layer::Identity(_)) {
            item.validity = Validity::Denied;
        }
    }),
    ("omits signals", |_, item, _| {
        if matches!(item.layer, Layer::Environment) {
            item.validity = Validity::Denied;
        }
    }),
    ("omits the user's message", |_, item, _| {
        if matches!(item.key, ItemKey::Request(_)) {
            item.validity = Validity::Denied;
        }
    }),
    ("ignores dependencies", |_, _, deps| deps.clear()),
];

/// Faults in what is selected: the kernel verifies the solution of a problem with this change.
const PROBLEM_MUTATIONS: &[(&str, ProblemMutation)] = &[
    ("selects only pinned items", |_, candidates| {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.inclusion == Inclusion::Free) {
            candidate.utility = 0;
        }
    }),
    ("weighs all items alike", |_, candidates| {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.utility > 0) {
            candidate.utility = 1;
        }
    }),
    ("uses one token less than the budget", |budget, _| *budget = budget.saturating_sub(1)),
    ("omits the oldest free item", |_, candidates| {
        if let Some(oldest) = candidates.iter_mut().find(|candidate| candidate.inclusion == Inclusion::Free) {
            oldest.utility = 0;
        }
    }),
];

fn request_scope(state: &State) -> Option<&Scope> {
    state.control().request().map(|request| &request.scope)
}

/// Makes a fact of such a scope global.
fn make_global(item: &mut Item, is_meant: impl Fn(&Scope) -> bool) {
    if let Layer::Fact(fact) = &mut item.layer
        && is_meant(&fact.scope)
    {
        Arc::make_mut(fact).scope = Scope::Global;
    }
}

/// Each reading and each selection with a fault.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let mutant = |fault: &str, subject: KernelUnderTest| Mutant {
        location: "context".to_string(),
        fault: fault.to_string(),
        subject,
        row: None,
        part: Part::Core,
    };
    let unmodified = || KernelUnderTest::unmodified(policy.clone());
    let reads = READ_MUTATIONS
        .iter()
        .map(|(fault, change)| mutant(fault, KernelUnderTest { mutate_read: Some(*change), ..unmodified() }));
    let problems = PROBLEM_MUTATIONS.iter().map(|(fault, change)| {
        mutant(fault, KernelUnderTest { mutate_problem: Some(*change), ..unmodified() })
    });
    reads.chain(problems).collect()
}
