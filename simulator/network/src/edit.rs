//! Public keys written into the text of a network file. Comments and everything else stay.
//!
//! The form of a node in YAML suggests a place for its key. A comparison decides whether the place is right: the edited text must
//! describe the same network file, with the keys.

mod place;

use super::NETWORK_LIMITS;
use super::build::unknown;
use super::format::NetworkFile;
use super::public_key::PublicKeyText;
use orchestrion_kernel::NodeId;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use place::Edit;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the text of a network file with these public keys, of 32 bytes each. A node without a key gets one; the key of another node
/// is replaced.
///
/// # Errors
/// [`ReadError`] if the source is not a network file, lacks a node, has a node in a form that cannot be edited, or would exceed
/// [`NETWORK_LIMITS`].
pub fn with_public_keys(source: &Source, keys: &BTreeMap<NodeId, [u8; 32]>) -> Result<String, ReadError> {
    let mut file: NetworkFile = source.parse()?;
    let edits = edits(source.text(), &mut file, keys).map_err(|error| ReadError::in_source(source, error))?;
    let text = apply(source.text(), edits);
    let edited = Source::from_text_within(source.name(), &text, NETWORK_LIMITS)?;
    // An edit in a wrong place gives other values, or no YAML.
    match edited.parse::<NetworkFile>() {
        Ok(edited) if edited == file => Ok(text),
        Ok(_) | Err(_) => Err(ReadError::in_source(source, unusual_form())),
    }
}

/// Returns the edits of a text, and sets the keys in the parsed file.
fn edits(
    text: &str,
    file: &mut NetworkFile,
    keys: &BTreeMap<NodeId, [u8; 32]>,
) -> Result<Vec<Edit>, LabeledError> {
    let ids: BTreeSet<&str> = file.nodes.0.iter().map(|(id, _)| id.value.as_str()).collect();
    if let Some(node) = keys.keys().find(|node| !ids.contains(node.as_str())) {
        return Err(unknown("node", node.as_str(), ids.iter().copied(), "add it to `nodes`"));
    }
    let mut edits = Vec::with_capacity(keys.len());
    for (id, node) in &mut file.nodes.0 {
        let Some(key) = keys.get(&NodeId::new(id.value.text())) else { continue };
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let present = node.public_key.replace(PublicKeyText(key.to_vec()).into());
        let edit = match present {
            Some(present) => present.span().and_then(|span| place::replacement(text, span, &digits)),
            None => id.span().and_then(|span| place::insertion(text, span, &digits)),
        };
        edits.push(edit.ok_or_else(|| unusual_form().with_label(id.span(), "this node"))?);
    }
    Ok(edits)
}

/// Applies edits, which do not overlap.
fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut edited = String::with_capacity(text.len());
    let mut copied = 0;
    for Edit { range, text: replacement } in edits {
        edited.push_str(text.get(copied..range.start).unwrap_or_default());
        edited.push_str(&replacement);
        copied = range.end;
    }
    edited.push_str(text.get(copied..).unwrap_or_default());
    edited
}

fn unusual_form() -> LabeledError {
    LabeledError::new(
        "unusual form of a node: expected one key and value on each line, or all in braces, found another form",
        "rewrite the node, as in the examples of `orchestrion route --help`",
    )
}
