//! Errors of texts that are not valid YAML, or use a part of YAML that files must not use.

use super::error::LabeledError;
use super::limits::FileLimits;
use super::location::byte_span_in;
use orchestrion_files::limits::NESTING_MAX;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter, budget::BudgetBreach};

/// Converts an error of the library.
pub(super) fn syntax_error(error: &Error, text: &str, limits: FileLimits) -> LabeledError {
    let error = error.without_snippet();
    let span = error.location().and_then(|location| byte_span_in(text, location));
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_ref().map_or_else(String::new, |key| format!(" `{}`", key.escape_debug()));
            LabeledError::new(format!("duplicate key{key}"), "remove one of the two")
                .with_label(span, "second occurrence")
        }
        Error::MultipleDocuments { .. } => LabeledError::new(
            "expected one document, found a second one",
            "remove the line `---`, or use two files",
        )
        .with_label(span, "a second document"),
        Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            LabeledError::new(
                "anchors (`&name`) and aliases (`*name`) are not supported",
                "write the value at each place",
            )
            .with_label(span, "here")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep().with_label(span, "here"),
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => {
            LabeledError::new(
                format!("file too large: expected at most {} values, found more", limits.values_max),
                limits.help,
            )
            .with_label(span, "one value too many")
        }
        Error::UnknownAnchor { .. } => LabeledError::new(
            "aliases (`*name`) are not supported",
            "write the value at each place; quote a text that starts with *",
        )
        .with_label(span, "here"),
        other => {
            let message = UserMessageFormatter.format_message(other);
            // The parser has a limit of its own for brackets, above ours, and an error without a variant for it.
            let error = if message.contains("recursion limit") {
                too_deep()
            } else {
                LabeledError::new(message, NOT_YAML)
            };
            error.with_label(span, "here")
        }
    }
}

fn too_deep() -> LabeledError {
    LabeledError::new(
        format!("nesting too deep: expected at most {NESTING_MAX} levels, found more"),
        "check the brackets and the indentation",
    )
}

const NOT_YAML: &str = "check the indentation, the quotes and the brackets here";
