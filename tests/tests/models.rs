//! The models explore the expected number of states and report exactly the listed findings.
//!
//! The counts detect changes of the model. If a count changes, check that the change explains the difference, and
//! update the number.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_claims::{CLAIMS, Claim, ClaimCheck, History, state_violations, step_violations};
use orchestrion_explorer::{Options, ResourceLimits};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::situation::Mode;
use orchestrion_kernel::{CallId, Event, Input, Policy, TimedInput, decide};
use orchestrion_model::check::{Counterexample, ModelRun, Verdict, explore, merge_verdicts};
use orchestrion_model::induction::{ENUMERATIONS, Start};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::product::initial_state;
use orchestrion_model::scopes::{Bounds, MODELS, Model, Scope};
use orchestrion_report::evidence;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;

fn run_models(policy: &Policy, scope: &str) -> Vec<ModelRun> {
    let scope = Scope::by_name(scope).unwrap();
    let explored = MODELS.into_iter().map(|model| run(policy, model, &scope));
    explored.chain(enumerate(&KernelUnderTest::unmodified(policy.clone()), &scope)).collect()
}

fn run(policy: &Policy, model: Model, scope: &Scope) -> ModelRun {
    let threads = std::thread::available_parallelism().unwrap();
    let options = Options { threads, ..Options::default() };
    explore(&KernelUnderTest::unmodified(policy.clone()), model, scope, &options, &mut |_| ()).unwrap()
}

fn enumerate(subject: &KernelUnderTest, scope: &Scope) -> Vec<ModelRun> {
    let threads = std::thread::available_parallelism().unwrap();
    ENUMERATIONS.iter().map(|enumeration| enumeration.check(subject, scope, threads)).collect()
}

#[test]
fn enumerations_list_these_states_and_steps() {
    let scope = Scope::by_name("tiny").unwrap();
    let runs = enumerate(&KernelUnderTest::unmodified(Policy::hardened()), &scope);
    let sizes: Vec<_> = runs.iter().map(|run| (run.model, run.states, run.products, run.steps)).collect();
    assert_eq!(
        sizes,
        [
            ("rivals", 10_696, 10_696, 256_196),
            ("audiences", 577, 3_462, 72_870),
            ("derived", 1_648, 1_648, 85_979),
            ("readers", 640, 10_240, 40_960),
            ("summaries", 5_096, 6_657, 41_201),
            ("partners", 1, 1_188, 20_963),
            ("oversized", 5, 37, 187),
            ("waiting", 37, 37, 277),
            ("debating", 4_320, 4_320, 21_636),
            ("clearing", 5_212, 5_212, 35_752),
            ("running", 3_429, 3_429, 16_554),
            ("graphs", 5_006, 5_006, 28_522),
            ("ending", 213, 213, 1_173),
        ]
    );
    // Every start that is left out violates a claim; those of the readers name a fact of their scope that is current.
    assert!(
        runs.iter().zip(ENUMERATIONS).all(|(run, all)| run.states <= all.starts(&Policy::hardened()).len())
    );
}

/// A kernel that loses the updates of a batch: each enumeration finds a step that violates a claim.
#[test]
fn induction_finds_the_step_from_a_state_that_no_input_needs_to_reach() {
    let lost = KernelUnderTest {
        mutate_events: Some(|_, events| {
            events.retain(|event| !matches!(event, Event::UpdateItem { .. }));
        }),
        ..KernelUnderTest::unmodified(Policy::hardened())
    };
    let runs = enumerate(&lost, &Scope::by_name("tiny").unwrap());
    let found = |run: &ModelRun| -> Vec<&str> {
        let of_claims = CLAIMS.iter().zip(&run.found);
        of_claims.filter(|(_, found)| found.induction.is_some()).map(|(claim, _)| claim.id).collect()
    };
    for run in &runs {
        let expected = match run.model {
            "rivals" => vec!["C-202", "C-205"],
            "audiences" => vec!["C-205", "C-206"],
            "derived" => vec!["C-202", "C-204"],
            "summaries" => vec!["C-91"],
            _ => Vec::new(),
        };
        let found = found(run);
        assert!(expected.iter().all(|id| found.contains(id)), "{}: {found:?}", run.model);
    }
    let verdicts = merge_verdicts(&Policy::hardened(), &runs);
    let position = CLAIMS.iter().position(|claim| claim.id == "C-204").unwrap();
    let Verdict::NotInductive { counterexample } = &verdicts[position] else { panic!("C-204 holds") };
    let Start::Items(items) = &counterexample.start else { panic!("{counterexample:?}") };
    assert!(!items.is_empty() && counterexample.inputs.len() == 2, "{counterexample:?}");
}

/// A packed frontier decodes every state that it encodes, and finds the same states. The models have each part of a state.
#[test]
fn packed_search_finds_the_same_states() {
    let scope = Scope::by_name("tiny").unwrap();
    let limits = ResourceLimits { memory_bytes: Some(1 << 30), ..ResourceLimits::default() };
    let named = ["lifecycle", "semantic", "scopes", "situation", "workflow", "attempts", "ensembles"];
    for model in MODELS.into_iter().filter(|model| named.contains(&model.name)) {
        let subject = KernelUnderTest::unmodified(Policy::hardened());
        let options = Options { limits, ..Options::default() };
        let packed = explore(&subject, model, &scope, &options, &mut |_| ()).unwrap();
        assert_eq!(packed.states, run(&Policy::hardened(), model, &scope).states, "{}", model.name);
    }
}

fn counts(runs: &[ModelRun]) -> Vec<(&'static str, usize, usize)> {
    let explored = runs.iter().filter(|run| Model::from_name(run.model).is_some());
    explored.map(|run| (run.model, run.states, run.products)).collect()
}

fn findings(verdicts: &[Verdict], word: &str) -> Vec<&'static str> {
    let all = CLAIMS.iter().zip(verdicts);
    all.filter(|(_, verdict)| verdict.as_str() == word)
        .map(|(claim, _)| claim.finding.unwrap_or(claim.id))
        .collect()
}

#[test]
#[ignore = "takes a minute; .ci/run runs it"]
fn hardened_satisfies_every_claim() {
    let policy = Policy::hardened();
    let runs = run_models(&policy, "small");
    let verdicts = merge_verdicts(&policy, &runs);
    assert_eq!(findings(&verdicts, "fails"), [""; 0]);
    assert_eq!(findings(&verdicts, "vacuous"), [""; 0]);
    assert_eq!(findings(&verdicts, "not_checked"), ["C-19", "C-115"]);
    assert_eq!(
        counts(&runs),
        [
            ("debate", 50_375, 60_071),
            ("ratings", 3_839, 4_597),
            ("duels", 3_821, 4_579),
            ("answers", 8_507, 8_507),
            ("execution", 446_595, 462_526),
            ("lifecycle", 123_991, 134_651),
            ("semantic", 36_114, 36_114),
            ("scopes", 94_475, 94_475),
            ("facts", 128_096, 128_952),
            ("contexts", 7_972, 7_972),
            ("situation", 28_022, 28_022),
            ("workflow", 41_588, 47_328),
            ("handoffs", 18_782, 18_892),
            ("nodes", 15_889, 15_889),
            ("attempts", 6_605, 6_643),
            ("ensembles", 5_226, 5_226),
            ("interactions", 10_714, 10_714),
            ("network", 8_319, 9_269),
        ]
    );
    for run in runs.iter().filter(|run| Model::from_name(run.model).is_some()) {
        assert!(
            run.products < 2 * run.states,
            "{}: expected fewer than two product states for each state",
            run.model
        );
    }
}

#[test]
fn as_drawn_fails_exactly_the_findings() {
    let policy = Policy::as_drawn();
    let runs = run_models(&policy, "small");
    let verdicts = merge_verdicts(&policy, &runs);
    assert_eq!(
        findings(&verdicts, "fails"),
        [
            "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15",
            "F16", "F18"
        ]
    );
    assert_eq!(findings(&verdicts, "vacuous"), [""; 0]);
    assert_eq!(
        findings(&verdicts, "not_checked"),
        [
            "C-18", "C-19", "C-115", "C-25", "C-29", "C-116", "C-117", "C-118", "C-110", "C-36", "C-88",
            "C-177", "C-212", "C-236", "C-89", "C-90", "C-91", "C-92", "C-100", "C-161", "C-162", "C-44",
            "C-185", "C-193", "C-82", "C-216", "C-217", "C-218", "C-219", "C-220", "C-122", "C-144"
        ]
    );
    assert_eq!(
        counts(&runs),
        [
            ("debate", 57_960, 68_343),
            ("ratings", 4_536, 5_610),
            ("duels", 4_518, 5_592),
            ("answers", 767, 767),
            ("execution", 1_590, 2_102),
            ("lifecycle", 29, 33),
            ("semantic", 13_785, 13_785),
            ("scopes", 5_404, 5_404),
            ("facts", 89_578, 92_239),
            ("contexts", 5_526, 5_526),
            ("situation", 25_437, 25_437),
            ("workflow", 1_097, 1_097),
            ("handoffs", 2_354, 2_360),
            ("nodes", 1_889, 1_889),
            ("attempts", 3_491, 3_631),
            ("ensembles", 1_266, 1_266),
            ("interactions", 8_174, 8_174),
            ("network", 164, 192),
        ]
    );
    assert_eq!(witnesses(&verdicts), WITNESSES);
    for (i, verdict) in verdicts.iter().enumerate() {
        if let Verdict::Fails { counterexample, .. } = verdict {
            match counterexample.stem_len {
                None if matches!(CLAIMS[i].check, ClaimCheck::LeadsTo { .. }) => {
                    check_dead_end(i, counterexample)
                }
                None => check_safety_counterexample(i, counterexample),
                Some(stem) => check_lasso(i, stem, counterexample),
            }
            check_replay(CLAIMS[i].id, counterexample);
        }
    }
}

/// Each finding with the last transition that its counterexample takes, and whether it repeats steps forever.
const WITNESSES: [(&str, &str, bool); 17] = [
    ("F1", "T03", false),
    ("F2", "T29", false),
    // The repair loop.
    ("F3", "T26", true),
    ("F4", "T26", true),
    ("F5", "T26", true),
    ("F6", "T20", false),
    ("F7", "T20", false),
    ("F8", "T20", false),
    ("F9", "T20", false),
    ("F10", "T26", false),
    ("F11", "T13", false),
    ("F12", "T33", false),
    ("F13", "T31", false),
    ("F14", "T01", false),
    ("F15", "T33", false),
    // The end of a request that was audited, not the halt of F1.
    ("F16", "T34", false),
    ("F18", "T20", false),
];

/// Returns the findings of failing claims as in [`WITNESSES`], by replaying each counterexample without the checker.
fn witnesses(verdicts: &[Verdict]) -> Vec<(&'static str, &'static str, bool)> {
    let witness = |(claim, verdict): (&Claim, &Verdict)| {
        let Verdict::Fails { counterexample, .. } = verdict else { return None };
        let (mut state, mut last) = (initial_state(), "");
        for TimedInput { at, input } in &counterexample.inputs {
            for event in &decide(&counterexample.policy, &state, *at, input).unwrap() {
                state.apply(event);
                if let Event::Transitioned { row } = event {
                    last = row.transition().id;
                }
            }
        }
        Some((claim.finding?, last, counterexample.stem_len.is_some()))
    };
    CLAIMS.iter().zip(verdicts).filter_map(witness).collect()
}

/// A summary that is due has a reply in every model, and a call over its budget is no decision of an action record.
#[test]
fn policies_with_small_limits_violate_no_claim() {
    let tiny = Scope::by_name("tiny").unwrap();
    let (mut compacting, mut brief) = (Policy::hardened(), Policy::hardened());
    (compacting.compaction.from_items, compacting.compaction.cluster_items) = (4, 3);
    brief.situation.classify_mode = Some(Mode::Fast);
    for (policy, model) in [(compacting, "answers"), (brief, "contexts")] {
        assert_eq!(policy.validate(), Ok(()));
        let verdicts = merge_verdicts(&policy, &[run(&policy, Model::from_name(model).unwrap(), &tiny)]);
        assert_eq!(findings(&verdicts, "fails"), [""; 0], "{model}");
    }
}

/// Without transitions for failures, the only dead end of this model is a call that the kernel itself does not make.
#[test]
fn semantic_has_no_dead_end_of_its_own() {
    let mut policy = Policy::hardened();
    policy.name = "without-error-rows".to_string();
    policy.rules.error_rows = false;
    policy.bounds.audit_attempts = 1;
    assert_eq!(policy.validate(), Ok(()));
    let semantic = Model::from_name("semantic").unwrap();
    let tiny = Scope::by_name("tiny").unwrap();
    let bounds = Bounds { context_tokens: policy.contexts.budget_tokens, ..tiny.bounds };
    let roomy = Scope { bounds, ..tiny.clone() };
    let verdicts = merge_verdicts(&policy, &[run(&policy, semantic, &roomy)]);
    assert_eq!(findings(&verdicts, "fails"), ["F14"]);
    assert!(["F3", "F4"].iter().all(|finding| findings(&verdicts, "holds").contains(finding)));

    let verdicts = merge_verdicts(&policy, &[run(&policy, semantic, &tiny)]);
    assert_eq!(findings(&verdicts, "fails"), ["F3", "F4", "F14"]);
    for (i, _) in CLAIMS.iter().enumerate().filter(|(_, claim)| ["C-03", "C-04"].contains(&claim.id)) {
        let Verdict::Fails { counterexample, .. } = &verdicts[i] else { panic!("{:?}", verdicts[i]) };
        let mut state = initial_state();
        for TimedInput { at, input } in &counterexample.inputs {
            let events = decide(&counterexample.policy, &state, *at, input).unwrap();
            events.iter().for_each(|event| state.apply(event));
        }
        let not_made: Vec<_> = state.control().pending_calls().iter().map(|call| call.not_made).collect();
        assert_eq!(not_made, [Some(Failure::OverBudget)], "{}", CLAIMS[i].id);
    }
}

/// The rules and methods that `hardened` leaves out, together.
fn optional_rules() -> Policy {
    let mut policy = Policy::hardened();
    policy.name = "optional rules".to_string();
    policy.rules.approver = true;
    policy.elo = orchestrion_kernel::policy::EloMethod::Standard;
    policy.additional_debaters =
        ["validation", "compliance"].map(orchestrion_kernel::policy::AdditionalDebater::new).to_vec();
    policy
}

#[test]
fn optional_rules_violate_no_claim_in_debates() {
    let policy = optional_rules();
    let scope = Scope::by_name("tiny").unwrap();
    let models = ["debate", "ratings", "lifecycle"].map(|name| Model::from_name(name).unwrap());
    let runs = models.map(|model| run(&policy, model, &scope));
    assert_eq!(findings(&merge_verdicts(&policy, &runs), "fails"), [""; 0]);
}

#[test]
#[ignore = "takes minutes; .ci/nightly runs it"]
fn optional_rules_satisfy_every_claim() {
    let policy = optional_rules();
    let runs = run_models(&policy, "tiny");
    let verdicts = merge_verdicts(&policy, &runs);
    assert_eq!(findings(&verdicts, "fails"), [""; 0]);
    assert_eq!(findings(&verdicts, "vacuous"), [""; 0]);
    assert_eq!(findings(&verdicts, "not_checked"), [""; 0]);
}

/// With these weights the consensus of equally confident arguments equals both thresholds: 3 of 5 and 4 of 5.
#[test]
fn thresholds_are_exact() {
    use orchestrion_kernel::Weight;
    let mut policy = Policy::hardened();
    let weight = |ones: u32| Weight::from_millionths(ones * 1_000_000).unwrap();
    policy.name = "exact-thresholds".to_string();
    policy.weights.analyst = weight(3);
    policy.weights.solution = weight(1);
    policy.weights.critic = weight(0);
    policy.weights.security = weight(0);
    policy.weights.optimizer = weight(1);
    let debate = Model::from_name("debate").unwrap();
    let runs = [run(&policy, debate, &Scope::by_name("tiny").unwrap())];
    let verdicts = merge_verdicts(&policy, &runs);
    assert_eq!(findings(&verdicts, "fails"), [""; 0]);
    let holds = findings(&verdicts, "holds");
    for id in ["F8", "C-22", "C-24", "C-42"] {
        assert!(holds.contains(&id), "{id} is vacuous at the thresholds");
    }
}

#[test]
fn limited_search_is_inconclusive() {
    let policy = Policy::hardened();
    let scope = Scope::by_name("tiny").unwrap();
    let limits = ResourceLimits { states: Some(1_000), ..ResourceLimits::default() };
    let options = Options { limits, ..Options::default() };
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let runs = MODELS.map(|model| explore(&kernel, model, &scope, &options, &mut |_| ()).unwrap());
    let verdicts = merge_verdicts(&policy, &runs);
    assert_eq!(findings(&verdicts, "holds"), [""; 0]);
    assert!(!findings(&verdicts, "inconclusive").is_empty());
}

/// 000-4.1: the state space stays finite for any number of repairs (design §2, rule 2).
#[test]
#[ignore = "takes a minute; .ci/nightly runs it"]
fn unbounded_repair_has_finitely_many_states() {
    let mut policy = Policy::hardened();
    policy.bounds.repairs = orchestrion_kernel::policy::Bound::Unbounded;
    let scope = Scope::by_name("tiny").unwrap();
    let execution = Model::from_name("execution").unwrap();
    assert!(run(&policy, execution, &scope).is_exhaustive());
}

/// Replays a counterexample without the checker: the claim holds until the last step and fails there.
fn check_safety_counterexample(claim: usize, counterexample: &Counterexample) {
    let (id, Counterexample { policy, inputs, .. }) = (CLAIMS[claim].id, counterexample);
    let (mut state, mut history) = (initial_state(), History::default());
    for (n, TimedInput { at, input }) in (1..).zip(inputs) {
        let events =
            decide(policy, &state, *at, input).unwrap_or_else(|refusal| panic!("{id}, step {n}: {refusal}"));
        let before = state.clone();
        events.iter().for_each(|event| state.apply(event));
        let violated = step_violations(policy, &before, input, &events, &state, &mut history)
            .any(|i| i == claim)
            || state_violations(policy, &state).any(|i| i == claim);
        assert_eq!(violated, n == inputs.len(), "{id}, step {n} of {}", inputs.len());
    }
}

/// Replays a path to a dead end without the checker: the obligation becomes pending, has no response, and the last
/// state has no successor.
fn check_dead_end(claim: usize, counterexample: &Counterexample) {
    let (id, policy) = (CLAIMS[claim].id, &counterexample.policy);
    let ClaimCheck::LeadsTo { from, to, .. } = CLAIMS[claim].check else {
        panic!("{id} is no leads-to claim")
    };
    let (mut state, mut history, mut pending) = (initial_state(), History::default(), false);
    for TimedInput { at, input } in &counterexample.inputs {
        for event in &decide(policy, &state, *at, input).unwrap_or_else(|refusal| panic!("{id}: {refusal}")) {
            state.apply(event);
            history.observe(policy, event);
        }
        pending = !to(policy, &history, &state) && (pending || from(policy, &history, &state));
    }
    assert!(pending, "{id}: the obligation is met");
    let call = state.control().pending_calls().first().map(|call| call.id);
    let fails = |failure| Input::CallFailed { call: call.unwrap_or(CallId::FIRST), failure };
    let possible_inputs = Failure::ALL.map(fails).into_iter().chain([Input::Step, Input::Cancel]);
    for input in possible_inputs {
        assert!(decide(policy, &state, state.now(), &input).is_err(), "{id}: {input:?} has a successor");
    }
}

/// Replays a lasso without the checker. The obligation becomes pending on the stem or in the cycle and has no later
/// response. The cycle returns to its first state, except for increasing numbers.
fn check_lasso(claim: usize, stem: usize, counterexample: &Counterexample) {
    let (id, policy) = (CLAIMS[claim].id, &counterexample.policy);
    let ClaimCheck::LeadsTo { from, to, .. } = CLAIMS[claim].check else {
        panic!("{id} is no leads-to claim")
    };
    let (mut state, mut history) = (initial_state(), History::default());
    let (mut pending, mut entries) = (false, Vec::new());
    for (n, input) in (0..).zip(counterexample.inputs.iter().map(Some).chain([None])) {
        pending = !to(policy, &history, &state) && (pending || from(policy, &history, &state));
        if n >= stem && (n - stem).is_multiple_of(counterexample.cycle_len().unwrap()) {
            assert!(pending, "{id}: no pending obligation at the start of the cycle, step {n}");
            let (mut state, mut history) = (state.clone(), history.clone());
            state.canonicalize();
            history.canonicalize();
            entries.push((state, history));
        }
        assert!(n < stem || pending, "{id}: the obligation is met in the cycle, step {n}");
        let Some(TimedInput { at, input }) = input else { break };
        let events =
            decide(policy, &state, *at, input).unwrap_or_else(|refusal| panic!("{id}, step {n}: {refusal}"));
        for event in &events {
            state.apply(event);
            history.observe(policy, event);
        }
    }
    assert_eq!(entries.len(), 3, "{id}: expected two rounds of the cycle");
    assert!(entries.iter().all(|entry| *entry == entries[0]), "{id}: the cycle does not close");
}

fn check_replay(claim: &str, counterexample: &Counterexample) {
    let evidence = evidence::record(claim, &counterexample.policy, &counterexample.inputs).unwrap();
    assert!(!evidence.highlights.is_empty(), "{claim}: expected highlights, found none");
    let result =
        replay(Reader::new(evidence.trace.as_slice(), &evidence.file).unwrap(), None, &StandardContexts);
    assert!(result.is_equal() && result.header_differences.is_empty(), "{claim}: {result:?}");
    assert_eq!(result.steps, counterexample.inputs.len() as u64, "{claim}");
}
