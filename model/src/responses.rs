//! What the kernel under test decides in one state.

use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::{Events, Input, Refusal, State};
use std::cell::RefCell;

/// The responses of a kernel in one state. Several claims ask for the response to a step and to a failed call, so each of these
/// inputs is decided once. That `decide` is a function is a claim of its own (C-62).
pub(crate) struct Responses<'a> {
    subject: &'a KernelUnderTest,
    state: &'a State,
    known: RefCell<Vec<(Input, Result<Events, Refusal>)>>,
}

impl<'a> Responses<'a> {
    pub(crate) fn new(subject: &'a KernelUnderTest, state: &'a State) -> Self {
        Self { subject, state, known: RefCell::default() }
    }

    /// Decides an input in any state; in this one only once.
    pub(crate) fn decide(&self, state: &State, input: &Input) -> Result<Events, Refusal> {
        let is_shared = matches!(input, Input::Step | Input::CallFailed { .. });
        if !is_shared || !std::ptr::eq(state, self.state) {
            return self.subject.decide(state, input);
        }
        let mut known = self.known.borrow_mut();
        if let Some((_, response)) = known.iter().find(|(earlier, _)| earlier == input) {
            return response.clone();
        }
        let response = self.subject.decide(state, input);
        known.push((input.clone(), response.clone()));
        response
    }
}
