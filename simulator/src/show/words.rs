//! Phrases that both the timeline and the view of one step use.

use super::page::{Ink, Line};
use super::text::{bar, count};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::{Source, Switch, Transition};
use orchestrion_kernel::event::{Decision, EffectEnd, Ending, Holding, Holdings, Label, TaskEnd, TaskRecord};
use orchestrion_kernel::item::{Audience, Identity, Scope, Source as From};
use orchestrion_kernel::knowledge::{FactKind, Reference, Write};
use orchestrion_kernel::module::{Argument, Ask, Kind, Rating, Ratings, Report, Role, Stance};
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

pub(super) fn stance(stance: Stance) -> Ink {
    match stance {
        Stance::Pro => Ink::Good,
        Stance::Con => Ink::Bad,
    }
}

/// A report that is not an argument, in a line.
pub(super) fn report(report: &Report) -> Line {
    match report {
        Report::Identity { gcp, mongodb } => {
            let lock = |line: Line, name: &str, matches: bool| {
                let (ink, says) = if matches { (Ink::Good, "matches") } else { (Ink::Bad, "does not match") };
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
            Line::text(tags).ink(Ink::Faint, format_args!("; nearest past request {similarity}"))
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
        Report::NoRepair { text } => Line::new().ink(Ink::Bad, "no repair: ").quote(text.as_str()),
        Report::Exit { code, text } => exit(*code).and("  ").quote(text.as_str()),
        Report::Stored { held: true } => Line::new().ink(Ink::Good, "holds the record"),
        Report::Stored { held: false } => Line::new().ink(Ink::Bad, "does not hold the record"),
        Report::Delivered => Line::text("took the audit record"),
    }
}

pub(super) fn approval(approved: bool) -> Line {
    if approved { Line::new().ink(Ink::Good, "✓ approved") } else { failed("not approved") }
}

pub(super) fn tasks(plan: &Plan) -> String {
    count(plan.tasks().len(), "task")
}

/// What is to be known, and what it is to take the place of.
pub(super) fn write(write: &Write) -> Line {
    let said = |what: &str, key: &Text, text: &Text| {
        Line::text(format_args!("{what} ")).ink(Ink::Who, key).and(format_args!(": \"{text}\""))
    };
    let instead = |line: Line, of: Option<&Reference>| match of {
        Some(reference) => line.ink(Ink::Faint, format_args!(", to supersede {reference}")),
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
                .ink(Ink::Faint, format_args!(" from {}", source(&new.source)))
                .ink(Ink::Faint, counts(&new.scope, &new.audience));
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
    if code == 0 { Line::new().ink(Ink::Good, "✓ exit 0") } else { failed(format_args!("exit {code}")) }
}

pub(super) fn failed(what: impl std::fmt::Display) -> Line {
    Line::new().ink(Ink::Bad, format_args!("✗ {what}"))
}

pub(super) fn task_end(end: TaskEnd) -> Line {
    match end {
        TaskEnd::Succeeded => Line::new().ink(Ink::Good, "succeeded"),
        TaskEnd::Exited(code) => Line::new().ink(Ink::Bad, format_args!("exited with {code}")),
        TaskEnd::NoResult(failure) => Line::new().ink(Ink::Bad, format_args!("no result ({failure})")),
        TaskEnd::NotRun => Line::faint("not run"),
    }
}

/// A task of a plan: its number, its words and its effect.
pub(super) fn task(task: &Task, sign: &str) -> Line {
    let line = Line::new().ink(Ink::Faint, sign).and(format_args!("{:>2}  ", task.id));
    let line = line.first(Ink::Text, task.text.as_str(), 36).to(42);
    match &task.effect {
        Effect::Pure => line.ink(Ink::Faint, "pure"),
        Effect::Undoable { compensation } => {
            line.ink(Ink::Faint, "undo: ").first(Ink::Text, compensation.as_str(), 23)
        }
        Effect::Irreversible => line.ink(Ink::Warn, "irreversible"),
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
            let ink = if to > from { Ink::Good } else { Ink::Bad };
            line = line.and(format_args!("{comma}{role} {from} → ")).ink(ink, to);
        }
    }
    if line.is_empty() { Line::faint("no rating moves") } else { line }
}

/// A score against a line, as it is: "0.790356 < 0.80".
pub(super) fn against(score: Score, line: Score) -> Line {
    let (ink, sign) = if score < line { (Ink::Bad, "<") } else { (Ink::Good, "≥") };
    Line::new().ink(ink, score).and(format_args!(" {sign} {line}"))
}

pub(super) fn ending(ending: Ending) -> Line {
    let ink = if ending.kind == Kind::Outcome { Ink::Good } else { Ink::Bad };
    Line::new().ink(ink, ending.kind).and(format_args!(": {}", ending.cause))
}

pub(super) fn label(label: Label) -> Line {
    Line::new().ink(if label.proceeds() { Ink::Good } else { Ink::Bad }, label)
}

/// A decision as the audit lists it.
pub(super) fn decision(decision: &Decision) -> Line {
    let Decision { revision, label: l, score, objection } = decision;
    let line = label(*l).and(format_args!(": plan r{revision} at {score}"));
    match objection {
        Some(objection) => line.ink(Ink::Warn, format_args!(", Security objecting with {objection}")),
        None => line,
    }
}

pub(super) fn holdings(holdings: Holdings) -> Line {
    let one = |line: Line, name: &str, holding: Holding| {
        let ink = if holding == Holding::Held { Ink::Good } else { Ink::Bad };
        line.and(format_args!("{name} ")).ink(ink, holding)
    };
    one(one(Line::new(), "local", holdings.local).and(", "), "cloud", holdings.cloud)
}

/// What became of a task's effect, as the audit lists it.
pub(super) fn task_record(record: &TaskRecord) -> Line {
    let line = Line::text(format_args!("task {} ", record.task));
    match record.effect {
        Some(end) => line.and("effect ").ink(effect_end(end), end),
        None => line.ink(Ink::Faint, "no effect"),
    }
}

pub(super) fn effect_end(end: EffectEnd) -> Ink {
    match end {
        EffectEnd::Kept => Ink::Text,
        EffectEnd::Undone => Ink::Good,
        EffectEnd::UndoFailed => Ink::Bad,
    }
}

/// Who answered, in the place of who speaks.
pub(super) fn who(name: impl std::fmt::Display) -> Line {
    Line::new().first(Ink::Who, &name.to_string(), 15)
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
        let ink = if call.outcome == ToolOutcome::Success { Ink::Good } else { Ink::Bad };
        line = line.and(format_args!(", {} ", call.name)).ink(ink, call.outcome);
    }
    line
}

/// A row of the table as a sentence about where it leads from, and on what.
pub(super) fn row(row: &Transition) -> Line {
    let from = match row.from {
        Source::At(phase) => phase.name().to_string(),
        Source::Within(region) => format!("any state of {}", region.name()),
    };
    let switch = match row.switch {
        Switch::Always => String::new(),
        Switch::With(rule) => format!("; under {}", rule.name()),
        Switch::Without(rule) => format!("; without {}", rule.name()),
        Switch::BoundedRepairs => "; under bounded repairs".to_string(),
    };
    let when = match row.when {
        Guard::Always => String::new(),
        guard => format!(" if {guard}"),
    };
    Line::new()
        .ink(Ink::Heading, row.id)
        .ink(Ink::Faint, format_args!("  {}  ", row.clause))
        .and(format_args!("{from} → {}", row.to))
        .ink(Ink::Faint, format_args!("  on {}{when}{switch}", row.on))
}

/// Who is asked, with the task if it is about one.
pub(super) fn asked(ask: Ask) -> Line {
    match ask {
        Ask::RunTask { task, .. } => who(format_args!("task {task}")),
        Ask::UndoTask { task } => who(format_args!("undo task {task}")),
        ask => who(ask.module()),
    }
}
