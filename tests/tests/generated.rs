//! Generated files are up to date.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion::cli::report_schemas;
use orchestrion_kernel::Policy;
use orchestrion_lint::parse;
use orchestrion_project::{project_schema, scope_file};
use orchestrion_report::pages;
use orchestrion_scenario::policy_file;
use orchestrion_tests::clause_checks::checks_page;
use orchestrion_tests::{claims_page, ensure_up_to_date, root, test_index, traceability};

/// Checks generated files, by path from the root. Rewrites every stale one.
fn check(files: impl IntoIterator<Item = (String, String)>) {
    let stale: Vec<String> = files
        .into_iter()
        .filter_map(|(file, text)| ensure_up_to_date(&root().join(file), &text).err())
        .collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

/// The clause pages with their file names.
fn clause_pages() -> Vec<(&'static str, String)> {
    let read = |file| std::fs::read_to_string(root().join("specs/clauses").join(file)).unwrap();
    ["000.md", "001.md", "002.md", "003.md", "004.md"].map(|file| (file, read(file))).into()
}

/// The file names of the decisions.
fn decisions() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("specs/decisions")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn pages_are_up_to_date() {
    let (clauses, decisions) = (clause_pages(), decisions());
    let linked = |page: &str| traceability::table_page(page, &clauses, &decisions);
    let faults = std::fs::read_to_string(root().join("specs/pages/faults.md")).unwrap();
    let statistics = claims_page::read_statistics().unwrap();
    let stale = claims_page::stale_claims(&statistics);
    assert!(stale.is_empty(), "{}; record them: {}", stale.join(", "), claims_page::RECORD);
    let notice = "<!-- Generated; a test keeps this page up to date. Do not edit. -->\n\n";
    check(
        [
            ("table", linked(&pages::table(None))),
            ("diagram", pages::diagram()),
            ("claims", claims_page::claims_page(&linked(&pages::claims()), &statistics, &faults)),
            ("clauses", checks_page(&clauses, &test_index::tests())),
            ("findings", pages::findings(&clauses)),
            ("state", pages::state()),
            ("claim-fields", orchestrion_user_claims::fields_page()),
        ]
        .map(|(name, page)| (format!("specs/pages/{name}.md"), format!("{notice}{page}"))),
    );
}

/// Only the lines with links are generated in the clause pages.
#[test]
fn clause_links_are_up_to_date() {
    let (taken, scenarios, tests) =
        (traceability::rows_taken(), traceability::scenarios(), test_index::tests());
    check(clause_pages().into_iter().map(|(file, page)| {
        (format!("specs/clauses/{file}"), traceability::clause_page(&page, &taken, &scenarios, &tests))
    }));
}

#[test]
fn policies_are_up_to_date() {
    check(
        [Policy::hardened(), Policy::as_drawn()]
            .map(|policy| (format!("specs/policies/{}.yaml", policy.name), policy_file::write(&policy))),
    );
}

#[test]
fn schemas_are_up_to_date() {
    let schemas = [
        ("scenario", orchestrion_scenario::scenario_schema()),
        ("policy", policy_file::policy_schema()),
        ("project", project_schema()),
        ("scope", scope_file::scope_schema()),
        ("machine", parse::machine_schema()),
        ("problem", orchestrion_selection::problem_schema()),
        ("certificate", orchestrion_selection::certificate_schema()),
        ("stdio", orchestrion_stdio::protocol::schema()),
        ("stdio-many", orchestrion_stdio::protocol::many_schema()),
        ("network", orchestrion_network::network_schema()),
        ("task", orchestrion_network::task_schema()),
        ("claims", orchestrion_user_claims::claim_schema()),
        ("experiment", orchestrion_experiment::experiment_schema()),
        ("exact-report", report_schemas::exact()),
        ("experiment-report", report_schemas::experiment()),
        ("check-report", report_schemas::check()),
        ("claim-lint-report", report_schemas::claim_lint()),
        ("compare-report", report_schemas::compare()),
        ("diff-report", report_schemas::diff()),
        ("lint-report", report_schemas::lint()),
        ("runs-report", report_schemas::runs()),
        ("test-report", report_schemas::test()),
        ("trace", orchestrion_trace::schema::trace_schema()),
    ];
    check(schemas.map(|(name, schema)| {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        (format!("specs/schemas/{name}.schema.json"), format!("{text}\n"))
    }));
}

/// Every clause of a transition or a claim is in the clause pages, or is a decision.
#[test]
fn referenced_clauses_exist() {
    let clauses: String = clause_pages().into_iter().map(|(_, page)| page).collect();
    let decisions = decisions();
    let rows = orchestrion_kernel::control::table::TRANSITIONS.iter().map(|row| (row.id, row.clause));
    let claims = orchestrion_claims::CLAIMS.iter().map(|claim| (claim.id, claim.clause));
    for (id, clause) in rows.chain(claims) {
        let exists = match clause.strip_prefix("decision ") {
            Some(number) => decisions.iter().any(|file| file.starts_with(&format!("{number}-"))),
            // A finding is part of the clause that it concerns.
            None if clause.starts_with('F') => clauses.contains(&format!("Finding {clause}:")),
            None => clauses.contains(&format!("**{clause}**")),
        };
        assert!(exists, "{id} refers to {clause}: expected a clause or a decision");
    }
}
