//! What scoring came to: a table for people, JSON for programs.

use super::score::{Report, ScoreCounts};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};

impl ScoreCounts {
    /// The mean length of a context, in characters.
    #[must_use]
    pub fn context_chars_mean(&self) -> f64 {
        if self.queries == 0 { 0.0 } else { self.context_chars as f64 / self.queries as f64 }
    }

    fn json(&self) -> Value {
        json!({
            "queries": self.queries,
            "forbidden_queries": self.forbidden_queries,
            "resurrections": self.resurrections,
            "required": self.required,
            "mentioned": self.mentioned,
            "context_chars_mean": (self.context_chars_mean() * 10.0).round() / 10.0,
        })
    }

    fn line(&self, out: &mut String, name: &str) -> fmt::Result {
        let resurrections = share(self.resurrections, self.forbidden_queries);
        let mentioned = share(self.mentioned, self.required);
        writeln!(
            out,
            "  {name:<26} {:>7}  {resurrections:>20}  {mentioned:>20}  {:>5.0}",
            self.queries,
            self.context_chars_mean()
        )
    }
}

/// `3 of 12   25.0 %`, or nothing of nothing.
fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "-".to_string();
    }
    format!("{part} of {whole}  {:>5.1} %", part as f64 * 100.0 / whole as f64)
}

/// `1 fault`, `2 faults`.
fn count(many: usize, one: &str, more: &str) -> String {
    format!("{many} {}", if many == 1 { one } else { more })
}

impl Report {
    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let tracks: Map<String, Value> =
            self.tracks.iter().map(|(track, tally)| (track.clone(), tally.json())).collect();
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|fault| json!({"file": fault.file, "line": fault.line, "what": fault.kind.to_string()}))
            .collect();
        json!({
            "timelines": self.timelines,
            "queries": self.overall.queries,
            "links": self.links.all,
            "links_resolved": self.links.resolved,
            "overall": self.overall.json(),
            "tracks": tracks,
            "faults": faults,
        })
    }

    /// For people: a row for each track.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "  {:<26} {:>7}  {:>20}  {:>20}  {:>5}",
            "track", "queries", "resurrected", "required text there", "chars"
        );
        for (track, tally) in &self.tracks {
            let _ = tally.line(&mut out, track);
        }
        let _ = self.overall.line(&mut out, "overall");
        out
    }

    /// The last line: what was scored, and what was not.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { timelines, overall, links, faults, .. } = self;
        let mut told = format!(
            "{}, {}; {} of {} resolved",
            count(*timelines, "timeline", "timelines"),
            count(overall.queries, "query", "queries"),
            links.resolved,
            count(links.all, "link", "links"),
        );
        if !faults.is_empty() {
            let _ = write!(told, "; {}", count(faults.len(), "fault", "faults"));
        }
        told
    }
}
