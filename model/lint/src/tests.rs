//! One machine for each rule, with its diagnostics.

mod oracle;

use super::*;

/// Returns a machine from lines such as `A -> B : trigger | guard`. The first character of a state is its kind: `!`
/// waiting, `~` idle, `.` final, `&` fork. `?` before a trigger marks an error, `#` a limit. The first state is the
/// initial one.
fn machine(lines: &str) -> Machine {
    let mut machine = Machine::default();
    for (line, text) in (1..).zip(lines.split(',').map(str::trim)) {
        let (path, label) = text.split_once(" : ").unwrap_or((text, ""));
        let (trigger, guard) = label.split_once(" | ").unwrap_or((label, ""));
        let ends: Vec<usize> =
            path.split(" -> ").map(|name| state(&mut machine, name.trim(), line)).collect();
        let some =
            |text: &str| Some(text.trim_start_matches(['?', '#']).to_string()).filter(|t| !t.is_empty());
        if let [from, to] = ends[..] {
            let (is_error, is_limited) = (trigger.starts_with('?'), trigger.starts_with('#'));
            let location = SourceLocation { line, column: 1 };
            let (trigger, guard) = (some(trigger), some(guard));
            machine.edges.push(Edge { from, to, trigger, guard, is_error, is_limited, location });
        }
    }
    machine.starts = vec![0];
    machine
}

fn state(machine: &mut Machine, name: &str, line: usize) -> usize {
    let kind = match name.chars().next() {
        Some('!') => StateKind::Waiting,
        Some('~') => StateKind::Idle,
        Some('.') => StateKind::Final,
        Some('&') => StateKind::Fork,
        _ => StateKind::Automatic,
    };
    let name = name.trim_start_matches(['!', '~', '.', '&']);
    machine.states.iter().position(|state| state.name == name).unwrap_or_else(|| {
        let location = SourceLocation { line, column: 1 };
        machine.states.push(State { name: name.to_string(), kind, location, note: None });
        machine.states.len() - 1
    })
}

/// Returns the diagnostics as `rule: message`, errors with a `!`.
fn found(machine: &Machine) -> Vec<String> {
    let results = lint(machine);
    assert_eq!(results.iter().map(|result| result.rule).collect::<Vec<_>>(), LINT_RULES);
    let lines = |result: &LintResult| {
        let name = result.rule.name;
        let line = |diagnostic: &LintDiagnostic| {
            let mark = if result.is_failure && !diagnostic.is_doubt { "!" } else { "" };
            format!("{name}{mark}: {}", diagnostic.message)
        };
        result.diagnostics.iter().map(line).collect::<Vec<_>>()
    };
    results.iter().flat_map(lines).collect()
}

#[track_caller]
fn check(lines: &str, expected: &[&str]) {
    assert_eq!(found(&machine(lines)), expected, "{lines}");
}

#[test]
fn correct_machine_has_no_diagnostics() {
    check("~Idle -> !Calling : message, Calling -> Idle : reply, Calling -> Idle : ?timeout", &[]);
    check("Start -> .Done", &[]);
}

#[test]
fn machine_without_final_state_may_idle() {
    check("~Red -> Green : go, Green -> Red", &[]);
    check(
        "Red -> Green, Green -> Red",
        &[
            "no-path-to-final!: no path to a final state: `Red` and `Green` can only repeat a cycle",
            "unbounded-loop!: unbounded loop: no edge limits Red → Green → Red",
        ],
    );
    check(
        "~Red -> Green : go, Green -> Blink, Blink -> Green",
        &[
            "no-path-to-final!: no path to a final state: `Green` and `Blink` can only repeat a cycle",
            "unbounded-loop!: unbounded loop: no edge limits Green → Blink → Green",
        ],
    );
}

#[test]
fn state_left_without_trigger_is_not_idle() {
    let (path, cycle) = (
        "no-path-to-final!: no path to a final state: `Red` and `Green` can only repeat a cycle",
        "unbounded-loop!: unbounded loop: no edge limits Red → Green → Red",
    );
    let why = "; `Red` is not idle, because an edge leaves it without a trigger (line 1)";
    let both = [&format!("{path}{why}")[..], &format!("{cycle}{why}")[..]];
    check("~Red -> Green, Green -> Red : go", &both);
    check("~Red -> Green, Red -> Green : go, Green -> Red : go", &both);
    // The guard may hold whenever the run enters the state.
    let mut guarded = machine("~Red -> Green, Green -> Red : go");
    guarded.edges[0].guard = Some("ready".into());
    assert_eq!(
        found(&guarded),
        [both[0], both[1], "no-default-edge: no default edge: `Red` continues only when `ready`"]
    );
    // Another idle state remains.
    check("~Red -> Green, Green -> ~Blue, Blue -> Red : go", &[]);
    // Without outgoing edges, a run stays.
    check("~Red -> Green : go, Green -> ~Blue", &[]);
}

#[test]
fn unreachable_state_is_reported() {
    check(
        "A -> .Z, B -> C, C -> Z",
        &[
            "unreachable-state!: unreachable state: `B` has no incoming edge",
            "unreachable-state!: unreachable state: `C` has incoming edges only from unreachable states such as `B`",
        ],
    );
    check("A -> .Z, .Y", &["unreachable-state!: unreachable state: `Y` has no incoming edge"]);
}

#[test]
fn dead_end_and_its_predecessors_are_reported() {
    check(
        "A -> .Z : done, A -> B : lost, B -> Sink",
        &[
            "dead-end!: dead end: `Sink` has no outgoing edge",
            "no-path-to-final!: no path to a final state: `B` can only reach the dead end `Sink`",
        ],
    );
    // A state with only a self-loop is no dead end, but has no path to a final state.
    check(
        "A -> .Z : done, A -> B : lost, B -> B : #again",
        &["no-path-to-final!: no path to a final state: `B` can only repeat a cycle"],
    );
}

#[test]
fn similar_name_is_reported() {
    let typo = machine("A -> Auditng : a, A -> Auditing : b, Auditing -> .Done");
    assert_eq!(
        found(&typo),
        [
            "dead-end!: dead end: `Auditng` has no outgoing edge",
            "similar-names: similar names: `Auditing` and `Auditng` are distinct states"
        ]
    );
    let results = lint(&typo);
    assert!(results[1].diagnostics[0].help.starts_with("did you mean `Auditing`? "), "{results:?}");
    check("A -> Done_1 : a, A -> Done_2 : b, Done_1 -> .Z, Done_2 -> Z", &[]);
    check(
        "A -> paying : a, A -> Paying : b, paying -> .Z, Paying -> Z",
        &["similar-names: similar names: `Paying` and `paying` are distinct states"],
    );
}

#[test]
fn ambiguous_edges_are_reported() {
    let both = "ambiguous-edges!: ambiguous edges: `A` leads on `go` to `B` and `C`";
    check("A -> .B : go, A -> .C : go", &[both]);
    check("A -> .B : go, A -> .C :  Go ", &[both]);
    check(
        "A -> .B, A -> .C",
        &["ambiguous-edges!: ambiguous edges: `A` leads without a trigger to `B` and `C`"],
    );
    check(
        "A -> .B : go | x, A -> .C : go | x, A -> C : go",
        &["ambiguous-edges!: ambiguous edges: `A` leads on `go` when `x` to `B` and `C`"],
    );
    // Distinguished by precedence, or all taken at once.
    check("A -> .B : go | x, A -> .C : go", &[]);
    check("&A -> .B, A -> .C", &[]);
    check(
        "&A -> .B :  | x, A -> .C :  | y",
        &["no-default-edge: no default edge: `A` continues only when `x` or `y`"],
    );
}

#[test]
fn unequal_guards_are_doubtful() {
    let default = "no-default-edge: no default edge: `A` continues on `go` only when `x > 1` or `x > 0`";
    check(
        "A -> .B : go | x > 1, A -> .C : go | x > 0",
        &[
            "ambiguous-edges: possibly ambiguous edges: `A` leads on `go` to `B` when `x > 1` and `C` when `x > 0`, \
             and more than one guard may hold",
            default,
        ],
    );
    let without_default = |lines: &str| -> Vec<String> {
        found(&machine(lines)).into_iter().filter(|found| !found.starts_with("no-default")).collect()
    };
    // They exclude each other, lead to one state, or belong to two triggers.
    for clear in [
        "A -> .B : go | x > 1, A -> .C : go | x <= 1",
        "A -> .B : go | x > 1, A -> .B : go | x > 0",
        "A -> .B : go | x > 1, A -> .C : stop | x > 0",
        "A -> .B : go | x > 1, A -> .C : go",
    ] {
        assert_eq!(without_default(clear), [""; 0], "{clear}");
    }
    // A doubt beside an error, and an edge that takes no part in the doubt.
    assert_eq!(
        without_default(
            "A -> .B : go | x = 1, A -> .C : go | x = 2, A -> .D : go | x < 2, A -> .E : on | y, A -> .F : on | Y"
        ),
        [
            "ambiguous-edges!: ambiguous edges: `A` leads on `on` when `y` to `E` and `F`",
            "ambiguous-edges: possibly ambiguous edges: `A` leads on `go` to `B` when `x = 1` and `D` when `x < 2`, \
             and more than one guard may hold",
        ]
    );
    let results = lint(&machine("A -> .B : go | x > 1, A -> .C : go | x > 0"));
    assert!(!results[3].is_failure && results[3].diagnostics[0].is_doubt, "{:?}", results[3]);
}

#[test]
fn missing_default_edge_is_reported() {
    check(
        "A -> .B : go | x, A -> .C : go | not x",
        &["no-default-edge: no default edge: `A` continues on `go` only when `x` or `not x`"],
    );
}

#[test]
fn missing_error_edge_is_reported() {
    check("!A -> .B : answer", &["no-error-edge!: no error edge: `A` has no edge for an error or a timeout"]);
    let mut named = machine("!A -> .B : answer, A -> B : Lost");
    named.errors = vec!["lost".to_string(), "late".to_string()];
    assert_eq!(found(&named), ["no-error-edge!: no error edge: `A` has no edge for `late`"]);
    let mut guessed = machine("!A -> .B : answer, B -> A : again");
    guessed.is_guessed = true;
    assert_eq!(found(&guessed), ["no-error-edge: no error edge: `A` has no edge for an error or a timeout"]);
}

#[test]
fn unbounded_loop_is_reported() {
    let unbounded = "unbounded-loop!: unbounded loop: no edge limits Run → Repair → Run";
    check("A -> Run, Run -> Repair : fails, Repair -> Run, Run -> .Z : done", &[unbounded]);
    check("A -> Run, Run -> Repair : #fails, Repair -> Run, Run -> .Z : done", &[]);
    // The end of a run happens once, with or without a limit.
    check("A -> Run, Run -> Repair : fails, Repair -> Run, Run -> .Z : #spent", &[unbounded]);
    // A cycle through an idle state is a new run and no loop.
    check("A -> ~Run, Run -> Repair : fails, Repair -> Run", &[]);
    // One of two edges of a step is limited.
    check(
        "A -> Run, Run -> Repair : #fails, Run -> Repair : late, Repair -> Run, Run -> .Z : done",
        &[unbounded],
    );
}

#[test]
fn limit_bounds_only_loops_that_contain_it() {
    check(
        "A -> B : in, B -> C : #again, C -> B, B -> D : other, D -> B, B -> .Z : done",
        &["unbounded-loop!: unbounded loop: no edge limits B → D → B"],
    );
    // An inner loop with a limit does not bound the outer ones.
    check(
        "A -> B, B -> C, C -> C : #again, C -> B : back, C -> .Z : done, B -> D : x, D -> B : y",
        &[
            "unbounded-loop!: unbounded loop: no edge limits B → C → B",
            "unbounded-loop!: unbounded loop: no edge limits B → D → B",
        ],
    );
}

#[test]
fn limit_at_exit_of_diagram_bounds_only_loop() {
    let warnings = |lines: &str| {
        let mut guessed = machine(lines);
        guessed.is_guessed = true;
        let loops = |found: &String| found.starts_with("unbounded-loop");
        found(&guessed).into_iter().filter(loops).collect::<Vec<_>>()
    };
    let once = "A -> Run : go, Run -> Repair : fails, Repair -> Run : again, Run -> .Z : #spent";
    assert_eq!(warnings(once), [""; 0]);
    // Two loops pass the state: the limit may be about one of them.
    assert_eq!(
        warnings(&format!("{once}, Run -> Ask : asks, Ask -> Run : answer")),
        [
            "unbounded-loop: unbounded loop: no edge limits Run → Repair → Run",
            "unbounded-loop: unbounded loop: no edge limits Run → Ask → Run",
        ]
    );
    // Also if the loops begin with the same step.
    assert_eq!(
        warnings(
            "A -> Run : go, Run -> B : x, B -> Run : y, B -> C : z, C -> Run : again, Run -> .Z : #spent"
        ),
        [
            "unbounded-loop: unbounded loop: no edge limits Run → B → Run",
            "unbounded-loop: unbounded loop: no edge limits Run → B → C → Run",
        ]
    );
    // The loop of the limit is drawn; the other one has none.
    assert_eq!(
        warnings(
            "A -> Run : go, Run -> Repair : #fails, Repair -> Run : again, Run -> Ask : asks, Ask -> Run : answer"
        ),
        ["unbounded-loop: unbounded loop: no edge limits Run → Ask → Run"]
    );
}

#[test]
fn initial_state_of_diagram_is_idle_only_with_triggers() {
    let loops = |lines: &str| {
        let mut guessed = machine(lines);
        guessed.is_guessed = true;
        found(&guessed)
    };
    assert_eq!(loops("A -> B : go, B -> A : ?error"), ["no-restart"; 0]);
    assert_eq!(
        loops("A -> B, B -> A : ?error"),
        ["unbounded-loop: unbounded loop: no edge limits A → B → A"]
    );
}

#[test]
fn duplicate_edge_is_reported() {
    check(
        "A -> .B : go, A -> B : go",
        &["duplicate-edge: duplicate edge: the edge from `A` to `B` occurs more than once"],
    );
}

#[test]
fn guessed_final_state_is_a_warning() {
    let mut finished = machine("A -> .B : go");
    finished.is_guessed = true;
    assert_eq!(found(&finished), ["no-restart: no restart: a run ends at `B`, and no edge leads to `A`"]);
}
