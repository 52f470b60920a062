//! The claims of each kind: their positions in [`CLAIMS`] and what they evaluate, so that an evaluation reads no others.

use crate::context_view::ContextView;
use crate::reference::writes::Items;
use crate::{CLAIMS, ClaimCheck, EmittedCall, History, Premise, SemanticView, SentCall};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::input::Input;
use orchestrion_kernel::network::{NetworkEvent, Node};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

macro_rules! by_kind {
    ($($name:ident: $field:ident, $kind:path, ($($read:ty),*);)*) => {$(
        pub(crate) const $name: &[(usize, fn($($read),*) -> bool)] = {
            const COUNT: usize = {
                let (mut at, mut count) = (0, 0);
                while at < CLAIMS.len() {
                    if let $kind(_) = CLAIMS[at].$field {
                        count += 1;
                    }
                    at += 1;
                }
                count
            };
            const ALL: [(usize, fn($($read),*) -> bool); COUNT] = {
                // Every place is written below.
                let mut all: [(usize, fn($($read),*) -> bool); COUNT] = [(0, |$(_: $read),*| false); COUNT];
                let (mut at, mut count) = (0, 0);
                while at < CLAIMS.len() {
                    if let $kind(holds) = CLAIMS[at].$field {
                        all[count] = (at, holds);
                        count += 1;
                    }
                    at += 1;
                }
                all
            };
            &ALL
        };
    )*};
}

by_kind! {
    TRACE: check, ClaimCheck::TraceInvariant, (&Policy, &History, &Event);
    STEP: check, ClaimCheck::StepInvariant, (&Policy, &State, &[Event], &State);
    INPUT: check, ClaimCheck::InputInvariant, (&Policy, &State, &Input, &[Event], &State);
    HISTORY: check, ClaimCheck::HistoryConsistency, (&Policy, &History, &State);
    BUDGET: check, ClaimCheck::BudgetInvariant, (&Policy, &State, &[Event], Option<&EmittedCall>);
    CONTEXT: check, ClaimCheck::ContextInvariant, (&ContextView<'_>, &SentCall);
    CONTEXT_PREMISE: premise, Premise::Context, (&ContextView<'_>);
    SEMANTIC: check, ClaimCheck::SemanticInvariant, (&Policy, &SemanticView<'_>);
    SEMANTIC_STEP: check, ClaimCheck::SemanticStepInvariant,
        (&Policy, &SemanticView<'_>, &[&Event], &SemanticView<'_>);
    SEMANTIC_PREMISE: premise, Premise::Semantic, (&Policy, &SemanticView<'_>);
    BATCH: check, ClaimCheck::BatchInvariant, (&[Event]);
    NETWORK_EVENT: check, ClaimCheck::NetworkEventInvariant, (&Policy, &State, &NetworkEvent);
    NODE: check, ClaimCheck::NodeInvariant, (&Node, &Node);
    WRITE: check, ClaimCheck::WriteInvariant, (Option<&Items>, Option<&Items>);
}
