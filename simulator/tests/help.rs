//! `--help` of every command: terms, width and form.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

/// Returns the help text of a command, wrapped to 80 columns.
fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(arguments)
        .arg("--help")
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let entries = list.lines().take_while(|line| !line.is_empty());
    // Continuation lines of descriptions are indented further.
    let entries = entries.filter_map(|line| line.strip_prefix("  ").filter(|entry| !entry.starts_with(' ')));
    let names = entries.filter_map(|entry| entry.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns every command with its help text.
fn pages() -> Vec<(String, String)> {
    let program = help(&[]);
    let mut pages = Vec::new();
    for command in subcommands(&program) {
        let text = help(&[&command]);
        for subcommand in subcommands(&text) {
            pages.push((format!("{command} {subcommand}"), help(&[&command, &subcommand])));
        }
        pages.push((command, text));
    }
    pages.push((String::new(), program));
    pages
}

/// Returns the forbidden words of the glossary.
fn forbidden_words() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/glossary.md");
    let glossary = std::fs::read_to_string(path).unwrap();
    let (_, section) = glossary.split_once("\n## Forbidden words\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_lowercase).collect()
}

/// Whether the text contains the words, not as parts of longer words.
fn contains_words(text: &str, words: &str) -> bool {
    let is_boundary = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(start, _)| {
        is_boundary(text[..start].chars().next_back())
            && is_boundary(text[start + words.len()..].chars().next())
    })
}

#[test]
fn help_avoids_forbidden_words() {
    let words = forbidden_words();
    assert!(words.len() > 5, "{words:?}");
    for (command, text) in pages() {
        let text = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        for word in &words {
            assert!(!contains_words(&text, word), "orchestrion {command} --help contains {word:?}");
        }
    }
}

#[test]
fn help_fits_80_columns() {
    for (command, text) in pages() {
        let too_wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(too_wide, None, "orchestrion {command} --help");
    }
}

#[test]
fn help_has_imperative_summary_and_example() {
    const VERBS: [&str; 24] = [
        "Check", "Compare", "Compute", "Continue", "Convert", "Create", "Erase", "Explain", "Find", "Lint",
        "Measure", "Merge", "Move", "Print", "Read", "Replace", "Replay", "Rotate", "Run", "Select", "Show",
        "Solve", "Verify", "Write",
    ];
    for (command, text) in pages() {
        let summary = text.lines().next().unwrap();
        let verb = summary.split([' ', ',']).next().unwrap();
        assert!(VERBS.contains(&verb), "orchestrion {command} --help: {summary}");
        assert!(text.contains("\nExamples:\n  orchestrion"), "orchestrion {command} --help has no example");
    }
}

#[test]
fn renamed_flags_are_refused_with_their_new_names() {
    for (arguments, hint) in [
        (&["check", "--states", "5"][..], "use --max-states"),
        (&["check", "--machine", "a.md"], "use the command `orchestrion lint FILE`"),
        (&["run", "--out", "a"], "use --out-dir"),
        (&["context", "solve", "a.json", "--nodes", "1"], "use --max-nodes"),
        (&["promote", "a", "b", "--as", "debate"], "use --from"),
        (&["promote", "a", "b", "--to", "c"], "use --scenario-dir"),
        (&["export", "tla", "--to", "c"], "use --output"),
        (&["show", "a", "--at", "3"], "use --step"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion")).args(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(error.contains(hint), "{arguments:?}: {error}");
    }
}
