//! The rules, evaluated on the graph.

use super::rules::{
    AMBIGUOUS_EDGES, DEAD_END, DUPLICATE_EDGE, NO_DEFAULT_EDGE, NO_ERROR_EDGE, NO_PATH_TO_FINAL, NO_RESTART,
    SIMILAR_NAMES, UNBOUNDED_LOOP, UNREACHABLE_STATE,
};
use super::{Edge, LintDiagnostic, LintResult, Machine, SourceLocation, State, StateKind};
use std::collections::BTreeMap;

mod ambiguity;
mod guards;
mod loops;

/// Checks a machine against every rule.
#[must_use]
pub fn lint(machine: &Machine) -> Vec<LintResult> {
    let linter = Linter::new(machine);
    let (states, edges) = (machine.states.len(), machine.edges.len());
    let ends = machine.states.iter().filter(|state| state.kind == StateKind::Final).count();
    let waiting = machine.states.iter().filter(|state| state.kind == StateKind::Waiting).count();
    [
        (UNREACHABLE_STATE, states, linter.check_reachability()),
        (DEAD_END, states, linter.check_dead_ends()),
        (NO_PATH_TO_FINAL, states, linter.check_paths_to_final()),
        (AMBIGUOUS_EDGES, edges, linter.check_ambiguous_edges()),
        (NO_ERROR_EDGE, waiting, linter.check_error_edges()),
        (UNBOUNDED_LOOP, states, linter.check_unbounded_loops()),
        (NO_DEFAULT_EDGE, linter.guarded_edges().count(), linter.check_default_edges()),
        (NO_RESTART, if machine.is_guessed { ends } else { 0 }, linter.check_restart()),
        (DUPLICATE_EDGE, edges, linter.check_duplicate_edges()),
        (SIMILAR_NAMES, states, linter.check_similar_names()),
    ]
    .map(|(rule, checked, diagnostics)| {
        let is_failure =
            rule.is_failure(machine) && diagnostics.iter().any(|diagnostic| !diagnostic.is_doubt);
        LintResult { rule, checked, diagnostics, is_failure }
    })
    .into()
}

/// A machine with its indexes.
struct Linter<'a> {
    machine: &'a Machine,
    /// The outgoing edges of each state.
    out: Vec<Vec<&'a Edge>>,
    /// Whether each state is reachable.
    is_reached: Vec<bool>,
    /// Whether few states are dead ends or unreachable. Many of them do not follow from typos.
    has_few_suspects: bool,
}

impl<'a> Linter<'a> {
    fn new(machine: &'a Machine) -> Self {
        let mut out = vec![Vec::new(); machine.states.len()];
        for edge in &machine.edges {
            out[edge.from].push(edge);
        }
        let is_reached = closure(&machine.starts, machine, |edge| (edge.from, edge.to));
        let linter = Self { machine, out, is_reached, has_few_suspects: true };
        let suspects = linter.states().filter(|(state, _)| linter.is_suspect(*state)).count();
        Self { has_few_suspects: suspects <= SUSPECTS_MAX, ..linter }
    }

    fn state(&self, state: usize) -> &'a State {
        &self.machine.states[state]
    }

    fn states(&self) -> impl Iterator<Item = (usize, &'a State)> + use<'a> {
        self.machine.states.iter().enumerate()
    }

    fn check_reachability(&self) -> Vec<LintDiagnostic> {
        let unreachable = self.states().filter(|(i, _)| !self.is_reached[*i]);
        unreachable
            .map(|(i, state)| {
                let from = self.machine.edges.iter().find(|edge| edge.to == i && edge.from != i);
                let message = match from {
                    None => format!("unreachable state: `{}` has no incoming edge", state.name),
                    Some(edge) => format!(
                        "unreachable state: `{}` has incoming edges only from unreachable states such as `{}`",
                        state.name,
                        self.state(edge.from).name
                    ),
                };
                let help = format!("{}add an edge to it, or remove the state", self.suggest_state(i));
                diagnostic([state.location], message, help)
            })
            .collect()
    }

    /// Returns whether a run may stay in a state that is marked as idle, until an input. A state that an edge leaves
    /// without a trigger continues on its own, whatever its kind and the guard of the edge.
    fn is_idle(&self, state: usize) -> bool {
        self.state(state).kind == StateKind::Idle && self.automatic_edge(state).is_none()
    }

    /// Returns an edge that leaves a state without a trigger.
    fn automatic_edge(&self, state: usize) -> Option<&'a Edge> {
        self.out[state].iter().find(|edge| edge.trigger.is_none()).copied()
    }

    /// Returns why states that are marked as idle are not, as the end of a message.
    fn explain_not_idle(&self, states: &[usize]) -> String {
        let marked = states.iter().filter(|state| self.state(**state).kind == StateKind::Idle);
        let explain = |state: &usize| {
            let edge = self.automatic_edge(*state)?;
            Some(format!(
                "; `{}` is not idle, because an edge leaves it without a trigger (line {})",
                self.state(*state).name,
                edge.location.line
            ))
        };
        marked.filter_map(explain).collect()
    }

    /// Returns whether a state that is not final has no outgoing edge.
    fn is_dead_end(&self, state: usize) -> bool {
        self.out[state].is_empty() && !matches!(self.state(state).kind, StateKind::Idle | StateKind::Final)
    }

    fn check_dead_ends(&self) -> Vec<LintDiagnostic> {
        let dead = self.states().filter(|(i, _)| self.is_dead_end(*i));
        dead.map(|(i, state)| {
            let note = state.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
            let into = self.machine.edges.iter().filter(|edge| edge.to == i).map(|edge| edge.location);
            diagnostic(
                [state.location].into_iter().chain(into),
                format!("dead end: `{}` has no outgoing edge{note}", state.name),
                format!("{}add an edge, or mark the state as final", self.suggest_state(i)),
            )
        })
        .collect()
    }

    /// Reports states without a path to a final or idle state. In a diagram that has neither, the initial states count as
    /// final, even if an edge without a label leaves them: a diagram may omit the label, and this rule gives errors.
    fn check_paths_to_final(&self) -> Vec<LintDiagnostic> {
        let mut final_states: Vec<usize> = self
            .states()
            .filter(|(i, state)| state.kind == StateKind::Final || self.is_idle(*i))
            .map(|(i, _)| i)
            .collect();
        if final_states.is_empty() && self.machine.is_guessed {
            final_states = self.initial_configuration();
        }
        let may_end = closure(&final_states, self.machine, |edge| (edge.to, edge.from));
        // States with the same defect are reported together.
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (i, _) in self.states().filter(|(i, _)| !may_end[*i] && !self.is_dead_end(*i)) {
            let ahead = closure(&[i], self.machine, |edge| (edge.from, edge.to));
            let dead_ends =
                (0..ahead.len()).filter(|state| ahead[*state] && self.is_dead_end(*state)).collect();
            groups.entry(dead_ends).or_default().push(i);
        }
        groups
            .into_iter()
            .map(|(dead_ends, states)| {
                let message = if dead_ends.is_empty() {
                    format!(
                        "no path to a final state: {} can only repeat a cycle",
                        self.format_states(&states)
                    )
                } else {
                    format!(
                        "no path to a final state: {} can only reach the dead end {}",
                        self.format_states(&states),
                        self.format_states(&dead_ends)
                    )
                };
                let locations = states.iter().map(|state| self.state(*state).location);
                diagnostic(
                    locations,
                    message + &self.explain_not_idle(&states),
                    "add a path to a final state, or mark one of these states as final",
                )
            })
            .collect()
    }

    /// Returns the states in which a run begins: the initial states, and where one of them is a fork, its targets.
    fn initial_configuration(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = self.machine.starts.clone();
        while let Some(state) = open.pop() {
            if !found.contains(&state) {
                found.push(state);
                let targets = self.out[state].iter().map(|edge| edge.to);
                open.extend(targets.filter(|_| self.state(state).kind == StateKind::Fork));
            }
        }
        found
    }

    fn check_error_edges(&self) -> Vec<LintDiagnostic> {
        let errors = &self.machine.errors;
        let mut without: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (i, _) in self.states().filter(|(_, state)| state.kind == StateKind::Waiting) {
            let has = |error: &str| {
                self.out[i]
                    .iter()
                    .any(|edge| normalize_label(edge.trigger.as_deref()) == normalize_label(Some(error)))
            };
            if errors.is_empty() && !self.out[i].iter().any(|edge| edge.is_error) {
                without.entry(Vec::new()).or_default().push(i);
            }
            let missing: Vec<&str> = errors.iter().map(String::as_str).filter(|error| !has(error)).collect();
            if !missing.is_empty() {
                without.entry(missing).or_default().push(i);
            }
        }
        without
            .into_iter()
            .map(|(missing, states)| {
                let have = if states.len() == 1 { "has" } else { "have" };
                let message = match &missing[..] {
                    [] => format!(
                        "no error edge: {} {have} no edge for an error or a timeout",
                        self.format_states(&states)
                    ),
                    missing => {
                        let missing: Vec<String> = missing.iter().map(|error| format!("`{error}`")).collect();
                        format!(
                            "no error edge: {} {have} no edge for {}",
                            self.format_states(&states),
                            join_and(&missing)
                        )
                    }
                };
                let locations = states.iter().map(|state| self.state(*state).location);
                diagnostic(locations, message, "add an edge for a failed call")
            })
            .collect()
    }

    /// Returns the groups of edges with one source and trigger that contain a guarded edge.
    fn guarded_edges(&self) -> impl Iterator<Item = Vec<&'a Edge>> {
        let mut groups: BTreeMap<(usize, String), Vec<&Edge>> = BTreeMap::new();
        for edge in &self.machine.edges {
            groups.entry((edge.from, normalize_label(edge.trigger.as_deref()))).or_default().push(edge);
        }
        groups.into_values().filter(|edges| edges.iter().any(|edge| edge.guard.is_some()))
    }

    fn check_default_edges(&self) -> Vec<LintDiagnostic> {
        let open = self.guarded_edges().filter(|edges| edges.iter().all(|edge| edge.guard.is_some()));
        open.map(|edges| {
            let name = &self.state(edges[0].from).name;
            let on = edges[0].trigger.as_ref().map_or_else(String::new, |trigger| format!(" on `{trigger}`"));
            let guards: Vec<String> =
                edges.iter().filter_map(|edge| Some(format!("`{}`", edge.guard.as_ref()?))).collect();
            diagnostic(
                edges.iter().map(|edge| edge.location),
                format!("no default edge: `{name}` continues{on} only when {}", join_or(&guards)),
                "add an edge without a guard, or ensure that one guard always holds",
            )
        })
        .collect()
    }

    fn check_restart(&self) -> Vec<LintDiagnostic> {
        let ends: Vec<usize> = self
            .states()
            .filter(|(i, state)| self.is_reached[*i] && state.kind == StateKind::Final)
            .map(|(i, _)| i)
            .collect();
        let has_restart = self.machine.edges.iter().any(|edge| self.machine.starts.contains(&edge.to));
        if !self.machine.is_guessed || ends.is_empty() || has_restart {
            return Vec::new();
        }
        let into = self.machine.edges.iter().filter(|edge| ends.contains(&edge.to)).map(|edge| edge.location);
        let message = format!(
            "no restart: a run ends at {}, and no edge leads to {}",
            self.format_states(&ends),
            self.format_states(&self.machine.starts)
        );
        vec![diagnostic(
            into,
            message,
            "add an edge to the initial state, unless every run has its own machine",
        )]
    }

    fn check_duplicate_edges(&self) -> Vec<LintDiagnostic> {
        let mut groups: BTreeMap<(usize, usize, String, String), Vec<&Edge>> = BTreeMap::new();
        for edge in &self.machine.edges {
            let (trigger, guard) =
                (normalize_label(edge.trigger.as_deref()), normalize_label(edge.guard.as_deref()));
            groups.entry((edge.from, edge.to, trigger, guard)).or_default().push(edge);
        }
        let twice =
            groups.into_values().filter(|edges| edges.iter().any(|edge| edge.location != edges[0].location));
        twice
            .map(|edges| {
                let (from, to) = (&self.state(edges[0].from).name, &self.state(edges[0].to).name);
                let locations = edges.iter().map(|edge| edge.location);
                diagnostic(
                    locations,
                    format!("duplicate edge: the edge from `{from}` to `{to}` occurs more than once"),
                    "remove all but one",
                )
            })
            .collect()
    }

    fn check_similar_names(&self) -> Vec<LintDiagnostic> {
        let mut found = Vec::new();
        let normalized: Vec<String> = self.states().map(|(_, state)| normalize_name(&state.name)).collect();
        for (i, state) in self.states() {
            for (other, earlier) in self.states().take(i) {
                let same = normalized[i] == normalized[other];
                let suspect = self.is_suspect(i) || self.is_suspect(other);
                if same || suspect && is_probable_typo(&state.name, &earlier.name) {
                    if found.len() == SIMILAR_NAMES_MAX {
                        return found;
                    }
                    found.push(diagnostic(
                        [state.location, earlier.location],
                        format!("similar names: `{}` and `{}` are distinct states", state.name, earlier.name),
                        "use one spelling for one state, or rename one of two states",
                    ));
                }
            }
        }
        found
    }

    /// Returns whether the name of a state may be a typo: the state is a dead end or unreachable.
    fn is_suspect(&self, state: usize) -> bool {
        self.has_few_suspects && (self.is_dead_end(state) || !self.is_reached[state])
    }

    /// Returns a suggestion of a similar name, as the start of the help.
    fn suggest_state(&self, state: usize) -> String {
        if !self.has_few_suspects {
            return String::new();
        }
        let name = &self.state(state).name;
        let near = self.states().filter(|(i, other)| *i != state && is_probable_typo(name, &other.name));
        let nearest = near.min_by_key(|(_, other)| strsim::damerau_levenshtein(name, &other.name));
        nearest.map_or_else(String::new, |(_, other)| format!("did you mean `{}`? ", other.name))
    }

    fn format_states(&self, states: &[usize]) -> String {
        let names: Vec<String> =
            states.iter().map(|state| format!("`{}`", self.state(*state).name)).collect();
        join_and(&names)
    }
}

fn diagnostic(
    locations: impl IntoIterator<Item = SourceLocation>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> LintDiagnostic {
    let mut distinct = Vec::new();
    for location in locations {
        if !distinct.contains(&location) {
            distinct.push(location);
        }
    }
    LintDiagnostic { locations: distinct, message: message.into(), help: help.into(), is_doubt: false }
}

/// Returns whether each state is reachable from `from`; `ends` gives the direction of an edge.
fn closure(from: &[usize], machine: &Machine, ends: impl Fn(&Edge) -> (usize, usize)) -> Vec<bool> {
    let mut next = vec![Vec::new(); machine.states.len()];
    for edge in &machine.edges {
        let (from, to) = ends(edge);
        next[from].push(to);
    }
    let mut is_in = vec![false; machine.states.len()];
    let mut open = from.to_vec();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut is_in[state], true) {
            open.extend(&next[state]);
        }
    }
    is_in
}

/// Returns a label in lower case with single spaces.
fn normalize_label(label: Option<&str>) -> String {
    label.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn normalize_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || "[]*".contains(*c)).collect::<String>().to_lowercase()
}

/// The maximum number of states whose names are compared with all others for typos.
const SUSPECTS_MAX: usize = 50;

/// The maximum number of pairs of similar names that are reported: names of one form can all be similar.
const SIMILAR_NAMES_MAX: usize = 100;

/// Longer names are compared exactly only: the time of a comparison grows with the product of their lengths.
const TYPO_BYTES_MAX: usize = 64;

/// Returns whether one name may be a typo of the other. Different digits are no typo, and short names are always similar.
fn is_probable_typo(one: &str, other: &str) -> bool {
    if one.len().max(other.len()) > TYPO_BYTES_MAX {
        return false;
    }
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let (of_one, of_other) = (one.chars().count(), other.chars().count());
    let length = of_one.min(of_other);
    let distance_max = 1.max(length / 6);
    // The distance is computed last, because it takes the longest.
    length >= 4
        && of_one.abs_diff(of_other) <= distance_max
        && !one.starts_with("[*]")
        && digits(one) == digits(other)
        && strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase()) <= distance_max
}

fn join_and(items: &[String]) -> String {
    join(items, "and")
}

fn join_or(items: &[String]) -> String {
    join(items, "or")
}

fn join(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}
