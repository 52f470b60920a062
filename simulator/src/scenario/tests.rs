//! What scenario files mean, how they read back, and how every kind of mistake in one is drawn.

use super::*;
use crate::script::Answer;
use crate::yaml::{Decimal, FILE_BYTES_MAX, Words, draw};
use miette::Diagnostic as _;
use orchestrion_kernel::module::{Argument, Ask, Failure, Kind, Rating, Report, Role, Stance, Store};
use orchestrion_kernel::plan::{Effect, EffectKind};
use orchestrion_kernel::{Score, TaskId};

const FULL: &str = include_str!("samples/full.yaml");
const HEAD: &str = "about: A test.\nuser: ada\nrequests:\n  - says: Add encryption\n";
const VOICES: &str = "  analyst: {pro: {confidence: 0.9}}\n";

fn parse(text: &str) -> Result<Scenario, ReadError> {
    Scenario::parse("case.yaml", text, Path::new("no-such-folder"))
}

fn drawn(text: &str) -> String {
    match parse(text) {
        Ok(scenario) => panic!("{text:?} was read as {scenario:?}"),
        Err(error) => draw(&error),
    }
}

/// Compares with a snapshot file, without repeating the code in it.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($text) })
    };
}

/// All mistakes of one kind, each with what its writer sees.
fn catalogue(head: &str, mistakes: &[&str]) -> String {
    let mut text = String::new();
    for mistake in mistakes {
        let drawn = drawn(&format!("{head}{mistake}"));
        for part in ["[case.yaml:", "help: "] {
            assert!(drawn.contains(part), "{mistake:?} is drawn without {part:?}:\n{drawn}");
        }
        text.push_str(&drawn);
        text.push('\n');
    }
    text
}

#[test]
fn mistakes_in_keys_and_shapes() {
    snapshot!(catalogue(
        HEAD,
        &[
            "colour: red\n",
            "modules:\n  critics: {pro: {confidence: 0.9}}\n",
            "user: bob\n",
            "modules: 3\n",
            "policy: hardend\n",
            "policy: nowhere/strict.yaml\n",
        ]
    ));
    snapshot!(catalogue(
        "",
        &[
            "",
            "3",
            "- a",
            "about: x\n",
            "about: x\nuser: y\nrequests: []\n",
            "about: x\nuser: y\nrequests:\n  - Add\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    cancel: {when: RuningTasks}\n",
            "about: x\nuser: y\nrequests:\n  - says: a\n    cancel: {when: RunningTasks, visit: 0}\n",
        ]
    ));
}

#[test]
fn mistakes_in_answers() {
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  critic:\n    pro: {confidence: 0.9}\n    con: {confidence: 0.9}\n",
            "modules:\n  critic: {pro: {confidence: 0.9}, con: {confidence: 0.9}}\n",
            "modules:\n  critic:\n    - pro: {confidence: 0.9}\n      con: {confidence: 0.9}\n",
            "modules:\n  critic: {prro: {confidence: 0.9}}\n",
            "modules:\n  critic: pro\n",
            "modules:\n  critic: 3\n",
            "modules:\n  critic:\n",
            "modules:\n  critic: []\n",
            "modules:\n  critic: {}\n",
            "modules:\n  critic:\n    - fail: timeout\n    - 3\n",
            "modules:\n  critic:\n    - fail: timeout\n    - [fail: error]\n",
            "modules:\n  critic: {fail: slow}\n",
            "modules:\n  critic: {pro: {says: x}}\n",
            "modules:\n  critic:\n    pro:\n      says: x\n",
            "modules:\n  critic: {pro: {confidence: 0.5, plan: []}}\n",
            "modules:\n  local_store: hold\n",
            "modules:\n  local_store: {held: 1}\n",
        ]
    ));
}

#[test]
fn mistakes_in_values() {
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  critic: {pro: {confidence: 1.5}}\n",
            "modules:\n  critic: {pro: {confidence: 0.12345678}}\n",
            "modules:\n  critic: {pro: {confidence: high}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: 3}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: true}}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: }}\n",
            "modules:\n  critic: {pro: {confidence: 0.5, says: [a]}}\n",
            "modules:\n  critic: {pro: high}\n",
            "modules:\n  identity: {locks: {gcp: maybe, mongodb: true}}\n",
            "modules:\n  identity: {locks: {gcp: true}}\n",
            "modules:\n  memory: {context: {ratings: {critic: {elo: -3}}}}\n",
            "policy: 3\n",
        ]
    ));
}

#[test]
fn mistakes_in_plans_and_tasks() {
    snapshot!(catalogue(
        HEAD,
        &[
            "modules:\n  planner: {plan: []}\n",
            "modules:\n  planner:\n    plan:\n      - {task: 1, do: x}\n      - {task: 1, do: y}\n",
            "modules:\n  planner: {plan: [{task: one, do: x}]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, undo: y, irreversible: true}]}\n",
            "modules:\n  planner: {plan: [{task: 1, do: x, irreversible: yes}]}\n",
            "modules:\n  tasks: {one: {ok: x}}\n",
            "modules:\n  tasks: {7: {ok: x}}\n",
            "modules:\n  undo: {1: {ok: x}}\n",
            "modules:\n  tasks: {1: {ok: x}, 01: {ok: y}}\n",
            "modules:\n  tasks: [ok]\n",
        ]
    ));
}

#[test]
fn what_is_no_yaml() {
    snapshot!(catalogue(
        HEAD,
        &[
            "policy: &x hardened\n",
            "policy: *x\n",
            "policy: !important hardened\n",
            "policy: 'hardened\n",
            "policy: [hardened\n",
            "\tpolicy: x\n",
            "---\nabout: x\n",
            "<<: {policy: hardened}\n",
            "\u{0}",
        ]
    ));
}

#[test]
fn bytes_that_are_no_text_have_a_position() {
    let mut bytes = HEAD.as_bytes().to_vec();
    bytes.extend(b"policy: hard\xffened\n");
    let error = crate::yaml::Source::from_bytes("case.yaml", bytes).unwrap_err();
    insta::assert_snapshot!(draw(&error), @r#"
     × expected UTF-8 text, found bytes that are none (at byte 72)
      ╭─[case.yaml:5:13]
    4 │   - says: Add encryption
    5 │ policy: hard�ened
      ·             ┬
      ·             ╰── not UTF-8 from here
      ╰────
     help: save the file as UTF-8
    "#);
}

#[test]
fn places_are_counted_right_behind_wide_characters() {
    let wide = "about: 🔑 é\nuser: ada\r\nrequests:\n  - says: 日本, colour: red\n";
    insta::assert_snapshot!(drawn(wide), @r#"
     × mapping values are not allowed in this context
      ╭─[case.yaml:4:25]
    3 │ requests:
    4 │   - says: 日本, colour: red
      ·                       ──┬──
      ·                         ╰── here
      ╰────
     help: check the indentation, the quotes and the brackets around this place
    "#);
    // Broken YAML has a line and a column only.
    insta::assert_snapshot!(drawn("about: {🔑: é, 日本: [x}\n"), @r#"
     × mismatched bracket '[' closed by '}'
      ╭─[case.yaml:1:27]
    1 │ about: {🔑: é, 日本: [x}
      ·                      ─┬─
      ·                       ╰── here
      ╰────
     help: check the indentation, the quotes and the brackets around this place
    "#);
}

#[test]
fn nothing_that_acts_on_a_terminal_is_drawn() {
    let text = drawn("about: \"a\u{1b}[31mred\u{85}\"\nuser: 3\u{0}\n");
    assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
    let escaped = drawn(&format!("{HEAD}modules: {{tasks: {{\"\\e[31m\": held}}}}\n"));
    assert!(!escaped.contains('\u{1b}'), "{escaped:?}");
}

#[test]
fn a_file_may_be_one_mebibyte_and_no_more() {
    let fill = |size: usize| format!("{HEAD}#{}", "x".repeat(size - HEAD.len() - 1));
    assert!(parse(&fill(FILE_BYTES_MAX)).is_ok());
    insta::assert_snapshot!(drawn(&fill(FILE_BYTES_MAX + 1)), @r#"
    × case.yaml is too large: expected at most 1048576 bytes (1 MiB)
    help: split it into several files
    "#);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.yaml");
    std::fs::write(&path, fill(FILE_BYTES_MAX + 1)).unwrap();
    let error = Scenario::read(&path).unwrap_err();
    assert!(error.to_string().contains("expected at most 1048576 bytes"), "{error}");
}

#[test]
fn a_file_that_is_not_there_says_so() {
    let error = Scenario::read(Path::new("nowhere.yaml")).unwrap_err();
    assert!(error.to_string().starts_with("nowhere.yaml could not be read: "), "{error}");
    assert!(error.help().is_some());
    // A command hands every error to miette, which wants it to be sendable.
    let _ = miette::Report::new(error);
    assert!(Scenario::read(Path::new(".")).is_err());
}

#[test]
fn no_input_panics() {
    for nested in ["[", "{a: ", "- ", "? ", "  - a: ", "!x ", "&a "] {
        let _ = parse(&nested.repeat(50_000));
        let _ = parse(&format!("{HEAD}modules: {{critic: {}", nested.repeat(50_000)));
    }
    // Every beginning of a file, and every file with one byte changed.
    let small: String =
        FULL.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    for end in (0..small.len()).filter(|end| small.is_char_boundary(*end)) {
        let _ = parse(&small[..end]).map_err(|error| draw(&error));
    }
    for place in 0..small.len() {
        for byte in *b"[{:-#'\"\n\t *&!|3\x00\xc3" {
            let mut bytes = small.as_bytes().to_vec();
            bytes[place] = byte;
            if let Err(error) = crate::yaml::Source::from_bytes("case.yaml", bytes)
                .and_then(|source| read::scenario(source, Path::new("")))
            {
                let _ = draw(&error);
            }
        }
    }
}

#[test]
fn a_full_file_means_what_it_says() {
    let scenario = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap();
    assert_eq!(scenario.name, "full");
    assert_eq!(scenario.conversation.as_str(), "happy-path");
    assert_eq!(scenario.policy, Policy::as_drawn());
    assert_eq!(scenario.user, UserId::new("ada"));
    assert_eq!(scenario.requests.len(), 2);
    assert_eq!(scenario.requests[0].incidents, []);
    let moment = Moment { when: Phase::RunningTasks, visit: 2 };
    assert_eq!(scenario.requests[1].incidents, [(moment, Incident::Cancel)]);
    assert_eq!(scenario.text(), FULL);
    let plain = parse(HEAD).unwrap();
    assert_eq!((plain.conversation.as_str(), plain.policy), ("case", Policy::hardened()));
}

/// The answers to some questions in a row.
fn answers(script: &mut Script, asks: &[Ask]) -> Vec<Answer> {
    asks.iter().map(|ask| script.answer(*ask, &Text::from("Add encryption")).unwrap()).collect()
}

fn said(stance: Stance, confidence: u32) -> Answer {
    let argument = Argument { stance, confidence: Score::from_millionths(confidence).unwrap() };
    Answer::Reply(Report::Argument { argument, text: Text::from(""), plan: None })
}

fn exit(code: i32, text: &str) -> Answer {
    Answer::Reply(Report::Exit { code, text: Text::from(text) })
}

#[test]
fn a_full_script_answers_every_question() {
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    let run = |number| Ask::RunTask { task: TaskId::new(number), effect: EffectKind::Pure };
    let undo = |number| Ask::UndoTask { task: TaskId::new(number) };
    let store = |store| Ask::Remember { store, kind: Kind::Outcome };
    let asks = [
        Ask::VerifyIdentity,
        Ask::LoadContext,
        Ask::Classify,
        Ask::DraftPlan,
        Ask::Argue(Role::Analyst),
        Ask::Argue(Role::Solution),
        Ask::Argue(Role::Critic),
        Ask::Argue(Role::Security),
        Ask::Argue(Role::Optimizer),
        Ask::Reread,
        Ask::Diagnose,
        run(1),
        run(2),
        run(3),
        undo(1),
        store(Store::Local),
        store(Store::Cloud),
        Ask::DeliverAudit,
    ];
    for (ask, answer) in asks.into_iter().zip(answers(&mut script, &asks)) {
        if let Answer::Reply(report) = answer {
            assert!(report.answers(ask), "{report:?} does not answer {ask:?}");
        }
    }
    let mut script = Scenario::parse("full.yaml", FULL, Path::new("")).unwrap().script;
    assert_eq!(answers(&mut script, &[run(2), run(2)]), [exit(1, "smtp refused"), exit(0, "sent")]);
    assert_eq!(answers(&mut script, &[run(3), run(3)]), [const { Answer::Fail(Failure::Timeout) }; 2]);
    assert_eq!(answers(&mut script, &[undo(1)]), [exit(0, "dropped")]);
    let [Answer::Reply(Report::Context { ratings, traces })] = &answers(&mut script, &[Ask::LoadContext])[..]
    else {
        panic!("the memory gives a context")
    };
    assert_eq!(ratings.critic, Rating { elo: 1210, successes: 0, matches: 0 });
    assert_eq!(ratings.analyst, Rating::START);
    assert_eq!(traces[0].trace.to_string(), "x/3");
    let [Answer::Reply(Report::Plan(plan))] = &answers(&mut script, &[Ask::DraftPlan])[..] else {
        panic!("the planner gives a plan")
    };
    let effects: Vec<_> = plan.tasks().iter().map(|task| task.effect.clone()).collect();
    let compensation = Text::from("Drop the key store");
    assert_eq!(effects, [Effect::Undoable { compensation }, Effect::Irreversible, Effect::Pure]);
}

#[test]
fn a_module_that_is_left_out_succeeds() {
    let mut script = parse(HEAD).unwrap().script;
    let task = Ask::RunTask { task: TaskId::FIRST, effect: EffectKind::Pure };
    let asks = [Ask::VerifyIdentity, Ask::Classify, Ask::DraftPlan, task, Ask::Diagnose, Ask::DeliverAudit];
    let plan = orchestrion_kernel::plan::Plan::new(vec![orchestrion_kernel::plan::Task {
        id: TaskId::FIRST,
        text: Text::from("Add encryption"),
        effect: Effect::Pure,
    }]);
    let expected = [
        Report::Identity { gcp: true, mongodb: true },
        Report::Classification { tags: vec![], similarity: Score::ZERO },
        Report::Plan(plan.unwrap()),
        Report::Exit { code: 0, text: Text::from("") },
        Report::NoRepair { text: Text::from("") },
        Report::Delivered,
    ];
    assert_eq!(answers(&mut script, &asks), expected.map(Answer::Reply));
}

#[test]
fn one_answer_repeats_and_a_list_is_used_in_order() {
    let text =
        format!("{HEAD}modules:\n{VOICES}  critic:\n    - con: {{confidence: 0.75}}\n    - fail: timeout\n",);
    let mut script = parse(&text).unwrap().script;
    let (analyst, critic) = (Ask::Argue(Role::Analyst), Ask::Argue(Role::Critic));
    assert_eq!(answers(&mut script, &[analyst; 3]), vec![said(Stance::Pro, 900_000); 3]);
    let expected = [said(Stance::Con, 750_000), Answer::Fail(Failure::Timeout)];
    assert_eq!(answers(&mut script, &[critic; 2]), expected);
    let error = script.answer(critic, &Text::from("")).unwrap_err();
    insta::assert_snapshot!(draw(&error), @r#"
     × the critic was asked a 3rd time, its script has 2 answers
      ╭─[case.yaml:8:5]
    7 │   critic:
    8 │     - con: {confidence: 0.75}
      ·     ────────────┬────────────
      ·                 ╰── `critic` has 2 answers
    9 │     - fail: timeout
      ·       ──────┬──────
      ·             ╰── the last one
      ╰────
     help: add a 3rd answer to `modules.critic`, or write one answer without a list: it repeats
    "#);
}

#[test]
fn a_voice_that_is_asked_must_be_scripted() {
    let mut script = parse(&format!("{HEAD}modules:\n{VOICES}")).unwrap().script;
    let error = script.answer(Ask::Argue(Role::Optimizer), &Text::from("")).unwrap_err();
    insta::assert_snapshot!(draw(&error), @r#"
     × the optimizer was asked, but the scenario does not say what it answers
      ╭─[case.yaml:6:3]
    5 │ modules:
    6 │   analyst: {pro: {confidence: 0.9}}
      ·   ────────────────┬────────────────
      ·                   ╰── no `optimizer` under `modules`
      ╰────
     help: add it under `modules`, as in `optimizer: {pro: {confidence: 0.9}}`
    "#);
}

#[test]
fn a_reread_shares_the_list_of_security_unless_it_has_its_own() {
    let security = "  security:\n    - con: {confidence: 0.5}\n    - pro: {confidence: 0.6}\n";
    let (round, reread) = (Ask::Argue(Role::Security), Ask::Reread);
    let mut script = parse(&format!("{HEAD}modules:\n{security}")).unwrap().script;
    let expected = [said(Stance::Con, 500_000), said(Stance::Pro, 600_000)];
    assert_eq!(answers(&mut script, &[round, reread]), expected);
    let own = "  reread: {con: {confidence: 0.95}}\n";
    let mut script = parse(&format!("{HEAD}modules:\n{security}{own}")).unwrap().script;
    let expected = [said(Stance::Con, 500_000), said(Stance::Con, 950_000)];
    assert_eq!(answers(&mut script, &[round, reread]), expected);
}

#[test]
fn a_script_carries_the_kernel_through_a_request() {
    use orchestrion_kernel::{Event, Input, State, decide};
    let sure = "{pro: {confidence: 0.9}}";
    let voices = ["analyst", "solution", "critic", "security", "optimizer"];
    let voices: String = voices.iter().map(|voice| format!("  {voice}: {sure}\n")).collect();
    let mut scenario = parse(&format!("{HEAD}modules:\n{voices}  local_store: refused\n")).unwrap();
    let mut state = State::new(scenario.conversation.clone());
    let text = scenario.requests[0].says.clone();
    let user = scenario.user.clone();
    let mut input = Input::SessionStart { user: user.clone() };
    let mut seen = Vec::new();
    for step in 0..100 {
        let events = decide(&scenario.policy, &state, &input).unwrap();
        events.iter().for_each(|event| state.apply(event));
        seen.extend(events);
        input = match state.control.waiting() {
            None if step == 0 => Input::UserMessage { user: user.clone(), text: text.clone() },
            None if state.control.phase().is_rest() => break,
            None => Input::Step,
            Some(call) => match scenario.script.answer(call.ask, &text).unwrap() {
                Answer::Reply(report) => Input::Reply { call: call.id, report },
                Answer::Fail(failure) => Input::CallFailed { call: call.id, failure },
            },
        };
    }
    assert_eq!(state.control.phase(), Phase::Idle);
    assert!(seen.iter().any(|event| matches!(event, Event::ToolCall { ask: Ask::RunTask { .. }, .. })));
    assert!(
        matches!(seen.last(), Some(Event::Moved { .. } | Event::FinalAnswer { .. })),
        "{:?}",
        seen.last()
    );
}

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
        file.about = Words::from(text);
        file.requests.value[0].says = Words::from(text);
        file.conversation = Some(Words::from(text));
        file.modules.value.tasks.insert(TaskId::FIRST, OneOrMany::many([TaskAnswer::Ok(Words::from(text))]));
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
        let argument = ArgumentFile { confidence, says: Words::default() };
        file.modules.value.critic = Some(OneOrMany::one(VoiceAnswer::Con(argument)));
        let written = write(&file).unwrap();
        assert_eq!(ScenarioFile::parse("case.yaml", &written).as_ref().ok(), Some(&file), "{written}");
    }
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_unknown_keys() {
    let validator = jsonschema::validator_for(&scenario_schema()).unwrap();
    let json = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).unwrap() };
    for good in [FULL, HEAD] {
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
        "modules: {critic: null}\n",
        "policy: null\n",
        "modules: {tasks: {one: {ok: x}}}\n",
        "modules: {local_store: full}\n",
        "modules: {planner: {plan: [{task: 1, do: x, done: true}]}}\n",
    ] {
        assert!(!validator.is_valid(&json(&format!("{HEAD}{bad}"))), "{bad}");
    }
}
