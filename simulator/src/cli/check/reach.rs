//! `check --reach`: a shortest way to something that the models show.

use super::json::CutReport;
use super::report::{ReportStyle, cut_short, hanging, highlight_heading, of_highlights, steps};
use super::save::{SavedEvidence, save};
use super::{Args, CheckPlan};
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_explorer::Termination;
use orchestrion_kernel::Policy;
use orchestrion_model::check::{ReachResult, reach};
use orchestrion_model::coverage::{Observation, observation_names};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_report::show::sanitize;
use orchestrion_yaml::nearest;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// What is looked for, by its name.
pub(super) fn named(what: &str) -> Result<Observation> {
    orchestrion_model::coverage::observation_by_name(what).ok_or_else(|| {
        let names: Vec<String> = observation_names().map(|(name, _)| name).collect();
        let near = nearest(what, names.iter().map(String::as_str));
        miette!(
            help = format!(
                "{near}expected a row such as T18 or `not T18`, a control state such as Blocked, an input such as \
                 `user message`, a refusal such as `wrong user`, or a claim such as C-26; rows and states stand in \
                 `orchestrion export table`, claims in `orchestrion export claims`"
            ),
            "nothing that could be reached is called `{}`",
            sanitize(what)
        )
    })
}

/// What looking for it came to under one policy.
struct ReachSummary<'a> {
    policy: &'a Policy,
    runs: Vec<ReachResult>,
    /// Which of the runs has the shortest way, and how many steps it is.
    best: Option<(usize, usize)>,
    /// The way, unless it needs no step.
    kept: Option<SavedEvidence>,
}

impl ReachSummary<'_> {
    fn outcome(&self) -> ExitStatus {
        let is_cut = |run: &ReachResult| matches!(run.ended, Termination::LimitReached { .. });
        match self.best {
            Some(_) => ExitStatus::Success,
            None if self.runs.iter().any(is_cut) => ExitStatus::Incomplete,
            None => ExitStatus::Failure,
        }
    }
}

pub(super) fn run(
    mark: Observation,
    order: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    look: ReportStyle,
) -> Result<ExitStatus> {
    let mut looked = Vec::new();
    for policy in &order.policies {
        if let Observation::Premise(claim) = mark
            && let Some(why) = (CLAIMS[claim].not_applicable)(policy)
        {
            let name = sanitize(&policy.name);
            return Err(miette!(
                help = "name another policy with --policy",
                "{mark} says nothing under the policy {name}: {why}"
            ));
        }
        looked.push(find_path(mark, policy, order, args, global)?);
    }
    let outcome = ExitStatus::of(&looked.iter().map(ReachSummary::outcome).collect::<Vec<_>>());
    let mut out = files::out();
    match args.format {
        Format::Human => human(mark, &looked, order.scope.name, outcome, look, &mut out),
        Format::Json => json(mark, &looked, order.scope.name, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

fn find_path<'a>(
    mark: Observation,
    policy: &'a Policy,
    order: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
) -> Result<ReachSummary<'a>> {
    let subject = KernelUnderTest::unmodified(policy.clone());
    let runs = args.search.explore_models(&policy.name, global.quiet, |model, options, progress| {
        reach(&subject, model, &order.scope, mark, options, progress)
    })?;
    let ways = runs.iter().enumerate().filter_map(|(run, reached)| Some((run, reached.path.as_ref()?)));
    let best = ways.min_by_key(|(_, way)| way.inputs.len());
    let kept = match best {
        Some((_, way)) if !way.inputs.is_empty() => Some(save(&file_name(mark), way, &global.out_dir)?),
        _ => None,
    };
    let best = best.map(|(run, way)| (run, way.inputs.len()));
    Ok(ReachSummary { policy, best, kept, runs })
}

/// The name of the mark, as that of a file.
fn file_name(mark: Observation) -> String {
    format!("reach-{}", mark.name().replace(' ', "-"))
}

/// The mark with its kind, and what is behind its name.
fn told(mark: Observation) -> String {
    let what = match mark {
        Observation::Premise(_) => format!("a state in which {mark} has something to say"),
        Observation::Guard(_) => format!("row {}", mark.name()),
        _ => format!("{} {mark}", mark.kind()),
    };
    match mark.description() {
        about if about.is_empty() => what,
        about => format!("{what}: {about}"),
    }
}

fn human(
    mark: Observation,
    looked: &[ReachSummary<'_>],
    scope: &str,
    outcome: ExitStatus,
    look: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    if !look.quiet {
        hanging(0, "", &told(mark), look, out)?;
    }
    for one in looked {
        let ReachSummary { policy, runs, best, kept } = one;
        if !look.quiet {
            writeln!(out, "policy {}, scope {scope}", sanitize(&policy.name))?;
            of_runs(runs, look, out)?;
            if best.is_none() && !is_expected(mark, policy) {
                hanging(
                    2,
                    "",
                    "nor is it to be expected: no row that the policy switches on leads there",
                    look,
                    out,
                )?;
            }
        }
        if let (Some((_, length)), Some(SavedEvidence { trace, evidence, .. })) = (best, kept) {
            let highlights = evidence.last_highlights(*length as u64);
            writeln!(out, "  a shortest way, {}{}", steps(*length), highlight_heading(highlights))?;
            of_highlights(highlights, look, out)?;
            let file = files::quoted(trace);
            writeln!(out, "  look   orchestrion show {file} --at {length}")?;
            writeln!(
                out,
                "  keep   orchestrion promote {file} {}",
                file_name(mark).to_lowercase().replace('_', "-")
            )?;
        }
    }
    let mut lines = looked.iter().map(|one| last_line(mark, one, scope)).peekable();
    while let Some(line) = lines.next() {
        let end = if lines.peek().is_some() { String::new() } else { format!(". exit {}", outcome.code()) };
        writeln!(out, "{line}{end}")?;
    }
    Ok(())
}

/// Whether the policy leads one to expect it; of a premise its claim says so.
fn is_expected(mark: Observation, policy: &Policy) -> bool {
    matches!(mark, Observation::Premise(_)) || Observation::expected_observations(policy).contains(&mark)
}

fn of_runs(runs: &[ReachResult], look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    for run in runs {
        let products = orchestrion_report::show::grouped(run.products as u64);
        let told = match run.path.as_ref().map(|way| way.inputs.len()) {
            Some(0) => "there from the start".to_owned(),
            Some(length) => format!("reached in {}, after {products} products", steps(length)),
            None => match cut_short(run.ended, run.depth) {
                Some(cut) => cut,
                None => format!("not reached in {products} products, exhausted"),
            },
        };
        hanging(14, &format!("  {}", run.model), &told, look, out)?;
    }
    Ok(())
}

fn last_line(mark: Observation, looked: &ReachSummary<'_>, scope: &str) -> String {
    let (word, colour) = match looked.outcome() {
        ExitStatus::Success => ("REACHED", AnsiColor::Green),
        ExitStatus::Failure => ("NOT REACHED", AnsiColor::Red),
        _ => ("NOT SHOWN", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let under = sanitize(&looked.policy.name);
    let models: Vec<&str> = looked.runs.iter().map(|run| run.model).collect();
    let told = match looked.best {
        Some((run, length)) => format!("in {}, in {}", steps(length), models[run]),
        None if looked.outcome() == ExitStatus::Incomplete => {
            "not so far, and a model was cut short".to_owned()
        }
        None => match super::coverage::only(&models) {
            None => "not in any model, all exhausted".to_owned(),
            Some(only) => format!("not in {}, exhausted", only.join(" and ")),
        },
    };
    format!("{style}{word}{style:#}: {} {told}, at scope {scope} under {under}", mark.name())
}

#[derive(Serialize)]
struct Report<'a> {
    name: String,
    kind: &'static str,
    about: String,
    scope: &'a str,
    ways: Vec<WayReport<'a>>,
}

#[derive(Serialize)]
struct WayReport<'a> {
    policy: &'a str,
    /// reached, not_reached, or inconclusive
    verdict: &'static str,
    /// The model of the shortest way.
    run: Option<&'a str>,
    steps: Option<usize>,
    trace: Option<&'a Path>,
    itf: Option<&'a Path>,
    runs: Vec<RunReport<'a>>,
}

#[derive(Serialize)]
struct RunReport<'a> {
    model: &'a str,
    products: usize,
    steps: Option<usize>,
    cut: Option<CutReport>,
}

fn json(mark: Observation, looked: &[ReachSummary<'_>], scope: &str, out: &mut impl Write) -> io::Result<()> {
    let report = Report {
        name: mark.name(),
        kind: mark.kind(),
        about: mark.description(),
        scope,
        ways: looked.iter().map(way_report).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn way_report<'a>(looked: &'a ReachSummary<'_>) -> WayReport<'a> {
    WayReport {
        policy: &looked.policy.name,
        verdict: match looked.outcome() {
            ExitStatus::Success => "reached",
            ExitStatus::Failure => "not_reached",
            _ => "inconclusive",
        },
        run: looked.best.map(|(run, _)| looked.runs[run].model),
        steps: looked.best.map(|(_, steps)| steps),
        trace: looked.kept.as_ref().map(|kept| kept.trace.as_path()),
        itf: looked.kept.as_ref().map(|kept| kept.itf.as_path()),
        runs: looked.runs.iter().map(run_report).collect(),
    }
}

fn run_report(run: &ReachResult) -> RunReport<'_> {
    RunReport {
        model: run.model,
        products: run.products,
        steps: run.path.as_ref().map(|way| way.inputs.len()),
        cut: CutReport::of(run.ended, run.depth),
    }
}
