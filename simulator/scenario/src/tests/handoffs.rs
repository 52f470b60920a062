//! Tests of the faults of handoffs.

use super::network::{NETWORK, routes, steps};
use super::{HEAD, parse, render_errors};
use crate::HandoffFault;
use orchestrion_kernel::network::{HandoffRefusal, NetworkEvent};
use orchestrion_kernel::{Event, NodeId};
use orchestrion_trace::Step;

fn with_faults(faults: &str) -> String {
    format!("{NETWORK}handoffs: {faults}\n")
}

fn refusals(steps: &[Step]) -> Vec<HandoffRefusal> {
    let events = steps.iter().flat_map(|step| &step.events);
    let refused = events.filter_map(|event| match event {
        Event::Network(NetworkEvent::HandoffRefused { refusal, .. }) => Some(*refusal),
        _ => None,
    });
    refused.collect()
}

#[test]
fn faults_are_counted_by_receiver() {
    let text = with_faults("[{to: ana, fault: lost}, {to: ben, nth: 2, fault: replayed}]");
    let mut script = parse(&text).unwrap().handoffs;
    let (ana, ben) = (NodeId::new("ana"), NodeId::new("ben"));
    assert_eq!(script.unused().len(), 2);
    assert_eq!(script.next(&ben), None);
    assert_eq!(script.next(&ana), Some(HandoffFault::Lost));
    assert_eq!(script.next(&ana), None);
    assert_eq!(script.unused(), ["unused fault: handoff 2 to ben was not sent"]);
    assert_eq!(script.next(&ben), Some(HandoffFault::Replayed));
    assert_eq!(script.unused(), [""; 0]);
}

#[test]
fn forged_and_duplicated_handoffs_are_refused() {
    let (steps, result) = steps(&with_faults("[{to: ana, fault: forged}, {to: ben, fault: duplicated}]"));
    assert_eq!(refusals(&steps), [HandoffRefusal::InvalidSignature, HandoffRefusal::NotExpected]);
    assert_eq!(routes(&steps), ["translate: desk → ana", "check: ana → ben"]);
    assert_eq!(result.unused_events, [""; 0]);
}

#[test]
fn lost_handoff_goes_to_the_next_node() {
    let (steps, _) = steps(&with_faults("[{to: ana, fault: lost}]"));
    assert_eq!(routes(&steps)[..2], ["translate: desk → ana", "translate: desk → ben"]);
}

#[test]
fn unsent_fault_is_reported() {
    let (_, result) = steps(&with_faults("[{to: ana, nth: 9, fault: lost}]"));
    assert_eq!(result.unused_events, ["unused fault: handoff 9 to ana was not sent"]);
}

#[test]
fn invalid_faults_are_reported() {
    let network = "network: {orchestrator: a, capabilities: {}, nodes: {a: , b: }}\n";
    let faults = |faults: &str| format!("{network}handoffs: {faults}\n");
    snapshot!(render_errors(
        HEAD,
        &[
            "handoffs: [{to: a, fault: lost}]\n",
            &faults("{to: a, fault: lost}"),
            &faults("[{to: c, fault: lost}]"),
            &faults("[{to: a}]"),
            &faults("[{to: a, fault: late}]"),
            &faults("[{to: a, nth: 0, fault: lost}]"),
            &faults("[{to: a, fault: replayed}]"),
            &faults("[{to: a, fault: lost}, {to: b, fault: lost}, {to: a, fault: forged}]"),
        ]
    ));
}
