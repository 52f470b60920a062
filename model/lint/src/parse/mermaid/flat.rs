//! Flattening of a diagram.
//!
//! - An edge to a composite state leads to its initial state, or to its first state if no initial state is drawn.
//! - A composite state with several regions is a fork to the initial state of each region, and so is the start of a diagram
//!   with several regions: no initial state of a region alone is an initial state of the diagram. The composite state ends
//!   with any of its regions, because the graph does not show that the others have ended.
//! - `[*]` as a target ends the composite state. The edges of the composite state follow. UML defines this for edges
//!   without an event, and a diagram names no events.
//! - Without a final state inside, the edges of the composite state leave from every state inside.
//! - A diagram does not mark waiting states: every state waits except bars and diamonds.

use super::super::common::{labeled_error, location_at};
use super::diagram::{DiagramEdge, ParsedDiagram};
use super::statement::Shape;
use crate::{Edge, Machine, State, StateKind};
use orchestrion_yaml::LabeledError;
use std::collections::BTreeMap;

/// The assumptions behind a verdict.
pub(super) const ASSUMPTIONS: &str = "every state except bars and diamonds is assumed to wait; error and limit edges are recognized by \
     words in their labels; labels are compared as a whole, ignoring case";

/// Prefixes of words that indicate a failed call.
const ERROR_PREFIXES: [&str; 14] = [
    "error",
    "fail",
    "timeout",
    "timed",
    "abort",
    "crash",
    "exception",
    "unavailable",
    "unreachable",
    "malformed",
    "mismatch",
    "invalid",
    "denied",
    "lost",
];
/// Prefixes of words that indicate a limit.
const LIMIT_PREFIXES: [&str; 7] = ["limit", "max", "attempt", "exhaust", "bound", "once", "twice"];
/// Phrases that indicate a limit.
const LIMIT_PHRASES: [&str; 3] = ["at most", "up to", "rule of"];

/// Returns the machine of a diagram.
pub(super) fn machine(text: &str, diagram: &ParsedDiagram) -> Result<Machine, LabeledError> {
    if !diagram.edges.iter().any(|edge| edge.parent.is_none() && edge.from.is_none()) {
        return Err(labeled_error(
            diagram.header,
            "no initial state: expected an edge from `[*]` outside all braces, found none",
            "add a line such as `[*] --> First`",
            "no initial state",
        ));
    }
    let flat = Flattener::new(text, diagram);
    let mut machine = Machine { states: flat.states.clone(), is_guessed: true, ..Machine::default() };
    machine.starts = match flat.forks.get(&None) {
        Some(fork) => vec![*fork],
        None => diagram.initial_edges(None).flat_map(|arrow| flat.targets(arrow)).collect(),
    };
    for arrow in &diagram.edges {
        let sources = arrow.from.map_or_else(Vec::new, |from| flat.sources(from, arrow));
        for from in sources {
            machine.edges.extend(flat.targets(arrow).into_iter().map(|to| flat_edge(text, arrow, from, to)));
        }
    }
    for (parent, fork) in &flat.forks {
        let targets = diagram.regions(*parent).into_iter().flat_map(|region| flat.entered(*parent, region));
        machine.edges.extend(targets.map(|to| region_edge(&flat.states, *fork, to)));
    }
    Ok(machine)
}

/// Returns the edge that enters a region, without a trigger.
fn region_edge(states: &[State], fork: usize, to: usize) -> Edge {
    let location = states[fork].location;
    Edge { from: fork, to, trigger: None, guard: None, is_error: false, is_limited: false, location }
}

fn flat_edge(text: &str, arrow: &DiagramEdge, from: usize, to: usize) -> Edge {
    let label = arrow.label.as_deref().unwrap_or_default().to_lowercase();
    let words = || label.split(|c: char| !c.is_alphanumeric());
    let has = |prefixes: &[&str]| words().any(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    let spaced = words().collect::<Vec<_>>().join(" ");
    Edge {
        from,
        to,
        trigger: arrow.label.clone(),
        guard: None,
        is_error: has(&ERROR_PREFIXES),
        is_limited: has(&LIMIT_PREFIXES) || LIMIT_PHRASES.iter().any(|text| spaced.contains(text)),
        location: location_at(text, arrow.start),
    }
}

struct Flattener<'a> {
    diagram: &'a ParsedDiagram,
    states: Vec<State>,
    /// The flat state of each simple state of the diagram.
    simple_states: Vec<Option<usize>>,
    /// The flat final state inside each composite state, if drawn.
    inner_finals: Vec<Option<usize>>,
    /// The final state of the diagram, if drawn.
    final_state: Option<usize>,
    /// The fork to the regions of each state with several, and of the diagram.
    forks: BTreeMap<Option<usize>, usize>,
}

impl<'a> Flattener<'a> {
    fn new(text: &str, diagram: &'a ParsedDiagram) -> Self {
        let count = diagram.states.len();
        let mut flat = Self {
            diagram,
            states: Vec::new(),
            simple_states: vec![None; count],
            inner_finals: vec![None; count],
            final_state: None,
            forks: BTreeMap::new(),
        };
        if diagram.regions(None).len() > 1 {
            let start = flat.add_state("[*] start".into(), StateKind::Fork, text, diagram.header.0);
            flat.forks.insert(None, start);
        }
        for (i, state) in diagram.states.iter().enumerate() {
            if diagram.regions(Some(i)).len() > 1 {
                let fork = flat.add_state(state.name.clone(), StateKind::Fork, text, state.start);
                flat.forks.insert(Some(i), fork);
            }
            if diagram.children(i).next().is_none() {
                let kind = match state.shape {
                    Shape::Plain => StateKind::Waiting,
                    Shape::Choice => StateKind::Automatic,
                    Shape::Bar => StateKind::Fork,
                };
                flat.simple_states[i] = Some(flat.add_state(state.name.clone(), kind, text, state.start));
                flat.states
                    .last_mut()
                    .into_iter()
                    .for_each(|flat_state| flat_state.note = explain_missing_edges(text, diagram, i));
            }
        }
        for arrow in diagram.edges.iter().filter(|arrow| arrow.to.is_none()) {
            let at = text[arrow.start..].find("[*]").map_or(arrow.start, |offset| arrow.start + offset);
            match arrow.parent {
                None if flat.final_state.is_none() => {
                    flat.final_state = Some(flat.add_state("[*]".into(), StateKind::Final, text, at))
                }
                Some(outer_state) if flat.inner_finals[outer_state].is_none() => {
                    let name = format!("[*] of {}", diagram.states[outer_state].name);
                    let end = flat.add_state(name, StateKind::Automatic, text, at);
                    flat.states[end].note = Some(format!(
                        "`{}` ends here, and `{0}` itself has no outgoing edge",
                        diagram.states[outer_state].name
                    ));
                    flat.inner_finals[outer_state] = Some(end);
                }
                _ => {}
            }
        }
        flat
    }

    fn add_state(&mut self, name: String, kind: StateKind, text: &str, at: usize) -> usize {
        self.states.push(State { name, kind, location: location_at(text, at), note: None });
        self.states.len() - 1
    }

    /// Returns the flat targets of an edge.
    fn targets(&self, arrow: &DiagramEdge) -> Vec<usize> {
        let Some(to) = arrow.to else {
            return arrow
                .parent
                .map_or(self.final_state, |outer_state| self.inner_finals[outer_state])
                .into_iter()
                .collect();
        };
        self.flat_states(vec![to])
    }

    /// Returns the flat states that a region begins with.
    fn entered(&self, parent: Option<usize>, region: usize) -> Vec<usize> {
        self.flat_states(self.first_states(parent, |other| other == region))
    }

    /// Returns the flat states of states of the diagram that are entered.
    fn flat_states(&self, mut open: Vec<usize>) -> Vec<usize> {
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        while let Some(state) = open.pop() {
            if seen.contains(&state) {
                continue;
            }
            seen.push(state);
            match self.simple_states[state].or_else(|| self.forks.get(&Some(state)).copied()) {
                Some(flat_state) => found.push(flat_state),
                None => open.extend(self.first_states(Some(state), |_| true)),
            }
        }
        found
    }

    /// Returns the initial states of some regions; without any, the first state there.
    fn first_states(&self, parent: Option<usize>, is_included: impl Fn(usize) -> bool) -> Vec<usize> {
        let edges = self.diagram.initial_edges(parent).filter(|edge| is_included(edge.region));
        let initial: Vec<usize> = edges.filter_map(|edge| edge.to).collect();
        if !initial.is_empty() {
            return initial;
        }
        let mut children = parent.into_iter().flat_map(|parent| self.diagram.children(parent));
        children.find(|child| is_included(self.diagram.states[*child].region)).into_iter().collect()
    }

    /// Returns the flat sources of an edge of a state.
    fn sources(&self, from: usize, arrow: &DiagramEdge) -> Vec<usize> {
        if let Some(only) = self.simple_states[from].or(self.inner_finals[from]) {
            return vec![only];
        }
        // An edge of the state itself overrides one of an enclosing state.
        let overrides = |state: usize| {
            let mut own = self.diagram.edges.iter().filter(|edge| edge.from == Some(state));
            own.any(|edge| edge.label == arrow.label)
        };
        let within = |state: &usize| self.diagram.enclosing(*state).skip(1).any(|outer| outer == from);
        let states = (0..self.diagram.states.len()).filter(within);
        states.filter(|state| !overrides(*state)).filter_map(|state| self.simple_states[state]).collect()
    }
}

/// Returns why edges of an enclosing state may not apply to a state.
fn explain_missing_edges(text: &str, diagram: &ParsedDiagram, state: usize) -> Option<String> {
    diagram.enclosing(state).skip(1).find_map(|outer_state| {
        let leaves = diagram.edges.iter().find(|edge| edge.from == Some(outer_state))?;
        let ends = diagram.edges.iter().find(|edge| edge.to.is_none() && edge.parent == Some(outer_state))?;
        let name = |state: Option<usize>| state.map_or("[*]", |state| &diagram.states[state].name[..]);
        let label = ends.label.as_ref().map_or_else(String::new, |label| format!(" : {label}"));
        Some(format!(
            "`{}` has an edge to `{}` (line {}), but UML takes it only after `{0}` has ended by \
             `{} --> [*]{label}` (line {})",
            name(Some(outer_state)),
            name(leaves.to),
            location_at(text, leaves.start).line,
            name(ends.from),
            location_at(text, ends.start).line,
        ))
    })
}
