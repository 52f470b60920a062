//! Finds the mutants that compile: the compiler's errors name those that do not, until none is left.

use super::list::Mutant;
use super::place::{ConstFunction, Places};
use super::source::{Alternatives, SwitchedSource, write_switches};
use crate::program::cargo;
use crate::workspace::{copy_workspace, switch_for};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

/// The packages that run the mutants, with their tests. First those in which most errors are.
const PACKAGES: [&[&str]; 2] = [
    &["-p", "orchestrion-kernel", "-p", "orchestrion-optimizer"],
    &[
        "-p",
        "orchestrion-kernel",
        "-p",
        "orchestrion-optimizer",
        "-p",
        "orchestrion",
        "-p",
        "orchestrion-tests",
    ],
];

/// More than the number of times that a mutant's error hides that of another.
const ROUNDS_MAX: usize = 100;

/// Why mutants are not in the workspace.
#[derive(Debug, Default)]
pub struct Excluded {
    /// No switch can be written there, such as in a chain with `let`.
    pub without_place: BTreeSet<u32>,
    /// They do not compile.
    pub not_compiling: BTreeSet<u32>,
    /// Their function is called where only a `const` function can be.
    pub constant: BTreeSet<u32>,
}

impl Excluded {
    /// Whether the mutant is not in the workspace.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        [&self.without_place, &self.not_compiling, &self.constant].iter().any(|set| set.contains(&number))
    }
}

/// Writes the copy of the workspace with all mutants that compile.
///
/// # Errors
/// Cargo does not run, or there is an error at the code of no mutant.
pub fn write_mutants(
    root: &Path,
    copy: &Path,
    mutants: &[Mutant],
    sources: &BTreeMap<String, String>,
) -> Result<Excluded, Box<dyn Error>> {
    let (mut excluded, mut constant_names) = (Excluded::default(), BTreeSet::new());
    let places: BTreeMap<&str, Places<'_>> = sources
        .iter()
        .map(|(file, source)| Ok((file.as_str(), Places::read(source)?)))
        .collect::<syn::Result<_>>()?;
    for mutant in mutants {
        if places[mutant.name.file.as_str()].place(mutant).is_none() {
            excluded.without_place.insert(mutant.number);
        }
    }
    let mut packages = PACKAGES.iter();
    let mut checked = packages.next();
    for _ in 0..ROUNDS_MAX {
        let Some(arguments) = checked else { return Ok(excluded) };
        let written = switch_all(mutants, &places, &constant_names, &mut excluded);
        let texts = written.iter().map(|(file, source)| (root.join(file), source.text.clone())).collect();
        copy_workspace(root, copy, texts).map_err(|error| orchestrion_yaml::render_error(&error))?;
        let errors = check(copy, arguments)?;
        eprintln!(
            "{} errors; {} of {} mutants do not compile",
            errors.len(),
            excluded.not_compiling.len() + excluded.constant.len(),
            mutants.len()
        );
        if errors.is_empty() {
            checked = packages.next();
            continue;
        }
        let before = (excluded.not_compiling.len(), constant_names.len());
        for error in &errors {
            if let Some(name) = error.constant_callee() {
                constant_names.insert(name.to_owned());
            } else {
                excluded.not_compiling.extend(error.mutants(&written));
            }
        }
        if before == (excluded.not_compiling.len(), constant_names.len()) {
            return Err(format!("an error at no mutant:\n{}", errors[0].rendered).into());
        }
    }
    Err(format!("after {ROUNDS_MAX} rounds, the mutants do not compile").into())
}

/// Writes all sources with the mutants that are not excluded. Functions with these names stay `const`, without mutants.
fn switch_all(
    mutants: &[Mutant],
    places: &BTreeMap<&str, Places<'_>>,
    constant_names: &BTreeSet<String>,
    excluded: &mut Excluded,
) -> BTreeMap<String, SwitchedSource> {
    let mut by_file: BTreeMap<&str, Alternatives> = BTreeMap::new();
    let is_constant = |function: &&ConstFunction| constant_names.contains(&function.name);
    for mutant in mutants {
        let places = &places[mutant.name.file.as_str()];
        let at = mutant.place.start;
        let mut constant = places.constant_functions.iter().filter(is_constant);
        if constant.any(|function| function.all.contains(&at)) {
            excluded.constant.insert(mutant.number);
        }
        if !excluded.contains(mutant.number)
            && let Some((place, code)) = places.place(mutant)
        {
            let of_file = by_file.entry(mutant.name.file.as_str()).or_default();
            of_file.entry(place).or_default().push((mutant.number, code));
        }
    }
    let none = Alternatives::new();
    let write = |(file, places): (&&str, &Places<'_>)| {
        let functions = places.constant_functions.iter();
        let no_longer_const: Vec<&ConstFunction> =
            functions.filter(|function| !is_constant(function)).collect();
        let switch = switch_for(file).unwrap_or_default();
        let alternatives = by_file.get(file).unwrap_or(&none);
        let source = write_switches(places.source(), alternatives, &no_longer_const, switch);
        ((*file).to_owned(), source)
    };
    places.iter().map(write).collect()
}

/// Runs the compiler on packages with their tests, and returns its errors.
fn check(copy: &Path, packages: &[&str]) -> Result<Vec<CompilerError>, Box<dyn Error>> {
    let mut command = cargo(copy);
    command.args(["check", "--release", "--locked", "--tests", "--keep-going", "--message-format", "json"]);
    let mut child = command.args(packages).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (mut errors, mut is_last_success) = (Vec::new(), false);
    for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines()) {
        match serde_json::from_str(&line?) {
            Ok(Message::Diagnostic { message }) if message.level == "error" => errors.push(message),
            Ok(Message::BuildFinished { success }) => is_last_success = success,
            Ok(Message::Diagnostic { .. } | Message::Other) | Err(_) => {}
        }
    }
    child.wait()?;
    // The summary of the errors of a crate has no place.
    errors.retain(|error| !error.spans.is_empty() || error.constant_callee().is_some());
    if errors.is_empty() && !is_last_success {
        return Err(
            format!("cargo check failed in {}: run it there to see the reason", copy.display()).into()
        );
    }
    Ok(errors)
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    #[serde(rename = "compiler-message")]
    Diagnostic {
        message: CompilerError,
    },
    BuildFinished {
        success: bool,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct CompilerError {
    level: String,
    message: String,
    rendered: String,
    spans: Vec<CompilerSpan>,
}

#[derive(Deserialize)]
struct CompilerSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
}

impl CompilerError {
    /// The name of the function that must be `const`.
    fn constant_callee(&self) -> Option<&str> {
        let path = self.message.strip_prefix("cannot call non-const ")?.split('`').nth(1)?;
        path.rsplit("::").next()
    }

    /// The mutants at which the error is: those whose own code it names, otherwise those of the innermost place.
    fn mutants(&self, written: &BTreeMap<String, SwitchedSource>) -> BTreeSet<u32> {
        let mut numbers = BTreeSet::new();
        for span in &self.spans {
            let Some(source) = written.get(&span.file_name) else { continue };
            let overlapping = |range: &std::ops::Range<usize>| {
                range.start < span.byte_end.max(span.byte_start + 1) && span.byte_start < range.end
            };
            let own = source.alternatives.iter().filter(|(range, _)| overlapping(range));
            numbers.extend(own.map(|(_, number)| *number));
        }
        if numbers.is_empty() {
            for span in &self.spans {
                let Some(source) = written.get(&span.file_name) else { continue };
                let inner = source.places.iter().rev().find(|(range, numbers)| {
                    !numbers.is_empty() && range.start <= span.byte_start && span.byte_end <= range.end
                });
                numbers.extend(inner.into_iter().flat_map(|(_, numbers)| numbers));
            }
        }
        numbers
    }
}
