//! Tests of network and task files.

mod edit;

use super::*;
use orchestrion_kernel::network::{Connection, ConnectionStatus, Millionths, Node, NodeStatus};
use orchestrion_kernel::{NodeId, Score, Timestamp, Weight};
use orchestrion_yaml::render_error;

const SMALL: &str = "\
policy: {routing: {preference_bonus: 1.5}, connection: {warn_tone_below: -0.25}}
capabilities:
  c: {name: See, category: analysis}
nodes:
  a: {}
  b:
    trust: 0.654321
    status: hub
    capabilities: {c: {quality: 0.123456, volume: 3, tasks: 1, max_capacity: 4}}
    connections: {a: {w: 0.9, r: -1.25, q: 0.75, tau: -0.5, interactions: 2}}
    threats: {a: 0.4}
";

fn score(millionths: u32) -> Score {
    Score::from_millionths(millionths).unwrap()
}

fn load(text: &str) -> LoadedNetwork {
    LoadedNetwork::parse("net.yaml", text).unwrap_or_else(|error| panic!("{}", render_error(&error)))
}

/// Returns the errors of a text with each change. Every place to change must occur once.
fn errors(changes: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (from, to) in changes {
        assert_eq!(SMALL.matches(from).count(), 1, "{from}");
        match LoadedNetwork::parse("net.yaml", &SMALL.replace(from, to)) {
            Ok(network) => panic!("{to}: {network:?}"),
            Err(error) => text.push_str(&render_error(&error)),
        }
        text.push_str("----\n");
    }
    text
}

#[test]
fn entries_are_limited() {
    let nodes: String = (0..=50_000).map(|node| format!(" n{node}:\n")).collect();
    let error = LoadedNetwork::parse("net.yaml", &format!("capabilities: {}\nnodes:\n{nodes}", "{}"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("too many entries: expected at most 50000"), "{error}");
}

#[test]
fn numbers_are_read_exactly() {
    let LoadedNetwork { policy, network, capabilities, .. } = load(SMALL);
    assert_eq!(policy.routing.preference_bonus, Weight::from_millionths(1_500_000).unwrap());
    assert_eq!(policy.connection.warn_tone_below, Millionths::new(-250_000));
    assert_eq!(capabilities.len(), 1);
    let b = network.node(&NodeId::new("b")).unwrap();
    assert_eq!((b.trust, b.status, b.load()), (score(654_321), NodeStatus::Hub, score(250_000)));
    let held = b.capabilities.values().next().unwrap();
    assert_eq!((held.quality, held.volume, held.available), (score(123_456), 3, true));
    let connection = b.connections.get(&NodeId::new("a")).unwrap();
    assert_eq!(
        *connection,
        Connection {
            weight: score(900_000),
            reciprocity: Millionths::new(-1_250_000),
            quality: score(750_000),
            tone: Millionths::new(-500_000),
            status: ConnectionStatus::Active,
            last_active: Timestamp::from_millis(0),
            interactions: 2,
            affirmations: 0,
        }
    );
    assert_eq!(b.threat_level(&NodeId::new("a")), score(400_000));
}

#[test]
fn missing_values_are_those_of_the_policy() {
    let LoadedNetwork { policy, network, .. } = load(SMALL);
    let a = NodeId::new("a");
    assert_eq!(network.node(&a), Some(&Node::new(&policy.start, a.clone())));
    let text = "capabilities: {c: {name: C, category: analysis}}\nnodes: {a: {capabilities: {c: }, connections: {b: }}, b: }\n";
    let network = load(text).network;
    let node = network.node(&a).unwrap();
    let held = node.capabilities.values().next().unwrap();
    assert_eq!((held.quality, held.load(), held.capability.max_capacity), (score(500_000), Score::ZERO, 1));
    let fresh = Connection::new(&policy.connection, Timestamp::from_millis(0));
    assert_eq!(node.connections.get(&NodeId::new("b")), Some(&fresh));
    assert_eq!(load("capabilities: {}\nnodes: {}\n").policy, TrustPolicy::default());
}

#[test]
fn public_key_is_hexadecimal() {
    let key = format!("a: {{public_key: \"{}\"}}", "0aF3".repeat(16));
    let network = load(&SMALL.replace("a: {}", &key)).network;
    assert_eq!(network.node(&NodeId::new("a")).unwrap().public_key, [0x0a, 0xf3].repeat(16));
}

#[test]
fn invalid_references_are_reported() {
    insta::assert_snapshot!(errors(&[
        ("connections: {a:", "connections: {aa:"),
        ("connections: {a:", "connections: {b:"),
        ("threats: {a:", "threats: {zoe:"),
        ("capabilities: {c:", "capabilities: {C:"),
        ("  a: {}", "  b: {}"),
        ("  a: {}", "  \"\": {}"),
    ]));
}

#[test]
fn invalid_values_are_reported() {
    insta::assert_snapshot!(errors(&[
        ("trust: 0.654321", "trust: 1.000001"),
        ("trust: 0.654321", "trust: 0.6543210001"),
        ("quality: 0.123456", "quality: -0.1"),
        ("quality: 0.123456", "quality: 1e-3"),
        ("tasks: 1", "tasks: 5"),
        ("tasks: 1, max_capacity: 4", "tasks: 2"),
        ("max_capacity: 4", "max_capacity: 0"),
        ("w: 0.9", "w: 0.001"),
        ("r: -1.25", "r: -1000.1"),
        ("tau: -0.5", "tau: 1.5"),
        ("status: hub", "status: hubb"),
        ("status: hub", "stauts: hub"),
        ("status: hub", "public_key: \"12ab\""),
        ("status: hub", "public_key: secret"),
        ("category: analysis", "category: analyzis"),
        (", category: analysis", ""),
        ("preference_bonus: 1.5", "preference_bonus: 101"),
        ("warn_tone_below: -0.25", "initial_weight: 0.005"),
        ("warn_tone_below", "warn_ton_below"),
    ]));
}

#[test]
fn default_capacity_is_one_task() {
    let text = SMALL.replace(", max_capacity: 4", "");
    let network = load(&text).network;
    assert_eq!(network.node(&NodeId::new("b")).unwrap().load(), Score::ONE);
}

#[test]
fn invalid_tasks_are_reported() {
    let network = load(SMALL);
    let mut text = String::new();
    for task in [
        "required_capabilities: []\n",
        "required_capabilities: [d]\n",
        "required_capabilities: [c]\nconstraints: {excluded_nodes: [a, bb]}\n",
        "required_capabilities: [c]\nconstraints: {min_trust: 75%}\n",
        "required_capabilities: [c]\nconstraints: {priority: urgent}\n",
        "required_capabilites: [c]\n",
        "constraints: {}\n",
    ] {
        match network.parse_task("task.yaml", task) {
            Ok(requirements) => panic!("{task}: {requirements:?}"),
            Err(error) => text.push_str(&render_error(&error)),
        }
        text.push_str("----\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn files_above_the_limits_are_refused() {
    let nodes: String = (0..50).map(|node| format!("  n{node}: {{}}\n")).collect();
    let text = format!("capabilities: {{}}\nnodes:\n{nodes}");
    // Reading a million values would take the test seconds.
    let limits = FileLimits { values_max: 60, ..NETWORK_LIMITS };
    let source = Source::from_text_within("net.yaml", &text, limits).unwrap();
    let values = render_error(&build::load(&source).unwrap_err());
    let long = " ".repeat(NETWORK_LIMITS.bytes_max);
    let bytes = render_error(&LoadedNetwork::parse("net.yaml", &format!("{text}{long}")).unwrap_err());
    insta::assert_snapshot!(format!("{values}----\n{bytes}"));
}

#[test]
fn ten_thousand_nodes_are_read() {
    let mut text = "capabilities:\n  c: {name: C, category: analysis}\nnodes:\n".to_owned();
    for node in 0..10_000 {
        let partners = (1..=5).map(|step| format!("n{}: {{w: 0.4, q: 0.6}}", (node + step * 7) % 10_000));
        let partners: Vec<String> = partners.collect();
        text.push_str(&format!(
            "  n{node}:\n    trust: 0.{:04}\n    capabilities: {{c: {{quality: 0.7, tasks: 1, max_capacity: 9}}}}\n    connections: {{{}}}\n",
            node,
            partners.join(", ")
        ));
    }
    let started = std::time::Instant::now();
    assert_eq!(load(&text).network.len(), 10_000);
    // Generous, because tests share the machine: unoptimized code needs about two seconds alone.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

mod conversation;
