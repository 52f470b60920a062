//! The lists of faults.

use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, required_value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How a fault replaces code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An expression by one of the same type.
    Expression,
    /// Statements by statements.
    Statement,
}

/// One fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The id, as `003-07`: the document, and a number.
    pub id: Spanned<StrictText>,
    /// The clause that the faulty kernel violates.
    pub clause: StrictText,
    /// What the faulty kernel does, as a sentence.
    pub fault: StrictText,
    /// The file, from the root of the workspace.
    pub file: Spanned<StrictText>,
    /// How the code is replaced.
    pub kind: Kind,
    /// The code. It occurs once in the file.
    pub find: Spanned<StrictText>,
    /// The code that replaces it.
    pub replace: StrictText,
    /// Why no behavior changes, as a second person confirmed.
    #[serde(default, deserialize_with = "required_value")]
    pub equivalent: Option<StrictText>,
}

/// A fault with its number, which switches it, and its place in a list.
#[derive(Clone, Debug)]
pub struct NumberedFault {
    /// The number, from 1.
    pub number: u32,
    /// The fault.
    pub fault: Fault,
    source: Source,
}

impl NumberedFault {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.fault.id.value.as_str()
    }

    /// Returns an error at the code that the fault replaces.
    #[must_use]
    pub fn error_at_code(&self, message: String, help: &str) -> ReadError {
        self.error_at(self.fault.find.span(), message, help)
    }

    /// Returns an error at the file that the fault changes.
    #[must_use]
    pub fn error_at_file(&self, message: String, help: &str) -> ReadError {
        self.error_at(self.fault.file.span(), message, help)
    }

    fn error_at(&self, place: Option<SourceSpan>, message: String, help: &str) -> ReadError {
        ReadError::in_source(&self.source, LabeledError::new(message, help).with_label(place, "here"))
    }
}

/// Reads all lists of a folder, in the order of their names.
///
/// # Errors
/// A list cannot be read, or two faults have one id or make the same change.
pub fn read_faults(folder: &Path) -> Result<Vec<NumberedFault>, ReadError> {
    let unreadable = |error: std::io::Error| {
        let message = format!("{}: unreadable folder: {error}", folder.display());
        ReadError::for_file(message, "run the program in the root of the workspace")
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut faults, mut known, mut changes) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for path in paths {
        let source = Source::read(&path)?;
        for fault in source.parse::<Vec<Fault>>()? {
            let number = u32::try_from(faults.len()).unwrap_or(u32::MAX).saturating_add(1);
            let fault = NumberedFault { number, fault, source: source.clone() };
            if let Some(earlier) = known.insert(fault.id().to_owned(), number) {
                let message = format!("duplicate id `{}`: fault {earlier} has it already", fault.id());
                return Err(fault.error_at(fault.fault.id.span(), message, "choose another id"));
            }
            let Fault { file, find, replace, .. } = &fault.fault;
            let change = [&file.value, &find.value, replace].map(|text| text.as_str().to_owned());
            if let Some(earlier) = changes.insert(change, fault.id().to_owned()) {
                let message = format!("fault {} makes the same change as fault {earlier}", fault.id());
                return Err(fault.error_at_code(message, "make another change, or delete one of the faults"));
            }
            faults.push(fault);
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_yaml::render_error;

    #[test]
    fn second_fault_of_one_id_is_refused_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let fault = "- {id: 000-01, clause: 000-1.1, fault: A fault., file: a.rs, kind: expression, find: a, replace: b}\n";
        std::fs::write(folder.path().join("000.yaml"), fault.repeat(2)).unwrap();
        let error = render_error(&read_faults(folder.path()).unwrap_err());
        assert!(error.contains("duplicate id `000-01`: fault 1 has it already"), "{error}");
        assert!(error.contains("000.yaml:2:"), "{error}");
    }

    #[test]
    fn second_fault_with_one_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fault = |id| {
            format!(
                "- {{id: {id}, clause: 000-1.1, fault: A fault., file: a.rs, kind: expression, find: a, replace: b}}\n"
            )
        };
        std::fs::write(folder.path().join("000.yaml"), fault("000-01")).unwrap();
        std::fs::write(folder.path().join("001.yaml"), fault("001-01")).unwrap();
        let error = render_error(&read_faults(folder.path()).unwrap_err());
        assert!(error.contains("fault 001-01 makes the same change as fault 000-01"), "{error}");
    }
}
