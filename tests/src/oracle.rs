//! The independent oracle: what must happen, told a second time, from the numbered clauses, decisions and
//! findings alone.
//!
//! It shares no code with the kernel. Kernel values are read through their published encoding into plain types,
//! and no kernel type, method or constant takes part in a judgement. It is slow and obvious on purpose, and its
//! worth lies in having been written without the kernel's `decide`, `apply`, table, guards and numbers in sight.
//! Where no document says anything, the place says what a reader would expect.
//!
//! Deliberately absent: rows of the table (only the state that a move leads to is judged), the order inside a
//! batch (only item ids come in order), and texts that the kernel composes, such as tags or the answer.

mod batch;
mod compaction;
mod conclusion;
mod consensus;
mod conversation;
mod debate;
mod duels;
mod encoding;
mod execution;
mod facts;
mod fold;
mod fraction;
mod items;
mod observed;
mod policy;
mod preparation;
mod refusals;
pub mod situation;
mod visible_items;

use conversation::ExpectedConversation;
use encoding::OracleInput;
use fold::Fold;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, ConversationId, Events, Input, Policy, Refusal, State};
use policy::OraclePolicy;

/// What the documents say must happen, told step by step.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// What should be, or why the policy could not be read.
    course: Result<ExpectedConversation, String>,
    /// The policy, for whatever is shown under it.
    policy: Policy,
    /// S as the kernel's events make it.
    fold: Fold,
    /// Inputs judged.
    steps: u64,
}

impl Oracle {
    /// The oracle for a fresh conversation under a valid policy.
    #[must_use]
    pub fn new(policy: &Policy, conversation: &ConversationId) -> Self {
        let course = observed::value(policy)
            .and_then(OraclePolicy::read)
            .map(|lines| ExpectedConversation::new(lines, conversation.as_str()));
        Self { course, policy: policy.clone(), fold: Fold::default(), steps: 0 }
    }

    /// Judges one step of the kernel: the input, what `decide` made of it, and the state after it was applied; for
    /// a refusal, the state as it stands. Moves on by what the documents say, not by what the kernel did.
    ///
    /// # Errors
    /// A sentence: where, what was expected, what came. After the first, nothing that follows is worth hearing.
    pub fn judge(
        &mut self,
        input: &Input,
        decided: Result<&Events, &Refusal>,
        after: &State,
    ) -> Result<(), String> {
        self.steps += 1;
        let before = self.phase().to_owned();
        let input = observed::value(input)?;
        self.judge_step(&input, decided, after)
            .map_err(|wrong| format!("input {}, {before}, on {input}: {wrong}", self.steps))
    }

    fn judge_step(
        &mut self,
        input: &serde_json::Value,
        decided: Result<&Events, &Refusal>,
        after: &State,
    ) -> Result<(), String> {
        let course = self.course.as_mut().map_err(|wrong| wrong.clone())?;
        let came: OracleInput = serde_json::from_value(input.clone())
            .map_err(|error| format!("the input cannot be read: {error}"))?;
        if let Some(expected) = course.refusal(&came, &self.fold) {
            let given = decided.map_err(observed::refusal);
            if given.map_or_else(|kind| kind != expected, |_| true) {
                let given = given.map_or_else(
                    |kind| format!("the refusal {kind}"),
                    |events| serde_json::to_string(events).unwrap_or_default(),
                );
                return Err(format!("expected the refusal {expected}; came {given}"));
            }
        } else {
            course.take(&came, input, &self.fold);
            let batch = std::mem::take(&mut course.batch);
            let events = match decided {
                Ok(events) => observed::value(events)?,
                Err(refusal) => {
                    return Err(format!(
                        "expected that it is taken and leads to {}; came the refusal {}: {refusal}",
                        course.phase,
                        observed::refusal(refusal)
                    ));
                }
            };
            let given = events.as_array().map(Vec::as_slice).unwrap_or_default();
            batch.compare(given, &mut self.fold, &mut course.things, &mut course.request.read)?;
        }
        observed::compare(course, &self.policy, &self.fold, after)
    }

    /// The question that is waited for, if any.
    #[must_use]
    pub fn waiting(&self) -> Option<Call> {
        let (id, question) = self.course.as_ref().ok()?.waiting?;
        let ask = serde_json::from_value(serde_json::to_value(question).ok()?).ok()?;
        Some(Call { id: CallId::new(id), operation: ask })
    }

    /// The control state, by its name in 004.
    #[must_use]
    pub fn phase(&self) -> &str {
        self.course.as_ref().map_or("", |course| course.phase)
    }
}
