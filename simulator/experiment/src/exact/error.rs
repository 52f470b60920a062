//! Why an exact computation is not possible.

use miette::Diagnostic;
use orchestrion_kernel::Refusal;
use orchestrion_yaml::ReadError;
use thiserror::Error;

/// Why an exact computation is not possible.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum ExactError {
    /// The experiment has choices with too many values, or measures what is not computed exactly.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Unsuitable(#[from] ReadError),
    /// The kernel refuses an input before the first request, such as the network.
    #[error("policy {policy}: {refusal}")]
    #[diagnostic(help("change the network or the policy so that the kernel accepts the first inputs"))]
    Refused {
        /// The name of the policy.
        policy: String,
        /// The refusal.
        refusal: Refusal,
    },
    /// The number of states exceeds the limit.
    #[error("policy {policy}: expected at most {max} states, found more")]
    #[diagnostic(help(
        "raise the limit of states, or write fewer requests, passes, failures or values of confidences; `explore run` estimates without a limit"
    ))]
    TooManyStates {
        /// The name of the policy.
        policy: String,
        /// The limit.
        max: usize,
    },
    /// The memory exceeds the limit.
    #[error("policy {policy}: expected at most {max} bytes of memory, found more with {states} states")]
    #[diagnostic(help(
        "raise the limit of memory, or write fewer requests, passes, failures or values of confidences; `explore run` estimates with little memory"
    ))]
    TooMuchMemory {
        /// The name of the policy.
        policy: String,
        /// The limit.
        max: usize,
        /// The states that were found.
        states: u32,
    },
    /// The time was too short for an error bound.
    #[error("policy {policy}: expected bounds within {seconds} s, found no upper bound")]
    #[diagnostic(help("raise the limit of time"))]
    NoBound {
        /// The name of the policy.
        policy: String,
        /// The limit of the solver.
        seconds: u64,
    },
}
