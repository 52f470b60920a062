//! What becomes of traces and of recorded debates, and how what cannot be promoted is told.

use super::*;
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::{CallId, ConversationId, Input, Text, UserId};
use orchestrion_report::evidence;
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::replay::replay;
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
    from_trace(Reader::new(trace, "some.ndjson").unwrap(), "some.ndjson", &target())
}

fn steps(trace: &[u8]) -> Vec<Step> {
    Reader::new(trace, "some.ndjson").unwrap().map(Result::unwrap).collect()
}

fn inputs(trace: &[u8]) -> Vec<Input> {
    steps(trace).into_iter().map(|step| step.input).collect()
}

/// A trace of these inputs, whether they are accepted or not.
fn recorded(policy: Policy, inputs: impl IntoIterator<Item = Input>) -> Vec<u8> {
    let header = Header::new(ConversationId::new("C-1"), policy, None);
    let mut conversation = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for input in inputs {
        let _ = conversation.submit(&input, &StepMetadata::default()).unwrap();
    }
    conversation.close().unwrap()
}

fn scenario(policy: &str, rest: &str) -> String {
    let requests = "  - says: Add encryption\n  - says: And now?\n";
    format!("about: A test.\npolicy: {policy}\nuser: ada\nrequests:\n{requests}modules:\n{VOICES}{rest}")
}

/// The golden trace replays equal, and the scenario plays it again, from its files.
fn check_kept(promotion: &Promotion) {
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
fn a_played_scenario_is_promoted_to_one_that_plays_the_same() {
    let plan =
        "  planner: {plan: [{task: 1, do: Create, undo: Drop}, {task: 2, do: Send, irreversible: true}]}\n";
    let fails = "  tasks: {2: [fail: timeout, {exit: {code: 3, says: no}}, fail: error, ok: sent]}\n  undo: {1: {ok: gone}}\n  \
                 diagnosis: {repaired: {says: again, plan: [{task: 2, do: Send, irreversible: true}]}}\n";
    let revised = "  reread: {pro: {confidence: 1}}\n  local_store: [refused, fail: timeout]\n";
    let vetoed = scenario("hardened", "").replace("security: {pro", "security: {con");
    let cancelled = scenario("hardened", plan)
        .replace("says: And now?", "says: And now?\n    cancel: {when: RunningTasks, visit: 2}");
    // Halts: a failing call without a row, a cancel that is refused, a second request after Done, a dead end.
    let no_row = scenario("as-drawn", "  memory: {fail: error}\n");
    let no_cancel =
        scenario("as-drawn", "").replace("encryption\n", "encryption\n    cancel: {when: Classifying}\n");
    let dead_end = scenario("as-drawn", "  tasks: {1: {exit: {code: 1}}}\n");
    let incidents = "\n    interrupt: {when: Planning, says: Well?}\n    crash: {when: Planning}\n    cancel: {when: Success}";
    let disturbed =
        scenario("hardened", plan).replace("says: And now?", &format!("says: And now?{incidents}"));
    let again = "\n    interrupt: [{when: Planning, says: Well?}, {when: Planning, says: Hm}, {when: Success, says: So?}]\n    \
                 crash: [{when: Planning}, {when: Planning}, {when: Auditing}]\n    \
                 cancel: [{when: RunningTasks, visit: 2}, {when: StoringMemory}]";
    let disturbed_again =
        scenario("hardened", plan).replace("says: And now?", &format!("says: And now?{again}"));
    let users = scenario("hardened", plan)
        .replace("says: And now?", "says: And now?\n    user: bob\n  - says: And I?");
    let lost = scenario("hardened", &format!("{plan}  tasks: {{1: {{fail: unknown}}}}\n"))
        .replace("says: And now?", "says: And now?\n    crash: {when: RunningTasks}");
    let all = [
        FULL.replace("as-drawn", "hardened")
            .replace("auditor: [delivered, fail: error, {delivered, after: 3s}]", "auditor: delivered"),
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
        // How long answers took is nothing that a scenario must keep to be decided the same.
        let took_time = text.contains("after:");
        let untimed = ["What the runtime noted beside the inputs, and when they came, is not kept."];
        assert_eq!(promotion.notes, &untimed[..usize::from(took_time)], "{text}");
        check_kept(&promotion);
    }
}

#[test]
fn a_trace_that_stops_anywhere_is_carried_to_its_end() {
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
            // Once nobody repairs, as drawn, there is no way on.
            let given_up =
                |input: &Input| matches!(input, Input::Reply { report: Report::NoRepair { .. }, .. });
            let dead_end = policy == "as-drawn" && whole[..end].iter().any(given_up);
            assert_eq!(promotion.halted.is_some(), dead_end, "{end} of {}", whole.len());
            assert_eq!(promotion.notes.len(), usize::from(busy));
        }
    }
}

#[test]
fn a_trace_that_stops_in_a_compaction_is_carried_to_its_end() {
    let golden = std::fs::read("../specs/scenarios/compaction.ndjson").unwrap();
    let policy = Reader::new(golden.as_slice(), "golden").unwrap().header().policy.clone();
    let whole = inputs(&golden);
    for end in 2..whole.len() {
        let promotion = promoted(&recorded(policy.clone(), whole[..end].iter().cloned())).unwrap();
        assert!(inputs(&promotion.golden).starts_with(&whole[..end]), "{}", promotion.scenario);
        assert!(promotion.halted.is_none(), "{end}: {}", promotion.scenario);
    }
}

#[test]
fn a_counterexample_is_promoted_with_an_end() {
    let security = "security: {con: {confidence: 0.95}}";
    let text = scenario("as-drawn", "").replace("security: {pro: {confidence: 0.9}}", security);
    let found = evidence::record("C-02", &Policy::as_drawn(), &inputs(&trace_of(&text))[..15]).unwrap();
    let promotion = from_trace(
        Reader::new(found.trace.as_slice(), &found.file).unwrap(),
        "some/folder/C-02-9f31c2aa.trace.ndjson",
        &target(),
    )
    .unwrap();
    snapshot!(format!("{}---\n{}\n", promotion.scenario, promotion.notes.join("\n")));
    assert!(promotion.halted.is_none());
    check_kept(&promotion);
}

#[test]
fn refused_inputs_are_left_out_and_told() {
    let whole = inputs(&trace_of(&scenario("hardened", "")));
    let late = Input::reply(CallId::FIRST, Report::Delivered);
    let busy = Input::UserMessage { user: UserId::new("ada"), text: Text::from("Well?") };
    let mut with = whole.clone();
    // What the user says in between is said again.
    with.splice(9..9, [late.clone(), busy.clone(), busy.clone(), Input::SessionEnd]);
    with.push(late);
    let promotion = promoted(&recorded(Policy::hardened(), with)).unwrap();
    let mut kept = whole;
    kept.splice(9..9, [busy.clone(), busy]);
    assert_eq!(inputs(&promotion.golden), kept);
    snapshot!(promotion.notes.join("\n"));
}

#[test]
fn a_policy_of_its_own_comes_with_it() {
    let mut policy = Policy::as_drawn();
    policy.name = "mine".into();
    policy.rules = Policy::hardened().rules;
    let inputs = inputs(&trace_of(&scenario("hardened", "")));
    let promotion = promoted(&recorded(policy, inputs)).unwrap();
    assert!(promotion.scenario.contains("policy: case.policy.yaml\n"), "{}", promotion.scenario);
    let names: Vec<_> = promotion.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["case.yaml", "case.policy.yaml", "case.ndjson"]);
    check_kept(&promotion);
}

#[test]
fn what_a_scenario_cannot_say_is_an_error_at_its_step() {
    let start = |user| Input::SessionStart { user: UserId::new(user) };
    let ask = Input::UserMessage { user: UserId::new("ada"), text: Text::from("Add") };
    let fail = |call| Input::CallFailed { call: CallId::new(call), failure: Failure::Error };
    let one = [start("ada"), ask.clone(), fail(1), fail(2), fail(3), fail(4)];
    let cases = [
        one.iter().cloned().chain([Input::SessionEnd, start("bob")]).collect(),
        one.iter().cloned().chain([Input::SessionEnd, start("ada"), ask.clone()]).collect(),
        [start("bob"), Input::SessionEnd].into_iter().chain(one.iter().cloned()).collect(),
        vec![start("ada"), Input::SessionEnd],
        vec![],
    ];
    let mut told = String::new();
    for inputs in cases {
        let error = promoted(&recorded(Policy::hardened(), inputs)).err().unwrap();
        let help = error.help().map(|help| help.to_string()).unwrap_or_default();
        told.push_str(&format!("{error}\n  {help}\n"));
    }
    snapshot!(told);
}

#[test]
fn a_trace_that_this_kernel_does_not_lead_to_is_an_error() {
    let inputs = inputs(&trace_of(&scenario("hardened", "")));
    let trace = recorded(Policy::hardened(), inputs);
    let header = Header::new(ConversationId::new("C-1"), Policy::hardened(), None);
    let mut writer = orchestrion_trace::Writer::new(Vec::new(), &header).unwrap();
    for mut step in steps(&trace) {
        // A kernel that forgot to ask the stores: the events say one thing, the inputs another.
        if step.n == 3 {
            step.input = Input::Step;
        }
        let made = StepRecord::accepted(&step.events, step.context.as_ref());
        writer.step(&StepMetadata::default(), &step.input, made).unwrap();
    }
    let error = promoted(&writer.end().unwrap()).unwrap_err();
    assert!(matches!(error, PromoteError::Differs { n: 3, .. }), "{error}");
}

#[test]
fn a_trace_without_its_last_line_is_promoted_as_far_as_it_goes() {
    let trace = String::from_utf8(trace_of(&scenario("hardened", ""))).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    for end in 3..lines.len() - 1 {
        let open = lines[..end].join("\n") + "\n";
        let torn = open.clone() + &lines[end][..lines[end].len() / 2];
        for text in [&open, &torn] {
            let promotion = promoted(text.as_bytes()).unwrap();
            let recorded: Vec<_> = inputs(trace.as_bytes()).into_iter().take(end - 1).collect();
            assert!(inputs(&promotion.golden).starts_with(&recorded), "{end}\n{}", promotion.scenario);
            assert!(promotion.notes[0].starts_with(&format!("The recording stops after step {}, ", end - 1)));
            assert!(promotion.halted.is_none());
        }
    }
    let edited = trace.replacen("ada", "eve", 1);
    assert!(matches!(promoted(edited.as_bytes()), Err(PromoteError::Trace(_))));
}

/// Names and texts that YAML, a file name or a terminal would take for something else.
#[test]
fn whatever_was_said_is_promoted_as_it_was() {
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
        let start = Input::SessionStart { user: user.clone() };
        let ask = Input::UserMessage { user, text: text.into() };
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
            while conversation.state().control.pending_call().is_none() {
                conversation.submit(&Input::Step, &StepMetadata::default()).unwrap().unwrap();
            }
            let call = conversation.state().control.pending_call().unwrap().id;
            conversation.submit(&Input::reply(call, report), &StepMetadata::default()).unwrap().unwrap();
        }
        let trace = conversation.close().unwrap();
        let promotion = promoted(&trace).unwrap_or_else(|error| panic!("{text:?}\n{error:?}"));
        assert!(inputs(&promotion.golden).starts_with(&inputs(&trace)), "{text:?}\n{}", promotion.scenario);
        check_kept(&promotion);
    }
}

/// A built-in policy of an earlier version, or of somebody who changed it without giving it a name.
#[test]
fn a_policy_that_only_has_the_name_of_a_built_in_one_comes_under_another() {
    for odd in ["hardened", "as-drawn", "", "a: b\n", "\u{1b}[31m"] {
        let mut policy = Policy::hardened();
        policy.name = odd.into();
        policy.bounds.passes = 2;
        let inputs = inputs(&trace_of(&scenario("hardened", "")));
        let trace = recorded(policy, inputs);
        let promotion = promoted(&trace).unwrap_or_else(|error| panic!("{odd:?}: {error:?}"));
        let renamed = Policy::built_in(odd).is_some();
        assert_eq!(promotion.notes.iter().any(|note| note.contains("as recorded`")), renamed, "{odd:?}");
        check_kept(&promotion);
    }
}

#[test]
fn names_are_plain() {
    for good in ["a", "veto-survives", "3"] {
        assert!(Target::new(good, Path::new("x")).is_ok(), "{good}");
    }
    for bad in ["", "A", "a.b", "../a", "a/b", "a b", "ä", "a\n"] {
        assert!(Target::new(bad, Path::new("x")).is_err(), "{bad}");
    }
}

#[test]
fn editors_are_told_of_the_schema_where_there_is_one() {
    let specs = tempfile::tempdir().unwrap();
    let folder = specs.path().join("scenarios");
    let first_line = |target: &Target| {
        let promotion = from_debate("debate.json", DEBATE, target).unwrap();
        promotion.scenario.lines().next().unwrap().to_string()
    };
    assert!(first_line(&Target::new("case", &folder).unwrap()).starts_with("about: "));
    std::fs::create_dir(specs.path().join("schemas")).unwrap();
    assert_eq!(first_line(&Target::new("case", &folder).unwrap()), SCHEMA_LINE.trim_end());
}

#[test]
fn a_recorded_debate_is_promoted() {
    let promotion = from_debate("debate.json", DEBATE, &target()).unwrap();
    snapshot!(format!("{}---\n{}\n", promotion.scenario, promotion.notes.join("\n")));
    assert!(promotion.halted.is_none());
    check_kept(&promotion);
}

#[test]
fn mistakes_in_recorded_debates_are_drawn_where_they_are() {
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
    let mut told = String::new();
    for mistake in mistakes {
        assert_ne!(mistake, DEBATE);
        let error = match from_debate("debate.json", &mistake, &target()).unwrap_err() {
            PromoteError::Read(error) => error,
            error => panic!("{mistake}\n{error}"),
        };
        let drawn = render_error(&error);
        assert!(drawn.contains("help: ") && drawn.contains("[debate.json:"), "{drawn}");
        told.push_str(&drawn);
        told.push('\n');
    }
    snapshot!(told);
}
