//! Rules against plain enumeration on small random machines.

use crate::{Edge, LintDiagnostic, Machine, SourceLocation, State, StateKind, lint};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

const KINDS: [StateKind; 4] = [StateKind::Automatic, StateKind::Waiting, StateKind::Idle, StateKind::Final];

/// Machines of up to five states. State `n` is in line `n + 1`; the edges share line 100.
fn machines() -> impl Strategy<Value = Machine> {
    machines_of(1..=5, 0..=10)
}

/// Machines with these numbers of states and edges.
fn machines_of(
    states: RangeInclusive<usize>,
    edges: RangeInclusive<usize>,
) -> impl Strategy<Value = Machine> {
    (states, any::<bool>()).prop_flat_map(move |(count, is_guessed)| {
        let states = prop::collection::vec(prop::sample::select(&KINDS[..]), count);
        let edge = (0..count, 0..count, any::<bool>(), prop::bool::weighted(0.3));
        (states, prop::collection::vec(edge, edges.clone())).prop_map(move |(kinds, edges)| Machine {
            states: kinds
                .into_iter()
                .enumerate()
                .map(|(i, kind)| State { name: format!("S{i}"), kind, location: line(i + 1), note: None })
                .collect(),
            edges: edges
                .into_iter()
                .map(|(from, to, has_trigger, is_limited)| Edge {
                    from,
                    to,
                    trigger: has_trigger.then(|| "go".to_string()),
                    guard: None,
                    is_error: false,
                    is_limited,
                    location: line(100),
                })
                .collect(),
            starts: vec![0],
            errors: Vec::new(),
            is_guessed,
        })
    })
}

fn line(line: usize) -> SourceLocation {
    SourceLocation { line, column: 1 }
}

fn diagnostics(machine: &Machine, rule: &str) -> Vec<LintDiagnostic> {
    lint(machine)
        .into_iter()
        .filter(|result| result.rule.name == rule)
        .flat_map(|result| result.diagnostics)
        .collect()
}

/// Returns the states that a diagnostic names by their locations.
fn states_of(diagnostic: &LintDiagnostic) -> Vec<usize> {
    diagnostic.locations.iter().map(|location| location.line - 1).collect()
}

fn is_left_alone(machine: &Machine, state: usize) -> bool {
    machine.edges.iter().any(|edge| edge.from == state && edge.trigger.is_none())
}

/// Returns all simple cycles of states that start no run, each from its smallest state.
fn cycles(machine: &Machine) -> Vec<Vec<usize>> {
    let starts_run = |state: usize| {
        let is_marked =
            machine.states[state].kind == StateKind::Idle || machine.is_guessed && state == machine.starts[0];
        is_marked && !is_left_alone(machine, state)
    };
    let mut found = Vec::new();
    let mut open: Vec<Vec<usize>> =
        (0..machine.states.len()).filter(|state| !starts_run(*state)).map(|state| vec![state]).collect();
    while let Some(path) = open.pop() {
        let last = path[path.len() - 1];
        let next: BTreeSet<usize> =
            machine.edges.iter().filter(|edge| edge.from == last).map(|edge| edge.to).collect();
        for to in next {
            if to == path[0] {
                found.push(path.clone());
            } else if to > path[0] && !path.contains(&to) && !starts_run(to) {
                open.push([&path[..], &[to]].concat());
            }
        }
    }
    found
}

fn steps(cycle: &[usize]) -> Vec<(usize, usize)> {
    (0..cycle.len()).map(|i| (cycle[i], cycle[(i + 1) % cycle.len()])).collect()
}

/// Returns the cycles that a run can repeat without taking a limited edge.
fn unbounded_cycles(machine: &Machine) -> Vec<Vec<usize>> {
    let all = cycles(machine);
    let is_free = |(from, to): (usize, usize)| {
        machine.edges.iter().any(|edge| (edge.from, edge.to) == (from, to) && !edge.is_limited)
    };
    // In a diagram, a limited edge that is on no cycle limits the only cycle through its source.
    let counts = |state: &usize| {
        let is_exit = |edge: &Edge| {
            edge.from == *state
                && edge.is_limited
                && !all.iter().any(|cycle| steps(cycle).contains(&(edge.from, edge.to)))
        };
        machine.is_guessed
            && machine.edges.iter().any(is_exit)
            && all.iter().filter(|cycle| cycle.contains(state)).count() == 1
    };
    let is_unbounded =
        |cycle: &&Vec<usize>| steps(cycle).into_iter().all(is_free) && !cycle.iter().any(counts);
    all.iter().filter(is_unbounded).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reported_loops_are_the_unbounded_cycles(machine in machines()) {
        let expected = unbounded_cycles(&machine);
        let reported: Vec<Vec<usize>> = diagnostics(&machine, "unbounded-loop").iter().map(states_of).collect();
        for cycle in &reported {
            prop_assert!(expected.contains(cycle), "{cycle:?} is reported, expected one of {expected:?}");
        }
        // A loop that is not reported itself consists of steps of reported ones.
        let covered: BTreeSet<_> = reported.iter().flat_map(|cycle| steps(cycle)).collect();
        let missed = expected.iter().find(|cycle| steps(cycle).iter().any(|step| !covered.contains(step)));
        prop_assert_eq!(missed, None, "not reported; reported: {:?}", reported);
        prop_assert_eq!(reported.iter().collect::<BTreeSet<_>>().len(), reported.len());
    }

    #[test]
    fn reported_states_have_no_path_to_an_end(machine in machines()) {
        let count = machine.states.len();
        let ends = |state: usize| match machine.states[state].kind {
            StateKind::Final => true,
            StateKind::Idle => !is_left_alone(&machine, state),
            StateKind::Automatic | StateKind::Waiting | StateKind::Fork => false,
        };
        let has_end = (0..count).any(ends);
        let is_end = |state: usize| ends(state) || !has_end && machine.is_guessed && state == 0;
        let mut may_end: Vec<bool> = (0..count).map(is_end).collect();
        for _ in 0..count {
            for edge in &machine.edges {
                may_end[edge.from] |= may_end[edge.to];
            }
        }
        let has_edge = |state: &usize| machine.edges.iter().any(|edge| edge.from == *state);
        let expected: BTreeSet<usize> = (0..count).filter(|state| !may_end[*state]).filter(has_edge).collect();
        let reported: BTreeSet<usize> =
            diagnostics(&machine, "no-path-to-final").iter().flat_map(states_of).collect();
        prop_assert_eq!(reported, expected);
    }
}

/// Returns the least number of edges to each state, by relaxing all edges until nothing changes.
fn distances(machine: &Machine) -> Vec<Option<usize>> {
    let mut distances: Vec<Option<usize>> = vec![None; machine.states.len()];
    machine.starts.iter().for_each(|start| distances[*start] = Some(0));
    for _ in 0..machine.states.len() {
        for edge in &machine.edges {
            let Some(next) = distances[edge.from].map(|from| from + 1) else { continue };
            if distances[edge.to].is_none_or(|known| next < known) {
                distances[edge.to] = Some(next);
            }
        }
    }
    distances
}

proptest! {
    #[test]
    fn path_is_connected_and_as_short_as_possible(machine in machines_of(6..=9, 6..=14)) {
        for (target, distance) in distances(&machine).into_iter().enumerate() {
            let path = crate::shortest_path(&machine, target);
            prop_assert_eq!(path.as_ref().map(Vec::len), distance);
            let Some(path) = path else { continue };
            let mut state = path.first().map_or(target, |edge| machine.edges[*edge].from);
            prop_assert!(machine.starts.contains(&state));
            for edge in path {
                prop_assert_eq!(machine.edges[edge].from, state);
                state = machine.edges[edge].to;
            }
            prop_assert_eq!(state, target);
        }
    }
}
