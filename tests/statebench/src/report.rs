//! The report as a table and as JSON.

use crate::score::{Report, ScoreCounts};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};

impl ScoreCounts {
    /// The mean length of a context in characters.
    #[must_use]
    pub fn context_chars_mean(&self) -> f64 {
        if self.queries == 0 { 0.0 } else { self.context_chars as f64 / self.queries as f64 }
    }

    fn to_json(&self) -> Value {
        json!({
            "queries": self.queries,
            "forbidden_queries": self.forbidden_queries,
            "resurrections": self.resurrections,
            "required": self.required,
            "mentioned": self.mentioned,
            "context_chars_mean": (self.context_chars_mean() * 10.0).round() / 10.0,
        })
    }

    fn write_row(&self, out: &mut String, name: &str) -> fmt::Result {
        let resurrections = format_share(self.resurrections, self.forbidden_queries);
        let mentioned = format_share(self.mentioned, self.required);
        writeln!(
            out,
            "  {name:<26} {:>7}  {resurrections:>20}  {mentioned:>20}  {:>5.0}",
            self.queries,
            self.context_chars_mean()
        )
    }
}

/// Formats a share as `3 of 12   25.0 %`, or `-` without a whole.
fn format_share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "-".to_string();
    }
    format!("{part} of {whole}  {:>5.1} %", part as f64 * 100.0 / whole as f64)
}

/// Formats a count as `1 query`, `2 queries`.
fn format_count(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

impl Report {
    /// Returns the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let tracks: Map<String, Value> =
            self.tracks.iter().map(|(track, counts)| (track.clone(), counts.to_json())).collect();
        let diagnostics = self.diagnostics.iter().map(|diagnostic| {
            json!({"file": diagnostic.file, "line": diagnostic.line, "what": diagnostic.kind.to_string()})
        });
        json!({
            "timelines": self.timelines,
            "queries": self.overall.queries,
            "links": self.links.total,
            "links_resolved": self.links.resolved,
            "overall": self.overall.to_json(),
            "tracks": tracks,
            "faults": diagnostics.collect::<Vec<_>>(),
            "faults_omitted": self.omitted_diagnostics,
        })
    }

    /// Returns a table with one row per track.
    #[must_use]
    pub fn to_table(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "  {:<26} {:>7}  {:>20}  {:>20}  {:>5}",
            "track", "queries", "resurrected", "required text there", "chars"
        );
        for (track, counts) in &self.tracks {
            let _ = counts.write_row(&mut out, track);
        }
        let _ = self.overall.write_row(&mut out, "overall");
        out
    }

    /// Returns one line with the totals.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { timelines, overall, links, diagnostics, omitted_diagnostics, .. } = self;
        let mut summary = format!(
            "{}, {}; {} of {} resolved",
            format_count(*timelines, "timeline", "timelines"),
            format_count(overall.queries, "query", "queries"),
            links.resolved,
            format_count(links.total, "link", "links"),
        );
        if !diagnostics.is_empty() {
            let count = diagnostics.len() + omitted_diagnostics;
            let _ = write!(summary, "; {}", format_count(count, "diagnostic", "diagnostics"));
        }
        summary
    }
}
