//! Parsing of tables and diagrams, diagnostics, and error messages.

use super::*;
use crate::{StateKind, lint};
use orchestrion_kernel::Policy;
use orchestrion_report::pages;
use orchestrion_yaml::render_error;

fn spec(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/machines").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the only machine in a text.
fn one(name: &str, text: &str) -> ParsedMachine {
    let read = parse(name, text).unwrap_or_else(|error| panic!("{}", render_error(&error)));
    let [one] = &read[..] else { panic!("{} machines", read.len()) };
    one.clone()
}

/// Returns the diagnostics of a machine as `rule line: message`, errors with a `!`.
fn found(read: &ParsedMachine) -> Vec<String> {
    let answers = lint(&read.machine);
    let told = answers.iter().flat_map(|answer| {
        let mark = if answer.is_failure { "!" } else { "" };
        answer.findings.iter().map(move |found| {
            format!("{}{mark} {}: {}", answer.question.name, found.places[0].line, found.message)
        })
    });
    told.collect()
}

/// Returns the edges of a machine as `A → B label`.
fn edges(read: &ParsedMachine) -> Vec<String> {
    let Machine { states, edges, .. } = &read.machine;
    let told = edges.iter().map(|edge| {
        let label = edge.trigger.as_ref().map_or_else(String::new, |label| format!(" {label}"));
        format!("{} → {}{label}", states[edge.from].name, states[edge.to].name)
    });
    told.collect()
}

#[test]
fn defects_of_004_are_found_in_diagram() {
    let found = found(&one("004.mmd", &spec("004.mmd")));
    let [identity, rollback, stuck, silent, repair, over] = &found[..] else { panic!("{found:#?}") };
    // F17: literally, only an identity mismatch continues.
    assert_eq!(
        identity,
        "leads-on! 6: nothing leads on from `IdentityVerified`; `Idle` has an edge on to `LoadingContext` (line 9), but by \
         the letter of UML that is taken once `Idle` has ended, that is after `VerifyingIdentity --> [*] : Identity Mismatch \
         (Halt)` (line 7)"
    );
    // F2
    assert!(
        rollback.starts_with("leads-on! 40: nothing leads on from `[*] of SandboxedExecution`"),
        "{rollback}"
    );
    assert!(
        stuck.starts_with("ends! 39: `RollbackActive` can only come to `[*] of SandboxedExecution`"),
        "{stuck}"
    );
    // F14
    assert!(silent.starts_with("no-answer 6: `IdentityVerified`, `LoadingContext`, "), "{silent}");
    assert!(!silent.contains("`SelfHealingActive`") && !silent.contains("`VerifyingIdentity`"), "{silent}");
    // F3; the debate, whose rounds are limited, is not among them.
    assert!(
        repair.ends_with("RunningTasks → AssertingOutcomes → Failure → SelfHealingActive → RunningTasks"),
        "{repair}"
    );
    // F16
    assert!(over.starts_with("again 45: a run is over at `[*]`"), "{over}");
}

#[test]
fn our_own_drawings_are_read_and_hold() {
    for all in [false, true] {
        let read = one("own.mmd", &pages::mermaid(&Policy::hardened(), all));
        let failures: Vec<String> = found(&read).into_iter().filter(|found| found.contains('!')).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }
    let page = parse("diagram.md", &pages::diagram()).unwrap();
    assert_eq!(page.len(), 2);
    let dead = "leads-on! ";
    assert_eq!(
        found(&page[1]).iter().filter(|found| found.starts_with(dead)).count(),
        3,
        "{:#?}",
        found(&page[1])
    );
}

#[test]
fn table_defects_are_reported() {
    assert_eq!(found(&one("orders.yaml", &spec("orders.yaml"))), [""; 0]);
    assert_eq!(
        found(&one("agent.yaml", &spec("agent.yaml"))),
        [
            "reached! 13: no edge leads to `Approving`",
            "leads-on! 12: nothing leads on from `Escalated`",
            "one-way! 21: `CallingTool` leads on `failed` to `Reflecting` and `Escalated`",
            "no-answer! 9: `CallingTool` has no edge for `timed_out`",
            "bounded! 8: no limit is named on the loop Thinking → CallingTool → Reflecting → Thinking",
            "otherwise 16: `Thinking` goes on on `answer` only when `it calls a tool` or `it is final`",
            "once 25: the edge from `Summarizing` to `Idle` is there more than once",
        ]
    );
}

#[test]
fn states_inside_states_are_made_flat() {
    let text = "stateDiagram\n[*] --> Outer\nstate Outer {\n[*] --> Inner\nstate Inner {\n[*] --> a\na --> b : go\nb --> [*] : done\n}\n\
                Inner --> [*]\n}\nOuter --> [*]\nOuter2 --> a\nstate Outer2 {\nx --> y\n}\nOuter2 --> Outer : back\n\
                y --> a : back\n";
    let read = one("nested.mmd", text);
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

#[test]
fn diagram_syntax_is_parsed() {
    let text = "# A page\n\nSome words.\n\n```mermaid\n%%{init: {}}%%\nstateDiagram-v2\n    direction LR\n    %% a comment: A --> B\n    \
                accTitle: a title\n    accDescr {\n    several lines --> here\n    }\n    classDef bad fill:#f00\n    \
                state \"Being paid\" as Paying\n    state fork <<fork>>\n    state Enough <<choice>>\n    [*] --> Still\n    Still : nothing --> moves\n    \
                Still --> Paying:::bad : pay [now]: at once\n    note right of Still : A --> B\n    note left of Paying\n        Still --> Gone\n    \
                end note\n    Paying --> Enough\n    Enough --> fork : yes\n    Enough-->Still:no\n    fork --> Left\n    fork --> Right\n    \
                Left --> [*]\n    Right --> [*]\n    class Still bad\n    --\n```\n\n| a table | --> |\n";
    let read = one("page.md", text);
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
    let windows = one("page.md", &text.replace('\n', "\r\n"));
    assert_eq!(edges(&windows), edges(&read));
}

#[test]
fn unfenced_diagram_ends_at_page_text() {
    let read = one(
        "page.md",
        "Words.\nmermaid\nstateDiagram-v2\n[*] --> A\nA --> [*] : done📊 More\n| a | b |\n|---|---|\nmore --- words\n",
    );
    assert_eq!((read.lines, edges(&read)), ((3, 5), vec!["A → [*] done📊 More".to_string()]));
}

fn drawn(name: &str, text: &str) -> String {
    match parse(name, text) {
        Ok(read) => panic!("{text:?} was read: {read:?}"),
        Err(error) => render_error(&error),
    }
}

#[test]
fn mistakes_in_drawings_are_drawn_where_they_are() {
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
    let drawn: Vec<String> = mistakes.iter().map(|text| drawn("drawing.md", text)).collect();
    for (mistake, drawn) in mistakes.iter().zip(&drawn) {
        for part in ["[drawing.md:", "help: "] {
            assert!(drawn.contains(part), "{mistake:?} is drawn without {part:?}:\n{drawn}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(drawn.join("\n")) });
}

#[test]
fn mistakes_in_tables_are_drawn_where_they_are() {
    let table = |rows: &str| {
        format!("start: A\nerrors: [failed]\nstates:\n  A: rests\n  B: waits\n  Z: ends\nrows:\n{rows}\n")
    };
    let row = "  - {from: A, on: go, to: B}\n  - {from: B, on: failed, to: A}\n";
    let mistakes = [
        table("  - {from: A, on: go, to: C}"),
        table("  - {from: [A, BB], on: go, to: A}"),
        table("  - {from: [], on: go, to: A}"),
        table("  - {from: A, on: go, too: B}"),
        table("  - {from: A, on: go, to: B, at_most: often}"),
        table("  - {from: Z, on: go, to: B}"),
        table(row).replace("waits", "wait"),
        table(row).replace("start: A", "start: a"),
        table(row).replace("  Z: ends", "  A: ends"),
        table(row).replace("[failed]", "[faild]"),
        table(row).replace("start: A\n", ""),
        table(row).replace("on: go", "on: true"),
    ];
    let drawn: Vec<String> = mistakes.iter().map(|text| drawn("table.yaml", text)).collect();
    for (mistake, drawn) in mistakes.iter().zip(&drawn) {
        for part in ["[table.yaml:", "help: "] {
            assert!(drawn.contains(part), "{mistake:?} is drawn without {part:?}:\n{drawn}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(drawn.join("\n")) });
}

#[test]
fn schema_accepts_exactly_valid_machines() {
    let schema = jsonschema::validator_for(&machine_schema()).unwrap();
    let right = serde_json::json!({
        "name": "m", "start": "A", "errors": ["failed"], "states": {"A": "rests", "B": "waits"},
        "rows": [{"from": ["A"], "on": "go", "when": "x", "to": "B", "at_most": 2}, {"from": "B", "to": "A"}],
    });
    assert!(schema.is_valid(&right));
    assert!(parse("right.json", &right.to_string()).is_ok());
    for (key, wrong) in [
        ("states", serde_json::json!({"A": "sleeps"})),
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
