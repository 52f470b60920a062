//! `replay`: decide recorded traces again.

use super::files::{open_trace, quoted};
use super::{Global, Outcome};
use crate::policy_file;
use crate::replay::{Difference, Replay, replay};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Send the recorded inputs of traces through the kernel again, and report the first difference.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion replay specs/scenarios/happy.ndjson
  orchestrion replay specs/scenarios/*.ndjson --quiet
  orchestrion replay veto.ndjson --policy as-drawn     what would have happened under another policy?")]
pub(super) struct Args {
    /// The traces.
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Decide under this policy, a built-in name or a file, instead of the recorded one.
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Stop at the first trace that does not replay equal.
    #[arg(long)]
    fail_fast: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<Outcome> {
    let policy = match &args.policy {
        Some(policy) => Some(policy_file::resolve(policy, Path::new("."))?),
        None => None,
    };
    let mut out = super::files::out();
    let mut outcomes = Vec::new();
    for path in &args.traces {
        let outcome = one(path, policy.as_ref(), global, &mut out)?;
        outcomes.push(outcome);
        if args.fail_fast && outcome != Outcome::Fine {
            break;
        }
    }
    let count = |outcome| outcomes.iter().filter(|o| **o == outcome).count();
    let (equal, differ) = (count(Outcome::Fine), count(Outcome::Failure));
    let unread = outcomes.len() - equal - differ;
    let not_tried = args.traces.len() - outcomes.len();
    write!(out, "replayed {} of {}: {equal} equal", outcomes.len(), args.traces.len()).into_diagnostic()?;
    for (count, what) in [(differ, "differ"), (unread, "not read to the end"), (not_tried, "not tried")] {
        if count > 0 {
            write!(out, ", {count} {what}").into_diagnostic()?;
        }
    }
    writeln!(out).into_diagnostic()?;
    Ok(Outcome::of(&outcomes))
}

fn one(path: &Path, policy: Option<&Policy>, global: &Global, out: &mut impl Write) -> Result<Outcome> {
    let reader = match open_trace(path) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return Ok(Outcome::Nothing);
        }
    };
    let found = replay(reader, policy);
    if found.is_equal() && global.quiet {
        return Ok(Outcome::Fine);
    }
    report(path, &found, out).into_diagnostic()?;
    Ok(if found.difference.is_some() || found.texts.is_some() {
        Outcome::Failure
    } else if found.unread.is_some() {
        Outcome::Unread
    } else {
        Outcome::Fine
    })
}

fn report(path: &Path, found: &Replay, out: &mut impl Write) -> std::io::Result<()> {
    let verdict = if found.is_equal() {
        "equal"
    } else if found.difference.is_some() {
        "DIFFERS"
    } else if found.texts.is_some() {
        "DIFFERS in texts only"
    } else {
        "NOT READ to the end"
    };
    writeln!(out, "{}: {verdict}, {} steps", path.display(), found.steps)?;
    for difference in &found.header {
        writeln!(out, "  header   {difference}")?;
    }
    for (name, difference) in [("decision", &found.difference), ("text", &found.texts)] {
        let Some(Difference { n, what, recorded, replayed }) = difference else { continue };
        writeln!(out, "  {name:<8} first at step {n}, {what}")?;
        writeln!(out, "    recorded {recorded}")?;
        writeln!(out, "    replayed {replayed}")?;
        writeln!(out, "  look     orchestrion show {} --at {n}", quoted(path))?;
    }
    if let Some(error) = &found.unread {
        writeln!(out, "  unread   {error}")?;
    }
    Ok(())
}
