//! The state after each step, in rows that most states share. Every row is kept once. Of a state are kept the rows
//! of control, which are few, and those of the items that are not what they were a step before, which are few too.

use super::super::renderer::Line;
use super::blocks::{Notes, PageBlock, class, words};
use std::collections::{HashMap, HashSet};

/// The most bytes that rows and lists may take in the page.
const BYTES_MAX: usize = 3_000_000;

/// The name of the rows about what is known.
const ITEMS: &str = "knows";

/// Every state that has room in the page.
#[derive(Debug, Default)]
pub(super) struct States {
    /// The rows as they are encoded: a name, and pieces of a class and some words.
    rows: Vec<String>,
    known: HashMap<String, usize>,
    steps: Vec<Kept>,
    latest: HashSet<String>,
    items: Vec<usize>,
    bytes: usize,
    full: bool,
}

/// A state, as it differs from the one before: the rows of control, the number of rows about what is known, and those of
/// them that changed, each with its place before it.
#[derive(Debug, serde::Serialize)]
struct Kept(Vec<usize>, usize, Vec<usize>);

impl States {
    /// Adds the state after the next step, as it was told, and gives what is new in it.
    pub(super) fn push(&mut self, notes: Notes) -> Vec<(String, Line)> {
        let mut rows = Vec::new();
        let mut new = Vec::new();
        let mut about = String::new();
        let mut items_from = 0;
        for told in notes.0 {
            let PageBlock::Property { name, line } = told else { continue };
            if !name.is_empty() {
                about.clone_from(&name);
            }
            let pieces = line.pieces().iter().map(|piece| (class(piece.ink), words(piece)));
            let row = serde_json::json!([name, pieces.collect::<Vec<_>>()]).to_string();
            let is_known = about == ITEMS;
            // What becomes known stands among the events.
            if !is_known && !self.latest.contains(&row) {
                new.push((about.clone(), line));
            }
            items_from = if is_known { items_from } else { rows.len() + 1 };
            rows.push(row);
        }
        if !self.full {
            self.keep(&rows, items_from);
        }
        self.latest = rows.into_iter().collect();
        new
    }

    fn keep(&mut self, rows: &[String], items_from: usize) {
        let mut list: Vec<usize> = rows.iter().map(|row| self.row(row)).collect();
        let items = list.split_off(items_from);
        let mut changed = Vec::new();
        for (place, row) in items.iter().enumerate() {
            if self.items.get(place) != Some(row) {
                changed.extend([place, *row]);
            }
        }
        self.bytes += 6 * (list.len() + changed.len() + 2);
        self.steps.push(Kept(list, items.len(), changed));
        self.items = items;
        self.full = self.bytes > BYTES_MAX;
    }

    fn row(&mut self, row: &str) -> usize {
        if let Some(known) = self.known.get(row) {
            return *known;
        }
        self.bytes += row.len();
        self.known.insert(row.to_string(), self.rows.len());
        self.rows.push(row.to_string());
        self.rows.len() - 1
    }

    /// After how many steps the state is kept.
    pub(super) fn kept(&self) -> usize {
        self.steps.len()
    }

    /// The states as JSON that no markup can end.
    pub(super) fn json(&self) -> String {
        let steps = serde_json::json!(self.steps);
        let json = format!("{{\"rows\":[{}],\"steps\":{steps}}}", self.rows.join(","));
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}
