//! How scenario files are written, and what their schema takes.

use super::{FULL, HEAD};
use crate::*;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{Score, TaskId};
use orchestrion_yaml::{Decimal, StrictText};

#[test]
fn a_file_that_is_written_reads_back_the_same() {
    let file = ScenarioFile::parse("full.yaml", FULL).unwrap();
    let text = write(&file).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &text).unwrap(), file);
    snapshot!(text);
}

#[test]
fn any_text_and_number_reads_back_the_same() {
    let texts = [
        "",
        " ",
        "3",
        "true",
        "null",
        "~",
        "yes",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#",
        "'",
        "\"",
        "\\",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "[a",
        "{a",
        "]",
        "? a",
        "---",
        "...",
        "a\nb",
        "a\n",
        "\na",
        "\n",
        " a ",
        "a\tb",
        "\t",
        "\r\n",
        "\u{0}",
        "\u{1b}",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{feff}",
        "Ünï¢ødé 🔑",
        "0.5",
        "1e3",
        ".inf",
        ".nan",
        "0x1f",
        "0o7",
        "1_000",
        "2026-01-01",
        "12:30",
        "<<",
        "=",
        "${HOME}",
        "a very long text that is longer than any line should ever be, so that a writer may want to fold it  twice ",
    ];
    for text in texts {
        let mut file = ScenarioFile::parse("case.yaml", HEAD).unwrap();
        file.about = StrictText::from(text);
        file.requests.value[0].says = StrictText::from(text);
        file.conversation = Some(StrictText::from(text));
        file.modules
            .value
            .tasks
            .insert(TaskId::FIRST, RepliesFile::many([TaskAnswer::Ok(StrictText::from(text))]));
        let written = write(&file).unwrap();
        assert_eq!(
            ScenarioFile::parse("case.yaml", &written).as_ref().ok(),
            Some(&file),
            "{text:?}:\n{written}"
        );
    }
    for millionths in (0..=1_000_000).step_by(997).chain([1, 9, 10, 99, 100, 999, 1_000, 999_999, 1_000_000])
    {
        let mut file = ScenarioFile::parse("case.yaml", HEAD).unwrap();
        let confidence = Decimal(Score::from_millionths(millionths).unwrap());
        let argument = ArgumentFile { confidence, says: StrictText::default() };
        file.modules.value.critic = Some(RepliesFile::one(ArgumentReply::Con(argument)));
        let written = write(&file).unwrap();
        assert_eq!(ScenarioFile::parse("case.yaml", &written).as_ref().ok(), Some(&file), "{written}");
    }
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_unknown_keys() {
    let validator = jsonschema::validator_for(&scenario_schema()).unwrap();
    let json = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).unwrap() };
    let beside = "modules: {critic: {pro: {confidence: 0.9}, summary_update: {goal: x, y: z}, after: 5s}}\n";
    let refused = "    write: [{fact: {key: a, says: b}, refused: true}]\n";
    for good in [FULL, HEAD, &format!("{HEAD}{beside}"), &format!("{HEAD}{refused}")] {
        let errors: Vec<_> = validator.iter_errors(&json(good)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    for bad in [
        "colour: red\n",
        "modules: {critics: {fail: error}}\n",
        "modules: {critic: {pro: {confidence: 0.5, plan: []}}}\n",
        "modules: {critic: {maybe: {confidence: 0.5}}}\n",
        "modules: {critic: {pro: {confidence: 1.5}}}\n",
        "modules: {critic: []}\n",
        "modules: {critic: {cases: []}}\n",
        "modules: {critic: {cases: [{when: {}, answer: {fail: error}}]}}\n",
        "modules: {critic: {cases: [{answer: {cases: [{answer: {fail: error}}]}}]}}\n",
        "modules: {critic: {draw: {seed: mood, from: []}}}\n",
        "modules: {critic: {draw: {seed: mood, from: [{weight: 0, answer: {fail: error}}]}}}\n",
        "modules: {critic: {draw: {from: [{answer: {fail: error}}]}, fail: error}}\n",
        "modules: {critic: {fail: error, after: 5}}\n",
        "modules: {critic: {after: 5s}}\n",
        "modules: {auditor: {delivered: yes, after: 5s}}\n",
        "modules: {auditor: {delivered, summary_update: {goal: 3}}}\n",
        "modules: {auditor: {delivered, action: {iteration: 1}}}\n",
        "deadlines: {tasks: 5s}\n",
        "deadlines: {each: 1.5s}\n",
        "seed: -3\n",
        "modules: {critic: null}\n",
        "policy: null\n",
        "modules: {tasks: {one: {ok: x}}}\n",
        "modules: {local_store: full}\n",
        "modules: {planner: {plan: [{task: 1, do: x, done: true}]}}\n",
    ] {
        assert!(!validator.is_valid(&json(&format!("{HEAD}{bad}"))), "{bad}");
    }
}

#[test]
fn whoever_has_no_rank_is_unverified_and_a_write_says_that_it_is_to_be_refused() {
    let text = format!(
        "{HEAD}    write:\n      - fact: {{key: a, says: b}}\n        refused: true\n      - fact: {{key: a, says: b, rank: employee}}\n"
    );
    let scenario = super::parse(&text).unwrap();
    let written = scenario.requests[0].incidents.iter().map(|(_, incident)| match incident {
        ScriptedEvent::Write(written) => match &written.write.value {
            Write::Fact(fact) => (fact.source.rank, written.refused),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    assert_eq!(written.collect::<Vec<_>>(), [(Rank::Unverified, true), (Rank::Employee, false)]);
    let file = ScenarioFile::parse("case.yaml", &text).unwrap();
    assert_eq!(ScenarioFile::parse("case.yaml", &write(&file).unwrap()).unwrap(), file);
}
