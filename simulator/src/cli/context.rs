//! `context`: which items a module is shown, why, and what another budget would buy.

mod curve;
mod explain;
mod solve;
mod trace;
mod verify;

use super::{ExitStatus, GlobalArgs};
use anstyle::{AnsiColor, Style};
use miette::{Result, miette};
use orchestrion_optimizer::{SearchLimits, SolveStatus};
use orchestrion_report::show::{grouped, sanitize};
use orchestrion_selection::NamedProblem;
use std::path::PathBuf;

/// Choose what a module is shown within a budget of tokens: exactly, with what each item needs. Explain the choice, and draw what
/// other budgets would buy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json            the best choice, and that there is no better one
  orchestrion context explain problem.json          why each item is in or out
  orchestrion context curve problem.json --svg curve.svg
  orchestrion context solve talk.ndjson --step 9    what the module that is asked in step 9 of a trace is shown
  orchestrion context verify problem.json proof.json    whether a certificate proves a choice the best

A problem, in JSON; everything but budget, items, id, utility and cost may be left out:
  {\"budget\": 100, \"reserved\": 20, \"items\": [
    {\"id\": \"policy\",  \"utility\": 0,  \"cost\": 10, \"mark\": \"pinned\"},
    {\"id\": \"call\",    \"utility\": 0,  \"cost\": 15, \"group\": \"lookup\"},
    {\"id\": \"result\",  \"utility\": 60, \"cost\": 30, \"group\": \"lookup\"},
    {\"id\": \"summary\", \"utility\": 40, \"cost\": 20, \"deps\": [\"policy\"]},
    {\"id\": \"draft\",   \"utility\": 9,  \"cost\": 5,  \"mark\": \"forbidden\"}]}

An item is shown only with all its deps. Items of a group come together or not at all. What is reserved is kept for the
answer. Of choices with the most utility the one of least cost is taken, and of these the one whose list of ids is first:
numbers before texts, texts by their bytes. `orchestrion export schema --of problem` describes every field.

Of a trace, `--step N` takes what is known after that step, and `--module` somebody else than who is waited for. Items have
their numbers and keys; the headings under which they stand take tokens too, and are counted with the items.

Exit codes: 0 solved, or verified; 1 not proven by the certificate; 2 no problem, no certificate, or no answer; 3 the search
was cut short, or a certificate would be too long.")]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Solve(solve::Args),
    Explain(explain::Args),
    Curve(curve::Args),
    Verify(verify::Args),
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    match &args.verb {
        Verb::Solve(args) => solve::run(args, global),
        Verb::Explain(args) => explain::run(args, global),
        Verb::Curve(args) => curve::run(args, global),
        Verb::Verify(args) => verify::run(args, global),
    }
}

/// What every verb of `context` is about.
#[derive(Debug, clap::Args)]
struct ProblemArgs {
    /// The problem: a JSON file, or a trace.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    /// Of a trace: the step after which the context is given.
    #[arg(long, value_name = "STEP")]
    step: Option<u64>,
    /// Of a trace: the module that it is given to. Left out: the one that is waited for after that step.
    #[arg(long, value_name = "MODULE")]
    module: Option<String>,
    /// Of a trace: what counts the tokens, bytes, cl100k_base or o200k_base. Left out: what its policy wants.
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// So many tokens in the place of the budget of the problem; what is reserved is among them.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(..=1 << 62))]
    budget: Option<u64>,
    /// Cut a search short after so many nodes; its answer is then given with a proven bound. The same on every machine.
    #[arg(long, value_name = "NUMBER", default_value_t = SearchLimits::default().nodes)]
    max_nodes: u64,
}

impl ProblemArgs {
    fn read(&self) -> Result<NamedProblem> {
        if trace::is_trace(&self.problem) {
            return trace::read(self);
        }
        let given = [("step", self.step.is_some()), ("module", self.module.is_some())];
        let given = given.into_iter().chain([("tokenizer", self.tokenizer.is_some())]);
        if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(miette!(
                help = "leave it out, or name a trace, as `orchestrion run` writes it",
                "--{option} is about a trace, and {} is none",
                sanitize(&self.problem.display().to_string())
            ));
        }
        Ok(NamedProblem::read(&self.problem, self.budget)?)
    }

    const fn limits(&self) -> SearchLimits {
        SearchLimits { nodes: self.max_nodes }
    }
}

/// The name of an item as a terminal may get it, with what it is about.
fn name(named: &NamedProblem, item: usize) -> String {
    let parts = [named.ids.get(item).map(ToString::to_string), named.keys.get(item).cloned()];
    sanitize(&parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// The names of some items, of which so many are told and the others counted. Headings have none.
fn names(named: &NamedProblem, items: &[usize], most: usize) -> String {
    let items: Vec<usize> = items.iter().copied().filter(|item| *item < named.ids.len()).collect();
    let mut told: Vec<String> = items.iter().take(most).map(|item| name(named, *item)).collect();
    if items.len() > most {
        told.push(format!("and {} more", grouped((items.len() - most) as u64)));
    }
    told.join(", ")
}

/// A count of tokens.
fn tokens(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "token" } else { "tokens" })
}

/// A part of a whole, in percent with two places, rounded down.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// How a status is told.
const fn status_name(status: SolveStatus) -> &'static str {
    match status {
        SolveStatus::Optimal => "optimal",
        SolveStatus::Bounded => "bounded",
    }
}

/// A search that was cut short leaves something open.
const fn outcome(is_cut: bool) -> ExitStatus {
    if is_cut { ExitStatus::Incomplete } else { ExitStatus::Success }
}

const fn style(is_good: bool) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(if is_good {
        AnsiColor::Green
    } else {
        AnsiColor::Yellow
    })))
}
