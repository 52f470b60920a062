//! The report on one timeline: final state, supersessions with their rules, and each context with its verdict.

use crate::ground_truth::Verdict;
use crate::read::Case;
use crate::score::{Scorer, diagnostics};
use orchestrion_ingest::Session;
use orchestrion_kernel::item::{Audience, Item, Layer, Scope, Validity};
use std::fmt::{self, Write as _};

/// Replays a timeline and renders the report. Returns it, and whether the timeline has no diagnostic.
#[must_use]
pub fn render_timeline(scorer: &Scorer<'_>, file: &str, case: &Case) -> (String, bool) {
    let mut queries = Vec::new();
    let replay = scorer.replay(&case.timeline, |_, prompt, context| queries.push((prompt, context)));
    let verdicts = case.ground_truth.judge(queries.iter().map(|(_, context)| context.as_str()));
    let mut out = format!("{}  {}  {file}:{}\n", case.ground_truth.id, case.ground_truth.track, case.line);
    // Writing to a string cannot fail.
    let _ = write_state(&mut out, replay.session());
    for (i, ((prompt, context), verdict)) in queries.iter().zip(&verdicts).enumerate() {
        let _ = write_query(&mut out, i + 1, prompt, context, verdict);
    }
    let diagnostics = diagnostics(file, case, &replay);
    if !diagnostics.is_empty() {
        out.push_str("\nDiagnostics\n");
    }
    for diagnostic in &diagnostics {
        let _ = writeln!(out, "  {}", diagnostic.kind);
    }
    (out, diagnostics.is_empty())
}

fn write_state(out: &mut String, session: &Session<'_>) -> fmt::Result {
    writeln!(out, "\nFinal state")?;
    for item in session.state().entries().map(|entry| &entry.item) {
        writeln!(out, "  {:>3}  {}: {}", item.id.to_string(), item.key, item.text)?;
        for remark in remarks(item) {
            writeln!(out, "       {remark}")?;
        }
    }
    for Item { id, key, text, .. } in session.overwritten_signals().iter().map(|old| &old.item) {
        writeln!(out, "  {:>3}  {key}: {text}\n       overwritten by a later signal", id.to_string())?;
    }
    Ok(())
}

/// Returns the validity, the scope and the audience of an item, where they restrict it.
fn remarks(item: &Item) -> Vec<String> {
    let validity = match item.validity {
        Validity::Current => None,
        Validity::NeedsReview => Some("needs review: a dependency was superseded".to_string()),
        Validity::Superseded { superseded_by: None, rule } => Some(format!("invalid, {rule}")),
        Validity::Superseded { superseded_by: Some(by), rule } => Some(format!("superseded by {by}, {rule}")),
        Validity::Denied => Some("denied: its source has no permission".to_string()),
    };
    let (mut scope, mut audience) = (None, None);
    if let Layer::Fact(fact) = &item.layer {
        scope = (fact.scope != Scope::Global).then(|| format!("only in scope {}", fact.scope));
        audience = match &fact.audience {
            Audience::Everybody => None,
            Audience::AtLeast(rank) => Some(format!("only for rank {rank} and above")),
            Audience::Permitted(name) if name.as_str().is_empty() => {
                Some("without readers: unreadable restriction".to_string())
            }
            Audience::Permitted(name) => Some(format!("only with the permission `{name}`")),
        };
    }
    [validity, scope, audience].into_iter().flatten().collect()
}

fn write_query(
    out: &mut String,
    number: usize,
    prompt: &str,
    context: &str,
    verdict: &Verdict,
) -> fmt::Result {
    writeln!(out, "\nQuery {number}: {prompt}")?;
    for line in context.lines() {
        writeln!(out, "  | {line}")?;
    }
    writeln!(out, "  {} of {} required", verdict.required - verdict.missing.len(), verdict.required)?;
    for phrase in &verdict.missing {
        writeln!(out, "  missing    {phrase}")?;
    }
    for phrase in &verdict.resurrected {
        writeln!(out, "  forbidden  {phrase}")?;
    }
    Ok(())
}
