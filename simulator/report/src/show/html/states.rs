//! The state after each step, as JSON for the script of the page.
//!
//! Each distinct row is stored once. A step stores the rows of control, which are few, and the rows of items that changed.

use super::super::detail::state::ITEMS;
use super::super::renderer::Line;
use super::blocks::{PageBlock, PageBlocks, class, piece_text};
use std::collections::{HashMap, HashSet};

/// The most bytes of rows and steps in the page.
const BYTES_MAX: usize = 3_000_000;

/// The states of the first steps, as many as fit into the page.
#[derive(Debug, Default)]
pub(super) struct States {
    /// Encoded rows: a name, and pieces of a class and a text.
    rows: Vec<String>,
    indices: HashMap<String, usize>,
    steps: Vec<StateDelta>,
    latest: HashSet<String>,
    items: Vec<usize>,
    bytes: usize,
    is_full: bool,
}

/// A state relative to the previous one: the rows of control, the number of item rows, and pairs of position and row for
/// the item rows that changed.
#[derive(Debug, serde::Serialize)]
struct StateDelta(Vec<usize>, usize, Vec<usize>);

impl States {
    /// Adds the state after the next step and returns its new properties.
    pub(super) fn push(&mut self, blocks: PageBlocks) -> Vec<(String, Line)> {
        let mut rows = Vec::new();
        let mut new = Vec::new();
        let mut property = String::new();
        let mut items_from = 0;
        for block in blocks.0 {
            let PageBlock::Property { name, line } = block else { continue };
            if !name.is_empty() {
                property.clone_from(&name);
            }
            let row = serde_json::json!([name, merged_pieces(&line)]).to_string();
            let is_item = property == ITEMS;
            // The events of the step list its new items.
            if !is_item && !self.latest.contains(&row) {
                new.push((property.clone(), line));
            }
            items_from = if is_item { items_from } else { rows.len() + 1 };
            rows.push(row);
        }
        if !self.is_full {
            self.store(&rows, items_from);
        }
        self.latest = rows.into_iter().collect();
        new
    }

    fn store(&mut self, rows: &[String], items_from: usize) {
        let mut control: Vec<usize> = rows.iter().map(|row| self.row_index(row)).collect();
        let items = control.split_off(items_from);
        let mut changed = Vec::new();
        for (position, row) in items.iter().enumerate() {
            if self.items.get(position) != Some(row) {
                changed.extend([position, *row]);
            }
        }
        // An index takes about six bytes.
        self.bytes += 6 * (control.len() + changed.len() + 2);
        self.steps.push(StateDelta(control, items.len(), changed));
        self.items = items;
        self.is_full = self.bytes > BYTES_MAX;
    }

    fn row_index(&mut self, row: &str) -> usize {
        if let Some(index) = self.indices.get(row) {
            return *index;
        }
        self.bytes += row.len();
        self.indices.insert(row.to_string(), self.rows.len());
        self.rows.push(row.to_string());
        self.rows.len() - 1
    }

    /// Returns the number of steps with a stored state.
    pub(super) fn stored_steps(&self) -> usize {
        self.steps.len()
    }

    /// Returns the states as JSON without markup characters.
    pub(super) fn json(&self) -> String {
        let steps = serde_json::json!(self.steps);
        let json = format!("{{\"rows\":[{}],\"steps\":{steps}}}", self.rows.join(","));
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

/// Returns the classes and texts of a line. Adjacent pieces of one class are one piece, so rows that look equal are equal.
fn merged_pieces(line: &Line) -> Vec<(&'static str, String)> {
    let mut merged: Vec<(&'static str, String)> = Vec::new();
    for piece in line.pieces() {
        let (class, text) = (class(piece.style), piece_text(piece));
        match merged.last_mut() {
            Some((last, merged_text)) if *last == class => merged_text.push_str(&text),
            _ => merged.push((class, text)),
        }
    }
    merged
}
