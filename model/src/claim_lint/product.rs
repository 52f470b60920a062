//! Products of the graph of a model with the monitors of a set of claims, from which the steps that violate some of them are left out.

use super::graph::{ClaimGraph, count};
use orchestrion_user_claims::{ClaimSet, ClaimState};
use rustc_hash::FxHashMap;

/// The most states of a product. A larger one is incomplete.
const PRODUCT_MAX: usize = 4_000_000;

/// What a word does to the states of the claims.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordStep {
    /// The states after it.
    to: u32,
    pub(super) violated: ClaimSet,
    pub(super) premises: ClaimSet,
}

/// The states of the claims that were met, each with a number.
pub(super) struct StateTable<'g> {
    graph: &'g ClaimGraph,
    claims: ClaimSet,
    states: Vec<Vec<ClaimState>>,
    numbers: FxHashMap<Vec<ClaimState>, u32>,
    steps: FxHashMap<(u32, u32), WordStep>,
}

impl<'g> StateTable<'g> {
    /// The states before any event have the number 0.
    pub(super) fn new(graph: &'g ClaimGraph, claims: ClaimSet) -> Self {
        let start: Vec<ClaimState> = claims.iter().filter_map(|claim| graph.letters.start(claim)).collect();
        let numbers = FxHashMap::from_iter([(start.clone(), 0)]);
        Self { graph, claims, states: vec![start], numbers, steps: FxHashMap::default() }
    }

    /// Takes a word.
    fn step(&mut self, from: u32, word: u32) -> WordStep {
        if let Some(step) = self.steps.get(&(from, word)) {
            return *step;
        }
        let mut states = self.states.get(from as usize).cloned().unwrap_or_default();
        let (mut violated, mut premises) = (ClaimSet::default(), ClaimSet::default());
        for letter in self.graph.words.get(word as usize).into_iter().flatten() {
            let concerned = self.graph.letters.concerned(*letter);
            for (claim, state) in
                self.claims.iter().zip(&mut states).filter(|(claim, _)| concerned.contains(*claim))
            {
                let step = self.graph.letters.step(claim, state, *letter);
                if step.is_violated {
                    violated.insert(claim);
                }
                if step.is_premise {
                    premises.insert(claim);
                }
            }
        }
        let next = count(self.states.len());
        let to = *self.numbers.entry(states).or_insert_with_key(|states| {
            self.states.push(states.clone());
            next
        });
        let step = WordStep { to, violated, premises };
        self.steps.insert((from, word), step);
        step
    }
}

/// A step of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductStep {
    /// The state of the product before it.
    pub(super) from: u32,
    /// The position of its edge among those of the class.
    pub(super) position: u16,
    /// The state of the product after it; `None` if the step is left out.
    pub(super) to: Option<u32>,
    pub(super) violated: ClaimSet,
    pub(super) premises: ClaimSet,
    pub(super) ends: bool,
}

/// The claims that a path violates, after its first steps.
pub(super) fn violated_on(graph: &ClaimGraph, claims: ClaimSet, path: &[u16]) -> ClaimSet {
    let mut table = StateTable::new(graph, claims);
    let (mut at, mut violated) = ((0, 0), ClaimSet::default());
    for position in path {
        let Some(edge) = graph.edges(at.0).get(usize::from(*position)) else { break };
        let step = table.step(at.1, edge.word);
        violated = violated.union(step.violated);
        at = (edge.to, step.to);
    }
    violated
}

/// The reachable states of a product, in breadth-first order.
pub(super) struct Product<'g> {
    table: StateTable<'g>,
    /// The class of nodes and the states of the claims.
    states: Vec<(u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
    /// The state before each one, with the position of the edge.
    parents: Vec<(u32, u16)>,
    pub(super) is_complete: bool,
}

impl<'g> Product<'g> {
    /// The product with the monitors of these claims, at the initial state.
    pub(super) fn new(graph: &'g ClaimGraph, claims: ClaimSet) -> Self {
        let mut numbers = FxHashMap::default();
        numbers.insert((0, 0), 0);
        Self {
            table: StateTable::new(graph, claims),
            states: vec![(0, 0)],
            numbers,
            parents: vec![(0, 0)],
            is_complete: true,
        }
    }

    /// The product with the monitors of these claims, after the edges at these positions.
    pub(super) fn after(graph: &'g ClaimGraph, claims: ClaimSet, path: &[u16]) -> Self {
        let mut product = Self::new(graph, claims);
        let mut at = (0, 0);
        for position in path {
            let Some(edge) = graph.edges(at.0).get(usize::from(*position)) else { break };
            at = (edge.to, product.table.step(at.1, edge.word).to);
        }
        product.states = vec![at];
        product.numbers = FxHashMap::default();
        product.numbers.insert(at, 0);
        product
    }

    /// The class of a state.
    pub(super) fn class(&self, state: u32) -> u32 {
        self.states.get(state as usize).map_or(0, |(class, _)| *class)
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Explores every state that steps without a violation of `kept` reach, in breadth-first order, until `seen` returns true. Returns the
    /// positions of the edges of the path with this step.
    pub(super) fn explore(
        &mut self,
        kept: ClaimSet,
        mut seen: impl FnMut(ProductStep) -> bool,
    ) -> Option<Vec<u16>> {
        let mut next = 0;
        while let Some((class, claims)) = self.states.get(next).copied() {
            let from = count(next);
            for edge in self.table.graph.edges(class) {
                let WordStep { to, violated, premises } = self.table.step(claims, edge.word);
                let is_kept = violated.intersection(kept).is_empty();
                let to = is_kept.then(|| self.add((edge.to, to), (from, edge.position))).flatten();
                let step =
                    ProductStep { from, position: edge.position, to, violated, premises, ends: edge.ends };
                if seen(step) {
                    let mut path = self.path_to(from);
                    path.push(edge.position);
                    return Some(path);
                }
            }
            next += 1;
        }
        None
    }

    /// The number of a state, which may be new.
    fn add(&mut self, state: (u32, u32), parent: (u32, u16)) -> Option<u32> {
        if let Some(number) = self.numbers.get(&state) {
            return Some(*number);
        }
        if self.states.len() >= PRODUCT_MAX {
            self.is_complete = false;
            return None;
        }
        let number = count(self.states.len());
        self.states.push(state);
        self.numbers.insert(state, number);
        self.parents.push(parent);
        Some(number)
    }

    /// The positions of the edges from the initial state to a state.
    pub(super) fn path_to(&self, state: u32) -> Vec<u16> {
        let (mut path, mut at) = (Vec::new(), state);
        while at != 0 {
            let Some((before, position)) = self.parents.get(at as usize).copied() else { break };
            path.push(position);
            at = before;
        }
        path.reverse();
        path
    }
}
