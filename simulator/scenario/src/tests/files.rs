//! Tests of errors that concern a whole file.

use super::{FULL, HEAD, parse, render};
use crate::{Scenario, read};
use miette::Diagnostic as _;
use orchestrion_kernel::Policy;
use orchestrion_yaml::{FILE_BYTES_MAX, render_error};
use std::path::Path;

#[test]
fn invalid_utf8_has_a_position() {
    let mut bytes = HEAD.as_bytes().to_vec();
    bytes.extend(b"policy: hard\xffened\n");
    let error = orchestrion_yaml::Source::from_bytes("case.yaml", bytes).unwrap_err();
    insta::assert_snapshot!(render_error(&error), @r#"
     × invalid encoding: expected UTF-8 text, found other bytes at byte 78
      ╭─[case.yaml:5:13]
    4 │   - text: Add encryption
    5 │ policy: hard�ened
      ·             ┬
      ·             ╰── not UTF-8 from here
      ╰────
     help: save the file as UTF-8
    "#);
}

#[test]
fn places_after_wide_characters_are_exact() {
    let wide = "description: 🔑 é\nuser: ada\r\nrequests:\n  - text: 日本, colour: red\n";
    insta::assert_snapshot!(render(wide), @r#"
     × mapping values are not allowed in this context
      ╭─[case.yaml:4:25]
    3 │ requests:
    4 │   - text: 日本, colour: red
      ·                       ──┬──
      ·                         ╰── here
      ╰────
     help: check the indentation, the quotes and the brackets here
    "#);
    // A YAML syntax error has only a line and a column.
    insta::assert_snapshot!(render("description: {🔑: é, 日本: [x}\n"), @r"
     × mismatched bracket '[' closed by '}'
      ╭─[case.yaml:1:33]
    1 │ description: {🔑: é, 日本: [x}
      ·                            ─┬─
      ·                             ╰── here
      ╰────
     help: check the indentation, the quotes and the brackets here
    ");
}

#[test]
fn control_characters_are_not_rendered() {
    let text = render("description: \"a\u{1b}[31mred\u{85}\"\nuser: 3\u{0}\n");
    assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
    let escaped = render(&format!("{HEAD}modules: {{tasks: {{\"\\e[31m\": stored}}}}\n"));
    assert!(!escaped.contains('\u{1b}'), "{escaped:?}");
}

#[test]
fn file_size_is_limited_to_one_mebibyte() {
    let fill = |size: usize| format!("{HEAD}#{}", "x".repeat(size - HEAD.len() - 1));
    assert!(parse(&fill(FILE_BYTES_MAX)).is_ok());
    insta::assert_snapshot!(render(&fill(FILE_BYTES_MAX + 1)), @r#"
    × case.yaml: file too large: expected at most 1048576 bytes (1 MiB), found more
    help: split it into several files
    "#);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.yaml");
    std::fs::write(&path, fill(FILE_BYTES_MAX + 1)).unwrap();
    let error = Scenario::read(&path).unwrap_err();
    assert!(error.to_string().contains("expected at most 1048576 bytes"), "{error}");
}

#[test]
fn missing_file_is_reported() {
    let error = Scenario::read(Path::new("nowhere.yaml")).unwrap_err();
    assert!(error.to_string().starts_with("nowhere.yaml: unreadable file: "), "{error}");
    assert!(error.help().is_some());
    // Errors must be `Send` for `miette::Report`.
    let _ = miette::Report::new(error);
    assert!(Scenario::read(Path::new(".")).is_err());
}

#[test]
fn no_input_panics() {
    for nested in [
        "[",
        "{a: ",
        "- ",
        "? ",
        "  - a: ",
        "!x ",
        "&a ",
        "cases: [{reply: ",
        "{cases: [{reply: ",
        "{after: {",
        "random: {from: [{reply: {",
    ] {
        let _ = parse(&nested.repeat(50_000));
        let _ = parse(&format!("{HEAD}modules: {{critic: {}", nested.repeat(50_000)));
    }
    // Each prefix of a file, and each file with one changed byte. The fuzz target `scenario` changes several.
    let small: String =
        FULL.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    for end in (0..small.len()).filter(|end| small.is_char_boundary(*end)) {
        let _ = parse(&small[..end]).map_err(|error| render_error(&error));
    }
    for place in 0..small.len() {
        for byte in b"[{:-#'\"\n\t *&!|3\x00\xc3".iter().copied().skip(place % 8).step_by(8) {
            let mut bytes = small.as_bytes().to_vec();
            bytes[place] = byte;
            if let Err(error) = orchestrion_yaml::Source::from_bytes("case.yaml", bytes)
                .and_then(|source| read::read_scenario(source, Path::new(""), &Policy::hardened()))
            {
                let _ = render_error(&error);
            }
        }
    }
}

#[test]
fn policy_replaces_that_of_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.yaml");
    std::fs::write(&path, format!("{HEAD}policy: absent.yaml\n")).unwrap();
    assert!(Scenario::read(&path).is_err());
    assert_eq!(Scenario::read_under(&path, Policy::as_drawn()).unwrap().policy, Policy::as_drawn());
    // The path of a network is relative to the scenario.
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/networks/invoices.yaml");
    let network = format!("orchestrator: desk\n{}", std::fs::read_to_string(network).unwrap());
    std::fs::write(folder.path().join("network.yaml"), network).unwrap();
    std::fs::write(&path, format!("{HEAD}network: network.yaml\n")).unwrap();
    let scenario = Scenario::read_under(&path, Policy::hardened()).unwrap();
    assert!(scenario.network.is_some());
    assert_eq!(scenario.network, Scenario::read(&path).unwrap().network);
}
