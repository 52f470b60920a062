//! What waivers do to a report, on verdicts that no model had to find.

use super::*;
use orchestrion_model::check::Counterexample;
use orchestrion_model::explore::{Ended, Why};
use serde_json::Value;

const TODAY: Date = Date::constant(2026, 6, 30);

/// A policy under which these claims fail, these are open, and every other one holds.
fn checked(policy: &str, failing: &[&str], open: &[&str]) -> Checked {
    let found = |claim: &'static Claim| Found {
        claim,
        verdict: match claim.id {
            id if failing.contains(&id) => {
                Verdict::Fails { run: 0, counterexample: Counterexample { inputs: Vec::new(), stem: None } }
            }
            id if open.contains(&id) => Verdict::Inconclusive,
            _ => Verdict::Holds,
        },
        evidence: None,
        waived: None,
    };
    let policy = Policy { name: policy.to_owned(), ..Policy::hardened() };
    let run = Run {
        model: "debate",
        scope: "tiny",
        policy: policy.name.clone(),
        states: 1_234,
        products: 2_345,
        steps: 3_456,
        depth: 12,
        ended: if open.is_empty() { Ended::Exhausted } else { Ended::Cut { why: Why::States, waiting: 7 } },
        collision: 0.0,
        seen: Vec::new(),
        found: Vec::new(),
    };
    Checked { policy, runs: vec![run], found: CLAIMS.iter().map(found).collect() }
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
fn told(mut checked: Vec<Checked>, waivers: &[Waiver]) -> (u8, String, Value) {
    waivers::apply(&mut checked, waivers, TODAY);
    let standings = standings(&checked, waivers, TODAY);
    let outcome = outcome(&checked, &standings);
    let (mut human, mut json) = (Vec::new(), Vec::new());
    report::human(&checked, &standings, true, outcome, &mut human).unwrap();
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
