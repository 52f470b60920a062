//! Typed values of fields (003's schema).

use crate::diagnostic::WriteDiagnostic;
use crate::timeline::{ValidityFields, WriteRecord};
use orchestrion_ingest::{IngestDiagnostic, TaggedText};
use orchestrion_kernel::Text;
use orchestrion_kernel::item::{ConstraintType, MemoryType, Scope};
use orchestrion_kernel::knowledge::FactKind;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the scope of a record: that of its text, otherwise of its fields. A scope without a name has the key as its name.
pub(crate) fn scope(
    text: &TaggedText,
    fields: ValidityFields<'_>,
    key: &str,
) -> Result<Scope, WriteDiagnostic> {
    if let Some(scope) = &text.scope {
        return Ok(scope.clone());
    }
    let name = || Text::from(fields.scope_id.unwrap_or(key));
    Ok(match fields.scope {
        "global" => Scope::Global,
        "session" => Scope::Session,
        "task" => Scope::Task(name()),
        "hypothetical" => Scope::Hypothetical(name()),
        "draft" => Scope::Draft(name()),
        other => return Err(WriteDiagnostic::UnknownScope(other.to_string())),
    })
}

/// Parses the text of a signal, a note or a turn, with the scope of its record. A timeline is one session, so the scope of the
/// session is global.
pub(crate) fn tagged_text(
    text: &str,
    fields: ValidityFields<'_>,
    key: &str,
) -> Result<TaggedText, WriteDiagnostic> {
    if fields.is_withdrawn() {
        return Err(IngestDiagnostic::Withdrawn.into());
    }
    let mut tagged = TaggedText::parse(text);
    tagged.scope = match scope(&tagged, fields, key)? {
        Scope::Global | Scope::Session => None,
        scope => Some(scope),
    };
    Ok(tagged)
}

/// Returns the kind of a fact.
pub(crate) fn fact_kind(record: &WriteRecord) -> Result<FactKind, WriteDiagnostic> {
    if !record.is_constraint {
        return Ok(FactKind::Fact);
    }
    let constraint = match record.constraint_type.as_deref() {
        None => None,
        Some("budget") => Some(ConstraintType::Budget),
        Some("deadline") => Some(ConstraintType::Deadline),
        Some("capacity") => Some(ConstraintType::Capacity),
        Some("policy") => Some(ConstraintType::Policy),
        Some(other) => return Err(WriteDiagnostic::UnknownConstraint(other.to_string())),
    };
    Ok(FactKind::Constraint(constraint))
}

/// Returns the memory type that a record names, if any.
pub(crate) fn memory_type(record: &WriteRecord) -> Result<Option<MemoryType>, WriteDiagnostic> {
    Ok(match record.memory_type.as_deref() {
        None => None,
        Some("user") => Some(MemoryType::User),
        Some("capability") => Some(MemoryType::Capability),
        Some("organizational") => Some(MemoryType::Organizational),
        Some(other) => return Err(WriteDiagnostic::UnknownMemoryType(other.to_string())),
    })
}

/// Returns the fields that only facts have, among those of a write to another layer.
pub(crate) fn fact_fields(record: &WriteRecord) -> impl Iterator<Item = &'static str> {
    let fields = [
        ("supersedes", record.supersedes.is_some()),
        ("depends_on", !record.depends_on.is_empty()),
        ("derived_facts", !record.derived_facts.is_empty()),
        ("needs_review", record.needs_review),
        ("time_sensitive", record.time_sensitive.is_some()),
        ("is_constraint", record.is_constraint),
        ("memory_type", record.memory_type.is_some()),
    ];
    fields.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name)
}

/// Returns the names of unknown fields. A set field whose name suggests a restriction is an error, because its value has an
/// unknown meaning.
pub(crate) fn unknown_fields<'a>(
    others: &'a BTreeMap<String, Value>,
    known: &[&str],
) -> Result<Vec<&'a str>, WriteDiagnostic> {
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let restricts = |name: &str| {
        let name = name.to_lowercase();
        ["restrict", "confidential", "secret", "audience"].iter().any(|word| name.contains(word))
    };
    let unknown = || others.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    match unknown().find(|(name, value)| is_set(value) && restricts(name)) {
        Some((name, _)) => Err(WriteDiagnostic::UnreadableRestriction(name.clone())),
        None => Ok(unknown().map(|(name, _)| name.as_str()).collect()),
    }
}
