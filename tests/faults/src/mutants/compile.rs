//! Finds the mutants that compile: the compiler's errors name those that do not, until none is left.

use super::list::Mutant;
use super::place::{ConstFunction, Places};
use super::source::{Alternatives, SwitchedSource, write_switches};
use crate::program::cargo;
use crate::workspace::{copy_workspace, switch_for};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader};
use std::ops::Range;
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
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Excluded {
    /// No switch can be written there, such as in a chain with `let`. This follows from the source texts.
    #[serde(skip)]
    pub without_place: BTreeSet<u32>,
    /// They do not compile.
    pub not_compiling: BTreeSet<u32>,
    /// Their function is called where only a `const` function can be.
    pub constant: BTreeSet<u32>,
    /// The names of these functions. They stay `const`, without mutants.
    constant_functions: BTreeSet<String>,
}

impl Excluded {
    /// Whether the mutant is not in the workspace.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        [&self.without_place, &self.not_compiling, &self.constant].iter().any(|set| set.contains(&number))
    }

    /// What is known of the compiler's errors. It grows with each round.
    fn count(&self) -> usize {
        self.not_compiling.len() + self.constant.len() + self.constant_functions.len()
    }
}

/// What the compiler refused of these mutants, as a file. With it a second run changes no source text and builds nothing again.
#[derive(Deserialize, Serialize)]
struct Saved {
    /// A digest of the mutants and the source texts.
    digest: u64,
    excluded: Excluded,
}

impl Saved {
    fn digest(mutants: &[Mutant], sources: &BTreeMap<String, String>) -> u64 {
        let mut hasher = DefaultHasher::new();
        sources.hash(&mut hasher);
        for Mutant { number, name, genre, place, replacement } in mutants {
            (number, name.to_string(), *genre as u8, place, replacement).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The exclusions of the file, if it is of these mutants.
    fn read(path: &Path, digest: u64) -> Option<Excluded> {
        let saved: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (saved.digest == digest).then_some(saved.excluded)
    }

    fn write(self, path: &Path) -> io::Result<Excluded> {
        std::fs::write(path, serde_json::to_vec(&self)?)?;
        Ok(self.excluded)
    }
}

/// Writes the copy of the workspace with all mutants that compile, and the file `excluded.json` beside it.
///
/// # Errors
/// Cargo does not run, a file cannot be written, or there is an error at the code of no mutant.
pub fn write_mutants(
    root: &Path,
    copy: &Path,
    mutants: &[Mutant],
    sources: &BTreeMap<String, String>,
) -> Result<Excluded, Box<dyn Error>> {
    let (file, digest) = (copy.with_file_name("excluded.json"), Saved::digest(mutants, sources));
    let mut excluded = Saved::read(&file, digest).unwrap_or_default();
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
        let Some(arguments) = checked else { return Ok(Saved { digest, excluded }.write(&file)?) };
        let written = switch_all(mutants, &places, &mut excluded);
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
        let before = excluded.count();
        for error in &errors {
            match error.constant_callee() {
                // The switch itself, in the value of a constant.
                Some("is_active") => excluded.constant.extend(error.mutants(&written)),
                Some(name) => {
                    excluded.constant_functions.insert(name.to_owned());
                }
                None => excluded.not_compiling.extend(error.mutants(&written)),
            }
        }
        if before == excluded.count() {
            return Err(format!(
                "an error at no mutant:\n{}",
                errors[0].rendered.as_deref().unwrap_or(&errors[0].message)
            )
            .into());
        }
    }
    Err(format!("after {ROUNDS_MAX} rounds, the mutants do not compile").into())
}

/// Writes all sources with the mutants that are not excluded.
fn switch_all(
    mutants: &[Mutant],
    places: &BTreeMap<&str, Places<'_>>,
    excluded: &mut Excluded,
) -> BTreeMap<String, SwitchedSource> {
    let mut by_file: BTreeMap<&str, Alternatives> = BTreeMap::new();
    let constant_functions = &excluded.constant_functions;
    let is_constant = |function: &&ConstFunction| constant_functions.contains(&function.name);
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
    rendered: Option<String>,
    spans: Vec<CompilerSpan>,
    children: Vec<Self>,
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

    /// The mutants at which the error is: those whose own code it names, otherwise those of the innermost place around it, otherwise
    /// those of the last place before code that its help adds, such as an arm of a `match`.
    fn mutants(&self, written: &BTreeMap<String, SwitchedSource>) -> BTreeSet<u32> {
        let in_file = |span: &CompilerSpan, find: &dyn Fn(&SwitchedSource) -> BTreeSet<u32>| {
            written.get(&span.file_name).map(find).unwrap_or_default()
        };
        let own = |span: &CompilerSpan| {
            in_file(span, &|source| {
                let overlapping = source.alternatives.iter().filter(|(range, _)| span.overlaps(range));
                overlapping.map(|(_, number)| *number).collect()
            })
        };
        let innermost = |span: &CompilerSpan| {
            in_file(span, &|source| {
                let mut places = source.places.iter().rev().filter(|(_, numbers)| !numbers.is_empty());
                let inner =
                    places.find(|(range, _)| range.start <= span.byte_start && span.byte_end <= range.end);
                inner.into_iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect()
            })
        };
        let before = |span: &CompilerSpan| {
            in_file(span, &|source| {
                let mut places = source.places.iter().rev();
                let last = places.find(|(range, _)| range.start < span.byte_start);
                last.into_iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect()
            })
        };
        let of = |spans: &mut dyn Iterator<Item = &CompilerSpan>,
                  find: &dyn Fn(&CompilerSpan) -> BTreeSet<u32>| {
            spans.flat_map(find).collect::<BTreeSet<u32>>()
        };
        let ways = [
            of(&mut self.spans.iter(), &own),
            of(&mut self.spans.iter(), &innermost),
            of(&mut self.children.iter().flat_map(|child| &child.spans), &before),
        ];
        ways.into_iter().find(|numbers| !numbers.is_empty()).unwrap_or_default()
    }
}

impl CompilerSpan {
    fn overlaps(&self, range: &Range<usize>) -> bool {
        range.start < self.byte_end.max(self.byte_start + 1) && self.byte_start < range.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusions_are_those_of_the_same_sources() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("excluded.json");
        let digest =
            |source: &str| Saved::digest(&[], &BTreeMap::from([("a.rs".to_owned(), source.to_owned())]));
        assert!(Saved::read(&file, digest("fn a() {}")).is_none());
        let excluded = Excluded { not_compiling: BTreeSet::from([3]), ..Excluded::default() };
        Saved { digest: digest("fn a() {}"), excluded }.write(&file).unwrap();
        assert!(Saved::read(&file, digest("fn a() {}")).is_some_and(|excluded| excluded.contains(3)));
        assert!(Saved::read(&file, digest("fn b() {}")).is_none());
    }
}
