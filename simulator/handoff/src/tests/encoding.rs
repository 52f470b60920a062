//! The encoding is injective, and its format stays.

use super::decoder::decode;
use super::generator::{handoff, text};
use super::{changes, full_handoff};
use crate::{Handoff, NodeKey, encode};
use orchestrion_kernel::{CapabilityId, NodeId, Text};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn encoding_is_decodable(handoff in handoff()) {
        prop_assert_eq!(decode(&encode(&handoff)), Some(handoff));
    }

    #[test]
    fn different_handoffs_have_different_encodings(first in handoff(), second in handoff()) {
        prop_assert_eq!(first == second, encode(&first) == encode(&second));
    }

    /// Handoffs that differ in one field are closer than two generated ones.
    #[test]
    fn changed_field_changes_encoding(handoff in handoff(), text in text(), field in 0..7_usize) {
        let mut changed = handoff.clone();
        match field {
            0 => changed.from_node = NodeId::new(text),
            1 => changed.to_node = NodeId::new(text),
            2 => changed.capability = CapabilityId::new(text),
            3 => changed.operation = text,
            4 => changed.context.workflow_id = text,
            5 => changed.context.lineage.push(NodeId::new(text)),
            _ => changed.task = None,
        }
        prop_assert_eq!(handoff == changed, encode(&handoff) == encode(&changed));
    }

    #[test]
    fn json_round_trip_preserves_handoff(handoff in handoff()) {
        let json = serde_json::to_string(&handoff).unwrap();
        prop_assert_eq!(serde_json::from_str::<Handoff>(&json).unwrap(), handoff);
    }
}

/// 001-6.1: the signature is over all fields.
#[test]
fn every_changed_field_changes_encoding() {
    let original = full_handoff();
    for (field, change) in changes() {
        let mut changed = original.clone();
        change(&mut changed);
        assert_ne!(encode(&changed), encode(&original), "{field}");
    }
}

#[test]
fn shifted_boundaries_change_encoding() {
    let pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")];
    let shifts: [fn(&mut Handoff, &str, &str); 6] = [
        |handoff, a, b| (handoff.from_node, handoff.to_node) = (NodeId::new(a), NodeId::new(b)),
        |handoff, a, b| (handoff.capability, handoff.operation) = (CapabilityId::new(a), b.into()),
        |handoff, a, b| {
            handoff.task.as_mut().unwrap().metadata = [(Text::from(a), Text::from(b))].into();
        },
        |handoff, a, b| handoff.context.accumulated = [(Text::from(a), Text::from(b))].into(),
        |handoff, a, b| handoff.context.lineage = vec![NodeId::new(a), NodeId::new(b)],
        |handoff, a, b| {
            handoff.context.lineage =
                [a, b].into_iter().filter(|id| !id.is_empty()).map(NodeId::new).collect();
        },
    ];
    for (index, shift) in shifts.into_iter().enumerate() {
        let mut seen = BTreeMap::new();
        for (a, b) in pairs {
            let mut shifted = full_handoff();
            shift(&mut shifted, a, b);
            if let Some(other) = seen.insert(encode(&shifted), shifted.clone()) {
                assert_eq!(shifted, other, "shift {index} of ({a:?}, {b:?})");
            }
        }
    }
}

#[test]
fn format_has_golden_bytes_and_signature() {
    let handoff = full_handoff();
    let bytes = encode(&handoff);
    let mut text = String::new();
    for row in bytes.chunks(16) {
        let digits: String = row.iter().map(|byte| format!("{byte:02x} ")).collect();
        let characters = row.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' });
        text.push_str(&format!("{digits:48}{}\n", characters.collect::<String>()));
    }
    let signed = NodeKey::for_simulation(&handoff.from_node).sign(handoff);
    text.push_str(&format!("\n{}\n", serde_json::to_string_pretty(&signed).unwrap()));
    insta::assert_snapshot!(text);
}
