//! What to check: policies, scope and waivers, from the arguments or from the project file.

use super::options::Args;
use crate::cli::args::GlobalArgs;
use crate::cli::targets;
use crate::project::Waiver;
use miette::Result;
use orchestrion_kernel::Policy;
use orchestrion_model::scopes::{SCOPES, Scope};
use orchestrion_scenario::policy_file;
use std::path::Path;

/// Policies, scope and waivers of one check.
pub(super) struct CheckPlan {
    pub(super) policies: Vec<Policy>,
    pub(super) scope: Scope,
    pub(super) waivers: Vec<Waiver>,
}

impl CheckPlan {
    /// Reads the policies.
    ///
    /// # Errors
    /// A policy or project file that cannot be read.
    pub(super) fn new(args: &Args, global: &GlobalArgs) -> Result<Self> {
        let project = match &args.policy {
            Some(_) => None,
            None => targets::project(global)?,
        };
        let policies = match (&args.policy, &project) {
            (Some(policy), _) => vec![policy_file::resolve(policy, Path::new("."))?],
            (None, Some(project)) => project.policies()?,
            (None, None) => vec![Policy::hardened()],
        };
        let argument = args.scope.as_deref().and_then(Scope::by_name);
        let scope = argument.or_else(|| project.as_ref()?.scope()).unwrap_or(SCOPES[0]);
        Ok(Self { policies, scope, waivers: project.map(|project| project.waivers()).unwrap_or_default() })
    }
}
