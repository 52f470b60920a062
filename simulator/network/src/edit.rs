//! Public keys written into the text of a network file. Comments and everything else stay.
//!
//! The form of a node in YAML suggests a place for its key. A comparison decides whether the place is right: the edited text must
//! describe the same network file, with the keys.

mod place;

use super::NETWORK_LIMITS;
use super::build::unknown;
use super::format::NetworkFile;
use super::public_key::{KEY_BYTES, PublicKeyText};
use orchestrion_kernel::NodeId;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use place::Edit;
use std::collections::{BTreeMap, BTreeSet};

/// The places of public keys in the text of a network file.
#[derive(Debug)]
pub struct KeyPlaces<'s> {
    text: &'s str,
    /// The edit of each node with zeros as its key, in the order of the text.
    edits: Vec<(NodeId, Edit)>,
}

impl<'s> KeyPlaces<'s> {
    /// Finds the places of the keys of nodes. A node without a key gets one; the key of another node is replaced.
    ///
    /// # Errors
    /// [`ReadError`] if the source is not a network file, lacks a node, has a node in a form that cannot be edited, or would exceed
    /// [`NETWORK_LIMITS`].
    pub fn find(source: &'s Source, nodes: &BTreeSet<NodeId>) -> Result<Self, ReadError> {
        let mut file: NetworkFile = source.parse()?;
        let text = source.text();
        let edits = edits(text, &mut file, nodes).map_err(|error| ReadError::in_source(source, error))?;
        let places = Self { text, edits };
        let expected = canonical(file);
        let edited = Source::from_text_within(source.name(), &places.text_with(|_| None), NETWORK_LIMITS)?;
        // An edit in a wrong place gives other values, or no YAML.
        match edited.parse().ok().and_then(canonical) {
            Some(edited) if Some(&edited) == expected.as_ref() => Ok(places),
            Some(_) | None => Err(ReadError::in_source(source, unusual_form())),
        }
    }

    /// Returns the text of the file with these keys. A node of the places that is missing here gets zeros.
    #[must_use]
    pub fn write(&self, keys: &BTreeMap<NodeId, [u8; KEY_BYTES]>) -> String {
        self.text_with(|node| keys.get(node).map(|key| PublicKeyText(key.to_vec()).digits()))
    }

    fn text_with(&self, key: impl Fn(&NodeId) -> Option<String>) -> String {
        let zeros = zeros().digits();
        let mut edited = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (node, Edit { range, text }) in &self.edits {
            edited.push_str(self.text.get(copied..range.start).unwrap_or_default());
            match key(node) {
                Some(key) => edited.push_str(&text.replacen(&zeros, &key, 1)),
                None => edited.push_str(text),
            }
            copied = range.end;
        }
        edited.push_str(self.text.get(copied..).unwrap_or_default());
        edited
    }
}

/// The key of a place until its own is written there.
fn zeros() -> PublicKeyText {
    PublicKeyText(vec![0; KEY_BYTES])
}

/// Returns the text of a file without its form. A parsed file needs fifty times the memory, so two of them are compared as texts.
fn canonical(file: NetworkFile) -> Option<String> {
    serde_json::to_string(&file).ok()
}

/// Returns the edits of a text in its order, and sets the keys in the parsed file.
fn edits(
    text: &str,
    file: &mut NetworkFile,
    nodes: &BTreeSet<NodeId>,
) -> Result<Vec<(NodeId, Edit)>, LabeledError> {
    let ids: BTreeSet<&str> = file.nodes.0.iter().map(|(id, _)| id.value.as_str()).collect();
    if let Some(node) = nodes.iter().find(|node| !ids.contains(node.as_str())) {
        return Err(unknown("node", node.as_str(), ids.iter().copied(), "add it to `nodes`"));
    }
    let digits = zeros().digits();
    let mut edits = Vec::with_capacity(nodes.len());
    for (id, file) in &mut file.nodes.0 {
        let node = NodeId::new(id.value.text());
        if !nodes.contains(&node) {
            continue;
        }
        let edit = match file.public_key.replace(zeros().into()) {
            Some(present) => present.span().and_then(|span| place::replacement(text, span, &digits)),
            None => id.span().and_then(|span| place::insertion(text, span, &digits)),
        };
        edits.push((node, edit.ok_or_else(|| unusual_form().with_label(id.span(), "this node"))?));
    }
    edits.sort_by_key(|(_, edit)| edit.range.start);
    Ok(edits)
}

fn unusual_form() -> LabeledError {
    LabeledError::new(
        "unusual form of a node: expected one key and value on each line, or all in braces, found another form",
        "rewrite the node, as in the examples of `orchestrion route --help`",
    )
}
