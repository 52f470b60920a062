//! The world of an experiment: its file with all defaults, checked.

use super::{FACTS_MAX, Obstacle, Obstacles, REQUESTS_MAX, network};
use crate::contexts::ContextUse;
use crate::distribution::{Confidences, Durations};
use crate::environment::{CallBehavior, Debater, Environment, Judgement};
use crate::file::{
    ArgumentFile, CallFile, ConfidenceFile, DebaterFile, DurationFile, EffectFile, ExperimentFile,
};
use crate::run::World;
use crate::samples::read_samples;
use miette::SourceSpan;
use orchestrion_kernel::module::{Argument, Module, Role, Stance};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Score, TaskId, Text};
use orchestrion_scenario::policy_file::EnumName;
use orchestrion_yaml::{Decimal, LabeledError, ReadError, Source};
use std::path::Path;
use std::time::Duration;

/// How a distribution of confidences gets few values.
const FEW_VALUES: &str = "write `constant`, `values` or `samples`";

/// The deadline of calls without one in the file.
const DEADLINE_MS: u64 = 60_000;

pub(super) fn world(
    source: &Source,
    file: &ExperimentFile,
    network: Option<&NetworkInput>,
    base_dir: &Path,
) -> Result<(World, Obstacles), ReadError> {
    let mut obstacles = Obstacles::default();
    let in_source = |error| ReadError::in_source(source, error);
    let nodes = network::nodes(file, network).map_err(in_source)?;
    let lines = network::lines(file, network).map_err(in_source)?;
    let mut debater = |role: &DebaterFile, owner: Option<Role>| {
        debater(source, &role.or(&file.debaters.all), owner, base_dir, &mut obstacles.always)
    };
    let debaters = [
        debater(&file.debaters.analyst, Some(Role::Analyst))?,
        debater(&file.debaters.solution, Some(Role::Solution))?,
        debater(&file.debaters.critic, Some(Role::Critic))?,
        debater(&file.debaters.security, Some(Role::Security))?,
        debater(&file.debaters.optimizer, Some(Role::Optimizer))?,
    ];
    let additional_debater = debater(&file.debaters.additional, None)?;
    let mut calls = Vec::new();
    for module in Module::ALL {
        calls.push(call_behavior(file, module).map_err(in_source)?);
    }
    let calls =
        calls.try_into().map_err(|_| ReadError::for_file("modules without calls", "report this as a bug"))?;
    let facts = file.facts.value;
    check_at_most("facts", facts, FACTS_MAX, file.facts.span()).map_err(in_source)?;
    let requests = file.requests.value.0.get();
    check_at_most("requests", requests, REQUESTS_MAX, file.requests.span()).map_err(in_source)?;
    let acceptable = score(file.plans.acceptable, Score::ONE);
    let success = score(file.executor.success, Score::ONE);
    let environment = Environment {
        plan: plan(file).map_err(in_source)?,
        acceptable,
        revision_acceptable: score(file.plans.revision_acceptable, acceptable),
        repair_acceptable: score(file.plans.repair_acceptable, acceptable),
        common_errors: score(file.common_errors, Score::ZERO),
        debaters,
        additional_debater,
        approver: Judgement {
            false_alarm: score(file.approver.false_alarm, Score::ZERO),
            miss: score(file.approver.miss, Score::ZERO),
        },
        success,
        harmful_success: score(file.executor.harmful_success, success),
        undo_success: score(file.executor.undo_success, Score::ONE),
        result: file.executor.result.as_ref().map_or_else(|| Text::from(""), |result| result.text()),
        repairs: score(file.repairs, Score::ZERO),
        summary_keeps: file.summarizer.as_ref().map(|summarizer| summarizer.value.keeps.0),
        calls,
        nodes,
    };
    let text = file.text.as_ref().map_or_else(|| Text::from("request"), |text| text.text());
    let world = World {
        environment,
        requests,
        facts: (1..=facts).map(|number| fact(number, text.as_str())).collect(),
        text,
        contexts: context_use(file).map_err(in_source)?,
        deadline_ms: file.deadline.map_or(DEADLINE_MS, |deadline| millis(deadline.0)),
        lines,
    };
    add_obstacles(file, &world, &mut obstacles);
    Ok((world, obstacles))
}

fn check_at_most(key: &str, found: u32, max: u32, span: Option<SourceSpan>) -> Result<(), LabeledError> {
    if found <= max {
        return Ok(());
    }
    let error =
        LabeledError::new(format!("{key}: expected at most {max}, found {found}"), "write a smaller number");
    Err(error.with_label(span, "too many"))
}

/// Adds what prevents an exact computation, apart from distributions of confidences.
fn add_obstacles(file: &ExperimentFile, world: &World, obstacles: &mut Obstacles) {
    let behaviors = || Module::ALL.into_iter().filter_map(|module| world.environment.behavior(module));
    let takes_time = |behavior: &CallBehavior| {
        let [_, _, timeout, _] = behavior.weights;
        timeout > 0 || behavior.duration != Durations::Constant(0)
    };
    let always = &mut obstacles.always;
    let mut add = |reason, help, span| always.push(Obstacle { reason, help, span });
    if file.contexts.value {
        add("tokens of contexts are not computed exactly", "remove `contexts`", file.contexts.span());
    }
    if file.facts.value > 0 {
        add(
            "facts only matter with contexts, which are not computed exactly",
            "remove `facts`",
            file.facts.span(),
        );
    }
    if let Some(summarizer) = &file.summarizer {
        add("the information in summaries is not computed exactly", "remove `summarizer`", summarizer.span());
    }
    if let Some(network) = &file.network
        && behaviors().any(takes_time)
    {
        add(
            "time changes the trust of a network, and an exact computation has no time",
            "remove the durations and timeouts of `calls`, or the network",
            network.span(),
        );
    }
    let own = file.calls.modules.0.values().map(|calls| (calls.value.duration.as_ref(), calls.span()));
    let entries = own.chain([(file.calls.default.value.duration.as_ref(), file.calls.default.span())]);
    for (duration, span) in entries {
        match duration {
            None | Some(DurationFile::Constant(_)) => {}
            Some(DurationFile::Uniform(_) | DurationFile::Exponential(_)) => {
                obstacles.in_parallel.push(Obstacle {
                    reason: "the order in which calls in flight end varies",
                    help: "write a constant duration, or let no tasks run in parallel",
                    span,
                })
            }
        }
    }
}

fn score(given: Option<Decimal<Score>>, default: Score) -> Score {
    given.map_or(default, |given| given.0)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns a fact with about eight words. Every third one contains the text of the request, so that relevance varies.
fn fact(number: u32, request: &str) -> (Text, Text) {
    let subject = if number.is_multiple_of(3) { request } else { "another subject" };
    let key = format!("fact {number}");
    (key.into(), format!("detail {number} about {subject} in section {}", number / 7).into())
}

fn plan(file: &ExperimentFile) -> Result<Plan, LabeledError> {
    let task = |number: u32| Task {
        id: TaskId::new(number),
        text: format!("task {number}").into(),
        effect: match file.tasks.effect {
            EffectFile::Pure => Effect::Pure,
            EffectFile::Undoable => Effect::Undoable { compensation: format!("undo task {number}").into() },
            EffectFile::Irreversible => Effect::Irreversible,
        },
        depends_on: file.tasks.independent.then(Vec::new),
        scope: None,
        step: StepOptions::default(),
    };
    Plan::new((1..=file.tasks.count.0.get()).map(task).collect())
        .map_err(|error| LabeledError::new(format!("tasks: {error}"), "write a smaller `count`"))
}

fn debater(
    source: &Source,
    file: &DebaterFile,
    role: Option<Role>,
    base_dir: &Path,
    obstacles: &mut Vec<Obstacle>,
) -> Result<Debater, ReadError> {
    let mut read = |file: &ConfidenceFile| confidences(source, file, role, base_dir, obstacles);
    let confidence = match &file.confidence {
        Some(file) => read(file)?,
        None => Confidences::constant(Score::from_millionths(900_000).unwrap_or(Score::ONE)),
    };
    let wrong_confidence = match &file.wrong_confidence {
        Some(file) => read(file)?,
        None => confidence.clone(),
    };
    let argument = |file: &ArgumentFile| match file {
        ArgumentFile::Pro(confidence) => Argument { stance: Stance::Pro, confidence: confidence.0 },
        ArgumentFile::Con(confidence) => Argument { stance: Stance::Con, confidence: confidence.0 },
    };
    Ok(Debater {
        judgement: Judgement {
            false_alarm: score(file.false_alarm, Score::ZERO),
            miss: score(file.miss, Score::ZERO),
        },
        keeps_stance: score(file.keeps_stance, Score::ZERO),
        revises: score(file.revises, Score::ZERO),
        confidence,
        wrong_confidence,
        adversary: file.adversary.iter().flatten().map(argument).collect(),
    })
}

fn confidences(
    source: &Source,
    file: &ConfidenceFile,
    role: Option<Role>,
    base_dir: &Path,
    obstacles: &mut Vec<Obstacle>,
) -> Result<Confidences, ReadError> {
    let refuse = |span: Option<SourceSpan>, message: String, help: &str| {
        ReadError::in_source(source, LabeledError::new(message, help).with_label(span, "this distribution"))
    };
    match file {
        ConfidenceFile::Constant(value) => Ok(Confidences::constant(value.0)),
        ConfidenceFile::Uniform(range) => {
            let (min, max) = (range.value.min.0, range.value.max.0);
            if min > max {
                let message = format!("uniform distribution: expected min up to {max}, found {min}");
                return Err(refuse(range.span(), message, "exchange min and max"));
            }
            obstacles.push(Obstacle {
                reason: "a uniform distribution has too many values",
                help: FEW_VALUES,
                span: range.span(),
            });
            Ok(Confidences::Uniform { min, max })
        }
        ConfidenceFile::Beta(beta) => {
            obstacles.push(Obstacle {
                reason: "a beta distribution has too many values",
                help: FEW_VALUES,
                span: beta.span(),
            });
            let parameter = |weight: orchestrion_kernel::Weight| f64::from(weight.millionths()) / 1e6;
            Confidences::beta(parameter(beta.value.alpha.0), parameter(beta.value.beta.0)).ok_or_else(|| {
                let message = "beta distribution: expected alpha and beta above 0".to_owned();
                refuse(beta.span(), message, "write parameters such as {alpha: 8, beta: 2}")
            })
        }
        ConfidenceFile::Values(list) => {
            let weights: Vec<u64> =
                list.value.iter().map(|entry| u64::from(entry.probability.0.millionths())).collect();
            let sum: u64 = weights.iter().sum();
            if sum != 1_000_000 {
                let found = format!("{}.{:06}", sum / 1_000_000, sum % 1_000_000);
                let message = format!("probabilities: expected the sum 1, found {found}");
                return Err(refuse(list.span(), message, "change the probabilities so that they sum to 1"));
            }
            Ok(Confidences::Weighted {
                values: list.value.iter().map(|entry| entry.value.0).collect(),
                weights,
            })
        }
        ConfidenceFile::Samples(samples) => {
            let mut values = Vec::new();
            for path in &samples.value.traces {
                let read = read_samples(&base_dir.join(path.value.as_str()), role);
                values.extend(read.map_err(|error| {
                    let message = error.to_string();
                    let error =
                        LabeledError::new(message, "name traces that `orchestrion run` or the runtime wrote");
                    ReadError::in_source(source, error.with_label(path.span(), "this trace"))
                })?);
            }
            if values.is_empty() {
                let name = role.map_or_else(|| "additional debaters".to_owned(), |role| role.to_string());
                let message = format!("samples: expected arguments of {name}, found none in the traces");
                return Err(refuse(samples.span(), message, "name traces in which the role argues"));
            }
            Ok(empirical(values))
        }
    }
}

/// Returns the distribution in which each sample is equally likely.
fn empirical(mut samples: Vec<Score>) -> Confidences {
    samples.sort_unstable();
    let (mut values, mut weights): (Vec<Score>, Vec<u64>) = (Vec::new(), Vec::new());
    for sample in samples {
        match (values.last(), weights.last_mut()) {
            (Some(last), Some(weight)) if *last == sample => *weight += 1,
            _ => {
                values.push(sample);
                weights.push(1);
            }
        }
    }
    Confidences::Weighted { values, weights }
}

fn call_behavior(file: &ExperimentFile, module: Module) -> Result<CallBehavior, LabeledError> {
    let default = &file.calls.default;
    let own = file.calls.modules.0.get(&EnumName(module));
    let span = own.map_or_else(|| default.span(), orchestrion_yaml::Spanned::span);
    let calls: CallFile = own.map_or_else(|| default.value.clone(), |own| own.value.or(&default.value));
    let weight = |given: Option<Decimal<Score>>| u64::from(score(given, Score::ZERO).millionths());
    let failures = [weight(calls.error), weight(calls.timeout), weight(calls.malformed)];
    let sum: u64 = failures.iter().sum();
    let Some(reply) = 1_000_000_u64.checked_sub(sum) else {
        return Err(LabeledError::new(
            format!(
                "failures: expected probabilities with a sum of at most 1, found {}.{:06}",
                sum / 1_000_000,
                sum % 1_000_000
            ),
            "lower error, timeout or malformed",
        )
        .with_label(span, "these calls"));
    };
    let [error, timeout, malformed] = failures;
    let duration_ms = |duration: Duration| u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
    let duration = match &calls.duration {
        None => Durations::Constant(0),
        Some(DurationFile::Constant(duration)) => Durations::Constant(duration_ms(duration.0)),
        Some(DurationFile::Exponential(mean)) => Durations::exponential(duration_ms(mean.0)),
        Some(DurationFile::Uniform(range)) => {
            let (min, max) = (range.value.min, range.value.max);
            if min.0 > max.0 {
                return Err(LabeledError::new(
                    format!("uniform duration: expected min up to {max}, found {min}"),
                    "exchange min and max",
                )
                .with_label(range.span(), "this distribution"));
            }
            Durations::Uniform { min_ms: duration_ms(min.0), max_ms: duration_ms(max.0) }
        }
    };
    Ok(CallBehavior { weights: [reply, error, timeout, malformed], duration })
}

/// Returns what the runs measure of contexts.
fn context_use(file: &ExperimentFile) -> Result<ContextUse, LabeledError> {
    match (file.contexts.value, file.rules.value) {
        (false, false) => Ok(ContextUse::None),
        (true, false) => Ok(ContextUse::Selected),
        (true, true) => Ok(ContextUse::Compared),
        (false, true) => Err(LabeledError::new(
            "rules without contexts: expected `contexts: true`, found none",
            "add `contexts: true`, or remove `rules`",
        )
        .with_label(file.rules.span(), "nothing to compare")),
    }
}
