//! Tests of the network of a scenario, its events and its conditions.

use super::{HEAD, parse, render_errors};
use crate::run::run_scenario;
use crate::*;
use orchestrion_handoff::NodeKey;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::{NetworkEvent, NetworkInput, Node};
use orchestrion_kernel::{Event, Input, NodeId};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, Reader, Step, StepMetadata};
use std::path::Path;

pub(super) const NETWORK: &str = include_str!("../samples/network.yaml");

pub(super) fn steps(text: &str) -> (Vec<Step>, run::ScenarioResult) {
    let result = run_scenario(parse(text).unwrap()).unwrap();
    let steps = Reader::new(result.trace.as_slice(), "t").unwrap().collect::<Result<_, _>>().unwrap();
    (steps, result)
}

/// The nodes to which calls were routed, by capability, without those of the orchestrator.
pub(super) fn routes(steps: &[Step]) -> Vec<String> {
    let events = steps.iter().flat_map(|step| &step.events);
    let routed = events.filter_map(|event| match event {
        Event::Network(NetworkEvent::CallRouted { from, to, capability, .. }) if from != to => {
            Some(format!("{capability}: {from} → {to}"))
        }
        _ => None,
    });
    routed.collect()
}

#[test]
fn network_exists_before_the_first_session() {
    let (steps, result) = steps(NETWORK);
    assert!(result.unused_events.is_empty(), "{:?}", result.unused_events);
    assert!(result.unexpected_writes.is_empty(), "{:?}", result.unexpected_writes);
    let Input::Network(created) = &steps[0].input else { panic!("{:?}", steps[0].input) };
    let NetworkInput::Create { orchestrator, nodes, .. } = &**created else { panic!("{created:?}") };
    assert_eq!((orchestrator.as_str(), nodes.len()), ("desk", 3));
    let desk = nodes.iter().find(|node| node.id == *orchestrator).unwrap();
    assert_eq!(desk.capabilities.len(), Module::ALL.len());
    assert!(matches!(steps[1].input, Input::SessionStart { .. }));
    assert_eq!(steps[0].at_ms, steps[1].at_ms);
}

#[test]
fn nodes_execute_the_tasks() {
    let (steps, _) = steps(NETWORK);
    assert_eq!(routes(&steps), ["translate: desk → ana", "check: ana → ben"]);
    let interaction = steps.iter().find_map(|step| match &step.input {
        Input::Reply { interaction, .. } => interaction.clone(),
        _ => None,
    });
    assert_eq!(interaction.unwrap().feedback.unwrap().help, 5);
}

#[test]
fn case_of_a_node_supplies_its_reply() {
    let busy = NETWORK.replace("report_load: {node: ana, load: 0.25}", "report_load: {node: ana, load: 1}");
    assert_eq!(routes(&steps(&busy).0)[0], "translate: desk → ben");
    let used = steps(&busy).1.unused_events;
    assert_eq!(used, ["unused replies on line 58: case 1 of `tasks.1` matched no call"]);
}

#[test]
fn network_events_reach_the_conversation() {
    let (steps, _) = steps(NETWORK);
    let inputs: Vec<NetworkInput> = steps
        .iter()
        .filter_map(|step| match &step.input {
            Input::Network(input) => Some((**input).clone()),
            _ => None,
        })
        .filter(|input| !matches!(input, NetworkInput::Create { .. } | NetworkInput::Handoff(_)))
        .collect();
    assert_eq!(inputs.len(), 7);
    let NetworkInput::Signal { receiver, signal } = &inputs[1] else { panic!("{:?}", inputs[1]) };
    assert_eq!((receiver.as_str(), signal.origin.as_str(), signal.hops), ("desk", "ben", 0));
    let NetworkInput::Join { node: Node { id, connections, .. } } = &inputs[2] else { panic!("{inputs:?}") };
    assert_eq!((id.as_str(), connections.iter().count()), ("cleo", 1));
    assert!(steps.iter().any(|step| step.refused.is_some()));
}

#[test]
fn refused_network_event_is_reported() {
    let text = NETWORK.replace("        refused: true\n", "");
    let (_, result) = steps(&text);
    let errors: Vec<String> = result.unexpected_writes.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["network event refused: orchestrator desk leaves: expected another node"]);
}

#[test]
fn signal_may_concern_joining_and_former_nodes() {
    let about = |node: &str| NETWORK.replace("from: ben, about: ana", &format!("from: ben, about: {node}"));
    assert!(parse(&about("cleo")).is_ok());
    let left =
        NETWORK.replace("signal: {to: desk, from: ben", "leave: ana\n      - signal: {to: desk, from: ana");
    assert!(parse(&left).is_ok());
    let error = parse(&about("zoe")).unwrap_err();
    assert!(error.to_string().contains("unknown node `zoe`"), "{error}");
}

#[test]
fn network_path_is_relative_to_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let net = "orchestrator: a\ncapabilities: {}\nnodes: {a: }\n";
    std::fs::create_dir(folder.path().join("nets")).unwrap();
    std::fs::write(folder.path().join("nets/net.yaml"), net).unwrap();
    let read = |text: &str| Scenario::parse("case.yaml", text, folder.path());
    let scenario = read(&format!("{HEAD}network: nets/net.yaml\n")).unwrap();
    assert!(scenario.network.is_some());
    std::fs::write(folder.path().join("nets/net.yaml"), net.replace("orchestrator: a", "orchestrator: b"))
        .unwrap();
    let error = read(&format!("{HEAD}network: nets/net.yaml\n")).unwrap_err();
    assert!(error.to_string().contains("unknown node `b`"), "{error}");
    assert!(parse(HEAD).unwrap().network.is_none());
}

#[test]
fn network_scenario_round_trips() {
    let file = ScenarioFile::parse("network.yaml", NETWORK).unwrap();
    let text = write(&file).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &text).unwrap(), file);
    snapshot!(text);
    let validator = jsonschema::validator_for(&scenario_schema()).unwrap();
    for text in [NETWORK, &text] {
        let json: serde_json::Value = serde_saphyr::from_str(text).unwrap();
        let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn network_trace_is_promoted() {
    // A refused step and the order of a case are not part of a promotion.
    let text =
        NETWORK.replace("      - leave: desk\n        phase: RunningTasks\n        refused: true\n", "");
    let recorded = run_scenario(parse(&text).unwrap()).unwrap().trace;
    let target = promote::Target::new("promoted", Path::new("no-such-folder")).unwrap();
    let reader = Reader::new(recorded.as_slice(), "recorded.ndjson").unwrap();
    let promotion = promote::from_trace(reader, "recorded.ndjson", &target, &[]).unwrap();
    assert_eq!(promotion.notes, [""; 0]);
    snapshot!(promotion.scenario);
}

/// A run has simulated keys, so it differs from the recording in the public keys alone.
#[test]
fn network_trace_with_keys_is_promoted() {
    let text =
        NETWORK.replace("      - leave: desk\n        phase: RunningTasks\n        refused: true\n", "");
    let scenario = parse(&text).unwrap();
    let header = Header::new(scenario.conversation.clone(), scenario.policy.clone(), None);
    let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for mut step in steps(&text).0 {
        if let Input::Network(input) = &mut step.input
            && let NetworkInput::Create { nodes, .. } = &mut **input
        {
            let key = |node: &Node| NodeKey::for_simulation(&node.id).public_key().to_vec();
            nodes.iter_mut().for_each(|node| node.public_key = key(node));
        }
        let metadata = StepMetadata { at_ms: step.at_ms, ..StepMetadata::default() };
        recorder.submit(&step.input, &metadata).unwrap().unwrap();
    }
    let recorded = recorder.close().unwrap();
    let target = promote::Target::new("promoted", Path::new("no-such-folder")).unwrap();
    let reader = Reader::new(recorded.as_slice(), "recorded.ndjson").unwrap();
    let promotion = promote::from_trace(reader, "recorded.ndjson", &target, &[]).unwrap();
    assert_eq!(
        promotion.notes,
        ["The nodes sign with simulated keys: a run ignores the public keys of the network."]
    );
}

#[test]
fn signal_about_an_unknown_node_is_inexpressible() {
    let scenario = parse(NETWORK).unwrap();
    let header = Header::new(scenario.conversation.clone(), scenario.policy.clone(), None);
    let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for mut step in steps(NETWORK).0.into_iter().filter(|step| step.refused.is_none()) {
        if let Input::Network(input) = &mut step.input
            && let NetworkInput::Signal { signal, .. } = &mut **input
        {
            signal.subject = NodeId::new("zoe");
        }
        let metadata = StepMetadata { at_ms: step.at_ms, ..StepMetadata::default() };
        recorder.submit(&step.input, &metadata).unwrap().unwrap();
    }
    let recorded = recorder.close().unwrap();
    let target = promote::Target::new("promoted", Path::new("no-such-folder")).unwrap();
    let reader = Reader::new(recorded.as_slice(), "recorded.ndjson").unwrap();
    let error = promote::from_trace(reader, "recorded.ndjson", &target, &[]).unwrap_err();
    assert!(error.to_string().contains("a signal or a resolved threat with an unknown node"), "{error}");
}

#[test]
fn invalid_networks_are_reported() {
    let network =
        "network: {orchestrator: a, capabilities: {c: {name: C, category: analysis}}, nodes: {a: }}\n";
    let event = |event: &str| format!("    network_events: {event}\n{network}");
    snapshot!(render_errors(
        HEAD,
        &[
            "network: nowhere/net.yaml\n",
            "network: 3\n",
            "network: [a]\n",
            "network: {capabilities: {}, nodes: {a: }}\n",
            "network: {orchestrator: b, capabilities: {}, nodes: {a: }}\n",
            "network: {orchestrator: a, capabilities: {}, nodes: {a: {capabilities: {c: }}}}\n",
            "    network_events: {tick: {}}\n",
            &event("{tock: {}}"),
            &event("{refused: true}"),
            &event("{tick: {}, leave: a}"),
            &event("{tick: {at: 3}}"),
            &event("{tick: {}, visit: 2}"),
            &event("{join: {}}"),
            &event("{join: {b: , c: }}"),
            &event("{join: {b: {capabilities: {d: }}}}"),
            &event("{join: {b: {connections: {d: }}}}"),
            &event("{set_available: {node: a, capability: c}}"),
            &event("{report_load: {node: a, load: 1.5}}"),
            &event("{rotate_key: {node: a, public_key: 12ab}}"),
            &event("{signal: {to: a, from: b, about: c}}"),
            &event("{signal: {to: a, from: b, about: a, confidence: 1}}"),
            &event("{signal: {to: a, from: a, about: b, confidence: 1}}"),
            &event("{signal: {to: a, from: a, about: a, origin: b, confidence: 1}}"),
            &event("{resolve_threat: {node: a, about: b}}"),
            "modules: {critic: {cases: [{when: {node: a}, reply: {fail: error}}]}}\n",
            &format!(
                "{network}modules: {{critic: {{cases: [{{when: {{node: b}}, reply: {{fail: error}}}}]}}}}\n"
            ),
        ]
    ));
}

#[test]
fn cut_network_trace_is_completed() {
    let recorded = run_scenario(parse(NETWORK).unwrap()).unwrap().trace;
    let lines: Vec<&str> = std::str::from_utf8(&recorded).unwrap().lines().collect();
    // A handoff is sent, and the recording stops before its receiver gets it.
    let sent = lines.iter().rposition(|line| line.contains("\"check\",\"attempt\"")).unwrap();
    let cut = format!("{}\n", lines[..=sent].join("\n"));
    let target = promote::Target::new("promoted", Path::new("no-such-folder")).unwrap();
    let reader = Reader::new(cut.as_bytes(), "recorded.ndjson").unwrap();
    let promotion = promote::from_trace(reader, "recorded.ndjson", &target, &[]).unwrap();
    assert!(promotion.notes.iter().any(|note| note.contains("in the added steps every module succeeds")));
    assert!(promotion.halted.is_none());
}

#[test]
fn forged_handoff_is_inexpressible() {
    let text = format!("{NETWORK}handoffs: [{{to: ana, fault: forged}}]\n");
    let recorded = run_scenario(parse(&text).unwrap()).unwrap().trace;
    let target = promote::Target::new("promoted", Path::new("no-such-folder")).unwrap();
    let reader = Reader::new(recorded.as_slice(), "recorded.ndjson").unwrap();
    let error = promote::from_trace(reader, "recorded.ndjson", &target, &[]).unwrap_err();
    assert!(error.to_string().contains("a forged, replayed or duplicated handoff"), "{error}");
}
