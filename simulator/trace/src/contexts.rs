//! What modules are shown, as it stands in a trace.

use super::{ContextRecord, hex};
use orchestrion_kernel::ModuleContext;
use orchestrion_kernel::context::{ContextBuilder, ContextError};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Event, Events, Policy, State};

/// The contexts of one conversation, one after the other. Each mostly begins like the one before it, and what
/// they have in common is digested once.
#[derive(Clone, Debug)]
pub struct ContextRecorder {
    builder: &'static dyn ContextBuilder,

    /// The text of the latest context.
    text: String,
    /// What was digested of its beginning.
    digested: blake3::Hasher,
    digested_bytes: usize,
}

impl ContextRecorder {
    pub fn new(builder: &'static dyn ContextBuilder) -> Self {
        Self { builder, text: String::new(), digested: blake3::Hasher::new(), digested_bytes: 0 }
    }

    /// Builds the context of a call with this operation.
    pub fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        self.builder.build(policy, state, operation)
    }

    /// What the call that the state waits for is shown, if a step with these events started one and what must be shown fits.
    pub fn after(&mut self, policy: &Policy, state: &State, events: &Events) -> Option<ContextRecord> {
        let (call, ask) = events.iter().rev().find_map(|event| match event {
            Event::ToolCall { call, operation: ask } => Some((*call, *ask)),
            _ => None,
        })?;
        let context = self.builder.build(policy, state, ask).ok()?;
        let digest = self.digest(context.text);
        Some(ContextRecord { call, items: context.ids, cost_tokens: context.cost_tokens, digest })
    }

    /// [`super::digest`] of the text.
    fn digest(&mut self, text: String) -> String {
        let common = common_bytes(self.text.as_bytes(), text.as_bytes());
        if common < self.digested_bytes {
            self.digested.reset();
            self.digested_bytes = 0;
        }
        let (beginning, rest) = text.as_bytes().split_at(common);
        self.digested.update(&beginning[self.digested_bytes..]);
        self.digested_bytes = common;
        let digest = hex(self.digested.clone().update(rest).finalize());
        self.text = text;
        digest
    }
}

/// How many bytes two texts have in common at their beginning, in whole blocks, which are quick to compare.
fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = blake3::BLOCK_LEN;
    let (a, b) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    a.iter().zip(b).take_while(|(a, b)| a == b).count() * BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::context::TokenizerUnavailable;

    #[derive(Debug)]
    struct NoContexts;

    impl ContextBuilder for NoContexts {
        fn check_policy(&self, _: &Policy) -> Result<(), TokenizerUnavailable> {
            Ok(())
        }

        fn build(&self, policy: &Policy, _: &State, _: Operation) -> Result<ModuleContext, ContextError> {
            Err(TokenizerUnavailable(policy.contexts.tokenizer).into())
        }
    }

    /// Texts of 0 to 2999 bytes that part from the one before them anywhere.
    #[test]
    fn a_digest_does_not_depend_on_the_texts_before_it() {
        let mut contexts = ContextRecorder::new(&NoContexts);
        let mut text = String::new();
        for step in 0..2000usize {
            text.truncate(step * 7919 % (text.len() + 1));
            let longer = text.len() + step * 104_729 % (3000 - text.len());
            while text.len() < longer {
                text.push(char::from(b'a' + (step % 26) as u8));
            }
            assert_eq!(contexts.digest(text.clone()), crate::digest(text.as_bytes()), "step {step}");
        }
    }
}
