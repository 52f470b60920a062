//! One timeline, told: what was known, what took the place of what and by which rule, and each context beside its verdict.

use super::ground_truth::Verdict;
use super::read::Case;
use super::score::{Scorer, faults};
use super::session::Session;
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Audience, Item, Layer, Scope, Validity};
use std::fmt::Write as _;

/// Tells a timeline, and whether all of it was taken as it stands.
#[must_use]
pub fn show(scorer: &Scorer<'_>, file: &str, case: &Case) -> (String, bool) {
    let mut asked = Vec::new();
    let session = scorer.replay(&case.timeline, |_, prompt, context| asked.push((prompt, context)));
    let verdicts = case.answers.judge(asked.iter().map(|(_, context)| context.as_str()));
    let mut told = format!("{}  {}  {file}:{}\n", case.answers.id, case.answers.track, case.line);
    // Writing to a string cannot fail.
    let _ = known(&mut told, &session);
    for (n, ((prompt, context), verdict)) in asked.iter().zip(&verdicts).enumerate() {
        let _ = question(&mut told, n + 1, prompt, context, verdict);
    }
    let faults: Vec<_> = case.faults.iter().cloned().chain(faults(file, case.line, &session)).collect();
    if !faults.is_empty() {
        told.push_str("\nNot taken as it stands\n");
    }
    for fault in &faults {
        let _ = writeln!(told, "  {}", fault.kind);
    }
    (told, faults.is_empty())
}

fn known(out: &mut String, session: &Session<'_>) -> std::fmt::Result {
    writeln!(out, "\nKnown at the end")?;
    for entry in session.known().entries() {
        let item = &entry.item;
        writeln!(out, "  {:>3}  {}: {}", item.id.to_string(), item.key, item.text)?;
        for remark in remarks(item) {
            writeln!(out, "       {remark}")?;
        }
    }
    for old in session.overwritten() {
        let Item { id, key, text, .. } = &old.item;
        writeln!(
            out,
            "  {:>3}  {key}: {text}\n       overwritten by the signal of that key",
            id.to_string()
        )?;
    }
    Ok(())
}

/// What keeps an item from being shown, or took its place.
fn remarks(item: &Item) -> Vec<String> {
    let by_item = |by: Option<ItemId>| by.map_or("by nothing".to_string(), |by| format!("by {by}"));
    let standing = match item.validity {
        Validity::Current => None,
        Validity::NeedsReview => Some("to be looked at again: what it rests on was superseded".to_string()),
        Validity::Superseded { superseded_by: None, rule } => Some(format!("does not hold, {rule}")),
        Validity::Superseded { superseded_by: by, rule } => {
            Some(format!("superseded {}, {rule}", by_item(by)))
        }
        Validity::Denied => Some("not for its source to write".to_string()),
    };
    let (mut scope, mut audience) = (None, None);
    if let Layer::Fact(fact) = &item.layer {
        scope = (fact.scope != Scope::Global).then(|| format!("only in scope {}", fact.scope));
        audience = match &fact.audience {
            Audience::Everybody => None,
            Audience::AtLeast(rank) => Some(format!("only for rank {rank} and above")),
            Audience::Permitted(name) if name.as_str().is_empty() => {
                Some("for nobody: for whom it is cannot be read".to_string())
            }
            Audience::Permitted(name) => Some(format!("only for whoever was granted `{name}`")),
        };
    }
    [standing, scope, audience].into_iter().flatten().collect()
}

fn question(out: &mut String, n: usize, prompt: &str, context: &str, verdict: &Verdict) -> std::fmt::Result {
    writeln!(out, "\nQuestion {n}: {prompt}")?;
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
