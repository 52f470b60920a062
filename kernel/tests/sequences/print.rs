//! Events and items as lines.

use crate::print_network::print_network_event;
use orchestrion_kernel::ItemId;
use orchestrion_kernel::event::{Event, ForgetCause, TaskRecord};
use orchestrion_kernel::item::{Item, ItemKey, Layer, Scope, Validity};
use std::fmt::Debug;

/// The maximum number of characters of a line of joined texts.
const LINE_MAX: usize = 120;

/// Joins texts to lines with `; `. Items and lines of contexts are lines of their own.
pub(crate) fn fill_lines(texts: Vec<String>) -> Vec<String> {
    let is_line = |text: &str| text.starts_with(['#', '|']);
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let fits = |last: &String| last.chars().count() + text.chars().count() + 2 <= LINE_MAX;
        match lines.last_mut().filter(|last| !is_line(last) && !is_line(&text) && fits(last)) {
            Some(last) => *last = format!("{last}; {text}"),
            None => lines.push(text),
        }
    }
    lines
}

pub(crate) fn print_event(event: &Event) -> String {
    let text = format!("{event:?}");
    let name = text.split([' ', '(', '{']).next().unwrap_or_default();
    match event {
        Event::AddItem { item, deps } | Event::UpdateItem { item, deps } => {
            format!("{name} {}", print_item(item, deps))
        }
        Event::ForgetItems { ids, cause: ForgetCause::Compaction { into } } => {
            format!("{name} {} into #{into}", print_ids(ids))
        }
        Event::ForgetItems { ids, cause } => format!("{name} {} at {}", print_ids(ids), print_name(cause)),
        Event::UserMsg { request, user, scope: Scope::Global, .. } => format!("{name} {request} of {user}"),
        Event::UserMsg { request, user, scope, .. } => {
            format!("{name} {request} of {user} in {}", print_name(scope))
        }
        Event::ToolCall { call, operation } => format!("{name} {call} {}", print_name(operation)),
        Event::ToolResult { call, .. } => format!("{name} {call}"),
        Event::CallFailed { call, failure, .. } => format!("{name} {call} {}", print_name(failure)),
        Event::ActionRecorded { record, .. } => format!("{name} {}", record.iteration),
        Event::TimeAdvanced { now } => format!("{name} to {}", now.millis()),
        Event::SessionStarted { user } => format!("{name} {user}"),
        Event::OverBudget { call, required_tokens, budget_tokens } => {
            format!("{name} {call} required_tokens={required_tokens} budget_tokens={budget_tokens}")
        }
        Event::Transitioned { row } => format!("{row} to {}", row.transition().to),
        Event::AuditRecorded { record } => {
            let print_task = |task: &TaskRecord| match task.effect {
                Some(effect) => format!("{}:{}", task.task, print_name(&effect)),
                None => task.task.to_string(),
            };
            let tasks: Vec<String> = record.tasks.iter().map(print_task).collect();
            let tasks = if tasks.is_empty() { String::new() } else { format!(" tasks={}", tasks.join(",")) };
            format!("{name} local={} cloud={}{tasks}", record.stores.local, record.stores.cloud)
        }
        Event::Concluded { conclusion } => format!("{name} {}: {}", conclusion.kind, conclusion.cause),
        Event::Network(event) => print_network_event(event),
        _ => name.to_owned(),
    }
}

/// Prints an item with the fields that differ from those of a current global fact of an employee.
pub(crate) fn print_item(item: &Item, deps: &[ItemId]) -> String {
    let mut fields = vec![("kind", print_name(&item.kind).replace("some:", ""), "fact")];
    match &item.layer {
        Layer::Fact(fact) => fields.extend([
            ("source", fact.source.name.to_string(), fact.source.rank.name()),
            ("rank", fact.source.rank.to_string(), "employee"),
            ("from", fact.source.derivation.map(|from| print_name(&from)).unwrap_or_default(), ""),
            ("memory", print_name(&fact.memory), "user"),
            ("scope", print_name(&fact.scope), "global"),
            ("audience", print_name(&fact.audience), "everybody"),
            ("established_at", fact.established_at.millis().to_string(), "0"),
            ("time_sensitive", fact.time_sensitive.to_string(), "false"),
            ("supersedes", print_ids(&fact.supersedes), "none"),
            ("summarized_keys", join(&fact.summarized_keys), ""),
        ]),
        Layer::Identity(identity) => fields.extend([
            ("rank", identity.rank.to_string(), "employee"),
            ("permissions", join(&identity.permissions), ""),
        ]),
        Layer::Request { user, scope } => {
            fields.extend([("user", user.to_string(), ""), ("scope", print_name(scope), "global")]);
        }
        Layer::Working { expires_at, .. } => {
            let layer = if item.key == ItemKey::Summary { "working" } else { "" };
            fields.push(("layer", layer.to_owned(), ""));
            fields.push(("expires_at", expires_at.map(|at| at.millis().to_string()).unwrap_or_default(), ""));
        }
        Layer::Environment => {}
    }
    fields.push(("depends_on", print_ids(deps), "none"));
    match &item.validity {
        Validity::Superseded { superseded_by, rule } => {
            fields.push(("superseded_by", print_ids(superseded_by), ""));
            fields.push(("rule", rule.to_string(), ""));
        }
        validity => fields.push(("validity", print_name(validity), "current")),
    }
    let fields = fields.iter().filter(|(_, value, default)| value != default);
    let fields: String = fields.map(|(name, value, _)| format!(" {name}={value}")).collect();
    format!("#{} {} = {}{fields}", item.id, item.key, print_text(item.text.as_str()))
}

/// Prints ids as `#1,#2`; an empty list as `none`.
pub(crate) fn print_ids<'a>(ids: impl IntoIterator<Item = &'a ItemId>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| format!("#{id}")).collect();
    if ids.is_empty() { "none".to_owned() } else { ids.join(",") }
}

fn join(texts: &[impl ToString]) -> String {
    texts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Prints a text in quotes. Cuts a long text and appends its length.
pub(crate) fn print_text(text: &str) -> String {
    let quoted = format!("{text:?}");
    match quoted.char_indices().nth(60) {
        None => quoted,
        Some((end, _)) => format!("{}… ({} characters)", &quoted[..end], text.chars().count()),
    }
}

/// Prints a variant by its name in files, such as `no_candidates` or `draft:offer`.
pub(crate) fn print_name(value: &impl Debug) -> String {
    let (text, mut name) = (format!("{value:?}"), String::new());
    for c in text.split(" {").next().unwrap_or_default().chars() {
        match c {
            '(' => name.push(':'),
            ')' | '"' => {}
            c => {
                if c.is_uppercase() && name.ends_with(char::is_alphanumeric) {
                    name.push('_');
                }
                name.extend(c.to_lowercase());
            }
        }
    }
    name
}
