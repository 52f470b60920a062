//! Phrases that both the timeline and the view of one step use.

use super::renderer::{Line, TextStyle};
use super::text::{bar, count};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::{Switch, Transition, TransitionSource};
use orchestrion_kernel::event::{
    Conclusion, Decision, DecisionLabel, EffectOutcome, StoreStatus, StoreStatuses, TaskOutcome, TaskRecord,
};
use orchestrion_kernel::item::{Audience, FactSource as From, Identity, Scope};
use orchestrion_kernel::knowledge::{FactKind, Reference, Write};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Operation, Rating, Ratings, Report, Role, Stance,
};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::policy::{Bound, Policy};
use orchestrion_kernel::situation::{ActionRecord, ToolOutcome};
use orchestrion_kernel::{Score, Text};

/// Stance, a bar, and the confidence in figures.
pub(super) fn argument(argument: Argument) -> Line {
    let ink = stance(argument.stance);
    let confidence = argument.confidence;
    Line::new()
        .ink(ink, argument.stance)
        .and("  ")
        .ink(ink, bar(confidence.millionths()))
        .and(format_args!("  {confidence}"))
}

pub(super) fn stance(stance: Stance) -> TextStyle {
    match stance {
        Stance::Pro => TextStyle::Good,
        Stance::Con => TextStyle::Bad,
    }
}

/// A report that is not an argument, in a line.
pub(super) fn report(report: &Report) -> Line {
    match report {
        Report::Identity { gcp, mongodb } => {
            let lock = |line: Line, name: &str, matches: bool| {
                let (ink, says) =
                    if matches { (TextStyle::Good, "matches") } else { (TextStyle::Bad, "does not match") };
                line.and(format_args!("{name} lock ")).ink(ink, says)
            };
            lock(lock(Line::new(), "GCP", *gcp).and(", "), "MongoDB", *mongodb)
        }
        Report::Context { ratings, traces } => {
            Line::text(count(traces.len(), "past trace")).and("; ratings: ").and(standing(ratings))
        }
        Report::Classification { tags, similarity } => {
            let tags: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
            let tags = if tags.is_empty() { "no tags".to_string() } else { tags.join(", ") };
            Line::text(tags).ink(TextStyle::Dim, format_args!("; nearest past request {similarity}"))
        }
        Report::Summary { text, forgets: None } => Line::text("a summary of all: ").quote(text.as_str()),
        Report::Summary { text, forgets: Some(forgets) } => {
            Line::text(format_args!("a summary of {}: ", count(forgets.len(), "item"))).quote(text.as_str())
        }
        Report::Plan(plan) => Line::text(format_args!("drafts plan r1, {}", tasks(plan))),
        Report::Argument { argument: a, text, plan } => {
            let brings = if plan.is_some() { ", and a new plan" } else { "" };
            argument(*a).and("  ").quote(text.as_str()).and(brings)
        }
        Report::Approval { approved, text } => approval(*approved).and("  ").quote(text.as_str()),
        Report::Repaired { text, .. } => Line::text("diagnosis: ").quote(text.as_str()),
        Report::NoRepair { text } => Line::new().ink(TextStyle::Bad, "no repair: ").quote(text.as_str()),
        Report::Exit { code, text } => exit(*code).and("  ").quote(text.as_str()),
        Report::Stored { held: true } => Line::new().ink(TextStyle::Good, "holds the record"),
        Report::Stored { held: false } => Line::new().ink(TextStyle::Bad, "does not hold the record"),
        Report::Delivered => Line::text("took the audit record"),
    }
}

pub(super) fn approval(approved: bool) -> Line {
    if approved { Line::new().ink(TextStyle::Good, "✓ approved") } else { failed("not approved") }
}

pub(super) fn tasks(plan: &Plan) -> String {
    count(plan.tasks().len(), "task")
}

/// What is to be known, and what it is to take the place of.
pub(super) fn write(write: &Write) -> Line {
    let said = |what: &str, key: &Text, text: &Text| {
        Line::text(format_args!("{what} ")).ink(TextStyle::Who, key).and(format_args!(": \"{text}\""))
    };
    let instead = |line: Line, of: Option<&Reference>| match of {
        Some(reference) => line.ink(TextStyle::Dim, format_args!(", to supersede {reference}")),
        None => line,
    };
    match write {
        Write::Identity { name, identity } => {
            let Identity { authority, department, organization, rank, .. } = identity;
            let said = [authority, department, organization].map(Text::as_str);
            let said: Vec<&str> = said.into_iter().filter(|text| !text.trim().is_empty()).collect();
            let colon = if said.is_empty() { "" } else { ": " };
            Line::text(format_args!("{name} speaks{colon}{}; rank {rank}", said.join(", ")))
        }
        Write::Fact(new) => {
            let what = match new.kind {
                FactKind::Fact => "a fact,",
                FactKind::Constraint(_) => "a constraint,",
            };
            let line = said(what, &new.key, &new.text)
                .ink(TextStyle::Dim, format_args!(" from {}", source(&new.source)))
                .ink(TextStyle::Dim, counts(&new.scope, &new.audience));
            instead(line, new.supersedes.as_ref())
        }
        Write::Working { key, text, .. } => said("a working item,", key, text),
        Write::Environment { key, text, supersedes } => {
            instead(said("a signal,", key, text), supersedes.as_ref())
        }
        Write::Clock { text, .. } => Line::text(format_args!("the time: {text}")),
    }
}

/// Who says something, and what that counts.
fn source(source: &From) -> String {
    let name = source.name.as_str().trim();
    let name = if name.is_empty() { "an unnamed source" } else { name };
    format!("{name} ({})", source.rank)
}

/// Where a fact counts and whom it is for, behind a comma each; nothing if everywhere, and for everybody.
pub(super) fn counts(scope: &Scope, audience: &Audience) -> String {
    let scope = match scope {
        Scope::Global => String::new(),
        scope => format!(", {scope}"),
    };
    let audience = match audience {
        Audience::Everybody => String::new(),
        Audience::AtLeast(rank) => format!(", for {rank} and above"),
        Audience::Permitted(name) => format!(", for who has {name}"),
    };
    scope + &audience
}

pub(super) fn exit(code: i32) -> Line {
    if code == 0 {
        Line::new().ink(TextStyle::Good, "✓ exit 0")
    } else {
        failed(format_args!("exit {code}"))
    }
}

pub(super) fn failed(what: impl std::fmt::Display) -> Line {
    Line::new().ink(TextStyle::Bad, format_args!("✗ {what}"))
}

pub(super) fn task_end(end: TaskOutcome) -> Line {
    match end {
        TaskOutcome::Succeeded => Line::new().ink(TextStyle::Good, "succeeded"),
        TaskOutcome::Exited(code) => Line::new().ink(TextStyle::Bad, format_args!("exited with {code}")),
        TaskOutcome::NoResult(failure) => {
            Line::new().ink(TextStyle::Bad, format_args!("no result ({failure})"))
        }
        TaskOutcome::NotRun => Line::faint("not run"),
    }
}

/// A task of a plan: its number, its words and its effect.
pub(super) fn task(task: &Task, sign: &str) -> Line {
    let line = Line::new().ink(TextStyle::Dim, sign).and(format_args!("{:>2}  ", task.id));
    let line = line.first(TextStyle::Text, task.text.as_str(), 36).to(42);
    match &task.effect {
        Effect::Pure => line.ink(TextStyle::Dim, "pure"),
        Effect::Undoable { compensation } => {
            line.ink(TextStyle::Dim, "undo: ").first(TextStyle::Text, compensation.as_str(), 23)
        }
        Effect::Irreversible => line.ink(TextStyle::Warn, "irreversible"),
    }
}

/// Where the roles stand, when they are not all where everybody starts.
pub(super) fn standing(ratings: &Ratings) -> String {
    let moved = |role: &Role| *ratings.get(*role) != Rating::START;
    let rating = |role: Role| {
        let Rating { elo, successes, matches } = ratings.get(role);
        let won = if *matches > 0 { format!(" ({successes} of {matches} won)") } else { String::new() };
        format!("{role} {elo}{won}")
    };
    let moved: Vec<String> = Role::ALL.into_iter().filter(moved).map(rating).collect();
    match moved.len() {
        0 => "everybody 1200".to_string(),
        n if n == Role::ALL.len() => moved.join(", "),
        _ => format!("{}, the others 1200", moved.join(", ")),
    }
}

/// Which ratings move.
pub(super) fn moved(before: &Ratings, after: &Ratings) -> Line {
    let mut line = Line::new();
    for role in Role::ALL {
        let (from, to) = (before.get(role).elo, after.get(role).elo);
        if from != to {
            let comma = if line.is_empty() { "" } else { ", " };
            let ink = if to > from { TextStyle::Good } else { TextStyle::Bad };
            line = line.and(format_args!("{comma}{role} {from} → ")).ink(ink, to);
        }
    }
    if line.is_empty() { Line::faint("no rating moves") } else { line }
}

/// A score against a line, as it is: "0.790356 < 0.80".
pub(super) fn against(score: Score, line: Score) -> Line {
    let (ink, sign) = if score < line { (TextStyle::Bad, "<") } else { (TextStyle::Good, "≥") };
    Line::new().ink(ink, score).and(format_args!(" {sign} {line}"))
}

pub(super) fn ending(ending: Conclusion) -> Line {
    let ink = if ending.kind == ConclusionKind::Outcome { TextStyle::Good } else { TextStyle::Bad };
    Line::new().ink(ink, ending.kind).and(format_args!(": {}", ending.cause))
}

pub(super) fn label(label: DecisionLabel) -> Line {
    Line::new().ink(if label.is_proceed() { TextStyle::Good } else { TextStyle::Bad }, label)
}

/// A decision as the audit lists it.
pub(super) fn decision(decision: &Decision) -> Line {
    let Decision { revision, label: l, score, objection } = decision;
    let line = label(*l).and(format_args!(": plan r{revision} at {score}"));
    match objection {
        Some(objection) => line.ink(TextStyle::Warn, format_args!(", Security objecting with {objection}")),
        None => line,
    }
}

pub(super) fn holdings(holdings: StoreStatuses) -> Line {
    let one = |line: Line, name: &str, holding: StoreStatus| {
        let ink = if holding == StoreStatus::Held { TextStyle::Good } else { TextStyle::Bad };
        line.and(format_args!("{name} ")).ink(ink, holding)
    };
    one(one(Line::new(), "local", holdings.local).and(", "), "cloud", holdings.cloud)
}

/// What became of a task's effect, as the audit lists it.
pub(super) fn task_record(record: &TaskRecord) -> Line {
    let line = Line::text(format_args!("task {} ", record.task));
    match record.effect {
        Some(end) => line.and("effect ").ink(effect_end(end), end),
        None => line.ink(TextStyle::Dim, "no effect"),
    }
}

pub(super) fn effect_end(end: EffectOutcome) -> TextStyle {
    match end {
        EffectOutcome::Kept => TextStyle::Text,
        EffectOutcome::Undone => TextStyle::Good,
        EffectOutcome::UndoFailed => TextStyle::Bad,
    }
}

/// Who answered, in the place of who speaks.
pub(super) fn who(name: impl std::fmt::Display) -> Line {
    Line::new().first(TextStyle::Who, &name.to_string(), 15)
}

/// How many repairs a policy allows, after "of".
pub(super) fn repairs(policy: &Policy) -> String {
    match policy.bounds.repairs {
        Bound::AtMost(most) => format!(" of {most}"),
        Bound::Unbounded => ", without bound".to_string(),
    }
}

/// What an action record says in short.
pub(super) fn action(record: &ActionRecord) -> Line {
    let mut line = Line::text(format_args!("iteration {}, {}: ", record.iteration, record.mode));
    line = line.and(count(record.tool_calls.len(), "tool call"));
    for call in &record.tool_calls {
        let ink = if call.outcome == ToolOutcome::Success { TextStyle::Good } else { TextStyle::Bad };
        line = line.and(format_args!(", {} ", call.name)).ink(ink, call.outcome);
    }
    line
}

/// A row of the table as a sentence about where it leads from, and on what.
pub(super) fn row(row: &Transition) -> Line {
    let from = match row.from {
        TransitionSource::Phase(phase) => phase.name().to_string(),
        TransitionSource::Region(region) => format!("any state of {}", region.name()),
    };
    let switch = match row.switch {
        Switch::Always => String::new(),
        Switch::RuleOn(rule) => format!("; under {}", rule.name()),
        Switch::RuleOff(rule) => format!("; without {}", rule.name()),
        Switch::BoundedRepairs => "; under bounded repairs".to_string(),
    };
    let when = match row.when {
        Guard::Always => String::new(),
        guard => format!(" if {guard}"),
    };
    Line::new()
        .ink(TextStyle::Heading, row.id)
        .ink(TextStyle::Dim, format_args!("  {}  ", row.clause))
        .and(format_args!("{from} → {}", row.to))
        .ink(TextStyle::Dim, format_args!("  on {}{when}{switch}", row.on))
}

/// Who is asked, with the task if it is about one.
pub(super) fn asked(ask: Operation) -> Line {
    match ask {
        Operation::RunTask { task, .. } => who(format_args!("task {task}")),
        Operation::UndoTask { task } => who(format_args!("undo task {task}")),
        ask => who(ask.module()),
    }
}
