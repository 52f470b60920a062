//! The definitions in the sources, found by their form.
//!
//! rustfmt fixes the form: one item on a line, its members indented by four columns. A definition inside a function or in a module
//! `tests` is not indexed, nor is a module itself. Deliberately absent: name resolution; an item has the path of its file, not that
//! of a re-export.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The definitions of all crates.
#[derive(Debug, Default)]
pub struct CodeIndex {
    definitions: Vec<Definition>,
    /// The package names by folder.
    packages: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Definition {
    /// The file, from the root.
    file: String,
    /// Modules, owners and name.
    path: Vec<String>,
    /// The number of owners: 1 for a method, a field of a struct or a variant, 2 for a field of a variant.
    owners: usize,
}

/// A block that contains definitions.
struct Block {
    indent: usize,
    kind: BlockKind,
    name: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Module,
    /// A struct, or a variant with fields.
    Fields,
    Enum,
    Trait,
    Impl,
    /// A macro call, which defines types.
    MacroCall,
}

impl CodeIndex {
    /// Reads all sources below these folders of the root.
    #[must_use]
    pub fn read(root: &Path, folders: &[&str]) -> Self {
        let mut index = Self::default();
        for folder in folders {
            index.read_folder(root, folder);
        }
        index
    }

    fn read_folder(&mut self, root: &Path, folder: &str) {
        let mut entries: Vec<_> =
            fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap()).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let file = format!("{folder}/{name}");
            if entry.path().is_dir() {
                if name != "target" {
                    self.read_folder(root, &file);
                }
            } else if name == "Cargo.toml" {
                let text = fs::read_to_string(entry.path()).unwrap();
                let package = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
                self.packages.extend(package.map(|package| (folder.to_owned(), package.to_owned())));
            } else if name.ends_with(".rs") {
                self.add_file(&file, &fs::read_to_string(entry.path()).unwrap());
            }
        }
    }

    /// Adds the definitions of a file.
    pub fn add_file(&mut self, file: &str, text: &str) {
        let mut blocks: Vec<Block> = Vec::new();
        for line in text.lines() {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            // A line that starts with a brace or `where` continues the header of its block.
            if code.is_empty() || code.starts_with("//") || code.starts_with(['#', '{']) || code == "where" {
                continue;
            }
            while blocks.last().is_some_and(|block| indent <= block.indent) {
                blocks.pop();
            }
            if indent != blocks.last().map_or(0, |block| block.indent + 4) {
                continue;
            }
            let owner = blocks.last().map(|block| block.kind);
            let Some((name, opened)) = definition(code, owner) else { continue };
            // A function often has the name of its module, and would hide that the other is gone.
            if !matches!(opened, Some(BlockKind::Module | BlockKind::Impl | BlockKind::MacroCall)) {
                self.add(file, &blocks, name);
            }
            let is_open =
                !code.ends_with([';', '}', ',']) || opened == Some(BlockKind::Fields) && code.ends_with('{');
            if let Some(kind) = opened.filter(|_| is_open) {
                blocks.push(Block { indent, kind, name: name.to_owned() });
            }
        }
    }

    fn add(&mut self, file: &str, blocks: &[Block], name: &str) {
        if blocks.iter().any(|block| block.kind == BlockKind::Module && block.name == "tests") {
            return;
        }
        let module = file.trim_end_matches(".rs").rsplit_once("/src/").map_or("", |(_, module)| module);
        let modules = module.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
        let named = blocks.iter().filter(|block| block.kind != BlockKind::MacroCall);
        let owners = named.clone().filter(|block| block.kind != BlockKind::Module).count();
        let path = modules.chain(named.map(|block| block.name.clone())).chain([name.to_owned()]).collect();
        self.definitions.push(Definition { file: file.to_owned(), path, owners });
    }

    /// Whether a crate defines the item. A member needs the names of its owners; modules may precede them.
    #[must_use]
    pub fn has_item(&self, package: &str, parts: &[&str]) -> bool {
        self.definitions
            .iter()
            .any(|found| self.package(&found.file) == Some(package) && found.is_named(parts))
    }

    /// Whether a file defines the item.
    #[must_use]
    pub fn file_has_item(&self, file: &str, parts: &[&str]) -> bool {
        self.definitions.iter().any(|found| found.file == file && found.is_named(parts))
    }

    /// Whether a file whose path starts with `prefix` defines an item or a member of this name.
    #[must_use]
    pub fn has_name(&self, prefix: &str, name: &str) -> bool {
        self.definitions
            .iter()
            .any(|found| found.file.starts_with(prefix) && found.path.last().is_some_and(|last| last == name))
    }

    /// The package whose `src` folder contains the file.
    fn package(&self, file: &str) -> Option<&str> {
        let (folder, _) = file.split_once("/src/")?;
        self.packages.get(folder).map(String::as_str)
    }
}

impl Definition {
    fn is_named(&self, parts: &[&str]) -> bool {
        parts.len() > self.owners
            && self.path.len() >= parts.len()
            && self.path[self.path.len() - parts.len()..].iter().eq(parts)
    }
}

/// Returns the name that a line defines, and the kind of block that it can open.
fn definition(code: &str, owner: Option<BlockKind>) -> Option<(&str, Option<BlockKind>)> {
    match owner {
        Some(BlockKind::Fields) => field(code).map(|name| (name, None)),
        Some(BlockKind::Enum | BlockKind::MacroCall) => {
            variant(code).map(|name| (name, Some(BlockKind::Fields)))
        }
        None | Some(BlockKind::Module | BlockKind::Trait | BlockKind::Impl) => item(code),
    }
}

fn item(code: &str) -> Option<(&str, Option<BlockKind>)> {
    if let Some(header) = code.strip_prefix("unsafe ").unwrap_or(code).strip_prefix("impl") {
        return Some((implementing_type(header), Some(BlockKind::Impl)));
    }
    if let Some((name, "")) = code.split_once("! {") {
        return Some((identifier(name), Some(BlockKind::MacroCall)));
    }
    let mut code = without_visibility(code);
    while let Some(rest) = ["async ", "unsafe "].iter().find_map(|word| code.strip_prefix(word)) {
        code = rest;
    }
    code = code.strip_prefix("const ").filter(|rest| rest.starts_with("fn ")).unwrap_or(code);
    let (keyword, rest) = code.split_once(' ')?;
    let block = match keyword {
        "fn" | "type" | "const" | "static" | "macro_rules!" => None,
        "struct" => Some(BlockKind::Fields),
        "enum" => Some(BlockKind::Enum),
        "trait" => Some(BlockKind::Trait),
        "mod" => Some(BlockKind::Module),
        _ => return None,
    };
    let name = identifier(rest);
    (!name.is_empty()).then_some((name, block))
}

fn field(code: &str) -> Option<&str> {
    let code = without_visibility(code);
    let name = identifier(code);
    (!name.is_empty() && code[name.len()..].starts_with(':')).then_some(name)
}

fn variant(code: &str) -> Option<&str> {
    let name = identifier(code);
    let is_end = code[name.len()..].starts_with([',', '(', ' ']) || code.len() == name.len();
    (name.starts_with(|first: char| first.is_ascii_uppercase()) && is_end).then_some(name)
}

/// Returns the name of the type in the header of an `impl`, without the word.
fn implementing_type(header: &str) -> &str {
    let header =
        header.split_once(" for ").map_or_else(|| without_generics(header), |(_, implementing)| implementing);
    let path = header.trim_start_matches(['&', ' ']).split(['<', ' ', '{']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default()
}

/// Returns the text after a generic list at its start.
fn without_generics(header: &str) -> &str {
    let mut depth = 0;
    for (at, c) in header.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if c == '>' { &header[at + 1..] } else { header };
        }
    }
    header
}

fn without_visibility(code: &str) -> &str {
    let Some(rest) = code.strip_prefix("pub") else { return code };
    match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(") ").map_or(code, |(_, rest)| rest),
        None => rest.strip_prefix(' ').unwrap_or(code),
    }
}

fn identifier(code: &str) -> &str {
    let end = code.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(code.len());
    &code[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
pub enum Event {
    /// A variant with a field.
    Call {
        #[serde(default)]
        id: u64,
    },
    Done(u64),
    Idle,
}

impl<T> fmt::Display for Wrapper<T>
where
    T: Copy,
{
    fn fmt(&self) {
        const LOCAL: u8 = 1;
    }
}

pub(crate) struct Wrapper<T> {
    pub inner: T,
}

macro_rules! number {
    () => {};
}

number! {
    /// An id.
    ItemId(u64),
}

pub const fn first(
    event: u8,
) -> u8 {
    let kind = Kind { value: 1 };
    1
}

pub const LIMIT: usize = 3;

#[cfg(test)]
mod tests {
    fn only_in_tests() {}
}
";

    #[test]
    fn definitions_have_their_owners() {
        let mut index = CodeIndex::default();
        index.packages.insert("kernel".into(), "orchestrion-kernel".into());
        index.add_file("kernel/src/state/event.rs", SOURCE);
        let has = |path: &str| index.has_item("orchestrion-kernel", &path.split("::").collect::<Vec<_>>());
        for path in [
            "Event",
            "Event::Call",
            "Event::Call::id",
            "Event::Done",
            "Event::Idle",
            "Wrapper",
            "Wrapper::fmt",
            "Wrapper::inner",
            "number",
            "ItemId",
            "first",
            "event::first",
            "state::event::first",
            "LIMIT",
        ] {
            assert!(has(path), "{path} is missing");
        }
        for path in [
            "Call",
            "Call::id",
            "id",
            "Event::id",
            "Event::Missing",
            "fmt",
            "inner",
            "LOCAL",
            "Wrapper::LOCAL",
            "only_in_tests",
            "number::ItemId",
            "kind",
            "value",
            "Kind",
            "state::first",
            "Copy",
            "T",
        ] {
            assert!(!has(path), "{path} is indexed");
        }
        assert!(index.file_has_item("kernel/src/state/event.rs", &["first"]));
        assert!(!index.file_has_item("kernel/src/state.rs", &["first"]));
        assert!(!index.has_item("orchestrion-model", &["first"]));
    }
}
