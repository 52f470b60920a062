//! The list of mutants that `cargo-mutants` makes of the kernel's code.

use crate::program::cargo;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;

/// The packages whose code decides.
const PACKAGES: [&str; 2] = ["orchestrion-kernel", "orchestrion-optimizer"];

/// How a mutant changes code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Genre {
    /// A function returns a fixed value.
    FnValue,
    /// Another binary operator.
    BinaryOperator,
    /// No unary operator.
    UnaryOperator,
    /// No arm of a `match`; a later one matches.
    MatchArm,
    /// The guard of an arm is `true` or `false`.
    MatchArmGuard,
    /// No field of a struct expression with a base.
    StructField,
}

/// One mutant. It is named by its file, what it changes, and the line of code, so that a name outlives changes elsewhere in the file.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The number, from 1, which switches it.
    pub number: u32,
    /// The name.
    pub name: MutantName,
    /// How it changes code.
    pub genre: Genre,
    /// The replaced bytes of the file.
    pub place: Range<usize>,
    /// The code that replaces them.
    pub replacement: String,
}

/// What identifies a mutant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MutantName {
    /// The file, from the root of the workspace.
    pub file: String,
    /// The change, as `cargo-mutants` says it: `replace < with <= in validate`.
    pub change: String,
    /// The first changed line of code, without indentation.
    pub code: String,
    /// The position among mutants with equal file, change and code, from 1.
    pub position: u32,
}

impl std::fmt::Display for MutantName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: `{}`", self.file, self.change, self.code)?;
        if self.position > 1 { write!(f, " ({})", self.position) } else { Ok(()) }
    }
}

#[derive(Deserialize)]
struct ListedMutant {
    file: String,
    genre: Genre,
    name: String,
    replacement: String,
    span: ListedSpan,
}

#[derive(Clone, Copy, Deserialize)]
struct ListedSpan {
    start: LineColumn,
    end: LineColumn,
}

/// Both from 1; the column counts characters.
#[derive(Clone, Copy, Deserialize)]
struct LineColumn {
    line: usize,
    column: usize,
}

/// Lists the mutants of the workspace, in the order of `cargo-mutants`, and returns the source texts of their files.
///
/// # Errors
/// `cargo-mutants` is not installed, or its list does not fit the files.
pub fn list_mutants(root: &Path) -> io::Result<(Vec<Mutant>, BTreeMap<String, String>)> {
    let mut command = cargo(root);
    command.args(["mutants", "--list", "--json"]).args(PACKAGES.iter().flat_map(|name| ["--package", name]));
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            "cargo mutants failed: install it with `cargo install --locked cargo-mutants`",
        ));
    }
    let listed: Vec<ListedMutant> = serde_json::from_slice(&output.stdout)?;
    let mut sources = BTreeMap::new();
    for file in listed.iter().map(|mutant| &mutant.file) {
        if !sources.contains_key(file) {
            sources.insert(file.clone(), std::fs::read_to_string(root.join(file))?);
        }
    }
    let mutants = name_mutants(listed, &sources);
    mutants
        .map(|mutants| (mutants, sources))
        .ok_or_else(|| io::Error::other("a mutant lies outside its file: the file changed meanwhile"))
}

fn name_mutants(listed: Vec<ListedMutant>, sources: &BTreeMap<String, String>) -> Option<Vec<Mutant>> {
    let mut positions: BTreeMap<(String, String, String), u32> = BTreeMap::new();
    let mut mutants = Vec::new();
    for ListedMutant { file, genre, name, replacement, span } in listed {
        let source = sources.get(&file)?;
        let place = offset(source, span.start)?..offset(source, span.end)?;
        // The name starts with the file and the place.
        let change = name.splitn(4, ':').nth(3)?.trim().to_owned();
        let code = source.lines().nth(span.start.line.checked_sub(1)?)?.trim().to_owned();
        let position = positions.entry((file.clone(), change.clone(), code.clone())).or_default();
        *position += 1;
        let name = MutantName { file, change, code, position: *position };
        let number = u32::try_from(mutants.len() + 1).ok()?;
        mutants.push(Mutant { number, name, genre, place, replacement });
    }
    Some(mutants)
}

fn offset(source: &str, at: LineColumn) -> Option<usize> {
    let line_start = match at.line.checked_sub(2) {
        None => 0,
        Some(before) => source.match_indices('\n').nth(before)?.0 + 1,
    };
    let line = source.get(line_start..)?;
    let column = at.column.checked_sub(1)?;
    let in_line = line.char_indices().map(|(offset, _)| offset).chain([line.len()]).nth(column)?;
    Some(line_start + in_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutant_has_a_name_without_place() {
        let source = "fn ä() {\n    a > b;\n    a > b;\n}\n";
        let listed = r#"[
            {"file": "f.rs", "genre": "BinaryOperator", "name": "f.rs:2:7: replace > with < in ä", "replacement": "<",
             "span": {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 8}}},
            {"file": "f.rs", "genre": "BinaryOperator", "name": "f.rs:3:7: replace > with < in ä", "replacement": "<",
             "span": {"start": {"line": 3, "column": 7}, "end": {"line": 3, "column": 8}}}
        ]"#;
        let listed: Vec<ListedMutant> = serde_json::from_str(listed).unwrap();
        let sources = BTreeMap::from([("f.rs".to_owned(), source.to_owned())]);
        let mutants = name_mutants(listed, &sources).unwrap();
        let names: Vec<String> = mutants.iter().map(|mutant| mutant.name.to_string()).collect();
        assert_eq!(
            names,
            ["f.rs: replace > with < in ä: `a > b;`", "f.rs: replace > with < in ä: `a > b;` (2)"]
        );
        for mutant in &mutants {
            assert_eq!(&source[mutant.place.clone()], ">");
        }
        assert!(mutants[0].place.start < mutants[1].place.start);
    }
}
