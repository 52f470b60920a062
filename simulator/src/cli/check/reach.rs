//! `check --reach`: a shortest way to something that the models show.

use super::json::CutReport;
use super::keep::{Kept, keep};
use super::report::{Look, cut_short, hanging, matter, of_highlights, steps};
use super::{Args, Order};
use crate::cli::{Format, Global, Outcome, files};
use crate::show::harmless;
use crate::yaml::nearest;
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::CLAIMS;
use orchestrion_model::check::{Reached, reach};
use orchestrion_model::coverage::{Mark, names};
use orchestrion_model::explore::Ended;
use orchestrion_model::subject::Subject;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// What is looked for, by its name.
pub(super) fn named(what: &str) -> Result<Mark> {
    orchestrion_model::coverage::named(what).ok_or_else(|| {
        let names: Vec<String> = names().map(|(name, _)| name).collect();
        let near = nearest(what, names.iter().map(String::as_str));
        miette!(
            help = format!(
                "{near}expected a row such as T18 or `not T18`, a control state such as Blocked, an input such as \
                 `user message`, a refusal such as `wrong user`, or a claim such as C-26; rows and states stand in \
                 `orchestrion export table`, claims in `orchestrion export claims`"
            ),
            "nothing that could be reached is called `{}`",
            harmless(what)
        )
    })
}

/// What looking for it came to under one policy.
struct Looked<'a> {
    policy: &'a Policy,
    runs: Vec<Reached>,
    /// Which of the runs has the shortest way, and how many steps it is.
    best: Option<(usize, usize)>,
    /// The way, unless it needs no step.
    kept: Option<Kept>,
}

impl Looked<'_> {
    fn outcome(&self) -> Outcome {
        let is_cut = |run: &Reached| matches!(run.ended, Ended::Cut { .. });
        match self.best {
            Some(_) => Outcome::Fine,
            None if self.runs.iter().any(is_cut) => Outcome::Unread,
            None => Outcome::Failure,
        }
    }
}

pub(super) fn run(mark: Mark, order: &Order, args: &Args, global: &Global, look: Look) -> Result<Outcome> {
    let mut looked = Vec::new();
    for policy in &order.policies {
        if let Mark::Premise(claim) = mark
            && let Some(why) = (CLAIMS[claim].not_under)(policy)
        {
            let name = harmless(&policy.name);
            return Err(miette!(
                help = "name another policy with --policy",
                "{mark} says nothing under the policy {name}: {why}"
            ));
        }
        looked.push(look_for(mark, policy, order, args, global)?);
    }
    let outcome = Outcome::of(&looked.iter().map(Looked::outcome).collect::<Vec<_>>());
    let mut out = files::out();
    match args.format {
        Format::Human => human(mark, &looked, order.scope.name, outcome, look, &mut out),
        Format::Json => json(mark, &looked, order.scope.name, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

fn look_for<'a>(
    mark: Mark,
    policy: &'a Policy,
    order: &Order,
    args: &Args,
    global: &Global,
) -> Result<Looked<'a>> {
    let subject = Subject::real(policy.clone());
    let runs = args.search.every_model(&policy.name, global.quiet, |model, options, progress| {
        reach(&subject, model, &order.scope, mark, options, progress)
    })?;
    let ways = runs.iter().enumerate().filter_map(|(run, reached)| Some((run, reached.way.as_ref()?)));
    let best = ways.min_by_key(|(_, way)| way.inputs.len());
    let kept = match best {
        Some((_, way)) if !way.inputs.is_empty() => Some(keep(&file_name(mark), way, &global.out)?),
        _ => None,
    };
    let best = best.map(|(run, way)| (run, way.inputs.len()));
    Ok(Looked { policy, best, kept, runs })
}

/// The name of the mark, as that of a file.
fn file_name(mark: Mark) -> String {
    format!("reach-{}", mark.name().replace(' ', "-"))
}

/// The mark with its kind, and what is behind its name.
fn told(mark: Mark) -> String {
    let what = match mark {
        Mark::Premise(_) => format!("a state in which {mark} has something to say"),
        Mark::Guard(_) => format!("row {}", mark.name()),
        _ => format!("{} {mark}", mark.kind()),
    };
    match mark.about() {
        about if about.is_empty() => what,
        about => format!("{what}: {about}"),
    }
}

fn human(
    mark: Mark,
    looked: &[Looked<'_>],
    scope: &str,
    outcome: Outcome,
    look: Look,
    out: &mut impl Write,
) -> io::Result<()> {
    if !look.quiet {
        hanging(0, "", &told(mark), look, out)?;
    }
    for one in looked {
        let Looked { policy, runs, best, kept } = one;
        if !look.quiet {
            writeln!(out, "policy {}, scope {scope}", harmless(&policy.name))?;
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
        if let (Some((_, length)), Some(Kept { trace, evidence, .. })) = (best, kept) {
            let highlights = evidence.last_highlights(*length as u64);
            writeln!(out, "  a shortest way, {}{}", steps(*length), matter(highlights))?;
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
fn is_expected(mark: Mark, policy: &Policy) -> bool {
    matches!(mark, Mark::Premise(_)) || Mark::expected(policy).contains(&mark)
}

fn of_runs(runs: &[Reached], look: Look, out: &mut impl Write) -> io::Result<()> {
    for run in runs {
        let products = crate::show::grouped(run.products as u64);
        let told = match run.way.as_ref().map(|way| way.inputs.len()) {
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

fn last_line(mark: Mark, looked: &Looked<'_>, scope: &str) -> String {
    let (word, colour) = match looked.outcome() {
        Outcome::Fine => ("REACHED", AnsiColor::Green),
        Outcome::Failure => ("NOT REACHED", AnsiColor::Red),
        _ => ("NOT SHOWN", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let under = harmless(&looked.policy.name);
    let models: Vec<&str> = looked.runs.iter().map(|run| run.model).collect();
    let told = match looked.best {
        Some((run, length)) => format!("in {}, in {}", steps(length), models[run]),
        None if looked.outcome() == Outcome::Unread => "not so far, and a model was cut short".to_owned(),
        None => match super::extent::only(&models) {
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

fn json(mark: Mark, looked: &[Looked<'_>], scope: &str, out: &mut impl Write) -> io::Result<()> {
    let report = Report {
        name: mark.name(),
        kind: mark.kind(),
        about: mark.about(),
        scope,
        ways: looked.iter().map(way_report).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn way_report<'a>(looked: &'a Looked<'_>) -> WayReport<'a> {
    WayReport {
        policy: &looked.policy.name,
        verdict: match looked.outcome() {
            Outcome::Fine => "reached",
            Outcome::Failure => "not_reached",
            _ => "inconclusive",
        },
        run: looked.best.map(|(run, _)| looked.runs[run].model),
        steps: looked.best.map(|(_, steps)| steps),
        trace: looked.kept.as_ref().map(|kept| kept.trace.as_path()),
        itf: looked.kept.as_ref().map(|kept| kept.itf.as_path()),
        runs: looked.runs.iter().map(run_report).collect(),
    }
}

fn run_report(run: &Reached) -> RunReport<'_> {
    RunReport {
        model: run.model,
        products: run.products,
        steps: run.way.as_ref().map(|way| way.inputs.len()),
        cut: CutReport::of(run.ended, run.depth),
    }
}
