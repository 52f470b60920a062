//! The deadlines of calls in a scenario.

use crate::time::DurationText;
use orchestrion_kernel::module::{Module, Role, Store};
use orchestrion_runtime::Deadlines;
use orchestrion_yaml::{LabeledError, Spanned, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

macro_rules! deadlines {
    ($($(#[$doc:meta])* $name:ident = $module:expr,)*) => {
        /// The deadlines of calls, in simulated time. A call without a reply by its deadline times out; a later reply is refused.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct DeadlinesFile {
            /// All other modules. Default: one minute.
            #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
            pub default: Option<Spanned<DurationText>>,
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                pub $name: Option<Spanned<DurationText>>,
            )*
        }

        impl DeadlinesFile {
            pub(crate) fn to_runtime(&self) -> Result<Deadlines, LabeledError> {
                let mut deadlines = match &self.default {
                    Some(default) => Deadlines::new(deadline(default)?),
                    None => Deadlines::default(),
                };
                $(
                    if let Some(file) = &self.$name {
                        deadlines = deadlines.with_module($module, deadline(file)?);
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
    /// The Critic, including its diagnosis.
    critic = Module::Debater(Role::Critic),
    /// Security, including its review of a revision.
    security = Module::Debater(Role::Security),
    /// The Optimizer.
    optimizer = Module::Debater(Role::Optimizer),
    /// The additional debaters of the policy.
    additional_debaters = Module::AdditionalDebater,
    /// The approver.
    approver = Module::Approver,
    /// The executor: each task and each compensation.
    executor = Module::Executor,
    /// The local store.
    local_store = Module::Store(Store::Local),
    /// The cloud store.
    cloud_store = Module::Store(Store::Cloud),
    /// The outside audit sink.
    auditor = Module::Auditor,
}

fn deadline(file: &Spanned<DurationText>) -> Result<Duration, LabeledError> {
    match file.value.0 {
        Duration::ZERO => Err(LabeledError::new(
            "expected a deadline of at least 1ms, found 0",
            "write a positive deadline; to simulate a timeout, write `fail: timeout`",
        )
        .with_label(file.span(), "zero")),
        deadline => Ok(deadline),
    }
}
