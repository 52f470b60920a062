//! `compare`: two policies on the same inputs.

pub(super) mod json;
mod matrix;
mod report;

use super::args::{Format, GlobalArgs};
use super::check::save::{SavedEvidence, save};
use super::check::search::SearchArgs;
use super::check::size::BoundedModels;
use super::exit_status::ExitStatus;
use super::output::{self, ReportStyle};
use matrix::{RandomRun, RandomRuns, RunsMatrix};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_explorer::Termination;
use orchestrion_kernel::Policy;
use orchestrion_model::compare::{DecisionDifference, ModelComparison, compare_policies};
use orchestrion_model::scopes::{COMPOSED, Model, SCOPES, Scope};
use orchestrion_project::scope_file::ScopeChoice;
use orchestrion_scenario::policy_file::{self, ChangedSetting, changed_settings};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Compare two policies on the same inputs: the shortest run on which they decide differently, and their outcomes over random runs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Compare this policy, A: `hardened`, `as-drawn` or a file.
    #[arg(value_name = "A")]
    a: String,
    /// With this policy, B.
    #[arg(value_name = "B")]
    b: String,
    /// Bound the models by this scope: small, tiny, large or a file of bounds and open parts [default: small].
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Take this many random runs under each policy.
    #[arg(long, value_name = "NUMBER", default_value = "1000", value_parser = super::run::runs::positive_runs)]
    runs: NonZeroU64,
    /// Seed of the random runs. The same seed takes the same runs.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    search: SearchArgs,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

const EXAMPLES: &str = r#"Examples:
  orchestrion compare hardened as-drawn
  orchestrion compare hardened mine.yaml --model debate --runs 10000
  orchestrion compare policies/a.yaml policies/b.yaml --format json

The report has four parts:
  settings     in which the policies differ; those that the scope replaces in
               every model are named, because no difference of them can show
  models       a search over all inputs of each model, as `check` explores them:
               the shortest inputs after which the events of A and B differ.
               Without one, the policies decide alike in every state that the
               model reaches
  difference   the shortest of all models: the step, what each policy decides,
               and how the request ends when every later call gets the same
               agreeing reply. Both runs are written as traces to --out-dir
  outcomes     random runs of the adversary of `check --simulate`, each to the
               end of its first request, under A and under B with the same
               random numbers: the same call gets the same reply. A matrix of
               outcomes, and for each outcome the paired difference of the rates,
               B minus A, with its 95 % interval (Newcombe). The first run whose
               results differ is written as two traces to --out-dir

The rates are those of an adversary, not of real modules: they compare two
policies, and forecast nothing. Confidences are drawn from 0, 0.05, ... 1. The
runs are those of the model composed, or of the named models in turn.
Contexts are not compared: no decision depends on their text.

Example: with lenient.yaml, a policy with
  extends: hardened
  name: lenient
  thresholds: {veto_from: 0.95}
the command
  orchestrion compare hardened lenient.yaml --model debate
prints the shortest debate in which Security objects at 0.9: A raises a veto,
and B does not.

A scope file whose models are too large to enumerate is refused with an estimate,
unless --max-states, --max-memory or --timeout ends the search.

Exit codes: 0 no difference; 1 the policies differ; 2 error, nothing was
compared; 3 no difference before a resource limit."#;

/// Two compared policies.
pub(super) struct Compared<'a> {
    policies: [&'a Policy; 2],
    scope: &'a Scope,
    settings: Vec<ChangedSetting>,
    /// The paths of changed settings that the scope replaces in every model.
    replaced: Vec<String>,
    models: Vec<ModelComparison>,
    /// The position of the model with the shortest difference, and its runs as files.
    shortest: Option<(usize, [SavedEvidence; 2])>,
    random: RandomRuns,
    matrix: RunsMatrix,
    /// The first random run whose results differ.
    differing: Option<DifferingRun>,
}

/// A random run whose results differ, and its traces.
pub(super) struct DifferingRun {
    number: u64,
    model: &'static str,
    endings: [String; 2],
    traces: [PathBuf; 2],
}

impl Compared<'_> {
    /// Returns the shortest difference, with the name of its model.
    fn difference(&self) -> Option<(&'static str, &DecisionDifference)> {
        let model = self.models.get(self.shortest.as_ref()?.0)?;
        Some((model.model, model.difference.as_deref()?))
    }

    /// Whether every model was explored, or has a difference.
    fn is_exhaustive(&self) -> bool {
        self.models.iter().all(|model| match model.ended {
            Termination::Exhausted | Termination::ObservationFound { .. } => true,
            Termination::LimitReached { .. } => false,
        })
    }

    fn status(&self) -> ExitStatus {
        let differs = self.shortest.is_some() || self.matrix.differing_runs() > 0;
        match (differs, self.is_exhaustive()) {
            (true, _) => ExitStatus::Failure,
            (false, true) => ExitStatus::Success,
            (false, false) => ExitStatus::Incomplete,
        }
    }
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let read = |policy: &String| policy_file::resolve(policy, Path::new(""));
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let choice = match &args.scope {
        Some(scope) => ScopeChoice::resolve(scope, Path::new(""))?,
        None => ScopeChoice { scope: SCOPES[0].clone(), file: None },
    };
    let models = match choice.only_model(args.search.model_option())? {
        Some(model) => vec![model],
        None => args.search.models(),
    };
    if let (Some(enumeration), true) = (args.search.enumerations().first(), args.search.names_models()) {
        return Err(miette!(
            help = "choose an explored model, such as debate",
            "cannot compare in `{}`: it lists states and single steps from them",
            enumeration.model.name
        ));
    }
    if let Some(file) = &choice.file {
        let bounded = BoundedModels { file, scope: &choice.scope, models: &models, policies: &[&a, &b] };
        bounded.ensure_enumerable(
            &args.search,
            "compare by random runs alone, with --max-states 1",
            global.quiet,
        )?;
    }
    let is_chosen = args.search.names_models() || choice.model().is_some();
    let drawn = if is_chosen { models.clone() } else { vec![COMPOSED] };
    let random = RandomRuns { models: drawn, runs: args.runs.get(), seed: args.seed };
    let compared = compare([&a, &b], &choice.scope, &models, random, args, global)?;
    let status = compared.status();
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    match args.format {
        Format::Human => report::write(&compared, style, &mut output::stdout()),
        Format::Json => json::write(&compared, &mut output::stdout()),
    }
    .into_diagnostic()?;
    Ok(status)
}

fn compare<'a>(
    policies: [&'a Policy; 2],
    scope: &'a Scope,
    models: &[Model],
    random: RandomRuns,
    args: &Args,
    global: &GlobalArgs,
) -> Result<Compared<'a>> {
    let [a, b] = policies;
    let pair = format!("{} and {}", a.name, b.name);
    let compared = args.search.explore_models(models, &pair, global.quiet, |model, options, progress| {
        compare_policies(policies, model, scope, options, progress)
    })?;
    let shortest = compared.iter().enumerate().filter_map(|(at, model)| {
        model.difference.as_ref().map(|difference| (difference.step, at, difference))
    });
    let shortest = match shortest.min_by_key(|(step, ..)| *step) {
        Some((_, at, difference)) => {
            let [a, b] = &difference.sides;
            let saved =
                [save("compare-a", &a.run, &global.out_dir)?, save("compare-b", &b.run, &global.out_dir)?];
            Some((at, saved))
        }
        None => None,
    };
    let settings: Vec<ChangedSetting> =
        changed_settings(a, b).into_iter().filter(|setting| setting.path != "name").collect();
    let replaced = replaced_settings(&settings, &compared);
    let matrix = random.take(policies, scope, args.search.jobs(), global.quiet);
    let differing = matrix.first_differing().and_then(|number| random.take_one(number, policies, scope));
    let differing = differing.map(|run| differing_run(run, global)).transpose()?;
    Ok(Compared {
        policies,
        scope,
        settings,
        replaced,
        models: compared,
        shortest,
        random,
        matrix,
        differing,
    })
}

/// Writes both traces of a random run.
fn differing_run(run: RandomRun, global: &GlobalArgs) -> Result<DifferingRun> {
    let RandomRun { number, model, sides } = run;
    let [(result_a, a), (result_b, b)] = &sides;
    let traces = [
        save("compare-random-a", a, &global.out_dir)?.trace,
        save("compare-random-b", b, &global.out_dir)?.trace,
    ];
    let endings = [result_a, result_b].map(|result| report::ending_text(result.ending, result.label));
    Ok(DifferingRun { number, model, endings, traces })
}

/// Returns the settings that differ between the policies, and in no model.
fn replaced_settings(settings: &[ChangedSetting], models: &[ModelComparison]) -> Vec<String> {
    let remaining: Vec<ChangedSetting> =
        models.iter().flat_map(|model| changed_settings(&model.policies[0], &model.policies[1])).collect();
    let is_replaced = |path: &str| remaining.iter().all(|setting| setting.path != path);
    settings.iter().map(|setting| setting.path.clone()).filter(|path| is_replaced(path)).collect()
}
