//! Figures on the recorded splits, in the folder that `ORCHESTRION_DATA` names.
//!
//! Skipped without this variable.

use orchestrion_statebench::Presentation;
use orchestrion_statebench::context::ContextBuilder;
use orchestrion_statebench::read::Reader;
use orchestrion_statebench::score::{Report, ScoreCounts, Scorer};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The tracks that require no understanding of language.
const PLAIN: [&str; 8] = [
    "supersession",
    "commitment_durability",
    "environmental_freshness",
    "enterprise_privacy",
    "hallucination_resistance",
    "interruption_resumption",
    "scope_leak",
    "scope_permission",
];

/// Returns the folder of the splits, or `None` without recorded data.
fn recorded_splits() -> Option<PathBuf> {
    let Some(data) = std::env::var_os("ORCHESTRION_DATA") else {
        eprintln!("skipped: ORCHESTRION_DATA is not set");
        return None;
    };
    Some(PathBuf::from(data).join("statebench"))
}

/// Scores both splits.
fn score(scorer: &Scorer<'_>, folder: &Path) -> Report {
    let mut report = Report::default();
    for file in ["train.jsonl", "dev.jsonl"] {
        for case in Reader::new(BufReader::new(File::open(folder.join(file)).unwrap()), file) {
            scorer.score(file, &case.unwrap(), &mut report);
        }
    }
    report
}

/// The figures of decision 0025. A change of the kernel, of ingestion or of the benchmark's rules shows here.
#[test]
fn reference_figures_are_unchanged() {
    let Some(folder) = recorded_splits() else { return };
    let report = score(&Scorer::default(), &folder);
    println!("{}", report.to_table());
    let mut plain = ScoreCounts::default();
    for track in PLAIN {
        let counts = &report.tracks[track];
        assert_eq!(counts.resurrections, 0, "{track}");
        plain.forbidden_queries += counts.forbidden_queries;
        plain.required += counts.required;
        plain.mentioned += counts.mentioned;
    }
    assert_eq!((plain.forbidden_queries, plain.required, plain.mentioned), (562, 989, 923));
    let ScoreCounts { forbidden_queries, resurrections, required, mentioned, context_chars, queries } =
        report.overall;
    assert_eq!((forbidden_queries, resurrections), (1105, 80));
    assert_eq!((required, mentioned), (2465, 1774));
    assert_eq!((report.timelines, queries, context_chars / queries), (1048, 1249, 230));
    assert_eq!((report.links.total, report.links.resolved), (794, 794));
    assert_eq!(report.diagnostics, []);
}

/// The effect of the presentation rules (decision 0025): contexts with forbidden text on the eight tracks and overall, and required
/// text, with each rule off.
#[test]
fn reference_figures_without_presentation_rules() {
    let Some(folder) = recorded_splits() else { return };
    let figures = |cuts_purpose: bool, leaves_out_retracted_numbers: bool| {
        let presentation = Presentation { cuts_purpose, leaves_out_retracted_numbers };
        let context_builder = ContextBuilder { presentation, ..ContextBuilder::default() };
        let report = score(&Scorer { context_builder, ..Scorer::default() }, &folder);
        let plain = PLAIN.iter().map(|track| report.tracks[*track].resurrections).sum::<usize>();
        (plain, report.overall.resurrections, report.overall.mentioned)
    };
    assert_eq!(figures(true, true), (0, 80, 1774));
    assert_eq!(figures(false, true), (4, 84, 1774));
    assert_eq!(figures(true, false), (2, 82, 1774));
    assert_eq!(figures(false, false), (6, 86, 1774));
}

/// Contexts are equal for timelines without ground truth, id and track.
#[test]
fn reference_contexts_ignore_the_ground_truth() {
    let Some(folder) = recorded_splits() else { return };
    let text = std::fs::read_to_string(folder.join("dev.jsonl")).unwrap();
    let without_ground_truth = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for event in line["events"].as_array_mut().unwrap() {
            if event["type"] == "query" {
                event["ground_truth"] = serde_json::json!({"must_mention": [], "must_not_mention": []});
            }
        }
        line["id"] = "none".into();
        line["track"] = "none".into();
        line.to_string()
    };
    let contexts = |line: &str| {
        let case = Reader::new(line.as_bytes(), "line").next().unwrap().unwrap();
        let mut contexts = Vec::new();
        Scorer::default().replay(&case.timeline, |_, _, context| contexts.push(context));
        contexts
    };
    for line in text.lines() {
        assert_eq!(contexts(line), contexts(&without_ground_truth(line)));
    }
}
