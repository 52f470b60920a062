//! Generated links between clauses, transitions, claims, golden traces and tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::clause_checks::{GENERATED, clause_of};
use crate::root;
use crate::test_index::{ClauseTest, TestKind, names};
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Event;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_trace::Reader;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The maximum number of golden traces listed under a clause.
const GOLDENS_NAMED_MAX: usize = 3;

/// Returns the transitions in golden traces, each with the sorted names of these traces.
#[must_use]
pub fn rows_taken() -> BTreeMap<&'static str, Vec<String>> {
    let mut taken: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for path in files(&root().join("specs/scenarios"), "ndjson") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let reader = Reader::new(BufReader::new(File::open(&path).unwrap()), &name);
        let reader = reader.unwrap_or_else(|error| {
            panic!("{error}\nrewrite the golden traces first: cargo test -p orchestrion-tests --test goldens")
        });
        for step in reader {
            for event in step.unwrap().events {
                if let Event::Transitioned { row } = event {
                    let by = taken.entry(row.transition().id).or_default();
                    if by.last() != Some(&name) {
                        by.push(name.clone());
                    }
                }
            }
        }
    }
    taken
}

/// Returns the name and the text of every scenario. A scenario that names a clause shows it: its golden trace changes without the rule.
#[must_use]
pub fn scenarios() -> Vec<(String, String)> {
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).unwrap())
    };
    files(&root().join("specs/scenarios"), "yaml").into_iter().map(read).collect()
}

/// Returns the sorted files of a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort_unstable();
    paths
}

/// Returns a clause page with an anchor and links to transitions, claims, golden traces and tests at the end of each clause.
#[must_use]
pub fn clause_page(
    page: &str,
    taken: &BTreeMap<&'static str, Vec<String>>,
    scenarios: &[(String, String)],
    tests: &[ClauseTest],
) -> String {
    let bare: String = page.split_inclusive('\n').filter(|line| !line.starts_with(GENERATED)).collect();
    let mut linked = String::new();
    for (i, block) in bare.split("\n\n").enumerate() {
        if i > 0 {
            linked.push_str("\n\n");
        }
        let (text, end) = block.strip_suffix('\n').map_or((block, ""), |text| (text, "\n"));
        linked.push_str(text);
        if let Some(clause) = clause_of(text) {
            linked.push('\n');
            linked.push_str(&links(clause, text, taken, scenarios, tests));
        }
        linked.push_str(end);
    }
    linked
}

fn links(
    clause: &str,
    block: &str,
    taken: &BTreeMap<&'static str, Vec<String>>,
    scenarios: &[(String, String)],
    tests: &[ClauseTest],
) -> String {
    let rows: Vec<&str> = TRANSITIONS
        .iter()
        .filter(|row| {
            row.clause == clause
                || block.contains(&format!("Finding {}:", row.clause))
                || names(block, row.id)
        })
        .map(|row| row.id)
        .collect();
    let claims = CLAIMS.iter().filter(|claim| claim.clause == clause).map(|claim| claim.id);
    let mut goldens: Vec<&String> = rows.iter().filter_map(|row| taken.get(row)).flatten().collect();
    goldens.sort_unstable();
    goldens.dedup();
    let naming: Vec<&String> =
        scenarios.iter().filter(|(_, text)| names(text, clause)).map(|(name, _)| name).collect();
    goldens.retain(|golden| !naming.contains(golden));
    goldens.splice(0..0, naming);
    let more = goldens.len().saturating_sub(GOLDENS_NAMED_MAX);
    let tests_of = |kind| tests.iter().filter(move |test| test.kind == kind && test.names(clause));

    let to_row = |row: &&str| format!("[{row}](../pages/table.md#{row})");
    let to_claim = |claim: &str| format!("[{claim}](../pages/claims.md#{claim})");
    let to_golden = |name: &&String| format!("[{name}](../scenarios/{name}.yaml)");
    let to_test = |test: &ClauseTest| format!("[{}](../../{})", test.reference(), test.file);
    let mut parts = Vec::new();
    let mut part = |title: &str, links: Vec<String>| {
        if !links.is_empty() {
            parts.push(format!("{title} {}", links.join(", ")));
        }
    };
    part("rows", rows.iter().map(to_row).collect());
    part("claims", claims.map(to_claim).collect());
    let mut golden_links: Vec<String> = goldens.iter().take(GOLDENS_NAMED_MAX).map(to_golden).collect();
    golden_links.extend((more > 0).then(|| format!("{more} more")));
    part("golden traces", golden_links);
    part("tests", tests_of(TestKind::Example).map(to_test).collect());
    part("oracle", tests_of(TestKind::Oracle).map(to_test).collect());
    let links = if parts.is_empty() { String::new() } else { format!("Links: {}.", parts.join("; ")) };
    format!("{GENERATED}{clause}\"></a>{links}")
}

/// Returns the page of the table or of the claims with an anchor in each row and a link to its clause. `clauses` are
/// pairs of file name and page.
#[must_use]
pub fn table_page(page: &str, clauses: &[(&str, String)], decisions: &[String]) -> String {
    let mut linked = String::new();
    for line in page.lines() {
        let mut cells = line.split(" | ");
        match (cells.next().and_then(|cell| cell.strip_prefix("| ")), cells.next()) {
            (Some(id), Some(clause)) if known(id) => {
                let rest: Vec<&str> = cells.collect();
                let _ = write!(
                    linked,
                    "| <a id=\"{id}\"></a>{id} | {} | ",
                    to_clause(clause, clauses, decisions)
                );
                linked.push_str(&rest.join(" | "));
            }
            _ => linked.push_str(line),
        }
        linked.push('\n');
    }
    linked
}

fn known(id: &str) -> bool {
    TRANSITIONS.iter().any(|row| row.id == id) || CLAIMS.iter().any(|claim| claim.id == id)
}

fn to_clause(clause: &str, pages: &[(&str, String)], decisions: &[String]) -> String {
    if let Some(number) = clause.strip_prefix("decision ") {
        let file = decisions.iter().find(|file| file.starts_with(number));
        return file.map_or_else(|| clause.to_string(), |file| format!("[{clause}](../decisions/{file})"));
    }
    for (file, page) in pages {
        for block in page.split("\n\n") {
            let Some(number) = clause_of(block) else { continue };
            if number == clause || block.contains(&format!("Finding {clause}:")) {
                return format!("[{clause}](../clauses/{file}#{number})");
            }
        }
    }
    clause.to_string()
}
