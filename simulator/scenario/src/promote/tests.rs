//! Tests of promotion.

use super::*;
use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::{CallId, ConversationId, Input, Text, TimedInput, Timestamp, UserId};
use orchestrion_report::evidence;
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::replay::replay;
use orchestrion_trace::segments::{TextSelection, erase_texts};
use orchestrion_trace::{Header, StepMetadata, StepRecord};
use orchestrion_yaml::render_error;

const DEBATE: &str = include_str!("samples/debate.json");
const FULL: &str = include_str!("../samples/full.yaml");
const VOICES: &str = "  analyst: {pro: {confidence: 0.9}}\n  solution: {pro: {confidence: 0.9}}\n  \
                      critic: {con: {confidence: 0.7}}\n  security: {pro: {confidence: 0.9}}\n  \
                      optimizer: {pro: {confidence: 0.9}}\n";

/// Compares with a snapshot file, without repeating the code in it.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($text) })
    };
}

fn target() -> Target {
    Target::new("case", Path::new("no-such-folder")).unwrap()
}

fn trace_of(text: &str) -> Vec<u8> {
    run_scenario(Scenario::parse("played.yaml", text, Path::new("")).unwrap()).unwrap().trace
}

fn promoted(trace: &[u8]) -> Result<Promotion, PromoteError> {
    from_trace(Reader::new(trace, "some.ndjson").unwrap(), "some.ndjson", &target(), &[])
}

fn steps(trace: &[u8]) -> Vec<Step> {
    Reader::new(trace, "some.ndjson").unwrap().map(Result::unwrap).collect()
}

fn inputs(trace: &[u8]) -> Vec<Input> {
    steps(trace).into_iter().map(|step| step.input).collect()
}

/// Records these inputs, including refused ones.
fn recorded(policy: Policy, inputs: impl IntoIterator<Item = Input>) -> Vec<u8> {
    let header = Header::new(ConversationId::new("C-1"), policy, None);
    let mut conversation = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for input in inputs {
        let _ = conversation.submit(&input, &StepMetadata::default()).unwrap();
    }
    conversation.close().unwrap()
}

#[test]
fn recording_that_is_too_large_is_refused() {
    let header = Header::new(ConversationId::new("C-1"), Policy::hardened(), None);
    let mut conversation = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for letter in ["a", "b", "c"] {
        let metadata = StepMetadata { note: Some(letter.repeat(6 << 20)), ..StepMetadata::default() };
        let _ = conversation.submit(&Input::Tick, &metadata).unwrap();
    }
    let error = promoted(&conversation.close().unwrap()).unwrap_err().to_string();
    assert!(
        error.starts_with("some.ndjson:4: recording too large: expected steps of at most 16777216 bytes"),
        "{error}"
    );
}

fn scenario(policy: &str, rest: &str) -> String {
    let requests = "  - text: Add encryption\n  - text: And now?\n";
    format!(
        "description: A test.\npolicy: {policy}\nuser: ada\nrequests:\n{requests}modules:\n{VOICES}{rest}"
    )
}

/// Checks that the golden trace replays without divergence and that the files give the same trace.
fn check_promotion(promotion: &Promotion) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in promotion.files() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let again = Scenario::read(&folder.path().join("case.yaml")).unwrap();
    assert_eq!(run_scenario(again).unwrap().trace, promotion.golden);
    assert!(
        replay(Reader::new(promotion.golden.as_slice(), "case.ndjson").unwrap(), None, &StandardContexts)
            .is_equal()
    );
}

#[test]
fn promoted_scenario_repeats_the_run() {
    let plan =
        "  planner: {plan: [{task: 1, do: Create, undo: Drop}, {task: 2, do: Send, irreversible: true}]}\n";
    let fails = "  tasks: {2: [fail: timeout, {exit: {code: 3, text: no}}, fail: error, ok: sent]}\n  undo: {1: {ok: gone}}\n  \
                 diagnosis: {repair: {text: again, plan: [{task: 2, do: Send, irreversible: true}]}}\n";
    let revised = "  review: {pro: {confidence: 1}}\n  local_store: [refused, fail: timeout]\n";
    let vetoed = scenario("hardened", "").replace("security: {pro", "security: {con");
    let cancelled = scenario("hardened", plan)
        .replace("text: And now?", "text: And now?\n    cancel: {phase: RunningTasks, visit: 2}");
    // Halts: a failed call without a transition, a refused cancel, a second request after Done, a dead end.
    let no_row = scenario("as-drawn", "  memory: {fail: error}\n");
    let no_cancel =
        scenario("as-drawn", "").replace("encryption\n", "encryption\n    cancel: {phase: Classifying}\n");
    let dead_end = scenario("as-drawn", "  tasks: {1: {exit: {code: 1}}}\n");
    let events = "\n    interrupt: {phase: Planning, text: Well?}\n    crash: {phase: Planning}\n    cancel: {phase: Success}";
    let disturbed = scenario("hardened", plan).replace("text: And now?", &format!("text: And now?{events}"));
    let again = "\n    interrupt: [{phase: Planning, text: Well?}, {phase: Planning, text: Hm}, {phase: Success, text: So?}]\n    \
                 crash: [{phase: Planning}, {phase: Planning}, {phase: Auditing}]\n    \
                 cancel: [{phase: RunningTasks, visit: 2}, {phase: StoringMemory}]";
    let disturbed_again =
        scenario("hardened", plan).replace("text: And now?", &format!("text: And now?{again}"));
    let users = scenario("hardened", plan)
        .replace("text: And now?", "text: And now?\n    user: bob\n  - text: And I?");
    let lost = scenario("hardened", &format!("{plan}  tasks: {{1: {{fail: outcome_unknown}}}}\n"))
        .replace("text: And now?", "text: And now?\n    crash: {phase: RunningTasks}");
    let all = [
        FULL.replace("as-drawn", "hardened").replace(
            "auditor: [delivered, fail: error, {reply: delivered, after: 3s}]",
            "auditor: delivered",
        ),
        scenario("hardened", ""),
        scenario("hardened", &format!("{plan}{fails}")),
        scenario("hardened", &format!("{plan}{fails}{revised}")),
        scenario("as-drawn", ""),
        vetoed,
        cancelled,
        disturbed,
        disturbed_again,
        users,
        lost,
        no_row,
        no_cancel,
        dead_end,
    ];
    for text in all {
        let trace = match run_scenario(Scenario::parse("played.yaml", &text, Path::new("")).unwrap()) {
            Ok(played) => played.trace,
            Err(error) => panic!("{text}\n{error}"),
        };
        let promotion = promoted(&trace).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(inputs(&promotion.golden), inputs(&trace), "{text}\n{}", promotion.scenario);
        // Delays do not affect decisions, so a promoted scenario omits them.
        let took_time = text.contains("after:");
        let untimed = ["The times and notes of the recorded steps are omitted."];
        assert_eq!(promotion.notes, &untimed[..usize::from(took_time)], "{text}");
        check_promotion(&promotion);
    }
}

#[test]
fn memory_is_scripted_where_replies_are_not_simulated() {
    let simulated = promoted(&trace_of(&scenario("hardened", ""))).unwrap();
    assert!(!simulated.scenario.contains("memory:"), "{}", simulated.scenario);
    let fixed = promoted(&trace_of(&scenario("hardened", "  memory: {context: {}}\n"))).unwrap();
    assert!(fixed.scenario.contains("memory:"), "{}", fixed.scenario);
    check_promotion(&simulated);
    check_promotion(&fixed);
}

#[test]
fn truncated_trace_is_completed() {
    let plan =
        "  planner: {plan: [{task: 1, do: Create, undo: Drop}, {task: 2, do: Send, irreversible: true}]}\n";
    let rest = "  tasks: {1: {ok: done}}\n  cloud_store: refused\n";
    let fails = "  tasks: {1: {exit: {code: 1}}}\n";
    for (policy, rest) in [("hardened", rest), ("hardened", fails), ("as-drawn", rest), ("as-drawn", fails)] {
        let whole = inputs(&trace_of(&scenario(policy, &format!("{plan}{rest}"))));
        for end in 2..whole.len() {
            let cut = recorded(Policy::built_in(policy).unwrap(), whole[..end].iter().cloned());
            let promotion = promoted(&cut).unwrap();
            assert!(inputs(&promotion.golden).starts_with(&inputs(&cut)), "{}", promotion.scenario);
            let busy = promotion.scenario.contains("The recording stops at step");
            // Without a repair, `as-drawn` has a dead end.
            let given_up =
                |input: &Input| matches!(input, Input::Reply { report: Report::NoRepair { .. }, .. });
            let dead_end = policy == "as-drawn" && whole[..end].iter().any(given_up);
            assert_eq!(promotion.halted.is_some(), dead_end, "{end} of {}", whole.len());
            assert_eq!(promotion.notes.len(), usize::from(busy));
        }
    }
}

#[test]
fn trace_truncated_in_compaction_is_completed() {
    let golden = std::fs::read("../../specs/scenarios/compaction.ndjson").unwrap();
    let policy = Reader::new(golden.as_slice(), "golden").unwrap().header().policy.clone();
    let whole = inputs(&golden);
    for end in 2..whole.len() {
        let promotion = promoted(&recorded(policy.clone(), whole[..end].iter().cloned())).unwrap();
        assert!(inputs(&promotion.golden).starts_with(&whole[..end]), "{}", promotion.scenario);
        assert!(promotion.halted.is_none(), "{end}: {}", promotion.scenario);
    }
}

#[test]
fn counterexample_is_completed() {
    let security = "security: {con: {confidence: 0.95}}";
    let text = scenario("as-drawn", "").replace("security: {pro: {confidence: 0.9}}", security);
    let inputs = steps(&trace_of(&text)).into_iter().take(15);
    let inputs: Vec<TimedInput> =
        inputs.map(|step| TimedInput { at: Timestamp::from_millis(step.at_ms), input: step.input }).collect();
    let found = evidence::record("C-02", &Policy::as_drawn(), &inputs).unwrap();
    let promotion = from_trace(
        Reader::new(found.trace.as_slice(), &found.file).unwrap(),
        "some/folder/C-02-9f31c2aa.trace.ndjson",
        &target(),
        &[],
    )
    .unwrap();
    snapshot!(format!("{}---\n{}\n", promotion.scenario, promotion.notes.join("\n")));
    assert!(promotion.halted.is_none());
    check_promotion(&promotion);
}

#[test]
fn refused_inputs_are_omitted_with_notes() {
    let whole = inputs(&trace_of(&scenario("hardened", "")));
    let late = Input::reply(CallId::FIRST, Report::Delivered);
    let busy = Input::user_message(UserId::new("ada"), Text::from("Well?"));
    let mut with = whole.clone();
    // The refused user messages become interrupts.
    with.splice(9..9, [late.clone(), busy.clone(), busy.clone(), Input::SessionEnd]);
    with.push(late);
    let promotion = promoted(&recorded(Policy::hardened(), with)).unwrap();
    let mut kept = whole;
    kept.splice(9..9, [busy.clone(), busy]);
    assert_eq!(inputs(&promotion.golden), kept);
    snapshot!(promotion.notes.join("\n"));
}

#[test]
fn custom_policy_is_promoted() {
    let mut policy = Policy::as_drawn();
    policy.name = "mine".into();
    policy.rules = Policy::hardened().rules;
    let inputs = inputs(&trace_of(&scenario("hardened", "")));
    let promotion = promoted(&recorded(policy, inputs)).unwrap();
    assert!(promotion.scenario.contains("policy: case.policy.yaml\n"), "{}", promotion.scenario);
    let names: Vec<_> = promotion.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["case.yaml", "case.policy.yaml", "case.ndjson"]);
    check_promotion(&promotion);
}

#[test]
fn inexpressible_step_is_an_error() {
    let start = |user| Input::session_start(UserId::new(user));
    let ask = Input::user_message(UserId::new("ada"), Text::from("Add"));
    let fail = |call| Input::CallFailed { call: CallId::new(call), failure: Failure::Error };
    let one = [start("ada"), ask.clone(), fail(1), fail(2), fail(3), fail(4)];
    let write = |write| Input::Write(Box::new(write));
    let fact = NewFact::global("price".into(), "high".into(), WriteSource::default());
    let cases = [
        one.iter().cloned().chain([Input::SessionEnd, start("bob")]).collect(),
        one.iter().cloned().chain([Input::SessionEnd, start("ada"), ask.clone()]).collect(),
        [start("bob"), Input::SessionEnd].into_iter().chain(one.iter().cloned()).collect(),
        vec![start("ada"), Input::SessionEnd],
        vec![],
        one.iter().cloned().chain([write(Write::Fact(fact)), ask.clone()]).collect(),
    ];
    let mut rendered = String::new();
    for inputs in cases {
        let error = promoted(&recorded(Policy::hardened(), inputs)).err().unwrap();
        let help = error.help().map(|help| help.to_string()).unwrap_or_default();
        rendered.push_str(&format!("{error}\n  {help}\n"));
    }
    snapshot!(rendered);
}

#[test]
fn divergent_trace_is_an_error() {
    let inputs = inputs(&trace_of(&scenario("hardened", "")));
    let trace = recorded(Policy::hardened(), inputs);
    let header = Header::new(ConversationId::new("C-1"), Policy::hardened(), None);
    let mut writer = orchestrion_trace::Writer::new(Vec::new(), &header).unwrap();
    for mut step in steps(&trace) {
        // A kernel that does not call the stores: the events and the inputs disagree.
        if step.n == 3 {
            step.input = Input::Step;
        }
        let made = StepRecord::accepted(&step.events, step.context.as_ref());
        writer.write_step(&StepMetadata::default(), &step.input, made).unwrap();
    }
    let error = promoted(&writer.end().unwrap()).unwrap_err();
    assert!(matches!(error, PromoteError::Differs { n: 3, .. }), "{error}");
}

/// A promoted scenario omits delays, so its run has other times.
#[test]
fn other_times_are_no_other_decision() {
    for name in ["parallel-failures", "network-load"] {
        let golden = std::fs::read(format!("../../specs/scenarios/{name}.ndjson")).unwrap();
        let promotion = promoted(&golden).unwrap();
        assert_eq!(promotion.notes, ["The times and notes of the recorded steps are omitted."], "{name}");
    }
}

#[test]
fn erased_texts_are_noted() {
    let header = Header::new(ConversationId::new("C-1"), Policy::hardened(), None).into_journal();
    let mut conversation = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for input in inputs(&trace_of(&scenario("hardened", ""))) {
        conversation.submit(&input, &StepMetadata::default()).unwrap().unwrap();
    }
    let journal = conversation.close().unwrap();
    assert_eq!(promoted(&journal).unwrap().notes, [""; 0]);
    // The text of the first request, which is step 2.
    let selection = TextSelection { before: Some(3), containing: None };
    let mut erased = Vec::new();
    erase_texts(journal.as_slice(), "some.ndjson", selection, &mut erased).unwrap();
    let promotion = promoted(&erased).unwrap();
    assert!(promotion.scenario.contains("text: erased-"), "{}", promotion.scenario);
    assert_eq!(promotion.notes, ["Erased texts: 1. The scenario has placeholders instead of them."]);
}

#[test]
fn trace_without_end_line_is_promoted() {
    let trace = String::from_utf8(trace_of(&scenario("hardened", ""))).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    for end in 3..lines.len() - 1 {
        let open = lines[..end].join("\n") + "\n";
        let torn = open.clone() + &lines[end][..lines[end].len() / 2];
        for text in [&open, &torn] {
            let promotion = promoted(text.as_bytes()).unwrap();
            let recorded: Vec<_> = inputs(trace.as_bytes()).into_iter().take(end - 1).collect();
            assert!(inputs(&promotion.golden).starts_with(&recorded), "{end}\n{}", promotion.scenario);
            assert!(promotion.notes[0].starts_with(&format!("The recording stops after step {}: ", end - 1)));
            assert!(promotion.halted.is_none());
        }
    }
    let edited = trace.replacen("ada", "eve", 1);
    assert!(matches!(promoted(edited.as_bytes()), Err(PromoteError::Trace(_))));
}

/// Names and texts with a special meaning in YAML, in file names or on terminals.
#[test]
fn unusual_texts_are_promoted_unchanged() {
    let odd = [
        "",
        " ",
        "~",
        "null",
        "yes",
        "3",
        "0x1F",
        "- a",
        "a: b",
        "# a",
        "'",
        "\"",
        "\\",
        "{}",
        "%TAG",
        "---",
        "...",
        "&a",
        "*a",
        "!!str a",
        "a\n",
        "\n\na\n b\n\n",
        "\ta",
        " a ",
        "a\r\nb",
        "\u{0}\u{1b}[31m\u{7}\u{7f}\u{85}\u{9b}",
        "\u{202e}\u{2028}\u{2029}\u{feff}\u{fffe}\u{e0041}",
        "<img src=x onerror=alert(1)>\"'&</script>",
        "hardened",
        "漢字 🙂",
    ];
    for text in odd.into_iter().chain([&*"long ".repeat(20_000)]) {
        let user = UserId::new(text);
        let start = Input::session_start(user.clone());
        let ask = Input::user_message(user, text.into());
        let replies = [
            Report::Identity { gcp: true, mongodb: true },
            Report::Context { ratings: Default::default(), traces: Vec::new() },
            Report::Classification { tags: vec![text.into(), text.into()], similarity: Default::default() },
        ];
        let mut conversation = {
            let header = Header::new(ConversationId::new(text), Policy::hardened(), None);
            Recorder::open(Vec::new(), &header, &StandardContexts).unwrap()
        };
        conversation.submit(&start, &StepMetadata::default()).unwrap().unwrap();
        conversation.submit(&ask, &StepMetadata::default()).unwrap().unwrap();
        for report in replies {
            while conversation.state().control().pending_calls().is_empty() {
                conversation.submit(&Input::Step, &StepMetadata::default()).unwrap().unwrap();
            }
            let call = conversation.state().control().pending_calls()[0].id;
            conversation.submit(&Input::reply(call, report), &StepMetadata::default()).unwrap().unwrap();
        }
        let trace = conversation.close().unwrap();
        let promotion = promoted(&trace).unwrap_or_else(|error| panic!("{text:?}\n{error:?}"));
        assert!(inputs(&promotion.golden).starts_with(&inputs(&trace)), "{text:?}\n{}", promotion.scenario);
        check_promotion(&promotion);
    }
}

/// A built-in policy of an earlier version, or with changed settings under its old name.
#[test]
fn changed_built_in_policy_is_renamed() {
    for odd in ["hardened", "as-drawn", "", "a: b\n", "\u{1b}[31m"] {
        let mut policy = Policy::hardened();
        policy.name = odd.into();
        policy.bounds.passes = 2;
        let inputs = inputs(&trace_of(&scenario("hardened", "")));
        let trace = recorded(policy, inputs);
        let promotion = promoted(&trace).unwrap_or_else(|error| panic!("{odd:?}: {error:?}"));
        let renamed = Policy::built_in(odd).is_some();
        assert_eq!(promotion.notes.iter().any(|note| note.contains("as recorded`")), renamed, "{odd:?}");
        check_promotion(&promotion);
    }
}

#[test]
fn names_are_validated() {
    for good in ["a", "veto-survives", "3"] {
        assert!(Target::new(good, Path::new("x")).is_ok(), "{good}");
    }
    for bad in ["", "A", "a.b", "../a", "a/b", "a b", "ä", "a\n"] {
        assert!(Target::new(bad, Path::new("x")).is_err(), "{bad}");
    }
}

#[test]
fn schema_line_requires_a_schema_folder() {
    let specs = tempfile::tempdir().unwrap();
    let folder = specs.path().join("scenarios");
    let first_line = |target: &Target| {
        let promotion = from_debate("debate.json", DEBATE, target).unwrap();
        promotion.scenario.lines().next().unwrap().to_string()
    };
    assert!(first_line(&Target::new("case", &folder).unwrap()).starts_with("description: "));
    std::fs::create_dir(specs.path().join("schemas")).unwrap();
    assert_eq!(first_line(&Target::new("case", &folder).unwrap()), SCHEMA_LINE.trim_end());
}

#[test]
fn recorded_debate_is_promoted() {
    let promotion = from_debate("debate.json", DEBATE, &target()).unwrap();
    snapshot!(format!("{}---\n{}\n", promotion.scenario, promotion.notes.join("\n")));
    assert!(promotion.halted.is_none());
    check_promotion(&promotion);
}

#[test]
fn invalid_recorded_debates_are_reported() {
    let other = r#"{"id": "d-8", "objective": "x"}"#;
    let mistakes = [
        String::new(),
        "[".into(),
        "3".into(),
        "{}".into(),
        DEBATE.replace("\"objective\"", "\"goal\""),
        DEBATE.replace("\"objective\": \"Invite the members\"", "\"objective\": 3"),
        DEBATE.replace("\"is_pro\": 0, ", ""),
        DEBATE.replace("\"is_pro\": 0", "\"is_pro\": 2"),
        DEBATE.replace("\"Critic\"", "\"Critik\""),
        DEBATE.replace("\"Critic\"", "\"Analyst\""),
        DEBATE.replace("0.85", "1.2"),
        DEBATE.replace("0.85", "0.8500000000000001"),
        DEBATE.replace("0.85", "8.5e-1"),
        DEBATE.replace("0.85", "\"0.85\""),
        DEBATE.replacen("\"debate_id\": \"d-7\"", "\"debate_id\": \"d-9\"", 1),
        DEBATE.replace("  \"debates\": [\n", &format!("  \"debates\": [\n    {other},\n")),
        DEBATE.lines().filter(|line| !line.contains("Security")).collect::<Vec<_>>().join("\n"),
        r#"{"debates": [], "arguments": []}"#.into(),
        r#"{"debates": [{"id": 1, "objective": "x"}], "arguments": []}"#.into(),
    ];
    let mut rendered = String::new();
    for mistake in mistakes {
        assert_ne!(mistake, DEBATE);
        let error = match from_debate("debate.json", &mistake, &target()).unwrap_err() {
            PromoteError::Read(error) => error,
            error => panic!("{mistake}\n{error}"),
        };
        let drawn = render_error(&error);
        assert!(drawn.contains("help: ") && drawn.contains("[debate.json:"), "{drawn}");
        rendered.push_str(&drawn);
        rendered.push('\n');
    }
    snapshot!(rendered);
}

#[test]
fn counterexample_becomes_a_test_in_a_project() {
    // Security vetoes in the first pass and agrees in the second: under `as-drawn` the vetoed plan runs (C-06).
    let text = scenario("as-drawn", "").replace(
        "security: {pro: {confidence: 0.9}}",
        "security: [{con: {confidence: 0.95}}, {pro: {confidence: 0.9}}, {pro: {confidence: 0.9}}]",
    );
    let text = text.replace(
        "critic: {con: {confidence: 0.7}}",
        "critic: [{con: {confidence: 1.0}}, {pro: {confidence: 0.9}}, {pro: {confidence: 0.9}}]",
    );
    let trace = trace_of(&text);
    let promoted = |policy: Policy, reference: Option<&str>| {
        let policy = ProjectPolicy { policy, reference: reference.map(str::to_owned) };
        let reader = Reader::new(trace.as_slice(), "some.ndjson").unwrap();
        from_trace_in_project(reader, "some.ndjson", &target(), &[], policy).unwrap()
    };
    let faulty = promoted(Policy::as_drawn(), Some("as-drawn"));
    assert!(faulty.violated.contains(&"C-06".to_owned()) && !faulty.has_golden && faulty.policy.is_none());
    assert!(
        faulty.unmet.iter().any(|unmet| unmet.contains("claim C-06: expected to hold")),
        "{:?}",
        faulty.unmet
    );
    assert_eq!(faulty.files().len(), 1, "neither a policy nor a golden trace");
    let file = ScenarioFile::parse("case.yaml", &faulty.scenario).unwrap();
    assert_eq!(file.policy.map(|policy| policy.value.to_string()), Some("as-drawn".to_owned()));
    assert!(file.expect.fails.is_empty() && file.expect.holds.iter().any(|claim| claim.value.id() == "C-06"));

    // Under the corrected policy the claim holds, although it requests other replies than the recorded ones.
    let corrected = promoted(Policy::hardened(), None);
    assert_eq!(ScenarioFile::parse("case.yaml", &corrected.scenario).unwrap().policy, None);
    assert!(!corrected.unmet.iter().any(|unmet| unmet.contains("C-06")), "{:?}", corrected.unmet);
    assert!(
        corrected.notes.iter().any(|note| note.contains("differs from the recording from step")),
        "{:?}",
        corrected.notes
    );

    // Without a project, the scenario repeats the fault.
    let pinned = super::from_trace(
        Reader::new(trace.as_slice(), "some.ndjson").unwrap(),
        "some.ndjson",
        &target(),
        &[],
    )
    .unwrap();
    let file = ScenarioFile::parse("case.yaml", &pinned.scenario).unwrap();
    assert!(pinned.has_golden && pinned.unmet.is_empty(), "{:?}", pinned.unmet);
    assert!(file.expect.holds.is_empty() && file.expect.fails.iter().any(|claim| claim.value.id() == "C-06"));
}

#[test]
fn trace_without_violation_keeps_golden_in_a_project() {
    let trace = trace_of(&scenario("hardened", ""));
    let promote = |violated: &[String]| {
        let policy = ProjectPolicy { policy: Policy::hardened(), reference: None };
        let reader = Reader::new(trace.as_slice(), "some.ndjson").unwrap();
        from_trace_in_project(reader, "some.ndjson", &target(), violated, policy).unwrap()
    };
    let promotion = promote(&[]);
    assert!(promotion.has_golden && promotion.violated.is_empty() && promotion.notes.is_empty());
    assert_eq!(inputs(&promotion.golden), inputs(&trace));
    assert!(
        !promotion.scenario.contains("script:") && !promotion.scenario.contains("expect:"),
        "{}",
        promotion.scenario
    );
    let test = promote(&["no-memory".to_owned()]);
    assert!(!test.has_golden && test.violated == ["no-memory"]);
    assert!(test.scenario.contains("holds:\n    - no-memory"), "{}", test.scenario);
}
