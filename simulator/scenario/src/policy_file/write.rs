//! Writes a policy as a file with all settings, each with its unit and meaning.

use super::format::{Setting, settings};
use orchestrion_kernel::Policy;
use std::fmt::Write as _;

/// Writes a policy file with all settings. It parses to the same policy even if the built-in policies change.
#[must_use]
pub fn write(policy: &Policy) -> String {
    write_settings(&policy.name, &settings(policy))
}

/// Writes a policy file with this name and these settings.
pub(super) fn write_settings(name: &str, settings: &[Setting]) -> String {
    let mut text = format!("name: {}\n", quoted(name));
    let mut open = "";
    for Setting { path, value, meaning } in settings {
        // Writing to a string cannot fail.
        let _ = match path.split_once('.') {
            None => write!(text, "\n# {meaning}\n{path}: {value}\n"),
            Some((section, key)) => {
                if section != open {
                    open = section;
                    let _ = write!(text, "\n{section}:\n");
                }
                write!(text, "  # {meaning}\n  {key}: {value}\n")
            }
        };
    }
    text
}

/// Returns the text as a YAML string in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            plain @ (' '..='~'
            | '\u{a1}'..='\u{d7ff}'
            | '\u{e000}'..='\u{fefe}'
            | '\u{10000}'..='\u{10fffd}')
                if !matches!(plain, '\u{2028}' | '\u{2029}') =>
            {
                out.push(plain);
            }
            other => {
                let _ = write!(out, "\\U{:08x}", u32::from(other));
            }
        }
    }
    out.push('"');
    out
}
