//! Parsing of tables and diagrams, diagnostics, and error messages.

use super::*;
use crate::parse::common::{FILE_LINES_MAX, PARTS_MAX};
use crate::{Machine, StateKind, lint};
use orchestrion_kernel::Policy;
use orchestrion_report::pages;
use orchestrion_yaml::render_error;

fn spec(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/machines").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the only machine in a text.
fn parse_one(name: &str, text: &str) -> ParsedMachine {
    let read = parse(name, text).unwrap_or_else(|error| panic!("{}", render_error(&error)));
    let [one] = &read[..] else { panic!("{} machines", read.len()) };
    one.clone()
}

/// Returns the diagnostics of a machine as `rule line: message`, errors with a `!`.
fn diagnostics(read: &ParsedMachine) -> Vec<String> {
    let results = lint(&read.machine);
    let lines = results.iter().flat_map(|result| {
        result.diagnostics.iter().map(move |diagnostic| {
            let mark = if result.is_failure && !diagnostic.is_doubt { "!" } else { "" };
            format!("{}{mark} {}: {}", result.rule.name, diagnostic.locations[0].line, diagnostic.message)
        })
    });
    lines.collect()
}

/// Returns the edges of a machine as `A → B label`.
fn edges(read: &ParsedMachine) -> Vec<String> {
    let Machine { states, edges, .. } = &read.machine;
    let lines = edges.iter().map(|edge| {
        let label = edge.trigger.as_ref().map_or_else(String::new, |label| format!(" {label}"));
        format!("{} → {}{label}", states[edge.from].name, states[edge.to].name)
    });
    lines.collect()
}

/// Names of one form are all similar. Their pairs are bounded, and many unfinished states are no typos.
#[test]
fn similar_names_of_many_states_are_bounded() {
    let found = |count: u8| {
        let name = |i: u8| format!("stage{}{}", char::from(b'a' + i % 26), char::from(b'a' + i / 26));
        let edges: String = (0..count).map(|i| format!("start --> {}\n", name(i))).collect();
        let parsed = parse_one("m.mmd", &format!("stateDiagram-v2\n[*] --> start\n{edges}"));
        let results = lint(&parsed.machine);
        results.iter().find(|result| result.rule.name == "similar-names").unwrap().diagnostics.len()
    };
    assert_eq!((found(2), found(30), found(60)), (1, 100, 0));
}

#[test]
fn too_large_machines_are_refused() {
    let chain: String = (0..PARTS_MAX).map(|i| format!("s{i} --> s{}\n", i + 1)).collect();
    let error = parse("chain.mmd", &format!("stateDiagram-v2\n[*] --> s0\n{chain}")).unwrap_err();
    assert!(error.to_string().contains("expected at most 1000 lines of a diagram"), "{error}");
    let many = "```mermaid\nstateDiagram-v2\n[*] --> s0\n```\n".repeat(FILE_LINES_MAX + 1);
    assert!(parse("many.md", &many).is_err());
    let from = vec!["A"; PARTS_MAX].join(", ");
    let table = format!("start: A\nstates: {{A: automatic}}\nrows: [{{from: [{from}], to: A}}]\n");
    let error = parse("table.yaml", &table).unwrap_err();
    assert!(error.to_string().contains("expected at most 1000 states and edges, found 1001"), "{error}");
}

#[test]
fn defects_of_004_are_found_in_diagram() {
    let found = diagnostics(&parse_one("004.mmd", &spec("004.mmd")));
    let [identity, rollback, stuck, no_error, repair, no_restart] = &found[..] else { panic!("{found:#?}") };
    // F17: literally, only an identity mismatch continues.
    assert_eq!(
        identity,
        "dead-end! 6: dead end: `IdentityVerified` has no outgoing edge; `Idle` has an edge to `LoadingContext` (line 9), \
         but UML takes it only after `Idle` has ended by `VerifyingIdentity --> [*] : Identity Mismatch (Halt)` (line 7)"
    );
    // F2
    assert!(
        rollback.starts_with("dead-end! 40: dead end: `[*] of SandboxedExecution` has no outgoing edge"),
        "{rollback}"
    );
    assert!(
        stuck.starts_with(
            "no-path-to-final! 39: no path to a final state: `RollbackActive` can only reach the dead end"
        ),
        "{stuck}"
    );
    // F14
    assert!(
        no_error.starts_with("no-error-edge 6: no error edge: `IdentityVerified`, `LoadingContext`, "),
        "{no_error}"
    );
    assert!(
        !no_error.contains("`SelfHealingActive`") && !no_error.contains("`VerifyingIdentity`"),
        "{no_error}"
    );
    // F3; the debate, whose rounds are limited, is not among them.
    assert!(
        repair.ends_with("RunningTasks → AssertingOutcomes → Failure → SelfHealingActive → RunningTasks"),
        "{repair}"
    );
    // F16
    assert!(no_restart.starts_with("no-restart 45: no restart: a run ends at `[*]`"), "{no_restart}");
}

#[test]
fn exported_diagrams_satisfy_every_rule() {
    for all in [false, true] {
        let read = parse_one("own.mmd", &pages::mermaid(&Policy::hardened(), all));
        let failures: Vec<String> =
            diagnostics(&read).into_iter().filter(|found| found.contains('!')).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }
    let page = parse("diagram.md", &pages::diagram()).unwrap();
    assert_eq!(page.len(), 2);
    let dead_end = "dead-end! ";
    assert_eq!(
        diagnostics(&page[1]).iter().filter(|found| found.starts_with(dead_end)).count(),
        3,
        "{:#?}",
        diagnostics(&page[1])
    );
}

#[test]
fn table_defects_are_reported() {
    assert_eq!(diagnostics(&parse_one("orders.yaml", &spec("orders.yaml"))), [""; 0]);
    assert_eq!(
        diagnostics(&parse_one("agent.yaml", &spec("agent.yaml"))),
        [
            "unreachable-state! 13: unreachable state: `Approving` has no incoming edge",
            "dead-end! 12: dead end: `Escalated` has no outgoing edge",
            "ambiguous-edges! 21: ambiguous edges: `CallingTool` leads on `failed` to `Reflecting` and `Escalated`",
            "ambiguous-edges 16: possibly ambiguous edges: `Thinking` leads on `reply` to `CallingTool` when `it calls a tool` \
             and `Idle` when `it is final`, and more than one guard may hold",
            "no-error-edge! 9: no error edge: `CallingTool` has no edge for `timed_out`",
            "unbounded-loop! 8: unbounded loop: no edge limits Thinking → CallingTool → Reflecting → Thinking",
            "no-default-edge 16: no default edge: `Thinking` continues on `reply` only when `it calls a tool` or `it is final`",
            "duplicate-edge 25: duplicate edge: the edge from `Summarizing` to `Idle` occurs more than once",
        ]
    );
}

#[test]
fn nested_states_are_flattened() {
    let text = "stateDiagram\n[*] --> Outer\nstate Outer {\n[*] --> Inner\nstate Inner {\n[*] --> a\na --> b : go\nb --> [*] : done\n}\n\
                Inner --> [*]\n}\nOuter --> [*]\nOuter2 --> a\nstate Outer2 {\nx --> y\n}\nOuter2 --> Outer : back\n\
                y --> a : back\n";
    let read = parse_one("nested.mmd", text);
    assert_eq!(
        read.machine.starts.iter().map(|start| &read.machine.states[*start].name).collect::<Vec<_>>(),
        ["a"]
    );
    assert_eq!(
        edges(&read),
        [
            "a → b go",
            "b → [*] of Inner done",
            "[*] of Inner → [*] of Outer",
            "[*] of Outer → [*]",
            // The edges around states without a final state leave from each of them, unless the state overrides them.
            "y → a",
            "x → y",
            "x → a back",
            "y → a back",
        ]
    );
}

/// A diagram with two regions in `On`, each with a loop.
const REGIONS: &str = "stateDiagram-v2\n[*] --> On\nstate On {\n[*] --> A\nA --> B : up\nB --> A : down\n--\n[*] --> C\n\
                       C --> D : error\nD --> C : retry\n--\n}\n";

fn starts(read: &ParsedMachine) -> Vec<&str> {
    read.machine.starts.iter().map(|start| &read.machine.states[*start].name[..]).collect()
}

/// Returns the diagnostics of some rules.
fn diagnostics_of(read: &ParsedMachine, rules: &[&str]) -> Vec<String> {
    let is_of = |found: &String| rules.iter().any(|rule| found.starts_with(rule));
    diagnostics(read).into_iter().filter(is_of).collect()
}

#[test]
fn start_of_region_is_no_start_of_diagram() {
    let read = parse_one("regions.mmd", REGIONS);
    assert_eq!(starts(&read), ["On"]);
    assert_eq!(edges(&read), ["A → B up", "B → A down", "C → D error", "D → C retry", "On → A", "On → C"]);
    // A cycle in a region is no new run. The run may rest where it begins: in A and C.
    assert_eq!(
        diagnostics_of(&read, &["unbounded-loop", "no-path", "unreachable", "ambiguous"]),
        [
            "unbounded-loop 4: unbounded loop: no edge limits A → B → A",
            "unbounded-loop 8: unbounded loop: no edge limits C → D → C",
        ]
    );
    // An edge inside of a region is no new run; one to the whole state is.
    let ends = format!("{REGIONS}On --> Off : off\nOff --> [*] : drop\n");
    let no_restart = "no-restart 14: no restart: a run ends at `[*]`, and no edge leads to `On`";
    assert_eq!(diagnostics_of(&parse_one("ends.mmd", &ends), &["no-restart"]), [no_restart]);
    let restarts = format!("{ends}Off --> On : on\n");
    assert_eq!(diagnostics_of(&parse_one("ends.mmd", &restarts), &["no-restart", "ambiguous"]), [""; 0]);
}

#[test]
fn regions_of_diagram_start_together() {
    let text = "stateDiagram-v2\n[*] --> A\nA --> B : up\nB --> A : down\nB --> [*] : stop\n--\n[*] --> C\nC --> D : x\n\
                D --> C : y\n";
    let read = parse_one("regions.mmd", text);
    assert_eq!(starts(&read), ["[*] start"]);
    assert_eq!(
        diagnostics_of(&read, &["unbounded-loop", "no-path", "unreachable", "ambiguous", "no-restart"]),
        [
            "no-path-to-final! 7: no path to a final state: `C` and `D` can only repeat a cycle",
            "unbounded-loop 2: unbounded loop: no edge limits A → B → A",
            "unbounded-loop 7: unbounded loop: no edge limits C → D → C",
            "no-restart 5: no restart: a run ends at `[*]`, and no edge leads to `[*] start`",
        ]
    );
    // Without regions, a run begins in one of the two states.
    let one = parse_one("one.mmd", &text.replace("--\n", ""));
    assert_eq!(starts(&one), ["A", "C"]);
}

#[test]
fn region_without_initial_state_begins_with_first() {
    let text = "stateDiagram-v2\n[*] --> Off\nOff --> On : on\nstate On {\nA --> B\n--\nstate In {\n[*] --> C\n--\n[*] --> D\n}\n}\n\
                On --> Off : off\n";
    let read = parse_one("regions.mmd", text);
    assert_eq!(starts(&read), ["Off"]);
    assert_eq!(
        edges(&read),
        [
            "Off → On on",
            "A → B",
            "A → Off off",
            "B → Off off",
            "C → Off off",
            "D → Off off",
            "On → A",
            "On → In",
            "In → C",
            "In → D"
        ]
    );
    assert_eq!(diagnostics_of(&read, &["unreachable", "ambiguous", "dead-end", "unbounded-loop"]), [""; 0]);
}

#[test]
fn diagram_syntax_is_parsed() {
    let text = "# A page\n\nSome words.\n\n```mermaid\n%%{init: {}}%%\nstateDiagram-v2\n    direction LR\n    %% a comment: A --> B\n    \
                accTitle: a title\n    accDescr {\n    several lines --> here\n    }\n    classDef bad fill:#f00\n    \
                state \"Being paid\" as Paying\n    state fork <<fork>>\n    state Enough <<choice>>\n    [*] --> Still\n    Still : nothing --> moves\n    \
                Still --> Paying:::bad : pay [now]: at once\n    note right of Still : A --> B\n    note left of Paying\n        Still --> Gone\n    \
                end note\n    Paying --> Enough\n    Enough --> fork : yes\n    Enough-->Still:no\n    fork --> Left\n    fork --> Right\n    \
                Left --> [*]\n    Right --> [*]\n    class Still bad\n    --\n```\n\n| a table | --> |\n";
    let read = parse_one("page.md", text);
    assert_eq!(read.lines, (7, 33));
    assert_eq!(
        edges(&read),
        [
            "Still → Paying pay [now]: at once",
            "Paying → Enough",
            "Enough → fork yes",
            "Enough → Still no",
            "fork → Left",
            "fork → Right",
            "Left → [*]",
            "Right → [*]",
        ]
    );
    let kind = |name: &str| read.machine.states.iter().find(|state| state.name == name).unwrap().kind;
    assert_eq!(
        [kind("fork"), kind("Enough"), kind("Paying"), kind("[*]")],
        [StateKind::Fork, StateKind::Automatic, StateKind::Waiting, StateKind::Final]
    );
    let windows = parse_one("page.md", &text.replace('\n', "\r\n"));
    assert_eq!(edges(&windows), edges(&read));
}

#[test]
fn unfenced_diagram_ends_at_page_text() {
    let read = parse_one(
        "page.md",
        "Words.\nmermaid\nstateDiagram-v2\n[*] --> A\nA --> [*] : done📊 More\n| a | b |\n|---|---|\nmore --- words\n",
    );
    assert_eq!((read.lines, edges(&read)), ((3, 5), vec!["A → [*] done📊 More".to_string()]));
}

fn rendered_error(name: &str, text: &str) -> String {
    match parse(name, text) {
        Ok(read) => panic!("expected an error for {text:?}, found {read:?}"),
        Err(error) => render_error(&error),
    }
}

#[test]
fn diagram_errors_are_rendered() {
    let body = |line: &str| format!("stateDiagram-v2\n    [*] --> A\n    {line}\n");
    let mistakes = [
        body("A -> B : go"),
        body("A => B"),
        body("A --> B C"),
        body("A B --> C"),
        body("A --> "),
        body("A --> B{"),
        body("direcion LR"),
        body("direction XY"),
        body("state \"Being paid\" Paying"),
        body("state C <<chioce>>"),
        body("state C { A --> B }"),
        body("state C {"),
        body("state C {\n    state C {\n    }\n    }"),
        body("}"),
        body("note A"),
        body("note right of A\n    never ended"),
        "stateDiagram-v2\n    A --> B\n".to_string(),
        "stateDiagram-v2\n    [*] --> A\nstateDiagram-v2\n".to_string(),
        "```mermaid\nstateDiagramm-v2\n[*] --> A\n```\n".to_string(),
    ];
    let rendered: Vec<String> = mistakes.iter().map(|text| rendered_error("drawing.md", text)).collect();
    for (mistake, message) in mistakes.iter().zip(&rendered) {
        for part in ["[drawing.md:", "help: "] {
            assert!(message.contains(part), "{mistake:?}: expected {part:?}, found:\n{message}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(rendered.join("\n")) });
}

#[test]
fn table_errors_are_rendered() {
    let table = |rows: &str| {
        format!("start: A\nerrors: [failed]\nstates:\n  A: idle\n  B: waiting\n  Z: final\nrows:\n{rows}\n")
    };
    let row = "  - {from: A, on: go, to: B}\n  - {from: B, on: failed, to: A}\n";
    let mistakes = [
        table("  - {from: A, on: go, to: C}"),
        table("  - {from: [A, BB], on: go, to: A}"),
        table("  - {from: [], on: go, to: A}"),
        table("  - {from: A, on: go, too: B}"),
        table("  - {from: A, on: go, to: B, at_most: often}"),
        table("  - {from: Z, on: go, to: B}"),
        table(row).replace("waiting", "wating"),
        table(row).replace("start: A", "start: a"),
        table(row).replace("  Z: final", "  A: final"),
        table(row).replace("[failed]", "[faild]"),
        table(row).replace("start: A\n", ""),
        table(row).replace("on: go", "on: true"),
    ];
    let rendered: Vec<String> = mistakes.iter().map(|text| rendered_error("table.yaml", text)).collect();
    for (mistake, message) in mistakes.iter().zip(&rendered) {
        for part in ["[table.yaml:", "help: "] {
            assert!(message.contains(part), "{mistake:?}: expected {part:?}, found:\n{message}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(rendered.join("\n")) });
}

#[test]
fn schema_accepts_exactly_valid_machines() {
    let schema = jsonschema::validator_for(&machine_schema()).unwrap();
    let right = serde_json::json!({
        "name": "m", "start": "A", "errors": ["failed"], "states": {"A": "idle", "B": "waiting"},
        "rows": [{"from": ["A"], "on": "go", "when": "x", "to": "B", "at_most": 2}, {"from": "B", "to": "A"}],
    });
    assert!(schema.is_valid(&right));
    assert!(parse("right.json", &right.to_string()).is_ok());
    for (key, wrong) in [
        ("states", serde_json::json!({"A": "asleep"})),
        ("rows", serde_json::json!([{"from": "A"}])),
        ("rows", serde_json::json!([{"from": [], "to": "A"}])),
        ("errors", serde_json::json!([])),
        ("colour", serde_json::json!("red")),
    ] {
        let mut file = right.clone();
        file[key] = wrong;
        assert!(!schema.is_valid(&file), "{file}");
        assert!(parse("wrong.json", &file.to_string()).is_err() || key == "errors", "{file}");
    }
}
