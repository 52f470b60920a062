//! Generated files are fresh.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion::{pages, policy_file, scenario};
use orchestrion_kernel::Policy;
use orchestrion_tests::{fresh, root};

fn check(file: &str, expected: &str) {
    if let Err(stale) = fresh(&root().join(file), expected) {
        panic!("{stale}");
    }
}

#[test]
fn pages_are_fresh() {
    for (name, page) in
        [("table", pages::table(None)), ("diagram", pages::diagram()), ("claims", pages::claims())]
    {
        let told = "<!-- Generated; a test keeps it fresh. Do not edit. -->\n\n";
        check(&format!("specs/pages/{name}.md"), &format!("{told}{page}"));
    }
}

#[test]
fn policies_are_fresh() {
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        check(&format!("specs/policies/{}.yaml", policy.name), &policy_file::write(&policy));
    }
}

#[test]
fn schemas_are_fresh() {
    for (name, schema) in
        [("scenario", scenario::scenario_schema()), ("policy", policy_file::policy_schema())]
    {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        check(&format!("specs/schemas/{name}.schema.json"), &format!("{text}\n"));
    }
}

/// The diagram in the README stands between two markers.
#[test]
fn the_diagram_in_the_readme_is_fresh() {
    const FROM: &str = "<!-- diagram: generated -->\n";
    const TO: &str = "<!-- end of diagram -->";
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (before, rest) = readme.split_once(FROM).expect("README.md has the marker where the diagram begins");
    let (_, after) = rest.split_once(TO).expect("README.md has the marker where the diagram ends");
    let diagram = pages::mermaid(&Policy::hardened(), false);
    check("README.md", &format!("{before}{FROM}```mermaid\n{diagram}```\n{TO}{after}"));
}

/// Every clause that a row or a claim refers to stands in the clause pages.
#[test]
fn every_clause_that_is_referred_to_exists() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let clauses = read("specs/clauses/000.md") + &read("specs/clauses/004.md");
    let rows = orchestrion_kernel::control::table::TRANSITIONS.iter().map(|row| (row.id, row.clause));
    let claims = orchestrion_kernel::claims::CLAIMS.iter().map(|claim| (claim.id, claim.clause));
    let decisions: Vec<String> = std::fs::read_dir(root().join("specs/decisions"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    for (id, clause) in rows.chain(claims) {
        if let Some(number) = clause.strip_prefix("decision ") {
            let there = decisions.iter().any(|file| file.starts_with(&format!("{number}-")));
            assert!(there, "{id} refers to {clause}, and specs/decisions has no such page");
            continue;
        }
        // A finding is told of at the clause that it concerns.
        let named =
            if clause.starts_with('F') { format!("Finding {clause}:") } else { format!("**{clause}**") };
        assert!(clauses.contains(&named), "{id} refers to {clause}, of which the clause pages know nothing");
    }
}
