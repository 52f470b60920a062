//! The structure of a diagram: nested states and the edges between them.
//!
//! A state belongs to the innermost state whose braces contain a mention of it; of several, to the last, as Mermaid
//! renders it.

use super::super::common::labeled_error;
use super::statement::{Line, Shape, Statement, Word};
use orchestrion_yaml::LabeledError;
use std::collections::{BTreeMap, BTreeSet};

/// A diagram in a text.
pub(super) struct Block<'a> {
    pub(super) header: Line<'a>,
    /// The lines below the header.
    pub(super) lines: Vec<Line<'a>>,
}

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
    pub(super) parent: Option<usize>,
    /// The region of the enclosing state, from 0.
    pub(super) region: usize,
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
    pub(super) parent: Option<usize>,
    /// The region of the enclosing state or of the diagram, from 0.
    pub(super) region: usize,
    /// Its byte offset.
    pub(super) start: usize,
}

/// An open brace.
struct OpenBrace {
    state: usize,
    span: (usize, usize),
    /// The current region.
    region: usize,
}

impl ParsedDiagram {
    pub(super) fn from_block(block: &Block<'_>) -> Result<Self, LabeledError> {
        let mut diagram = Self { header: block.header.span(), ..Self::default() };
        let mut numbers = BTreeMap::new();
        let mut open: Vec<OpenBrace> = Vec::new();
        // The current region outside all braces.
        let mut outer_region = 0;
        let mut lines = block.lines.iter();
        while let Some(line) = lines.next() {
            let parent = open.last().map(|brace| brace.state);
            match Statement::parse(*line)? {
                Statement::Rendering => {}
                Statement::Text { ends } => {
                    if !lines.any(|line| line.text.trim() == ends) {
                        let help = format!("end the text with a line `{ends}`");
                        return Err(labeled_error(
                            line.span(),
                            format!(
                                "unterminated text: expected a line `{ends}`, found the end of the diagram"
                            ),
                            help,
                            "starts here",
                        ));
                    }
                }
                Statement::Close => {
                    if open.pop().is_none() {
                        return Err(labeled_error(
                            line.span(),
                            "unmatched brace: expected an open state, found `}`",
                            "remove it, or open a state: state Name {",
                            "no open state",
                        ));
                    }
                }
                Statement::Divider => {
                    *open.last_mut().map_or(&mut outer_region, |brace| &mut brace.region) += 1;
                }
                Statement::State { name, shape, opens } => {
                    let state = diagram.mention_state(&mut numbers, name, &open);
                    if shape != Shape::Plain {
                        diagram.states[state].shape = shape;
                    }
                    if opens {
                        if open.iter().any(|outer| outer.state == state) {
                            return Err(labeled_error(
                                line.span(),
                                format!("recursive state: `{}` contains itself", name.text),
                                "rename one of the two states",
                                "opened again",
                            ));
                        }
                        open.push(OpenBrace { state, span: line.span(), region: 0 });
                    }
                }
                Statement::Edge { from, to, label } => {
                    let start = from.start;
                    let [from, to] = [from, to].map(|word| {
                        (word.text != "[*]").then(|| diagram.mention_state(&mut numbers, word, &open))
                    });
                    let label = label.map(str::to_string);
                    let region = open.last().map_or(outer_region, |brace| brace.region);
                    diagram.edges.push(DiagramEdge { from, to, label, parent, region, start });
                }
            }
        }
        match open.last() {
            None => Ok(diagram),
            Some(brace) => Err(labeled_error(
                brace.span,
                "unclosed brace: expected `}`, found the end of the diagram",
                "add a line `}`",
                "opened here",
            )),
        }
    }

    /// Returns the state of this name, mentioned inside these braces.
    fn mention_state<'a>(
        &mut self,
        numbers: &mut BTreeMap<&'a str, usize>,
        name: Word<'a>,
        open: &[OpenBrace],
    ) -> usize {
        let state = *numbers.entry(name.text).or_insert_with(|| {
            let (name, start) = (name.text.to_string(), name.start);
            self.states.push(DiagramState { name, shape: Shape::Plain, parent: None, region: 0, start });
            self.states.len() - 1
        });
        // A state must not enclose itself, directly or indirectly.
        if let Some(brace) = open.last()
            && !self.enclosing(brace.state).any(|outer| outer == state)
        {
            self.states[state].parent = Some(brace.state);
            self.states[state].region = brace.region;
        }
        state
    }

    /// Returns the initial edges of a state or of the diagram.
    pub(super) fn initial_edges(&self, parent: Option<usize>) -> impl Iterator<Item = &DiagramEdge> {
        self.edges.iter().filter(move |edge| edge.from.is_none() && edge.parent == parent)
    }

    /// Returns the states directly inside a state.
    pub(super) fn children(&self, state: usize) -> impl Iterator<Item = usize> {
        let states = self.states.iter().enumerate();
        states.filter(move |(_, other)| other.parent == Some(state)).map(|(i, _)| i)
    }

    /// Returns the regions of a state or of the diagram: those with content. Outside all braces, only an initial state
    /// makes a region.
    pub(super) fn regions(&self, parent: Option<usize>) -> BTreeSet<usize> {
        let children = parent.into_iter().flat_map(|parent| self.children(parent));
        let of_children = children.map(|child| self.states[child].region);
        self.initial_edges(parent).map(|edge| edge.region).chain(of_children).collect()
    }

    /// Returns a state and all its enclosing states.
    pub(super) fn enclosing(&self, state: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(state), |state| self.states[*state].parent)
    }
}
