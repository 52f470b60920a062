//! Claims about the text of a context (000 §5.3, 002 "Context Assembly Methods", 003 §7).

use super::prelude::*;
use crate::SentCall;
use crate::reference::contexts::{payload_tokens, token_limit, tokens};
use crate::reference::items::identity;
use crate::reference::serialization::expected_text;
use crate::reference::situation::{reasoning_mode, situation, situation_text};
use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;
use orchestrion_kernel::Timestamp;
use orchestrion_kernel::item::{Item, Layer, Validity};
use orchestrion_kernel::situation::{ActionRecord, Mode};

pub(super) const SERIALIZATION: &[Claim] = &[
    Claim {
        id: "C-163",
        clause: "000-5.11",
        statement: "The text of a context is a function of the selection: identity, environment with the time, \
                    facts, working set and situation, in this order, with one line for each selected item and \
                    an empty line between two sections.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ text(Ctx) = ser_M(S, τ, items(Ctx)))",
        check: ContextInvariant(|view, sent| sent.context.text == expected_text(view, sent.items())),
        premise: Premise::Context(|view| {
            let has = |is: fn(&Layer) -> bool| view.selectable_items().any(|item| is(&item.layer));
            has(|layer| matches!(layer, Layer::Identity(_)))
                && has(|layer| matches!(layer, Layer::Environment))
                && has(|layer| matches!(layer, Layer::Fact(_)))
                && has(|layer| matches!(layer, Layer::Request { .. }))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-164",
        clause: "003-2.4",
        statement: "A context states of each of its facts the kind, the key, the name and the rank of the source, the \
                    time if it is known, the scope if it is narrow, and whether the fact needs review.",
        formula: "□ (x ∈ Ctx ∧ fact(x) ⇒ line(kind, key, source, rank, time, scope, review, text) ∈ text(Ctx))",
        check: ContextInvariant(|view, sent| {
            let mut facts = shown_items(view.state, sent).filter(|item| item.fact().is_some());
            facts.all(|item| sent.context.text.contains(&*view.line(item)))
        }),
        premise: Premise::Context(|view| {
            let contexts = &view.policy.contexts;
            let stated = |item: &Item| {
                item.fact().is_some_and(|fact| fact.established_at > Timestamp::default())
                    // A policy may keep facts that need review from contexts.
                    && (item.validity == Validity::NeedsReview || !contexts.needs_review)
            };
            contexts.provenance && view.selectable_items().any(stated)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-165",
        clause: "003-7.1",
        statement: "A context begins with the identity of the session user, if there is one. It states the authority, the \
                    rank and the permissions.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ∧ ∃ identity x ∧ ¬summarizes(M) ⇒ text(Ctx) begins with line(x))",
        check: ContextInvariant(|view, sent| {
            let begins =
                |item: &Item| sent.context.text.starts_with(&format!("# Identity\n{}", view.line(item)));
            view.operation == Operation::Summarize || identities(view.state).all(begins)
        }),
        premise: Premise::Context(|ContextView { policy, state, .. }| {
            let has_permission =
                |item: &Item| identity(item).is_some_and(|identity| !identity.permissions.is_empty());
            policy.contexts.provenance && identities(state).any(has_permission)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-166",
        clause: "003-8.5",
        statement: "A context states the current time, if it is known, at the head of the environment, which contains \
                    every signal. Only that of the summarizer has no environment.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ∧ now > 0 ∧ ¬summarizes(M) ⇒ environment(Ctx) = now · signals(S))",
        check: ContextInvariant(|view, sent| {
            if view.operation == Operation::Summarize {
                return true;
            }
            let time = is_time_stated(view).then(|| Cow::Owned(format!("time: {}\n", view.state.now())));
            let signals = view.selectable_items().filter(|item| matches!(item.layer, Layer::Environment));
            let lines: Vec<Cow<'_, str>> =
                time.into_iter().chain(signals.map(|item| view.line(item))).collect();
            let environment = format!("# Environment\n{}", lines.concat());
            lines.is_empty()
                || sent.context.text.starts_with(&environment)
                || sent.context.text.contains(&format!("\n\n{environment}"))
        }),
        premise: Premise::Context(|view| {
            is_time_stated(view)
                && view.selectable_items().any(|item| matches!(item.layer, Layer::Environment))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-167",
        clause: "002-3.6",
        statement: "A module that reasons in deep mode receives the summary, or without one the short form of the earlier \
                    actions, and then the complete results of the latest action, if it has any.",
        formula: "□ (mode(M) = deep ⇒ text(Ctx) ends with attempts · LATEST DETAILS · results(latest))",
        check: ContextInvariant(|view, sent| states_situation(view, sent, Mode::Deep)),
        premise: Premise::Context(|ContextView { policy, state, operation, .. }| {
            let has_summary = !situation(state.semantic()).is_empty();
            reasoning_mode(&policy.situation, *operation) == Some(Mode::Deep)
                && has_summary
                && actions(state).last().is_some_and(|latest| !latest.tool_calls.is_empty())
        }),
        not_applicable: |policy| without_mode(policy, Mode::Deep),
        ..CLAIM
    },
    Claim {
        id: "C-168",
        clause: "000-5.13",
        statement: "A context states its own cost: the tokens of its text and of the payload of the call, which together \
                    stay within the budget.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ cost(Ctx) = c(text) ∧ payload(Ctx) = c(payload) ∧ cost + payload ≤ T_M)",
        check: ContextInvariant(|ContextView { policy, state, operation, .. }, sent| {
            let payload = payload_tokens(state, *operation);
            let cost = tokens(&sent.context.text);
            sent.context.cost_tokens == cost
                && sent.context.payload_tokens == payload
                && cost.saturating_add(payload) <= token_limit(policy, *operation)
        }),
        premise: Premise::Context(|view| {
            let lines = view.selectable_items().map(|item| tokens(&view.line(item)));
            let all = lines.fold(0, u64::saturating_add);
            let payload = payload_tokens(view.state, view.operation);
            let limit = token_limit(view.policy, view.operation);
            // The items alone would fit.
            payload > 0 && all <= limit && all.saturating_add(payload) > limit
        }),
        ..CLAIM
    },
    Claim {
        id: "C-178",
        clause: "002-3.3",
        statement: "A module that reasons in fast mode receives the summary, or without one the short form of the last \
                    actions before the latest: of each tool call the name, the shortened arguments, the outcome and the \
                    shortened result.",
        formula: "□ (mode(M) = fast ⇒ text(Ctx) ends with attempts)",
        check: ContextInvariant(|view, sent| states_situation(view, sent, Mode::Fast)),
        premise: Premise::Context(|ContextView { policy, state, operation, .. }| {
            let earlier = actions(state).split_last().map_or(&[][..], |(_, earlier)| earlier);
            reasoning_mode(&policy.situation, *operation) == Some(Mode::Fast)
                && situation(state.semantic()).is_empty()
                && earlier.iter().any(|action| !action.tool_calls.is_empty())
        }),
        not_applicable: |policy| without_mode(policy, Mode::Fast),
        ..CLAIM
    },
];

/// The items of a context.
fn shown_items<'a>(state: &'a State, sent: &'a SentCall) -> impl Iterator<Item = &'a Item> {
    sent.items().iter().filter_map(|id| state.semantic().get(*id)).map(|entry| &entry.item)
}

/// The identity of the session user.
fn identities(state: &State) -> impl Iterator<Item = &Item> {
    state.semantic().entries().map(|entry| &entry.item).filter(|item| identity(item).is_some())
}

/// Whether a context states the time: it is known, and the policy shows where facts come from.
fn is_time_stated(view: &ContextView<'_>) -> bool {
    view.policy.contexts.provenance && view.state.now() > Timestamp::default()
}

/// The latest actions of the running request.
fn actions(state: &State) -> &[ActionRecord] {
    state.control().request().map_or(&[], |request| &request.actions)
}

/// Whether the context of a module that reasons in this mode ends with the situation.
fn states_situation(view: &ContextView<'_>, sent: &SentCall, mode: Mode) -> bool {
    let ContextView { policy, state, operation, .. } = *view;
    if reasoning_mode(&policy.situation, operation) != Some(mode) {
        return true;
    }
    let text = situation_text(&policy.situation, mode, &situation(state.semantic()), actions(state));
    text.is_none_or(|text| sent.context.text.ends_with(&format!("# Situation\n{text}\n")))
}

/// Why a claim about the contexts of modules that reason in this mode does not apply. Every request of a model calls these modules.
fn without_mode(policy: &Policy, mode: Mode) -> Option<&'static str> {
    let situation = &policy.situation;
    let modes = [situation.draft_plan_mode, situation.argue_mode, situation.run_task_mode];
    (!modes.contains(&Some(mode))).then_some("no module reasons in this mode")
}
