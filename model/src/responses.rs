//! What the kernel under test decides in one state.

use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::{Events, Input, Refusal, State};
use std::cell::RefCell;

/// The responses of a kernel in one state. The contracts probe it with inputs that claims ask about again; each of them is decided
/// once. That `decide` is a function is a claim of its own (C-62).
pub(crate) struct Responses<'a> {
    subject: &'a KernelUnderTest,
    state: &'a State,
    known: RefCell<Vec<(Input, Result<Events, Refusal>)>>,
}

impl<'a> Responses<'a> {
    pub(crate) fn new(subject: &'a KernelUnderTest, state: &'a State) -> Self {
        Self { subject, state, known: RefCell::default() }
    }

    /// The kernel under test.
    pub(crate) const fn subject(&self) -> &'a KernelUnderTest {
        self.subject
    }

    /// The state.
    pub(crate) const fn state(&self) -> &'a State {
        self.state
    }

    /// Remembers the response to an input in this state, at its input time.
    pub(crate) fn remember(&self, input: Input, response: Result<Events, Refusal>) {
        if is_shared(&input) {
            self.known.borrow_mut().push((input, response));
        }
    }

    /// Decides an input in any state; in this one only once.
    pub(crate) fn decide(&self, state: &State, input: &Input) -> Result<Events, Refusal> {
        if !is_shared(input) || !std::ptr::eq(state, self.state) {
            return self.subject.decide(state, input);
        }
        let known =
            self.known.borrow().iter().find(|(earlier, _)| earlier == input).map(|known| known.1.clone());
        known.unwrap_or_else(|| {
            let response = self.subject.decide(state, input);
            self.remember(input.clone(), response.clone());
            response
        })
    }
}

/// Whether several claims and contracts ask for the response to such an input.
const fn is_shared(input: &Input) -> bool {
    matches!(input, Input::Step | Input::Cancel | Input::Resume | Input::Tick | Input::CallFailed { .. })
}
