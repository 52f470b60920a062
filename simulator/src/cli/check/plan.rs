//! What to check: policies, scope, models and waivers, from the arguments or from the project file.

use super::options::Args;
use super::search::SearchArgs;
use super::size::BoundedModels;
use crate::cli::args::GlobalArgs;
use crate::cli::targets;
use miette::{Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_model::induction::Enumeration;
use orchestrion_model::scopes::{COMPOSED, Model, SCOPES, Scope};
use orchestrion_project::Waiver;
use orchestrion_project::scope_file::{ScopeChoice, ScopeSource};
use orchestrion_scenario::policy_file;
use orchestrion_user_claims::UserClaim;
use orchestrion_yaml::LabeledError;
use std::path::{Path, PathBuf};

/// Policies, scope, models and waivers of one check.
pub(super) struct CheckPlan {
    pub(super) policies: Vec<Policy>,
    /// Where each policy is stated: its file, the project file that names it, or its built-in name.
    pub(super) policy_files: Vec<PathBuf>,
    pub(super) scope: Scope,
    /// The file that states the scope, if one does.
    pub(super) file: Option<ScopeSource>,
    pub(super) models: Vec<Model>,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) waivers: Vec<Waiver>,
    /// The claims of the project.
    pub(super) claims: Vec<UserClaim>,
}

impl CheckPlan {
    /// Reads the policies and the scope.
    ///
    /// # Errors
    /// A policy, scope or project file that cannot be read, and a model beside a scope file that defines one.
    pub(super) fn new(args: &Args, global: &GlobalArgs) -> Result<Self> {
        let project = match &args.policy {
            Some(_) => None,
            None => targets::project(global)?,
        };
        let policies = match (&args.policy, &project) {
            (Some(policy), _) => vec![policy_file::resolve(policy, Path::new(""))?],
            (None, Some(project)) => project.policies()?,
            (None, None) => vec![Policy::hardened()],
        };
        let policy_files = match (&args.policy, &project) {
            (Some(policy), _) => vec![PathBuf::from(policy)],
            (None, Some(project)) => project.policy_files(),
            (None, None) => vec![PathBuf::from(&policies[0].name)],
        };
        let choice = match (&args.scope, &project) {
            (Some(scope), _) => Some(ScopeChoice::resolve(scope, Path::new(""))?),
            (None, Some(project)) => project.scope()?,
            (None, None) => None,
        };
        let choice = choice.unwrap_or_else(|| ScopeChoice { scope: SCOPES[0].clone(), file: None });
        let (models, enumerations) = match choice.only_model(args.search.model_option())? {
            Some(model) => (vec![model], Vec::new()),
            None => (args.search.models(), args.search.enumerations()),
        };
        let claims = args.claims.read(global)?;
        let waivers = project.map(|project| project.waivers()).unwrap_or_default();
        Ok(Self {
            policies,
            policy_files,
            scope: choice.scope,
            file: choice.file,
            models,
            enumerations,
            waivers,
            claims,
        })
    }

    /// Returns an error if a model within the bounds of a scope file is too large to enumerate, unless a limit ends its exploration.
    pub(super) fn ensure_enumerable(&self, search: &SearchArgs, quiet: bool) -> Result<()> {
        let Self { scope, models, .. } = self;
        let policies: Vec<&Policy> = self.policies.iter().collect();
        match &self.file {
            Some(file) => BoundedModels { file, scope, models, policies: &policies }.ensure_enumerable(
                search,
                "try random deep runs with --simulate",
                quiet,
            ),
            None => Ok(()),
        }
    }

    /// Returns the models to simulate: those that are named or that the scope file defines, else composed.
    ///
    /// # Errors
    /// An enumeration is named.
    pub(super) fn simulated_models(&self, args: &Args) -> Result<Vec<Model>> {
        self.ensure_explored(args)?;
        let is_defined = self.models.iter().any(|model| model.name == Model::CUSTOM);
        if is_defined || args.search.names_models() { Ok(self.models.clone()) } else { Ok(vec![COMPOSED]) }
    }

    /// Returns an error if an enumeration is named, for a mode that follows runs.
    pub(super) fn ensure_explored(&self, args: &Args) -> Result<()> {
        match self.enumerations.first().filter(|_| args.search.names_models()) {
            None => Ok(()),
            Some(enumeration) => Err(miette!(
                help = "choose an explored model, such as composed; the enumerations follow no runs",
                "cannot run `{}`: it lists states and single steps from them",
                enumeration.model.name
            )),
        }
    }

    /// Returns an error if the scope file defines a model: mutants are judged by the standard models.
    pub(super) fn ensure_standard_models(&self) -> Result<()> {
        match &self.file {
            Some(file) if file.open_span().is_some() => {
                let error = LabeledError::new(
                    "--mutants needs the standard models: a mutant outside of one custom model would survive",
                    "remove `open` from the file, or name another scope; bounds and lists apply to mutants too",
                );
                Err(file.error(error.with_label(file.open_span(), "defines one model")).into())
            }
            _ => Ok(()),
        }
    }
}
