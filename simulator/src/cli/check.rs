//! `check`: explore every model and hold every claim against it.

use super::{Format, Global, Outcome, files};
use crate::evidence::{Evidence, record};
use crate::policy_file;
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::{CLAIMS, Claim};
use orchestrion_model::check::{LIMIT, Run, Verdict, explore, verdicts};
use orchestrion_model::scopes::{MODELS, Model, SCOPES, Scope};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Explore the kernel against every adversary of the models, and hold every claim against what is reached.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion check                          the built-in policy `hardened`: nothing fails
  orchestrion check --policy as-drawn        004 as drawn: the findings, each with a trace
  orchestrion check --policy mine.yaml --format json")]
pub(super) struct Args {
    /// The policy: `hardened`, `as-drawn`, or a file.
    #[arg(long, value_name = "POLICY", default_value = "hardened")]
    policy: String,
    /// How large the models grow.
    #[arg(long, value_name = "SCOPE", default_value = SCOPES[0].name, value_parser = SCOPES.map(|scope| scope.name))]
    scope: String,
    /// Inputs tried in each model before its exploration is given up as inconclusive.
    #[arg(long, value_name = "INPUTS", default_value_t = LIMIT)]
    limit: usize,
    /// How the report is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<Outcome> {
    let policy = policy_file::resolve(&args.policy, Path::new("."))?;
    let scope = Scope::by_name(&args.scope).ok_or_else(|| miette!("no scope is called {}", args.scope))?;
    let runs = explore_all(&policy, &scope, args.limit);
    let verdicts = verdicts(&policy, &runs);
    let found = CLAIMS.iter().zip(&verdicts).map(|(claim, verdict)| {
        let evidence = match verdict {
            Verdict::Fails { inputs, .. } => {
                let evidence = record(claim.id, &policy, inputs).into_diagnostic()?;
                let file = global.out.join(&evidence.file);
                files::replace_trace(&file, &evidence.trace)?;
                Some((file, evidence))
            }
            _ => None,
        };
        Ok(Found { claim, verdict, evidence })
    });
    let found = found.collect::<Result<Vec<Found<'_>>>>()?;
    let outcome = outcome(&found);
    let mut out = super::files::out();
    match args.format {
        Format::Human => human(&policy, &runs, &found, global.quiet, outcome, &mut out).into_diagnostic()?,
        Format::Json => json(&runs, &found, outcome, &mut out).into_diagnostic()?,
    }
    Ok(outcome)
}

/// A claim, its verdict, and the evidence where it fails.
struct Found<'a> {
    claim: &'static Claim,
    verdict: &'a Verdict,
    evidence: Option<(PathBuf, Evidence)>,
}

fn outcome(found: &[Found<'_>]) -> Outcome {
    let any = |is: fn(&Verdict) -> bool| found.iter().any(|found| is(found.verdict));
    if any(|verdict| matches!(verdict, Verdict::Fails { .. })) {
        Outcome::Failure
    } else if any(|verdict| matches!(verdict, Verdict::Vacuous | Verdict::Inconclusive)) {
        Outcome::Unread
    } else {
        Outcome::Fine
    }
}

/// Explores the models side by side, telling how far each is while somebody watches.
fn explore_all(policy: &Policy, scope: &Scope, limit: usize) -> Vec<Run> {
    let bars = MultiProgress::new();
    std::thread::scope(|threads| {
        let explorers: Vec<_> = MODELS
            .into_iter()
            .map(|model| {
                let bar = bars.add(ProgressBar::new_spinner());
                if let Ok(style) =
                    ProgressStyle::with_template("{spinner} {prefix:<10} {human_pos:>9} products  {elapsed}")
                {
                    bar.set_style(style);
                }
                bar.set_prefix(model.name);
                threads.spawn(move || {
                    let run =
                        explore(policy, model, scope, limit, &|products| bar.set_position(products as u64));
                    bar.finish_and_clear();
                    run
                })
            })
            .collect();
        explorers
            .into_iter()
            .map(|explorer| match explorer.join() {
                Ok(run) => run,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

fn human(
    policy: &Policy,
    runs: &[Run],
    found: &[Found<'_>],
    quiet: bool,
    outcome: Outcome,
    out: &mut impl Write,
) -> io::Result<()> {
    let count = |is: fn(&Verdict) -> bool| found.iter().filter(|found| is(found.verdict)).count();
    let failing = count(|verdict| matches!(verdict, Verdict::Fails { .. }));
    let vacuous = count(|verdict| matches!(verdict, Verdict::Vacuous));
    let inconclusive = count(|verdict| matches!(verdict, Verdict::Inconclusive));
    let unchecked = count(|verdict| matches!(verdict, Verdict::NotChecked(_)));
    if !quiet {
        let scope = runs.first().map_or("", |run| run.scope);
        writeln!(out, "policy {}, scope {scope}", policy.name)?;
        for run in runs {
            let (states, products) = (grouped(run.states), grouped(run.products));
            let ratio = run.products as f64 / run.states.max(1) as f64;
            let about = Model::by_name(run.model).map_or("", |model| model.about);
            writeln!(out, "  {:<10} {states:>9} states  {products:>9} products  × {ratio:.2}", run.model)?;
            writeln!(out, "             {about}")?;
            if !run.complete {
                writeln!(out, "             CUT SHORT at the limit; see --limit")?;
            }
        }
        writeln!(out)?;
    }
    for found in found {
        let failed =
            matches!(found.verdict, Verdict::Fails { .. } | Verdict::Vacuous | Verdict::Inconclusive);
        if !quiet || failed {
            of_claim(found, out)?;
        }
    }
    if !quiet {
        writeln!(out)?;
    }
    let (word, style) = match outcome {
        Outcome::Fine => ("HOLDS", AnsiColor::Green),
        Outcome::Failure => ("FAILS", AnsiColor::Red),
        Outcome::Unread | Outcome::Nothing => ("NOT SHOWN", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(style.into())).bold();
    let scope = runs.first().map_or("", |run| run.scope);
    write!(out, "{style}{word}{style:#}: ")?;
    match outcome {
        Outcome::Fine => {
            write!(out, "{} of {} claims hold at scope {scope}", found.len() - unchecked, found.len())?
        }
        Outcome::Failure => write!(out, "{failing} of {} claims at scope {scope}", found.len())?,
        _ => write!(out, "none of {} claims fails at scope {scope}", found.len())?,
    }
    for (count, what) in [(vacuous, "vacuous"), (inconclusive, "inconclusive")] {
        if count > 0 {
            write!(out, "; {count} {what}")?;
        }
    }
    writeln!(out, "; {unchecked} not checked. exit {}", outcome.code())
}

fn of_claim(found: &Found<'_>, out: &mut impl Write) -> io::Result<()> {
    let Found { claim, verdict, evidence } = found;
    let finding = claim.finding.map_or(String::new(), |finding| format!(", finding {finding}"));
    let (word, colour) = match verdict {
        Verdict::Holds => ("holds", AnsiColor::Green),
        Verdict::Fails { .. } => ("FAILS", AnsiColor::Red),
        Verdict::Vacuous => ("VACUOUS", AnsiColor::Yellow),
        Verdict::Inconclusive => ("INCONCLUSIVE", AnsiColor::Yellow),
        Verdict::NotChecked(_) => ("not checked", AnsiColor::BrightBlack),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    writeln!(
        out,
        "{}  {style}{word:<12}{style:#}  {}  ({}{finding})",
        claim.id, claim.statement, claim.clause
    )?;
    match verdict {
        Verdict::NotChecked(why) => writeln!(out, "                     {why}")?,
        Verdict::Vacuous => {
            writeln!(
                out,
                "                     no run came to a state in which the claim has something to say"
            )?;
        }
        Verdict::Inconclusive => {
            writeln!(out, "                      a run was cut short before anything broke it")?
        }
        Verdict::Holds | Verdict::Fails { .. } => {}
    }
    if let (Verdict::Fails { inputs, .. }, Some((file, evidence))) = (verdict, evidence) {
        let matter = match evidence.highlights.len() {
            1 => "the one that matters".to_string(),
            several => format!("the last {several} that matter"),
        };
        writeln!(out, "  shortest counterexample, {} steps; {matter}:", inputs.len())?;
        for highlight in &evidence.highlights {
            writeln!(out, "    {:>3}  {:<70}  {}", highlight.step, highlight.what, highlight.row)?;
        }
        let at = evidence.highlights.last().map_or(1, |highlight| highlight.step);
        writeln!(out, "  look   orchestrion show {} --at {at}", files::quoted(file))?;
        writeln!(out, "  keep   orchestrion promote {} {}", files::quoted(file), claim.id.to_lowercase())?;
        writeln!(out)?;
    }
    Ok(())
}

/// The report for programs.
#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    runs: Vec<RunReport<'a>>,
    claims: Vec<ClaimReport<'a>>,
}

#[derive(Serialize)]
struct RunReport<'a> {
    model: &'a str,
    scope: &'a str,
    policy: &'a str,
    states: usize,
    products: usize,
}

#[derive(Serialize)]
struct ClaimReport<'a> {
    id: &'a str,
    statement: &'a str,
    clause: &'a str,
    finding: Option<&'a str>,
    kind: &'a str,
    verdict: &'a str,
    /// The model of the run that found the counterexample.
    run: Option<&'a str>,
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
struct Counterexample {
    steps: usize,
    trace: PathBuf,
}

fn json(runs: &[Run], found: &[Found<'_>], outcome: Outcome, out: &mut impl Write) -> io::Result<()> {
    let report = Report {
        verdict: match outcome {
            Outcome::Fine => "holds",
            Outcome::Failure => "fails",
            _ if runs.iter().any(|run| !run.complete) => "inconclusive",
            _ => "vacuous",
        },
        runs: runs
            .iter()
            .map(|run| RunReport {
                model: run.model,
                scope: run.scope,
                policy: &run.policy,
                states: run.states,
                products: run.products,
            })
            .collect(),
        claims: found.iter().map(|found| claim_report(runs, found)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn claim_report<'a>(runs: &'a [Run], found: &'a Found<'a>) -> ClaimReport<'a> {
    let (run, steps) = match found.verdict {
        Verdict::Fails { run, inputs } => (runs.get(*run).map(|run| run.model), inputs.len()),
        _ => (None, 0),
    };
    ClaimReport {
        id: found.claim.id,
        statement: found.claim.statement,
        clause: found.claim.clause,
        finding: found.claim.finding,
        kind: found.claim.check.kind(),
        verdict: found.verdict.word(),
        run,
        counterexample: found
            .evidence
            .as_ref()
            .map(|(trace, _)| Counterexample { steps, trace: trace.clone() }),
    }
}

/// A number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
