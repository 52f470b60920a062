//! Records of contexts for a trace.

use crate::context_record::ContextRecord;
use crate::digest::hex;
use crate::facts::emitted_context_call;
use orchestrion_kernel::context::{ContextBuilder, ContextError, IncrementalContexts};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{CallId, Events, ModuleContext, Policy, State};

/// Records the context of the call that these events emitted. Returns `None` if they emitted no call that reads a context, or if
/// its pinned items and its payload exceed the budget.
#[must_use]
pub fn record_context(
    policy: &Policy,
    state: &State,
    events: &Events,
    contexts: &'static dyn ContextBuilder,
) -> Option<ContextRecord> {
    ContextRecorder::new(contexts).record(policy, state, events)
}

/// Builds and records the contexts of one conversation. Successive contexts mostly share a long prefix; the shared prefix is
/// digested once.
#[derive(Debug)]
pub(crate) struct ContextRecorder {
    builder: &'static dyn ContextBuilder,
    incremental: Option<Box<dyn IncrementalContexts>>,
    /// The latest recorded context, with its call.
    latest: Option<(CallId, ModuleContext)>,
    /// The digest state of its first `digested_bytes` bytes.
    digested: blake3::Hasher,
    digested_bytes: usize,
}

impl ContextRecorder {
    pub(crate) fn new(builder: &'static dyn ContextBuilder) -> Self {
        Self {
            builder,
            incremental: builder.create_incremental(),
            latest: None,
            digested: blake3::Hasher::new(),
            digested_bytes: 0,
        }
    }

    /// The latest recorded context, with its call.
    pub(crate) const fn latest(&self) -> Option<&(CallId, ModuleContext)> {
        self.latest.as_ref()
    }

    /// Builds the context of a call with this operation.
    pub(crate) fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        self.builder.build(policy, state, operation)
    }

    /// Records the context of a call, as [`record_context`] does.
    pub(crate) fn record(
        &mut self,
        policy: &Policy,
        state: &State,
        events: &Events,
    ) -> Option<ContextRecord> {
        let (call, context) = self.build_emitted(policy, state, events)?;
        let digest = self.digest(&context.text);
        let record = ContextRecord::new(call, &context, digest);
        self.latest = Some((call, context));
        Some(record)
    }

    /// Builds the context of the call that these events emitted.
    fn build_emitted(
        &mut self,
        policy: &Policy,
        state: &State,
        events: &Events,
    ) -> Option<(CallId, ModuleContext)> {
        let call = emitted_context_call(events)?;
        let context = match &mut self.incremental {
            Some(incremental) => incremental.build(policy, state, call.operation),
            None => self.builder.build(policy, state, call.operation),
        };
        Some((call.id, context.ok()?))
    }

    /// Builds the context of the call that these events emitted, as [`record`](Self::record) does, and digests nothing. Returns whether there
    /// is one.
    pub(crate) fn build_next(&mut self, policy: &Policy, state: &State, events: &Events) -> bool {
        let Some(latest) = self.build_emitted(policy, state, events) else { return false };
        self.latest = Some(latest);
        // The digest covers the text before.
        self.digested.reset();
        self.digested_bytes = 0;
        true
    }

    /// Returns [`crate::digest`] of the text.
    fn digest(&mut self, text: &str) -> String {
        let latest = self.latest.as_ref().map_or("", |(_, context)| &context.text);
        let common = common_prefix_bytes(latest.as_bytes(), text.as_bytes());
        if common < self.digested_bytes {
            self.digested.reset();
            self.digested_bytes = 0;
        }
        let (prefix, rest) = text.as_bytes().split_at(common);
        self.digested.update(&prefix[self.digested_bytes..]);
        self.digested_bytes = common;
        hex(self.digested.clone().update(rest).finalize())
    }
}

/// Returns the length of the common prefix in bytes, rounded down to whole hash blocks, which are fast to compare.
fn common_prefix_bytes(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = blake3::BLOCK_LEN;
    let (a, b) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    a.iter().zip(b).take_while(|(a, b)| a == b).count() * BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::context::TokenizerUnavailable;

    fn context(text: String) -> ModuleContext {
        let status = orchestrion_kernel::context::SelectionStatus::Optimal;
        ModuleContext { ids: Vec::new(), cost_tokens: 0, payload_tokens: 0, text, utility: 0, status }
    }

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

    /// Texts of 0 to 2999 bytes that differ from their predecessor at any position.
    #[test]
    fn digest_is_independent_of_earlier_texts() {
        let mut contexts = ContextRecorder::new(&NoContexts);
        let mut text = String::new();
        for step in 0..2000usize {
            text.truncate(step * 7919 % (text.len() + 1));
            let longer = text.len() + step * 104_729 % (3000 - text.len());
            while text.len() < longer {
                text.push(char::from(b'a' + (step % 26) as u8));
            }
            assert_eq!(contexts.digest(&text), crate::digest(text.as_bytes()), "step {step}");
            contexts.latest = Some((CallId::FIRST, context(text.clone())));
        }
    }
}
