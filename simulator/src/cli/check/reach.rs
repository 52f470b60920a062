//! `check --reach`: a shortest path to an observation.

use super::json::LimitReport;
use super::options::Args;
use super::plan::CheckPlan;
use super::report::{highlight_heading, limit_text, steps_text, write_highlights};
use super::save::{SavedEvidence, save};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle, write_command, write_hanging, write_summary};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::Termination;
use orchestrion_kernel::Policy;
use orchestrion_model::check::{ReachResult, reach};
use orchestrion_model::coverage::{Observation, observation_by_name, observation_names};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::user_claims::reach_violation;
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_user_claims::UserClaim;
use orchestrion_yaml::suggest_nearest;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// What is to be reached.
pub(super) enum Target {
    Observation(Observation),
    /// An event that a matcher of claim files matches: the claim excludes it.
    Predicate {
        text: String,
        never: Box<UserClaim>,
    },
}

/// Reads the name of an observation, or a matcher in braces.
pub(super) fn parse_target(text: &str) -> Result<Target> {
    if text.trim_start().starts_with('{') {
        let never = UserClaim::never("--reach", text)?;
        return Ok(Target::Predicate { text: text.trim().to_owned(), never: Box::new(never) });
    }
    let observation = observation_by_name(text).ok_or_else(|| {
        let names: Vec<String> = observation_names().map(|(name, _)| name).collect();
        let suggestion = suggest_nearest(text, names.iter().map(String::as_str));
        miette!(
            help = format!(
                "{suggestion}expected a transition such as T18 or `not T18`, a phase such as Blocked, an input such \
                 as `user message`, a refusal such as `wrong user`, a claim such as C-26, or a matcher such as \
                 `{{label: vetoed}}`; transitions and phases are listed by `orchestrion export table`, claims by \
                 `orchestrion export claims`, and fields of matchers by `orchestrion export claim-fields`"
            ),
            "unknown target `{}`",
            sanitize(text)
        )
    })?;
    Ok(Target::Observation(observation))
}

impl Target {
    fn name(&self) -> String {
        match self {
            Self::Observation(observation) => observation.name(),
            Self::Predicate { text, .. } => sanitize(text),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Observation(observation) => observation.kind(),
            Self::Predicate { .. } => "predicate",
        }
    }

    fn description(&self) -> String {
        match self {
            Self::Observation(observation) => observation.description(),
            Self::Predicate { .. } => "an event that matches, with the request after it".to_owned(),
        }
    }

    fn file_name(&self) -> String {
        match self {
            Self::Observation(observation) => format!("reach-{}", observation.name().replace(' ', "-")),
            Self::Predicate { .. } => "reach-predicate".to_owned(),
        }
    }

    /// Describes the target by kind, name and meaning.
    fn text(&self) -> String {
        let text = match self {
            Self::Observation(target @ Observation::Premise(_)) => format!("the premise of {target}"),
            Self::Observation(target @ (Observation::Guard(_) | Observation::Row(_))) => {
                format!("transition {}", target.name())
            }
            Self::Observation(
                target @ (Observation::Violation(_)
                | Observation::Phase(_)
                | Observation::Input(_)
                | Observation::Refusal(_)),
            ) => format!("{} {target}", target.kind()),
            Self::Predicate { .. } => format!("{} {}", self.kind(), self.name()),
        };
        match self.description() {
            description if description.is_empty() => text,
            description => format!("{text}: {description}"),
        }
    }

    /// Whether the policy lets the target be reached; for a premise, its claim determines this.
    fn is_expected(&self, policy: &Policy) -> bool {
        match self {
            Self::Observation(Observation::Premise(_)) | Self::Predicate { .. } => true,
            Self::Observation(target) => Observation::expected_observations(policy).contains(target),
        }
    }
}

/// Result of the search under one policy.
struct ReachSummary<'a> {
    policy: &'a Policy,
    runs: Vec<ReachResult>,
    /// The run with the shortest path, and the number of its steps.
    shortest: Option<(usize, usize)>,
    /// The path as files, unless it has no steps.
    evidence: Option<SavedEvidence>,
}

impl ReachSummary<'_> {
    fn status(&self) -> ExitStatus {
        let hit_limit = |run: &ReachResult| matches!(run.ended, Termination::LimitReached { .. });
        match self.shortest {
            Some(_) => ExitStatus::Success,
            None if self.runs.iter().any(hit_limit) => ExitStatus::Incomplete,
            None => ExitStatus::Failure,
        }
    }

    fn verdict_name(&self) -> &'static str {
        match self.status() {
            ExitStatus::Success => "reached",
            ExitStatus::Failure => "not_reached",
            ExitStatus::Incomplete | ExitStatus::Error => "inconclusive",
        }
    }
}

pub(super) fn run(
    target: &Target,
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    format: Format,
    style: ReportStyle,
) -> Result<ExitStatus> {
    let mut summaries = Vec::new();
    for policy in &plan.policies {
        if let Target::Observation(observation @ Observation::Premise(claim)) = target
            && let Some(reason) = (CLAIMS[*claim].not_applicable)(policy)
        {
            let name = sanitize(&policy.name);
            return Err(miette!(
                help = "select another policy with --policy",
                "{observation} is not applicable under the policy {name}: {reason}"
            ));
        }
        summaries.push(find_path(target, policy, plan, args, global)?);
    }
    let status = ExitStatus::combine(&summaries.iter().map(ReachSummary::status).collect::<Vec<_>>());
    let mut out = output::stdout();
    match format {
        Format::Human => human(target, &summaries, &plan.scope.name, status, style, &mut out),
        Format::Json => json(target, &summaries, &plan.scope.name, &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
}

fn find_path<'a>(
    target: &Target,
    policy: &'a Policy,
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
) -> Result<ReachSummary<'a>> {
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let runs = args.search.explore_models(
        &plan.models,
        &policy.name,
        global.quiet,
        |model, options, progress| match target {
            Target::Observation(observation) => {
                reach(&kernel, model, &plan.scope, *observation, options, progress)
            }
            Target::Predicate { never, .. } => {
                reach_violation(&kernel, model, &plan.scope, never, options, progress)
            }
        },
    )?;
    let paths = runs.iter().enumerate().filter_map(|(run, result)| Some((run, result.path.as_ref()?)));
    let shortest = paths.min_by_key(|(_, path)| path.inputs.len());
    let evidence = match shortest {
        Some((_, path)) if !path.inputs.is_empty() => Some(save(&target.file_name(), path, &global.out_dir)?),
        _ => None,
    };
    let shortest = shortest.map(|(run, path)| (run, path.inputs.len()));
    Ok(ReachSummary { policy, runs, shortest, evidence })
}

fn human(
    target: &Target,
    summaries: &[ReachSummary<'_>],
    scope: &str,
    status: ExitStatus,
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = style.width;
    if !style.quiet {
        write_hanging(0, "", &target.text(), width, out)?;
    }
    for summary in summaries {
        let ReachSummary { policy, runs, shortest, evidence } = summary;
        if !style.quiet {
            let text = format!("policy {}, scope {scope}", sanitize(&policy.name));
            write_hanging(0, "", &text, width, out)?;
            write_runs(runs, width, out)?;
            if shortest.is_none() && !target.is_expected(policy) {
                let text = "as expected: the policy enables no transition that leads to it";
                write_hanging(2, "", text, width, out)?;
            }
        }
        if let (Some((_, steps)), Some(SavedEvidence { trace, evidence, .. })) = (shortest, evidence) {
            let highlights = evidence.last_highlights(*steps as u64);
            let text = format!("shortest path, {}{}", steps_text(*steps), highlight_heading(highlights));
            write_hanging(2, "", &text, width, out)?;
            write_highlights(highlights, width, out)?;
            let file = output::quoted(trace);
            write_command("show", &format!("orchestrion show {file} --step {steps}"), width, out)?;
            let name = target.file_name().to_lowercase().replace('_', "-");
            write_command("promote", &format!("orchestrion promote {file} {name}"), width, out)?;
        }
    }
    for (index, summary) in summaries.iter().enumerate() {
        let is_last = index + 1 == summaries.len();
        let end = if is_last { format!(". exit {}", status.code()) } else { String::new() };
        write_last_line(target, summary, scope, &end, width, out)?;
    }
    Ok(())
}

fn write_runs(runs: &[ReachResult], width: usize, out: &mut impl Write) -> io::Result<()> {
    for run in runs {
        let products = grouped(run.products as u64);
        let text = match run.path.as_ref().map(|path| path.inputs.len()) {
            Some(0) => "holds in the initial state".to_owned(),
            Some(steps) => format!("reached in {}, after {products} product states", steps_text(steps)),
            None => limit_text(run.ended, run.depth)
                .unwrap_or_else(|| format!("not reached in all {products} product states")),
        };
        write_hanging(14, &format!("  {}", run.model), &text, width, out)?;
    }
    Ok(())
}

fn write_last_line(
    target: &Target,
    summary: &ReachSummary<'_>,
    scope: &str,
    end: &str,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let (word, color) = match summary.status() {
        ExitStatus::Success => ("REACHED", AnsiColor::Green),
        ExitStatus::Failure => ("NOT REACHED", AnsiColor::Red),
        ExitStatus::Incomplete | ExitStatus::Error => ("INCONCLUSIVE", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(color.into())).bold();
    let models: Vec<&str> = summary.runs.iter().map(|run| run.model).collect();
    let result = match (summary.shortest, summary.status()) {
        (Some((run, steps)), _) => format!("in {}, in {}", steps_text(steps), models[run]),
        (None, ExitStatus::Incomplete) => "not reached before a resource limit".to_owned(),
        (None, _) => match super::coverage::partial_models(&models) {
            None => "not in any model, all explored exhaustively".to_owned(),
            Some(models) => format!("not in {}, explored exhaustively", models.join(" and ")),
        },
    };
    let policy = sanitize(&summary.policy.name);
    let text = format!(": {} {result}, at scope {scope} under {policy}{end}", target.name());
    write_summary(style, word, &text, width, out)
}

#[derive(Serialize)]
struct Report<'a> {
    name: String,
    kind: &'static str,
    description: String,
    scope: &'a str,
    paths: Vec<PathReport<'a>>,
}

#[derive(Serialize)]
struct PathReport<'a> {
    policy: &'a str,
    /// reached, not_reached or inconclusive.
    verdict: &'static str,
    /// The model of the shortest path.
    model: Option<&'a str>,
    steps: Option<usize>,
    trace: Option<&'a Path>,
    itf: Option<&'a Path>,
    runs: Vec<RunReport<'a>>,
}

#[derive(Serialize)]
struct RunReport<'a> {
    model: &'a str,
    product_states: usize,
    steps: Option<usize>,
    limit_reached: Option<LimitReport>,
}

fn json(
    target: &Target,
    summaries: &[ReachSummary<'_>],
    scope: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let report = Report {
        name: target.name(),
        kind: target.kind(),
        description: target.description(),
        scope,
        paths: summaries.iter().map(path_report).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn path_report<'a>(summary: &'a ReachSummary<'_>) -> PathReport<'a> {
    PathReport {
        policy: &summary.policy.name,
        verdict: summary.verdict_name(),
        model: summary.shortest.map(|(run, _)| summary.runs[run].model),
        steps: summary.shortest.map(|(_, steps)| steps),
        trace: summary.evidence.as_ref().map(|evidence| evidence.trace.as_path()),
        itf: summary.evidence.as_ref().map(|evidence| evidence.itf.as_path()),
        runs: summary.runs.iter().map(run_report).collect(),
    }
}

fn run_report(run: &ReachResult) -> RunReport<'_> {
    RunReport {
        model: run.model,
        product_states: run.products,
        steps: run.path.as_ref().map(|path| path.inputs.len()),
        limit_reached: LimitReport::from_termination(run.ended, run.depth),
    }
}
