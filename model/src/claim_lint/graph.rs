//! The graph of one model, with what each step says to the claims.

use super::edges::{Classes, Edge, Edges};
use crate::adversary::Adversary;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{Model, Scope};
use orchestrion_explorer::fingerprint;
use orchestrion_kernel::{Event, Input, State};
use orchestrion_user_claims::{EventFold, LetterId, Letters, UserClaim};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most nodes of a model. A larger model is left out, and the lint is incomplete.
const NODES_MAX: usize = 4_000_000;

/// A node: a state of the kernel with the fold of its events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    state: Box<State>,
    fold: EventFold,
}

/// The explored machine.
#[derive(Debug)]
pub(super) struct ClaimGraph {
    pub(super) model: Model,
    pub(super) subject: KernelUnderTest,
    adversary: Adversary,
    pub(super) letters: Letters,
    pub(super) words: Vec<Vec<LetterId>>,
    nodes: Edges,
    classes: Classes,
    /// Whether a class has a path on which a request ends.
    pub(super) can_end: Vec<bool>,
    pub(super) is_complete: bool,
}

impl ClaimGraph {
    /// Explores a model of a kernel.
    pub(super) fn explore(
        kernel: &KernelUnderTest,
        model: Model,
        scope: &Scope,
        claims: &[UserClaim],
    ) -> Self {
        let subject = kernel.clone().with_scope(model, scope);
        let adversary = Adversary::new(&subject.policy, model, scope);
        let mut graph = Self {
            model,
            subject,
            adversary,
            letters: Letters::new(claims),
            words: vec![Vec::new()],
            nodes: Edges::default(),
            classes: Classes::of(&Edges::default()),
            can_end: Vec::new(),
            is_complete: true,
        };
        graph.build();
        graph.classes = Classes::of(&graph.nodes);
        graph.can_end = graph.classes.edges.nodes_before(|edge| edge.ends);
        graph
    }

    fn build(&mut self) {
        let mut words: FxHashMap<Vec<LetterId>, u32> = FxHashMap::from_iter([(Vec::new(), 0)]);
        let start = Node { state: Box::new(initial_state()), fold: EventFold::default() };
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::from_iter([(fingerprint(&start), 0)]);
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for (position, input) in self.adversary.inputs(&node.state).iter().enumerate() {
                let Some((after, word, ends)) = self.take(&node, input) else { continue };
                let next = count(self.words.len());
                let word = *words.entry(word).or_insert_with_key(|word| {
                    self.words.push(word.clone());
                    next
                });
                let number = count(numbers.len());
                let to = *numbers.entry(fingerprint(&after)).or_insert(number);
                if to == number {
                    open.push_back(after);
                }
                let position = u16::try_from(position).unwrap_or(u16::MAX);
                self.nodes.push(Edge { to, word, position, ends });
            }
            self.nodes.end_node();
            if numbers.len() > NODES_MAX {
                self.is_complete = false;
                // The nodes that are left have no edges.
                open.drain(..).for_each(|_| self.nodes.end_node());
            }
        }
    }

    /// Takes an input: the node after it, its letters, and whether a request ends. `None` if the kernel refuses it.
    fn take(&mut self, node: &Node, input: &Input) -> Option<(Node, Vec<LetterId>, bool)> {
        let events = self.subject.decide(&node.state, input).ok()?;
        let mut after =
            Node { state: Box::new(self.subject.apply(&node.state, &events)), fold: node.fold.clone() };
        let (letters, policy) = (&mut self.letters, &self.subject.policy);
        let word = events.iter().filter_map(|event| letters.read(&mut after.fold, policy, event)).collect();
        let ends = events.iter().any(|event| matches!(event, Event::FinalAnswer { .. }));
        after.state.canonicalize();
        after.fold.canonicalize();
        Some((after, word, ends))
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The edges of a class.
    pub(super) fn edges(&self, class: u32) -> &[Edge] {
        self.classes.edges.of(class)
    }

    /// The inputs of a run over the edges at these positions of classes, from the initial state on.
    pub(super) fn inputs(&self, positions: &[u16]) -> Vec<Input> {
        let (mut state, mut inputs) = (initial_state(), Vec::new());
        let (mut node, mut class) = (0, 0);
        for position in positions {
            let Some(like) = self.edges(class).get(usize::from(*position)) else { return inputs };
            let Some(edge) = self.classes.edge_of(&self.nodes, node, *like) else { return inputs };
            (node, class) = (edge.to, like.to);
            let input = self.adversary.inputs(&state).into_iter().nth(usize::from(edge.position));
            let Some(input) = input else { return inputs };
            let Ok(events) = self.subject.decide(&state, &input) else { return inputs };
            state = self.subject.apply(&state, &events);
            state.canonicalize();
            inputs.push(input);
        }
        inputs
    }
}

/// A number of nodes or edges. [`NODES_MAX`] bounds it.
pub(super) fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
