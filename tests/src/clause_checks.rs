//! What checks each clause, and the page that counts it. `specs/clauses/README.md` defines the notation.

use crate::test_index::{ClauseTest, TestKind};
use orchestrion_claims::CLAIMS;
use std::fmt::Write;

/// The line of a clause that names further claims.
const CHECKED_BY: &str = "  Checked by: ";
/// The line of a clause with the reason why nothing checks it.
const NOT_CHECKED: &str = "  Not checked: ";

/// The starts of the parts of a clause after its statement.
pub const PARTS: [&str; 5] = ["  Where:", "  Finding ", "  Not built yet:", CHECKED_BY, NOT_CHECKED];
/// The start of a generated line.
pub const GENERATED: &str = "  <a id=\"";

/// What checks a clause.
#[derive(Clone, Debug)]
pub struct ClauseChecks<'a> {
    /// The number of the clause.
    pub clause: &'a str,
    /// The line of the clause in its page, from 1.
    pub line: usize,
    /// The claims of this clause.
    pub claims: Vec<&'static str>,
    /// The claims of other clauses that the page names.
    pub further_claims: Vec<&'a str>,
    /// The tests that name the clause. A function of an oracle does not count: no test shows that walks reach it.
    pub tests: Vec<&'a ClauseTest>,
    /// The reason why nothing checks the clause.
    pub reason: Option<String>,
}

/// How the strongest check of a clause checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strongest {
    Claim,
    Test,
    None,
}

/// Returns the number of the clause that a block describes.
#[must_use]
pub fn clause_of(block: &str) -> Option<&str> {
    block.strip_prefix("**")?.split_once("**").map(|(clause, _)| clause)
}

/// Returns what checks each clause of a page.
#[must_use]
pub fn clause_checks<'a>(page: &'a str, tests: &'a [ClauseTest]) -> Vec<ClauseChecks<'a>> {
    let (mut checks, mut line) = (Vec::new(), 1);
    for block in page.split("\n\n") {
        if let Some(clause) = clause_of(block) {
            checks.push(ClauseChecks {
                clause,
                line,
                claims: CLAIMS.iter().filter(|claim| claim.clause == clause).map(|claim| claim.id).collect(),
                further_claims: part(block, CHECKED_BY).flat_map(claim_ids).collect(),
                tests: tests
                    .iter()
                    .filter(|test| test.kind == TestKind::Example && test.names(clause))
                    .collect(),
                reason: reason(block),
            });
        }
        line += block.matches('\n').count() + 2;
    }
    checks
}

/// Returns the lines of the part of a clause that begins with `start`, without the start.
fn part<'a>(block: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    let is_other =
        |line: &str| line.starts_with(GENERATED) || PARTS.iter().any(|part| line.starts_with(part));
    let mut is_part = false;
    block.lines().filter_map(move |line| {
        let first = line.strip_prefix(start);
        is_part = first.is_some() || is_part && !is_other(line);
        first.or_else(|| is_part.then(|| line.trim_start()))
    })
}

fn reason(block: &str) -> Option<String> {
    let lines: Vec<&str> = part(block, NOT_CHECKED).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

fn claim_ids(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ' ', '.']).filter(|word| word.starts_with("C-"))
}

impl ClauseChecks<'_> {
    fn strongest(&self) -> Strongest {
        if !self.claims.is_empty() || !self.further_claims.is_empty() {
            Strongest::Claim
        } else if self.tests.is_empty() {
            Strongest::None
        } else {
            Strongest::Test
        }
    }

    /// Returns what is wrong with the checks of the clause, and the remedy.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        let clause = self.clause;
        let duplicate = self.further_claims.iter().find(|claim| self.claims.contains(claim));
        match (&self.reason, self.strongest()) {
            (None, Strongest::None) => Some(format!(
                "{clause} has no check: expected a claim, a test or a reason, found none; name {clause} in the \
                 documentation of a test that fails without it, or add \"Checked by: C-…\" or \"Not checked: <reason>\""
            )),
            (Some(_), Strongest::Claim | Strongest::Test) => Some(format!(
                "{clause} has a reason and a check: expected one of them, found {}; remove the line \"Not checked:\"",
                self.named().join(", ")
            )),
            (Some(reason), Strongest::None) if !reason.ends_with('.') => {
                Some(format!("{clause} has no full reason: expected a sentence, found {reason:?}"))
            }
            _ => duplicate.map(|claim| {
                format!("{clause} names {claim} twice: expected a claim of another clause; remove it from \"Checked by:\"")
            }),
        }
    }

    /// Returns the references of all checks.
    fn named(&self) -> Vec<String> {
        let claims = self.claims.iter().chain(&self.further_claims).map(|claim| (*claim).to_owned());
        claims.chain(self.tests.iter().map(|test| test.reference())).collect()
    }
}

/// Returns the page that counts the checks. `pages` are pairs of file name and page.
#[must_use]
pub fn checks_page(pages: &[(&str, String)], tests: &[ClauseTest]) -> String {
    let mut text = String::from(
        "# Checks of the clauses\n\n\
         What checks the [clauses](../clauses/README.md) of each document. A clause counts once: for a claim, else for a test, \
         else for a reason.\nA claim holds in every state of the models. A test shows an example. A reason says why neither can \
         exist.\n\n\
         | document | clauses | checked by a claim | by a test only | with a reason |\n|---|---:|---:|---:|---:|\n",
    );
    let (mut totals, mut reasons) = ([0; 4], String::new());
    for (file, page) in pages {
        let checks = clause_checks(page, tests);
        let count = |kind| checks.iter().filter(|check| check.strongest() == kind).count();
        let [claim, test, reason] = [Strongest::Claim, Strongest::Test, Strongest::None].map(count);
        let counts = [checks.len(), claim, test, reason];
        let name = file.trim_end_matches(".md");
        write_row(&mut text, &format!("[{name}](../clauses/{file})"), &counts);
        totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        for check in &checks {
            if let Some(reason) = &check.reason {
                let clause = check.clause;
                let _ = writeln!(reasons, "| [{clause}](../clauses/{file}#{clause}) | {reason} |");
            }
        }
    }
    write_row(&mut text, "all", &totals);
    text + "\n## Clauses with a reason\n\n| clause | reason |\n|---|---|\n" + &reasons
}

fn write_row(text: &mut String, name: &str, counts: &[usize]) {
    let cells: Vec<String> = counts.iter().map(usize::to_string).collect();
    let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
}
