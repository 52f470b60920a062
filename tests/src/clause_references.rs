//! The references of the clause pages to code, files, commands, ids and other pages. `specs/clauses/README.md` defines the
//! notation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::clause_checks::{GENERATED, PARTS};
use crate::code_index::CodeIndex;
use crate::root;
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::policy::Rule;
use std::collections::BTreeSet;
use std::fs;

/// The folders with sources.
const SOURCES: [&str; 4] = ["kernel", "model", "simulator", "tests"];

/// The folder of the pages.
const CLAUSES: &str = "specs/clauses";

/// The crate of names without a crate.
const KERNEL: &str = "orchestrion-kernel";

/// A reference in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its line, from 1.
    pub line: usize,
    /// What it refers to.
    pub target: Target,
}

/// What a reference refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Text in backquotes: code, a file, a command, a policy or a clause.
    Quoted(String),
    /// A policy rule.
    Rule(String),
    /// A row, a claim, a finding, a decision or a clause.
    Id(String),
    /// The target of a Markdown link.
    Link(String),
}

/// Returns the references of a page. The statement of a clause quotes the source document in backquotes, so these are none.
#[must_use]
pub fn references(page: &str) -> Vec<Reference> {
    let mut references = Vec::new();
    let (mut is_statement, mut last_word) = (false, String::new());
    for (number, line) in (1..).zip(page.lines()) {
        if line.starts_with("**") {
            is_statement = true;
        } else if line.is_empty() || PARTS.iter().any(|part| line.starts_with(part)) {
            is_statement = false;
        }
        let mut add = |target| references.push(Reference { line: number, target });
        for link in line.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            add(Target::Link(link.0.to_owned()));
        }
        // Generated lines contain links only.
        if line.starts_with(GENERATED) {
            continue;
        }
        for (position, part) in line.split('`').enumerate() {
            if position % 2 == 0 {
                ids(part).for_each(|id| add(Target::Id(id.to_owned())));
                if let Some(word) = part.split_whitespace().next_back() {
                    word.clone_into(&mut last_word);
                }
            } else if !is_statement {
                let is_rule = last_word == "rule" || last_word == "rules";
                add(if is_rule { Target::Rule(part.to_owned()) } else { Target::Quoted(part.to_owned()) });
                last_word.clear();
            }
        }
    }
    references
}

/// Returns the words of a text that have the form of an id.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c));
    words.map(|word| word.trim_matches(['-', '.'])).filter(|word| IdKind::of(word).is_some())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdKind {
    Row,
    Claim,
    Finding,
    Decision,
    Clause,
}

impl IdKind {
    /// Returns the kind of id that a word has the form of.
    fn of(word: &str) -> Option<Self> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some((document, clause)) = word.split_once('-') {
            let is_clause =
                clause.split_once('.').is_some_and(|(section, n)| is_number(section) && is_number(n));
            return match document {
                "C" if clause.starts_with(|first: char| first.is_ascii_digit()) => Some(Self::Claim),
                _ if is_number(document) && document.len() == 3 && is_clause => Some(Self::Clause),
                _ => None,
            };
        }
        let (first, rest) = (word.chars().next()?, word.get(1..)?);
        match first {
            'F' if is_number(rest) => Some(Self::Finding),
            'A'..='Z' if rest.len() == 2 && is_number(rest) => Some(Self::Row),
            '0' if word.len() == 4 && is_number(word) => Some(Self::Decision),
            _ => None,
        }
    }
}

/// Everything that the pages can refer to.
#[derive(Debug)]
pub struct Targets {
    code: CodeIndex,
    /// The pages by file name.
    pages: Vec<(String, String)>,
    decisions: BTreeSet<String>,
}

impl Targets {
    /// Reads sources, pages and decisions.
    #[must_use]
    pub fn read() -> Self {
        let names = |folder: &str| {
            let entries = fs::read_dir(root().join(folder)).unwrap();
            entries
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect::<BTreeSet<_>>()
        };
        let read = |name: String| {
            let page = fs::read_to_string(root().join(CLAUSES).join(&name)).unwrap();
            (name, page)
        };
        Self {
            code: CodeIndex::read(&root(), &SOURCES),
            pages: names(CLAUSES).into_iter().filter(|name| name != "README.md").map(read).collect(),
            decisions: names("specs/decisions"),
        }
    }

    /// The pages by file name.
    #[must_use]
    pub fn pages(&self) -> &[(String, String)] {
        &self.pages
    }

    /// Whether the target of a reference exists.
    #[must_use]
    pub fn contains(&self, target: &Target) -> bool {
        match target {
            Target::Quoted(text) => self.has_quoted(text),
            Target::Rule(name) => Rule::ALL.iter().any(|rule| rule.name() == name),
            Target::Id(id) => self.has_id(id),
            Target::Link(link) => has_link(link),
        }
    }

    fn has_quoted(&self, text: &str) -> bool {
        if let Some(command) = text.strip_prefix("orchestrion ") {
            return self.has_command(command);
        }
        if IdKind::of(text).is_some() {
            return self.has_id(text);
        }
        if Policy::built_in(text).is_some() {
            return true;
        }
        if text.contains('/') {
            let (file, item) = text.split_once("::").map_or((text, None), |(file, item)| (file, Some(item)));
            let parts = |item: &str| self.code.file_has_item(file, &item.split("::").collect::<Vec<_>>());
            return root().join(file).exists() && item.is_none_or(parts);
        }
        let parts: Vec<&str> = text.split("::").collect();
        match parts.split_first() {
            Some((first, rest)) if first.starts_with("orchestrion_") => {
                self.code.has_item(&first.replace('_', "-"), rest)
            }
            _ => self.code.has_item(KERNEL, &parts),
        }
    }

    /// Checks a command and the names of its subcommands, options and values. Words in capitals are placeholders.
    fn has_command(&self, command: &str) -> bool {
        let mut words = command.split(' ');
        let name = words.next().unwrap_or_default();
        let files = format!("simulator/src/cli/{name}");
        root().join(format!("{files}.rs")).is_file()
            && words.filter(|word| !word.bytes().all(|byte| byte.is_ascii_uppercase())).all(|word| match word
                .strip_prefix("--")
            {
                Some(option) => self.code.has_name(&files, &option.replace('-', "_")),
                None => self.code.has_name(&files, &camel_case(word)),
            })
    }

    fn has_id(&self, id: &str) -> bool {
        let mut pages = self.pages.iter().map(|(_, page)| page);
        match IdKind::of(id) {
            Some(IdKind::Row) => TRANSITIONS.iter().any(|row| row.id == id),
            Some(IdKind::Claim) => CLAIMS.iter().any(|claim| claim.id == id),
            Some(IdKind::Finding) => pages.any(|page| defines_finding(page, id)),
            Some(IdKind::Decision) => self.decisions.iter().any(|file| file.starts_with(&format!("{id}-"))),
            Some(IdKind::Clause) => pages.any(|page| page.contains(&format!("**{id}**"))),
            None => false,
        }
    }
}

/// Whether a page states a finding, not only a reference to it.
fn defines_finding(page: &str, id: &str) -> bool {
    let start = format!("  Finding {id}: ");
    page.lines().filter_map(|line| line.strip_prefix(&start)).any(|text| !text.starts_with("see "))
}

/// Whether a link relative to the pages has a file and its anchor.
fn has_link(link: &str) -> bool {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let path = root().join(CLAUSES).join(file);
    match anchor {
        None => path.exists(),
        Some(anchor) => {
            fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("<a id=\"{anchor}\">")))
        }
    }
}

/// Returns `some-name` as `SomeName`.
fn camel_case(name: &str) -> String {
    let capitalize = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + chars.as_str())
    };
    name.split('-').map(capitalize).collect()
}
