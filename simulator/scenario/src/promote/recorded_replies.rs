//! Collects recorded replies, and converts them to the modules of a scenario file.

use crate::script::{DelayedReply, ScriptKey, ScriptedReply, SimulatedMemory, default_reply};
use crate::{ModulesFile, RepliesFile, ReplyFile, ReplyKind};
use orchestrion_kernel::module::{Operation, Role, Store};
use orchestrion_kernel::policy::AdditionalDebater;
use orchestrion_trace::RequestFacts;
use std::collections::BTreeMap;

/// Recorded replies by module.
#[derive(Debug, Default)]
pub(super) struct RecordedReplies {
    modules: BTreeMap<ScriptKey, ModuleReplies>,
    /// What the simulated memory of a scenario with these replies holds.
    memory: SimulatedMemory,
    /// The additional debaters of the policy.
    debaters: Vec<AdditionalDebater>,
}

#[derive(Debug, Default)]
struct ModuleReplies {
    replies: Vec<DelayedReply>,
    /// Whether a scenario without replies of this module gives the same replies.
    is_default: bool,
}

impl RecordedReplies {
    /// Creates a collection without replies, for a policy with these additional debaters.
    pub(super) fn new(debaters: Vec<AdditionalDebater>) -> Self {
        Self { debaters, ..Self::default() }
    }

    /// Returns the reply of a module without a script to an operation in this request.
    pub(super) fn default_reply(
        &self,
        operation: Operation,
        request: &RequestFacts,
    ) -> Option<ScriptedReply> {
        default_reply(&self.memory, operation, &request.user, &request.text)
    }

    /// Adds a reply to an operation in this request.
    pub(super) fn push(&mut self, operation: Operation, request: &RequestFacts, delayed: DelayedReply) {
        let DelayedReply { reply, after } = &delayed;
        let is_default = after.is_zero() && self.default_reply(operation, request).as_ref() == Some(reply);
        if let Some(record) = &request.memory_record {
            self.memory.store(reply, &request.user, &request.text, record);
        }
        let new = || ModuleReplies { replies: Vec::new(), is_default: true };
        let module =
            self.modules.entry(ScriptKey::from_operation(operation, &self.debaters)).or_insert_with(new);
        module.is_default &= is_default;
        module.replies.push(delayed);
    }

    /// Returns the replies as the modules of a scenario file, without default replies.
    pub(super) fn to_file(&self) -> ModulesFile {
        let mut file = ModulesFile::default();
        for (key, ModuleReplies { replies, is_default }) in &self.modules {
            if *is_default {
                continue;
            }
            match key {
                ScriptKey::Identity => file.identity = replies_file(replies),
                ScriptKey::Memory => file.memory = replies_file(replies),
                ScriptKey::Summarizer => file.summarizer = replies_file(replies),
                ScriptKey::Classifier => file.classifier = replies_file(replies),
                ScriptKey::Planner => file.planner = replies_file(replies),
                ScriptKey::Debater(Role::Analyst) => file.analyst = replies_file(replies),
                ScriptKey::Debater(Role::Solution) => file.solution = replies_file(replies),
                ScriptKey::Debater(Role::Critic) => file.critic = replies_file(replies),
                ScriptKey::Debater(Role::Security) => file.security = replies_file(replies),
                ScriptKey::Debater(Role::Optimizer) => file.optimizer = replies_file(replies),
                ScriptKey::AdditionalDebater(name) => {
                    let replies = replies_file(replies).map(|replies| (name.to_string(), replies));
                    file.additional_debaters.extend(replies);
                }
                ScriptKey::Review => file.review = replies_file(replies),
                ScriptKey::Approver => file.approver = replies_file(replies),
                ScriptKey::Diagnosis => file.diagnosis = replies_file(replies),
                ScriptKey::Store(Store::Local) => file.local_store = replies_file(replies),
                ScriptKey::Store(Store::Cloud) => file.cloud_store = replies_file(replies),
                ScriptKey::Auditor => file.auditor = replies_file(replies),
                ScriptKey::Task(task) => {
                    replies_file(replies).into_iter().for_each(|replies| file.tasks.insert(*task, replies));
                }
                ScriptKey::Undo(task) => {
                    replies_file(replies).into_iter().for_each(|replies| file.undo.insert(*task, replies));
                }
            }
        }
        file
    }
}

/// Returns one reply if all are equal, else a list. A reply always matches its operation, so no conversion fails; if one
/// did, the run of the scenario would differ from the recording.
fn replies_file<T: ReplyKind>(replies: &[DelayedReply]) -> Option<RepliesFile<T>> {
    let first = replies.first()?;
    if replies.iter().all(|reply| reply == first) {
        return ReplyFile::from_kernel(first).map(RepliesFile::one);
    }
    Some(RepliesFile::list(replies.iter().filter_map(ReplyFile::from_kernel)))
}
