//! Each format, read by a library that does not share code with its writer.

use super::*;
use serde_json::Value;

const HOSTILE: &str = "a,b: 100% %0A \"<&>]]>\u{1b}[31m\r\nnext\u{202e}line";

fn report() -> TestReport {
    let rule = Rule { id: "C-06".into(), requirement: HOSTILE.into() };
    let place = Location { file: "a b/ü,:%.yaml".to_owned(), line: Some(7), column: Some(3) };
    let error = Diagnostic::error(&rule, HOSTILE, place).with_help("do: this, 100%").at_step(6);
    let warning = Diagnostic::warning(&rules::HALTED, "halted", Location::of_file(Path::new("/abs/b.yaml")));
    let case = |name: &str, verdict, diagnostics| TestCase {
        suite: "run".to_owned(),
        name: name.to_owned(),
        verdict,
        diagnostics,
    };
    let cases = vec![
        case("passes", CaseVerdict::Passed, Vec::new()),
        case(HOSTILE, CaseVerdict::Failed, vec![error.clone(), error]),
        case("unreadable", CaseVerdict::Error, vec![warning.clone()]),
        case("cut off", CaseVerdict::Incomplete, vec![warning]),
        TestCase::skipped("other", "left out", &rules::CONTEXT, "not checked", Path::new("c.yaml")),
    ];
    TestReport::new("run", ExitStatus::Failure, cases)
}

fn written(write: impl Fn(&TestReport, &mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&report(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn junit_counts_each_verdict() {
    let xml = written(junit::write);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    let count = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("testsuite"), count("testcase")), (2, 5), "{xml}");
    assert_eq!((count("failure"), count("error"), count("skipped")), (1, 2, 1), "{xml}");
    let totals = ["tests", "failures", "errors", "skipped"].map(|name| root.attribute(name));
    // The writer counts as skipped only what its `skipped` element states.
    assert_eq!(totals, ["5", "1", "2", "1"].map(Some), "{xml}");
    let failure = root.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    let text = failure.text().unwrap();
    assert_eq!(text.matches("a b/ü,:%.yaml:7:3: C-06: a,b: 100% %0A \"<&>]]>").count(), 2, "{text}");
    assert!(text.contains("help: do: this, 100%"), "{text}");
    assert!(!xml.contains('\u{1b}'), "{xml}");
}

#[test]
fn sarif_follows_its_standard() {
    let text = written(sarif::write);
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
    let [run] = &log.runs[..] else { panic!("{text}") };
    let rules = run.tool.driver.rules.as_ref().unwrap();
    let results = run.results.as_ref().unwrap();
    assert_eq!((rules.len(), results.len()), (2, 4), "a skipped case has no result");
    for result in results {
        let index = usize::try_from(result.rule_index.unwrap()).unwrap();
        assert_eq!(Some(&rules[index].id), result.rule_id.as_ref());
    }
    // What the reader ignores: names that the standard does not have.
    let again: Value = serde_json::to_value(&log).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(&text).unwrap());
    let uris: Vec<&str> = ["0", "2"]
        .iter()
        .filter_map(|i| {
            again.pointer(&format!("/runs/0/results/{i}/locations/0/physicalLocation/artifactLocation/uri"))
        })
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(uris, ["a%20b/%C3%BC%2C%3A%25.yaml", "file:///abs/b.yaml"]);
    let message = results[0].message.text.as_deref().unwrap();
    assert_eq!(message, format!("{HOSTILE}\ndo: this, 100%"));
}

#[test]
fn annotations_are_one_line_each() {
    let text = written(github::write);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    let (properties, message) = lines[0].strip_prefix("::error ").unwrap().split_once("::").unwrap();
    let values: Vec<(&str, String)> = properties
        .split(',')
        .map(|property| property.split_once('=').unwrap())
        .map(|(name, value)| (name, unescape(value)))
        .collect();
    let expected = [("file", "a b/ü,:%.yaml"), ("line", "7"), ("col", "3"), ("title", "C-06")];
    assert_eq!(values, expected.map(|(name, value)| (name, value.to_owned())));
    let visible: Vec<String> = HOSTILE.split('\n').map(orchestrion_report::text::sanitize).collect();
    assert_eq!(unescape(message), format!("{}\ndo: this, 100%", visible.join("\n")));
    assert_eq!(lines[2], "::warning file=/abs/b.yaml,title=halted::halted");
}

#[test]
fn no_format_has_characters_that_affect_a_terminal() {
    for text in [written(json::write), written(sarif::write), written(junit::write), written(github::write)] {
        let found = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(found, None, "{text}");
    }
}

/// Decodes as the runner of GitHub Actions does.
fn unescape(text: &str) -> String {
    [("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")]
        .iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}

#[test]
fn json_fits_its_schema() {
    let text = written(json::write);
    let value: Value = serde_json::from_str(&text).unwrap();
    let schema = jsonschema::validator_for(&crate::cli::report_schemas::test()).unwrap();
    assert!(schema.is_valid(&value), "{text}");
    let mut other = value;
    other["cases"][0]["verdict"] = "ok".into();
    assert!(!schema.is_valid(&other));
}

#[test]
fn places_are_split_at_their_last_colon() {
    let split = |place| {
        let Location { file, line, .. } = Location::of_place(place);
        (file, line)
    };
    assert_eq!(split("c:/a.yaml:12"), ("c:/a.yaml".to_owned(), Some(12)));
    assert_eq!(split("c:/a.yaml"), ("c:/a.yaml".to_owned(), None));
}
