//! What was checked, as people read it.

use super::{Checked, Found, Standing};
use crate::cli::{Outcome, files};
use crate::project::Waiver;
use crate::show::harmless;
use anstyle::{AnsiColor, Style};
use orchestrion_model::check::{Run, Verdict};
use orchestrion_model::explore::{Ended, Why};
use orchestrion_model::scopes::Model;
use std::io::{self, Write};

pub(super) fn human(
    checked: &[Checked],
    standings: &[(&Waiver, Standing)],
    quiet: bool,
    outcome: Outcome,
    out: &mut impl Write,
) -> io::Result<()> {
    for Checked { policy, runs, found } in checked {
        let told =
            |found: &&Found| !quiet || !matches!(found.verdict, Verdict::Holds | Verdict::NotChecked(_));
        let mut found = found.iter().filter(told).peekable();
        let several = checked.len() > 1 && found.peek().is_some();
        if !quiet || several {
            writeln!(out, "policy {}, scope {}", harmless(&policy.name), scope(checked))?;
        }
        if !quiet {
            of_runs(runs, out)?;
        }
        found.try_for_each(|found| of_claim(found, out))?;
        if !quiet {
            writeln!(out)?;
        }
    }
    for (waiver, standing) in standings {
        of_waiver(waiver, *standing, out)?;
    }
    last_line(checked, standings, outcome, out)
}

fn scope(checked: &[Checked]) -> &'static str {
    checked.iter().flat_map(|checked| &checked.runs).next().map_or("", |run| run.scope)
}

fn of_runs(runs: &[Run], out: &mut impl Write) -> io::Result<()> {
    for run in runs {
        let (states, products) = (grouped(run.states), grouped(run.products));
        let ratio = run.products as f64 / run.states.max(1) as f64;
        let about = Model::by_name(run.model).map_or("", |model| model.about);
        writeln!(out, "  {:<10} {states:>9} states  {products:>9} products  × {ratio:.2}", run.model)?;
        writeln!(out, "             {about}")?;
        if let Ended::Cut { why, waiting } = run.ended {
            let (why, flag) = match why {
                Why::Memory => ("memory", "--memory"),
                Why::Time => ("time", "--time"),
                Why::States => ("states", "--states"),
            };
            writeln!(
                out,
                "             CUT SHORT: out of {why} ({flag}) at depth {}, {} products not followed",
                run.depth,
                grouped(waiting)
            )?;
        }
    }
    writeln!(out)
}

fn of_claim(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let Found { claim, verdict, evidence, waived } = found;
    let finding = claim.finding.map_or(String::new(), |finding| format!(", finding {finding}"));
    let (word, colour) = match verdict {
        Verdict::Holds => ("holds", AnsiColor::Green),
        Verdict::Fails { .. } if waived.is_some() => ("waived", AnsiColor::Yellow),
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
    if let Some(waiver) = waived {
        writeln!(
            out,
            "  fails, and may until {}: {}  ({})",
            waiver.until,
            harmless(&waiver.reason),
            waiver.place
        )?;
    }
    if let (Verdict::Fails { counterexample, .. }, Some((file, evidence))) = (verdict, evidence) {
        let matter = match evidence.highlights.len() {
            1 => "the one that matters".to_string(),
            several => format!("the last {several} that matter"),
        };
        match (counterexample.stem, counterexample.round()) {
            (Some(stem), Some(round)) => writeln!(
                out,
                "  a run that goes round for ever: {stem} steps, then the same {round} again and again; {matter}:"
            )?,
            _ => {
                writeln!(out, "  shortest counterexample, {} steps; {matter}:", counterexample.inputs.len())?
            }
        }
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

/// What is to be done about a waiver, if anything is.
fn of_waiver(waiver: &Waiver, standing: Standing, out: &mut impl Write) -> io::Result<()> {
    let Waiver { claim, policy, reason, until, place } = waiver;
    let reason = harmless(reason);
    let under = policy.as_ref().map_or_else(String::new, |policy| format!(" under {}", harmless(policy)));
    match standing {
        Standing::Needed | Standing::Open => Ok(()),
        Standing::NotNeeded => writeln!(
            out,
            "{place}: the waiver of {claim}{under} is not needed: the claim does not fail\n  \
             do     remove it, or it would hide that the claim fails again"
        ),
        Standing::Expired => writeln!(
            out,
            "{place}: the waiver of {claim}{under} EXPIRED, it was until {until}: {reason}\n  \
             do     remove it once the claim holds, or give it a later day"
        ),
    }
}

fn last_line(
    checked: &[Checked],
    standings: &[(&Waiver, Standing)],
    outcome: Outcome,
    out: &mut impl Write,
) -> io::Result<()> {
    let found = || checked.iter().flat_map(|checked| &checked.found);
    let count = |is: fn(&Found) -> bool| found().filter(|found| is(found)).count();
    let failing = count(Found::fails);
    let waived = count(|found| found.waived.is_some());
    let vacuous = count(|found| matches!(found.verdict, Verdict::Vacuous));
    let inconclusive = count(|found| matches!(found.verdict, Verdict::Inconclusive));
    let unchecked = count(|found| matches!(found.verdict, Verdict::NotChecked(_)));
    let expired = standings.iter().filter(|(_, standing)| *standing == Standing::Expired).count();
    let (word, colour) = match outcome {
        Outcome::Fine => ("HOLDS", AnsiColor::Green),
        Outcome::Failure => ("FAILS", AnsiColor::Red),
        Outcome::Unread | Outcome::Nothing if vacuous + inconclusive > 0 => ("NOT SHOWN", AnsiColor::Yellow),
        Outcome::Unread | Outcome::Nothing => ("EXPIRED", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let all = format!("{} claims", found().count());
    let whereabouts = match checked.len() {
        1 => format!("at scope {}", scope(checked)),
        policies => format!("under {policies} policies at scope {}", scope(checked)),
    };
    write!(out, "{style}{word}{style:#}: ")?;
    match outcome {
        Outcome::Fine => {
            let holding = count(|found| matches!(found.verdict, Verdict::Holds));
            write!(out, "{holding} of {all} hold {whereabouts}")?;
        }
        Outcome::Failure => write!(out, "{failing} of {all} {whereabouts}")?,
        _ => write!(out, "none of {all} fails {whereabouts}")?,
    }
    for (count, what) in [(vacuous, "vacuous"), (inconclusive, "inconclusive"), (waived, "waived")] {
        if count > 0 {
            write!(out, "; {count} {what}")?;
        }
    }
    if expired > 0 {
        write!(out, "; {expired} {} expired", if expired == 1 { "waiver" } else { "waivers" })?;
    }
    writeln!(out, "; {unchecked} not checked. exit {}", outcome.code())
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
