//! The structure of a diagram: nested states and the edges between them.
//!
//! A state belongs to the innermost state whose braces contain a mention of it; of several, to the last, as Mermaid
//! renders it.

use super::super::fault_at;
use super::Block;
use super::statement::{Shape, Statement, Word};
use orchestrion_yaml::LabeledError;
use std::collections::BTreeMap;

/// A diagram.
#[derive(Debug, Default)]
pub(super) struct ParsedDiagram {
    /// The states, in the order of first mention.
    pub(super) states: Vec<DiagramState>,
    pub(super) edges: Vec<DiagramEdge>,
    /// The byte span of the header line.
    pub(super) header: (usize, usize),
}

/// A state of a diagram.
#[derive(Debug)]
pub(super) struct DiagramState {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// The enclosing state.
    pub(super) inside: Option<usize>,
    /// The byte offset of the first mention.
    pub(super) start: usize,
}

/// An edge of a diagram.
#[derive(Debug)]
pub(super) struct DiagramEdge {
    /// `None` for `[*]`: the initial state of the enclosing state.
    pub(super) from: Option<usize>,
    /// `None` for `[*]`: the final state of the enclosing state.
    pub(super) to: Option<usize>,
    pub(super) label: Option<String>,
    /// The enclosing state.
    pub(super) inside: Option<usize>,
    /// Its byte offset.
    pub(super) start: usize,
}

impl ParsedDiagram {
    pub(super) fn of(block: &Block<'_>) -> Result<Self, LabeledError> {
        let mut drawn = Self { header: block.header.span(), ..Self::default() };
        let mut numbers = BTreeMap::new();
        // The open braces: their states and positions.
        let mut open: Vec<(usize, (usize, usize))> = Vec::new();
        let mut lines = block.lines.iter();
        while let Some(line) = lines.next() {
            let inside = open.last().map(|(state, _)| *state);
            match Statement::of(*line)? {
                Statement::Looks => {}
                Statement::Text { ends } => {
                    if !lines.any(|line| line.text.trim() == ends) {
                        let help = format!("end it with a line `{ends}`");
                        return Err(fault_at(line.span(), "this text has no end", help, "begins here"));
                    }
                }
                Statement::Close => {
                    if open.pop().is_none() {
                        return Err(fault_at(
                            line.span(),
                            "this brace closes nothing",
                            "remove it, or open the state that it should close: state Name {",
                            "nothing is open",
                        ));
                    }
                }
                Statement::State { name, shape, opens } => {
                    let state = drawn.mention(&mut numbers, name, &open);
                    if shape != Shape::Plain {
                        drawn.states[state].shape = shape;
                    }
                    if opens {
                        if open.iter().any(|(outer, _)| *outer == state) {
                            return Err(fault_at(
                                line.span(),
                                format!("`{}` stands inside itself", name.text),
                                "give one of the two another name",
                                "opened again",
                            ));
                        }
                        open.push((state, line.span()));
                    }
                }
                Statement::Edge { from, to, label } => {
                    let start = from.start;
                    let [from, to] = [from, to]
                        .map(|word| (word.text != "[*]").then(|| drawn.mention(&mut numbers, word, &open)));
                    let label = label.map(str::to_string);
                    drawn.edges.push(DiagramEdge { from, to, label, inside, start });
                }
            }
        }
        match open.last() {
            None => Ok(drawn),
            Some((_, span)) => Err(fault_at(
                *span,
                "this brace is never closed",
                "close it with a line `}` before the diagram ends",
                "opened here",
            )),
        }
    }

    /// Returns the state of this name, mentioned inside these braces.
    fn mention<'a>(
        &mut self,
        numbers: &mut BTreeMap<&'a str, usize>,
        name: Word<'a>,
        open: &[(usize, (usize, usize))],
    ) -> usize {
        let state = *numbers.entry(name.text).or_insert_with(|| {
            let (name, start) = (name.text.to_string(), name.start);
            self.states.push(DiagramState { name, shape: Shape::Plain, inside: None, start });
            self.states.len() - 1
        });
        // A state must not enclose itself, directly or indirectly.
        if let Some((inside, _)) = open.last()
            && !self.within(*inside).any(|outer| outer == state)
        {
            self.states[state].inside = Some(*inside);
        }
        state
    }

    /// Returns a state and all its enclosing states.
    pub(super) fn within(&self, state: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(state), |state| self.states[*state].inside)
    }
}
