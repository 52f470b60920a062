//! Claims about what the debate hands on: the reviews of a pass, and facts that change under a plan.

use super::prelude::*;
use crate::reference::items::{is_in_force, latest_with_key, reads};
use crate::sent_call::waiting_operations;
use alloc::format;
use alloc::vec::Vec;
use orchestrion_kernel::item::{Item, Scope, Validity};
use orchestrion_kernel::module::Stance;

pub(super) const REVIEWS: &[Claim] = &[
    Claim {
        id: "C-171",
        clause: "004-2.12",
        statement: "When a new pass starts, the reviews for Solution are those of the pass before it: the argument of the \
                    Critic, and that of Security if it was against the plan. In the first pass there are none.",
        formula: "□ (call(Solution) starts a pass ⇒ reviews' = { Critic | argued } ∪ { Security | CON })",
        check: StepInvariant(|_, before, events, after| {
            let solution = Operation::Argue(Role::Solution);
            let is_called =
                |event: &Event| matches!(event, Event::ToolCall { operation, .. } if *operation == solution);
            let (Some(earlier), Some(later)) = (before.control().request(), after.control().request()) else {
                return true;
            };
            if !events.iter().any(is_called) {
                return true;
            }
            let debate = &earlier.debate;
            let expected = match before.control().phase() {
                Phase::MultiPassCheck | Phase::ResolvingDecision => {
                    let critic = debate.latest.critic.map(|_| Role::Critic);
                    let security = debate
                        .latest
                        .security
                        .filter(|argument| argument.stance == Stance::Con)
                        .map(|_| Role::Security);
                    critic.into_iter().chain(security).collect()
                }
                // The call is repeated.
                Phase::Round(Role::Solution) => debate.reviews.clone(),
                _ => Vec::new(),
            };
            later.debate.reviews == expected
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.debate.reviews.len() == 2)),
        not_applicable: in_one_pass,
        ..CLAIM
    },
    Claim {
        id: "C-172",
        clause: "004-2.12",
        statement: "The context of Solution in a new pass contains the reviews of the pass before it, with the texts that the \
                    reviewers wrote, however small the budget is.",
        formula: "□ (ToolCall(Solution) ∈ σ ∧ ¬over_budget' ⇒ ∀ role ∈ reviews: argument(r, role) ∈ Ctx)",
        check: ContextInvariant(|ContextView { state, operation, .. }, sent| {
            let Some(request) = state.control().request() else { return true };
            *operation != Operation::Argue(Role::Solution)
                || request.debate.reviews.iter().all(|role| {
                    let review = latest_with_key(state.semantic(), &ItemKey::Argument(request.id, *role));
                    review.is_some_and(|entry| {
                        let text = format!(": {}\n", entry.item.text);
                        sent.items().contains(&entry.item.id) && sent.context.text.contains(&text)
                    })
                })
        }),
        premise: Premise::State(|_, state| {
            let is_solution = |operation| operation == Operation::Argue(Role::Solution);
            let has_text = |request: &Request| {
                request.debate.reviews.iter().any(|role| {
                    let review = latest_with_key(state.semantic(), &ItemKey::Argument(request.id, *role));
                    review.is_some_and(|entry| !entry.item.text.as_str().is_empty())
                })
            };
            waiting_operations(state).any(is_solution) && of_request(state, has_text)
        }),
        not_applicable: in_one_pass,
        ..CLAIM
    },
    Claim {
        id: "C-176",
        clause: "003-2.18",
        statement: "A plan is outdated from the step in which a fact of the global scope, the session or the scope of the \
                    request is superseded, and from no other step.",
        formula: "□ (plan(r) ⇒ (outdated' ∧ ¬outdated ⇔ ∃ fact x ∈ {global, session, scope(r)}: superseded'(x) ∧ ¬superseded(x)))",
        check: StepInvariant(|_, before, events, after| {
            let (Some(earlier), Some(later)) = (before.control().request(), after.control().request()) else {
                return true;
            };
            // A transition may end the debate, and a call of Security reviews the plan.
            let is_other = |event: &Event| match event {
                Event::Transitioned { .. } => true,
                Event::ToolCall { operation, .. } => operation.module() == Module::Debater(Role::Security),
                _ => false,
            };
            let is_new =
                |item: &Item| before.semantic().get(item.id).is_some_and(|old| is_in_force(&old.item));
            let is_superseded = |event: &Event| match event {
                Event::UpdateItem { item, .. } => {
                    matches!(item.validity, Validity::Superseded { .. })
                        && item.fact().is_some_and(|fact| reads(&earlier.scope, &fact.scope))
                        && is_new(item)
                }
                _ => false,
            };
            earlier.plan.is_none()
                || events.iter().any(is_other)
                || later.debate.outdated == (earlier.debate.outdated || events.iter().any(is_superseded))
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| request.debate.outdated && request.scope != Scope::Global)
        }),
        ..CLAIM
    },
];

/// Why claims about a new pass do not apply.
fn in_one_pass(policy: &Policy) -> Option<&'static str> {
    (policy.bounds.passes < 2).then_some("the debate has one pass")
}
