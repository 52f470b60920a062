//! The rules, evaluated on the graph.

use super::rules::{
    AMBIGUOUS_EDGES, DEAD_END, DUPLICATE_EDGE, LintRule, NO_DEFAULT_EDGE, NO_ERROR_EDGE, NO_PATH_TO_FINAL,
    NO_RESTART, SIMILAR_NAMES, UNBOUNDED_LOOP, UNREACHABLE_STATE,
};
use super::{Edge, LintDiagnostic, LintResult, Machine, SourceLocation, State, StateKind};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, VecDeque};

/// Checks a machine against every rule.
#[must_use]
pub fn lint(machine: &Machine) -> Vec<LintResult> {
    let judge = Linter::of(machine);
    let (states, edges) = (machine.states.len(), machine.edges.len());
    let ends = machine.states.iter().filter(|state| state.kind == StateKind::Final).count();
    let waiting = machine.states.iter().filter(|state| state.kind == StateKind::Waiting).count();
    [
        (UNREACHABLE_STATE, states, judge.reached()),
        (DEAD_END, states, judge.leads_on()),
        (NO_PATH_TO_FINAL, states, judge.ends()),
        (AMBIGUOUS_EDGES, edges, judge.one_way()),
        (NO_ERROR_EDGE, waiting, judge.answers()),
        (UNBOUNDED_LOOP, states, judge.bounded()),
        (NO_DEFAULT_EDGE, judge.conditional().count(), judge.otherwise()),
        (NO_RESTART, if machine.is_guessed { ends } else { 0 }, judge.again()),
        (DUPLICATE_EDGE, edges, judge.once()),
        (SIMILAR_NAMES, states, judge.names()),
    ]
    .map(|(question, asked, findings)| answer(machine, question, asked, findings))
    .into()
}

fn answer(machine: &Machine, question: LintRule, asked: usize, findings: Vec<LintDiagnostic>) -> LintResult {
    LintResult { question, asked, findings, is_failure: question.is_failure(machine) }
}

/// A machine, with what several rules need.
struct Linter<'a> {
    machine: &'a Machine,
    /// The outgoing edges of each state.
    out: Vec<Vec<&'a Edge>>,
    /// Whether each state is reachable.
    is_reached: Vec<bool>,
}

impl<'a> Linter<'a> {
    fn of(machine: &'a Machine) -> Self {
        let mut out = vec![Vec::new(); machine.states.len()];
        for edge in &machine.edges {
            out[edge.from].push(edge);
        }
        let is_reached = closure(&machine.starts, machine, |edge| (edge.from, edge.to));
        Self { machine, out, is_reached }
    }

    fn state(&self, state: usize) -> &'a State {
        &self.machine.states[state]
    }

    fn states(&self) -> impl Iterator<Item = (usize, &'a State)> + use<'a> {
        self.machine.states.iter().enumerate()
    }

    fn reached(&self) -> Vec<LintDiagnostic> {
        let unreached = self.states().filter(|(i, _)| !self.is_reached[*i]);
        unreached
            .map(|(i, state)| {
                let from = self.machine.edges.iter().find(|edge| edge.to == i && edge.from != i);
                let what = match from {
                    None => format!("no edge leads to `{}`", state.name),
                    Some(edge) => format!(
                        "`{}` is reached from nowhere but `{}`, which is not reached itself",
                        state.name,
                        self.state(edge.from).name
                    ),
                };
                let todo = format!("{}draw the edge that leads there, or remove it", self.meant(i));
                finding([state.place], what, todo)
            })
            .collect()
    }

    /// Whether a run stays in a state that is not final.
    fn is_dead_end(&self, state: usize) -> bool {
        self.out[state].is_empty() && !matches!(self.state(state).kind, StateKind::Idle | StateKind::Final)
    }

    fn leads_on(&self) -> Vec<LintDiagnostic> {
        let dead = self.states().filter(|(i, _)| self.is_dead_end(*i));
        dead.map(|(i, state)| {
            let remark = state.note.as_ref().map_or_else(String::new, |remark| format!("; {remark}"));
            let into = self.machine.edges.iter().filter(|edge| edge.to == i).map(|edge| edge.place);
            finding(
                [state.place].into_iter().chain(into),
                format!("nothing leads on from `{}`{remark}", state.name),
                format!("{}say what follows it, or that it is an end", self.meant(i)),
            )
        })
        .collect()
    }

    /// The states in which a run may stay: final and idle ones; the initial states of a diagram that has neither.
    fn ends(&self) -> Vec<LintDiagnostic> {
        let mut good: Vec<usize> = self
            .states()
            .filter(|(_, state)| matches!(state.kind, StateKind::Idle | StateKind::Final))
            .map(|(i, _)| i)
            .collect();
        if good.is_empty() && self.machine.is_guessed {
            good.clone_from(&self.machine.starts);
        }
        let may_end = closure(&good, self.machine, |edge| (edge.to, edge.from));
        // States with the same defect are reported together.
        let mut fates: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (i, _) in self.states().filter(|(i, _)| !may_end[*i] && !self.is_dead_end(*i)) {
            let ahead = closure(&[i], self.machine, |edge| (edge.from, edge.to));
            let fate = (0..ahead.len()).filter(|state| ahead[*state] && self.is_dead_end(*state)).collect();
            fates.entry(fate).or_default().push(i);
        }
        fates
            .into_iter()
            .map(|(fate, states)| {
                let what = if fate.is_empty() {
                    format!("{} can only go round for ever", self.names_of(&states))
                } else {
                    format!(
                        "{} can only come to {}, from where nothing leads on",
                        self.names_of(&states),
                        self.names_of(&fate)
                    )
                };
                let places = states.iter().map(|state| self.state(*state).place);
                finding(places, what, "give it a way to an end, or say which of these states is one")
            })
            .collect()
    }

    fn one_way(&self) -> Vec<LintDiagnostic> {
        let mut found = Vec::new();
        for (i, state) in self.states().filter(|(_, state)| state.kind != StateKind::Fork) {
            let mut alike: BTreeMap<(String, String), Vec<&Edge>> = BTreeMap::new();
            for edge in &self.out[i] {
                alike
                    .entry((plain(edge.trigger.as_deref()), plain(edge.guard.as_deref())))
                    .or_default()
                    .push(edge);
            }
            for edges in alike.into_values().filter(|edges| edges.iter().any(|edge| edge.to != edges[0].to)) {
                let mut targets: Vec<usize> = edges.iter().map(|edge| edge.to).collect();
                targets.sort_unstable();
                targets.dedup();
                let on = match (&edges[0].trigger, &edges[0].guard) {
                    (None, None) => "without a word".to_string(),
                    (None, Some(guard)) => format!("when `{guard}`"),
                    (Some(trigger), None) => format!("on `{trigger}`"),
                    (Some(trigger), Some(guard)) => format!("on `{trigger}` when `{guard}`"),
                };
                found.push(finding(
                    edges.iter().map(|edge| edge.place),
                    format!("`{}` leads {on} to {}", state.name, self.names_of(&targets)),
                    "say with each edge what takes it, or under which condition",
                ));
            }
        }
        found
    }

    fn answers(&self) -> Vec<LintDiagnostic> {
        let errors = &self.machine.errors;
        let mut without: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (i, _) in self.states().filter(|(_, state)| state.kind == StateKind::Waiting) {
            let has = |error: &str| {
                self.out[i].iter().any(|edge| plain(edge.trigger.as_deref()) == plain(Some(error)))
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
                let what = match &missing[..] {
                    [] => format!("{} {have} no edge for an error or a timeout", self.names_of(&states)),
                    missing => {
                        let missing: Vec<String> = missing.iter().map(|error| format!("`{error}`")).collect();
                        format!("{} {have} no edge for {}", self.names_of(&states), listed(&missing))
                    }
                };
                let places = states.iter().map(|state| self.state(*state).place);
                finding(places, what, "say where a run goes from there if the answer does not come")
            })
            .collect()
    }

    /// Loops without a limit: neither an edge that states one, nor a state that such an edge leaves. A path through an
    /// idle state is a new round and no loop; so is one through the initial state of a diagram, which cannot mark idle
    /// states.
    fn bounded(&self) -> Vec<LintDiagnostic> {
        let may_loop = |state: usize| {
            !(self.machine.is_guessed && self.machine.starts.contains(&state))
                && self.state(state).kind != StateKind::Idle
                && !self.out[state].iter().any(|edge| edge.is_limited)
        };
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        for _ in self.states() {
            graph.add_node(());
        }
        for edge in self.machine.edges.iter().filter(|edge| may_loop(edge.from) && may_loop(edge.to)) {
            graph.add_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), ());
        }
        let mut loops: Vec<Vec<usize>> = tarjan_scc(&graph)
            .into_iter()
            .map(|part| part.into_iter().map(NodeIndex::index).min().unwrap_or_default())
            .filter_map(|first| shortest_loop(&graph, first))
            .collect();
        loops.sort();
        loops
            .into_iter()
            .map(|around| {
                let way: Vec<&str> =
                    around.iter().chain(around.first()).map(|state| &self.state(*state).name[..]).collect();
                finding(
                    around.iter().map(|state| self.state(*state).place),
                    format!("no limit is named on the loop {}", way.join(" → ")),
                    "say how often it may be gone round, and where a run goes after the last time",
                )
            })
            .collect()
    }

    /// The conditional edges by source and trigger, with everything else that matches there.
    fn conditional(&self) -> impl Iterator<Item = Vec<&'a Edge>> {
        let mut alike: BTreeMap<(usize, String), Vec<&Edge>> = BTreeMap::new();
        for edge in &self.machine.edges {
            alike.entry((edge.from, plain(edge.trigger.as_deref()))).or_default().push(edge);
        }
        alike.into_values().filter(|edges| edges.iter().any(|edge| edge.guard.is_some()))
    }

    fn otherwise(&self) -> Vec<LintDiagnostic> {
        let open = self.conditional().filter(|edges| edges.iter().all(|edge| edge.guard.is_some()));
        open.map(|edges| {
            let name = &self.state(edges[0].from).name;
            let on = edges[0].trigger.as_ref().map_or_else(String::new, |trigger| format!(" on `{trigger}`"));
            let guards: Vec<String> =
                edges.iter().filter_map(|edge| Some(format!("`{}`", edge.guard.as_ref()?))).collect();
            finding(
                edges.iter().map(|edge| edge.place),
                format!("`{name}` goes on{on} only when {}", either(&guards)),
                "add an edge without a condition, or make sure that one of them always holds",
            )
        })
        .collect()
    }

    fn again(&self) -> Vec<LintDiagnostic> {
        let ends: Vec<usize> = self
            .states()
            .filter(|(i, state)| self.is_reached[*i] && state.kind == StateKind::Final)
            .map(|(i, _)| i)
            .collect();
        let begins_again = self.machine.edges.iter().any(|edge| self.machine.starts.contains(&edge.to));
        if !self.machine.is_guessed || ends.is_empty() || begins_again {
            return Vec::new();
        }
        let into = self.machine.edges.iter().filter(|edge| ends.contains(&edge.to)).map(|edge| edge.place);
        let what = format!(
            "a run is over at {}, and no edge leads back to {}",
            self.names_of(&ends),
            self.names_of(&self.machine.starts)
        );
        vec![finding(into, what, "lead back to the start, unless every run is to have a machine of its own")]
    }

    fn once(&self) -> Vec<LintDiagnostic> {
        let mut alike: BTreeMap<(usize, usize, String, String), Vec<&Edge>> = BTreeMap::new();
        for edge in &self.machine.edges {
            let (trigger, guard) = (plain(edge.trigger.as_deref()), plain(edge.guard.as_deref()));
            alike.entry((edge.from, edge.to, trigger, guard)).or_default().push(edge);
        }
        let twice = alike.into_values().filter(|edges| edges.iter().any(|edge| edge.place != edges[0].place));
        twice
            .map(|edges| {
                let (from, to) = (&self.state(edges[0].from).name, &self.state(edges[0].to).name);
                let places = edges.iter().map(|edge| edge.place);
                finding(
                    places,
                    format!("the edge from `{from}` to `{to}` is there more than once"),
                    "keep one of them",
                )
            })
            .collect()
    }

    fn names(&self) -> Vec<LintDiagnostic> {
        let mut found = Vec::new();
        for (i, state) in self.states() {
            for (other, earlier) in self.states().take(i) {
                let same = plain_name(&state.name) == plain_name(&earlier.name);
                let suspect = self.is_suspect(i) || self.is_suspect(other);
                if same || suspect && is_near(&state.name, &earlier.name) {
                    found.push(finding(
                        [state.place, earlier.place],
                        format!("`{}` and `{}` are two states", state.name, earlier.name),
                        "write both alike if they are meant to be one, or name them further apart",
                    ));
                }
            }
        }
        found
    }

    /// Whether a state may be a typo: it has no outgoing edge, or no incoming one.
    fn is_suspect(&self, state: usize) -> bool {
        self.is_dead_end(state) || !self.is_reached[state]
    }

    /// The state that was probably meant, as the start of the help.
    fn meant(&self, state: usize) -> String {
        let name = &self.state(state).name;
        let near = self.states().filter(|(i, other)| *i != state && is_near(name, &other.name));
        let nearest = near.min_by_key(|(_, other)| strsim::damerau_levenshtein(name, &other.name));
        nearest.map_or_else(String::new, |(_, other)| format!("did you mean `{}`? ", other.name))
    }

    fn names_of(&self, states: &[usize]) -> String {
        let names: Vec<String> =
            states.iter().map(|state| format!("`{}`", self.state(*state).name)).collect();
        listed(&names)
    }
}

fn finding(
    places: impl IntoIterator<Item = SourceLocation>,
    what: impl Into<String>,
    todo: impl Into<String>,
) -> LintDiagnostic {
    let mut distinct = Vec::new();
    for place in places {
        if !distinct.contains(&place) {
            distinct.push(place);
        }
    }
    LintDiagnostic { places: distinct, message: what.into(), help: todo.into() }
}

/// The states that edges reach, in the direction that `ends` gives.
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

/// The shortest path from a state back to itself.
fn shortest_loop(graph: &DiGraph<(), ()>, start: usize) -> Option<Vec<usize>> {
    let start = NodeIndex::new(start);
    let mut before = vec![None; graph.node_count()];
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        // petgraph returns the latest edge first.
        let mut next: Vec<NodeIndex> = graph.neighbors(state).collect();
        next.reverse();
        for next in next {
            if next == start {
                let mut way = vec![state.index()];
                while let Some(earlier) =
                    before[way[way.len() - 1]].filter(|_| way[way.len() - 1] != start.index())
                {
                    way.push(earlier);
                }
                way.reverse();
                return Some(way);
            }
            if before[next.index()].is_none() {
                before[next.index()] = Some(state.index());
                open.push_back(next);
            }
        }
    }
    None
}

/// A label for comparison: in lower case, with single spaces.
fn plain(label: Option<&str>) -> String {
    label.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || "[]*".contains(*c)).collect::<String>().to_lowercase()
}

/// Whether one name may be a typo of the other. Numbers are no typos, and short names are similar anyway.
fn is_near(one: &str, other: &str) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let length = one.chars().count().min(other.chars().count());
    let distance = strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase());
    digits(one) == digits(other) && length >= 4 && distance <= 1.max(length / 6) && !one.starts_with("[*]")
}

fn listed(items: &[String]) -> String {
    joined(items, "and")
}

fn either(items: &[String]) -> String {
    joined(items, "or")
}

fn joined(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}
