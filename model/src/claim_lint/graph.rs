//! The graph of one model, with what each step says to the claims.

use crate::adversary::Adversary;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{Model, Scope};
use orchestrion_explorer::fingerprint;
use orchestrion_kernel::{Event, Input, State};
use orchestrion_user_claims::{EventFold, LetterId, Letters, UserClaim};
use std::collections::{HashMap, VecDeque};

/// The most nodes of a model. A larger model is left out, and the lint is incomplete.
const NODES_MAX: usize = 4_000_000;

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// The word of its letters.
    pub(super) word: u32,
    /// The position among the inputs of the state.
    pub(super) position: u16,
    /// A request ends.
    pub(super) ends: bool,
}

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
    /// The first edge of each node, and the number of edges.
    starts: Vec<u32>,
    edges: Vec<Edge>,
    /// Whether a node has a path on which a request ends.
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
            starts: Vec::new(),
            edges: Vec::new(),
            can_end: Vec::new(),
            is_complete: true,
        };
        graph.build();
        graph.can_end = graph.nodes_before(|edge| edge.ends);
        graph
    }

    fn build(&mut self) {
        let mut words: HashMap<Vec<LetterId>, u32> = HashMap::from([(Vec::new(), 0)]);
        let start = Node { state: Box::new(initial_state()), fold: EventFold::default() };
        let mut numbers: HashMap<u64, u32> = HashMap::from([(fingerprint(&start), 0)]);
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            self.starts.push(count(self.edges.len()));
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
                self.edges.push(Edge { to, word, position, ends });
            }
            if numbers.len() > NODES_MAX {
                self.is_complete = false;
                // The nodes that are left have no edges.
                self.starts.resize(numbers.len(), count(self.edges.len()));
                break;
            }
        }
        self.starts.push(count(self.edges.len()));
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
        self.starts.len().saturating_sub(1)
    }

    /// The edges of a node.
    pub(super) fn edges(&self, node: u32) -> &[Edge] {
        let at = |node: usize| self.starts.get(node).map_or(self.edges.len(), |start| *start as usize);
        self.edges.get(at(node as usize)..at(node as usize + 1)).unwrap_or(&[])
    }

    /// The nodes from which a path leads to such an edge, or over it.
    fn nodes_before(&self, is_goal: impl Fn(&Edge) -> bool) -> Vec<bool> {
        let mut before = vec![false; self.len()];
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        let mut open = Vec::new();
        for node in 0..count(self.len()) {
            for edge in self.edges(node) {
                sources[edge.to as usize].push(node);
                if is_goal(edge) && !std::mem::replace(&mut before[node as usize], true) {
                    open.push(node);
                }
            }
        }
        while let Some(node) = open.pop() {
            for source in std::mem::take(&mut sources[node as usize]) {
                if !std::mem::replace(&mut before[source as usize], true) {
                    open.push(source);
                }
            }
        }
        before
    }

    /// The inputs at these positions, from the initial state on.
    pub(super) fn inputs(&self, positions: &[u16]) -> Vec<Input> {
        let (mut state, mut inputs) = (initial_state(), Vec::new());
        for position in positions {
            let input = self.adversary.inputs(&state).into_iter().nth(usize::from(*position));
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
