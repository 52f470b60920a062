//! Scope files: their meaning, and errors in them.

use super::*;
use orchestrion_explorer::{Options, ResourceLimits};
use orchestrion_kernel::Policy;
use orchestrion_model::adversary::Adversary;
use orchestrion_model::check::{ModelRun, explore};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::Nondeterminism;
use orchestrion_yaml::render_error;

fn read(text: &str) -> ScopeChoice {
    ScopeChoice::parse("mine.yaml", text).unwrap_or_else(|error| panic!("{}", render_error(&error)))
}

fn explored(model: Model, scope: &Scope) -> ModelRun {
    let subject = KernelUnderTest::unmodified(Policy::hardened());
    let limits = ResourceLimits { states: Some(20_000), ..ResourceLimits::default() };
    explore(&subject, model, scope, &Options { limits, ..Options::default() }, &mut |_| {}).unwrap()
}

/// Asserts that two runs found the same states, steps and observations.
fn assert_same(one: &ModelRun, other: &ModelRun) {
    assert!(one.is_exhaustive() && other.is_exhaustive());
    assert_eq!((one.products, one.steps, one.depth), (other.products, other.steps, other.depth));
    assert_eq!(one.first_depths, other.first_depths);
}

#[test]
fn file_equals_the_scope_with_its_values() {
    let tiny = Scope::by_name("tiny").unwrap();
    let stated = "bounds: {requests: 1, tasks: 3, workflows: 1, facts_from: Round_4_Security}\n";
    for text in ["extends: tiny\n", stated] {
        let ScopeChoice { scope, file } = read(text);
        assert_eq!((scope.bounds, &scope.alphabet, &*scope.name), (tiny.bounds, &tiny.alphabet, "mine.yaml"));
        assert!(file.unwrap().model.is_none());
    }
    let model = Model::from_name("network").unwrap();
    let run = explored(model, &read("extends: tiny\n").scope);
    assert_same(&run, &explored(model, &tiny));
    assert_eq!(run.scope, "mine.yaml");
}

/// A model of the same parts as a standard one reaches the same and nothing else.
#[test]
fn open_parts_equal_the_model_with_these_parts() {
    for (parts, model) in [
        ("execution, failures, cancel, network", "network"),
        ("debate", "debate"),
        ("facts", "facts"),
        ("workflow, cancel", "workflow"),
    ] {
        let choice = read(&format!("extends: tiny\nopen: [{parts}]\n"));
        assert_eq!(choice.model().unwrap().free, Model::from_name(model).unwrap().free, "{parts}");
    }
    // The model composed opens all parts, and scopes.
    let all = "debate, execution, environment, failures, cancel, facts, workflow, network";
    let open = read(&format!("open: [{all}]\n")).model().unwrap().free;
    assert_eq!(Nondeterminism { scopes: true, ..open }, Model::from_name("composed").unwrap().free);
    let choice = read("extends: tiny\nopen: [execution, failures, cancel, network]\n");
    let tiny = Scope::by_name("tiny").unwrap();
    assert_same(
        &explored(choice.model().unwrap(), &choice.scope),
        &explored(Model::from_name("network").unwrap(), &tiny),
    );
}

/// In every state that a few inputs reach, a model of two parts offers each input of each part alone. Excepted are plans, which the
/// parts draft together, arguments beside an open debate, which has a confidence of each cell, and two inputs of `execution` beside
/// `network`, as in the model `network`: unequal ratings, and objections without a veto.
#[test]
fn parts_combine() {
    let policy = Policy::hardened();
    let mut scope = Scope::by_name("tiny").unwrap();
    // Without this, local calls do not fail beside a network.
    scope.bounds.local_failures = true;
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let parts: Vec<_> = OpenPart::all().map(OpenPart::part).collect();
    for (position, one) in parts.iter().enumerate() {
        for other in &parts[position + 1..] {
            let names = [one.name, other.name];
            let excepted: &[&str] = match names {
                ["debate", _] => &["\"plan\":[", "\"argument\""],
                ["execution", "network"] => &["\"plan\":[", "\"argument\"", "\"ratings\""],
                _ => &["\"plan\":["],
            };
            let of = |parts: &[orchestrion_model::scopes::Part]| {
                Adversary::new(&policy, Model::of_parts(parts), &scope)
            };
            let (alone, both) = ([of(&[*one]), of(&[*other])], of(&[*one, *other]));
            let mut states = vec![orchestrion_model::product::initial_state()];
            let mut expanded = 0;
            while let Some(state) = states.get(expanded).filter(|_| expanded < 150).cloned() {
                expanded += 1;
                let inputs = both.inputs(&state);
                for input in alone.iter().flat_map(|adversary| adversary.inputs(&state)) {
                    let text = serde_json::to_string(&input).unwrap();
                    let is_excepted = excepted.iter().any(|part| text.contains(part));
                    // Before the network exists, only inputs about it are offered.
                    let waits = names[1] == "network" && state.network().is_none();
                    assert!(is_excepted || waits || inputs.contains(&input), "{names:?}: {text}");
                }
                for input in &inputs {
                    let Ok(events) = kernel.decide(&state, input) else { continue };
                    let mut next = kernel.apply(&state, &events);
                    next.canonicalize();
                    if states.len() < 300 && !states.contains(&next) {
                        states.push(next);
                    }
                }
            }
            assert!(expanded > 50, "{names:?}");
        }
    }
}

/// A list replaces the alphabet: fewer confidences and failures reach fewer states, and only the stated failures occur.
#[test]
fn lists_replace_the_alphabet() {
    let products = |text: &str| {
        let choice = read(text);
        explored(choice.model().unwrap(), &choice.scope).products
    };
    let few = products("extends: tiny\nopen: [debate]\nconfidences: [1]\n");
    assert!(few < products("extends: tiny\nopen: [debate]\nconfidences: [0.5, 1]\n"));
    let choice = read("open: [failures]\nfailures: [timeout, unknown]\n");
    let adversary = Adversary::new(&Policy::hardened(), choice.model().unwrap(), &choice.scope);
    let kernel = KernelUnderTest::unmodified(Policy::hardened());
    let mut state = orchestrion_model::product::initial_state();
    let mut found = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let inputs = adversary.inputs(&state);
        for input in &inputs {
            if let orchestrion_kernel::Input::CallFailed { failure, .. } = input {
                found.insert(format!("{failure:?}"));
            }
        }
        let Some(events) = inputs.iter().find_map(|input| kernel.decide(&state, input).ok()) else { break };
        state = kernel.apply(&state, &events);
        state.canonicalize();
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["OutcomeUnknown", "Timeout"]);
}

/// Each bound accepts both ends of its range, and nothing beyond.
#[test]
fn bounds_have_ranges() {
    for (key, min, max) in [
        ("requests", 1, 4),
        ("tasks", 1, 4),
        ("network_tasks", 1, 4),
        ("workflow_tasks", 2, 4),
        ("workflows", 1, 2),
        ("parallel_tasks", 1, 4),
        ("changes_during_one_task", 0, 2),
        ("changes_during_two_tasks", 0, 2),
        ("items", 1, 6),
        ("context_tokens", 1, 1000),
    ] {
        let parse = |number: i64| ScopeChoice::parse("mine.yaml", &format!("bounds: {{{key}: {number}}}\n"));
        for number in [min, max] {
            let choice = parse(number).unwrap_or_else(|error| panic!("{key} {number}: {error}"));
            // The plans of every bound are valid.
            MODELS.iter().for_each(|model| assert!(!model.plans(&choice.scope).is_empty()));
        }
        for number in [min - 1, max + 1] {
            assert!(parse(number).is_err(), "{key} {number}");
        }
    }
}

#[test]
fn errors_are_rendered_with_location() {
    let many: Vec<String> = (0..33).map(|number| format!("0.{number:02}")).collect();
    let mistakes = [
        "open: []\n".to_owned(),
        "open: [debate]\nconfidences: []\n".to_owned(),
        "open: [failures]\nfailures: []\n".to_owned(),
        "open: [debat]\n".to_owned(),
        "open: [semantic]\n".to_owned(),
        "open: [debate, cancel, debate]\n".to_owned(),
        "open: debate\n".to_owned(),
        "opne: [debate]\n".to_owned(),
        "extends: tyny\n".to_owned(),
        "bounds: {task: 3}\n".to_owned(),
        "bounds: {tasks: 5}\n".to_owned(),
        "bounds: {tasks: many}\n".to_owned(),
        "bounds: {facts_from: Round_4_Securty}\n".to_owned(),
        "bounds: {compaction: {cluster_items: 1}}\n".to_owned(),
        "bounds: {tasks: 2}\nopen: [debate]\n".to_owned(),
        "bounds: {items: 2}\nopen: [debate]\n".to_owned(),
        "open: [cancel]\nconfidences: [0.5]\n".to_owned(),
        "open: [debate]\nfailures: [error]\n".to_owned(),
        "open: [debate]\nconfidences: [1.5]\n".to_owned(),
        format!("open: [debate]\nconfidences: [{}]\n", many.join(", ")),
        "failures: [crash]\n".to_owned(),
    ];
    let rendered = |text: &String| match ScopeChoice::parse("mine.yaml", text) {
        Ok(choice) => panic!("{text:?} was read: {choice:?}"),
        Err(error) => render_error(&error),
    };
    let errors: Vec<String> = mistakes.iter().map(rendered).collect();
    for (mistake, error) in mistakes.iter().zip(&errors) {
        assert!(error.contains("[mine.yaml:") && error.contains("help: "), "{mistake:?}:\n{error}");
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(errors.join("\n")) });
}

#[test]
fn schema_accepts_only_valid_files() {
    let schema = jsonschema::validator_for(&scope_schema()).unwrap();
    let valid = serde_json::json!({
        "extends": "tiny", "bounds": {"tasks": 2}, "open": ["debate", "execution"], "confidences": [0, 0.5],
    });
    assert!(schema.is_valid(&valid));
    for (key, invalid) in [
        ("extends", serde_json::json!("huge")),
        ("bounds", serde_json::json!({"tasks": 9})),
        ("open", serde_json::json!([])),
        ("open", serde_json::json!(["semantic"])),
        ("colour", serde_json::json!("red")),
    ] {
        let mut file = valid.clone();
        file[key] = invalid;
        assert!(!schema.is_valid(&file), "{file}");
    }
}

#[test]
fn names_are_those_of_the_model() {
    use orchestrion_scenario::policy_file::NamedEnum;
    let names: Vec<_> = BaseScope::ALL.iter().map(|base| SCOPES[base.0].name.to_string()).collect();
    assert_eq!(names, BaseScope::ALL.iter().map(|base| base.name()).collect::<Vec<_>>());
    assert_eq!(OpenPart::ALL.len(), OpenPart::names().count());
}
