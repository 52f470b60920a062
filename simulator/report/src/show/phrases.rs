//! Phrases shared by the timeline, the view of one step and the HTML page.

use super::renderer::{Line, TextStyle};
use crate::text::{bar, count, grouped};
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::{Switch, Transition, TransitionSource};
use orchestrion_kernel::event::{
    Conclusion, Decision, DecisionLabel, EffectOutcome, StoreStatus, StoreStatuses, TaskOutcome, TaskRecord,
};
use orchestrion_kernel::item::{Audience, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Reference, Write, WriteSource};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Operation, Rating, Ratings, Report, Role, Stance,
};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::policy::{Bound, Policy};
use orchestrion_kernel::situation::{ActionRecord, ToolOutcome};
use orchestrion_kernel::{Score, Text};
use orchestrion_trace::fork::Lineage;

/// The percentage of a line that the text of a task takes.
const TASK_TEXT_PERCENT: usize = 50;
/// The columns of an actor.
const ACTOR_COLUMNS: usize = 15;

/// Returns the utility of a context that is not proven optimal, with its bound.
pub(super) fn unproven_context(utility: u64, bound: u64) -> Line {
    let text = match bound.saturating_sub(utility) {
        0 => format!("not proven optimal: maximum utility {}, least cost not proven", grouped(utility)),
        gap => format!(
            "not proven optimal: utility {} of at most {}, gap {}",
            grouped(utility),
            grouped(bound),
            grouped(gap)
        ),
    };
    Line::new().styled(TextStyle::Warn, text)
}

/// Returns the stance, a bar, and the confidence of an argument.
pub(super) fn argument(argument: Argument) -> Line {
    let style = stance_style(argument.stance);
    let confidence = argument.confidence;
    Line::new()
        .styled(style, argument.stance)
        .and("  ")
        .styled(style, bar(confidence.millionths()))
        .and(format_args!("  {confidence}"))
}

pub(super) fn stance_style(stance: Stance) -> TextStyle {
    match stance {
        Stance::Pro => TextStyle::Good,
        Stance::Con => TextStyle::Bad,
    }
}

/// Returns a report in one line.
pub(super) fn report(report: &Report) -> Line {
    match report {
        Report::Identity { gcp, mongodb } => {
            let lock = |line: Line, name: &str, is_match: bool| {
                let (style, text) =
                    if is_match { (TextStyle::Good, "matches") } else { (TextStyle::Bad, "does not match") };
                line.and(format_args!("{name} lock ")).styled(style, text)
            };
            lock(lock(Line::new(), "GCP", *gcp).and(", "), "MongoDB", *mongodb)
        }
        Report::Context { ratings, traces } => {
            Line::text(count(traces.len(), "past request")).and("; ratings: ").and(self::ratings(ratings))
        }
        Report::Classification { tags, similarity } => {
            let tags: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
            let tags = if tags.is_empty() { "no tags".to_string() } else { tags.join(", ") };
            Line::text(tags).styled(TextStyle::Dim, format_args!("; nearest past request: {similarity}"))
        }
        Report::Summary { text, forgets: None } => Line::text("summary: ").quote(text.as_str()),
        Report::Summary { text, forgets: Some(forgets) } => {
            Line::text(format_args!("summary of {}: ", count(forgets.len(), "item"))).quote(text.as_str())
        }
        Report::Plan(plan) => Line::text(format_args!("plan r1, {}", task_count(plan))),
        Report::Argument { argument: value, text, plan } => {
            let revision = if plan.is_some() { ", with a new plan" } else { "" };
            argument(*value).and("  ").quote(text.as_str()).and(revision)
        }
        Report::Approval { approved, text } => approval(*approved).and("  ").quote(text.as_str()),
        Report::Repaired { text, .. } => Line::text("diagnosis: ").quote(text.as_str()),
        Report::NoRepair { text } => Line::new().styled(TextStyle::Bad, "no repair: ").quote(text.as_str()),
        Report::Exit { code, text, .. } => exit_code(*code).and("  ").quote(text.as_str()),
        Report::Stored { held: true } => Line::new().styled(TextStyle::Good, "holds the record"),
        Report::Stored { held: false } => Line::new().styled(TextStyle::Bad, "does not hold the record"),
        Report::Delivered => Line::text("received the audit record"),
    }
}

/// Returns where a forked trace comes from, and what was set.
pub(super) fn lineage(Lineage { parent, digest, step, set }: &Lineage) -> String {
    format!("forked from {parent} with the digest {digest} at step {step}: {}", set.join(", "))
}

pub(super) fn approval(approved: bool) -> Line {
    if approved { Line::new().styled(TextStyle::Good, "✓ approved") } else { failure("not approved") }
}

pub(super) fn task_count(plan: &Plan) -> String {
    count(plan.tasks().len(), "task")
}

/// Returns the item of a write, and the item that it supersedes.
pub(super) fn write(write: &Write) -> Line {
    let item = |kind: &str, key: &Text, text: &Text| {
        Line::text(format_args!("{kind} ")).styled(TextStyle::Actor, key).and(format_args!(": \"{text}\""))
    };
    let with_supersedes = |line: Line, reference: Option<&Reference>| match reference {
        Some(reference) => line.styled(TextStyle::Dim, format_args!(", supersedes {reference}")),
        None => line,
    };
    match write {
        Write::Fact(fact) => {
            let kind = match fact.kind {
                FactKind::Fact => "fact",
                FactKind::Constraint(_) => "constraint",
            };
            let line = item(kind, &fact.key, &fact.text)
                .styled(TextStyle::Dim, format_args!(", source {}", source(fact)))
                .styled(TextStyle::Dim, scope_and_audience(&fact.scope, &fact.audience));
            with_supersedes(line, fact.supersedes.as_ref())
        }
        Write::Promote { key, scope, source } => Line::text("promotes fact ")
            .styled(TextStyle::Actor, key)
            .and(in_scope(scope))
            .styled(TextStyle::Dim, format_args!(", source {}", write_source(source))),
        Write::Working { key, text, .. } => item("working item", key, text),
        Write::Environment { key, text, supersedes } => {
            with_supersedes(item("signal", key, text), supersedes.as_ref())
        }
    }
}

/// Returns the start of a session with the identity of the user, if it has one.
pub(super) fn session_start(identity: Option<&NewIdentity>) -> Line {
    let line = Line::text("opens a session");
    let Some(NewIdentity { name, authority, rank, department, organization, .. }) = identity else {
        return line;
    };
    let parts = [authority, department, organization].map(Text::as_str);
    let parts = parts.into_iter().filter(|text| !text.trim().is_empty());
    let parts: String = parts.map(|text| format!(", {text}")).collect();
    let rank = rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
    line.and(format_args!(" as {name}{parts}{rank}"))
}

/// Returns the name of the source of a fact, with its rank if the write states one, and what was derived from a text.
fn source(fact: &NewFact) -> String {
    match fact.derivation() {
        Some(derivation) => format!("{}, {derivation}", named_source(&fact.source)),
        None => write_source(&fact.source),
    }
}

/// Returns the name of the source of a write, with its rank if the write states one, and that it was named in a text.
fn write_source(source: &WriteSource) -> String {
    let derived = if source.is_derived { ", named in a text" } else { "" };
    named_source(source) + derived
}

/// Returns the name of the source of a write, with its rank if the write states one.
fn named_source(source: &WriteSource) -> String {
    let name = source.name.as_ref().map_or("session user", |name| name.as_str().trim());
    let name = if name.is_empty() { "unnamed" } else { name };
    let rank = source.rank.map(|rank| format!(" ({rank})")).unwrap_or_default();
    format!("{name}{rank}")
}

/// Returns the scope after a comma; empty if it is global.
pub(super) fn in_scope(scope: &Scope) -> String {
    match scope {
        Scope::Global => String::new(),
        scope => format!(", {scope}"),
    }
}

/// Returns the scope and the audience of a fact, each after a comma; empty for the global scope and every reader.
pub(super) fn scope_and_audience(scope: &Scope, audience: &Audience) -> String {
    let scope = in_scope(scope);
    let audience = match audience {
        Audience::Everybody => String::new(),
        Audience::AtLeast(rank) => format!(", for {rank} and above"),
        Audience::Permitted(permission) => format!(", for holders of {permission}"),
    };
    scope + &audience
}

pub(super) fn exit_code(code: i32) -> Line {
    if code == 0 {
        Line::new().styled(TextStyle::Good, "✓ exit 0")
    } else {
        failure(format_args!("exit {code}"))
    }
}

pub(super) fn failure(text: impl std::fmt::Display) -> Line {
    Line::new().styled(TextStyle::Bad, format_args!("✗ {text}"))
}

pub(super) fn task_outcome(outcome: TaskOutcome) -> Line {
    match outcome {
        TaskOutcome::Succeeded => Line::new().styled(TextStyle::Good, "succeeded"),
        TaskOutcome::Exited(code) => Line::new().styled(TextStyle::Bad, format_args!("exit {code}")),
        TaskOutcome::NoResult(failure) => {
            Line::new().styled(TextStyle::Bad, format_args!("no result ({failure})"))
        }
        TaskOutcome::NotRun => Line::dim("not run"),
    }
}

/// Returns a table row of a task: a sign, its number, its text and its effect.
pub(super) fn task(task: &Task, sign: &str) -> Line {
    let line = Line::new().styled(TextStyle::Dim, sign).and(format_args!("{:>2}  ", task.id));
    let scope = task.scope.as_ref().map(in_scope).unwrap_or_default();
    let line = line
        .cell(TextStyle::Text, task.text.as_str(), TASK_TEXT_PERCENT)
        .and("  ")
        .with_indent(6)
        .styled(TextStyle::Dim, dependencies(task));
    match &task.effect {
        Effect::Pure => line.styled(TextStyle::Dim, format_args!("pure{scope}")),
        Effect::Undoable { compensation } => {
            line.styled(TextStyle::Dim, "undo: ").rest(TextStyle::Text, &format!("{compensation}{scope}"))
        }
        Effect::Irreversible => line.styled(TextStyle::Warn, "irreversible").styled(TextStyle::Dim, scope),
    }
}

/// Returns the declared dependencies of a task, before its effect.
pub(super) fn dependencies(task: &Task) -> String {
    match task.depends_on.as_deref() {
        None => String::new(),
        Some([]) => "depends on no task; ".to_owned(),
        Some(tasks) => {
            let numbers: Vec<String> = tasks.iter().map(ToString::to_string).collect();
            format!("depends on {}; ", numbers.join(", "))
        }
    }
}

/// Returns the ratings that differ from the start rating.
pub(super) fn ratings(ratings: &Ratings) -> String {
    let is_changed = |role: &Role| *ratings.get(*role) != Rating::START;
    let rating = |role: Role| {
        let Rating { elo, successes, matches } = ratings.get(role);
        let won = if *matches > 0 { format!(" ({successes} of {matches} won)") } else { String::new() };
        format!("{role} {elo}{won}")
    };
    let changed: Vec<String> = Role::ALL.into_iter().filter(is_changed).map(rating).collect();
    let start = Rating::START.elo;
    match changed.len() {
        0 => format!("all {start}"),
        n if n == Role::ALL.len() => changed.join(", "),
        _ => format!("{}, others {start}", changed.join(", ")),
    }
}

/// Returns the changes between two sets of ratings.
pub(super) fn rating_changes(before: &Ratings, after: &Ratings) -> Line {
    let mut line = Line::new();
    for role in Role::ALL {
        let (from, to) = (before.get(role).elo, after.get(role).elo);
        if from != to {
            let comma = if line.is_empty() { "" } else { ", " };
            let style = if to > from { TextStyle::Good } else { TextStyle::Bad };
            line = line.and(format_args!("{comma}{role} {from} → ")).styled(style, to);
        }
    }
    if line.is_empty() { Line::dim("no rating changes") } else { line }
}

/// Returns the comparison of a score with a threshold: "0.790356 < 0.80".
pub(super) fn comparison(score: Score, threshold: Score) -> Line {
    let (style, sign) = if score < threshold { (TextStyle::Bad, "<") } else { (TextStyle::Good, "≥") };
    Line::new().styled(style, score).and(format_args!(" {sign} {threshold}"))
}

pub(super) fn conclusion(conclusion: Conclusion) -> Line {
    let is_outcome = conclusion.kind == ConclusionKind::Outcome;
    let style = if is_outcome { TextStyle::Good } else { TextStyle::Bad };
    Line::new().styled(style, conclusion.kind).and(format_args!(": {}", conclusion.cause))
}

pub(super) fn decision_label(label: DecisionLabel) -> Line {
    Line::new().styled(if label.is_proceed() { TextStyle::Good } else { TextStyle::Bad }, label)
}

/// Returns a decision as the audit record lists it.
pub(super) fn decision(decision: &Decision) -> Line {
    let Decision { revision, label, score, objection } = decision;
    let line = decision_label(*label).and(format_args!(": plan r{revision}, score {score}"));
    match objection {
        Some(confidence) => line.styled(TextStyle::Warn, format_args!(", Security objection {confidence}")),
        None => line,
    }
}

pub(super) fn store_statuses(statuses: StoreStatuses) -> Line {
    let one = |line: Line, name: &str, status: StoreStatus| {
        let style = if status == StoreStatus::Held { TextStyle::Good } else { TextStyle::Bad };
        line.and(format_args!("{name} ")).styled(style, status)
    };
    one(one(Line::new(), "local", statuses.local).and(", "), "cloud", statuses.cloud)
}

/// Returns the effect of a task as the audit record lists it.
pub(super) fn task_record(record: &TaskRecord) -> Line {
    let line = Line::text(format_args!("task {} ", record.task));
    match record.effect {
        Some(outcome) => line.and("effect ").styled(effect_style(outcome), outcome),
        None => line.styled(TextStyle::Dim, "no effect"),
    }
}

pub(super) fn effect_style(outcome: EffectOutcome) -> TextStyle {
    match outcome {
        EffectOutcome::Kept => TextStyle::Text,
        EffectOutcome::Undone => TextStyle::Good,
        EffectOutcome::UndoFailed => TextStyle::Bad,
    }
}

/// Returns the name of a user or module.
pub(super) fn actor(name: impl std::fmt::Display) -> Line {
    Line::new().shortened(TextStyle::Actor, &name.to_string(), ACTOR_COLUMNS)
}

/// Returns the module that performs an operation; an additional debater by its name.
pub(super) fn module_name(policy: &Policy, operation: Operation) -> String {
    match policy.debater_name(operation) {
        Some(name) => name.to_string(),
        None => operation.module().to_string(),
    }
}

/// Returns the limit of repairs, to follow the number of a repair.
pub(super) fn repair_limit(policy: &Policy) -> String {
    match policy.bounds.repairs {
        Bound::AtMost(most) => format!(" of {most}"),
        Bound::Unbounded => ", unbounded".to_string(),
    }
}

/// Returns the iteration, mode and tool calls of an action record.
pub(super) fn action(record: &ActionRecord) -> Line {
    let mut line = Line::text(format_args!("iteration {}, {}: ", record.iteration, record.mode));
    line = line.and(count(record.tool_calls.len(), "tool call"));
    for call in &record.tool_calls {
        let style = if call.outcome == ToolOutcome::Success { TextStyle::Good } else { TextStyle::Bad };
        line = line.and(format_args!(", {} ", call.name)).styled(style, call.outcome);
    }
    line
}

/// Returns a transition: id, clause, phases, trigger, guard and switch.
pub(super) fn transition(row: &Transition) -> Line {
    let from = match row.from {
        TransitionSource::Phase(phase) => phase.name().to_string(),
        TransitionSource::Region(region) => format!("any phase of {}", region.name()),
    };
    let switch = match row.switch {
        Switch::Always => String::new(),
        Switch::RuleOn(rule) => format!("; with rule {}", rule.name()),
        Switch::RuleOff(rule) => format!("; without rule {}", rule.name()),
        Switch::BoundedRepairs => "; with bounded repairs".to_string(),
        Switch::AdditionalDebaters => "; with additional debaters".to_string(),
    };
    let guard = match row.when {
        Guard::Always => String::new(),
        guard => format!(" if {guard}"),
    };
    Line::new()
        .styled(TextStyle::Heading, row.id)
        .styled(TextStyle::Dim, format_args!("  {}  ", row.clause))
        .and(format_args!("{from} → {}", row.to))
        .styled(TextStyle::Dim, format_args!("  on {}{guard}{switch}", row.on))
}

/// Returns the module of an operation, or the task that it runs or undoes.
pub(super) fn operation(operation: Operation) -> Line {
    match operation {
        Operation::RunTask { task, .. } => actor(format_args!("task {task}")),
        Operation::UndoTask { task } => actor(format_args!("undo task {task}")),
        operation => actor(operation.module()),
    }
}
