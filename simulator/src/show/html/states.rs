//! The state after each step, in rows that most states share: every row is kept once, and a state is a list of rows.

use super::super::page::Line;
use super::told::{Notes, Told, class, words};
use std::collections::{HashMap, HashSet};

/// The most bytes that rows and lists may take in the page.
const BYTES_MAX: usize = 4_000_000;

/// Every state that has room in the page.
#[derive(Debug, Default)]
pub(super) struct States {
    /// The rows as they are encoded: a name, and pieces of a class and some words.
    rows: Vec<String>,
    known: HashMap<String, usize>,
    steps: Vec<Vec<usize>>,
    latest: HashSet<String>,
    bytes: usize,
    full: bool,
}

impl States {
    /// Adds the state after the next step, as it was told, and gives what is new in it.
    pub(super) fn push(&mut self, notes: Notes) -> Vec<(String, Line)> {
        let mut rows = Vec::new();
        let mut new = Vec::new();
        let mut about = String::new();
        for told in notes.0 {
            let Told::Property { name, line } = told else { continue };
            if !name.is_empty() {
                about.clone_from(&name);
            }
            let pieces = line.pieces().iter().map(|piece| (class(piece.ink), words(piece)));
            let row = serde_json::json!([name, pieces.collect::<Vec<_>>()]).to_string();
            if !self.latest.contains(&row) {
                new.push((about.clone(), line));
            }
            rows.push(row);
        }
        if !self.full {
            self.keep(&rows);
        }
        self.latest = rows.into_iter().collect();
        new
    }

    fn keep(&mut self, rows: &[String]) {
        let list: Vec<usize> = rows.iter().map(|row| self.row(row)).collect();
        self.bytes += 5 * list.len() + 2;
        self.steps.push(list);
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
