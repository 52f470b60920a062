//! Scopes by name.

use orchestrion_kernel::Text;
use orchestrion_kernel::item::Scope;

/// Constructs a scope from its name.
type ScopeKind = fn(Text) -> Scope;

/// Words in the name of a scope with the kind of the scope. Any other name is a task.
const SCOPES: &[(&str, ScopeKind)] = &[
    ("draft", Scope::Draft),
    ("brainstorm", Scope::Draft),
    ("sandbox", Scope::Draft),
    ("estimat", Scope::Draft),
    ("what-if", Scope::Hypothetical),
    ("what if", Scope::Hypothetical),
    ("scenario", Scope::Hypothetical),
    ("hypothe", Scope::Hypothetical),
];

/// Returns the scope with this name, or `None` for the global scope.
pub(crate) fn scope_from_name(name: &str) -> Option<Scope> {
    let name = name.trim().to_lowercase();
    let kind = SCOPES.iter().find(|(word, _)| name.contains(word));
    (name != "global").then(|| kind.map_or(Scope::Task as ScopeKind, |(_, kind)| *kind)(Text::from(name)))
}

/// Returns the scope of a text with a draft or hypothetical tag.
pub(crate) fn tentative_scope(words: String) -> Scope {
    match scope_from_name(&words) {
        Some(scope @ Scope::Hypothetical(_)) => scope,
        _ => Scope::Draft(Text::from(words)),
    }
}
