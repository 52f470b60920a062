//! Sources and pages avoid the words that `specs/glossary.md` forbids. The command's own tests check `--help`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_tests::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files that contain text of others, or the list itself.
const EXEMPT: [&str; 5] = [
    "specs/glossary.md",
    "tests/fuzz/corpus",
    "tests/fuzz/target",
    "tests/regressions",
    "tests/tests/terms.rs",
];

#[test]
fn sources_and_pages_avoid_forbidden_words() {
    let root = root();
    let words = forbidden_words();
    assert!(words.len() > 5, "specs/glossary.md lists no forbidden words");
    let mut files = Vec::new();
    for folder in [".ci", "kernel", "model", "python", "simulator", "specs", "tests"] {
        collect_files(&root.join(folder), &mut files);
    }
    files.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "Cargo.toml", "deny.toml"]
            .map(|file| root.join(file)),
    );
    assert!(files.len() > 300, "found only {} files", files.len());
    let mut violations = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        if EXEMPT.iter().any(|exempt| name.starts_with(exempt)) {
            continue;
        }
        // A file that is no text has no words.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        violations.extend(
            find_words(&text, &words).into_iter().map(|(line, word)| format!("{name}:{line}: {word}")),
        );
    }
    assert!(violations.is_empty(), "{} forbidden words:\n{}", violations.len(), violations.join("\n"));
}

#[test]
fn word_search_finds_words_and_phrases() {
    let words = ["told", "by lot"].map(str::to_owned);
    let found = |text: &str| find_words(text, &words);
    assert_eq!(found("as Told,\nuntold stories"), [(1, "told".to_owned())]);
    assert_eq!(found("// drawn by\n// lot"), [(1, "by lot".to_owned())]);
    assert_eq!(found("is_told"), [(1, "told".to_owned())]);
    assert!(found("> a source told it").is_empty());
}

fn forbidden_words() -> Vec<String> {
    let glossary = fs::read_to_string(root().join("specs/glossary.md")).unwrap();
    let (_, list) = glossary.split_once("## Forbidden words").unwrap();
    list.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

/// The words in a text, each with its line number from 1. A phrase may continue on the next line. A line that quotes a
/// source document (`>`) is exempt.
fn find_words(text: &str, words: &[String]) -> Vec<(usize, String)> {
    let lines: Vec<String> = text.lines().map(plain_line).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", String::as_str);
        let both = format!("{line} {next}");
        for word in words {
            let starts_here = contains_word(line, word)
                || word.contains(' ') && contains_word(&both, word) && !contains_word(next, word);
            if starts_here {
                found.push((index + 1, word.clone()));
            }
        }
    }
    found
}

fn plain_line(line: &str) -> String {
    let line = line.trim_start();
    if line.starts_with('>') {
        return String::new();
    }
    line.trim_start_matches(['/', '!', '#', '*']).trim().to_lowercase()
}

/// Whether the text contains the word, with no letter beside it. An underscore separates words of an identifier.
fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let is_free = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
        is_free(text[..start].chars().next_back()) && is_free(text[start + word.len()..].chars().next())
    })
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // Caches of other tools are hidden.
            let is_source =
                |name: &std::ffi::OsStr| name != "target" && !name.as_encoded_bytes().starts_with(b".");
            if path.file_name().is_some_and(is_source) {
                collect_files(&path, files);
            }
        } else {
            files.push(path);
        }
    }
}
