//! One machine for each rule, with its diagnostics.

use super::*;

/// Builds a machine from lines such as `A -> B : trigger | guard`. The first character of a state is its kind: `!`
/// waiting, `~` idle, `.` final, `&` fork. `?` before a trigger marks an error, `#` a limit. The first state is the
/// initial one.
fn machine(lines: &str) -> Machine {
    let mut machine = Machine::default();
    for (line, text) in (1..).zip(lines.split(',').map(str::trim)) {
        let (way, label) = text.split_once(" : ").unwrap_or((text, ""));
        let (trigger, guard) = label.split_once(" | ").unwrap_or((label, ""));
        let ends: Vec<usize> = way.split(" -> ").map(|name| state(&mut machine, name.trim(), line)).collect();
        let some =
            |text: &str| Some(text.trim_start_matches(['?', '#']).to_string()).filter(|t| !t.is_empty());
        if let [from, to] = ends[..] {
            let (is_error, is_limited) = (trigger.starts_with('?'), trigger.starts_with('#'));
            let place = SourceLocation { line, column: 1 };
            let (trigger, guard) = (some(trigger), some(guard));
            machine.edges.push(Edge { from, to, trigger, guard, is_error, is_limited, place });
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
        let place = SourceLocation { line, column: 1 };
        machine.states.push(State { name: name.to_string(), kind, place, note: None });
        machine.states.len() - 1
    })
}

/// The diagnostics as `rule: sentence`, errors with a `!`.
fn found(machine: &Machine) -> Vec<String> {
    let answers = lint(machine);
    assert_eq!(answers.iter().map(|answer| answer.question).collect::<Vec<_>>(), LINT_RULES);
    let told = |answer: &LintResult| {
        let mark = if answer.is_failure { "!" } else { "" };
        let name = answer.question.name;
        answer.findings.iter().map(|found| format!("{name}{mark}: {}", found.message)).collect::<Vec<_>>()
    };
    answers.iter().flat_map(told).collect()
}

#[track_caller]
fn check(lines: &str, expected: &[&str]) {
    assert_eq!(found(&machine(lines)), expected, "{lines}");
}

#[test]
fn correct_machine_has_no_diagnostics() {
    check("~Idle -> !Asking : message, Asking -> Idle : answer, Asking -> Idle : ?timeout", &[]);
    check("Start -> .Done", &[]);
}

#[test]
fn machine_without_final_state_may_idle() {
    check("~Red -> Green, Green -> Red", &[]);
    check(
        "Red -> Green, Green -> Red",
        &[
            "ends!: `Red` and `Green` can only go round for ever",
            "bounded!: no limit is named on the loop Red → Green → Red",
        ],
    );
    check(
        "~Red -> Green, Green -> Blink, Blink -> Green",
        &[
            "ends!: `Green` and `Blink` can only go round for ever",
            "bounded!: no limit is named on the loop Green → Blink → Green",
        ],
    );
}

#[test]
fn unreachable_state_is_reported() {
    check(
        "A -> .Z, B -> C, C -> Z",
        &[
            "reached!: no edge leads to `B`",
            "reached!: `C` is reached from nowhere but `B`, which is not reached itself",
        ],
    );
    check("A -> .Z, .Y", &["reached!: no edge leads to `Y`"]);
}

#[test]
fn dead_end_and_its_predecessors_are_reported() {
    check(
        "A -> .Z : done, A -> B : lost, B -> Sink",
        &[
            "leads-on!: nothing leads on from `Sink`",
            "ends!: `B` can only come to `Sink`, from where nothing leads on",
        ],
    );
    // A state that leads only to itself is no dead end, but has no path to a final state.
    check("A -> .Z : done, A -> B : lost, B -> B : #again", &["ends!: `B` can only go round for ever"]);
}

#[test]
fn similar_name_is_reported() {
    let slip = machine("A -> Auditng : a, A -> Auditing : b, Auditing -> .Done");
    assert_eq!(
        found(&slip),
        ["leads-on!: nothing leads on from `Auditng`", "names: `Auditing` and `Auditng` are two states"]
    );
    let answers = lint(&slip);
    assert!(answers[1].findings[0].help.starts_with("did you mean `Auditing`? "), "{answers:?}");
    check("A -> Done_1 : a, A -> Done_2 : b, Done_1 -> .Z, Done_2 -> Z", &[]);
    check(
        "A -> paying : a, A -> Paying : b, paying -> .Z, Paying -> Z",
        &["names: `Paying` and `paying` are two states"],
    );
}

#[test]
fn ambiguous_edges_are_reported() {
    let both = "one-way!: `A` leads on `go` to `B` and `C`";
    check("A -> .B : go, A -> .C : go", &[both]);
    check("A -> .B : go, A -> .C :  Go ", &[both]);
    check("A -> .B, A -> .C", &["one-way!: `A` leads without a word to `B` and `C`"]);
    check(
        "A -> .B : go | x, A -> .C : go | x, A -> C : go",
        &["one-way!: `A` leads on `go` when `x` to `B` and `C`"],
    );
    // Distinguished by a condition, by precedence, or all taken at once.
    check("A -> .B : go | x, A -> .C : go", &[]);
    check("&A -> .B, A -> .C", &[]);
}

#[test]
fn conditions_may_leave_something_out() {
    check("A -> .B : go | x, A -> .C : go | y", &["otherwise: `A` goes on on `go` only when `x` or `y`"]);
}

#[test]
fn missing_error_edge_is_reported() {
    check("!A -> .B : answer", &["no-answer!: `A` has no edge for an error or a timeout"]);
    let mut named = machine("!A -> .B : answer, A -> B : Lost");
    named.errors = vec!["lost".to_string(), "late".to_string()];
    assert_eq!(found(&named), ["no-answer!: `A` has no edge for `late`"]);
    let mut guessed = machine("!A -> .B : answer, B -> A : again");
    guessed.is_guessed = true;
    assert_eq!(found(&guessed), ["no-answer: `A` has no edge for an error or a timeout"]);
}

#[test]
fn loops_need_a_limit() {
    let endless = "bounded!: no limit is named on the loop Run → Repair → Run";
    check("A -> Run, Run -> Repair : fails, Repair -> Run, Run -> .Z : done", &[endless]);
    check("A -> Run, Run -> Repair : #fails, Repair -> Run, Run -> .Z : done", &[]);
    check("A -> Run, Run -> Repair : fails, Repair -> Run, Run -> .Z : #given up", &[]);
    // A new round through an idle state is no loop.
    check("A -> ~Run, Run -> Repair : fails, Repair -> Run", &[]);
    // An inner loop with a limit does not bound the outer one.
    check(
        "A -> B, B -> C, C -> C : #again, C -> B : back, C -> .Z : done, B -> D : x, D -> B : y",
        &["bounded!: no limit is named on the loop B → D → B"],
    );
}

#[test]
fn duplicate_edge_is_reported() {
    check("A -> .B : go, A -> B : go", &["once: the edge from `A` to `B` is there more than once"]);
}

#[test]
fn guessed_final_state_is_a_warning() {
    let mut over = machine("A -> .B : go");
    over.is_guessed = true;
    assert_eq!(found(&over), ["again: a run is over at `B`, and no edge leads back to `A`"]);
}
