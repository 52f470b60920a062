//! Public keys are written into every usual form of a node, and nothing else changes.

use crate::{KeyPlaces, LoadedNetwork, NETWORK_LIMITS};
use orchestrion_kernel::NodeId;
use orchestrion_yaml::{ReadError, Source, render_error};
use std::collections::BTreeMap;

/// Writes a key for each node: 32 times `byte` for the first, 32 times the next byte for the second.
fn edit(text: &str, nodes: &[&str], byte: u8) -> Result<String, ReadError> {
    let source = Source::from_text_within("net.yaml", text, NETWORK_LIMITS).unwrap();
    let keys: BTreeMap<NodeId, [u8; 32]> =
        nodes.iter().zip(byte..).map(|(node, byte)| (NodeId::new(*node), [byte; 32])).collect();
    Ok(KeyPlaces::find(&source, &keys.keys().cloned().collect())?.write(&keys))
}

/// Asserts that a text gets `added` for the node `a`, and that this key is replaced later.
fn check(text: &str, added: &str) {
    let expected = |byte: u8| added.replace("KEY", &format!("\"{}\"", format!("{byte:02x}").repeat(32)));
    let edited = edit(text, &["a"], 0x5a).unwrap_or_else(|error| panic!("{text}\n{}", render_error(&error)));
    assert_eq!(edited, expected(0x5a));
    assert_eq!(edit(&edited, &["a"], 0xc3).unwrap(), expected(0xc3));
    let network = LoadedNetwork::parse("net.yaml", &edited).unwrap().network;
    assert_eq!(network.node(&NodeId::new("a")).unwrap().public_key, [0x5a; 32]);
}

#[test]
fn keys_are_added_to_every_form() {
    for (text, added) in [
        ("nodes:\n  a:\n    trust: 0.5\n", "nodes:\n  a:\n    public_key: KEY\n    trust: 0.5\n"),
        (
            "nodes:\n   a:   # first\n\n      # own\n      trust: 0.5",
            "nodes:\n   a:   # first\n      public_key: KEY\n\n      # own\n      trust: 0.5",
        ),
        ("nodes:\n  a:\n  b: {}\n", "nodes:\n  a:\n    public_key: KEY\n  b: {}\n"),
        ("nodes:\n  a: # none\n# end\n", "nodes:\n  a: # none\n    public_key: KEY\n# end\n"),
        ("nodes:\n  a:", "nodes:\n  a:\n    public_key: KEY"),
        ("nodes:\n  b: {}\n  a: {}\n", "nodes:\n  b: {}\n  a: {public_key: KEY}\n"),
        ("nodes:\n  a: {trust: 0.5} # x\n", "nodes:\n  a: {public_key: KEY, trust: 0.5} # x\n"),
        ("nodes:\n  a: { # x\n    trust: 0.5 }\n", "nodes:\n  a: {public_key: KEY, # x\n    trust: 0.5 }\n"),
        ("nodes: {a: {trust: 0.5}, b: }\n", "nodes: {a: {public_key: KEY, trust: 0.5}, b: }\n"),
        ("nodes: {b: , a: , c: {}}\n", "nodes: {b: , a: {public_key: KEY} , c: {}}\n"),
        ("nodes: {b: , a: }\n", "nodes: {b: , a: {public_key: KEY} }\n"),
        ("nodes:\n  \"a\" :\n    trust: 1\n", "nodes:\n  \"a\" :\n    public_key: KEY\n    trust: 1\n"),
        ("nodes:\n  'a': {}\n", "nodes:\n  'a': {public_key: KEY}\n"),
        ("nodes:\r\n  a:\r\n    trust: 1\r\n", "nodes:\r\n  a:\r\n    public_key: KEY\r\n    trust: 1\r\n"),
        ("nodes:\n  é: {trust: 1} # é\n  a: {}\n", "nodes:\n  é: {trust: 1} # é\n  a: {public_key: KEY}\n"),
    ] {
        let start = "# A network\ncapabilities: {}\n";
        check(&format!("{start}{text}"), &format!("{start}{added}"));
    }
}

#[test]
fn keys_of_several_nodes_are_added() {
    let text = include_str!("../../../../specs/networks/invoices.yaml");
    let nodes = ["ana", "ben", "cleo", "dai", "desk"];
    let edited = edit(text, &nodes, 7).unwrap();
    let rest = (7..).take(nodes.len()).fold(edited.clone(), |rest, byte| {
        let line = format!("    public_key: \"{}\"\n", format!("{byte:02x}").repeat(32));
        assert_eq!(rest.matches(&line).count(), 1);
        rest.replace(&line, "")
    });
    assert_eq!(rest, text);
    let LoadedNetwork { network: before, .. } = LoadedNetwork::parse("net.yaml", text).unwrap();
    let LoadedNetwork { network: after, .. } = LoadedNetwork::parse("net.yaml", &edited).unwrap();
    for (node, byte) in nodes.map(NodeId::new).into_iter().zip(7..) {
        let mut expected = before.node(&node).unwrap().clone();
        expected.public_key = vec![byte; 32];
        assert_eq!(after.node(&node), Some(&expected));
    }
}

#[test]
fn plain_and_quoted_keys_are_replaced() {
    for (before, after) in
        [("KEY", "\"NEW\""), ("'KEY'", "'NEW'"), ("\"KEY\"", "\"NEW\""), ("KEY # x", "\"NEW\" # x")]
    {
        let text =
            |key: &str| format!("capabilities: {{}}\nnodes:\n  a:\n    public_key: {key}\n    trust: 1\n");
        let edited = edit(&text(&before.replace("KEY", &"aB".repeat(32))), &["a"], 0x5a).unwrap();
        let quotes = |edited: &str| edited.replace('\'', "\"");
        assert_eq!(quotes(&edited), quotes(&text(&after.replace("NEW", &"5a".repeat(32)))));
    }
}

#[test]
fn unusual_forms_are_refused() {
    let mut errors = String::new();
    for (text, node) in [
        ("nodes:\n  ? a\n  : {}\n", "a"),
        ("nodes:\n  a: ~\n", "a"),
        ("nodes:\n  a: !!map {}\n", "a"),
        ("nodes:\n  aa: {}\n", "a"),
    ] {
        let error = edit(&format!("capabilities: {{}}\n{text}"), &[node], 1).unwrap_err();
        errors.push_str(&format!("{}----\n", render_error(&error)));
    }
    insta::assert_snapshot!(errors);
}
