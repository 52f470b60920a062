//! Tests of serialization and of the JSON Schema.

use super::{FULL, HEAD};
use crate::*;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{Score, TaskId};
use orchestrion_yaml::{MeasuredScore, StrictText};

#[test]
fn file_round_trips() {
    let file = ScenarioFile::parse("full.yaml", FULL).unwrap();
    let text = write(&file).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &text).unwrap(), file);
    snapshot!(text);
}

#[test]
fn texts_and_numbers_round_trip() {
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
        file.description = StrictText::from(text);
        file.requests.value[0].text = StrictText::from(text);
        file.conversation = Some(StrictText::from(text));
        file.modules
            .value
            .tasks
            .insert(TaskId::FIRST, RepliesFile::list([TaskReply::Ok(StrictText::from(text))]));
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
        let confidence = MeasuredScore(Score::from_millionths(millionths).unwrap());
        let argument = ArgumentFile { confidence, text: StrictText::default() };
        file.modules.value.critic = Some(RepliesFile::one(ArgumentReply::Con(argument)));
        let written = write(&file).unwrap();
        assert_eq!(ScenarioFile::parse("case.yaml", &written).as_ref().ok(), Some(&file), "{written}");
    }
}

#[test]
fn schema_accepts_valid_files_only() {
    let validator = jsonschema::validator_for(&scenario_schema()).unwrap();
    let json = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).unwrap() };
    let extras =
        "modules: {critic: {reply: {pro: {confidence: 0.9}}, summary_update: {goal: x, y: z}, after: 5s}}\n";
    let refused = "    write: [{fact: {key: a, text: b}, refused: true}]\n";
    for good in [FULL, HEAD, &format!("{HEAD}{extras}"), &format!("{HEAD}{refused}")] {
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
        "modules: {critic: {cases: [{when: {}, reply: {fail: error}}]}}\n",
        "modules: {critic: {cases: [{reply: {cases: [{reply: {fail: error}}]}}]}}\n",
        "modules: {critic: {random: {seed: mood, choices: []}}}\n",
        "modules: {critic: {random: {seed: mood, choices: [{weight: 0, reply: {fail: error}}]}}}\n",
        "modules: {critic: {random: {from: [{reply: {fail: error}}]}, fail: error}}\n",
        "modules: {critic: {reply: {fail: error}, after: 5}}\n",
        "modules: {critic: {after: 5s}}\n",
        "modules: {auditor: {delivered: yes}}\n",
        "modules: {auditor: {reply: delivered, summary_update: {goal: 3}}}\n",
        "modules: {auditor: {reply: delivered, action: {iteration: 1}}}\n",
        "deadlines: {tasks: 5s}\n",
        "deadlines: {default: 1.5s}\n",
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
fn fact_defaults_and_refused_writes_are_parsed() {
    let text = format!(
        "{HEAD}    write:\n      - fact: {{key: a, text: b}}\n        refused: true\n      - fact: {{key: a, text: b, rank: employee}}\n"
    );
    let scenario = super::parse(&text).unwrap();
    let writes = scenario.requests[0].events.iter().map(|(_, event)| match event {
        ScriptedEvent::Write(write) => match &write.write.value {
            Write::Fact(fact) => (fact.source.rank, write.refused),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    assert_eq!(writes.collect::<Vec<_>>(), [(None, true), (Some(Rank::Employee), false)]);
    let file = ScenarioFile::parse("case.yaml", &text).unwrap();
    assert_eq!(ScenarioFile::parse("case.yaml", &write(&file).unwrap()).unwrap(), file);
}
