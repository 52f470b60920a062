//! The policy under which a trace is judged (decision 0058).

use super::options::Args;
use crate::cli::args::GlobalArgs;
use crate::cli::targets::ProjectPolicies;
use miette::Result;
use orchestrion_kernel::Policy;
use orchestrion_scenario::{ProjectClaims, Scenario, policy_file};
use orchestrion_trace::Header;
use orchestrion_yaml::ReadError;
use std::path::{Path, PathBuf};

/// Where the policies come from.
pub(super) enum Judge {
    /// Each trace carries its policy: chosen by a flag, or because there is no project.
    Recorded { is_chosen: bool },
    /// One policy, named by a flag.
    Named(Box<Policy>),
    /// The project.
    Project(Box<ProjectPolicies>),
}

impl Judge {
    pub(super) fn from_args(args: &Args, global: &GlobalArgs) -> Result<Self> {
        if let Some(policy) = &args.policy {
            return Ok(Self::Named(Box::new(policy_file::resolve(policy, Path::new(""))?)));
        }
        if args.recorded_policy {
            return Ok(Self::Recorded { is_chosen: true });
        }
        let project = ProjectPolicies::read(global)?;
        Ok(project.map_or(Self::Recorded { is_chosen: false }, |project| Self::Project(Box::new(project))))
    }

    /// Returns the policy under which a trace is judged; `None` for the one that it carries.
    ///
    /// # Errors
    /// [`ReadError`] for a scenario that is not valid: without it, the policy is not known.
    pub(super) fn policy_of(&self, trace: &Path, header: &Header) -> Result<Option<Policy>, ReadError> {
        let policies = match self {
            Self::Recorded { .. } => return Ok(None),
            Self::Named(policy) => return Ok(Some(policy.as_ref().clone())),
            Self::Project(policies) => policies,
        };
        Ok(Some(match scenario_of(trace, header) {
            Some(scenario) => Scenario::read_with_default(&scenario, policies.first())?.policy,
            None => policies.named_or_first(&header.policy.name).clone(),
        }))
    }

    /// What the scenario beside a golden trace expects of claims of the project.
    pub(super) fn expected_claims(&self, trace: &Path, header: &Header) -> Option<ProjectClaims> {
        let scenario = scenario_of(trace, header)?;
        let read = match self {
            Self::Project(policies) => Scenario::read_with_default(&scenario, policies.first()),
            Self::Recorded { .. } | Self::Named(_) => Scenario::read_with_default(&scenario, &header.policy),
        };
        read.ok().map(|scenario| scenario.project_claims())
    }

    /// Returns the sentence by which the report states under which policies the traces were judged.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Recorded { is_chosen: true } => "judged under the recorded policies".to_owned(),
            Self::Recorded { is_chosen: false } => format!(
                "judged under the recorded policies: there is no {} in this folder or above it",
                orchestrion_project::FILE
            ),
            Self::Named(policy) => format!("judged under the policy {}", policy.name),
            Self::Project(_) => "judged under the policies of this project".to_owned(),
        }
    }
}

/// Returns the scenario beside a trace, if the trace is its golden trace.
pub(in crate::cli) fn scenario_of(trace: &Path, header: &Header) -> Option<PathBuf> {
    let scenario = trace.with_extension("yaml");
    (header.scenario.is_some() && scenario.is_file()).then_some(scenario)
}
