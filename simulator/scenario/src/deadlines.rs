//! How long a scenario waits for answers.

use super::time::DurationText;
use orchestrion_kernel::module::{Module, Role, Store};
use orchestrion_runtime::Deadlines;
use orchestrion_yaml::{LabeledError, Spanned, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

macro_rules! deadlines {
    ($($(#[$doc:meta])* $name:ident = $module:expr,)*) => {
        /// How long answers are waited for in model time. An answer that takes longer is a timeout, and comes too late.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct DeadlinesFile {
            /// For every module that is not named here. Left out: a minute.
            #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
            pub each: Option<Spanned<DurationText>>,
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                pub $name: Option<Spanned<DurationText>>,
            )*
        }

        impl DeadlinesFile {
            /// Whether nothing is said.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            pub(super) fn meaning(&self) -> Result<Deadlines, LabeledError> {
                let mut deadlines = match &self.each {
                    Some(each) => Deadlines::new(deadline(each)?),
                    None => Deadlines::default(),
                };
                $(
                    if let Some(written) = &self.$name {
                        deadlines = deadlines.with($module, deadline(written)?);
                    }
                )*
                Ok(deadlines)
            }
        }
    };
}

deadlines! {
    /// The identity guard.
    identity = Module::IdentityGuard,
    /// The memory.
    memory = Module::Memory,
    /// The summarizer.
    summarizer = Module::Summarizer,
    /// The classifier.
    classifier = Module::Classifier,
    /// The planner.
    planner = Module::Planner,
    /// The Analyst.
    analyst = Module::Debater(Role::Analyst),
    /// Solution.
    solution = Module::Debater(Role::Solution),
    /// The Critic, for a diagnosis as well.
    critic = Module::Debater(Role::Critic),
    /// Security, when it rereads as well.
    security = Module::Debater(Role::Security),
    /// The Optimizer.
    optimizer = Module::Debater(Role::Optimizer),
    /// The approver.
    approver = Module::Approver,
    /// The executor: each task, and each undoing of one.
    executor = Module::Executor,
    /// The local store.
    local_store = Module::Store(Store::Local),
    /// The cloud store.
    cloud_store = Module::Store(Store::Cloud),
    /// The outside audit sink.
    auditor = Module::Auditor,
}

fn deadline(written: &Spanned<DurationText>) -> Result<Duration, LabeledError> {
    match written.value.0 {
        Duration::ZERO => Err(LabeledError::new(
            "expected a deadline of at least 1ms, found none",
            "write how long an answer is waited for; `fail: timeout` is an answer that never comes",
        )
        .at(written.span(), "no time at all")),
        deadline => Ok(deadline),
    }
}
