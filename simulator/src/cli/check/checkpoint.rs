//! `check --checkpoint`: one file for each policy and model in a folder.
//!
//! A checkpoint is of one build of this program, so no change of kernel, model or claims can make it wrong.

use super::options::Args;
use crate::cli::args::GlobalArgs;
use crate::cli::output;
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::Checkpoint;
use orchestrion_kernel::Policy;
use orchestrion_model::scopes::{Model, Scope};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The product states after which a checkpoint is written, unless `--checkpoint-states` is given.
const STATES: usize = 1_000_000;
/// The time after which a checkpoint is written.
const TIME: Duration = Duration::from_secs(30);

/// A folder of checkpoints.
pub(super) struct Folder {
    path: PathBuf,
    build: String,
    states: usize,
}

/// The checkpoints of one policy.
pub(super) struct PolicyCheckpoints<'a> {
    folder: &'a Folder,
    number: usize,
    policy: String,
    scope: String,
}

impl Folder {
    /// Creates the folder if it is absent, and reads what identifies this build.
    pub(super) fn open(path: &Path, args: &Args) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            return Err(miette!(
                help = "name a folder with --checkpoint",
                "cannot write checkpoints into {}: not a folder",
                path.display()
            ));
        }
        fs::create_dir_all(path)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot create the folder {}", path.display()))?;
        let program = std::env::current_exe().and_then(fs::read);
        let program = program.into_diagnostic().wrap_err("cannot read this program to identify its build")?;
        let states = args.checkpoint_states.map_or(STATES, std::num::NonZeroUsize::get);
        Ok(Self { path: path.to_owned(), build: short_digest(&program), states })
    }

    /// Returns the checkpoints of the policy with this number among those to check.
    pub(super) fn for_policy(&self, number: usize, policy: &Policy, scope: &Scope) -> PolicyCheckpoints<'_> {
        let identified = |name: &str, value: String| format!("{name} ({})", short_digest(value.as_bytes()));
        PolicyCheckpoints {
            folder: self,
            number,
            policy: identified(&policy.name, format!("{policy:?}")),
            scope: identified(&scope.name, format!("{scope:?}")),
        }
    }
}

impl PolicyCheckpoints<'_> {
    /// Returns the checkpoint of a model.
    pub(super) fn of_model(&self, model: Model) -> Checkpoint {
        let claims: String =
            CLAIMS.iter().map(|claim| format!("{} {}\n", claim.id, claim.statement)).collect();
        // A standard model is known by its name, one of a scope file by its parts.
        let of_model = match Model::from_name(model.name) {
            Some(_) => model.name.to_owned(),
            None => format!("{} ({})", model.name, short_digest(format!("{:?}", model.free).as_bytes())),
        };
        let claims = format!("{} ({})", CLAIMS.len(), short_digest(claims.as_bytes()));
        Checkpoint {
            file: self.folder.path.join(format!("{}-{}.checkpoint", self.number, model.name)),
            identity: vec![
                ("program", self.folder.build.clone()),
                ("policy", self.policy.clone()),
                ("scope", self.scope.clone()),
                ("model", of_model),
                ("set of claims", claims),
            ],
            states: self.folder.states,
            time: TIME,
        }
    }
}

/// States that a model is not explored from its start: its states so far are those of the file.
pub(super) fn note_continued(checkpoint: &Checkpoint, model: &str, global: &GlobalArgs) {
    if !global.quiet && checkpoint.file.exists() {
        output::print_error(&format!("{model}: continues from {}", checkpoint.file.display()));
    }
}

fn short_digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}
