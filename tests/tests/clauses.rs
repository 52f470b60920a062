//! Every reference of the clause pages has a target, and every clause a check or a reason. `specs/clauses/README.md` defines the
//! notation.

use orchestrion_tests::clause_checks::{ClauseChecks, clause_checks};
use orchestrion_tests::clause_references::{Reference, Target, Targets, references};
use orchestrion_tests::test_index;

#[test]
fn references_have_targets() {
    let targets = Targets::read();
    let mut missing = Vec::new();
    for (file, page) in targets.pages() {
        for Reference { line, target } in references(page) {
            if !targets.contains(&target) {
                missing.push(format!("specs/clauses/{file}:{line}: {target:?} does not exist"));
            }
        }
    }
    let help = "specs/clauses/README.md defines the notation";
    assert!(missing.is_empty(), "{} references:\n{}\n{help}", missing.len(), missing.join("\n"));
}

/// Without this, a check that accepts every name would pass.
#[test]
fn renamed_references_have_no_targets() {
    let targets = Targets::read();
    let mut checked = 0;
    for (file, page) in targets.pages() {
        for Reference { line, target } in references(page) {
            let renamed = match target {
                Target::Quoted(text) => Target::Quoted(format!("{text}x")),
                Target::Rule(name) => Target::Rule(format!("{name}x")),
                Target::Id(id) => Target::Id(format!("{id}9")),
                Target::Link(link) => Target::Link(format!("{link}x")),
            };
            // A longer number can be the id of another clause, and is then checked as such.
            let is_other =
                matches!(&renamed, Target::Id(id) if id.contains('-')) && targets.contains(&renamed);
            assert!(is_other || !targets.contains(&renamed), "specs/clauses/{file}:{line}: {renamed:?}");
            checked += usize::from(!is_other);
        }
    }
    assert!(checked > 1000, "only {checked} references");
}

#[test]
fn references_of_each_form_are_found() {
    let page = "\
**000-91.1** The statement quotes `a_word` of the document, F1.
  Where: `State::apply` and the rule
  `sticky_veto`; T01–T03, C-91 (decision 0016), `kernel/src/ids.rs`.
  <a id=\"000-91.1\"></a>Links: rows [T01](../pages/table.md#T01).
";
    let found: Vec<(usize, Target)> =
        references(page).into_iter().map(|reference| (reference.line, reference.target)).collect();
    let id = |id: &str| Target::Id(id.to_owned());
    assert_eq!(
        found,
        [
            (1, id("000-91.1")),
            (1, id("F1")),
            (2, Target::Quoted("State::apply".into())),
            (3, Target::Rule("sticky_veto".into())),
            (3, id("T01")),
            (3, id("T03")),
            (3, id("C-91")),
            (3, id("0016")),
            (3, Target::Quoted("kernel/src/ids.rs".into())),
            (4, Target::Link("../pages/table.md#T01".into())),
        ]
    );
}

#[test]
fn missing_targets_are_reported() {
    let targets = Targets::read();
    let quoted = |text: &str| Target::Quoted(text.into());
    for target in [
        quoted("State::apply"),
        quoted("Input::Reply::summary_update"),
        quoted("compaction::cluster"),
        quoted("kernel/src/ids.rs"),
        quoted("kernel/tests/sequences/budgets.rs::box_budget_management"),
        quoted("orchestrion_optimizer::solve"),
        quoted("orchestrion show --base"),
        quoted("as-drawn"),
        Target::Rule("sticky_veto".into()),
        Target::Id("T01".into()),
        Target::Link("../pages/claims.md#C-91".into()),
    ] {
        assert!(targets.contains(&target), "{target:?}");
    }
    for target in [
        quoted("apply"),
        quoted("State::applies"),
        quoted("Reply::summary_update"),
        quoted("elo::cluster"),
        quoted("kernel/src/id.rs"),
        quoted("kernel/tests/sequences/budgets.rs::box_budget"),
        quoted("kernel/src/ids.rs::box_budget_management"),
        quoted("orchestrion_text::solve"),
        quoted("solve"),
        quoted("orchestrion show --bases"),
        quoted("orchestrion display"),
        quoted("as-planned"),
        quoted("sticky_veto"),
        Target::Rule("sticky".into()),
        Target::Id("T99".into()),
        Target::Id("C-999".into()),
        Target::Id("F99".into()),
        Target::Id("0099".into()),
        Target::Id("000-99.1".into()),
        Target::Link("../pages/claims.md#C-999".into()),
        Target::Link("../pages/missing.md".into()),
    ] {
        assert!(!targets.contains(&target), "{target:?}");
    }
}

#[test]
fn every_clause_has_checks_or_a_reason() {
    let tests = test_index::tests();
    let mut errors = Vec::new();
    for (file, page) in Targets::read().pages() {
        for check in clause_checks(page, &tests) {
            errors.extend(check.error().map(|error| format!("specs/clauses/{file}:{}: {error}", check.line)));
        }
    }
    assert!(errors.is_empty(), "{} clauses:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn missing_and_contradictory_checks_are_reported() {
    // A clause with a claim of its own, which this test does not check: its number is in no line here.
    let with_claim = |section: &str| format!("000-{section}");
    let (refused, folded) = (with_claim("4.6"), with_claim("4.8"));
    let page = format!(
        "\
# A page

**000-91.1** Nothing checks it.
  Where: in prose, C-02.

**{refused}** It has a claim of its own.
  Not checked: the reason
  has two lines.
  <a id=\"{refused}\"></a>Links: none.

**000-91.2** A further claim checks it.
  Checked by: C-01,
  C-02.
  Where: here, C-03.

**000-91.3** It is a definition.
  Not checked: it defines
  a word.

**000-91.4** The reason is missing.
  Not checked: because

**{folded}** The claim is named twice.
  Checked by: C-63.
"
    );
    let checks = clause_checks(&page, &[]);
    let error = |check: &ClauseChecks<'_>| check.error().unwrap_or_default();
    let lines: Vec<usize> = checks.iter().map(|check| check.line).collect();
    assert_eq!(lines, [3, 6, 11, 16, 20, 23]);
    assert!(error(&checks[0]).starts_with("000-91.1 has no check"), "{}", error(&checks[0]));
    assert!(
        error(&checks[1]).starts_with(&format!("{refused} has a reason and a check")),
        "{}",
        error(&checks[1])
    );
    assert_eq!(checks[2].further_claims, ["C-01", "C-02"]);
    assert_eq!(error(&checks[2]), "");
    assert_eq!(checks[3].reason.as_deref(), Some("it defines a word."));
    assert_eq!(error(&checks[3]), "");
    assert!(error(&checks[4]).starts_with("000-91.4 has no full reason"), "{}", error(&checks[4]));
    assert!(error(&checks[5]).starts_with(&format!("{folded} names C-63 twice")), "{}", error(&checks[5]));
}
