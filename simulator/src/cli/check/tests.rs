//! Waivers and coverage in reports, on verdicts made for the test.

use super::coverage::Coverage;
use super::result::CheckedClaim;
use super::result::WaiverStatus;
use super::*;
use crate::cli::output::ReportStyle;
use crate::cli::test_report::CaseVerdict;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_explorer::{Resource, Termination};
use orchestrion_kernel::Input;
use orchestrion_model::check::{Counterexample, ModelRun, Verdict};
use orchestrion_model::coverage::{OBSERVATION_COUNT, Observation, RefusalKind};
use orchestrion_model::induction::{ENUMERATIONS, InductionCounterexample};
use orchestrion_model::scopes::MODELS;
use orchestrion_project::Waiver;
use serde_json::Value;
use std::path::PathBuf;

const TODAY: Date = Date::constant(2026, 6, 30);
const QUIET: ReportStyle = ReportStyle { quiet: true, width: 100 };

/// Returns a result in which these claims fail, these are inconclusive, and the others hold.
fn result(policy: &str, failing: &[&str], inconclusive: &[&str]) -> PolicyResult {
    let claim = |claim: &'static Claim| CheckedClaim {
        claim,
        verdict: match claim.id {
            id if failing.contains(&id) => Verdict::Fails {
                run: 0,
                counterexample: Box::new(Counterexample {
                    policy: Policy::hardened(),
                    inputs: Vec::new(),
                    stem_len: None,
                    rows: Vec::new(),
                }),
            },
            id if inconclusive.contains(&id) => Verdict::Inconclusive,
            _ => Verdict::Holds,
        },
        evidence: None,
        others: Vec::new(),
        waiver: None,
        is_not_in_model: false,
    };
    let policy = Policy { name: policy.to_owned(), ..Policy::hardened() };
    let ended = if inconclusive.is_empty() {
        Termination::Exhausted
    } else {
        Termination::LimitReached { resource: Resource::States, frontier: 7 }
    };
    let run = |model| ModelRun {
        model,
        scope: "tiny".to_owned(),
        policy: policy.name.clone(),
        states: 1_234,
        unproven_contexts: 0,
        products: 2_345,
        steps: 3_456,
        depth: 12,
        ended,
        collision: 1e-9,
        first_depths: vec![Some(1); OBSERVATION_COUNT],
        found: Vec::new(),
    };
    let names = MODELS.iter().map(|model| model.name).chain(ENUMERATIONS.iter().map(|all| all.model.name));
    let runs = names.map(run).collect();
    PolicyResult {
        policy,
        scope: "tiny".to_owned(),
        runs,
        claims: CLAIMS.iter().map(claim).collect(),
        user_claims: Vec::new(),
    }
}

/// Returns a result in which these claims are vacuous.
fn vacuous(policy: &str, claims: &[&str]) -> PolicyResult {
    let mut result = result(policy, &[], &[]);
    for claim in result.claims.iter_mut().filter(|claim| claims.contains(&claim.claim.id)) {
        claim.verdict = Verdict::Vacuous;
    }
    result
}

/// Returns the result after the exploration of one model only.
fn one_model(mut result: PolicyResult) -> PolicyResult {
    result.runs.truncate(1);
    result.mark_not_in_model()
}

fn waiver(claim: &'static str, policy: Option<&str>, until: Date) -> Waiver {
    Waiver {
        claim,
        policy: policy.map(str::to_owned),
        reason: "the second reading comes with the next release".to_owned(),
        until,
        location: "orchestrion.yaml:9".to_owned(),
    }
}

fn human(results: &[PolicyResult], waivers: &[(&Waiver, WaiverStatus)], style: ReportStyle) -> String {
    let mut out = Vec::new();
    report::human(results, waivers, style, exit_status(results, waivers), &mut out).unwrap();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
}

/// Returns the exit code, the short report, and the JSON report.
fn reports(mut results: Vec<PolicyResult>, waivers: &[Waiver]) -> (u8, String, Value) {
    waivers::apply(&mut results, waivers, TODAY);
    let waivers = waiver_statuses(&results, waivers, TODAY);
    let status = exit_status(&results, &waivers);
    let mut json = Vec::new();
    super::json::json(&results, &waivers, status, &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_cases_agree(&json, status.code(), &results, &waivers);
    (status.code(), human(&results, &waivers, QUIET), json)
}

/// Asserts that the cases state for each claim what the JSON report states, and that they are red as the exit code is.
fn assert_cases_agree(json: &Value, code: u8, results: &[PolicyResult], waivers: &[(&Waiver, WaiverStatus)]) {
    let files: Vec<PathBuf> = results.iter().map(|result| result.policy.name.clone().into()).collect();
    let cases = cases::of_check(&files, results, waivers);
    let claims = json["claims"].as_array().unwrap();
    assert!(cases.len() >= claims.len());
    for (claim, case) in claims.iter().zip(&cases) {
        let expected = match claim["verdict"].as_str().unwrap() {
            "holds" => CaseVerdict::Passed,
            "fails" | "not_inductive" => CaseVerdict::Failed,
            "vacuous" | "inconclusive" => CaseVerdict::Incomplete,
            "waived" | "not_in_model" | "not_checked" => CaseVerdict::Skipped,
            other => panic!("{other}"),
        };
        assert_eq!((claim["id"].as_str(), case.verdict), (Some(case.name.as_str()), expected));
        assert_eq!(case.diagnostics.is_empty(), case.verdict == CaseVerdict::Passed);
    }
    let has = |verdict| cases.iter().any(|case| case.verdict == verdict);
    let red = match (has(CaseVerdict::Failed), has(CaseVerdict::Incomplete)) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    };
    assert_eq!(red, code);
}

fn verdict<'a>(json: &'a Value, id: &str) -> &'a Value {
    let claims = json["claims"].as_array().unwrap();
    &claims.iter().find(|claim| claim["id"] == id).unwrap()["verdict"]
}

#[test]
fn short_report_lists_waivers_and_open_verdicts() {
    let yesterday = TODAY.yesterday().unwrap();
    let cases = [
        ("waived until today", vec![result("team", &["C-06"], &[])], vec![waiver("C-06", None, TODAY)]),
        (
            "waived until yesterday",
            vec![result("team", &["C-06"], &[])],
            vec![waiver("C-06", None, yesterday)],
        ),
        (
            "waiver expired, claim holds",
            vec![result("team", &[], &[])],
            vec![waiver("C-06", Some("team"), yesterday)],
        ),
        ("waiver not needed", vec![result("team", &[], &[])], vec![waiver("C-06", None, TODAY)]),
        ("inconclusive", vec![result("team", &[], &["C-06"])], vec![waiver("C-06", None, TODAY)]),
        (
            "waived under one of two policies",
            vec![result("team", &["C-06"], &[]), result("strict", &["C-06", "C-11"], &[])],
            vec![waiver("C-06", Some("team"), TODAY)],
        ),
        ("vacuous", vec![vacuous("team", &["C-11"])], vec![]),
        ("vacuous and waived", vec![vacuous("team", &["C-11"])], vec![waiver("C-11", None, TODAY)]),
        (
            "vacuous and waived until yesterday",
            vec![vacuous("team", &["C-11"])],
            vec![waiver("C-11", None, yesterday)],
        ),
        (
            "holds in one model, others unexplored",
            vec![one_model(result("team", &[], &[]))],
            vec![waiver("C-06", None, TODAY)],
        ),
        ("not in the chosen model", vec![one_model(vacuous("team", &["C-11"]))], vec![]),
        ("fails, another run hits a limit", vec![result("team", &["C-06"], &["C-11"])], vec![]),
        ("two policies, all hold", vec![result("team", &[], &[]), result("strict", &[], &[])], vec![]),
    ];
    let mut text = String::new();
    for (name, results, waivers) in cases {
        let (_, human, _) = reports(results, &waivers);
        text.push_str(&format!("-- {name}\n{human}\n"));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn json_report_lists_waivers() {
    let (code, _, json) = reports(vec![result("team", &["C-06"], &[])], &[waiver("C-06", None, TODAY)]);
    assert_eq!((code, &json["verdict"]), (0, &"holds".into()));
    assert_eq!(verdict(&json, "C-06"), "waived");
    let expected = serde_json::json!([{
        "claim": "C-06", "policy": null, "reason": "the second reading comes with the next release",
        "until": "2026-06-30", "status": "needed",
    }]);
    assert_eq!(json["waivers"], expected);
    let expired = waiver("C-06", None, TODAY.yesterday().unwrap());
    for (failing, code, overall, of_claim) in
        [(&["C-06"][..], 1, "fails", "fails"), (&[], 3, "expired", "holds")]
    {
        let (found, _, json) = reports(vec![result("team", failing, &[])], std::slice::from_ref(&expired));
        assert_eq!((found, &json["verdict"]), (code, &overall.into()));
        assert_eq!(verdict(&json, "C-06"), of_claim);
        assert_eq!(json["waivers"][0]["status"], "expired");
    }
}

#[test]
fn waiver_excuses_a_vacuous_claim() {
    let (code, _, json) = reports(vec![vacuous("team", &["C-11"])], &[waiver("C-11", None, TODAY)]);
    assert_eq!(
        (code, &json["verdict"], &json["waivers"][0]["status"]),
        (0, &"holds".into(), &"needed".into())
    );
    let expired = waiver("C-11", None, TODAY.yesterday().unwrap());
    let (code, _, json) = reports(vec![vacuous("team", &["C-11"])], &[expired]);
    assert_eq!((code, &json["verdict"]), (3, &"vacuous".into()));
    let other = reports(vec![vacuous("team", &["C-11"])], &[waiver("C-11", Some("strict"), TODAY)]);
    assert_eq!(other.0, 3);
}

#[test]
fn waiver_is_undetermined_for_a_partial_check() {
    let (_, _, json) = reports(vec![one_model(result("team", &[], &[]))], &[waiver("C-06", None, TODAY)]);
    assert_eq!(json["waivers"][0]["status"], "undetermined");
    let (_, _, json) = reports(vec![result("team", &[], &[])], &[waiver("C-06", None, TODAY)]);
    assert_eq!(json["waivers"][0]["status"], "not_needed");
}

#[test]
fn unreached_premise_is_not_in_a_partial_model() {
    let (code, _, json) =
        reports(vec![one_model(vacuous("team", &["C-11"]))], &[waiver("C-11", None, TODAY)]);
    assert_eq!(
        (code, &json["verdict"], verdict(&json, "C-11")),
        (0, &"holds".into(), &"not_in_model".into())
    );
    assert_eq!(json["waivers"][0]["status"], "undetermined");
    let (code, _, json) = reports(vec![vacuous("team", &["C-11"]).mark_not_in_model()], &[]);
    assert_eq!((code, &json["verdict"], verdict(&json, "C-11")), (3, &"vacuous".into(), &"vacuous".into()));
    let (code, _, _) = reports(vec![one_model(result("team", &["C-06"], &[]))], &[]);
    assert_eq!(code, 1);
    let (code, _, _) = reports(vec![one_model(result("team", &[], &["C-06"]))], &[]);
    assert_eq!(code, 3);
}

/// Returns results with all, some and many expected observations reached, exact, and stopped by a limit.
fn coverage_cases() -> [(&'static str, PolicyResult); 5] {
    let unreached = |observations: &[Observation]| {
        let mut result = result("team", &[], &[]);
        for run in &mut result.runs {
            observations.iter().for_each(|observation| run.first_depths[observation.index()] = None);
        }
        result
    };
    let all = Coverage::new(&Policy::hardened(), &[]).expected;
    let guard = all.iter().copied().find(|observation| matches!(observation, Observation::Guard(_)));
    let row = all.iter().copied().find(|observation| matches!(observation, Observation::Row(_)));
    let few: Vec<Observation> =
        row.into_iter().chain(guard).chain([Observation::Refusal(RefusalKind::SessionAlreadyOpen)]).collect();
    let mut exact = result("team", &[], &[]);
    exact.runs.iter_mut().for_each(|run| run.collision = 0.0);
    [
        ("all reached", result("team", &[], &[])),
        ("whole states", exact),
        ("three not reached", unreached(&few)),
        ("many not reached, one model", one_model(unreached(&all[..60]))),
        ("resource limit", result("team", &[], &["C-06"])),
    ]
}

#[test]
fn report_describes_coverage() {
    let mut text = String::new();
    for (name, result) in coverage_cases() {
        let result = PolicyResult { claims: Vec::new(), ..result };
        let report = human(&[result], &[], ReportStyle { quiet: false, width: 80 });
        text.push_str(&format!("-- {name}\n{report}\n"));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

/// The report of a claim that a step from an enumerated state violates: what is in the state, what is tried, and the exit code.
#[test]
fn counterexample_to_induction_has_items_and_inputs() {
    let mut result = result("team", &[], &[]);
    let position = CLAIMS.iter().position(|claim| claim.id == "C-204").unwrap();
    result.claims[position].verdict = Verdict::NotInductive {
        counterexample: Box::new(InductionCounterexample {
            enumeration: "derived",
            start: ENUMERATIONS[2].starts(&Policy::hardened()).swap_remove(4),
            refutes: true,
            inputs: vec![Input::Step],
        }),
    };
    let (code, text, json) = reports(vec![result], &[]);
    let claim = json["claims"].as_array().unwrap().iter().find(|claim| claim["id"] == "C-204").unwrap();
    assert_eq!((code, verdict(&json, "C-204").as_str()), (1, Some("not_inductive")), "{text}");
    assert_eq!(claim["model"], "derived");
    assert_eq!(claim["counterexample_to_induction"]["items"].as_array().unwrap().len(), 4);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn report_fits_the_width() {
    for width in [60, 80, 120, 200] {
        for (name, mut result) in coverage_cases() {
            for claim in &mut result.claims {
                claim.verdict = Verdict::Vacuous;
            }
            let waiver = waiver("C-06", Some("team"), TODAY.yesterday().unwrap());
            let waivers = [(&waiver, WaiverStatus::Expired), (&waiver, WaiverStatus::NotNeeded)];
            let report = human(&[result], &waivers, ReportStyle { quiet: false, width });
            let too_wide = report.lines().find(|line| line.chars().count() > width);
            assert_eq!(too_wide, None, "{name} at {width} columns");
        }
    }
}
