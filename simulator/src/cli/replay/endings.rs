//! Both endings of a trace whose decisions changed: the recorded one, and the one that playing its scenario gives.

use super::judge::scenario_of;
use crate::cli::files::open_segment;
use crate::cli::fork::with_recorded_seed;
use crate::cli::output::quoted;
use crate::cli::run::monitor::run_with_claims;
use orchestrion_kernel::Policy;
use orchestrion_scenario::Scenario;
use orchestrion_trace::{Header, Reader, RequestEnding, endings};
use orchestrion_user_claims::UserClaim;
use std::path::Path;

/// The endings of the requests of a trace.
pub(super) struct Endings {
    /// The recorded ones.
    pub(super) recorded: Vec<RequestEnding>,
    /// Those that playing the scenario under the same policy gives; or the reason why they are not known.
    pub(super) current: Result<Vec<RequestEnding>, String>,
}

impl Endings {
    /// Finds the endings of a trace that is judged under this policy. A trace that cannot be read to its end has none.
    pub(super) fn find(trace: &Path, header: &Header, policy: &Policy, claims: &[UserClaim]) -> Option<Self> {
        let recorded = endings(open_segment(trace).ok()?).ok()?;
        Some(Self { recorded, current: play(trace, header, policy, claims) })
    }
}

/// Plays the scenario of a trace under a policy.
fn play(
    trace: &Path,
    header: &Header,
    policy: &Policy,
    claims: &[UserClaim],
) -> Result<Vec<RequestEnding>, String> {
    let Some(path) = scenario_of(trace, header) else {
        return Err(format!(
            "not known without a scenario beside the trace; write one with: orchestrion promote {} NAME",
            quoted(trace)
        ));
    };
    let cannot_play = |error: &dyn std::error::Error| format!("not known: {}: {error}", path.display());
    let scenario = Scenario::read_with_default(&path, policy).map_err(|error| cannot_play(&error))?;
    let mut scenario = with_recorded_seed(scenario, header);
    scenario.policy = policy.clone();
    let result = run_with_claims(scenario, claims).map_err(|error| cannot_play(&*error))?;
    let played = Reader::new(result.trace.as_slice(), &path.display().to_string());
    played.and_then(endings).map_err(|error| cannot_play(&error))
}
