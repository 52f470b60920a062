//! `context explain`: why each item is chosen or not, and what it would take.

mod json;

use super::solve::unsolved;
use super::{ProblemArgs, name, names, outcome, style, tokens};
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use anstyle::Style;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_report::show::{grouped, sanitize, wrap};
use orchestrion_selection::{
    Alternative, ExclusionReason, Explainer, Explanation, NamedProblem, NextImprovement, Reason,
    RequiredBudget,
};
use std::io::{self, Write};

/// So many items are named in one reason.
const NAMED_MAX: usize = 8;
/// The widest that ids may make their column.
const ID_COLUMNS_MAX: usize = 32;

/// Say of each item why it is chosen or not, and what one more token would bring.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context explain problem.json              each item in a line: in or out, and why
  orchestrion context explain problem.json note-9       all about one: what comes and goes with it, and from which budget
                                                        on it would be chosen
  orchestrion context explain problem.json 7 --format json
  orchestrion context explain talk.ndjson --step 9 12   item 12 of a trace, for the module that is waited for after step 9

Nothing is estimated. Of an item that is named, the problem is solved again with the item pinned, or forbidden; and again at
other budgets, for the smallest one at which it is in the best choice. That is not always found: a larger budget may
favour other items first, and after 400 searches only a lower end is given.")]
pub(super) struct Args {
    #[command(flatten)]
    about: ProblemArgs,
    /// The items; without one, each in a line.
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// How the account is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What is to be told.
struct ExplainReport<'a> {
    named: &'a NamedProblem,
    items: Vec<Explanation>,
    /// Whether the items were named, and so looked at closely.
    closely: bool,
    next_token: u64,
    raise: Option<NextImprovement>,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let named = args.about.read()?;
    let asked = args.items.iter().map(|item| position(&named, item)).collect::<Result<Vec<_>>>()?;
    let mut account = Explainer::new(&named, args.about.limits()).map_err(unsolved)?;
    let reasons = account.reasons();
    let items = if asked.is_empty() {
        let all = named.ids.len();
        let plain = |(item, reason)| Explanation { item, reason, otherwise: None, budget: None };
        reasons.into_iter().take(all).enumerate().map(plain).collect()
    } else {
        let explained = asked.iter().map(|item| account.explain(*item, reasons[*item].clone()));
        explained.collect::<Result<_, _>>().map_err(unsolved)?
    };
    let next_token = account.next_token().map_err(unsolved)?;
    let raise = account.raise().map_err(unsolved)?;
    let told = ExplainReport { named: &named, items, closely: !asked.is_empty(), next_token, raise };
    let outcome = outcome(account.is_cut);
    let mut out = io::BufWriter::new(files::out());
    match args.format {
        Format::Json => told.json(&account, &mut out),
        Format::Human => told.human(&account, global.quiet, outcome, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(outcome)
}

fn position(named: &NamedProblem, item: &str) -> Result<usize> {
    named.position(item).ok_or_else(|| {
        miette!(
            help = "items are called by their `id`; `explain` without an item lists all",
            "there is no item `{}` in the problem",
            sanitize(item)
        )
    })
}

impl ExplainReport<'_> {
    fn human(
        &self,
        account: &Explainer<'_>,
        quiet: bool,
        outcome: ExitStatus,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.closely {
            self.items.iter().try_for_each(|item| self.close(item, account, out))?;
        } else {
            self.lines(out)?;
        }
        if !quiet {
            self.budget(account, out)?;
        }
        self.last_line(account, outcome, out)
    }

    /// Each item in a line.
    fn lines(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = |explained: &Explanation| self.name(explained.item).chars().count();
        let width = self.items.iter().map(columns).max().unwrap_or_default().min(ID_COLUMNS_MAX);
        let at = width + 34;
        for explained in &self.items {
            let candidate = &self.named.problem.candidates()[explained.item];
            let (word, style) = in_or_out(&explained.reason);
            let (utility, cost) = (grouped(candidate.utility), grouped(candidate.cost));
            write!(
                out,
                "  {style}{word:<3}{style:#}  {:<width$}  {utility:>11} {cost:>9}  ",
                self.name(explained.item)
            )?;
            let lines = wrap(&self.because(explained), files::columns().saturating_sub(at).max(24));
            for (n, line) in lines.iter().enumerate() {
                writeln!(out, "{:indent$}{line}", "", indent = if n == 0 { 0 } else { at })?;
            }
        }
        writeln!(out)
    }

    /// All about one item.
    fn close(
        &self,
        explained: &Explanation,
        account: &Explainer<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let candidate = &self.named.problem.candidates()[explained.item];
        let (word, style) = in_or_out(&explained.reason);
        let (utility, cost) = (grouped(candidate.utility), tokens(candidate.cost));
        let style = style.bold();
        writeln!(out, "{}: {style}{word}{style:#}, utility {utility}, {cost}", self.name(explained.item))?;
        entry("why", &self.because(explained), out)?;
        if let Some(change) = &explained.otherwise {
            let is_in = matches!(explained.reason, Reason::In { .. });
            entry(if is_in { "without it" } else { "with it" }, &self.change(change, account), out)?;
        }
        if let Some(budget) = explained.budget {
            let here = self.named.problem.budget();
            let more =
                |at: u64| format!("{}, {} more than now", tokens(at), grouped(at.saturating_sub(here)));
            let told = match budget {
                RequiredBudget::Chosen(at) => format!("first chosen at {}", more(at)),
                RequiredBudget::Tied(at) if at == here => {
                    "a choice as good has it; the one taken costs less, or comes first".to_owned()
                }
                RequiredBudget::Tied(at) => format!(
                    "at {} a choice as good has it; one that costs less, or comes first, is taken",
                    more(at)
                ),
                RequiredBudget::NotBelow(at) => {
                    format!("not chosen below {}; not looked for further", more(at))
                }
            };
            entry("budget", &told, out)?;
        }
        writeln!(out)
    }

    fn change(&self, change: &Alternative, account: &Explainer<'_>) -> String {
        let less = account.answer.selection.utility.saturating_sub(change.utility);
        let less = if less == 0 { "as good".to_owned() } else { format!("{} less", grouped(less)) };
        let mut told = format!("utility {}, {less}", grouped(change.utility));
        for (items, verb) in [(&change.loses, "out"), (&change.gains, "in")] {
            if !items.is_empty() {
                told.push_str(&format!("; {verb}: {}", names(self.named, items, NAMED_MAX)));
            }
        }
        told
    }

    /// What another budget would bring.
    fn budget(&self, account: &Explainer<'_>, out: &mut impl Write) -> io::Result<()> {
        let next = match self.next_token {
            0 => "would bring nothing".to_owned(),
            utility => format!("would bring {}", grouped(utility)),
        };
        writeln!(out, "one more token {next}")?;
        match self.raise {
            None => writeln!(out, "no budget has more utility"),
            Some(NextImprovement { budget, utility }) => writeln!(
                out,
                "{} is the smallest budget that has more utility: {} more for {}",
                grouped(budget),
                grouped(utility.saturating_sub(account.answer.selection.utility)),
                tokens(budget - self.named.problem.budget())
            ),
        }?;
        writeln!(out)
    }

    fn last_line(
        &self,
        account: &Explainer<'_>,
        outcome: ExitStatus,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let selection = &account.answer.selection;
        let style = style(!account.is_cut).bold();
        let word = if account.is_cut { "CUT SHORT" } else { "EXPLAINED" };
        let (utility, cost) = (grouped(selection.utility), grouped(selection.cost));
        let (budget, code) = (tokens(self.named.problem.budget()), outcome.code());
        let (chosen, all) = (self.named.names(&selection.selected).len() as u64, self.named.ids.len() as u64);
        let (chosen, all) = (grouped(chosen), grouped(all));
        writeln!(
            out,
            "{style}{word}{style:#}: {chosen} of {all} items, utility {utility} for {cost} of {budget}. exit {code}"
        )
    }

    fn name(&self, item: usize) -> String {
        name(self.named, item)
    }

    fn because(&self, Explanation { item, reason, .. }: &Explanation) -> String {
        match reason {
            Reason::In { is_pinned, needed_by } => {
                let pinned = is_pinned.then(|| "pinned".to_owned());
                let own = (self.named.problem.candidates()[*item].utility > 0)
                    .then(|| "for its utility".to_owned());
                let group = self.named.groups[*item]
                    .as_ref()
                    .map(|group| format!("in group {}", sanitize(&group.to_string())));
                let needed = (!needed_by.is_empty())
                    .then(|| format!("needed by {}", names(self.named, needed_by, NAMED_MAX)));
                let why: Vec<String> = [pinned, needed, own, group].into_iter().flatten().collect();
                if why.is_empty() { "first of choices that are as good".to_owned() } else { why.join("; ") }
            }
            Reason::Out(ExclusionReason::Forbidden) => "forbidden".to_owned(),
            Reason::Out(ExclusionReason::NeedsForbidden(other)) => {
                format!("needs {}, which is forbidden", self.name(*other))
            }
            Reason::Out(ExclusionReason::OverBudget { needs }) => {
                let budget = self.named.problem.budget();
                format!(
                    "with all it needs, and what is pinned, {}; there are {}",
                    tokens(*needs),
                    grouped(budget)
                )
            }
            Reason::Out(ExclusionReason::Outweighed { cost, utility: 0 }) => {
                format!("would bring nothing for {} more", tokens(*cost))
            }
            Reason::Out(ExclusionReason::Outweighed { cost, utility }) => {
                format!("would bring {} for {} more; others are worth more", grouped(*utility), tokens(*cost))
            }
        }
    }
}

fn in_or_out(reason: &Reason) -> (&'static str, Style) {
    match reason {
        Reason::In { .. } => ("in", style(true)),
        Reason::Out(_) => ("out", style(false)),
    }
}

fn entry(word: &str, told: &str, out: &mut impl Write) -> io::Result<()> {
    const AT: usize = 14;
    let lines = wrap(told, files::columns() - AT);
    lines
        .iter()
        .enumerate()
        .try_for_each(|(n, line)| writeln!(out, "  {:<12}{line}", if n == 0 { word } else { "" }))
}
