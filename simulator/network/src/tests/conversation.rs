//! Tests of the network of a conversation.

use super::{SMALL, load, score};
use crate::{LoadedNetwork, NetworkFile, Number};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::{Millionths, NetworkInput, Node, Requirements};
use orchestrion_kernel::{CapabilityId, NodeId, Score};
use orchestrion_yaml::{Source, Spanned, StrictText, render_error};
use std::collections::BTreeSet;

const TEAM: &str = "\
orchestrator: desk
policy: {connection: {warn_tone_below: -0.25, initial_weight: 0.4}}
capabilities:
  see: {name: See, category: analysis, input_types: [pdf], constraints: {timeout_ms: 5}}
  executor: {name: Run, category: generation}
nodes:
  ana:
    trust: 0.654321
    status: member
    cluster: lisbon
    load: 0.25
    public_key: \"0af30af30af30af30af30af30af30af30af30af30af30af30af30af30af30af3\"
    capabilities: {see: {quality: 0.0001, volume: 3, tasks: 1, max_capacity: 4, available: false}}
    connections: {desk: {w: 0.9, r: -0.0005, q: 0.75, tau: -0.5, interactions: 2, status: dormant}}
    threats: {ben: 0.4}
  ben: {capabilities: {executor: }}
  desk: {}
";

fn input(text: &str) -> NetworkInput {
    load(text).conversation_input().unwrap()
}

fn node(input: &NetworkInput, id: &str) -> Node {
    let NetworkInput::Create { nodes, .. } = input else { panic!("{input:?}") };
    nodes.iter().find(|node| node.id.as_str() == id).unwrap().clone()
}

#[test]
fn orchestrator_holds_modules_without_a_node() {
    let input = input(TEAM);
    let held: BTreeSet<CapabilityId> = node(&input, "desk").capabilities.into_keys().collect();
    let modules = Module::ALL.into_iter().filter(|module| *module != Module::Executor);
    assert_eq!(held, modules.map(Module::capability).collect());
    let desk = node(&input, "desk");
    assert!(
        desk.capabilities.values().all(|state| state.quality == Score::ONE && state.load() == Score::ZERO)
    );
    // A declared capability is in the hands of the file, even without a node.
    let without = TEAM.replace("ben: {capabilities: {executor: }}", "ben: {}");
    assert!(!node(&self::input(&without), "desk").capabilities.contains_key(&Module::Executor.capability()));
}

#[test]
fn missing_or_unknown_orchestrator_is_reported() {
    let missing = load(SMALL).conversation_input().unwrap_err().into_file_error();
    let unknown =
        LoadedNetwork::parse("net.yaml", &format!("orchestrator: dest\n{}", &TEAM[19..])).unwrap_err();
    insta::assert_snapshot!(format!("{}----\n{}", render_error(&missing), render_error(&unknown)));
}

/// 001-2.1, 001-2.2, 001-2.3, 001-2.4: what a node declares of a capability. 001-2.5, 001-2.6: the state of a capability.
#[test]
fn created_network_has_its_file() {
    let input = input(TEAM);
    let file = NetworkFile::from_kernel(&input, &[]).unwrap();
    let text = serde_saphyr::to_string(&file).unwrap();
    assert_eq!(LoadedNetwork::parse("net.yaml", &text).unwrap().conversation_input().unwrap(), input);
    let source = Source::from_text("net.yaml", &text).unwrap();
    assert_eq!(source.parse::<NetworkFile>().unwrap(), file);
    insta::assert_snapshot!(text);
    let NetworkInput::Create { orchestrator, policy, mut nodes } = input else { unreachable!() };
    nodes[0].computed_trust = score(1);
    let with_history = NetworkInput::Create { orchestrator, policy, nodes };
    assert_eq!(NetworkFile::from_kernel(&with_history, &[]), None);
}

#[test]
fn joining_node_has_its_file() {
    let network = load(TEAM);
    let zoe = "capabilities: {see: {quality: 0.7}}\nconnections: {ana: {w: 0.5}, yan: }\n";
    let file = Source::from_text("zoe.yaml", zoe).unwrap().parse().unwrap();
    let id = Spanned::from(StrictText::from("zoe"));
    let node = network.joining_node(&id, &file, &BTreeSet::from([NodeId::new("yan")])).unwrap();
    assert_eq!(network.joining_file(&node), Some(file.clone()));
    assert!(network.joining_node(&id, &file, &BTreeSet::new()).is_err());
    // Its capabilities are declared in the file of the network.
    let NetworkInput::Create { orchestrator, policy, .. } = input(TEAM) else { unreachable!() };
    let desk = NetworkInput::Create { orchestrator, policy, nodes: vec![self::node(&input(TEAM), "desk")] };
    let created = NetworkFile::from_kernel(&desk, &[&node]).unwrap();
    let declared: Vec<&str> = created.capabilities.0.iter().map(|(id, _)| id.value.as_str()).collect();
    // No node holds the capability of the executor, also not the orchestrator.
    assert_eq!(declared, ["executor", "see"]);
}

#[test]
fn each_node_has_its_own_key() {
    let keys = |b: &str| {
        let (a, b) = ("5a".repeat(32), b.repeat(32));
        SMALL
            .replace("a: {}", &format!("a: {{public_key: \"{a}\"}}"))
            .replace("status: hub", &format!("public_key: \"{b}\""))
    };
    let error = LoadedNetwork::parse("net.yaml", &keys("5A")).unwrap_err();
    insta::assert_snapshot!(render_error(&error));
    let network = load(&keys("5b"));
    let join = |key: &str| {
        let file = format!("public_key: \"{}\"", key.repeat(32));
        let file = Source::from_text("zoe.yaml", &file).unwrap().parse().unwrap();
        network.joining_node(&Spanned::from(StrictText::from("zoe")), &file, &BTreeSet::new())
    };
    assert!(join("5c").is_ok());
    let error = join("5b").unwrap_err().into_file_error();
    assert!(render_error(&error).contains("found that of `b`"));
}

#[test]
fn requirements_have_their_file() {
    let task = "required_capabilities: [see, executor]\ninput_type: pdf\ninput_size: 7\nconstraints:\n  timeout_ms: 9\n  priority: critical\n  min_trust: 0.5\n  preferred_nodes: [ana]\n  excluded_nodes: [ben]\n";
    let requirements = load(TEAM).parse_task("task.yaml", task).unwrap();
    let file = crate::RequirementsFile::from_kernel(&requirements).unwrap();
    assert_eq!(file.to_kernel().unwrap(), requirements);
    assert_eq!(
        serde_saphyr::from_str::<crate::RequirementsFile>(&serde_saphyr::to_string(&file).unwrap()).unwrap(),
        file
    );
    assert_eq!(crate::RequirementsFile::from_kernel(&Requirements::default()), None);
}

#[test]
fn numbers_are_exact() {
    let parse = |text: &str| Source::from_text("n.yaml", text).unwrap().parse::<Number>();
    for count in [0, 1, -1, 999, -1_000, 700_000, -12_500_000, i64::MAX, -i64::MAX] {
        let number = Number(Millionths::new(count));
        let text = serde_saphyr::to_string(&number).unwrap();
        assert_eq!(parse(&text).unwrap(), number, "{text}");
        assert_eq!(parse(&number.to_string()).unwrap(), number);
    }
    assert_eq!(Number(Millionths::new(-700_000)).to_string(), "-0.7");
    for bad in ["1e3", "0.1234567", ".5", "5.", "--1", "x", "9223372036855", "\"\""] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
