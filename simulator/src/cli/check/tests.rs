//! What waivers do to a report, on verdicts that no model had to find.

use super::*;
use orchestrion_explorer::{Resource, Termination};
use orchestrion_model::check::Counterexample;
use orchestrion_model::coverage::{OBSERVATION_COUNT, Observation};
use orchestrion_model::scopes::MODELS;
use serde_json::Value;

const TODAY: Date = Date::constant(2026, 6, 30);
const LOOK: ReportStyle = ReportStyle { quiet: true, columns: 100 };

/// A policy under which these claims fail, these are open, and every other one holds.
fn checked(policy: &str, failing: &[&str], open: &[&str]) -> PolicyResult {
    let found = |claim: &'static Claim| CheckedClaim {
        claim,
        verdict: match claim.id {
            id if failing.contains(&id) => Verdict::Fails {
                run: 0,
                counterexample: Counterexample {
                    policy: Policy::hardened(),
                    inputs: Vec::new(),
                    stem_len: None,
                },
            },
            id if open.contains(&id) => Verdict::Inconclusive,
            _ => Verdict::Holds,
        },
        evidence: None,
        waived: None,
        outside: false,
    };
    let policy = Policy { name: policy.to_owned(), ..Policy::hardened() };
    let ended = if open.is_empty() {
        Termination::Exhausted
    } else {
        Termination::LimitReached { why: Resource::States, frontier: 7 }
    };
    let run = |model| ModelRun {
        model,
        scope: "tiny",
        policy: policy.name.clone(),
        states: 1_234,
        products: 2_345,
        steps: 3_456,
        depth: 12,
        ended,
        collision: 1e-9,
        first_depths: vec![Some(1); OBSERVATION_COUNT],
        found: Vec::new(),
    };
    let runs = MODELS.map(|model| run(model.name)).into();
    PolicyResult { policy, scope: "tiny", runs, found: CLAIMS.iter().map(found).collect() }
}

/// The same, but of these claims nothing was to be seen.
fn vacuous(policy: &str, claims: &[&str]) -> PolicyResult {
    let mut checked = checked(policy, &[], &[]);
    for found in checked.found.iter_mut().filter(|found| claims.contains(&found.claim.id)) {
        found.verdict = Verdict::Vacuous;
    }
    checked
}

/// The same after only one of its models was explored.
fn partly(mut checked: PolicyResult) -> PolicyResult {
    checked.runs.truncate(1);
    checked.mark_not_in_model()
}

fn waiver(claim: &'static str, policy: Option<&str>, until: Date) -> Waiver {
    Waiver {
        claim,
        policy: policy.map(str::to_owned),
        reason: "the second reading comes with the next release".to_owned(),
        until,
        place: "orchestrion.yaml:9".to_owned(),
    }
}

/// The exit code, the report for people who want it short, and the one for programs.
fn told(mut checked: Vec<PolicyResult>, waivers: &[Waiver]) -> (u8, String, Value) {
    waivers::apply(&mut checked, waivers, TODAY);
    let standings = standings(&checked, waivers, TODAY);
    let outcome = outcome(&checked, &standings);
    let (mut human, mut json) = (Vec::new(), Vec::new());
    report::human(&checked, &standings, LOOK, outcome, &mut human).unwrap();
    super::json::json(&checked, &standings, outcome, &mut json).unwrap();
    let plain = anstream::adapter::strip_str(&String::from_utf8(human).unwrap()).to_string();
    (outcome.code(), plain, serde_json::from_slice(&json).unwrap())
}

#[test]
fn reports_say_aloud_what_is_waived_and_until_when() {
    let cases = [
        ("waived until today", vec![checked("team", &["C-06"], &[])], vec![waiver("C-06", None, TODAY)]),
        (
            "waived until yesterday",
            vec![checked("team", &["C-06"], &[])],
            vec![waiver("C-06", None, TODAY.yesterday().unwrap())],
        ),
        (
            "expired, and the claim holds",
            vec![checked("team", &[], &[])],
            vec![waiver("C-06", Some("team"), TODAY.yesterday().unwrap())],
        ),
        ("no longer needed", vec![checked("team", &[], &[])], vec![waiver("C-06", None, TODAY)]),
        ("not seen to its end", vec![checked("team", &[], &["C-06"])], vec![waiver("C-06", None, TODAY)]),
        (
            "waived under one policy of two",
            vec![checked("team", &["C-06"], &[]), checked("strict", &["C-06", "C-11"], &[])],
            vec![waiver("C-06", Some("team"), TODAY)],
        ),
        ("vacuous", vec![vacuous("team", &["C-11"])], vec![]),
        ("vacuous, and waived", vec![vacuous("team", &["C-11"])], vec![waiver("C-11", None, TODAY)]),
        (
            "vacuous, and waived until yesterday",
            vec![vacuous("team", &["C-11"])],
            vec![waiver("C-11", None, TODAY.yesterday().unwrap())],
        ),
        (
            "holds in one model, and who knows in the others",
            vec![partly(checked("team", &[], &[]))],
            vec![waiver("C-06", None, TODAY)],
        ),
        (
            "has nothing to say in the one model that was chosen",
            vec![partly(vacuous("team", &["C-11"]))],
            vec![],
        ),
        ("fails before another run was cut", vec![checked("team", &["C-06"], &["C-11"])], vec![]),
        ("two policies that hold", vec![checked("team", &[], &[]), checked("strict", &[], &[])], vec![]),
    ];
    let mut text = String::new();
    for (name, checked, waivers) in cases {
        let (_, human, _) = told(checked, &waivers);
        text.push_str(&format!("-- {name}\n{human}\n"));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn the_report_for_programs_says_it_too() {
    let (code, _, json) = told(vec![checked("team", &["C-06"], &[])], &[waiver("C-06", None, TODAY)]);
    assert_eq!((code, &json["verdict"]), (0, &"holds".into()));
    let claims = json["claims"].as_array().unwrap();
    let claim = claims.iter().find(|claim| claim["id"] == "C-06").unwrap();
    assert_eq!((&claim["verdict"], &claim["policy"]), (&"waived".into(), &"team".into()));
    let expected = serde_json::json!([{
        "claim": "C-06", "policy": null, "reason": "the second reading comes with the next release",
        "until": "2026-06-30", "standing": "needed",
    }]);
    assert_eq!(json["waivers"], expected);
    let past = waiver("C-06", None, TODAY.yesterday().unwrap());
    for (failing, code, verdict, of_claim) in
        [(&["C-06"][..], 1, "fails", "fails"), (&[], 3, "expired", "holds")]
    {
        let (found, _, json) = told(vec![checked("team", failing, &[])], std::slice::from_ref(&past));
        assert_eq!((found, &json["verdict"]), (code, &verdict.into()));
        let claims = json["claims"].as_array().unwrap();
        assert_eq!(claims.iter().find(|claim| claim["id"] == "C-06").unwrap()["verdict"], of_claim);
        assert_eq!(json["waivers"][0]["standing"], "expired");
    }
}

#[test]
fn a_waiver_of_a_vacuous_claim_is_needed_like_one_of_a_failing_one() {
    let (code, _, json) = told(vec![vacuous("team", &["C-11"])], &[waiver("C-11", None, TODAY)]);
    assert_eq!(
        (code, &json["verdict"], &json["waivers"][0]["standing"]),
        (0, &"holds".into(), &"needed".into())
    );
    let past = waiver("C-11", None, TODAY.yesterday().unwrap());
    let (code, _, json) = told(vec![vacuous("team", &["C-11"])], &[past]);
    assert_eq!((code, &json["verdict"]), (3, &"vacuous".into()));
    let other = told(vec![vacuous("team", &["C-11"])], &[waiver("C-11", Some("strict"), TODAY)]);
    assert_eq!(other.0, 3);
}

#[test]
fn whether_a_waiver_is_needed_is_open_while_models_are_left_out() {
    let (_, _, json) = told(vec![partly(checked("team", &[], &[]))], &[waiver("C-06", None, TODAY)]);
    assert_eq!(json["waivers"][0]["standing"], "open");
    let (_, _, json) = told(vec![checked("team", &[], &[])], &[waiver("C-06", None, TODAY)]);
    assert_eq!(json["waivers"][0]["standing"], "not_needed");
}

#[test]
fn what_the_chosen_models_do_not_reach_is_outside_of_them_and_nothing_else_is() {
    let verdict = |json: &Value| {
        let claims = json["claims"].as_array().unwrap();
        claims.iter().find(|claim| claim["id"] == "C-11").unwrap()["verdict"].clone()
    };
    let (code, _, json) = told(vec![partly(vacuous("team", &["C-11"]))], &[waiver("C-11", None, TODAY)]);
    assert_eq!((code, &json["verdict"], verdict(&json)), (0, &"holds".into(), "outside".into()));
    assert_eq!(json["waivers"][0]["standing"], "open");
    let (code, _, json) = told(vec![vacuous("team", &["C-11"]).mark_not_in_model()], &[]);
    assert_eq!((code, &json["verdict"], verdict(&json)), (3, &"vacuous".into(), "vacuous".into()));
    let (code, _, _) = told(vec![partly(checked("team", &["C-06"], &[]))], &[]);
    assert_eq!(code, 1);
    let (code, _, _) = told(vec![partly(checked("team", &[], &["C-06"]))], &[]);
    assert_eq!(code, 3);
}

/// What was searched, in a report that is not quiet, at 80 columns, without the claims.
fn searched(checked: PolicyResult) -> String {
    let checked = [PolicyResult { found: Vec::new(), ..checked }];
    let (look, mut text) = (ReportStyle { quiet: false, columns: 80 }, Vec::new());
    report::human(&checked, &[], look, outcome(&checked, &[]), &mut text).unwrap();
    let text = anstream::adapter::strip_str(&String::from_utf8(text).unwrap()).to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (searched, _last_line) = text.trim_end().rsplit_once('\n').unwrap();
    searched.trim_end().to_owned()
}

#[test]
fn a_report_says_how_much_was_searched() {
    let unseen = |marks: &[Observation]| {
        let mut checked = checked("team", &[], &[]);
        for run in &mut checked.runs {
            marks.iter().for_each(|mark| run.first_depths[mark.index()] = None);
        }
        checked
    };
    let all = Observation::expected_observations(&Policy::hardened());
    let guards = all.iter().copied().filter(|mark| matches!(mark, Observation::Guard(_))).take(1);
    let rows = all.iter().copied().filter(|mark| matches!(mark, Observation::Row(_))).take(1);
    let few: Vec<Observation> = rows.chain(guards).chain([Observation::Refusal(7)]).collect();
    let mut exact = checked("team", &[], &[]);
    exact.runs.iter_mut().for_each(|run| run.collision = 0.0);
    let cases = [
        ("everything", checked("team", &[], &[])),
        ("by whole states", exact),
        ("three not reached", unseen(&few)),
        ("many not reached, in one model", partly(unseen(&all[..60]))),
        ("cut short", checked("team", &[], &["C-06"])),
    ];
    let mut text = String::new();
    for (name, checked) in cases {
        text.push_str(&format!("-- {name}\n{}\n\n", searched(checked)));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn a_chance_is_rounded_up_to_one_digit() {
    for (chance, told) in [(5.4e-9, "6e-9"), (9.3e-12, "1e-11"), (2e-3, "2e-3"), (1.0, "1e0")] {
        assert_eq!(coverage::at_most(chance), told);
    }
}
