//! The context of a call as the model checker judges it.

use crate::kernel_under_test::KernelUnderTest;
use orchestrion_claims::{
    ClaimSet, ContextQuestion, ContextView, SentCall, context_premises, context_violations,
    is_unproven_context,
};
use orchestrion_explorer::fingerprint;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{ItemId, Policy, State};

/// The verdict on the context of a call that a step emits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmittedVerdict {
    /// The claims about contexts that are violated if the call is sent.
    pub(crate) violated: ClaimSet,
    /// The tokens that the call needs.
    pub(crate) required_tokens: u64,
    /// The fingerprint of candidates, items and text.
    pub(crate) fingerprint: u64,
}

/// What holds for a pending call with a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingVerdict {
    /// The claims about contexts whose premise holds.
    pub(crate) premises: ClaimSet,
    /// The context is not proven optimal.
    pub(crate) is_unproven: bool,
}

impl EmittedVerdict {
    /// Judges the context that a kernel builds in this state.
    pub(crate) fn of_state(subject: &KernelUnderTest, after: &State, operation: Operation) -> Self {
        Self::new(subject, after, operation, subject.build_context(after, operation).ok().as_ref())
    }

    /// Judges the context of a question. A context that differs from that of the whole state depends on more than the question: it
    /// violates every claim about contexts.
    pub(crate) fn of_question(subject: &KernelUnderTest, question: &ContextQuestion, after: &State) -> Self {
        let operation = question.operation();
        let [asked, whole] = [question.state(), after].map(|state| subject.build_context(state, operation));
        let is_equal = match (&asked, &whole) {
            // With the tokens of the payload, which is no part of the text.
            (Ok(asked), Ok(whole)) => {
                (asked.candidates(), &asked.context) == (whole.candidates(), &whole.context)
            }
            (Err(asked), Err(whole)) => asked == whole,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        Self::new(subject, question.state(), operation, asked.ok().filter(|_| is_equal).as_ref())
    }

    fn new(subject: &KernelUnderTest, after: &State, operation: Operation, sent: Option<&SentCall>) -> Self {
        let view = ContextView::new(&subject.policy, after, operation);
        Self {
            violated: context_violations(&view, sent),
            required_tokens: view.required_tokens(),
            fingerprint: fingerprint(&sent.map(content)),
        }
    }
}

impl WaitingVerdict {
    /// Judges a pending call.
    pub(crate) fn of_question(policy: &Policy, question: &ContextQuestion) -> Self {
        Self {
            premises: context_premises(&ContextView::new(policy, question.state(), question.operation())),
            is_unproven: is_unproven_context(policy, question.state(), question.operation()),
        }
    }
}

/// Candidates, items and text.
fn content(sent: &SentCall) -> (&[ItemId], &[ItemId], &str) {
    (sent.candidates(), sent.items(), &sent.context.text)
}
