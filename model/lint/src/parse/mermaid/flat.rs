//! Flattening of a diagram.
//!
//! - An edge to a composite state leads to its initial state, or to its first state if no initial state is drawn.
//! - `[*]` as a target ends the composite state. The edges of the composite state follow. UML defines this for edges
//!   without an event, and a diagram names no events.
//! - Without a final state inside, the edges of the composite state leave from every state inside.
//! - A diagram does not mark waiting states: every state waits except bars and diamonds.

use super::super::{fault_at, place};
use super::drawn::{DiagramEdge, ParsedDiagram};
use super::statement::Shape;
use crate::{Edge, Machine, State, StateKind};
use orchestrion_yaml::LabeledError;

/// The assumptions behind a verdict.
pub(super) const GUESSED: &str = "a drawing does not say which states wait, which edges are for errors and which for limits: \
     taken to wait is every state that is no bar and no diamond; errors and limits are told by the words of the labels. \
     Labels are compared whole, without case";

/// Prefixes of words that indicate a failed call.
const ERRORS: [&str; 14] = [
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
const LIMITS: [&str; 7] = ["limit", "max", "attempt", "exhaust", "bound", "once", "twice"];
/// Phrases that indicate a limit.
const LIMITING: [&str; 3] = ["at most", "up to", "rule of"];

/// Returns the machine of a diagram.
pub(super) fn machine(text: &str, drawn: &ParsedDiagram) -> Result<Machine, LabeledError> {
    if !drawn.edges.iter().any(|edge| edge.inside.is_none() && edge.from.is_none()) {
        return Err(fault_at(
            drawn.header,
            "the diagram does not say where it starts",
            "draw an edge from `[*]` to the first state, outside of all braces",
            "no start",
        ));
    }
    let flat = Flattener::of(text, drawn);
    let mut machine = Machine { states: flat.states.clone(), is_guessed: true, ..Machine::default() };
    for arrow in &drawn.edges {
        match arrow.from {
            None if arrow.inside.is_none() => machine.starts.extend(flat.enter(arrow)),
            None => {}
            Some(from) => {
                for from in flat.leave(from, arrow) {
                    machine.edges.extend(flat.enter(arrow).into_iter().map(|to| edge(text, arrow, from, to)));
                }
            }
        }
    }
    Ok(machine)
}

fn edge(text: &str, arrow: &DiagramEdge, from: usize, to: usize) -> Edge {
    let label = arrow.label.as_deref().unwrap_or_default().to_lowercase();
    let words = || label.split(|c: char| !c.is_alphanumeric());
    let has = |begins: &[&str]| words().any(|word| begins.iter().any(|begin| word.starts_with(begin)));
    let spaced = words().collect::<Vec<_>>().join(" ");
    Edge {
        from,
        to,
        trigger: arrow.label.clone(),
        guard: None,
        is_error: has(&ERRORS),
        is_limited: has(&LIMITS) || LIMITING.iter().any(|text| spaced.contains(text)),
        place: place(text, arrow.start),
    }
}

struct Flattener<'a> {
    drawn: &'a ParsedDiagram,
    states: Vec<State>,
    /// The flat state of each simple state of the diagram.
    plain: Vec<Option<usize>>,
    /// The flat final state inside each composite state, if drawn.
    end: Vec<Option<usize>>,
    /// The final state of the diagram, if drawn.
    last: Option<usize>,
}

impl<'a> Flattener<'a> {
    fn of(text: &str, drawn: &'a ParsedDiagram) -> Self {
        let count = drawn.states.len();
        let mut flat =
            Self { drawn, states: Vec::new(), plain: vec![None; count], end: vec![None; count], last: None };
        for (i, state) in drawn.states.iter().enumerate() {
            if flat.inside(i).next().is_none() {
                let kind = match state.shape {
                    Shape::Plain => StateKind::Waiting,
                    Shape::Choice => StateKind::Automatic,
                    Shape::Bar => StateKind::Fork,
                };
                flat.plain[i] = Some(flat.add(state.name.clone(), kind, text, state.start));
                flat.states
                    .last_mut()
                    .into_iter()
                    .for_each(|flat_state| flat_state.note = remark(text, drawn, i));
            }
        }
        for arrow in drawn.edges.iter().filter(|arrow| arrow.to.is_none()) {
            let at = text[arrow.start..].find("[*]").map_or(arrow.start, |behind| arrow.start + behind);
            match arrow.inside {
                None if flat.last.is_none() => {
                    flat.last = Some(flat.add("[*]".into(), StateKind::Final, text, at))
                }
                Some(around) if flat.end[around].is_none() => {
                    let name = format!("[*] of {}", drawn.states[around].name);
                    let end = flat.add(name, StateKind::Automatic, text, at);
                    flat.states[end].note = Some(format!(
                        "what is inside `{}` ends here, and no edge leaves `{0}` itself",
                        drawn.states[around].name
                    ));
                    flat.end[around] = Some(end);
                }
                _ => {}
            }
        }
        flat
    }

    fn add(&mut self, name: String, kind: StateKind, text: &str, at: usize) -> usize {
        self.states.push(State { name, kind, place: place(text, at), note: None });
        self.states.len() - 1
    }

    /// Returns the states directly inside a state of the diagram.
    fn inside(&self, state: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let states = self.drawn.states.iter().enumerate();
        states.filter(move |(_, other)| other.inside == Some(state)).map(|(i, _)| i)
    }

    /// Returns the flat targets of an edge.
    fn enter(&self, arrow: &DiagramEdge) -> Vec<usize> {
        let Some(to) = arrow.to else {
            return arrow.inside.map_or(self.last, |around| self.end[around]).into_iter().collect();
        };
        let mut found = Vec::new();
        let (mut open, mut seen) = (vec![to], Vec::new());
        while let Some(state) = open.pop() {
            if seen.contains(&state) {
                continue;
            }
            seen.push(state);
            let begins =
                self.drawn.edges.iter().filter(|edge| edge.from.is_none() && edge.inside == Some(state));
            let begins: Vec<usize> = begins.filter_map(|edge| edge.to).collect();
            match self.plain[state] {
                Some(plain) => found.push(plain),
                None if begins.is_empty() => open.extend(self.inside(state).next()),
                None => open.extend(begins),
            }
        }
        found
    }

    /// Returns the flat sources of an edge of a state.
    fn leave(&self, from: usize, arrow: &DiagramEdge) -> Vec<usize> {
        if let Some(only) = self.plain[from].or(self.end[from]) {
            return vec![only];
        }
        // An edge of the state itself overrides one of an enclosing state.
        let says = |state: usize| {
            let mut own = self.drawn.edges.iter().filter(|edge| edge.from == Some(state));
            own.any(|edge| edge.label == arrow.label)
        };
        let within = |state: &usize| self.drawn.within(*state).skip(1).any(|outer| outer == from);
        let states = (0..self.drawn.states.len()).filter(within);
        states.filter(|state| !says(*state)).filter_map(|state| self.plain[state]).collect()
    }
}

/// Returns why edges of an enclosing state may not apply to a state.
fn remark(text: &str, drawn: &ParsedDiagram, state: usize) -> Option<String> {
    drawn.within(state).skip(1).find_map(|around| {
        let leaves = drawn.edges.iter().find(|edge| edge.from == Some(around))?;
        let ends = drawn.edges.iter().find(|edge| edge.to.is_none() && edge.inside == Some(around))?;
        let name = |state: Option<usize>| state.map_or("[*]", |state| &drawn.states[state].name[..]);
        let label = ends.label.as_ref().map_or_else(String::new, |label| format!(" : {label}"));
        Some(format!(
            "`{}` has an edge on to `{}` (line {}), but by the letter of UML that is taken once `{0}` has ended, \
             that is after `{} --> [*]{label}` (line {})",
            name(Some(around)),
            name(leaves.to),
            place(text, leaves.start).line,
            name(ends.from),
            place(text, ends.start).line,
        ))
    })
}
