//! A signature is valid for one handoff and one key.

use super::generator::handoff;
use super::{changes, full_handoff};
use crate::{InvalidSignature, NodeKey, Signature, SignatureStatus, SignedHandoff, verify};
use orchestrion_kernel::NodeId;
use proptest::prelude::*;

fn desk_key() -> NodeKey {
    NodeKey::for_simulation(&NodeId::new("desk"))
}

fn reason(signed: &SignedHandoff, public_key: &[u8]) -> InvalidSignature {
    match verify(signed, public_key) {
        SignatureStatus::Invalid(reason) => reason,
        SignatureStatus::Valid => panic!("the signature is valid"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn signature_is_valid_for_signed_handoff_only(handoff in handoff(), other in handoff()) {
        let key = desk_key();
        let signed = key.sign(handoff);
        prop_assert_eq!(verify(&signed, &key.public_key()), SignatureStatus::Valid);
        let moved = SignedHandoff { handoff: other, signature: signed.signature.clone() };
        prop_assert_eq!(verify(&moved, &key.public_key()).is_valid(), moved.handoff == signed.handoff);
    }
}

#[test]
fn signed_handoff_survives_json() {
    let key = NodeKey::generate().unwrap();
    let json = serde_json::to_string(&key.sign(full_handoff())).unwrap();
    let read: SignedHandoff = serde_json::from_str(&json).unwrap();
    assert_eq!(read.handoff, full_handoff());
    assert!(verify(&read, &key.public_key()).is_valid());
}

#[test]
fn unknown_json_fields_are_refused() {
    let json = serde_json::to_string(&desk_key().sign(full_handoff())).unwrap();
    for object in
        ["{\"handoff\":", "{\"from_node\":", "{\"workflow_id\":", "{\"id\":", "{\"task\":1,\"exit_code\""]
    {
        assert_eq!(json.matches(object).count(), 1, "{object}");
        let extended = json.replace(object, &object.replacen('{', "{\"admin\":true,", 1));
        let error = serde_json::from_str::<SignedHandoff>(&extended).unwrap_err();
        assert!(error.to_string().contains("unknown field `admin`"), "{object}: {error}");
    }
}

/// 001-6.1.
#[test]
fn changed_field_invalidates_signature() {
    let key = desk_key();
    let signed = key.sign(full_handoff());
    for (field, change) in changes() {
        let mut changed = signed.clone();
        change(&mut changed.handoff);
        assert_eq!(reason(&changed, &key.public_key()), InvalidSignature::Mismatch, "{field}");
    }
}

#[test]
fn changed_signature_is_invalid() {
    let key = desk_key();
    let signed = key.sign(full_handoff());
    let text = signed.signature.as_str();
    for position in 0..text.len() {
        let digit = if &text[position..=position] == "0" { "1" } else { "0" };
        let mut changed = text.to_owned();
        changed.replace_range(position..=position, digit);
        let changed = SignedHandoff { signature: Signature::from_text(changed), ..signed.clone() };
        assert!(!verify(&changed, &key.public_key()).is_valid(), "digit {position}");
    }
}

#[test]
fn key_of_another_node_is_invalid() {
    let signed = desk_key().sign(full_handoff());
    for other in [NodeKey::for_simulation(&NodeId::new("ana")), NodeKey::generate().unwrap()] {
        assert_eq!(reason(&signed, &other.public_key()), InvalidSignature::Mismatch);
    }
}

#[test]
fn malformed_public_key_is_invalid() {
    let signed = desk_key().sign(full_handoff());
    let mut identity = [0; 32];
    identity[0] = 1;
    // The y coordinate 2 is on no point of the curve.
    let mut no_point = [0; 32];
    no_point[0] = 2;
    let reasons =
        [&[][..], &[7; 31], &[7; 33], &no_point, &identity].map(|key| reason(&signed, key).to_string());
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn malformed_signature_is_invalid() {
    let key = desk_key();
    let signed = key.sign(full_handoff());
    let text = signed.signature.as_str();
    let upper = text.to_uppercase();
    let reasons =
        ["", &text[..126], &format!("{text}00"), &format!("{}é", &text[..126]), &upper].map(|text| {
            let signed = SignedHandoff { signature: Signature::from_text(text), ..signed.clone() };
            reason(&signed, &key.public_key()).to_string()
        });
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn simulation_keys_are_reproducible_and_distinct() {
    let public_key = |node: &str| NodeKey::for_simulation(&NodeId::new(node)).public_key();
    assert_eq!(public_key("ana"), public_key("ana"));
    assert_ne!(public_key("ana"), public_key("ben"));
    assert_ne!(NodeKey::generate().unwrap().public_key(), NodeKey::generate().unwrap().public_key());
}

#[test]
fn debug_of_key_hides_secret() {
    let key = desk_key();
    let mut secret = String::new();
    key.push_hex(&mut secret);
    let debug = format!("{key:?} {key:#?}");
    assert!(!debug.contains(&secret) && !debug.contains(&secret[..16]), "{debug}");
    assert!(debug.contains("public_key"), "{debug}");
}
