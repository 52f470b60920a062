//! The page of the mutants: how many each judge detects, and why those that nothing detects are left.

use super::list::MutantName;
use super::outcome::{Judged, Outcome};
use crate::judges::Judge;
use orchestrion_yaml::{ReadError, Source};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Why nothing detects a mutant.
#[derive(Clone, Debug, Deserialize)]
pub struct Explanation {
    /// The mutant.
    #[serde(flatten)]
    mutant: ExplainedName,
    /// The reason, as a sentence.
    why: String,
}

/// A name whose position may be left out.
#[derive(Clone, Debug, Deserialize)]
struct ExplainedName {
    file: String,
    change: String,
    code: String,
    #[serde(default = "first")]
    position: u32,
}

const fn first() -> u32 {
    1
}

/// Reads the explanations of missed mutants.
///
/// # Errors
/// The file cannot be read.
pub fn read_explanations(path: &Path) -> Result<BTreeMap<MutantName, String>, ReadError> {
    let explanations: Vec<Explanation> = Source::read(path)?.parse()?;
    Ok(explanations
        .into_iter()
        .map(|Explanation { mutant: ExplainedName { file, change, code, position }, why }| {
            (MutantName { file, change, code, position }, why)
        })
        .collect())
}

/// Numbers of mutants by outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    detected: [usize; 4],
    took_too_long: usize,
    missed: usize,
    not_tried: usize,
    not_compiling: usize,
}

impl Counts {
    fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut counts = Self::default();
        for Judged { outcome, .. } in judged {
            match outcome {
                Outcome::Detected { by, .. } => counts.detected[column(*by)] += 1,
                Outcome::TookTooLong { .. } => counts.took_too_long += 1,
                Outcome::Missed { .. } => counts.missed += 1,
                Outcome::NotTried => counts.not_tried += 1,
                Outcome::NotCompiling => counts.not_compiling += 1,
            }
        }
        counts
    }

    /// Mutants that ran.
    fn tried(&self) -> usize {
        self.detected.iter().sum::<usize>() + self.took_too_long + self.missed
    }

    fn row(&self, name: &str) -> String {
        let [kernel_tests, golden_traces, check, oracle] = self.detected;
        format!(
            "| {name} | {} | {kernel_tests} | {golden_traces} | {check} | {oracle} | {} | {} | {} | {} |\n",
            self.tried(),
            self.took_too_long,
            self.missed,
            self.not_tried,
            self.not_compiling
        )
    }
}

/// The position of a judge in the order in which they are asked.
const fn column(judge: Judge) -> usize {
    match judge {
        Judge::KernelTests => 0,
        Judge::GoldenTraces => 1,
        Judge::Check => 2,
        Judge::Oracle => 3,
    }
}

/// The sentence with the counts.
#[must_use]
pub fn summary(judged: &[Judged], explained: &BTreeMap<MutantName, String>) -> String {
    let counts = Counts::of(judged);
    let per_mille = counts.missed * 1000 / counts.tried().max(1);
    let summary = format!(
        "{} mutants ran; nothing detects {} ({}.{} %), of which {} have no explanation",
        counts.tried(),
        counts.missed,
        per_mille / 10,
        per_mille % 10,
        unexplained(judged, explained).count()
    );
    let is_open = |judged: &&Judged| matches!(&judged.outcome, Outcome::Missed { judges } if judges.len() < Judge::ALL.len());
    match judged.iter().filter(is_open).count() {
        0 => summary,
        open => format!("{summary}; not every judge was asked about {open}"),
    }
}

/// Whether at most one of twenty mutants is missed, and each missed one is explained.
#[must_use]
pub fn is_as_expected(judged: &[Judged], explained: &BTreeMap<MutantName, String>) -> bool {
    let counts = Counts::of(judged);
    counts.missed * 20 <= counts.tried() && unexplained(judged, explained).next().is_none()
}

fn missed(judged: &[Judged]) -> impl Iterator<Item = &MutantName> {
    let is_missed = |judged: &&Judged| matches!(judged.outcome, Outcome::Missed { .. });
    judged.iter().filter(is_missed).map(|judged| &judged.mutant)
}

/// The missed mutants without an explanation.
pub fn unexplained<'a>(
    judged: &'a [Judged],
    explained: &'a BTreeMap<MutantName, String>,
) -> impl Iterator<Item = &'a MutantName> {
    missed(judged).filter(|name| !explained.contains_key(*name))
}

/// The page.
#[must_use]
pub fn page(judged: &[Judged], explained: &BTreeMap<MutantName, String>) -> String {
    let mut page = String::from("# Mutants\n\n");
    let _ = writeln!(
        page,
        "Made by `cargo-mutants` from the code of the kernel and the optimizer, and switched on one at a time by `orchestrion-mutants`. \
         {}. The judges are asked in the order of the columns, until one fails.\n",
        summary(judged, explained)
    );
    page.push_str(
        "| file | mutants | kernel tests | golden traces | check | oracle | endless | missed | not tried | not compiling |\n",
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    let mut by_file: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for one in judged {
        by_file.entry(one.mutant.file.as_str()).or_default().push(one);
    }
    for (file, of_file) in &by_file {
        page.push_str(&Counts::of(of_file.iter().copied()).row(file));
    }
    page.push_str(&Counts::of(judged).row("all"));
    page.push_str("\n`Endless`: a run does not end in time. `Not tried`: no switch can be written around the code, or the function must be `const`.\n\n");
    page.push_str("Missed mutants:\n\n| mutant | why |\n|---|---|\n");
    let mut names: Vec<&MutantName> = missed(judged).collect();
    names.sort();
    for name in names {
        let why = explained.get(name).map_or("", String::as_str);
        let _ = writeln!(page, "| {} | {why} |", name.to_string().replace('|', "\\|"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(change: &str) -> MutantName {
        MutantName {
            file: "kernel/src/a.rs".into(),
            change: change.into(),
            code: "a | b".into(),
            position: 1,
        }
    }

    /// 20 mutants, of which nothing detects the first ones.
    fn judged(missed: usize) -> Vec<Judged> {
        let outcome = |position| {
            if position < missed {
                Outcome::Missed { judges: Judge::ALL.to_vec() }
            } else {
                Outcome::Detected { by: Judge::Check, names: vec!["C-01".into()] }
            }
        };
        let one =
            |position: usize| Judged { mutant: name(&position.to_string()), outcome: outcome(position) };
        (0..20).map(one).collect()
    }

    #[test]
    fn one_of_twenty_may_be_missed_with_a_reason() {
        let none = BTreeMap::new();
        let explained = BTreeMap::from([(name("0"), "No code calls it.".to_owned())]);
        assert!(is_as_expected(&judged(0), &none));
        assert!(!is_as_expected(&judged(1), &none));
        assert!(is_as_expected(&judged(1), &explained));
        assert!(!is_as_expected(&judged(2), &explained));
        assert_eq!(
            summary(&judged(2), &explained),
            "20 mutants ran; nothing detects 2 (10.0 %), of which 1 have no explanation"
        );
        let mut open = judged(1);
        open[0].outcome = Outcome::Missed { judges: vec![Judge::Check] };
        assert_eq!(
            summary(&open, &explained),
            "20 mutants ran; nothing detects 1 (5.0 %), of which 0 have no explanation; not every judge was asked about 1"
        );
        let page = page(&judged(1), &explained);
        assert!(page.contains("| kernel/src/a.rs | 20 | 0 | 0 | 19 | 0 | 0 | 1 | 0 | 0 |"), "{page}");
        assert!(page.contains("| kernel/src/a.rs: 0: `a \\| b` | No code calls it. |"), "{page}");
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
    }

    #[test]
    fn page_is_up_to_date() {
        let recorded = std::fs::read_to_string(root().join("tests/faults/mutants.ndjson")).unwrap();
        let recorded: Vec<Judged> =
            recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(recorded.iter().map(|judged| &judged.mutant).is_sorted());
        let explained = read_explanations(&root().join("tests/faults/missed.yaml")).unwrap();
        let path = root().join("specs/pages/mutants.md");
        let expected = page(&recorded, &explained);
        if std::fs::read_to_string(&path).unwrap_or_default() != expected {
            std::fs::write(&path, expected).unwrap();
            panic!("specs/pages/mutants.md was stale; it is rewritten: read the difference and commit it");
        }
    }

    #[test]
    fn explained_code_exists() {
        let root = root();
        let explanations = read_explanations(&root.join("tests/faults/missed.yaml")).unwrap();
        assert!(!explanations.is_empty());
        for name in explanations.keys() {
            let source = std::fs::read_to_string(root.join(&name.file)).unwrap();
            assert!(source.lines().any(|line| line.trim() == name.code), "{name}");
        }
    }
}
